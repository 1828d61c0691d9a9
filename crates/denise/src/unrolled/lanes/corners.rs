//! The 4×4 blocks at one place of several row-major matrices, for a caller's memory that is read and written
//! with one check for a block and not one for each of its rows in each matrix.

use super::SIDE;
use crate::simd::{Runs, RunsMut};

/// Where the blocks are; known to lie within the memory that it was made for.
#[derive(Clone, Copy)]
struct Place {
    /// Matrices.
    count: usize,
    /// From a row of a matrix to the next.
    n: usize,
    /// Of the first block.
    start: usize,
}

impl Place {
    /// `None` if block (i, j) of an n×n matrix is not whole or there are not `count` matrices.
    #[inline(always)]
    fn new(count: usize, n: usize, i: usize, j: usize, len: usize) -> Option<Place> {
        let whole = (i + 1) * SIDE <= n && (j + 1) * SIDE <= n;
        (whole && len == count * n * n).then_some(Place {
            count,
            n,
            start: i * SIDE * n + j * SIDE,
        })
    }

    /// Where row `r` of matrix `l`'s block starts: four values from there on are in the memory, and in no other row.
    #[inline(always)]
    fn run(self, l: usize, r: usize) -> usize {
        assert!(l < self.count && r < SIDE);
        l * self.n * self.n + self.start + r * self.n
    }
}

/// Blocks to read.
pub(super) struct Corners<'a, T> {
    place: Place,
    matrices: &'a [T],
}

impl<'a, T> Corners<'a, T> {
    /// Block (i, j) of each of `count` n×n matrices; `None` if it is not whole or there are more or fewer.
    #[inline(always)]
    pub(super) fn new(
        count: usize,
        n: usize,
        i: usize,
        j: usize,
        matrices: &'a [T],
    ) -> Option<Self> {
        let place = Place::new(count, n, i, j, matrices.len())?;
        Some(Corners { place, matrices })
    }
}

impl<T> Runs<T> for Corners<'_, T> {
    #[inline(always)]
    fn run(&self, lane: usize, row: usize) -> &[T; SIDE] {
        let run = self.place.run(lane, row);
        // SAFETY: `Place` was made for the length of this memory, and gives no run that is not within it.
        unsafe { &*self.matrices.as_ptr().add(run).cast() }
    }
}

/// Blocks to write.
pub(super) struct CornersMut<'a, T> {
    place: Place,
    matrices: &'a mut [T],
}

impl<'a, T> CornersMut<'a, T> {
    /// As [`Corners::new`].
    #[inline(always)]
    pub(super) fn new(
        count: usize,
        n: usize,
        i: usize,
        j: usize,
        matrices: &'a mut [T],
    ) -> Option<Self> {
        let place = Place::new(count, n, i, j, matrices.len())?;
        Some(CornersMut { place, matrices })
    }
}

impl<T> RunsMut<T> for CornersMut<'_, T> {
    #[inline(always)]
    fn run_mut(&mut self, lane: usize, row: usize) -> &mut [T; SIDE] {
        let run = self.place.run(lane, row);
        // SAFETY: as in `Corners::run`; the borrow of self forbids a second run beside this one.
        unsafe { &mut *self.matrices.as_mut_ptr().add(run).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value says where it is: matrix, row, column.
    fn matrices(count: usize, n: usize) -> Vec<(usize, usize, usize)> {
        let row = |l, i| (0..n).map(move |j| (l, i, j));
        let matrix = |l| (0..n).flat_map(move |i| row(l, i));
        (0..count).flat_map(matrix).collect()
    }

    #[test]
    fn a_block_is_read_and_written_where_it_is() {
        for n in [4, 7, 8, 13] {
            let whole = n / SIDE;
            for (i, j) in (0..whole).flat_map(|i| (0..whole).map(move |j| (i, j))) {
                let mut memory = matrices(3, n);
                let corners = Corners::new(3, n, i, j, &memory).unwrap();
                for (l, r) in (0..3).flat_map(|l| (0..SIDE).map(move |r| (l, r))) {
                    let want: [_; SIDE] = core::array::from_fn(|c| (l, i * SIDE + r, j * SIDE + c));
                    assert_eq!(*corners.run(l, r), want);
                }
                let mut corners = CornersMut::new(3, n, i, j, &mut memory).unwrap();
                for (l, r) in (0..3).flat_map(|l| (0..SIDE).map(move |r| (l, r))) {
                    *corners.run_mut(l, r) = [(99, 99, 99); SIDE];
                }
                for (now, before) in memory.iter().zip(matrices(3, n)) {
                    let (_, row, column) = before;
                    let inside = row / SIDE == i && column / SIDE == j;
                    assert_eq!(*now == (99, 99, 99), inside);
                    assert!(inside || *now == before);
                }
            }
        }
    }

    #[test]
    fn parts_of_blocks_and_too_few_matrices_are_refused() {
        let n = 7;
        let mut memory = matrices(3, n);
        for (i, j) in [(1, 0), (0, 1), (1, 1), (2, 0)] {
            assert!(Corners::new(3, n, i, j, &memory).is_none());
            assert!(CornersMut::new(3, n, i, j, &mut memory).is_none());
        }
        let all = memory.len();
        for len in [0, n * n, all - n * n, all - 1] {
            assert!(Corners::new(3, n, 0, 0, &memory[..len]).is_none());
            assert!(CornersMut::new(3, n, 0, 0, &mut memory[..len]).is_none());
        }
    }

    #[test]
    fn no_run_beyond_the_block_or_the_matrices_is_given() {
        let mut memory = matrices(3, 8);
        for (l, r) in [(3, 0), (0, SIDE), (usize::MAX, 0)] {
            let corners = Corners::new(3, 8, 1, 1, &memory).unwrap();
            assert!(std::panic::catch_unwind(|| *corners.run(l, r)).is_err());
            let mut corners = CornersMut::new(3, 8, 1, 1, &mut memory).unwrap();
            let write = std::panic::AssertUnwindSafe(|| *corners.run_mut(l, r) = [(0, 0, 0); SIDE]);
            assert!(std::panic::catch_unwind(write).is_err());
        }
    }
}
