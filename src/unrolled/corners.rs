//! The 4×4 blocks at one place of `W` row-major matrices, for a caller's memory that is read and written
//! with one check for a block and not one for each of its rows in each matrix.

use super::lanes::BLOCK;

/// Where the blocks are; known to lie within the memory that it was made for.
#[derive(Clone, Copy)]
struct Place {
    /// From a row of a matrix to the next.
    n: usize,
    /// Of the first block.
    start: usize,
}

impl Place {
    /// `None` if block (i, j) of an n×n matrix is not whole or there are not `W` matrices.
    #[inline(always)]
    fn new<const W: usize>(n: usize, i: usize, j: usize, len: usize) -> Option<Place> {
        let whole = (i + 1) * BLOCK <= n && (j + 1) * BLOCK <= n;
        (whole && len == W * n * n).then_some(Place {
            n,
            start: i * BLOCK * n + j * BLOCK,
        })
    }

    /// Where row `r` of matrix `l`'s block starts.
    #[inline(always)]
    fn run(self, l: usize, r: usize) -> usize {
        l * self.n * self.n + self.start + r * self.n
    }
}

/// Blocks to read.
pub(super) struct Corners<'a, F, const W: usize> {
    place: Place,
    matrices: &'a [F],
}

impl<'a, F, const W: usize> Corners<'a, F, W> {
    /// Block (i, j) of each of `W` n×n matrices; `None` if it is not whole or there are fewer.
    #[inline(always)]
    pub(super) fn new(n: usize, i: usize, j: usize, matrices: &'a [F]) -> Option<Self> {
        let place = Place::new::<W>(n, i, j, matrices.len())?;
        Some(Corners { place, matrices })
    }

    /// Row `r` of each block.
    #[inline(always)]
    pub(super) fn row(&self, r: usize) -> [&'a [F; BLOCK]; W] {
        assert!(r < BLOCK);
        let first = self.matrices.as_ptr();
        core::array::from_fn(
            #[inline(always)]
            // SAFETY: l < W and r < BLOCK, so the run lies in matrix l, which `new` has seen to be there.
            |l| unsafe { &*first.add(self.place.run(l, r)).cast() },
        )
    }
}

/// Blocks to write.
pub(super) struct CornersMut<'a, F, const W: usize> {
    place: Place,
    matrices: &'a mut [F],
}

impl<'a, F, const W: usize> CornersMut<'a, F, W> {
    /// As [`Corners::new`].
    #[inline(always)]
    pub(super) fn new(n: usize, i: usize, j: usize, matrices: &'a mut [F]) -> Option<Self> {
        let place = Place::new::<W>(n, i, j, matrices.len())?;
        Some(CornersMut { place, matrices })
    }

    /// Row `r` of each block.
    #[inline(always)]
    pub(super) fn row(&mut self, r: usize) -> [&mut [F; BLOCK]; W] {
        assert!(r < BLOCK);
        let first = self.matrices.as_mut_ptr();
        core::array::from_fn(
            #[inline(always)]
            // SAFETY: as in `Corners::row`; runs of different matrices do not overlap, and the borrow of self
            // forbids a second array of them.
            |l| unsafe { &mut *first.add(self.place.run(l, r)).cast() },
        )
    }
}
