//! Sums over the rows and over the entries of the matrix in each lane.

use super::{ENTRIES, Lanes, SIDE, place};
use crate::simd::{Vector, Vectors};
use crate::unrolled::partial::{PARTIAL_SUMS, fold};
use crate::unrolled::rank::{by_one, by_rank};
use crate::unrolled::rows;
use crate::unrolled::shape::Sums;
use crate::unrolled::triangle::triangle;

impl<V: Vector> Sums<V> for Lanes<V> {
    #[inline(always)]
    fn sum(self, numbers: &[V::Array]) -> V {
        let vectors = self.vectors;
        let mut partial = [vectors.zero(); PARTIAL_SUMS];
        let (eights, rest) = numbers[..self.n].as_chunks::<PARTIAL_SUMS>();
        for eight in eights {
            for g in 0..PARTIAL_SUMS {
                partial[g] += vectors.load(&eight[g]);
            }
        }
        for g in 0..PARTIAL_SUMS {
            if g < rest.len() {
                partial[g] += vectors.load(&rest[g]);
            }
        }
        fold(partial, PARTIAL_SUMS)
    }

    #[inline(never)]
    fn gram(self, k: usize, x: &[V::Array], y: &[V::Array], g: &mut [V::Array]) {
        by_rank(
            self.vectors,
            k,
            #[inline(always)]
            move |k| {
                for a in 0..k {
                    for b in 0..=a {
                        let dot = dot(self.vectors, k, (x, a), (y, b));
                        dot.store_array(&mut g[triangle(a) + b]);
                    }
                }
            },
        );
    }

    #[inline(always)]
    fn leading(self, width: usize, k: usize, g: &mut [V::Array], room: &mut [V::Array]) {
        rows::leading(self.vectors, width, k, g, room);
    }

    #[inline(never)]
    fn cross(self, k: usize, x: &[V::Array], y: &[V::Array], c: &mut [V::Array]) {
        by_one::<3, V>(
            self.vectors,
            k,
            #[inline(always)]
            move |k| {
                for b in 0..k {
                    let mut a = 0;
                    while a + 3 <= k {
                        let dots = dots::<3, V>(self.vectors, k, (x, a), (y, b));
                        for e in 0..3 {
                            dots[e].store_array(&mut c[b * k + a + e]);
                        }
                        a += 3;
                    }
                    for a in a..k {
                        let [dot] = dots::<1, V>(self.vectors, k, (x, a), (y, b));
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
        terms: impl Fn(usize) -> [V; T] + Sync,
    ) -> [V; T] {
        let zero = self.vectors.zero();
        for i in 0..self.n.div_ceil(SIDE) {
            let mut left = [[zero; T]; SIDE];
            for j in 0..i {
                let block = (triangle(i) + j) * ENTRIES;
                for at in 0..ENTRIES {
                    let x = terms(block + at);
                    for t in 0..T {
                        left[at / SIDE][t] += x[t];
                    }
                }
            }
            let block = (triangle(i) + i) * ENTRIES;
            for r in 0..SIDE.min(self.n - i * SIDE) {
                for c in 0..r {
                    let x = terms(block + r * SIDE + c);
                    for t in 0..T {
                        left[r][t] += x[t];
                    }
                }
                let own = terms(block + r * SIDE + r);
                for t in 0..T {
                    let all = left[r][t] + left[r][t] + own[t];
                    all.store_array(&mut sums[t * self.n + i * SIDE + r]);
                }
            }
        }
        let mut all = [self.vectors.zero(); T];
        for t in 0..T {
            all[t] = self.sum(&sums[t * self.n..]);
        }
        all
    }

    #[inline(always)]
    fn row_sums(self, matrix: &[V::Array], sums: &mut [V::Array], term: impl Fn(V) -> V + Sync) {
        let vectors = self.vectors;
        let blocks = matrix.as_chunks::<ENTRIES>().0;
        let sums = sums.as_chunks_mut::<SIDE>().0;
        for i in 0..sums.len() {
            let (above, own) = sums.split_at_mut(i);
            let mut left = [vectors.zero(); SIDE];
            for (block, above) in blocks[triangle(i)..].iter().zip(above) {
                let mut mirror = [vectors.zero(); SIDE];
                for c in 0..SIDE {
                    mirror[c] = vectors.load(&above[c]);
                }
                for at in 0..ENTRIES {
                    let x = term(vectors.load(&block[at]));
                    left[at / SIDE] += x;
                    mirror[at % SIDE] += x;
                }
                for c in 0..SIDE {
                    mirror[c].store_array(&mut above[c]);
                }
            }
            let block = &blocks[triangle(i) + i];
            for at in 0..ENTRIES {
                left[at / SIDE] += term(vectors.load(&block[at]));
            }
            for r in 0..SIDE {
                left[r].store_array(&mut own[0][r]);
            }
        }
    }

    #[inline(always)]
    fn sum_pairs(self, sums: &mut [V::Array], term: impl Fn(usize) -> V) -> V {
        self.sum_left(sums, &term);
        self.sum(sums)
    }

    #[inline(always)]
    fn dot(self, k: usize, x: (&[V::Array], usize), y: (&[V::Array], usize)) -> V {
        dot(self.vectors, k, x, y)
    }

    #[inline(always)]
    fn diagonal(self, matrix: &[V::Array], row: usize) -> V {
        if row < self.n {
            self.vectors.load(&matrix[place(row, row)])
        } else {
            self.vectors.zero()
        }
    }

    #[inline(always)]
    fn set_diagonal(self, matrix: &mut [V::Array], row: usize, values: V) {
        if row < self.n {
            values.store_array(&mut matrix[place(row, row)]);
        }
    }

    #[inline(always)]
    fn clip(self, pair: V, own: V, matrix: &[V::Array], out: &mut [V::Array]) {
        for (out, x) in out.iter_mut().zip(matrix) {
            let x = self.vectors.load(x);
            x.min(pair).max(-pair).store_array(out);
        }
        for i in 0..self.n {
            let x = self.diagonal(matrix, i).min(own).max(-own);
            self.set_diagonal(out, i, x);
        }
    }

    #[inline(always)]
    fn variance(self, matrix: &[V::Array], lane: usize, i: usize) -> V::Scalar {
        matrix[place(i, i)][lane]
    }

    #[inline(always)]
    fn extremes(self, raw: &[V::Array], _: &mut [V::Array]) -> (V, V) {
        let zero = self.vectors.zero();
        // Two of each: one would wait for itself.
        let (mut largest, mut poison) = ([zero; 2], [zero; 2]);
        let (pairs, _) = raw.as_chunks::<2>();
        for pair in pairs {
            for e in 0..2 {
                let x = self.vectors.load(&pair[e]);
                largest[e] = largest[e].max(x.abs());
                poison[e] = x.mul_add(zero, poison[e]);
            }
        }
        (largest[0].max(largest[1]), poison[0] + poison[1])
    }

    #[inline(always)]
    fn map(self, from: &[V::Array], to: &mut [V::Array], function: impl Fn(V) -> V + Sync) {
        for (to, from) in to.iter_mut().zip(from) {
            function(self.vectors.load(from)).store_array(to);
        }
    }
}

impl<V: Vector> Lanes<V> {
    /// Σ over j < i for every row i, block by block.
    #[inline(always)]
    fn sum_left(self, sums: &mut [V::Array], term: &impl Fn(usize) -> V) {
        for (i, sums) in sums.chunks_exact_mut(SIDE).enumerate() {
            let mut left = [self.vectors.zero(); SIDE];
            for j in 0..i {
                let block = (triangle(i) + j) * ENTRIES;
                for r in 0..SIDE {
                    for c in 0..SIDE {
                        left[r] += term(block + r * SIDE + c);
                    }
                }
            }
            let block = (triangle(i) + i) * ENTRIES;
            for r in 0..SIDE {
                for c in 0..r {
                    left[r] += term(block + r * SIDE + c);
                }
                left[r].store_array(&mut sums[r]);
            }
        }
    }
}

/// Σ over the rows of x_ia y_ib. Padded rows are zero.
#[inline(always)]
fn dot<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    (x, a): (&[V::Array], usize),
    (y, b): (&[V::Array], usize),
) -> V {
    let mut partial = [vectors.zero(); PARTIAL_SUMS];
    let size = PARTIAL_SUMS * k;
    for eight in 0..x.len() / size {
        let (x, y) = (&x[eight * size..][..size], &y[eight * size..][..size]);
        for g in 0..PARTIAL_SUMS {
            partial[g] = vectors
                .load(&x[g * k + a])
                .mul_add(vectors.load(&y[g * k + b]), partial[g]);
        }
    }
    // There are rows for whole blocks only: four may be left.
    let rest = x.len() % size;
    if rest > 0 {
        let (x, y) = (&x[x.len() - rest..], &y[y.len() - rest..]);
        let (x, y) = (&x[..SIDE * k], &y[..SIDE * k]);
        for g in 0..SIDE {
            partial[g] = vectors
                .load(&x[g * k + a])
                .mul_add(vectors.load(&y[g * k + b]), partial[g]);
        }
    }
    fold(partial, PARTIAL_SUMS)
}

/// [`dot`] for `COUNT` columns of x, from `a` on, at once. The partial sums are folded as they are made, in the same
/// order, so that all of them stay in registers.
#[inline(always)]
fn dots<const COUNT: usize, V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    (x, a): (&[V::Array], usize),
    (y, b): (&[V::Array], usize),
) -> [V; COUNT] {
    let half = PARTIAL_SUMS / 2;
    let mut folded = [[vectors.zero(); COUNT]; PARTIAL_SUMS / 2];
    for g in 0..half {
        let first = partial_dots::<COUNT, V>(vectors, k, (x, a), (y, b), g);
        let second = partial_dots::<COUNT, V>(vectors, k, (x, a), (y, b), g + half);
        for e in 0..COUNT {
            folded[g][e] = first[e] + second[e];
        }
    }
    let mut all = [vectors.zero(); COUNT];
    for e in 0..COUNT {
        all[e] = (folded[0][e] + folded[2][e]) + (folded[1][e] + folded[3][e]);
    }
    all
}

/// Partial sum `g` of each.
#[inline(always)]
fn partial_dots<const COUNT: usize, V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    (x, a): (&[V::Array], usize),
    (y, b): (&[V::Array], usize),
    g: usize,
) -> [V; COUNT] {
    let mut sums = [vectors.zero(); COUNT];
    let mut row = g;
    while row < x.len() / k {
        let (x, y) = (&x[row * k + a..][..COUNT], vectors.load(&y[row * k + b]));
        for e in 0..COUNT {
            sums[e] = vectors.load(&x[e]).mul_add(y, sums[e]);
        }
        row += PARTIAL_SUMS;
    }
    sums
}
