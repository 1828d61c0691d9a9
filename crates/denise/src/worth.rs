//! Whether a call is faster on several threads than on one.
//!
//! Threads that share a matrix read what each other has written, hundreds of times a call. How long a line of memory
//! takes from core to core differs fivefold between machines, and on a virtual one from minute to minute: where it is
//! long, two threads take longer than one. So calls are timed, and go the way that was faster.
//!
//! Together is the rule. A few calls go alone, once, to learn how long that takes. If together takes longer, some calls
//! go alone before a few try again, and twice as many each time that it still does: threads that have just started may
//! be slow because they are still on one core.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::Duration;

/// Calls of one kind between decisions, of which the fastest counts: the others may have been disturbed.
const FEW: u32 = 4;
/// Calls that go alone before others try again: the first time, and at most.
const SOME: u32 = 2 * FEW;
const MANY: u32 = 256;
/// Largest number of matrices in a call that is timed; with more, there is enough to do for all.
const MOST: usize = 4;

/// For both precisions, and every small number of matrices.
pub(crate) struct Worth([[Kind; MOST]; 2]);

impl Worth {
    pub(crate) fn new() -> Worth {
        Worth(core::array::from_fn(|_| {
            core::array::from_fn(|_| Kind::new())
        }))
    }

    /// Of calls with `count` matrices of an element with so many bytes, if they are timed.
    pub(crate) fn of(&self, bytes: usize, count: usize) -> Option<&Kind> {
        self.0[usize::from(bytes == 8)].get(count.wrapping_sub(1))
    }
}

/// Calls that are alike. Threads may call at once: nothing depends on the order in which they are noted.
pub(crate) struct Kind {
    /// Whether calls go alone now, and how many still do, or do not, before the next decision.
    alone: AtomicBool,
    left: AtomicU32,
    /// How many go alone next time.
    pause: AtomicU32,
    /// Nanoseconds of the fastest since the last decision.
    least: AtomicU64,
    /// Of the fastest when calls last went this way; 0 before they ever did.
    least_alone: AtomicU64,
    least_together: AtomicU64,
}

impl Kind {
    const fn new() -> Kind {
        Kind {
            alone: AtomicBool::new(false),
            left: AtomicU32::new(FEW),
            pause: AtomicU32::new(SOME),
            least: AtomicU64::new(u64::MAX),
            least_alone: AtomicU64::new(0),
            least_together: AtomicU64::new(0),
        }
    }

    /// Whether the next call should be made by the calling thread alone.
    pub(crate) fn alone(&self) -> bool {
        self.alone.load(Relaxed)
    }

    /// Takes note of a call that went that way.
    pub(crate) fn note(&self, alone: bool, time: Duration) {
        if alone != self.alone() {
            // It began before the last decision.
            return;
        }
        self.least.fetch_min(time.as_nanos() as u64, Relaxed);
        let left = self
            .left
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        if left == Ok(1) {
            self.decide(alone);
        }
    }

    fn decide(&self, alone: bool) {
        let least = self.least.swap(u64::MAX, Relaxed);
        let learned = self.least_alone.load(Relaxed) != 0;
        let next = if alone {
            self.least_alone.store(least, Relaxed);
            // Others have a try, but for those that have just had one.
            !learned && self.least_together.load(Relaxed) > least
        } else {
            self.least_together.store(least, Relaxed);
            least > self.least_alone.load(Relaxed)
        };
        let mut left = FEW;
        if next && (learned || alone) {
            left = self.pause.load(Relaxed);
            self.pause.store(MANY.min(2 * left), Relaxed);
        } else if !alone {
            self.pause.store(SOME, Relaxed);
        }
        self.alone.store(next, Relaxed);
        self.left.store(left, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many calls go alone, if they take so long alone and together.
    fn alone(kind: &Kind, calls: usize, time: impl Fn(usize, bool) -> u64) -> usize {
        (0..calls)
            .filter(|&call| {
                let alone = kind.alone();
                kind.note(alone, Duration::from_nanos(time(call, alone)));
                alone
            })
            .count()
    }

    #[test]
    fn the_faster_way_is_taken() {
        let near = alone(&Kind::new(), 1000, |_, alone| if alone { 300 } else { 200 });
        assert_eq!(near, FEW as usize);
        let far = alone(&Kind::new(), 1000, |_, alone| if alone { 300 } else { 400 });
        assert!((900..1000).contains(&far), "{far}");
    }

    #[test]
    fn what_changes_is_noticed() {
        let kind = Kind::new();
        let near = |_, alone| if alone { 300 } else { 200 };
        let far = |_, alone| if alone { 300 } else { 400 };
        alone(&kind, 100, near);
        let calls = 2 * MANY as usize;
        assert!(alone(&kind, calls, far) > calls * 9 / 10);
        alone(&kind, MANY as usize + 1, near);
        assert_eq!(alone(&kind, calls, near), 0);
    }

    #[test]
    fn a_slow_start_is_soon_forgotten() {
        let start = |call, alone| match (alone, call < 6) {
            (true, _) => 300,
            (false, true) => 900,
            (false, false) => 200,
        };
        assert_eq!(alone(&Kind::new(), 1000, start), (FEW + SOME) as usize);
    }

    #[test]
    fn a_call_that_was_disturbed_does_not_count() {
        let disturbed = |call, alone| {
            if call % 3 == 0 {
                9000
            } else if alone {
                300
            } else {
                200
            }
        };
        assert_eq!(alone(&Kind::new(), 1000, disturbed), FEW as usize);
    }

    #[test]
    fn kinds_are_by_size_of_the_call() {
        let worth = Worth::new();
        assert!(worth.of(4, 0).is_none() && worth.of(4, MOST + 1).is_none());
        let far = |_, alone| if alone { 300 } else { 400 };
        alone(worth.of(4, 1).unwrap(), 20, far);
        assert!(worth.of(4, 1).unwrap().alone());
        assert!(!worth.of(8, 1).unwrap().alone() && !worth.of(4, 2).unwrap().alone());
    }
}
