//! Threads of Windows.

use super::{Body, STACK};
use crate::modes;
use crate::status::{Error, Status};
use core::ffi::c_void;

type Handle = *mut c_void;

#[link(name = "kernel32")]
unsafe extern "system" {
    fn CreateThread(
        security: *const c_void,
        stack: usize,
        start: extern "system" fn(*mut c_void) -> u32,
        argument: *mut c_void,
        flags: u32,
        id: *mut u32,
    ) -> Handle;
    fn WaitForSingleObject(handle: Handle, milliseconds: u32) -> u32;
    fn CloseHandle(handle: Handle) -> i32;
    fn GetCurrentProcess() -> Handle;
    fn GetProcessAffinityMask(process: Handle, allowed: *mut usize, all: *mut usize) -> i32;
    fn GetActiveProcessorCount(group: u16) -> u32;
}

/// The size of a stack is what may be used, not what is there from the start.
const STACK_SIZE_PARAM_IS_A_RESERVATION: u32 = 0x1_0000;
const INFINITE: u32 = u32::MAX;
const ALL_PROCESSOR_GROUPS: u16 = u16::MAX;

/// A running thread.
pub(crate) struct Thread(Handle);

// SAFETY: any thread may wait for another and close a handle of it.
unsafe impl Send for Thread {}
// SAFETY: a shared reference gives no access to the handle.
unsafe impl Sync for Thread {}

extern "system" fn enter<T: Body>(body: *mut c_void) -> u32 {
    // Those of its starter are not inherited here.
    let _modes = modes::Default::enter();
    // SAFETY: what `start` was given, which stays there as long as the thread runs.
    unsafe { &*body.cast::<T>() }.run();
    0
}

impl Thread {
    /// Starts a thread.
    ///
    /// # Safety
    /// `body` stays where it is until the thread has been joined.
    pub(crate) unsafe fn start<T: Body>(body: &T) -> Result<Thread, Error> {
        let argument = (&raw const *body).cast_mut().cast();
        // SAFETY: the thread gets what the caller promises; nothing else is asked for or given.
        let handle = unsafe {
            CreateThread(
                core::ptr::null(),
                STACK,
                enter::<T>,
                argument,
                STACK_SIZE_PARAM_IS_A_RESERVATION,
                core::ptr::null_mut(),
            )
        };
        if handle.is_null() {
            let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
            let reason = format_args!("cannot start a thread (system error {code})");
            return Err(Error::format(Status::Memory, reason));
        }
        Ok(Thread(handle))
    }

    /// Waits until it has ended.
    pub(crate) fn join(self) {
        // SAFETY: a thread that was started and is joined once.
        unsafe {
            WaitForSingleObject(self.0, INFINITE);
            CloseHandle(self.0);
        }
    }
}

/// CPUs that this process may run on.
pub(crate) fn cpus() -> usize {
    let (mut allowed, mut all) = (0_usize, 0_usize);
    // SAFETY: asks for two numbers, which have room, and for one.
    let count = unsafe {
        GetProcessAffinityMask(GetCurrentProcess(), &mut allowed, &mut all);
        match allowed.count_ones() {
            // A process that runs on more than 64 of them: then it may use all.
            0 => GetActiveProcessorCount(ALL_PROCESSOR_GROUPS),
            some => some,
        }
    };
    (count as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn as_many_cpus_as_the_standard_library_finds() {
        let other = std::thread::available_parallelism().unwrap().get();
        assert!(cpus() >= 1 && cpus() <= other.max(64));
    }

    #[test]
    fn a_thread_runs_and_ends() {
        struct Count(AtomicUsize);
        impl Body for Count {
            fn run(&self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let count = Count(AtomicUsize::new(0));
        // SAFETY: joined below, while `count` is there.
        let threads = [(); 5].map(|()| unsafe { Thread::start(&count) }.unwrap());
        threads.into_iter().for_each(Thread::join);
        assert_eq!(count.0.into_inner(), 5);
    }
}
