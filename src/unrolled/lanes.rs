//! Batch in lanes: lane l of every vector belongs to matrix l of a group of `W`.
//!
//! A symmetric matrix is its lower triangle, row by row; a factor is n rows of k vectors.

use super::PARTIAL_SUMS;
use super::network::{Influence, Shape, fold};
use super::rows::packed;
use crate::simd::{Real, Vector, transpose};
use fearless_simd::Simd;

#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub(super) n: usize,
}

impl Lanes {
    pub(super) const fn matrix_len(self) -> usize {
        packed(self.n)
    }
}

impl<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize> Shape<S, F, V, W> for Lanes {
    #[inline(always)]
    fn n(self) -> usize {
        self.n
    }

    #[inline(always)]
    fn rows(self) -> usize {
        self.n
    }

    #[inline(always)]
    fn matrix(self) -> usize {
        self.matrix_len()
    }

    #[inline(always)]
    fn pack(self, matrices: &[F], raw: &mut [[F; W]]) {
        let n = self.n;
        let size = n * n;
        let last = matrices.len() / size - 1;
        let of: [&[F]; W] = core::array::from_fn(|l| &matrices[l.min(last) * size..][..size]);
        for i in 0..n {
            let rows: [&[F]; W] = core::array::from_fn(|l| &of[l][i * n..][..=i]);
            for (j, raw) in raw[packed(i)..=packed(i) + i].iter_mut().enumerate() {
                *raw = core::array::from_fn(|l| rows[l][j]);
            }
        }
    }

    #[inline(always)]
    fn unpack_rows(self, k: usize, rows: &[[F; W]], tables: &mut [F]) {
        for (l, table) in tables.chunks_exact_mut(self.n * k).enumerate() {
            for (x, row) in table.iter_mut().zip(rows) {
                *x = row[l];
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
        let load = |x: &[F; W]| V::load_array_ref(simd, x);
        let (max, min) = (V::splat(simd, F::MAX), -V::splat(simd, F::MAX));
        for (i, own) in u.chunks_exact(k).enumerate() {
            let row = packed(i)..=packed(i) + i;
            let (m, l, s) = (&m[row.clone()], &mut l[row.clone()], &mut s[row]);
            let entries = m.iter().zip(l).zip(s).zip(u.chunks_exact(k));
            for (((m, l), s), other) in entries {
                let mut x = V::splat(simd, F::ZERO);
                for a in 0..k {
                    x = load(&own[a]).mul_add(load(&other[a]), x);
                }
                let x = (x * scale).min(max).max(min);
                x.store_array(l);
                (load(m) - x).min(max).max(min).store_array(s);
            }
        }
    }

    #[inline(always)]
    fn unpack(self, simd: S, matrix: &[[F; W]], matrices: &mut [F]) {
        let n = self.n;
        for i in 0..n {
            for j in (0..n).step_by(W) {
                let block: [V; W] = core::array::from_fn(|c| {
                    let j = (j + c).min(n - 1);
                    V::load_array_ref(simd, &matrix[packed(i.max(j)) + i.min(j)])
                });
                store_lanes(block, n * n, i * n + j, W.min(n - j), matrices);
            }
        }
    }

    #[inline(always)]
    fn diagonal(self, simd: S, matrix: &[[F; W]], row: usize) -> V {
        V::load_array_ref(simd, &matrix[packed(row) + row])
    }

    #[inline(always)]
    fn spread_extremes(self, _simd: S, largest: V, poison: V) -> (V, V) {
        (largest, poison)
    }

    #[inline(always)]
    fn sum_entries(self, simd: S, sums: &mut [[F; W]], term: impl Fn(usize) -> V) -> V {
        for (i, sum) in sums.iter_mut().enumerate() {
            let mut lower = V::splat(simd, F::ZERO);
            for j in 0..i {
                lower += term(packed(i) + j);
            }
            (lower + lower + term(packed(i) + i)).store_array(sum);
        }
        let sums = &*sums;
        self.sum(simd, |i| V::load_array_ref(simd, &sums[i]))
    }

    #[inline(always)]
    fn spread(self, _simd: S, _k: usize, table: &[F], rows: &mut [[F; W]]) {
        for (row, &x) in rows.iter_mut().zip(table) {
            *row = [x; W];
        }
    }

    #[inline(always)]
    fn sum(self, simd: S, mut term: impl FnMut(usize) -> V) -> V {
        let mut partial = [V::splat(simd, F::ZERO); PARTIAL_SUMS];
        for i in 0..self.n {
            partial[i % PARTIAL_SUMS] += term(i);
        }
        fold(partial, PARTIAL_SUMS)
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
        let product = Product::<S, F, V, W> {
            simd,
            n: self.n,
            columns,
            matrix,
            x,
            vector: core::marker::PhantomData,
        };
        let mut c = 0;
        while c + 6 <= columns {
            simd.vectorize(
                #[inline(always)]
                || product.rows::<2, 6>(c, out),
            );
            c += 6;
        }
        while c + 3 <= columns {
            simd.vectorize(
                #[inline(always)]
                || product.rows::<3, 3>(c, out),
            );
            c += 3;
        }
        while c < columns {
            simd.vectorize(
                #[inline(always)]
                || product.rows::<4, 1>(c, out),
            );
            c += 1;
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
        let mut i = 0;
        while i < self.n {
            if i + 2 <= self.n {
                residual_rows::<S, F, V, W, 2>(simd, k, i, m, u, r, sums);
                i += 2;
            } else {
                residual_rows::<S, F, V, W, 1>(simd, k, i, m, u, r, sums);
                i += 1;
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
        for i in 0..self.n {
            let start = packed(i);
            let (r, w) = (&mut r[start..=start + i], &mut weights[start..=start + i]);
            for (r, w) in r[..i].iter_mut().zip(&mut w[..i]) {
                let x = V::load_array_ref(simd, r);
                let weight = scale / x.mul_add(x, scale);
                weight.store_array(w);
                (weight * x).store_array(r);
            }
            let x = V::load_array_ref(simd, &r[i]);
            let weight = diagonal_trust / x.mul_add(x, diagonal_scale);
            weight.store_array(&mut w[i]);
            (weight * x).store_array(&mut r[i]);
        }
    }
}

/// Writes lane l of the first `width` vectors, one after another, to `place` in matrix l of `out`.
#[inline(always)]
fn store_lanes<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    vectors: [V; W],
    size: usize,
    place: usize,
    width: usize,
    out: &mut [F],
) {
    let of_lane = transpose(vectors);
    for (values, matrix) in of_lane.iter().zip(out.chunks_exact_mut(size)) {
        let run = &mut matrix[place..place + width];
        match <&mut [F; W]>::try_from(&mut *run) {
            Ok(run) => values.store_array(run),
            Err(_) => run.copy_from_slice(&values.as_slice()[..width]),
        }
    }
}

/// R for rows i .. i + ROWS, up to the diagonal.
#[inline(always)]
fn residual_rows<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const ROWS: usize>(
    simd: S,
    k: usize,
    i: usize,
    m: &[[F; W]],
    u: &[[F; W]],
    r: &mut [[F; W]],
    sums: &mut [[F; W]],
) {
    let load = |x: &[F; W]| V::load_array_ref(simd, x);
    // For a small k, a constant here, the tile's own rows stay in registers.
    let own: [&[[F; W]]; ROWS] = core::array::from_fn(|b| &u[(i + b) * k..(i + b + 1) * k]);
    let mut held = [[V::splat(simd, F::ZERO); 4]; ROWS];
    if k <= 4 {
        for b in 0..ROWS {
            for a in 0..k {
                held[b][a] = load(&own[b][a]);
            }
        }
    }
    let entry = |b: usize, m: &[F; W], other: &[[F; W]]| {
        let mut x = load(m);
        for a in 0..k {
            let own = if k <= 4 { held[b][a] } else { load(&own[b][a]) };
            x = (-own).mul_add(load(&other[a]), x);
        }
        x
    };
    let mut sum = [V::splat(simd, F::ZERO); ROWS];
    let m: [&[[F; W]]; ROWS] = core::array::from_fn(|b| &m[packed(i + b)..][..=i + b]);
    let mut rest = &mut r[packed(i)..packed(i + ROWS)];
    let r: [&mut [[F; W]]; ROWS] = core::array::from_fn(|b| {
        let (row, tail) = core::mem::take(&mut rest).split_at_mut(i + b + 1);
        rest = tail;
        row
    });
    for j in 0..i {
        let other = &u[j * k..(j + 1) * k];
        for b in 0..ROWS {
            let x = entry(b, &m[b][j], other);
            x.store_array(&mut r[b][j]);
            sum[b] += x.abs();
        }
    }
    for b in 0..ROWS {
        for j in 0..=b {
            let x = entry(b, &m[b][i + j], own[j]);
            x.store_array(&mut r[b][i + j]);
            if j < b {
                sum[b] += x.abs();
            }
        }
        sum[b].store_array(&mut sums[i + b]);
    }
}

/// A product of a symmetric matrix with a table of `columns` vectors a row.
#[derive(Clone, Copy)]
struct Product<'a, S, F, V, const W: usize> {
    simd: S,
    n: usize,
    columns: usize,
    matrix: &'a [[F; W]],
    x: &'a [[F; W]],
    vector: core::marker::PhantomData<V>,
}

impl<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize> Product<'_, S, F, V, W> {
    /// All rows of COLUMNS columns from `c` on, ROWS at a time.
    #[inline(always)]
    fn rows<const ROWS: usize, const COLUMNS: usize>(self, c: usize, out: &mut [[F; W]]) {
        let mut i = 0;
        while i + ROWS <= self.n {
            self.tile::<ROWS, COLUMNS>(i, c, out);
            i += ROWS;
        }
        while i + 2 <= self.n {
            self.tile::<2, COLUMNS>(i, c, out);
            i += 2;
        }
        if i < self.n {
            self.tile::<1, COLUMNS>(i, c, out);
        }
    }

    /// One tile, with its sums in registers, j ascending.
    #[inline(always)]
    fn tile<const ROWS: usize, const COLUMNS: usize>(self, i: usize, c: usize, out: &mut [[F; W]]) {
        let Product {
            simd,
            n,
            columns,
            matrix,
            x,
            ..
        } = self;
        let mut sums = [[V::splat(simd, F::ZERO); COLUMNS]; ROWS];
        let mut add = |weights: [&[F; W]; ROWS], x: &[[F; W]]| {
            let weights: [V; ROWS] = core::array::from_fn(|b| V::load_array_ref(simd, weights[b]));
            for (column, x) in x.iter().take(COLUMNS).enumerate() {
                let x = V::load_array_ref(simd, x);
                for b in 0..ROWS {
                    sums[b][column] = weights[b].mul_add(x, sums[b][column]);
                }
            }
        };
        let row = |j: usize| &x[j * columns + c..][..COLUMNS];
        // Left of the tile's diagonal block the rows lie one after another.
        let left: [&[[F; W]]; ROWS] = core::array::from_fn(|b| &matrix[packed(i + b)..][..i]);
        for j in 0..i {
            add(core::array::from_fn(|b| &left[b][j]), row(j));
        }
        for j in i..i + ROWS {
            let at = |b: usize| packed(j.max(i + b)) + j.min(i + b);
            add(core::array::from_fn(|b| &matrix[at(b)]), row(j));
        }
        // Below it, they are columns: neighbours in every later row.
        let mut at = packed(i + ROWS) + i;
        for j in i + ROWS..n {
            let weights = &matrix[at..][..ROWS];
            add(core::array::from_fn(|b| &weights[b]), row(j));
            at += j + 1;
        }
        for b in 0..ROWS {
            let out = &mut out[(i + b) * columns + c..][..COLUMNS];
            for (out, sum) in out.iter_mut().zip(sums[b]) {
                sum.store_array(out);
            }
        }
    }
}
