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
            let whole = n / BLOCK;
            for (i, j) in (0..whole).flat_map(|i| (0..whole).map(move |j| (i, j))) {
                let mut memory = matrices(3, n);
                let corners = Corners::<_, 3>::new(n, i, j, &memory).unwrap();
                for r in 0..BLOCK {
                    for (l, run) in corners.row(r).into_iter().enumerate() {
                        let want: [_; BLOCK] =
                            core::array::from_fn(|c| (l, i * BLOCK + r, j * BLOCK + c));
                        assert_eq!(*run, want);
                    }
                }
                let mut corners = CornersMut::<_, 3>::new(n, i, j, &mut memory).unwrap();
                for r in 0..BLOCK {
                    for run in corners.row(r) {
                        *run = [(99, 99, 99); BLOCK];
                    }
                }
                for (now, before) in memory.iter().zip(matrices(3, n)) {
                    let (_, row, column) = before;
                    let inside = row / BLOCK == i && column / BLOCK == j;
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
            assert!(Corners::<_, 3>::new(n, i, j, &memory).is_none());
            assert!(CornersMut::<_, 3>::new(n, i, j, &mut memory).is_none());
        }
        let all = memory.len();
        for len in [0, n * n, all - n * n, all - 1] {
            assert!(Corners::<_, 3>::new(n, 0, 0, &memory[..len]).is_none());
            assert!(CornersMut::<_, 3>::new(n, 0, 0, &mut memory[..len]).is_none());
        }
    }
}
