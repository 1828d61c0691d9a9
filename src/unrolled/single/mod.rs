//! One matrix: lane l of vector v belongs to row v·W + l.
//!
//! The rows are cut into tiles of up to three vectors. A matrix is stored tile by tile and, within a
//! tile, column by column; a factor is a row of k vectors for every vector of rows. Rows past n are
//! zero and stay so.

use super::PARTIAL_SUMS;
use super::network::{Influence, Shape, Terms, fold};
use super::rank::by_rank_to;
use super::rows::packed;
use crate::simd::{Real, Vector, Vectors, store_run};
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

/// Partial sums over rows, `W` of them in a vector.
struct Partial<V>([V; PARTIAL_SUMS]);

impl<V> Partial<V> {
    #[inline(always)]
    fn new<S: Simd, F: Real, const W: usize>(simd: S) -> Self
    where
        V: Vector<S, F, W>,
    {
        Partial([V::splat(simd, F::ZERO); PARTIAL_SUMS])
    }

    /// Adds a number for each row of vector row `v`.
    #[inline(always)]
    fn add<S: Simd, F: Real, const W: usize>(&mut self, simd: S, v: usize, x: V)
    where
        V: Vector<S, F, W>,
    {
        if W <= PARTIAL_SUMS {
            self.0[v % PARTIAL_SUMS.div_ceil(W)] += x;
        } else {
            // More lanes than sums: one after the other, as a narrower vector would.
            let mut sums = self.0[0].to_array();
            for (l, x) in x.to_array().into_iter().enumerate() {
                sums[l % PARTIAL_SUMS] = sums[l % PARTIAL_SUMS].plus(x);
            }
            self.0[0] = V::load_array_ref(simd, &sums);
        }
    }

    /// Their sum: vectors are folded in halves, then lanes.
    #[inline(always)]
    fn fold<S: Simd, F: Real, const W: usize>(self, simd: S) -> V
    where
        V: Vector<S, F, W>,
    {
        let mut lanes = fold(self.0, PARTIAL_SUMS.div_ceil(W)).to_array();
        let mut half = W / 2;
        while half > 0 {
            for l in 0..half {
                lanes[l] = lanes[l].plus(lanes[l + half]);
            }
            half /= 2;
        }
        V::splat(simd, lanes[0])
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
    fn pack(self, simd: S, matrix: &[F], raw: &mut [[F; W]]) {
        pack::<S, F, V, W>(simd, self, matrix, raw);
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
        self.sum(simd, sums)
    }

    #[inline(always)]
    fn spread(self, k: usize, table: &[F], rows: &mut [[F; W]]) {
        let columns = table.chunks_exact(table.len() / k);
        for (a, column) in columns.enumerate() {
            for (v, run) in column.as_chunks::<W>().0.iter().enumerate() {
                if let Some(row) = rows.get_mut(v * k + a) {
                    *row = *run;
                }
            }
        }
    }

    #[inline(always)]
    fn sum(self, simd: S, numbers: &[[F; W]]) -> V {
        let mut partial = Partial::new(simd);
        for v in 0..self.row_vectors::<W>() {
            partial.add(simd, v, V::load_array_ref(simd, &numbers[v]));
        }
        partial.fold(simd)
    }

    #[inline(always)]
    fn gram(self, simd: S, k: usize, x: &[[F; W]], y: &[[F; W]], g: &mut [[F; W]]) {
        gram::<S, F, V, W>(simd, self, k, x, y, g);
    }

    #[inline(always)]
    fn multiply(self, simd: S, k: usize, matrix: &[[F; W]], x: &[[F; W]], out: &mut [[F; W]]) {
        multiply::<S, F, V, W>(simd, self, k, matrix, x, out);
    }

    #[inline(always)]
    fn accumulate(
        self,
        simd: S,
        k: usize,
        influence: Influence<V>,
        m: &[[F; W]],
        u: &[[F; W]],
        own: Option<&[[F; W]]>,
        mut terms: Terms<'_, F, W>,
    ) {
        weigh::<S, F, V, W>(simd, self, k, own.is_some(), influence, m, u, &mut terms);
        multiply::<S, F, V, W>(simd, self, k, terms.c, u, terms.b);
        if let Some(p) = own {
            multiply::<S, F, V, W>(simd, self, packed(k), terms.w, p, terms.a);
        }
    }
}

/// [`Shape::pack`]. Not inlined: in the midst of the whole network the compiler runs out of registers.
#[inline(never)]
fn pack<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    shape: Single,
    matrix: &[F],
    raw: &mut [[F; W]],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = shape.n;
            let zero = V::splat(simd, F::ZERO);
            let lanes = lane_numbers::<S, F, V, W>(simd);
            for (first, count) in tiles(shape.row_vectors::<W>()) {
                let panel = &mut raw[first * n..][..count * n];
                for v in 0..count {
                    let top = (first + v) * W;
                    let height = W.min(n - top);
                    for left in (0..n).step_by(W) {
                        let width = W.min(n - left);
                        let panel = &mut panel[left * count + v..];
                        if left > top {
                            // Column j is what row j has there, left of the diagonal.
                            for l in 0..width {
                                panel[l * count] = *whole(&matrix[(left + l) * n + top..]);
                            }
                            continue;
                        }
                        if width < W {
                            // The last corner.
                            for l in 0..width {
                                panel[l * count] = [F::ZERO; W];
                                for r in 0..height {
                                    let (row, column) = (top + r.max(l), left + r.min(l));
                                    panel[l * count][r] = matrix[row * n + column];
                                }
                            }
                            continue;
                        }
                        // The rows as they are, turned to columns. Where there are no more rows, the last
                        // one again, and then zeros.
                        let mut block = [V::splat(simd, F::ZERO); W];
                        for l in 0..W {
                            let row = (top + l).min(n - 1);
                            block[l] = V::load_array_ref(simd, whole(&matrix[row * n + left..]));
                        }
                        let turned = V::transpose(simd, block);
                        let end = V::splat(simd, F::from_f64(height as f64));
                        let panel = &mut panel[..(W - 1) * count + 1];
                        for l in 0..W {
                            let mut column = turned[l];
                            if left == top {
                                // Above the diagonal, what is below it.
                                let number = V::splat(simd, F::from_f64(l as f64));
                                column = lanes.simd_ge(number).select(column, block[l]);
                            } else {
                                column = lanes.simd_lt(end).select(column, zero);
                            }
                            column.store_array(&mut panel[l * count]);
                        }
                    }
                }
            }
        },
    );
}

/// The W values that a row goes on with.
#[inline(always)]
fn whole<F, const W: usize>(row: &[F]) -> &[F; W] {
    match row.first_chunk() {
        Some(run) => run,
        None => panic!("a row ends early"),
    }
}

/// [`Shape::gram`].
#[inline(never)]
fn gram<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    shape: Single,
    k: usize,
    x: &[[F; W]],
    y: &[[F; W]],
    g: &mut [[F; W]],
) {
    by_rank_to::<S, F, 3>(
        simd,
        k,
        #[inline(always)]
        |k| {
            let vectors = Vectors::<S, F, V, W>::new(simd);
            for a in 0..k {
                for b in 0..=a {
                    let mut partial = Partial::new(simd);
                    for v in 0..shape.row_vectors::<W>() {
                        let product = vectors.load(&x[v * k + a]) * vectors.load(&y[v * k + b]);
                        partial.add(simd, v, product);
                    }
                    partial.fold(simd).store_array(&mut g[packed(a) + b]);
                }
            }
        },
    );
}

/// A matrix times a table of `columns` vectors a row. Not inlined, like [`weigh`]: every place that needs
/// it shares the code.
#[inline(never)]
fn multiply<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    shape: Single,
    columns: usize,
    matrix: &[[F; W]],
    x: &[[F; W]],
    out: &mut [[F; W]],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            for (first, count) in tiles(shape.row_vectors::<W>()) {
                let panel = &matrix[first * shape.n..][..count * shape.n];
                let out = &mut out[first * columns..][..count * columns];
                match count {
                    3 => multiply_tile::<S, F, V, W, 3>(simd, columns, panel, x, out),
                    _ => multiply_tile::<S, F, V, W, 1>(simd, columns, panel, x, out),
                }
            }
        },
    );
}

/// For all rows w R, Σ |R_ij|, and w if that is to be stored, else Σ w_ij.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn weigh<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    shape: Single,
    k: usize,
    stored: bool,
    influence: Influence<V>,
    m: &[[F; W]],
    u: &[[F; W]],
    terms: &mut Terms<'_, F, W>,
) {
    by_rank_to::<S, F, 3>(
        simd,
        k,
        #[inline(always)]
        |k| {
            for (first, count) in tiles(shape.row_vectors::<W>()) {
                match count {
                    3 => weigh_tile::<S, F, V, W, 3>(
                        simd, shape, k, first, stored, influence, m, u, terms,
                    ),
                    _ => weigh_tile::<S, F, V, W, 1>(
                        simd, shape, k, first, stored, influence, m, u, terms,
                    ),
                }
            }
        },
    );
}

/// A tile of rows times a table of `columns` vectors a row.
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
        multiply_columns::<S, F, V, W, ROWS, 3>(simd, columns, c, panel, x, out);
        c += 3;
    }
    match columns - c {
        2 => multiply_columns::<S, F, V, W, ROWS, 2>(simd, columns, c, panel, x, out),
        1 => multiply_columns::<S, F, V, W, ROWS, 1>(simd, columns, c, panel, x, out),
        _ => {}
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
    let (full, rest) = panel.as_chunks::<ROWS>().0.as_chunks::<W>();
    for (block, matrix) in full.iter().enumerate() {
        let x = &x[block * columns + c..][..COLUMNS];
        for l in 0..W {
            add_column::<S, F, V, W, ROWS, COLUMNS>(vectors, &matrix[l], x, l, &mut sums);
        }
    }
    if !rest.is_empty() {
        let x = &x[full.len() * columns + c..][..COLUMNS];
        for (l, matrix) in rest.iter().enumerate().take(W) {
            add_column::<S, F, V, W, ROWS, COLUMNS>(vectors, matrix, x, l, &mut sums);
        }
    }
    for v in 0..ROWS {
        for column in 0..COLUMNS {
            sums[v][column].store_array(&mut out[v * columns + c + column]);
        }
    }
}

/// Adds the products of a column with lane `l` of every vector of `x`.
#[inline(always)]
fn add_column<
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
    const W: usize,
    const ROWS: usize,
    const COLUMNS: usize,
>(
    vectors: Vectors<S, F, V, W>,
    matrix: &[[F; W]; ROWS],
    x: &[[F; W]],
    l: usize,
    sums: &mut [[V; COLUMNS]; ROWS],
) {
    for column in 0..COLUMNS {
        let x = vectors.splat(x[column][l]);
        for v in 0..ROWS {
            sums[v][column] = vectors.load(&matrix[v]).mul_add(x, sums[v][column]);
        }
    }
}

/// [`weigh`] for a tile of rows.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn weigh_tile<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const ROWS: usize>(
    simd: S,
    shape: Single,
    k: usize,
    first: usize,
    stored: bool,
    influence: Influence<V>,
    m: &[[F; W]],
    u: &[[F; W]],
    terms: &mut Terms<'_, F, W>,
) {
    let span = first * shape.n..(first + ROWS) * shape.n;
    let zero = V::splat(simd, F::ZERO);
    let mut weigh = Weigh::<S, F, V, W, ROWS> {
        vectors: Vectors::new(simd),
        k,
        stored,
        own: &u[first * k..][..ROWS * k],
        influence,
        sum: [zero; ROWS],
        total: [zero; ROWS],
    };
    let m = m[span.clone()].as_chunks::<ROWS>().0;
    let w = terms.w[span.clone()].as_chunks_mut::<ROWS>().0;
    let c = terms.c[span].as_chunks_mut::<ROWS>().0;
    let blocks = m.chunks(W).zip(u.chunks_exact(k));
    let out = w.chunks_mut(W).zip(c.chunks_mut(W));
    for (block, ((m, other), (w, c))) in blocks.zip(out).enumerate() {
        match block.wrapping_sub(first) {
            0 => weigh.columns::<0>(m, other, w, c),
            1 if ROWS > 1 => weigh.columns::<1>(m, other, w, c),
            2 if ROWS > 2 => weigh.columns::<2>(m, other, w, c),
            _ if block < first => weigh.columns::<-1>(m, other, w, c),
            _ => weigh.columns::<{ TILE as isize }>(m, other, w, c),
        }
    }
    for v in 0..ROWS {
        weigh.sum[v].store_array(&mut terms.sums[first + v]);
        weigh.total[v].store_array(&mut terms.trust[first + v]);
    }
}

struct Weigh<'a, S, F, V, const W: usize, const ROWS: usize> {
    vectors: Vectors<S, F, V, W>,
    k: usize,
    /// Whether w is stored, for A_i, or summed.
    stored: bool,
    /// The tile's own rows of U.
    own: &'a [[F; W]],
    influence: Influence<V>,
    sum: [V; ROWS],
    total: [V; ROWS],
}

impl<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const ROWS: usize>
    Weigh<'_, S, F, V, W, ROWS>
{
    /// Up to W columns, whose rows of U are `other`. Vector row `BLOCK` of the tile has them on the
    /// diagonal; the rows above have them on the right of it, those below on the left.
    #[inline(always)]
    fn columns<const BLOCK: isize>(
        &mut self,
        m: &[[[F; W]; ROWS]],
        other: &[[F; W]],
        w: &mut [[[F; W]; ROWS]],
        c: &mut [[[F; W]; ROWS]],
    ) {
        let (vectors, k) = (self.vectors, self.k);
        let zero = vectors.splat(F::ZERO);
        let lanes = lane_numbers::<S, F, V, W>(vectors.simd());
        let Influence {
            scale,
            diagonal_scale,
            diagonal_trust,
        } = self.influence;
        let mut lane = zero;
        for (l, ((m, w), c)) in m.iter().zip(w).zip(c).enumerate().take(W) {
            let mut x = [zero; ROWS];
            for v in 0..ROWS {
                x[v] = vectors.load(&m[v]);
            }
            for a in 0..k {
                let other = vectors.splat(other[a][l]);
                for v in 0..ROWS {
                    let own = -vectors.load(&self.own[v * k + a]);
                    x[v] = own.mul_add(other, x[v]);
                }
            }
            for v in 0..ROWS {
                let (mut trust, mut scale) = (scale, scale);
                if (v as isize) > BLOCK {
                    self.sum[v] += x[v].abs();
                } else if v as isize == BLOCK {
                    let diagonal = lanes.simd_eq(lane);
                    trust = diagonal.select(diagonal_trust, trust);
                    scale = diagonal.select(diagonal_scale, scale);
                    let left: V = lanes.simd_gt(lane).select(x[v].abs(), zero);
                    self.sum[v] += left;
                }
                let weight = trust / x[v].mul_add(x[v], scale);
                (weight * x[v]).store_array(&mut c[v]);
                if self.stored {
                    weight.store_array(&mut w[v]);
                } else {
                    self.total[v] += weight;
                }
            }
            lane += vectors.splat(F::ONE);
        }
    }
}
