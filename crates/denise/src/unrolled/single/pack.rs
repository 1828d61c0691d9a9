//! The caller's matrix to panels, and back.

use super::{Single, lane_numbers};
use crate::simd::{Fixed, Real, Vector, Vectors};
use crate::tick::Side;
use crate::unrolled::shape::Pack;
use fearless_simd::Select;

impl<V: Vector> Pack<V> for Single<'_, V> {
    #[inline(never)]
    fn pack(self, matrix: &[V::Scalar], raw: &mut [V::Array]) {
        let (n, vectors) = (self.n, self.vectors);
        vectors.vectorize(
            #[inline(always)]
            || {
                self.each_panel(
                    [(raw, n)],
                    #[inline(always)]
                    |(first, count), [panel]| {
                        for v in 0..count {
                            let top = (first + v) * V::W;
                            for left in (0..n).step_by(V::W) {
                                let columns = &mut panel[left * count + v..];
                                pack_square(vectors, n, matrix, top, left, columns, count);
                            }
                        }
                    },
                );
            },
        );
    }

    #[inline(always)]
    fn unpack_rows(self, k: usize, rows: &[V::Array], table: &mut [V::Scalar]) {
        for (i, row) in table.chunks_exact_mut(k).enumerate() {
            for (a, x) in row.iter_mut().enumerate() {
                *x = rows[i / V::W * k + a][i % V::W];
            }
        }
    }

    #[inline(always)]
    fn spread(self, k: usize, table: &[V::Scalar], rows: &mut [V::Array]) {
        let columns = table.chunks_exact(table.len() / k);
        for (a, column) in columns.enumerate() {
            for (v, run) in V::Array::chunks(column).iter().enumerate() {
                if let Some(row) = rows.get_mut(v * k + a) {
                    *row = *run;
                }
            }
        }
    }

    #[inline(always)]
    fn matrices(self) -> usize {
        1
    }

    #[inline(always)]
    fn each(self, number: impl Fn(usize) -> V::Scalar) -> V {
        self.vectors.splat(number(0))
    }

    #[inline(never)]
    fn pack_estimates(self, m: Side<'_, f64>, staging: &mut [V::Scalar], raw: &mut [V::Array]) {
        self.vectors.vectorize(
            #[inline(always)]
            || {
                if m.width == 1 {
                    for (x, &from) in staging.iter_mut().zip(m.values) {
                        *x = V::Scalar::from_f64(from);
                    }
                    return;
                }
                for (e, x) in staging.iter_mut().enumerate() {
                    *x = V::Scalar::from_f64(m.values[e * m.width + m.first]);
                }
            },
        );
        self.pack(staging, raw);
    }

    #[inline(always)]
    fn pack_rows(self, k: usize, values: Side<'_, f64>, rows: &mut [V::Array]) {
        rows.fill(V::Array::filled(V::Scalar::ZERO));
        for i in 0..self.n {
            for a in 0..k {
                let x = values.values[(i * k + a) * values.width + values.first];
                rows[i / V::W * k + a][i % V::W] = V::Scalar::from_f64(x);
            }
        }
    }

    #[inline(always)]
    fn put_rows(self, k: usize, rows: &mut [V::Array], value: impl Fn(usize, usize) -> V::Scalar) {
        for i in 0..self.n {
            for a in 0..k {
                rows[i / V::W * k + a][i % V::W] = value(i * k + a, 0);
            }
        }
    }

    #[inline(always)]
    fn take_rows(self, k: usize, rows: &[V::Array], mut take: impl FnMut(usize, usize, V::Scalar)) {
        for i in 0..self.n {
            for a in 0..k {
                take(i * k + a, 0, rows[i / V::W * k + a][i % V::W]);
            }
        }
    }
}

/// Packs the square of rows from `top` on and columns from `left` on; `stride` vectors from a column to the next.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn pack_square<V: Vector>(
    vectors: Vectors<V>,
    n: usize,
    matrix: &[V::Scalar],
    top: usize,
    left: usize,
    columns: &mut [V::Array],
    stride: usize,
) {
    let height = V::W.min(n - top);
    let width = V::W.min(n - left);
    if left > top {
        // Column j is what row j has there, left of the diagonal.
        for l in 0..width {
            columns[l * stride] = *whole::<V>(&matrix[(left + l) * n + top..]);
        }
        return;
    }
    if width < V::W {
        // The last corner.
        for l in 0..width {
            columns[l * stride] = V::Array::filled(V::Scalar::ZERO);
            for r in 0..height {
                let (row, column) = (top + r.max(l), left + r.min(l));
                columns[l * stride][r] = matrix[row * n + column];
            }
        }
        return;
    }
    // The rows as they are, turned to columns. Where there are no more rows, the last
    // one again, and then zeros.
    let zero = vectors.zero();
    let mut square = V::Square::filled(zero);
    for l in 0..V::W {
        let row = (top + l).min(n - 1);
        square[l] = vectors.load(whole::<V>(&matrix[row * n + left..]));
    }
    let turned = V::transpose(vectors.simd(), square);
    let lanes = lane_numbers(vectors);
    let end = vectors.number(height as f64);
    let columns = &mut columns[..(V::W - 1) * stride + 1];
    for l in 0..V::W {
        let mut column = turned[l];
        if left == top {
            // Above the diagonal, what is below it.
            let number = vectors.number(l as f64);
            column = lanes.simd_ge(number).select(column, square[l]);
        } else {
            column = lanes.simd_lt(end).select(column, zero);
        }
        column.store_array(&mut columns[l * stride]);
    }
}

/// The W values that a row goes on with.
#[inline(always)]
fn whole<V: Vector>(row: &[V::Scalar]) -> &V::Array {
    match V::Array::chunks(row).first() {
        Some(run) => run,
        None => panic!("a row ends early"),
    }
}
