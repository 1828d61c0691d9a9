//! Sizes: what they may be, and what they are if nobody says.

use crate::status::{Error, Status};

/// Largest n.
pub const MAX_N: usize = 512;
/// Largest k.
pub const MAX_K: usize = 32;
/// What the built-in network was trained for, and takes by default.
pub(crate) const DEFAULT_N: usize = 20;
pub(crate) const DEFAULT_K: usize = 3;

/// Whether L of rank `k` can be found in n×n matrices.
pub fn check_size(n: usize, k: usize) -> Result<(), Error> {
    if n > MAX_N || k > MAX_K {
        let message =
            format_args!("n = {n}, k = {k}: at most n = {MAX_N} and k = {MAX_K} are supported");
        return Err(Error::format(Status::Unsupported, message));
    }
    if k == 0 || k >= n {
        let message =
            format_args!("n = {n}, k = {k}: the rank k must be at least 1 and less than n");
        return Err(Error::format(Status::Argument, message));
    }
    Ok(())
}
