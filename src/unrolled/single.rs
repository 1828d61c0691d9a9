//! One matrix: lane l of vector v belongs to row v·W + l.
//!
//! The rows are cut into tiles of up to three vectors. A matrix is stored tile by tile and, within a
//! tile, column by column; a factor is a row of k vectors for every vector of rows. Rows past n are
//! zero and stay so.

use super::PARTIAL_SUMS;
use super::network::{Influence, Shape, fold};
use crate::simd::{Real, Vector};
use fearless_simd::{Select, Simd};

/// Vectors in a full tile: with three columns it makes nine sums, which 16 registers hold.
const TILE: usize = 3;

#[derive(Clone, Copy)]
pub(super) struct Single {
    pub(super) n: usize,
}

impl Single {
    pub(super) const fn row_vectors<const W: usize>(self) -> usize {
        self.n.div_ceil(W)
    }

    pub(super) const fn matrix_len<const W: usize>(self) -> usize {
        self.row_vectors::<W>() * self.n
    }
}

/// The tiles of a matrix: first vector, number of vectors.
fn tiles(vectors: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..vectors)
        .step_by(TILE)
        .map(move |first| (first, TILE.min(vectors - first)))
}

/// The numbers of the rows in a vector.
#[inline(always)]
fn row_numbers<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(simd: S, vector: usize) -> V {
    V::from_fn(simd, |l| F::from_f64((vector * W + l) as f64))
}

/// Stores the leading lanes.
#[inline(always)]
fn store_run<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(values: V, run: &mut [F]) {
    match <&mut [F; W]>::try_from(&mut *run) {
        Ok(run) => values.store_array(run),
        Err(_) => run.copy_from_slice(&values.as_slice()[..run.len()]),
    }
}

impl<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize> Shape<S, F, V, W> for Single {
    #[inline(always)]
    fn n(self) -> usize {
        self.n
    }

    #[inline(always)]
    fn rows(self) -> usize {
        self.row_vectors::<W>()
    }

    #[inline(always)]
    fn matrix(self) -> usize {
        self.matrix_len::<W>()
    }

    #[inline(always)]
    fn pack(self, matrix: &[F], raw: &mut [[F; W]]) {
        let n = self.n;
        let vectors = self.row_vectors::<W>();
        for (first, count) in tiles(vectors) {
            let panel = raw[first * n..][..count * n].chunks_exact_mut(count);
            for (j, column) in panel.enumerate() {
                for (v, x) in column.iter_mut().enumerate() {
                    let top = (first + v) * W;
                    *x = core::array::from_fn(|l| {
                        let i = top + l;
                        if i >= n {
                            F::ZERO
                        } else if i >= j {
                            matrix[i * n + j]
                        } else {
                            matrix[j * n + i]
                        }
                    });
                }
            }
        }
    }

    #[inline(always)]
    fn unpack_rows(self, k: usize, rows: &[[F; W]], table: &mut [F]) {
        for (i, row) in table.chunks_exact_mut(k).enumerate() {
            for (a, x) in row.iter_mut().enumerate() {
                *x = rows[i / W * k + a][i % W];
            }
        }
    }

    #[inline(always)]
    fn split(
        self,
        simd: S,
        k: usize,
        scale: V,
        m: &[[F; W]],
        u: &[[F; W]],
        l: &mut [[F; W]],
        s: &mut [[F; W]],
    ) {
        let n = self.n;
        let load = |x: &[F; W]| V::load_array_ref(simd, x);
        let (max, min) = (V::splat(simd, F::MAX), -V::splat(simd, F::MAX));
        for (first, count) in tiles(self.row_vectors::<W>()) {
            let own = &u[first * k..(first + count) * k];
            for j in 0..n {
                let other = &u[j / W * k..][..k];
                for v in 0..count {
                    let at = first * n + j * count + v;
                    let mut x = V::splat(simd, F::ZERO);
                    for a in 0..k {
                        let other = V::splat(simd, other[a][j % W]);
                        x = load(&own[v * k + a]).mul_add(other, x);
                    }
                    let x = (x * scale).min(max).max(min);
                    x.store_array(&mut l[at]);
                    (load(&m[at]) - x).min(max).max(min).store_array(&mut s[at]);
                }
            }
        }
    }

    #[inline(always)]
    fn unpack(self, simd: S, matrix: &[[F; W]], out: &mut [F]) {
        let n = self.n;
        for (first, count) in tiles(self.row_vectors::<W>()) {
            let panel = matrix[first * n..][..count * n].chunks_exact(count);
            // Column j of a symmetric matrix is its row j, and that is contiguous in the output.
            for (row, column) in out.chunks_exact_mut(n).zip(panel) {
                for (run, x) in row[first * W..].chunks_mut(W).zip(column) {
                    store_run(V::load_array_ref(simd, x), run);
                }
            }
        }
    }

    #[inline(always)]
    fn diagonal(self, simd: S, matrix: &[[F; W]], row: usize) -> V {
        let n = self.n;
        let (first, count) = (
            row - row % TILE,
            TILE.min(self.row_vectors::<W>() - row / TILE * TILE),
        );
        V::from_fn(simd, |l| {
            let i = row * W + l;
            if i < n {
                matrix[first * n + i * count + row - first][l]
            } else {
                F::ZERO
            }
        })
    }

    #[inline(always)]
    fn spread_extremes(self, simd: S, largest: V, poison: V) -> (V, V) {
        let mut top = F::ZERO;
        for x in largest.to_array() {
            top = if x > top { x } else { top };
        }
        let poison = poison.to_array().into_iter().fold(F::ZERO, Real::plus);
        (V::splat(simd, top), V::splat(simd, poison))
    }

    #[inline(always)]
    fn sum_entries(self, simd: S, sums: &mut [[F; W]], term: impl Fn(usize) -> V) -> V {
        let n = self.n;
        let zero = V::splat(simd, F::ZERO);
        for (first, count) in tiles(self.row_vectors::<W>()) {
            for v in 0..count {
                let rows = row_numbers::<S, F, V, W>(simd, first + v);
                let (mut lower, mut diagonal) = (zero, zero);
                for j in 0..n {
                    let x = term(first * n + j * count + v);
                    let column = V::splat(simd, F::from_f64(j as f64));
                    let below: V = rows.simd_gt(column).select(x, zero);
                    let on: V = rows.simd_eq(column).select(x, zero);
                    lower += below;
                    diagonal += on;
                }
                (lower + lower + diagonal).store_array(&mut sums[first + v]);
            }
        }
        let sums = &*sums;
        self.sum(simd, |i| V::load_array_ref(simd, &sums[i]))
    }

    #[inline(always)]
    fn spread(self, _simd: S, k: usize, table: &[F], rows: &mut [[F; W]]) {
        rows.fill([F::ZERO; W]);
        for (i, row) in table.chunks_exact(k).enumerate() {
            for (a, &x) in row.iter().enumerate() {
                rows[i / W * k + a][i % W] = x;
            }
        }
    }

    #[inline(always)]
    fn sum(self, simd: S, mut term: impl FnMut(usize) -> V) -> V {
        let vectors = PARTIAL_SUMS / W;
        let mut partial = [V::splat(simd, F::ZERO); PARTIAL_SUMS];
        for v in 0..self.row_vectors::<W>() {
            partial[v % vectors] += term(v);
        }
        let mut lanes = fold(partial, vectors).to_array();
        let mut half = W / 2;
        while half > 0 {
            for l in 0..half {
                lanes[l] = lanes[l].plus(lanes[l + half]);
            }
            half /= 2;
        }
        V::splat(simd, lanes[0])
    }

    #[inline(always)]
    fn multiply(
        self,
        simd: S,
        columns: usize,
        matrix: &[[F; W]],
        x: &[[F; W]],
        out: &mut [[F; W]],
    ) {
        for (first, count) in tiles(self.row_vectors::<W>()) {
            let panel = &matrix[first * self.n..][..count * self.n];
            let out = &mut out[first * columns..][..count * columns];
            match count {
                3 => multiply_tile::<S, F, V, W, 3>(simd, columns, panel, x, out),
                2 => multiply_tile::<S, F, V, W, 2>(simd, columns, panel, x, out),
                _ => multiply_tile::<S, F, V, W, 1>(simd, columns, panel, x, out),
            }
        }
    }

    #[inline(always)]
    fn residual(
        self,
        simd: S,
        k: usize,
        m: &[[F; W]],
        u: &[[F; W]],
        r: &mut [[F; W]],
        sums: &mut [[F; W]],
    ) {
        for (first, count) in tiles(self.row_vectors::<W>()) {
            let span = first * self.n..(first + count) * self.n;
            let (m, r) = (&m[span.clone()], &mut r[span]);
            let sums = &mut sums[first..first + count];
            match count {
                3 => residual_tile::<S, F, V, W, 3>(simd, k, first, m, u, r, sums),
                2 => residual_tile::<S, F, V, W, 2>(simd, k, first, m, u, r, sums),
                _ => residual_tile::<S, F, V, W, 1>(simd, k, first, m, u, r, sums),
            }
        }
    }

    #[inline(always)]
    fn weigh(self, simd: S, influence: Influence<V>, r: &mut [[F; W]], weights: &mut [[F; W]]) {
        let Influence {
            scale,
            diagonal_scale,
            diagonal_trust,
        } = influence;
        for (first, count) in tiles(self.row_vectors::<W>()) {
            let span = first * self.n..(first + count) * self.n;
            let panel = r[span.clone()].chunks_exact_mut(count);
            for (j, (r, w)) in panel.zip(weights[span].chunks_exact_mut(count)).enumerate() {
                for (v, (r, w)) in r.iter_mut().zip(w).enumerate() {
                    let x = V::load_array_ref(simd, r);
                    let rows = row_numbers::<S, F, V, W>(simd, first + v);
                    let diagonal = rows.simd_eq(V::splat(simd, F::from_f64(j as f64)));
                    let trust: V = diagonal.select(diagonal_trust, scale);
                    let scale: V = diagonal.select(diagonal_scale, scale);
                    let weight = trust / x.mul_add(x, scale);
                    weight.store_array(w);
                    (weight * x).store_array(r);
                }
            }
        }
    }
}

#[inline(always)]
fn multiply_tile<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const ROWS: usize>(
    simd: S,
    columns: usize,
    panel: &[[F; W]],
    x: &[[F; W]],
    out: &mut [[F; W]],
) {
    let mut c = 0;
    while c + 3 <= columns {
        simd.vectorize(
            #[inline(always)]
            || multiply_columns::<S, F, V, W, ROWS, 3>(simd, columns, c, panel, x, out),
        );
        c += 3;
    }
    while c < columns {
        simd.vectorize(
            #[inline(always)]
            || multiply_columns::<S, F, V, W, ROWS, 1>(simd, columns, c, panel, x, out),
        );
        c += 1;
    }
}

#[inline(always)]
fn multiply_columns<
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
    const W: usize,
    const ROWS: usize,
    const COLUMNS: usize,
>(
    simd: S,
    columns: usize,
    c: usize,
    panel: &[[F; W]],
    x: &[[F; W]],
    out: &mut [[F; W]],
) {
    let mut sums = [[V::splat(simd, F::ZERO); COLUMNS]; ROWS];
    // W columns of the matrix meet one vector row of x, from which they take a lane each.
    for (matrix, x) in panel.chunks(ROWS * W).zip(x.chunks_exact(columns)) {
        let x = &x[c..c + COLUMNS];
        for (l, matrix) in matrix.chunks_exact(ROWS).enumerate() {
            let matrix: [V; ROWS] = core::array::from_fn(|v| V::load_array_ref(simd, &matrix[v]));
            for column in 0..COLUMNS {
                let x = V::splat(simd, x[column][l]);
                for v in 0..ROWS {
                    sums[v][column] = matrix[v].mul_add(x, sums[v][column]);
                }
            }
        }
    }
    for v in 0..ROWS {
        for column in 0..COLUMNS {
            sums[v][column].store_array(&mut out[v * columns + c + column]);
        }
    }
}

#[inline(always)]
fn residual_tile<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const ROWS: usize>(
    simd: S,
    k: usize,
    first: usize,
    m: &[[F; W]],
    u: &[[F; W]],
    r: &mut [[F; W]],
    sums: &mut [[F; W]],
) {
    let zero = V::splat(simd, F::ZERO);
    let own = &u[first * k..(first + ROWS) * k];
    let rows: [V; ROWS] = core::array::from_fn(|v| row_numbers(simd, first + v));
    let mut sum = [zero; ROWS];
    let panels = m.chunks(ROWS * W).zip(r.chunks_mut(ROWS * W));
    let mut j = F::ZERO;
    for ((m, r), other) in panels.zip(u.chunks_exact(k)) {
        for (l, (m, r)) in m
            .chunks_exact(ROWS)
            .zip(r.chunks_exact_mut(ROWS))
            .enumerate()
        {
            let mut x: [V; ROWS] = core::array::from_fn(|v| V::load_array_ref(simd, &m[v]));
            for a in 0..k {
                let other = V::splat(simd, other[a][l]);
                for v in 0..ROWS {
                    let own = V::load_array_ref(simd, &own[v * k + a]);
                    x[v] = (-own).mul_add(other, x[v]);
                }
            }
            let column = V::splat(simd, j);
            for v in 0..ROWS {
                x[v].store_array(&mut r[v]);
                let below: V = rows[v].simd_gt(column).select(x[v].abs(), zero);
                sum[v] += below;
            }
            j = j.plus(F::ONE);
        }
    }
    for v in 0..ROWS {
        sum[v].store_array(&mut sums[v]);
    }
}
