//! Memory of the caller that is asked for while a group of matrices goes through the layers.

use crate::simd::prefetch;

/// Bytes of a cache line.
const LINE: usize = 64;

/// What is read or written after the layers: where L and S go, and the matrices of the next group. A batch is larger than
/// the caches that are near, and to wait for its lines one after the other takes as long as several layers.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'a, F> {
    pub(super) parts: [&'a [F]; 3],
}

impl<F> Ahead<'_, F> {
    /// Asks for share `share` of `shares`: all at once would be more than a processor can have on their way, and it would
    /// stop.
    #[inline(never)]
    pub(super) fn fetch(&self, share: usize, shares: usize) {
        let line = LINE / size_of::<F>();
        for part in self.parts {
            let lines = part.len() / line;
            let from = lines * share / shares * line;
            let to = lines * (share + 1) / shares * line;
            for value in part[from..to].iter().step_by(line) {
                prefetch(value);
            }
        }
    }
}
