//! Products of panels. One tile of sums at a time is held in registers.

use super::{Single, panels};
use crate::simd::{Vector, Vectors};
use crate::unrolled::shape::{Layout, Multiply};

impl<V: Vector> Multiply<V> for Single<V> {
    #[inline(always)]
    fn scale_both(self, x: &[V::Array], matrix: &mut [V::Array]) {
        for (first, count) in panels(self.rows()) {
            let panel = &mut matrix[first * self.n..][..count * self.n];
            let rows = &x[first..][..count];
            match count {
                3 => scale_panel::<3, V>(self.vectors, rows, x, panel),
                _ => scale_panel::<1, V>(self.vectors, rows, x, panel),
            }
        }
    }

    /// `x` may have any number of columns. Not inlined, so that every place that needs it shares the code.
    #[inline(never)]
    fn multiply(self, columns: usize, matrix: &[V::Array], x: &[V::Array], out: &mut [V::Array]) {
        self.vectors.vectorize(
            #[inline(always)]
            move || {
                for (first, count) in panels(self.rows()) {
                    let panel = &matrix[first * self.n..][..count * self.n];
                    let out = &mut out[first * columns..][..count * columns];
                    match count {
                        3 => multiply_panel::<3, V>(self.vectors, columns, panel, x, out),
                        _ => multiply_panel::<1, V>(self.vectors, columns, panel, x, out),
                    }
                }
            },
        );
    }
}

/// A panel of rows, each entry times a number for its row and one for its column.
#[inline(always)]
fn scale_panel<const ROWS: usize, V: Vector>(
    vectors: Vectors<V>,
    rows: &[V::Array],
    columns: &[V::Array],
    panel: &mut [V::Array],
) {
    let mut own = [vectors.zero(); ROWS];
    for v in 0..ROWS {
        own[v] = vectors.load(&rows[v]);
    }
    let panel = panel.as_chunks_mut::<ROWS>().0;
    for (panel, columns) in panel.chunks_mut(V::W).zip(columns) {
        for (l, entries) in panel.iter_mut().enumerate().take(V::W) {
            let other = vectors.splat(columns[l]);
            for v in 0..ROWS {
                (vectors.load(&entries[v]) * (own[v] * other)).store_array(&mut entries[v]);
            }
        }
    }
}

/// A panel of rows times a table of `columns` vectors a row.
#[inline(always)]
fn multiply_panel<const ROWS: usize, V: Vector>(
    vectors: Vectors<V>,
    columns: usize,
    panel: &[V::Array],
    x: &[V::Array],
    out: &mut [V::Array],
) {
    let mut c = 0;
    while c + 3 <= columns {
        multiply_tile::<ROWS, 3, V>(vectors, columns, c, panel, x, out);
        c += 3;
    }
    match columns - c {
        2 => multiply_tile::<ROWS, 2, V>(vectors, columns, c, panel, x, out),
        1 => multiply_tile::<ROWS, 1, V>(vectors, columns, c, panel, x, out),
        _ => {}
    }
}

/// COLUMNS columns of it. Every sum runs over j upwards, as in the lanes shape.
#[inline(always)]
fn multiply_tile<const ROWS: usize, const COLUMNS: usize, V: Vector>(
    vectors: Vectors<V>,
    columns: usize,
    c: usize,
    panel: &[V::Array],
    x: &[V::Array],
    out: &mut [V::Array],
) {
    let mut sums = [[vectors.zero(); COLUMNS]; ROWS];
    // W columns of the matrix meet one vector row of x, from which they take a lane each.
    let panel = panel.as_chunks::<ROWS>().0;
    let full = panel.chunks_exact(V::W);
    let (count, rest) = (full.len(), full.remainder());
    for (block, matrix) in full.enumerate() {
        let x = &x[block * columns + c..][..COLUMNS];
        for l in 0..V::W {
            add_column(vectors, &matrix[l], x, l, &mut sums);
        }
    }
    if !rest.is_empty() {
        let x = &x[count * columns + c..][..COLUMNS];
        for (l, matrix) in rest.iter().enumerate().take(V::W) {
            add_column(vectors, matrix, x, l, &mut sums);
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
fn add_column<const ROWS: usize, const COLUMNS: usize, V: Vector>(
    vectors: Vectors<V>,
    matrix: &[V::Array; ROWS],
    x: &[V::Array],
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
