//! Threads that help with large batches. They are started when a model is loaded and joined when it is
//! freed; handing them work neither allocates nor spawns.
//!
//! Work is something that any number of threads can do at once until nothing is left of it. The calling thread
//! does it too, so a call never depends on a helper: after a `fork`, which leaves only the calling thread, it simply
//! does everything itself.

use crate::status::Error;
use crate::team::{Board, Team};
use crate::thread::{Body, Thread};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(crate) struct Pool {
    /// One, in a vector that never changes: the helpers have its address, and are joined before it goes.
    shared: Vec<Shared>,
    helpers: Vec<Thread>,
    /// The process that has the helpers; a fork of it has not.
    process: u32,
}

struct Shared {
    state: Mutex<State>,
    /// There is work, or it is time to leave.
    wake: Condvar,
    /// No helper is at work any more; or, at the start, another one has arrived.
    idle: Condvar,
    /// Work of a caller who leads.
    board: Board,
}

struct State {
    work: Option<Work>,
    /// Tells one piece of work from the next, so that a helper does not take up the same one twice.
    number: u64,
    /// Helpers that have reached their loop.
    started: usize,
    /// Helpers at work.
    busy: usize,
    /// A caller leads: the helpers are to follow the board.
    led: bool,
    /// A helper has panicked at the current work.
    panicked: bool,
    leave: bool,
}

/// Work of a caller who waits in [`Pool::run`] until no helper has it any more.
#[derive(Clone, Copy)]
struct Work(*const (dyn Fn() + Sync));

// SAFETY: what it points to may be used by several threads at once, and lives as long as they have it.
unsafe impl Send for Work {}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait<'a>(condition: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
    condition
        .wait(state)
        .unwrap_or_else(PoisonError::into_inner)
}

impl Body for Shared {
    /// What a helper does.
    fn run(&self) {
        let mut seen = 0;
        let mut state = self.state();
        state.started += 1;
        self.idle.notify_one();
        loop {
            if state.leave {
                return;
            }
            if state.led {
                drop(state);
                self.board.follow();
                state = self.state();
                continue;
            }
            match state.work {
                Some(Work(work)) if state.number != seen => {
                    seen = state.number;
                    state.busy += 1;
                    drop(state);
                    // SAFETY: whoever has given it waits until this helper is no longer busy.
                    let outcome = catch_unwind(AssertUnwindSafe(|| unsafe { (*work)() }));
                    state = self.state();
                    state.panicked |= outcome.is_err();
                    state.busy -= 1;
                    if state.busy == 0 {
                        self.idle.notify_one();
                    }
                }
                _ => state = wait(&self.wake, state),
            }
        }
    }
}

impl Pool {
    /// Starts `helpers` threads.
    pub(crate) fn new(helpers: usize) -> Result<Pool, Error> {
        let mut pool = Pool {
            shared: Vec::new(),
            helpers: Vec::new(),
            process: std::process::id(),
        };
        pool.shared.try_reserve_exact(1)?;
        pool.shared.push(Shared {
            state: Mutex::new(State {
                work: None,
                number: 0,
                started: 0,
                busy: 0,
                led: false,
                panicked: false,
                leave: false,
            }),
            wake: Condvar::new(),
            idle: Condvar::new(),
            board: Board::new(),
        });
        pool.helpers.try_reserve_exact(helpers)?;
        for _ in 0..helpers {
            // SAFETY: dropping the pool, which is also what an error does here, joins the helper first.
            let helper = unsafe { Thread::start(pool.shared())? };
            pool.helpers.push(helper);
        }
        // A thread may allocate while it starts; when the first call is made, that must be over.
        let mut state = pool.shared().state();
        while state.started < helpers {
            state = wait(&pool.shared().idle, state);
        }
        drop(state);
        Ok(pool)
    }

    /// Threads that may work at once: the helpers and the caller.
    pub(crate) fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    fn shared(&self) -> &Shared {
        &self.shared[0]
    }

    /// The state, if the helpers are there and with nobody.
    fn free(&self) -> Option<MutexGuard<'_, State>> {
        // A fork has no helpers, and one of them may have held the lock when it was made. Nobody else holds it for
        // longer than it takes to change a few numbers, so waiting for it costs nothing.
        (std::process::id() == self.process)
            .then(|| self.shared().state())
            .filter(|state| state.work.is_none() && !state.led)
    }

    /// Calls `work` with a team: this thread, and every helper that is free meanwhile. While the helpers are with
    /// another caller, this thread is the team.
    pub(crate) fn lead<R>(&self, work: impl FnOnce(&Team<'_>) -> R) -> R {
        let Some(mut state) = self.free() else {
            return work(&Team::alone());
        };
        let led = Led(self.shared());
        state.led = true;
        led.0.board.open();
        drop(state);
        led.0.wake.notify_all();
        work(&Team::of(&led.0.board, self.threads()))
    }

    /// Calls `work` on this thread, and on every helper that is free meanwhile; returns when all of them have
    /// returned. While the helpers are with another caller, this thread works alone.
    pub(crate) fn run(&self, work: &(dyn Fn() + Sync)) {
        let shared = self.shared();
        let Some(mut state) = self.free() else {
            return work();
        };
        // SAFETY: only the lifetime is changed. No helper has the work any more when this function returns.
        let lent: *const (dyn Fn() + Sync) =
            unsafe { core::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) };
        state.work = Some(Work(lent));
        state.number += 1;
        drop(state);
        shared.wake.notify_all();
        // Even if this thread panics, the helpers must be done first.
        let own = catch_unwind(AssertUnwindSafe(work));
        let mut state = shared.state();
        while state.busy > 0 {
            state = wait(&shared.idle, state);
        }
        state.work = None;
        let panicked = core::mem::take(&mut state.panicked);
        drop(state);
        if let Err(panic) = own {
            resume_unwind(panic);
        }
        assert!(!panicked, "a helper panicked");
    }
}

/// While it lives, a caller leads. Ends even if the caller panics.
struct Led<'a>(&'a Shared);

impl Drop for Led<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.led = false;
        self.0.board.close();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.helpers.is_empty() {
            return;
        }
        // After a fork there is nobody to join, and a lock may be held by a thread that is gone.
        if std::process::id() == self.process {
            self.shared().state().leave = true;
            self.shared().wake.notify_all();
            self.helpers.drain(..).for_each(Thread::join);
        } else {
            self.helpers.drain(..).for_each(core::mem::forget);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Calls `each` for all numbers below `count`, whoever takes them.
    fn numbered(pool: &Pool, count: usize, each: impl Fn(usize) + Sync) {
        let next = AtomicUsize::new(0);
        pool.run(&|| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return;
                }
                each(number);
            }
        });
    }

    /// A helper that wakes late has the lock for a moment. The caller must not go on alone because of that.
    #[test]
    fn helpers_are_called_even_if_one_of_them_has_the_lock() {
        let pool = Pool::new(1).unwrap();
        let (locked, hold) = (std::sync::Barrier::new(2), &pool);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let state = hold.shared().state();
                locked.wait();
                std::thread::sleep(std::time::Duration::from_millis(50));
                drop(state);
            });
            locked.wait();
            // Can only be done by two threads at once.
            let met = AtomicUsize::new(0);
            pool.run(&|| {
                met.fetch_add(1, Ordering::SeqCst);
                let start = std::time::Instant::now();
                while met.load(Ordering::SeqCst) < 2 {
                    let waited = start.elapsed().as_secs();
                    assert!(waited < 20, "the other thread has not begun meanwhile");
                    std::thread::yield_now();
                }
            });
        });
    }

    #[test]
    fn all_is_done_once_whoever_calls() {
        let pool = Pool::new(3).unwrap();
        let done: Vec<AtomicUsize> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        numbered(&pool, 1000, |number| {
                            done[number].fetch_add(1, Ordering::SeqCst);
                        });
                    }
                });
            }
        });
        numbered(&pool, 0, |_| unreachable!());
        assert!(done.iter().all(|done| done.load(Ordering::SeqCst) == 800));
    }

    #[test]
    fn a_panic_on_any_thread_reaches_the_caller_and_does_no_more_harm() {
        let pool = Pool::new(2).unwrap();
        let caller = std::thread::current().id();
        for on_helper in [true, false] {
            let began = std::sync::Barrier::new(3);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                pool.run(&|| {
                    began.wait();
                    if (std::thread::current().id() != caller) == on_helper {
                        panic!("on purpose");
                    }
                });
            }));
            assert!(outcome.is_err());
        }
        let done = AtomicUsize::new(0);
        numbered(&pool, 100, |_| {
            done.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(done.into_inner(), 100);
    }
}
