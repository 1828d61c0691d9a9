//! One matrix: lane l of vector v belongs to row v·W + l.
//!
//! The rows are cut into tiles of up to three vectors. A matrix is stored tile by tile and, within a
//! tile, column by column; a factor is a row of k vectors for every vector of rows. Rows past n are
//! zero and stay so.

use super::PARTIAL_SUMS;
use super::network::{Influence, Shape, Terms, fold};
use super::rows::packed;
use crate::simd::{Real, Vector, Vectors, load_run, store_run, transpose};
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
    let full = vectors - vectors % TILE;
    let tiles = (0..full).step_by(TILE).map(|first| (first, TILE));
    tiles.chain((full..vectors).map(|first| (first, 1)))
}

/// 0, 1, 2, …
#[inline(always)]
fn lane_numbers<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(simd: S) -> V {
    let mut numbers = [F::ZERO; W];
    for l in 1..W {
        numbers[l] = numbers[l - 1].plus(F::ONE);
    }
    V::load_array_ref(simd, &numbers)
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
    fn pack(self, simd: S, matrix: &[F], raw: &mut [[F; W]]) {
        let n = self.n;
        for (first, count) in tiles(self.row_vectors::<W>()) {
            let panel = &mut raw[first * n..][..count * n];
            for v in 0..count {
                let top = (first + v) * W;
                let rows = top..n.min(top + W);
                for left in (0..n).step_by(W) {
                    let columns = left..n.min(left + W);
                    let mut block = [V::splat(simd, F::ZERO); W];
                    if left <= top {
                        // On and left of the diagonal: the rows as they are, turned to columns.
                        for i in rows.clone() {
                            block[i - top] = load_run(simd, &matrix[i * n..][columns.clone()]);
                        }
                        block = transpose(block);
                    }
                    for j in columns {
                        let l = j - left;
                        let mut column = block[l];
                        if left >= top {
                            // On and right of it: column j is what row j has left of the diagonal.
                            let mirror: V =
                                load_run(simd, &matrix[j * n..][rows.start..rows.end.min(j + 1)]);
                            let below = lane_numbers::<S, F, V, W>(simd)
                                .simd_ge(V::splat(simd, F::from_f64(l as f64)));
                            column = if left > top {
                                mirror
                            } else {
                                below.select(column, mirror)
                            };
                        }
                        column.store_array(&mut panel[j * count + v]);
                    }
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
        let vectors = Vectors::<S, F, V, W>::new(simd);
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
                        x = vectors.load(&own[v * k + a]).mul_add(other, x);
                    }
                    let x = (x * scale).min(max).max(min);
                    x.store_array(&mut l[at]);
                    (vectors.load(&m[at]) - x)
                        .min(max)
                        .max(min)
                        .store_array(&mut s[at]);
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
        let full = self.row_vectors::<W>() / TILE * TILE;
        let (first, count) = if row < full {
            (row - row % TILE, TILE)
        } else {
            (row, 1)
        };
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
    fn extremes(self, simd: S, raw: &[[F; W]]) -> (V, V) {
        let zero = V::splat(simd, F::ZERO);
        let (mut largest, mut poison) = (zero, zero);
        for x in raw {
            let x = V::load_array_ref(simd, x);
            largest = largest.max(x.abs());
            poison = x.mul_add(zero, poison);
        }
        let mut top = F::ZERO;
        for x in largest.to_array() {
            top = if x > top { x } else { top };
        }
        let poison = poison.to_array().into_iter().fold(F::ZERO, Real::plus);
        (V::splat(simd, top), V::splat(simd, poison))
    }

    #[inline(always)]
    fn normalise(self, simd: S, divisor: V, raw: &[[F; W]], m: &mut [[F; W]]) {
        for (m, raw) in m.iter_mut().zip(raw) {
            (V::load_array_ref(simd, raw) / divisor).store_array(m);
        }
    }

    #[inline(always)]
    fn sum_entries(self, simd: S, sums: &mut [[F; W]], term: impl Fn(usize) -> V) -> V {
        let n = self.n;
        let zero = V::splat(simd, F::ZERO);
        let lanes = lane_numbers::<S, F, V, W>(simd);
        for (first, count) in tiles(self.row_vectors::<W>()) {
            for v in 0..count {
                let (mut left, mut diagonal) = (zero, zero);
                for j in 0..n {
                    let x = term(first * n + j * count + v);
                    let lane = V::splat(simd, F::from_f64(j as f64 - ((first + v) * W) as f64));
                    let before: V = lanes.simd_gt(lane).select(x, zero);
                    let on: V = lanes.simd_eq(lane).select(x, zero);
                    left += before;
                    diagonal += on;
                }
                (left + left + diagonal).store_array(&mut sums[first + v]);
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
        for g in 0..vectors {
            for v in (g..self.row_vectors::<W>()).step_by(vectors) {
                partial[g] += term(v);
            }
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
                3 => multiply_tile::<S, F, V, W, 3>(simd, columns, 0, panel, x, out),
                _ => multiply_tile::<S, F, V, W, 1>(simd, columns, 0, panel, x, out),
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
                _ => residual_tile::<S, F, V, W, 1>(simd, k, first, m, u, r, sums),
            }
        }
    }

    #[inline(always)]
    fn accumulate(
        self,
        simd: S,
        k: usize,
        influence: Influence<V>,
        terms: Terms<'_, F, W>,
        mut done: impl FnMut(usize, &[[F; W]], &mut [[F; W]]),
    ) {
        let Terms { r, w, u, p, a, b } = terms;
        for (first, count) in tiles(self.row_vectors::<W>()) {
            let span = first * self.n..(first + count) * self.n;
            let (r, w) = (&mut r[span.clone()], &mut w[span]);
            let (a, b) = (&mut a[..count * packed(k)], &mut b[..count * k]);
            match count {
                3 => accumulate_tile::<S, F, V, W, 3>(simd, k, first, influence, r, w, u, p, a, b),
                _ => accumulate_tile::<S, F, V, W, 1>(simd, k, first, influence, r, w, u, p, a, b),
            }
            done(first, a, b);
        }
    }
}

/// A_i and b_i for a tile of rows. Weights are computed with the first columns of the right-hand side,
/// since the divider has nothing else to do.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn accumulate_tile<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const ROWS: usize>(
    simd: S,
    k: usize,
    first: usize,
    influence: Influence<V>,
    r: &mut [[F; W]],
    w: &mut [[F; W]],
    u: &[[F; W]],
    p: &[[F; W]],
    a: &mut [[F; W]],
    b: &mut [[F; W]],
) {
    match k {
        1 | 2 => weigh_tile::<S, F, V, W, ROWS, 1>(simd, k, first, influence, r, w, u, b),
        _ => weigh_tile::<S, F, V, W, ROWS, 3>(simd, k, first, influence, r, w, u, b),
    }
    let done = if k < 3 { 1 } else { 3 };
    multiply_tile::<S, F, V, W, ROWS>(simd, k, done, r, u, b);
    multiply_tile::<S, F, V, W, ROWS>(simd, packed(k), 0, w, p, a);
}

/// w, and w R in place of R; and the first COLUMNS columns of the right-hand side.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn weigh_tile<
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
    const W: usize,
    const ROWS: usize,
    const COLUMNS: usize,
>(
    simd: S,
    k: usize,
    first: usize,
    influence: Influence<V>,
    r: &mut [[F; W]],
    w: &mut [[F; W]],
    u: &[[F; W]],
    b: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let Influence {
        scale,
        diagonal_scale,
        diagonal_trust,
    } = influence;
    let lanes = lane_numbers::<S, F, V, W>(simd);
    let mut sums = [[vectors.splat(F::ZERO); COLUMNS]; ROWS];
    let n = r.len() / ROWS;
    for block in 0..n.div_ceil(W) {
        let u = &u[block * k..][..COLUMNS];
        let mut lane = vectors.splat(F::ZERO);
        for l in 0..W.min(n - block * W) {
            let at = (block * W + l) * ROWS;
            let (r, w) = (&mut r[at..][..ROWS], &mut w[at..][..ROWS]);
            let mut weighted = [vectors.splat(F::ZERO); ROWS];
            for v in 0..ROWS {
                let x = vectors.load(&r[v]);
                let (mut trust, mut scale) = (scale, scale);
                if first + v == block {
                    let diagonal = lanes.simd_eq(lane);
                    trust = diagonal.select(diagonal_trust, trust);
                    scale = diagonal.select(diagonal_scale, scale);
                }
                let weight = trust / x.mul_add(x, scale);
                weight.store_array(&mut w[v]);
                weighted[v] = weight * x;
                weighted[v].store_array(&mut r[v]);
            }
            for c in 0..COLUMNS {
                let u = vectors.splat(u[c][l]);
                for v in 0..ROWS {
                    sums[v][c] = weighted[v].mul_add(u, sums[v][c]);
                }
            }
            lane += vectors.splat(F::ONE);
        }
    }
    for v in 0..ROWS {
        for c in 0..COLUMNS {
            sums[v][c].store_array(&mut b[v * k + c]);
        }
    }
}

/// Columns `from` and on of a tile of rows times a table of `columns` vectors a row.
#[inline(always)]
fn multiply_tile<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const ROWS: usize>(
    simd: S,
    columns: usize,
    from: usize,
    panel: &[[F; W]],
    x: &[[F; W]],
    out: &mut [[F; W]],
) {
    let mut c = from;
    while c + 3 <= columns {
        multiply_columns::<S, F, V, W, ROWS, 3>(simd, columns, c, panel, x, out);
        c += 3;
    }
    while c < columns {
        multiply_columns::<S, F, V, W, ROWS, 1>(simd, columns, c, panel, x, out);
        c += 1;
    }
}

/// COLUMNS columns of it. Every sum runs over j upwards, as in the lanes shape.
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
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let mut sums = [[vectors.splat(F::ZERO); COLUMNS]; ROWS];
    // W columns of the matrix meet one vector row of x, from which they take a lane each.
    let n = panel.len() / ROWS;
    for block in 0..n.div_ceil(W) {
        let x = &x[block * columns + c..][..COLUMNS];
        for l in 0..W.min(n - block * W) {
            let matrix = &panel[(block * W + l) * ROWS..][..ROWS];
            for column in 0..COLUMNS {
                let x = vectors.splat(x[column][l]);
                for v in 0..ROWS {
                    sums[v][column] = vectors.load(&matrix[v]).mul_add(x, sums[v][column]);
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
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let zero = vectors.splat(F::ZERO);
    let lanes = lane_numbers::<S, F, V, W>(simd);
    let own = &u[first * k..][..ROWS * k];
    // For a small k, a constant here, the tile's own rows stay in registers.
    let mut held = [[zero; 3]; ROWS];
    for v in 0..ROWS {
        for a in 0..k.min(3) {
            held[v][a] = vectors.load(&own[v * k + a]);
        }
    }
    let mut sum = [zero; ROWS];
    let n = m.len() / ROWS;
    for block in 0..n.div_ceil(W) {
        let other = &u[block * k..][..k];
        let mut lane = zero;
        for l in 0..W.min(n - block * W) {
            let at = (block * W + l) * ROWS;
            let (m, r) = (&m[at..][..ROWS], &mut r[at..][..ROWS]);
            let mut x = [zero; ROWS];
            for v in 0..ROWS {
                x[v] = vectors.load(&m[v]);
            }
            for a in 0..k {
                let other = vectors.splat(other[a][l]);
                for v in 0..ROWS {
                    let own = if a < 3 {
                        held[v][a]
                    } else {
                        vectors.load(&own[v * k + a])
                    };
                    x[v] = (-own).mul_add(other, x[v]);
                }
            }
            for v in 0..ROWS {
                x[v].store_array(&mut r[v]);
                // Left of the diagonal: all of the rows below this block of columns, and in it those
                // below the diagonal.
                let left: V = if first + v > block {
                    x[v].abs()
                } else if first + v == block {
                    lanes.simd_gt(lane).select(x[v].abs(), zero)
                } else {
                    zero
                };
                sum[v] += left;
            }
            lane += vectors.splat(F::ONE);
        }
    }
    for v in 0..ROWS {
        sum[v].store_array(&mut sums[v]);
    }
}
