//! Sums over the rows, which lie in lanes too, and over the entries of the matrix.

use super::{PANEL, Single, lane_numbers, panels};
use crate::simd::{Real, Vector, Vectors};
use crate::unrolled::partial::{PARTIAL_SUMS, fold};
use crate::unrolled::rank::{by_one, by_rank_to};
use crate::unrolled::shape::{Layout, Sums};
use crate::unrolled::triangle::triangle;
use fearless_simd::Select;

impl<V: Vector> Sums<V> for Single<V> {
    #[inline(always)]
    fn sum(self, numbers: &[V::Array]) -> V {
        let mut partial = Partial::new(self.vectors);
        for v in 0..self.rows() {
            partial.add(v, self.vectors.load(&numbers[v]));
        }
        partial.fold()
    }

    #[inline(never)]
    fn gram(self, k: usize, x: &[V::Array], y: &[V::Array], g: &mut [V::Array]) {
        let vectors = self.vectors;
        by_rank_to::<3, V>(
            vectors,
            k,
            #[inline(always)]
            move |k| {
                for a in 0..k {
                    for b in 0..=a {
                        let dot = dot(vectors, k, (x, a), (y, b));
                        dot.store_array(&mut g[triangle(a) + b]);
                    }
                }
            },
        );
    }

    #[inline(never)]
    fn cross(self, k: usize, x: &[V::Array], y: &[V::Array], c: &mut [V::Array]) {
        by_one::<3, V>(
            self.vectors,
            k,
            #[inline(always)]
            move |k| {
                for b in 0..k {
                    for a in 0..k {
                        let dot = dot(self.vectors, k, (x, a), (y, b));
                        dot.store_array(&mut c[b * k + a]);
                    }
                }
            },
        );
    }

    #[inline(always)]
    fn sum_entries<const T: usize>(
        self,
        sums: &mut [V::Array],
        terms: impl Fn(usize) -> [V; T],
    ) -> [V; T] {
        let (n, rows, vectors) = (self.n, self.rows(), self.vectors);
        let zero = vectors.zero();
        let lanes = lane_numbers(vectors);
        for (first, count) in panels(rows) {
            for v in 0..count {
                let (mut left, mut diagonal) = ([zero; T], [zero; T]);
                let top = (first + v) * V::W;
                for j in 0..top {
                    let x = terms(first * n + j * count + v);
                    for t in 0..T {
                        left[t] += x[t];
                    }
                }
                // Columns further right are those of rows further down.
                for j in top..n.min(top + V::W) {
                    let x = terms(first * n + j * count + v);
                    let lane = vectors.number((j - top) as f64);
                    let (before, on) = (lanes.simd_gt(lane), lanes.simd_eq(lane));
                    for t in 0..T {
                        let x_before: V = before.select(x[t], zero);
                        let x_on: V = on.select(x[t], zero);
                        left[t] += x_before;
                        diagonal[t] += x_on;
                    }
                }
                for t in 0..T {
                    let all = left[t] + left[t] + diagonal[t];
                    all.store_array(&mut sums[t * rows + first + v]);
                }
            }
        }
        let mut all = [zero; T];
        for t in 0..T {
            all[t] = self.sum(&sums[t * rows..]);
        }
        all
    }

    #[inline(always)]
    fn sum_pairs(self, sums: &mut [V::Array], term: impl Fn(usize) -> V) -> V {
        let (n, vectors) = (self.n, self.vectors);
        let lanes = lane_numbers(vectors);
        for (first, count) in panels(self.rows()) {
            for v in 0..count {
                let mut left = vectors.zero();
                for j in 0..n {
                    let lane = vectors.number(j as f64 - ((first + v) * V::W) as f64);
                    let x = term(first * n + j * count + v);
                    let before: V = lanes.simd_gt(lane).select(x, vectors.zero());
                    left += before;
                }
                left.store_array(&mut sums[first + v]);
            }
        }
        self.sum(sums)
    }

    #[inline(always)]
    fn dot(self, k: usize, x: (&[V::Array], usize), y: (&[V::Array], usize)) -> V {
        dot(self.vectors, k, x, y)
    }

    #[inline(always)]
    fn diagonal(self, matrix: &[V::Array], row: usize) -> V {
        V::from_fn(self.vectors.simd(), |l| {
            let i = row * V::W + l;
            if i < self.n {
                self.variance(matrix, 0, i)
            } else {
                V::Scalar::ZERO
            }
        })
    }

    #[inline(always)]
    fn set_diagonal(self, matrix: &mut [V::Array], row: usize, values: V) {
        for (lane, x) in values.to_array().into_iter().enumerate() {
            let i = row * V::W + lane;
            if i < self.n {
                matrix[self.own(i)][lane] = x;
            }
        }
    }

    #[inline(always)]
    fn variance(self, matrix: &[V::Array], _: usize, i: usize) -> V::Scalar {
        matrix[self.own(i)][i % V::W]
    }

    #[inline(always)]
    fn extremes(self, raw: &[V::Array]) -> (V, V) {
        let vectors = self.vectors;
        let zero = vectors.zero();
        let (mut largest, mut poison) = (zero, zero);
        for x in raw {
            let x = vectors.load(x);
            largest = largest.max(x.abs());
            poison = x.mul_add(zero, poison);
        }
        let mut top = V::Scalar::ZERO;
        for x in largest.to_array() {
            top = if x > top { x } else { top };
        }
        let mut sum = V::Scalar::ZERO;
        for x in poison.to_array() {
            sum += x;
        }
        (vectors.splat(top), vectors.splat(sum))
    }
}

impl<V: Vector> Single<V> {
    /// Where diagonal entry `i` is.
    #[inline(always)]
    fn own(self, i: usize) -> usize {
        let row = i / V::W;
        let full = self.rows() / PANEL * PANEL;
        let (first, count) = if row < full {
            (row - row % PANEL, PANEL)
        } else {
            (row, 1)
        };
        first * self.n + i * count + row - first
    }
}

/// Σ over the rows of x_ia y_ib.
#[inline(always)]
fn dot<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    (x, a): (&[V::Array], usize),
    (y, b): (&[V::Array], usize),
) -> V {
    let mut partial = Partial::new(vectors);
    let rows = x.chunks_exact(k).zip(y.chunks_exact(k));
    for (v, (x, y)) in rows.enumerate() {
        partial.add(v, vectors.load(&x[a]) * vectors.load(&y[b]));
    }
    partial.fold()
}

/// Partial sums over rows, `W` of them in a vector.
struct Partial<V: Vector> {
    vectors: Vectors<V>,
    sums: [V; PARTIAL_SUMS],
}

impl<V: Vector> Partial<V> {
    #[inline(always)]
    fn new(vectors: Vectors<V>) -> Self {
        Partial {
            vectors,
            sums: [vectors.zero(); PARTIAL_SUMS],
        }
    }

    /// Adds a number for each row of vector row `v`.
    #[inline(always)]
    fn add(&mut self, v: usize, x: V) {
        if V::W <= PARTIAL_SUMS {
            self.sums[v % PARTIAL_SUMS.div_ceil(V::W)] += x;
        } else {
            // More lanes than sums: one after the other, as a narrower vector would.
            let mut sums = self.sums[0].to_array();
            for (l, x) in x.to_array().into_iter().enumerate() {
                sums[l % PARTIAL_SUMS] += x;
            }
            self.sums[0] = self.vectors.load(&sums);
        }
    }

    /// Their sum: vectors are folded in halves, then lanes.
    #[inline(always)]
    fn fold(self) -> V {
        let mut lanes = fold(self.sums, PARTIAL_SUMS.div_ceil(V::W)).to_array();
        let mut half = V::W / 2;
        while half > 0 {
            for l in 0..half {
                lanes[l] = lanes[l] + lanes[l + half];
            }
            half /= 2;
        }
        self.vectors.splat(lanes[0])
    }
}
