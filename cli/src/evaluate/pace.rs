//! How long measuring may take.

use std::time::Duration;

/// All that is claimed, or just enough to see that everything runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// For figures that are quoted.
    #[default]
    Full,
    /// For `--quick`: the same code, on less.
    Quick,
}

impl Pace {
    /// One of two numbers.
    pub fn of<T>(self, full: T, quick: T) -> T {
        match self {
            Pace::Full => full,
            Pace::Quick => quick,
        }
    }

    /// For one timing: long enough for a median, short enough for slow methods.
    pub(super) fn budget(self) -> Duration {
        Duration::from_millis(self.of(400, 10))
    }
}
