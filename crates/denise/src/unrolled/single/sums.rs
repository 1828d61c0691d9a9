//! Sums over the rows, which lie in lanes too, and over the entries of the matrix.

use super::{PANEL, Single, lane_numbers, panel_of, panels};
use crate::simd::{Fixed, Real, Vector, Vectors};
use crate::unrolled::partial::{PARTIAL_SUMS, fold};
use crate::unrolled::rank::{by_constant, by_one};
use crate::unrolled::rows;
use crate::unrolled::shape::{Layout, Sums};
use crate::unrolled::triangle::triangle;
use fearless_simd::{Select, SimdBase};

impl<V: Vector> Sums<V> for Single<'_, V> {
    #[inline(always)]
    fn sum(self, numbers: &[V::Array]) -> V {
        let mut partial = Partial::new(self.vectors);
        if let (PANEL, Some(three)) = (self.rows(), numbers.first_chunk::<PANEL>()) {
            for v in 0..PANEL {
                partial.add(v, self.vectors.load(&three[v]));
            }
            return partial.fold();
        }
        for v in 0..self.rows() {
            partial.add(v, self.vectors.load(&numbers[v]));
        }
        partial.fold()
    }

    #[inline(never)]
    fn gram(self, k: usize, x: &[V::Array], y: &[V::Array], g: &mut [V::Array]) {
        let vectors = self.vectors;
        by_constant::<1, 3, V>(
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

    #[inline(always)]
    fn leading(self, width: usize, k: usize, g: &mut [V::Array], room: &mut [V::Array]) {
        if V::Tail::W == V::W {
            return rows::leading(self.vectors, width, k, g, room);
        }
        // All lanes are alike, so a few are enough, and less is loaded and stored.
        let (g, room) = (V::Array::values_mut(g), V::Array::values_mut(room));
        let size = triangle(width);
        for e in 1..size {
            g.copy_within(e * V::W..e * V::W + V::Tail::W, e * V::Tail::W);
        }
        type Array<V> = <<V as Vector>::Tail as SimdBase<<V as Vector>::Token>>::Array;
        let vectors = Vectors::<V::Tail>::new(self.vectors.simd());
        let few = (
            Array::<V>::chunks_mut(&mut g[..size * V::Tail::W]),
            Array::<V>::chunks_mut(room),
        );
        rows::leading(vectors, width, k, few.0, few.1);
        // From the last to the first, since each is written where others were.
        for e in (0..triangle(k)).rev() {
            let x = g[e * V::Tail::W];
            g[e * V::W..][..V::W].fill(x);
        }
        for e in (0..2 * k * width).rev() {
            let x = room[e * V::Tail::W];
            room[e * V::W..][..V::W].fill(x);
        }
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
        terms: impl Fn(usize) -> [V; T] + Sync,
    ) -> [V; T] {
        let (rows, zero) = (self.rows(), self.vectors.zero());
        let mut rest = &mut *sums;
        let tables = [(); T].map(|()| {
            let (table, others) = core::mem::take(&mut rest).split_at_mut(rows);
            rest = others;
            (table, 1)
        });
        let (n, vectors) = (self.n, self.vectors);
        self.each_panel(
            tables,
            #[inline(always)]
            |(first, count), sums| match count {
                3 => sum_panel::<3, T, V>(vectors, n, first, &terms, sums),
                2 => sum_panel::<2, T, V>(vectors, n, first, &terms, sums),
                _ => sum_panel::<1, T, V>(vectors, n, first, &terms, sums),
            },
        );
        let mut all = [zero; T];
        for t in 0..T {
            all[t] = self.sum(&sums[t * rows..]);
        }
        all
    }

    #[inline(always)]
    fn row_sums(self, matrix: &[V::Array], sums: &mut [V::Array], term: impl Fn(V) -> V + Sync) {
        let (n, vectors) = (self.n, self.vectors);
        self.each_panel(
            [(sums, 1)],
            #[inline(always)]
            |(first, count), [sums]| {
                let panel = &matrix[first * n..][..count * n];
                match count {
                    3 => sum_rows::<3, V>(vectors, panel, sums, &term),
                    2 => sum_rows::<2, V>(vectors, panel, sums, &term),
                    _ => sum_rows::<1, V>(vectors, panel, sums, &term),
                }
            },
        );
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
    fn clip(self, pair: V, own: V, matrix: &[V::Array], out: &mut [V::Array]) {
        let (n, vectors) = (self.n, self.vectors);
        self.each_panel(
            [(out, n)],
            #[inline(always)]
            |(first, count), [out]| {
                let matrix = &matrix[first * n..][..count * n];
                match count {
                    3 => clip_panel::<3, V>(vectors, first, pair, own, matrix, out),
                    2 => clip_panel::<2, V>(vectors, first, pair, own, matrix, out),
                    _ => clip_panel::<1, V>(vectors, first, pair, own, matrix, out),
                }
            },
        );
    }

    #[inline(always)]
    fn variance(self, matrix: &[V::Array], _: usize, i: usize) -> V::Scalar {
        matrix[self.own(i)][i % V::W]
    }

    #[inline(always)]
    fn extremes(self, raw: &[V::Array], room: &mut [V::Array]) -> (V, V) {
        let (n, vectors) = (self.n, self.vectors);
        let zero = vectors.zero();
        self.each_panel(
            [(&mut *room, 1)],
            #[inline(always)]
            |(first, count), [room]| {
                let (mut largest, mut poison) = (zero, zero);
                for x in &raw[first * n..][..count * n] {
                    let x = vectors.load(x);
                    largest = largest.max(x.abs());
                    poison = x.mul_add(zero, poison);
                }
                // Largest and NaN in one.
                for room in room.iter_mut() {
                    (largest + poison).store_array(room);
                }
            },
        );
        let (mut largest, mut poison) = (zero, zero);
        for x in &room[..self.rows()] {
            let x = vectors.load(x);
            largest = largest.max(x);
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

    #[inline(always)]
    fn map(self, from: &[V::Array], to: &mut [V::Array], function: impl Fn(V) -> V + Sync) {
        let (n, vectors) = (self.n, self.vectors);
        self.each_panel(
            [(to, n)],
            #[inline(always)]
            |(first, _), [to]| {
                for (to, from) in to.iter_mut().zip(&from[first * n..]) {
                    function(vectors.load(from)).store_array(to);
                }
            },
        );
    }
}

impl<V: Vector> Single<'_, V> {
    /// Where diagonal entry `i` is.
    #[inline(always)]
    fn own(self, i: usize) -> usize {
        let row = i / V::W;
        let (first, count) = panel_of(self.rows(), row);
        first * self.n + i * count + row - first
    }
}

/// [`Sums::clip`] for a panel of `ROWS` vectors.
#[inline(always)]
fn clip_panel<const ROWS: usize, V: Vector>(
    vectors: Vectors<V>,
    first: usize,
    pair: V,
    own: V,
    matrix: &[V::Array],
    out: &mut [V::Array],
) {
    for (out, x) in out.iter_mut().zip(matrix) {
        let x = vectors.load(x);
        x.min(pair).max(-pair).store_array(out);
    }
    // The diagonal again.
    let lanes = lane_numbers(vectors);
    let columns = matrix.chunks_exact(ROWS).zip(out.chunks_exact_mut(ROWS));
    for (j, (matrix, out)) in columns.enumerate().skip(first * V::W).take(ROWS * V::W) {
        let v = j / V::W - first;
        let x = vectors.load(&matrix[v]).min(own).max(-own);
        let on = lanes.simd_eq(vectors.number((j % V::W) as f64));
        let cut: V = on.select(x, vectors.load(&out[v]));
        cut.store_array(&mut out[v]);
    }
}

/// What [`Sums::sum_entries`] adds up for each row of a panel of `ROWS` vectors.
#[inline(always)]
fn sum_panel<const ROWS: usize, const T: usize, V: Vector>(
    vectors: Vectors<V>,
    n: usize,
    first: usize,
    terms: &impl Fn(usize) -> [V; T],
    sums: [&mut [V::Array]; T],
) {
    let zero = vectors.zero();
    let lanes = lane_numbers(vectors);
    let (mut left, mut diagonal) = ([[zero; T]; ROWS], [[zero; T]; ROWS]);
    // Columns further right are those of rows further down.
    for j in 0..n.min((first + ROWS) * V::W) {
        let at = j / V::W;
        for v in 0..ROWS {
            if at > first + v {
                continue;
            }
            let x = terms(first * n + j * ROWS + v);
            if at < first + v {
                for t in 0..T {
                    left[v][t] += x[t];
                }
                continue;
            }
            let lane = vectors.number((j % V::W) as f64);
            let (before, on) = (lanes.simd_gt(lane), lanes.simd_eq(lane));
            for t in 0..T {
                let x_before: V = before.select(x[t], zero);
                let x_on: V = on.select(x[t], zero);
                left[v][t] += x_before;
                diagonal[v][t] += x_on;
            }
        }
    }
    for v in 0..ROWS {
        for t in 0..T {
            let all = left[v][t] + left[v][t] + diagonal[v][t];
            all.store_array(&mut sums[t][v]);
        }
    }
}

/// [`Sums::row_sums`] for a panel of `ROWS` vectors.
#[inline(always)]
fn sum_rows<const ROWS: usize, V: Vector>(
    vectors: Vectors<V>,
    panel: &[V::Array],
    sums: &mut [V::Array],
    term: &impl Fn(V) -> V,
) {
    let mut rows = [vectors.zero(); ROWS];
    for column in panel.as_chunks::<ROWS>().0 {
        for v in 0..ROWS {
            rows[v] += term(vectors.load(&column[v]));
        }
    }
    for v in 0..ROWS {
        rows[v].store_array(&mut sums[v]);
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
    if x.len() == PANEL * k && y.len() == PANEL * k {
        // So many loops would cost more than what they do.
        for v in 0..PANEL {
            partial.add_product(v, vectors.load(&x[v * k + a]), vectors.load(&y[v * k + b]));
        }
        return partial.fold();
    }
    let rows = x.chunks_exact(k).zip(y.chunks_exact(k));
    for (v, (x, y)) in rows.enumerate() {
        partial.add_product(v, vectors.load(&x[a]), vectors.load(&y[b]));
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
            // More lanes than sums: the lower half, then the upper one, as a narrower vector would. What stands in lanes
            // beyond the sums is never read.
            self.sums[0] = self.sums[0] + x + self.upper(x);
        }
    }

    /// Adds the product of two numbers for each row of vector row `v`, rounded once.
    #[inline(always)]
    fn add_product(&mut self, v: usize, x: V, y: V) {
        if V::W <= PARTIAL_SUMS {
            let sum = &mut self.sums[v % PARTIAL_SUMS.div_ceil(V::W)];
            *sum = x.mul_add(y, *sum);
        } else {
            let lower = x.mul_add(y, self.sums[0]);
            self.sums[0] = self.upper(x).mul_add(self.upper(y), lower);
        }
    }

    /// The lanes beyond the sums, as the first ones.
    #[inline(always)]
    fn upper(&self, x: V) -> V {
        let values = x.to_array();
        let mut upper = V::Array::filled(V::Scalar::ZERO);
        for l in PARTIAL_SUMS..V::W {
            upper[l - PARTIAL_SUMS] = values[l];
        }
        self.vectors.load(&upper)
    }

    /// Their sum: vectors are folded in halves, then lanes.
    #[inline(always)]
    fn fold(self) -> V {
        let mut lanes = fold(self.sums, PARTIAL_SUMS.div_ceil(V::W)).to_array();
        let mut half = V::W.min(PARTIAL_SUMS) / 2;
        while half > 0 {
            for l in 0..half {
                lanes[l] = lanes[l] + lanes[l + half];
            }
            half /= 2;
        }
        self.vectors.splat(lanes[0])
    }
}
