//! Blocks of the caller's matrices to vectors, and back.

use super::corners::{Corners, CornersMut};
use super::{ENTRIES, Lanes, SIDE, place};
use crate::simd::{Fixed, Real, Vector};
use crate::tick::Side;
use crate::unrolled::shape::Pack;
use crate::unrolled::triangle::triangle;

impl<V: Vector> Pack<V> for Lanes<V> {
    #[inline(never)]
    fn pack(self, matrices: &[V::Scalar], raw: &mut [V::Array]) {
        self.vectors.vectorize(
            #[inline(always)]
            move || {
                let blocks = raw.as_chunks_mut::<ENTRIES>().0;
                for i in 0..self.n.div_ceil(SIDE) {
                    for j in 0..=i {
                        let block = &mut blocks[triangle(i) + j];
                        self.read(i, j, matrices, block);
                        if i == j {
                            // Above the diagonal, what is below it.
                            for r in 0..SIDE {
                                for c in 0..r {
                                    block[c * SIDE + r] = block[r * SIDE + c];
                                }
                            }
                        }
                    }
                }
            },
        );
    }

    #[inline(always)]
    fn unpack_rows(self, k: usize, rows: &[V::Array], tables: &mut [V::Scalar]) {
        for (l, table) in tables.chunks_exact_mut(self.n * k).enumerate() {
            for (x, row) in table.iter_mut().zip(rows) {
                *x = row[l];
            }
        }
    }

    #[inline(always)]
    fn spread(self, k: usize, table: &[V::Scalar], rows: &mut [V::Array]) {
        let columns = table.chunks_exact(table.len() / k);
        for (a, column) in columns.enumerate() {
            for (row, &x) in rows.chunks_exact_mut(k).zip(column) {
                self.vectors.splat(x).store_array(&mut row[a]);
            }
        }
    }

    #[inline(always)]
    fn matrices(self) -> usize {
        V::W
    }

    #[inline(always)]
    fn each(self, number: impl Fn(usize) -> V::Scalar) -> V {
        V::from_fn(self.vectors.simd(), number)
    }

    #[inline(never)]
    fn pack_estimates(self, m: Side<'_, f64>, _: &mut [V::Scalar], raw: &mut [V::Array]) {
        self.vectors.vectorize(
            #[inline(always)]
            || {
                let blocks = self.n.div_ceil(SIDE);
                for i in 0..blocks * SIDE {
                    for j in 0..=i {
                        let mut entry = V::Array::filled(V::Scalar::ZERO);
                        if i < self.n {
                            let from = &m.of(i * self.n + j)[..V::W];
                            for l in 0..V::W {
                                entry[l] = V::Scalar::from_f64(from[l]);
                            }
                        }
                        raw[place(i, j)] = entry;
                        if i / SIDE == j / SIDE {
                            // Blocks on the diagonal are whole.
                            let block = (triangle(i / SIDE) + i / SIDE) * ENTRIES;
                            raw[block + j % SIDE * SIDE + i % SIDE] = entry;
                        }
                    }
                }
            },
        );
    }

    #[inline(always)]
    fn pack_rows(self, k: usize, values: Side<'_, f64>, rows: &mut [V::Array]) {
        let (there, padding) = rows.split_at_mut(self.n * k);
        for (e, row) in there.iter_mut().enumerate() {
            let from = &values.of(e)[..V::W];
            for l in 0..V::W {
                row[l] = V::Scalar::from_f64(from[l]);
            }
        }
        padding.fill(V::Array::filled(V::Scalar::ZERO));
    }

    #[inline(always)]
    fn put_rows(self, k: usize, rows: &mut [V::Array], value: impl Fn(usize, usize) -> V::Scalar) {
        for (e, row) in rows[..self.n * k].iter_mut().enumerate() {
            for l in 0..V::W {
                row[l] = value(e, l);
            }
        }
    }

    #[inline(always)]
    fn take_rows(self, k: usize, rows: &[V::Array], mut take: impl FnMut(usize, usize, V::Scalar)) {
        for (e, row) in rows[..self.n * k].iter().enumerate() {
            for l in 0..V::W {
                take(e, l, row[l]);
            }
        }
    }
}

impl<V: Vector> Lanes<V> {
    /// Writes symmetric matrices row-major.
    #[inline(never)]
    pub(super) fn unpack(self, matrix: &[V::Array], matrices: &mut [V::Scalar]) {
        self.vectors.vectorize(
            #[inline(always)]
            move || {
                let blocks = matrix.as_chunks::<ENTRIES>().0;
                for i in 0..self.n.div_ceil(SIDE) {
                    for j in 0..=i {
                        let block = &blocks[triangle(i) + j];
                        self.write::<false>(i, j, block, matrices);
                        if j < i {
                            self.write::<true>(j, i, block, matrices);
                        }
                    }
                }
            },
        );
    }

    /// Reads block (i, j) of every matrix, with zeros for padding.
    #[inline(always)]
    fn read(self, i: usize, j: usize, matrices: &[V::Scalar], block: &mut [V::Array; ENTRIES]) {
        let (n, size) = (self.n, self.n * self.n);
        if let Some(corners) = Corners::new(V::W, n, i, j, matrices) {
            for r in 0..SIDE {
                let columns = V::from_runs(self.vectors.simd(), &corners, r);
                for c in 0..SIDE {
                    columns[c].store_array(&mut block[r * SIDE + c]);
                }
            }
            return;
        }
        let count = matrices.len() / size;
        for (at, entry) in block.iter_mut().enumerate() {
            let (row, column) = (i * SIDE + at / SIDE, j * SIDE + at % SIDE);
            for l in 0..V::W {
                let start = l.min(count - 1) * size;
                let there = row < n && column < n;
                entry[l] = if there {
                    matrices[start + row * n + column]
                } else {
                    V::Scalar::ZERO
                };
            }
        }
    }

    /// Writes a block, or the transposed block, as block (i, j) of every matrix.
    #[inline(always)]
    fn write<const TRANSPOSED: bool>(
        self,
        i: usize,
        j: usize,
        block: &[V::Array; ENTRIES],
        matrices: &mut [V::Scalar],
    ) {
        let (n, vectors) = (self.n, self.vectors);
        let at = |r, c| {
            if TRANSPOSED {
                c * SIDE + r
            } else {
                r * SIDE + c
            }
        };
        if let Some(mut corners) = CornersMut::new(V::W, n, i, j, matrices) {
            for r in 0..SIDE {
                let mut columns = [vectors.zero(); SIDE];
                for c in 0..SIDE {
                    columns[c] = vectors.load(&block[at(r, c)]);
                }
                V::to_runs(vectors.simd(), columns, &mut corners, r);
            }
            return;
        }
        for (l, matrix) in matrices.chunks_exact_mut(n * n).enumerate() {
            for (r, row) in matrix[i * SIDE * n..]
                .chunks_exact_mut(n)
                .take(SIDE)
                .enumerate()
            {
                for (c, x) in row[j * SIDE..].iter_mut().take(SIDE).enumerate() {
                    *x = block[at(r, c)][l];
                }
            }
        }
    }
}
