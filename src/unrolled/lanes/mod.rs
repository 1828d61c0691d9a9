//! Batch in lanes: lane l of every vector belongs to matrix l of a group of `W`.
//!
//! Rows are counted in blocks of four, the last one padded with rows of zeros. A symmetric matrix is the
//! lower triangle of a grid of 4×4 blocks, of which those on the diagonal are whole; a factor is a row
//! of k vectors for every row. All hot loops work on one block, so their lengths are constants.

use super::PARTIAL_SUMS;
use super::corners::{Corners, CornersMut};
use super::network::{Influence, Shape, Terms, fold};
use super::rank::{by_rank, by_rank_to};
use super::rows::packed;
use crate::simd::{Real, Vector, Vectors};
use fearless_simd::Simd;

pub(super) const BLOCK: usize = 4;
const ENTRIES: usize = BLOCK * BLOCK;
/// Columns of U that are kept in registers while a block is weighed.
const HELD: usize = 4;

#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub(super) n: usize,
}

/// Rows of a factor.
pub(super) const fn rows(n: usize) -> usize {
    n.next_multiple_of(BLOCK)
}

/// Vectors of a symmetric matrix.
pub(super) const fn matrix_len(n: usize) -> usize {
    packed(n.div_ceil(BLOCK)) * ENTRIES
}

/// Where entry (i, j), that is entry (j, i), of a symmetric matrix is.
const fn place(i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (j, i) } else { (i, j) };
    (packed(i / BLOCK) + j / BLOCK) * ENTRIES + i % BLOCK * BLOCK + j % BLOCK
}

impl<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize> Shape<S, F, V, W> for Lanes {
    #[inline(always)]
    fn n(self) -> usize {
        self.n
    }

    #[inline(always)]
    fn rows(self) -> usize {
        rows(self.n)
    }

    #[inline(always)]
    fn matrix(self) -> usize {
        matrix_len(self.n)
    }

    #[inline(always)]
    fn pack(self, simd: S, matrices: &[F], raw: &mut [[F; W]]) {
        pack::<S, F, V, W>(simd, self.n, matrices, raw);
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
        let vectors = Vectors::<S, F, V, W>::new(simd);
        let (max, min) = (V::splat(simd, F::MAX), -V::splat(simd, F::MAX));
        for (i, rows) in u.chunks_exact(BLOCK * k).enumerate() {
            for (j, columns) in u.chunks_exact(BLOCK * k).take(i + 1).enumerate() {
                let block = (packed(i) + j) * ENTRIES..(packed(i) + j + 1) * ENTRIES;
                let m = &m[block.clone()];
                let (l, s) = (&mut l[block.clone()], &mut s[block]);
                for at in 0..ENTRIES {
                    let (own, other) = (&rows[at / BLOCK * k..], &columns[at % BLOCK * k..]);
                    let mut x = vectors.splat(F::ZERO);
                    for a in 0..k {
                        x = vectors.load(&own[a]).mul_add(vectors.load(&other[a]), x);
                    }
                    let x = (x * scale).min(max).max(min);
                    x.store_array(&mut l[at]);
                    let rest = vectors.load(&m[at]) - x;
                    rest.min(max).max(min).store_array(&mut s[at]);
                }
            }
        }
    }

    #[inline(always)]
    fn unpack(self, simd: S, matrix: &[[F; W]], matrices: &mut [F]) {
        unpack::<S, F, V, W>(simd, self.n, matrix, matrices);
    }

    #[inline(always)]
    fn diagonal(self, simd: S, matrix: &[[F; W]], row: usize) -> V {
        if row < self.n {
            V::load_array_ref(simd, &matrix[place(row, row)])
        } else {
            V::splat(simd, F::ZERO)
        }
    }

    #[inline(always)]
    fn extremes(self, simd: S, raw: &[[F; W]]) -> (V, V) {
        let zero = V::splat(simd, F::ZERO);
        // Two of each: one would wait for itself.
        let (mut largest, mut poison) = ([zero; 2], [zero; 2]);
        let (pairs, _) = raw.as_chunks::<2>();
        for pair in pairs {
            for e in 0..2 {
                let x = V::load_array_ref(simd, &pair[e]);
                largest[e] = largest[e].max(x.abs());
                poison[e] = x.mul_add(zero, poison[e]);
            }
        }
        (largest[0].max(largest[1]), poison[0] + poison[1])
    }

    #[inline(always)]
    fn sum_entries(self, simd: S, sums: &mut [[F; W]], term: impl Fn(usize) -> V) -> V {
        for (i, sum) in sums[..self.n].iter_mut().enumerate() {
            let mut left = V::splat(simd, F::ZERO);
            for j in 0..i {
                left += term(place(i, j));
            }
            (left + left + term(place(i, i))).store_array(sum);
        }
        self.sum(simd, sums)
    }

    #[inline(always)]
    fn spread(self, k: usize, table: &[F], rows: &mut [[F; W]]) {
        let columns = table.chunks_exact(table.len() / k);
        for (a, column) in columns.enumerate() {
            for (row, &x) in rows.chunks_exact_mut(k).zip(column) {
                row[a] = [x; W];
            }
        }
    }

    #[inline(always)]
    fn sum(self, simd: S, numbers: &[[F; W]]) -> V {
        let mut partial = [V::splat(simd, F::ZERO); PARTIAL_SUMS];
        let (blocks, rest) = numbers[..self.n].as_chunks::<PARTIAL_SUMS>();
        for block in blocks {
            for g in 0..PARTIAL_SUMS {
                partial[g] += V::load_array_ref(simd, &block[g]);
            }
        }
        for g in 0..PARTIAL_SUMS {
            if g < rest.len() {
                partial[g] += V::load_array_ref(simd, &rest[g]);
            }
        }
        fold(partial, PARTIAL_SUMS)
    }

    #[inline(always)]
    fn gram(self, simd: S, k: usize, x: &[[F; W]], y: &[[F; W]], g: &mut [[F; W]]) {
        gram::<S, F, V, W>(simd, k, x, y, g);
    }

    #[inline(always)]
    fn multiply(self, simd: S, k: usize, matrix: &[[F; W]], x: &[[F; W]], out: &mut [[F; W]]) {
        multiply::<S, F, V, W>(simd, k, matrix, x, out);
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
        terms: Terms<'_, F, W>,
    ) {
        accumulate(simd, self.n, k, influence, m, u, own, terms);
    }
}

/// [`Shape::pack`]. Not inlined, as other hot loops here are not: in the midst of the whole network the
/// compiler runs out of registers.
#[inline(never)]
fn pack<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    n: usize,
    matrices: &[F],
    raw: &mut [[F; W]],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let size = n * n;
            let count = matrices.len() / size;
            let blocks = raw.as_chunks_mut::<ENTRIES>().0;
            for i in 0..n.div_ceil(BLOCK) {
                for j in 0..=i {
                    let block = &mut blocks[packed(i) + j];
                    if let Some(corners) = Corners::<F, W>::new(n, i, j, matrices) {
                        for r in 0..BLOCK {
                            let columns = V::from_runs(simd, corners.row(r));
                            for c in 0..BLOCK {
                                columns[c].store_array(&mut block[r * BLOCK + c]);
                            }
                        }
                    } else {
                        for (at, entry) in block.iter_mut().enumerate() {
                            let (row, column) = (i * BLOCK + at / BLOCK, j * BLOCK + at % BLOCK);
                            for l in 0..W {
                                let start = l.min(count - 1) * size;
                                let there = row < n && column < n;
                                entry[l] = if there {
                                    matrices[start + row * n + column]
                                } else {
                                    F::ZERO
                                };
                            }
                        }
                    }
                    if i == j {
                        // Above the diagonal, what is below it.
                        for r in 0..BLOCK {
                            for c in 0..r {
                                block[c * BLOCK + r] = block[r * BLOCK + c];
                            }
                        }
                    }
                }
            }
        },
    );
}

/// [`Shape::unpack`].
#[inline(never)]
fn unpack<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    n: usize,
    matrix: &[[F; W]],
    matrices: &mut [F],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let blocks = matrix.as_chunks::<ENTRIES>().0;
            for i in 0..n.div_ceil(BLOCK) {
                for j in 0..=i {
                    let block = &blocks[packed(i) + j];
                    write::<S, F, V, W, false>(simd, n, i, j, block, matrices);
                    if j < i {
                        write::<S, F, V, W, true>(simd, n, j, i, block, matrices);
                    }
                }
            }
        },
    );
}

/// Writes a block, or the transposed block, as block (i, j) of every matrix.
#[inline(always)]
fn write<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const TRANSPOSED: bool>(
    simd: S,
    n: usize,
    i: usize,
    j: usize,
    block: &[[F; W]; ENTRIES],
    matrices: &mut [F],
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let at = |r, c| {
        if TRANSPOSED {
            c * BLOCK + r
        } else {
            r * BLOCK + c
        }
    };
    if let Some(mut corners) = CornersMut::<F, W>::new(n, i, j, matrices) {
        for r in 0..BLOCK {
            let mut columns = [vectors.splat(F::ZERO); BLOCK];
            for c in 0..BLOCK {
                columns[c] = vectors.load(&block[at(r, c)]);
            }
            V::to_runs(simd, columns, corners.row(r));
        }
        return;
    }
    for (l, matrix) in matrices.chunks_exact_mut(n * n).enumerate() {
        for (r, row) in matrix[i * BLOCK * n..]
            .chunks_exact_mut(n)
            .take(BLOCK)
            .enumerate()
        {
            for (c, x) in row[j * BLOCK..].iter_mut().take(BLOCK).enumerate() {
                *x = block[at(r, c)][l];
            }
        }
    }
}

/// [`Shape::gram`].
#[inline(never)]
fn gram<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    x: &[[F; W]],
    y: &[[F; W]],
    g: &mut [[F; W]],
) {
    by_rank::<S, F>(
        simd,
        k,
        #[inline(always)]
        |k| {
            for a in 0..k {
                for b in 0..=a {
                    let dot = dot::<S, F, V, W>(simd, k, (x, a), (y, b));
                    dot.store_array(&mut g[packed(a) + b]);
                }
            }
        },
    );
}

/// Σ over the rows of x_ia y_ib. Padded rows are zero.
#[inline(always)]
fn dot<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    (x, a): (&[[F; W]], usize),
    (y, b): (&[[F; W]], usize),
) -> V {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let mut partial = [vectors.splat(F::ZERO); PARTIAL_SUMS];
    let size = PARTIAL_SUMS * k;
    for block in 0..x.len() / size {
        let (x, y) = (&x[block * size..][..size], &y[block * size..][..size]);
        for g in 0..PARTIAL_SUMS {
            partial[g] += vectors.load(&x[g * k + a]) * vectors.load(&y[g * k + b]);
        }
    }
    // There are rows for whole blocks only.
    let rest = x.len() % size;
    if rest > 0 {
        let (x, y) = (&x[x.len() - rest..], &y[y.len() - rest..]);
        let (x, y) = (&x[..BLOCK * k], &y[..BLOCK * k]);
        for g in 0..BLOCK {
            partial[g] += vectors.load(&x[g * k + a]) * vectors.load(&y[g * k + b]);
        }
    }
    fold(partial, PARTIAL_SUMS)
}

/// [`Shape::multiply`].
#[inline(never)]
fn multiply<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    k: usize,
    matrix: &[[F; W]],
    x: &[[F; W]],
    out: &mut [[F; W]],
) {
    by_rank_to::<S, F, 3>(
        simd,
        k,
        #[inline(always)]
        |k| {
            let vectors = Vectors::<S, F, V, W>::new(simd);
            let blocks = matrix.as_chunks::<ENTRIES>().0;
            for i in 0..out.len() / (BLOCK * k) {
                for j in 0..=i {
                    add_both(vectors, k, i, j, &blocks[packed(i) + j], x, out);
                }
            }
        },
    );
}

/// [`Shape::accumulate`].
#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn accumulate<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    simd: S,
    n: usize,
    k: usize,
    influence: Influence<V>,
    m: &[[F; W]],
    u: &[[F; W]],
    own: Option<&[[F; W]]>,
    terms: Terms<'_, F, W>,
) {
    by_rank::<S, F>(
        simd,
        k,
        #[inline(always)]
        |k| match own {
            Some(p) => accumulate_blocks::<S, F, V, W, true>(simd, n, k, influence, m, u, p, terms),
            None => accumulate_blocks::<S, F, V, W, false>(simd, n, k, influence, m, u, &[], terms),
        },
    );
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn accumulate_blocks<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const OWN: bool>(
    simd: S,
    n: usize,
    k: usize,
    influence: Influence<V>,
    m: &[[F; W]],
    u: &[[F; W]],
    p: &[[F; W]],
    terms: Terms<'_, F, W>,
) {
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let Terms {
        w,
        c,
        a,
        b,
        sums,
        trust,
    } = terms;
    sums.fill([F::ZERO; W]);
    if !OWN {
        trust.fill([F::ZERO; W]);
        // No weight belongs to padding, and something will be divided by their sum.
        trust[n..].fill([F::ONE; W]);
    }
    let blocks = m.as_chunks::<ENTRIES>().0;
    // Only one block of w and c is alive at a time.
    let (Some(w), Some(c)) = (w.first_chunk_mut(), c.first_chunk_mut()) else {
        return;
    };
    for i in 0..n.div_ceil(BLOCK) {
        let size = BLOCK.min(n - i * BLOCK);
        for j in 0..=i {
            let mut weigh = Weigh::<S, F, V, W, OWN> {
                vectors,
                k,
                u_i: &u[i * BLOCK * k..][..BLOCK * k],
                u_j: &u[j * BLOCK * k..][..BLOCK * k],
                m: &blocks[packed(i) + j],
                w: &mut *w,
                c: &mut *c,
            };
            let sums = &mut sums[i * BLOCK..][..BLOCK];
            let (above, of_i) = trust.split_at_mut(i * BLOCK);
            let of_i = &mut of_i[..BLOCK];
            if j < i {
                let of_j = &mut above[j * BLOCK..][..BLOCK];
                weigh.block(influence, size, sums, of_i, of_j);
            } else {
                weigh.diagonal_block(influence, size, sums, of_i);
            }
            add_both(vectors, k, i, j, c, u, b);
            if OWN {
                add_both(vectors, packed(k), i, j, w, p, a);
            }
        }
    }
}

/// Adds the products of block (i, j) and, if that is another one, of block (j, i). Column 0 is the first to
/// come to a row, and what it finds there does not matter.
#[inline(always)]
fn add_both<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    vectors: Vectors<S, F, V, W>,
    columns: usize,
    i: usize,
    j: usize,
    block: &[[F; W]; ENTRIES],
    x: &[[F; W]],
    out: &mut [[F; W]],
) {
    let size = BLOCK * columns;
    let (above, out_i) = out.split_at_mut(i * size);
    let x_j = &x[j * size..];
    if j == 0 {
        add_block::<S, F, V, W, false, true>(vectors, columns, block, x_j, out_i);
    } else {
        add_block::<S, F, V, W, false, false>(vectors, columns, block, x_j, out_i);
    }
    if j < i {
        let out_j = &mut above[j * size..];
        add_block::<S, F, V, W, true, false>(vectors, columns, block, &x[i * size..], out_j);
    }
}

/// The weights of one block, and the weights times R. Where rows have systems of their own, nobody asks for
/// the sums of their weights.
struct Weigh<'a, S, F, V, const W: usize, const OWN: bool> {
    vectors: Vectors<S, F, V, W>,
    k: usize,
    /// The rows of U that belong to the rows of the block, and to its columns.
    u_i: &'a [[F; W]],
    u_j: &'a [[F; W]],
    m: &'a [[F; W]; ENTRIES],
    w: &'a mut [[F; W]; ENTRIES],
    c: &'a mut [[F; W]; ENTRIES],
}

impl<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize, const OWN: bool>
    Weigh<'_, S, F, V, W, OWN>
{
    /// A block left of the diagonal, of which `size` rows are not padding; `trust_j` belongs to the rows
    /// that mirror its columns.
    #[inline(always)]
    fn block(
        &mut self,
        influence: Influence<V>,
        size: usize,
        sums: &mut [[F; W]],
        trust_i: &mut [[F; W]],
        trust_j: &mut [[F; W]],
    ) {
        let vectors = self.vectors;
        let mut of_j = self.load_trust(trust_j);
        for row in 0..size {
            let (mut sum, mut total) = (vectors.load(&sums[row]), vectors.load(&trust_i[row]));
            let own = self.own(row);
            for column in 0..BLOCK {
                let x = self.residual(&own, row, column);
                let weight = influence.scale / x.mul_add(x, influence.scale);
                self.store(row, column, weight, x);
                sum += x.abs();
                if !OWN {
                    total += weight;
                    of_j[column] += weight;
                }
            }
            sum.store_array(&mut sums[row]);
            if !OWN {
                total.store_array(&mut trust_i[row]);
            }
        }
        self.pad(size);
        self.store_trust(of_j, trust_j);
    }

    /// A block on the diagonal.
    #[inline(always)]
    fn diagonal_block(
        &mut self,
        influence: Influence<V>,
        size: usize,
        sums: &mut [[F; W]],
        trust: &mut [[F; W]],
    ) {
        let vectors = self.vectors;
        // Padded columns too: what an earlier group left there need not be finite.
        if size < BLOCK {
            self.pad(0);
        }
        let mut total = self.load_trust(trust);
        for row in 0..BLOCK {
            if row == size {
                break;
            }
            let mut sum = vectors.load(&sums[row]);
            let own = self.own(row);
            for column in 0..row {
                let x = self.residual(&own, row, column);
                let weight = influence.scale / x.mul_add(x, influence.scale);
                self.store(row, column, weight, x);
                self.store(column, row, weight, x);
                sum += x.abs();
                total[row] += weight;
                total[column] += weight;
            }
            let x = self.residual(&own, row, row);
            let weight = influence.diagonal_trust / x.mul_add(x, influence.diagonal_scale);
            self.store(row, row, weight, x);
            total[row] += weight;
            sum.store_array(&mut sums[row]);
        }
        self.store_trust(total, trust);
    }

    /// The sums of weights so far of four rows; zeros where nobody asks for them.
    #[inline(always)]
    fn load_trust(&self, trust: &[[F; W]]) -> [V; BLOCK] {
        let mut sums = [self.vectors.splat(F::ZERO); BLOCK];
        if !OWN {
            for row in 0..BLOCK {
                sums[row] = self.vectors.load(&trust[row]);
            }
        }
        sums
    }

    #[inline(always)]
    fn store_trust(&self, sums: [V; BLOCK], trust: &mut [[F; W]]) {
        if !OWN {
            for row in 0..BLOCK {
                sums[row].store_array(&mut trust[row]);
            }
        }
    }

    /// Padding has no weight.
    #[inline(always)]
    fn pad(&mut self, size: usize) {
        if OWN {
            self.w[size * BLOCK..].fill([F::ZERO; W]);
        }
        self.c[size * BLOCK..].fill([F::ZERO; W]);
    }

    /// −u_i, as much of it as fits in registers: the compiler cannot know that storing w leaves U alone.
    #[inline(always)]
    fn own(&self, row: usize) -> [V; HELD] {
        let mut own = [self.vectors.splat(F::ZERO); HELD];
        for a in 0..self.k.min(HELD) {
            own[a] = -self.vectors.load(&self.u_i[row * self.k + a]);
        }
        own
    }

    /// R_ij = M̂_ij − u_i · u_j.
    #[inline(always)]
    fn residual(&self, own: &[V; HELD], row: usize, column: usize) -> V {
        let (vectors, k) = (self.vectors, self.k);
        let other = &self.u_j[column * k..][..k];
        let mut x = vectors.load(&self.m[row * BLOCK + column]);
        for a in 0..k.min(HELD) {
            x = own[a].mul_add(vectors.load(&other[a]), x);
        }
        for a in HELD..k {
            let own = -vectors.load(&self.u_i[row * k + a]);
            x = own.mul_add(vectors.load(&other[a]), x);
        }
        x
    }

    #[inline(always)]
    fn store(&mut self, row: usize, column: usize, weight: V, x: V) {
        if OWN {
            weight.store_array(&mut self.w[row * BLOCK + column]);
        }
        (weight * x).store_array(&mut self.c[row * BLOCK + column]);
    }
}

/// Adds `block` · `x`, or the transposed block's product, to `out`: four rows of `columns` vectors each. Or
/// writes it there, if it is the `FIRST`. Called in the right order, every sum runs over j upwards, as in the
/// single shape.
#[inline(always)]
fn add_block<S, F, V, const W: usize, const TRANSPOSED: bool, const FIRST: bool>(
    vectors: Vectors<S, F, V, W>,
    columns: usize,
    block: &[[F; W]; ENTRIES],
    x: &[[F; W]],
    out: &mut [[F; W]],
) where
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
{
    let (x, out) = (&x[..BLOCK * columns], &mut out[..BLOCK * columns]);
    let tile = Tile::<S, F, V, W, TRANSPOSED, FIRST> {
        vectors,
        columns,
        block,
        x,
    };
    let mut column = 0;
    while column + 3 <= columns {
        tile.add::<2, 3>(0, column, out);
        tile.add::<2, 3>(2, column, out);
        column += 3;
    }
    while column < columns {
        tile.add::<4, 1>(0, column, out);
        column += 1;
    }
}

/// A product of which one tile at a time is held in registers.
struct Tile<'a, S, F, V, const W: usize, const TRANSPOSED: bool, const FIRST: bool> {
    vectors: Vectors<S, F, V, W>,
    columns: usize,
    block: &'a [[F; W]; ENTRIES],
    x: &'a [[F; W]],
}

impl<S, F, V, const W: usize, const TRANSPOSED: bool, const FIRST: bool>
    Tile<'_, S, F, V, W, TRANSPOSED, FIRST>
where
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
{
    #[inline(always)]
    fn entry(&self, row: usize, column: usize) -> &[F; W] {
        if TRANSPOSED {
            &self.block[column * BLOCK + row]
        } else {
            &self.block[row * BLOCK + column]
        }
    }

    #[inline(always)]
    fn add<const ROWS: usize, const COLUMNS: usize>(
        &self,
        row: usize,
        column: usize,
        out: &mut [[F; W]],
    ) {
        let (vectors, columns) = (self.vectors, self.columns);
        let mut sums = [[vectors.splat(F::ZERO); COLUMNS]; ROWS];
        if !FIRST {
            for r in 0..ROWS {
                let out = &out[(row + r) * columns + column..][..COLUMNS];
                for c in 0..COLUMNS {
                    sums[r][c] = vectors.load(&out[c]);
                }
            }
        }
        for j in 0..BLOCK {
            // The shorter side stays in registers, the other one comes from memory.
            let x = &self.x[j * columns + column..][..COLUMNS];
            if ROWS < COLUMNS {
                let mut entries = [vectors.splat(F::ZERO); ROWS];
                for r in 0..ROWS {
                    entries[r] = vectors.load(self.entry(row + r, j));
                }
                for c in 0..COLUMNS {
                    let x = vectors.load(&x[c]);
                    for r in 0..ROWS {
                        sums[r][c] = entries[r].mul_add(x, sums[r][c]);
                    }
                }
            } else {
                let mut held = [vectors.splat(F::ZERO); COLUMNS];
                for c in 0..COLUMNS {
                    held[c] = vectors.load(&x[c]);
                }
                for r in 0..ROWS {
                    let entry = vectors.load(self.entry(row + r, j));
                    for c in 0..COLUMNS {
                        sums[r][c] = entry.mul_add(held[c], sums[r][c]);
                    }
                }
            }
        }
        for r in 0..ROWS {
            let out = &mut out[(row + r) * columns + column..][..COLUMNS];
            for c in 0..COLUMNS {
                sums[r][c].store_array(&mut out[c]);
            }
        }
    }
}
