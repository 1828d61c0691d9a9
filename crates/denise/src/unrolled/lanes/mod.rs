//! Batch in lanes: lane l of every vector belongs to matrix l of a group of `W`.
//!
//! Rows are counted in blocks of four, the last one padded with rows of zeros. A symmetric matrix is the
//! lower triangle of a grid of 4×4 blocks, of which those on the diagonal are whole; a factor is a row
//! of k vectors for every row. All hot loops work on one block, so their lengths are constants.
//!
//! - `pack`: from the caller's memory and back. `corners`: the same block in each of the caller's matrices.
//! - `weigh`: the residual of a block, its weights, and what they add to the rows' systems.
//! - `tile`: products of blocks, a few sums at a time in registers.
//! - `sums`: sums over rows and entries. `split`: L and S.

mod corners;
mod pack;
mod split;
mod sums;
mod tile;
mod weigh;

use super::shape::Layout;
use super::triangle::triangle;
use crate::simd::{Vector, Vectors};

/// Rows and columns of a block.
pub(super) const SIDE: usize = 4;
const ENTRIES: usize = SIDE * SIDE;

/// The shape, for n×n matrices.
#[derive(Clone, Copy)]
pub(super) struct Lanes<V: Vector> {
    pub(super) n: usize,
    pub(super) vectors: Vectors<V>,
}

impl<V: Vector> Layout<V> for Lanes<V> {
    #[inline(always)]
    fn vectors(self) -> Vectors<V> {
        self.vectors
    }

    #[inline(always)]
    fn n(self) -> usize {
        self.n
    }

    #[inline(always)]
    fn rows(self) -> usize {
        self.n.next_multiple_of(SIDE)
    }

    #[inline(always)]
    fn matrix(self) -> usize {
        triangle(self.n.div_ceil(SIDE)) * ENTRIES
    }

    #[inline(always)]
    fn share_rows<const TABLES: usize>(
        self,
        tables: [(&mut [V::Array], usize); TABLES],
        work: impl Fn(usize, [&mut [V::Array]; TABLES]) + Sync,
    ) {
        work(0, tables.map(|(table, _)| table));
    }
}

/// Where entry (i, j), that is entry (j, i), of a symmetric matrix is.
const fn place(i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (j, i) } else { (i, j) };
    (triangle(i / SIDE) + j / SIDE) * ENTRIES + i % SIDE * SIDE + j % SIDE
}
