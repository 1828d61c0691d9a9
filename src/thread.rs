//! Threads, and how many there should be.
//!
//! On Linux from the system itself: the standard library's `spawn` and `available_parallelism` allocate, and end the
//! process when there is no memory. Miri, which does not know all of the system, gets the standard library's.

#[cfg(all(feature = "onnx", target_os = "linux", not(miri)))]
pub(crate) use linux::without_signals;
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) use linux::{Thread, cpus};
#[cfg(all(feature = "onnx", any(not(target_os = "linux"), miri)))]
pub(crate) use other::without_signals;
#[cfg(any(not(target_os = "linux"), miri))]
pub(crate) use other::{Thread, cpus};

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
    use crate::memory;
    use crate::status::{Error, Status};
    use std::fs::File;
    use std::io::Read;

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
                return Err(memory::error(Status::Memory, reason));
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

    /// CPUs that this process may use: those that it may run on, or fewer if its control group has less time.
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
        let allowed = usize::try_from(allowed).unwrap_or(1);
        allowed.min(quota()).max(1)
    }

    /// The least quota of the control groups (version 2) that the process is in, in CPUs.
    fn quota() -> usize {
        const ROOT: &[u8] = b"/sys/fs/cgroup";
        let (mut list, mut path) = ([0; 512], [0; 512]);
        let list = start_of(b"/proc/self/cgroup", &mut list);
        let own = list
            .split(|&byte| byte == b'\n')
            .find_map(|line| line.strip_prefix(b"0::"));
        let mut least = usize::MAX;
        let Some(mut own) = own else {
            return least;
        };
        // From the group itself to the one above all.
        loop {
            let end = own.len() - usize::from(own.ends_with(b"/"));
            let parts = [ROOT, &own[..end], b"/cpu.max"];
            let mut len = 0;
            for part in parts {
                let Some(place) = path.get_mut(len..len + part.len()) else {
                    return least;
                };
                place.copy_from_slice(part);
                len += part.len();
            }
            let mut file = [0; 64];
            least = least.min(limit(start_of(&path[..len], &mut file)));
            match own.iter().rposition(|&byte| byte == b'/') {
                Some(slash) if own.len() > 1 => own = &own[..slash.max(1)],
                _ => return least,
            }
        }
    }

    /// What a `cpu.max` says, such as "200000 100000" for two CPUs or "max 100000" for no limit.
    fn limit(text: &[u8]) -> usize {
        let text = core::str::from_utf8(text).unwrap_or("");
        let mut numbers = text
            .split_ascii_whitespace()
            .map_while(|word| word.parse::<usize>().ok());
        match (numbers.next(), numbers.next()) {
            (Some(quota), Some(period)) if period > 0 => quota.div_ceil(period).max(1),
            _ => usize::MAX,
        }
    }

    /// As much of a file as there is room for; nothing if it cannot be read. Does not allocate for paths this short.
    fn start_of<'a>(path: &[u8], room: &'a mut [u8]) -> &'a [u8] {
        use std::os::unix::ffi::OsStrExt;
        const LONGEST: usize = 300;
        if path.len() > LONGEST {
            return &[];
        }
        let opened = File::open(std::ffi::OsStr::from_bytes(path));
        let len = opened
            .and_then(|mut file| file.read(room))
            .unwrap_or_default();
        &room[..len]
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn as_many_cpus_as_the_standard_library_finds() {
            // It also knows control groups of version 1, and rounds quotas down.
            let other = std::thread::available_parallelism().unwrap().get();
            assert!(cpus() >= other);
            // SAFETY: asks for a number.
            let all = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
            assert!(cpus() <= all as usize);
        }

        #[test]
        fn quotas_are_rounded_up() {
            for (text, cpus) in [
                ("max 100000\n", usize::MAX),
                ("200000 100000\n", 2),
                ("150000 100000", 2),
                ("1000 100000\n", 1),
                ("", usize::MAX),
                ("100 0", usize::MAX),
                ("nonsense", usize::MAX),
            ] {
                assert_eq!(limit(text.as_bytes()), cpus, "{text}");
            }
        }
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
mod other {
    use super::{Body, STACK};
    use crate::memory;
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
                    memory::error(Status::Memory, reason)
                })
        }

        /// Waits until it has ended.
        pub(crate) fn join(self) {
            // A body does not panic.
            let _ = self.0.join();
        }
    }

    /// Calls `start`.
    #[cfg(feature = "onnx")]
    pub(crate) fn without_signals<R>(start: impl FnOnce() -> R) -> R {
        start()
    }

    /// CPUs that this process may use.
    pub(crate) fn cpus() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}
