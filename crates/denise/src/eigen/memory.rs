//! Memory, or an error where there is none.

use crate::status::{Error, Status};

/// Hands out memory and remembers whether there was enough, so that only the last step of a construction can fail.
/// Nothing here is inlined: there are many calls and none is hot.
pub(crate) struct Memory {
    enough: bool,
}

impl Memory {
    pub(crate) fn new() -> Memory {
        Memory { enough: true }
    }

    /// `len` zeros; none if there is no memory for them.
    #[inline(never)]
    pub(crate) fn zeros<T: Copy + Default>(&mut self, len: usize) -> Vec<T> {
        let mut x = self.room(len);
        if self.enough {
            x.resize(len, T::default());
        }
        x
    }

    /// An empty vector with room for `len` values.
    #[inline(never)]
    pub(crate) fn room<T>(&mut self, len: usize) -> Vec<T> {
        let mut x = Vec::new();
        self.enough &= x.try_reserve_exact(len).is_ok();
        x
    }

    /// What was made of the memory, or an error if there was not enough.
    pub(crate) fn check<T>(self, made: T) -> Result<T, Error> {
        match self.enough {
            true => Ok(made),
            false => Err(Error::from(Status::Memory)),
        }
    }
}
