//! Weights that are summed as they are made: for so few columns of U that A and b of a row stay in registers.

use super::lane_numbers;
use crate::simd::{Vector, Vectors};
use crate::unrolled::shape::Influence;
use crate::unrolled::triangle::triangle;
use fearless_simd::Select;

/// The largest k.
const MOST: usize = 3;

/// Whether registers hold the sums of a row, and all that is needed for them: those of AVX-512, of which there are 32.
pub(super) const fn fits<V: Vector>(k: usize) -> bool {
    k <= MOST && size_of::<V>() > 32
}

/// What it takes to weigh a vector row.
pub(super) struct Fused<'a, const STRIDE: usize, V: Vector> {
    pub(super) vectors: Vectors<V>,
    pub(super) k: usize,
    pub(super) influence: Influence<V>,
    /// Its number among all, and in its panel.
    pub(super) row: usize,
    pub(super) place: usize,
    /// Its diagonal entries.
    pub(super) variance: V,
    /// The columns of the panel.
    pub(super) m: &'a [[V::Array; STRIDE]],
    pub(super) u: &'a [V::Array],
}

/// The sums of the row: see [`crate::unrolled::shape::Terms`].
#[derive(Clone, Copy)]
pub(super) struct Sums<V> {
    pub(super) a: [V; triangle(MOST)],
    pub(super) b: [V; MOST],
    pub(super) sum: V,
    pub(super) total: V,
}

/// Where columns are, seen from the row.
const LEFT: usize = 0;
const DIAGONAL: usize = 1;
const RIGHT: usize = 2;

impl<const STRIDE: usize, V: Vector> Fused<'_, STRIDE, V> {
    /// With A if there is `p`, u_j u_jᵀ of all rows, else with the sum of the weights.
    #[inline(always)]
    pub(super) fn sums<const OWN: bool>(&self, p: &[V::Array]) -> Sums<V> {
        let zero = self.vectors.zero();
        let mut sums = Sums {
            a: [zero; triangle(MOST)],
            b: [zero; MOST],
            sum: zero,
            total: zero,
        };
        let mut own = [zero; MOST];
        for a in 0..self.k {
            own[a] = -self.vectors.load(&self.u[self.row * self.k + a]);
        }
        for square in 0..self.u.len() / self.k {
            if square < self.row {
                self.add::<LEFT, OWN>(square, &own, p, &mut sums);
            } else if square == self.row {
                self.add::<DIAGONAL, OWN>(square, &own, p, &mut sums);
            } else {
                self.add::<RIGHT, OWN>(square, &own, p, &mut sums);
            }
        }
        sums
    }

    /// Up to W columns.
    #[inline(always)]
    fn add<const WHERE: usize, const OWN: bool>(
        &self,
        square: usize,
        own: &[V; MOST],
        p: &[V::Array],
        sums: &mut Sums<V>,
    ) {
        let (vectors, k) = (self.vectors, self.k);
        let (zero, size) = (vectors.zero(), triangle(k));
        let lanes = lane_numbers(vectors);
        let scale = self.influence.scale;
        let m = &self.m[square * V::W..];
        let u = &self.u[square * k..][..k];
        let p = if OWN { &p[square * size..][..size] } else { p };
        let mut own_weights = zero;
        if WHERE == DIAGONAL {
            let mut x = self.variance;
            for a in 0..k {
                x = own[a].mul_add(vectors.load(&u[a]), x);
            }
            own_weights = self.influence.of_diagonal(vectors, self.variance, x);
        }
        let mut lane = zero;
        let mut all = *sums;
        for (l, m) in m.iter().enumerate().take(V::W) {
            let mut x = vectors.load(&m[self.place]);
            for a in 0..k {
                x = own[a].mul_add(vectors.splat(u[a][l]), x);
            }
            let mut weight = scale / x.mul_add(x, scale);
            if WHERE == LEFT {
                all.sum += x.abs();
            } else if WHERE == DIAGONAL {
                weight = lanes.simd_eq(lane).select(own_weights, weight);
                let left: V = lanes.simd_gt(lane).select(x.abs(), zero);
                all.sum += left;
                lane += vectors.one();
            }
            if !OWN {
                all.total += weight;
            }
            let c = weight * x;
            for a in 0..k {
                all.b[a] = c.mul_add(vectors.splat(u[a][l]), all.b[a]);
            }
            if OWN {
                for e in 0..size {
                    all.a[e] = weight.mul_add(vectors.splat(p[e][l]), all.a[e]);
                }
            }
        }
        *sums = all;
    }
}
