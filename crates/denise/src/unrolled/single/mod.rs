//! One matrix: lane l of vector v belongs to row v·W + l.
//!
//! The rows are cut into panels of up to three vectors. A matrix is stored panel by panel and, within a
//! panel, column by column; a factor is a row of k vectors for every vector of rows. Rows past n are
//! zero and stay so.
//!
//! - `pack`: from the caller's memory and back.
//! - `weigh`: the residual of a panel, its weights, and what they add to the rows' systems.
//! - `tile`: products of panels, a few sums at a time in registers.
//! - `sums`: sums over rows and entries, some of them across lanes. `split`: L and S.

mod pack;
mod split;
mod sums;
mod tile;
mod weigh;

use super::shape::Layout;
use crate::simd::{Fixed, Real, Vector, Vectors};

/// Vectors in a full panel: with three columns it makes nine sums, which 16 registers hold.
const PANEL: usize = 3;

/// The shape, for an n×n matrix.
#[derive(Clone, Copy)]
pub(super) struct Single<V: Vector> {
    pub(super) n: usize,
    pub(super) vectors: Vectors<V>,
}

impl<V: Vector> Layout<V> for Single<V> {
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
        self.n.div_ceil(V::W)
    }

    #[inline(always)]
    fn matrix(self) -> usize {
        self.rows() * self.n
    }
}

/// The panels of so many vector rows: first row, number of rows.
fn panels(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    let full = rows - rows % PANEL;
    let panels = (0..full).step_by(PANEL).map(|first| (first, PANEL));
    panels.chain((full..rows).map(|first| (first, 1)))
}

/// 0, 1, 2, …
#[inline(always)]
fn lane_numbers<V: Vector>(vectors: Vectors<V>) -> V {
    let mut numbers = V::Array::filled(V::Scalar::ZERO);
    for l in 1..V::W {
        numbers[l] = numbers[l - 1] + V::Scalar::ONE;
    }
    vectors.load(&numbers)
}
