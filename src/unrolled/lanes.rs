//! Batch in lanes: lane l of every vector belongs to matrix l of a group of `W`.
//!
//! A symmetric matrix is n×n vectors, row by row, of which only those on the diagonal and left of it
//! are used; a factor is n rows of k vectors.

use super::PARTIAL_SUMS;
use super::network::{Influence, Shape, Terms, fold};
use super::rows::packed;
use crate::simd::{Real, Vector, Vectors, load_run, store_run, transpose};
use fearless_simd::Simd;

#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub(super) n: usize,
}

impl Lanes {
    pub(super) const fn matrix_len(self) -> usize {
        self.n * self.n
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
    fn pack(self, simd: S, matrices: &[F], raw: &mut [[F; W]]) {
        let size = self.n * self.n;
        let last = matrices.len() / size - 1;
        let mut of: [&[F]; W] = [&[]; W];
        for l in 0..W {
            of[l] = &matrices[l.min(last) * size..][..size];
        }
        let mut block = [V::splat(simd, F::ZERO); W];
        for (b, raw) in raw.chunks_mut(W).enumerate() {
            let place = b * W;
            for l in 0..W {
                block[l] = load_run(simd, &of[l][place..place + raw.len()]);
            }
            let columns = transpose(block);
            for c in 0..raw.len() {
                columns[c].store_array(&mut raw[c]);
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
        let n = self.n;
        let vectors = Vectors::<S, F, V, W>::new(simd);
        let (max, min) = (V::splat(simd, F::MAX), -V::splat(simd, F::MAX));
        for i in 0..n {
            let own = &u[i * k..][..k];
            for j in 0..=i {
                let other = &u[j * k..][..k];
                let mut x = vectors.splat(F::ZERO);
                for a in 0..k {
                    x = vectors.load(&own[a]).mul_add(vectors.load(&other[a]), x);
                }
                let x = (x * scale).min(max).max(min);
                let rest = (vectors.load(&m[i * n + j]) - x).min(max).max(min);
                // Both halves, for `unpack`.
                for at in [i * n + j, j * n + i] {
                    x.store_array(&mut l[at]);
                    rest.store_array(&mut s[at]);
                }
            }
        }
    }

    #[inline(always)]
    fn unpack(self, simd: S, matrix: &[[F; W]], matrices: &mut [F]) {
        let size = self.n * self.n;
        let mut block = [V::splat(simd, F::ZERO); W];
        for (b, run) in matrix.chunks(W).enumerate() {
            for c in 0..run.len() {
                block[c] = V::load_array_ref(simd, &run[c]);
            }
            let of_lane = transpose(block);
            let place = b * W..b * W + run.len();
            for (values, matrix) in of_lane.iter().zip(matrices.chunks_exact_mut(size)) {
                store_run(*values, &mut matrix[place.clone()]);
            }
        }
    }

    #[inline(always)]
    fn diagonal(self, simd: S, matrix: &[[F; W]], row: usize) -> V {
        V::load_array_ref(simd, &matrix[row * self.n + row])
    }

    #[inline(always)]
    fn extremes(self, simd: S, raw: &[[F; W]]) -> (V, V) {
        let zero = V::splat(simd, F::ZERO);
        let (mut largest, mut poison) = (zero, zero);
        for i in 0..self.n {
            for x in &raw[i * self.n..=i * self.n + i] {
                let x = V::load_array_ref(simd, x);
                largest = largest.max(x.abs());
                poison = x.mul_add(zero, poison);
            }
        }
        (largest, poison)
    }

    #[inline(always)]
    fn sum_entries(self, simd: S, sums: &mut [[F; W]], term: impl Fn(usize) -> V) -> V {
        for (i, sum) in sums.iter_mut().enumerate() {
            let mut left = V::splat(simd, F::ZERO);
            for j in 0..i {
                left += term(i * self.n + j);
            }
            (left + left + term(i * self.n + i)).store_array(sum);
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
        for g in 0..PARTIAL_SUMS {
            for i in (g..self.n).step_by(PARTIAL_SUMS) {
                partial[g] += term(i);
            }
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
        // Three rows at a time: the sums of one do not keep the multipliers busy.
        let mut i = 0;
        while i + 3 <= self.n {
            multiply_rows::<S, F, V, W, 3>(
                simd,
                self.n,
                i,
                columns,
                matrix,
                x,
                &mut out[i * columns..],
            );
            i += 3;
        }
        while i < self.n {
            multiply_rows::<S, F, V, W, 1>(
                simd,
                self.n,
                i,
                columns,
                matrix,
                x,
                &mut out[i * columns..],
            );
            i += 1;
        }
    }

    #[inline(always)]
    fn normalise(self, simd: S, divisor: V, raw: &[[F; W]], m: &mut [[F; W]]) {
        let n = self.n;
        for i in 0..n {
            let row = i * n..i * n + i + 1;
            for (m, raw) in m[row.clone()].iter_mut().zip(&raw[row]) {
                (V::load_array_ref(simd, raw) / divisor).store_array(m);
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
        for i in (0..self.n).step_by(2) {
            if i + 2 <= self.n {
                self.residual_rows::<S, F, V, W, 2>(simd, k, i, m, u, r, sums);
            } else {
                self.residual_rows::<S, F, V, W, 1>(simd, k, i, m, u, r, sums);
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
        let n = self.n;
        if k > 3 {
            for i in 0..n {
                let row = i * n..i * n + i + 1;
                let (r, w) = (&mut r[row.clone()], &mut w[row]);
                for (r, w) in r[..i].iter_mut().zip(&mut w[..i]) {
                    influence.off_diagonal(simd, r, w);
                }
                influence.on_diagonal(simd, &mut r[i], &mut w[i]);
            }
        }
        let r = &*r;
        for i in 0..n {
            let (a, b) = (&mut a[i * packed(k)..][..packed(k)], &mut b[i * k..][..k]);
            match k {
                1 => Row::<S, F, V, W, 1, 1>::new(simd, influence).sums(n, i, r, u, p, a, b),
                2 => Row::<S, F, V, W, 2, 3>::new(simd, influence).sums(n, i, r, u, p, a, b),
                3 => Row::<S, F, V, W, 3, 6>::new(simd, influence).sums(n, i, r, u, p, a, b),
                _ => {
                    multiply_rows::<S, F, V, W, 1>(simd, n, i, packed(k), w, p, a);
                    multiply_rows::<S, F, V, W, 1>(simd, n, i, k, r, u, b);
                }
            }
        }
        done(0, a, b);
    }
}

impl Lanes {
    /// R for rows i .. i + ROWS.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn residual_rows<S, F, V, const W: usize, const ROWS: usize>(
        self,
        simd: S,
        k: usize,
        i: usize,
        m: &[[F; W]],
        u: &[[F; W]],
        r: &mut [[F; W]],
        sums: &mut [[F; W]],
    ) where
        S: Simd,
        F: Real,
        V: Vector<S, F, W>,
    {
        let n = self.n;
        let vectors = Vectors::<S, F, V, W>::new(simd);
        let mut own: [&[[F; W]]; ROWS] = [&[]; ROWS];
        // For a small k, a constant here, the rows' own values stay in registers.
        let mut held = [[vectors.splat(F::ZERO); 4]; ROWS];
        for b in 0..ROWS {
            own[b] = &u[(i + b) * k..][..k];
            for a in 0..k.min(4) {
                held[b][a] = vectors.load(&own[b][a]);
            }
        }
        let mut sum = [vectors.splat(F::ZERO); ROWS];
        let mut m_rows: [&[[F; W]]; ROWS] = [&[]; ROWS];
        for b in 0..ROWS {
            m_rows[b] = &m[(i + b) * n..][..i + ROWS];
        }
        let mut rows = r[i * n..].chunks_exact_mut(n);
        let r_rows: [&mut [[F; W]]; ROWS] =
            core::array::from_fn(|_| &mut rows.next().unwrap_or_default()[..i + ROWS]);
        // What is left of the diagonal block, then the block.
        for (j, other) in u[..i * k].chunks_exact(k).enumerate() {
            for b in 0..ROWS {
                let x = entry(vectors, k, &m_rows[b][j], &held[b], own[b], other);
                x.store_array(&mut r_rows[b][j]);
                sum[b] += x.abs();
            }
        }
        for b in 0..ROWS {
            for j in 0..=b {
                let x = entry(vectors, k, &m_rows[b][i + j], &held[b], own[b], own[j]);
                x.store_array(&mut r_rows[b][i + j]);
                if j < b {
                    sum[b] += x.abs();
                }
            }
            sum[b].store_array(&mut sums[i + b]);
        }
    }
}

/// R_ij = M̂_ij − u_i · u_j; the first four numbers of u_i are in registers.
#[inline(always)]
fn entry<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    vectors: Vectors<S, F, V, W>,
    k: usize,
    m: &[F; W],
    held: &[V; 4],
    own: &[[F; W]],
    other: &[[F; W]],
) -> V {
    let mut x = vectors.load(m);
    for a in 0..k {
        let own = if a < 4 {
            held[a]
        } else {
            vectors.load(&own[a])
        };
        x = (-own).mul_add(vectors.load(&other[a]), x);
    }
    x
}

/// A_i and b_i of one row, in registers: k = K, P = K (K + 1) / 2.
struct Row<S, F, V, const W: usize, const K: usize, const P: usize> {
    vectors: Vectors<S, F, V, W>,
    influence: Influence<V>,
    a: [V; P],
    b: [V; K],
}

impl<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const K: usize, const P: usize>
    Row<S, F, V, W, K, P>
{
    #[inline(always)]
    fn new(simd: S, influence: Influence<V>) -> Self {
        let vectors = Vectors::new(simd);
        let zero = vectors.splat(F::ZERO);
        Row {
            vectors,
            influence,
            a: [zero; P],
            b: [zero; K],
        }
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn sums(
        mut self,
        n: usize,
        i: usize,
        r: &[[F; W]],
        u: &[[F; W]],
        p: &[[F; W]],
        a: &mut [[F; W]],
        b: &mut [[F; W]],
    ) {
        let Influence {
            scale,
            diagonal_scale,
            diagonal_trust,
        } = self.influence;
        let (u, p) = (&u.as_chunks::<K>().0[..n], &p.as_chunks::<P>().0[..n]);
        let row = &r[i * n..=i * n + i];
        for j in 0..i {
            self.add(scale, scale, &row[j], &u[j], &p[j]);
        }
        self.add(diagonal_trust, diagonal_scale, &row[i], &u[i], &p[i]);
        // What is right of the diagonal stands in column i.
        for j in i + 1..n {
            self.add(scale, scale, &r[j * n + i], &u[j], &p[j]);
        }
        for (x, sum) in a.iter_mut().zip(self.a) {
            sum.store_array(x);
        }
        for (x, sum) in b.iter_mut().zip(self.b) {
            sum.store_array(x);
        }
    }

    #[inline(always)]
    fn add(&mut self, trust: V, scale: V, r: &[F; W], u: &[[F; W]; K], p: &[[F; W]; P]) {
        let r = self.vectors.load(r);
        let w = trust / r.mul_add(r, scale);
        for e in 0..P {
            self.a[e] = w.mul_add(self.vectors.load(&p[e]), self.a[e]);
        }
        let wr = w * r;
        for e in 0..K {
            self.b[e] = wr.mul_add(self.vectors.load(&u[e]), self.b[e]);
        }
    }
}

/// Rows i .. i + ROWS of a symmetric matrix times a table of `columns` vectors a row.
#[inline(always)]
fn multiply_rows<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const ROWS: usize>(
    simd: S,
    n: usize,
    i: usize,
    columns: usize,
    matrix: &[[F; W]],
    x: &[[F; W]],
    out: &mut [[F; W]],
) {
    let mut c = 0;
    while ROWS == 1 && c + 12 <= columns {
        multiply_tile::<S, F, V, W, ROWS, 12>(simd, n, i, columns, c, matrix, x, out);
        c += 12;
    }
    while c + 3 <= columns {
        multiply_tile::<S, F, V, W, ROWS, 3>(simd, n, i, columns, c, matrix, x, out);
        c += 3;
    }
    while c < columns {
        multiply_tile::<S, F, V, W, ROWS, 1>(simd, n, i, columns, c, matrix, x, out);
        c += 1;
    }
}

/// COLUMNS columns of it from c on. Every sum runs over j upwards, as in the single shape.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn multiply_tile<
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
    const W: usize,
    const ROWS: usize,
    const COLUMNS: usize,
>(
    simd: S,
    n: usize,
    i: usize,
    columns: usize,
    c: usize,
    matrix: &[[F; W]],
    x: &[[F; W]],
    out: &mut [[F; W]],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let mut sums = [[vectors.splat(F::ZERO); COLUMNS]; ROWS];
    for j in 0..n {
        let x = &x[j * columns + c..][..COLUMNS];
        for b in 0..ROWS {
            let (low, high) = (j.min(i + b), j.max(i + b));
            let entry = vectors.load(&matrix[high * n + low]);
            for column in 0..COLUMNS {
                sums[b][column] = entry.mul_add(vectors.load(&x[column]), sums[b][column]);
            }
        }
    }
    for b in 0..ROWS {
        for column in 0..COLUMNS {
            sums[b][column].store_array(&mut out[b * columns + c + column]);
        }
    }
}
