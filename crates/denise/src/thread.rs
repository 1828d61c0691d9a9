//! Threads, and how many there should be.
//!
//! On Linux and Windows from the system itself: the standard library's `spawn` and `available_parallelism` allocate, and
//! end the process when there is no memory. Miri, which does not know all of the system, gets the standard library's.

#[cfg(all(feature = "onnx", target_os = "linux", not(miri)))]
pub(crate) use linux::without_signals;
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) use linux::{Thread, cpus};
#[cfg(any(not(any(target_os = "linux", windows)), miri))]
pub(crate) use other::{Thread, cpus};
#[cfg(all(windows, not(miri)))]
pub(crate) use windows::{Thread, cpus};

#[cfg(all(windows, not(miri)))]
mod windows;

/// Calls `start`. Only Linux has signals that another thread could get.
#[cfg(all(feature = "onnx", any(not(target_os = "linux"), miri)))]
pub(crate) fn without_signals<R>(start: impl FnOnce() -> R) -> R {
    start()
}

/// What a thread does.
pub(crate) trait Body: Sync {
    /// Must not panic.
    fn run(&self);
}

/// Ample for the kernels.
const STACK: usize = 256 << 10;

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use super::{Body, STACK};
    use crate::status::{Error, Status};

    /// A running thread.
    pub(crate) struct Thread(libc::pthread_t);

    extern "C" fn enter<T: Body>(body: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: what `start` was given, which stays there as long as the thread runs.
        unsafe { &*body.cast::<T>() }.run();
        core::ptr::null_mut()
    }

    impl Thread {
        /// Starts a thread.
        ///
        /// # Safety
        /// `body` stays where it is until the thread has been joined.
        pub(crate) unsafe fn start<T: Body>(body: &T) -> Result<Thread, Error> {
            let argument = (&raw const *body).cast_mut().cast();
            let mut thread = 0;
            // SAFETY: attributes are made before they are used; what the thread gets is as the caller promises.
            let outcome = without_signals(|| unsafe {
                let mut attributes = core::mem::zeroed();
                let mut outcome = libc::pthread_attr_init(&mut attributes);
                if outcome == 0 {
                    libc::pthread_attr_setstacksize(&mut attributes, STACK);
                    outcome = libc::pthread_create(&mut thread, &attributes, enter::<T>, argument);
                    libc::pthread_attr_destroy(&mut attributes);
                }
                // A host with much thread-local memory needs larger stacks: the system's own choice.
                if outcome == libc::EINVAL {
                    let none = core::ptr::null();
                    outcome = libc::pthread_create(&mut thread, none, enter::<T>, argument);
                }
                outcome
            });
            if outcome != 0 {
                let reason = format_args!("cannot start a thread (system error {outcome})");
                return Err(Error::format(Status::Memory, reason));
            }
            // SAFETY: a thread that runs, and a name that is short enough.
            unsafe { libc::pthread_setname_np(thread, c"denise".as_ptr()) };
            Ok(Thread(thread))
        }

        /// Waits until it has ended.
        pub(crate) fn join(self) {
            // SAFETY: a thread that was started and is joined once.
            unsafe { libc::pthread_join(self.0, core::ptr::null_mut()) };
        }
    }

    /// Calls `start`. A thread that it starts gets no signals of the host's, whose handlers may expect threads and
    /// stacks of the host; those that say what a thread itself has done wrong it gets, for a host that reports them.
    pub(crate) fn without_signals<R>(start: impl FnOnce() -> R) -> R {
        let _held = Held::new();
        start()
    }

    /// While it lives, signals wait.
    struct Held {
        before: libc::sigset_t,
    }

    impl Held {
        fn new() -> Held {
            const FAULTS: [i32; 6] = [
                libc::SIGSEGV,
                libc::SIGBUS,
                libc::SIGILL,
                libc::SIGFPE,
                libc::SIGTRAP,
                libc::SIGABRT,
            ];
            // SAFETY: sets of signals are plain memory, filled before they are used.
            unsafe {
                let (mut held, mut before) = (core::mem::zeroed(), core::mem::zeroed());
                libc::sigfillset(&mut held);
                for signal in FAULTS {
                    libc::sigdelset(&mut held, signal);
                }
                libc::pthread_sigmask(libc::SIG_BLOCK, &held, &mut before);
                Held { before }
            }
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            // SAFETY: the set that was there before.
            unsafe {
                libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, core::ptr::null_mut());
            }
        }
    }

    /// CPUs that this process may run on.
    pub(crate) fn cpus() -> usize {
        let mut allowed = 0;
        // SAFETY: an all-zero set is an empty one, and the size is that of the set.
        unsafe {
            let mut set: libc::cpu_set_t = core::mem::zeroed();
            if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) == 0 {
                allowed = libc::CPU_COUNT(&set);
            }
            // More CPUs than the set has room for.
            if allowed == 0 {
                allowed = libc::sysconf(libc::_SC_NPROCESSORS_ONLN) as i32;
            }
        }
        usize::try_from(allowed).unwrap_or(1).max(1)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn as_many_cpus_as_the_standard_library_finds() {
            // It also looks at the quotas of control groups.
            let other = std::thread::available_parallelism().unwrap().get();
            assert!(cpus() >= other);
            // SAFETY: asks for a number.
            let all = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
            assert!(cpus() <= all as usize);
        }
    }
}

#[cfg(any(not(any(target_os = "linux", windows)), miri))]
mod other {
    use super::{Body, STACK};
    use crate::status::{Error, Status};

    /// A running thread.
    pub(crate) struct Thread(std::thread::JoinHandle<()>);

    struct Shared<T>(*const T);
    // SAFETY: a `Body` may be used by any thread.
    unsafe impl<T: Body> Send for Shared<T> {}

    impl Thread {
        /// Starts a thread.
        ///
        /// # Safety
        /// `body` stays where it is until the thread has been joined.
        pub(crate) unsafe fn start<T: Body + 'static>(body: &T) -> Result<Thread, Error> {
            let shared = Shared(body);
            std::thread::Builder::new()
                .name("denise".into())
                .stack_size(STACK)
                .spawn(move || {
                    let shared = shared;
                    // SAFETY: as the caller promises.
                    unsafe { &*shared.0 }.run();
                })
                .map(Thread)
                .map_err(|reason| {
                    let reason = format_args!("cannot start a thread: {reason}");
                    Error::format(Status::Memory, reason)
                })
        }

        /// Waits until it has ended.
        pub(crate) fn join(self) {
            // A body does not panic.
            let _ = self.0.join();
        }
    }

    /// CPUs that this process may use.
    pub(crate) fn cpus() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}
