//! Threads that help with large batches. They are started when a model is loaded and joined when it is
//! freed; handing them work neither allocates nor spawns.
//!
//! A task is cut into numbered parts. Whoever is free takes the next number, the calling thread too,
//! so a call never depends on a helper: after a `fork`, which leaves only the calling thread, it simply
//! does every part itself.

use crate::memory::boxed;
use crate::status::Error;
use crate::thread::{Body, Thread};
use core::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Work that can be done in parts, in any order and by any thread.
pub(crate) trait Task: Copy + Send + 'static {
    fn parts(&self) -> usize;
    fn run(&self, part: usize);
}

pub(crate) struct Pool<T: Task> {
    /// From a box that belongs to the pool. A pointer, since the helpers have it too; they are joined before it goes.
    shared: NonNull<Shared<T>>,
    helpers: Vec<Thread>,
    /// The process that has the helpers; a fork of it has not.
    process: u32,
}

// SAFETY: what is shared is made for it: a mutex, an atomic number and condition variables. Tasks are `Send`.
unsafe impl<T: Task> Send for Pool<T> {}
// SAFETY: as above.
unsafe impl<T: Task> Sync for Pool<T> {}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// The number of the next part of the current task.
    next: AtomicUsize,
    /// There is a task, or it is time to leave.
    wake: Condvar,
    /// No helper is at work any more; or, at the start, another one has arrived.
    idle: Condvar,
}

struct State<T> {
    task: Option<T>,
    /// Tells tasks apart, so that a helper does not take up the same one twice.
    number: u64,
    /// Helpers that have reached their loop.
    started: usize,
    /// Helpers at work on the current task.
    busy: usize,
    leave: bool,
}

impl<T: Task> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does parts of `task` until none is left.
    fn work(&self, task: &T) {
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= task.parts() {
                return;
            }
            task.run(part);
        }
    }
}

impl<T: Task> Body for Shared<T> {
    /// What a helper does. Tasks do not unwind, so neither does this.
    fn run(&self) {
        let mut seen = 0;
        let mut state = self.state();
        state.started += 1;
        self.idle.notify_one();
        loop {
            if state.leave {
                return;
            }
            match state.task {
                Some(task) if state.number != seen => {
                    seen = state.number;
                    state.busy += 1;
                    drop(state);
                    self.work(&task);
                    state = self.state();
                    state.busy -= 1;
                    if state.busy == 0 {
                        self.idle.notify_one();
                    }
                }
                _ => {
                    state = self
                        .wake
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner)
                }
            }
        }
    }
}

impl<T: Task> Pool<T> {
    /// Starts `helpers` threads.
    pub(crate) fn new(helpers: usize) -> Result<Pool<T>, Error> {
        let shared = boxed(Shared {
            state: Mutex::new(State {
                task: None,
                number: 0,
                started: 0,
                busy: 0,
                leave: false,
            }),
            next: AtomicUsize::new(0),
            wake: Condvar::new(),
            idle: Condvar::new(),
        })?;
        let mut pool = Pool {
            shared,
            helpers: Vec::new(),
            process: std::process::id(),
        };
        pool.helpers.try_reserve_exact(helpers)?;
        for _ in 0..helpers {
            // SAFETY: dropping the pool, which is also what an error does here, joins the helper first.
            let helper = unsafe { Thread::start(pool.shared())? };
            pool.helpers.push(helper);
        }
        // A thread may allocate while it starts; when the first call is made, that must be over.
        let mut state = pool.shared().state();
        while state.started < helpers {
            state = pool
                .shared()
                .idle
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        Ok(pool)
    }

    /// Threads that may work on a task: the helpers and the caller.
    pub(crate) fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    fn shared(&self) -> &Shared<T> {
        // SAFETY: made by `new`, and freed by `drop` only.
        unsafe { self.shared.as_ref() }
    }

    /// Does all parts of `task` and returns when every one is done. While the helpers are with another
    /// call, the calling thread works alone.
    pub(crate) fn run(&self, task: T) {
        let shared = self.shared();
        // A fork has no helpers, and one of them may have held the lock when it was made. Nobody else holds it for
        // longer than it takes to change a few numbers, so waiting for it costs nothing.
        let free = (std::process::id() == self.process)
            .then(|| shared.state())
            .filter(|state| state.task.is_none());
        let Some(mut state) = free else {
            return (0..task.parts()).for_each(|part| task.run(part));
        };
        shared.next.store(0, Ordering::Relaxed);
        state.task = Some(task);
        state.number += 1;
        drop(state);
        shared.wake.notify_all();
        shared.work(&task);
        let mut state = shared.state();
        while state.busy > 0 {
            state = shared
                .idle
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.task = None;
    }
}

impl<T: Task> Drop for Pool<T> {
    fn drop(&mut self) {
        // After a fork there is nobody to join, and a lock may be held by a thread that is gone.
        if std::process::id() == self.process {
            self.shared().state().leave = true;
            self.shared().wake.notify_all();
            self.helpers.drain(..).for_each(Thread::join);
        } else {
            self.helpers.drain(..).for_each(core::mem::forget);
        }
        // SAFETY: from a box, and no helper is left that could use it.
        drop(unsafe { Box::from_raw(self.shared.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static DONE: [AtomicUsize; 1000] = [const { AtomicUsize::new(0) }; 1000];

    #[derive(Clone, Copy)]
    struct Count(usize);

    impl Task for Count {
        fn parts(&self) -> usize {
            self.0
        }
        fn run(&self, part: usize) {
            DONE[part].fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Whose parts can only be done by two threads at once.
    #[derive(Clone, Copy)]
    struct Together;

    static MET: AtomicUsize = AtomicUsize::new(0);

    impl Task for Together {
        fn parts(&self) -> usize {
            2
        }
        fn run(&self, _: usize) {
            MET.fetch_add(1, Ordering::SeqCst);
            let start = std::time::Instant::now();
            while MET.load(Ordering::SeqCst) < 2 {
                assert!(
                    start.elapsed().as_secs() < 20,
                    "the other part was not begun meanwhile"
                );
                std::thread::yield_now();
            }
        }
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
            pool.run(Together);
        });
    }

    #[test]
    fn every_part_is_done_once_whoever_calls() {
        let pool = Pool::new(3).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..200).for_each(|_| pool.run(Count(1000))));
            }
        });
        pool.run(Count(0));
        assert!(DONE.iter().all(|done| done.load(Ordering::SeqCst) == 800));
    }
}
