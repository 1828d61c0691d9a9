//! Working memory for as many calls at once as a handle was loaded for.

use crate::status::Error;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A fixed set of workspaces. A call borrows one; if all are in use it waits for one.
pub(crate) struct Workspaces<T>(Box<[Mutex<T>]>);

impl<T> Workspaces<T> {
    /// Makes them in the order in which they are lent, so those that come first are used most.
    pub(crate) fn new(
        count: usize,
        mut make: impl FnMut(usize) -> Result<T, Error>,
    ) -> Result<Workspaces<T>, Error> {
        let mut all = Vec::new();
        all.try_reserve_exact(count)?;
        for at in 0..count {
            all.push(Mutex::new(make(at)?));
        }
        Ok(Workspaces(all.into_boxed_slice()))
    }

    /// Neither allocates nor makes a system call unless it must wait.
    pub(crate) fn borrow(&self) -> MutexGuard<'_, T> {
        for slot in &self.0 {
            match slot.try_lock() {
                Ok(workspace) => return workspace,
                // A call panicked here. Contents do not matter on entry, so it is as good as any.
                Err(TryLockError::Poisoned(workspace)) => return workspace.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        // All are busy. Waiters spread over the slots by an address on their own stacks.
        let here = 0_u8;
        let slot = (&raw const here as usize >> 12) % self.0.len();
        self.0[slot].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn never_more_borrowers_than_workspaces_and_nobody_starves() {
        let workspaces = Workspaces::new(2, |_| Ok(0_usize)).unwrap();
        let inside = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let mut own = workspaces.borrow();
                        assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
                        *own += 1;
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        let used: usize = workspaces.0.iter().map(|slot| *slot.lock().unwrap()).sum();
        assert_eq!(used, 16 * 500);
    }

    #[test]
    fn a_panic_does_not_lose_the_workspace() {
        let workspaces = Workspaces::new(1, |_| Ok(0)).unwrap();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _own = workspaces.borrow();
            panic!("on purpose");
        }));
        assert!(outcome.is_err());
        assert_eq!(*workspaces.borrow(), 0);
    }
}
