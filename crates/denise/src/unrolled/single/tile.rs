//! Products of panels. One tile of sums at a time is held in registers.

use super::Single;
use crate::simd::{Vector, Vectors};
use crate::unrolled::shape::Multiply;

impl<V: Vector> Multiply<V> for Single<'_, V> {
    #[inline(always)]
    fn scale_both(self, x: &[V::Array], matrix: &mut [V::Array]) {
        let vectors = self.vectors;
        self.each_panel(
            [(matrix, self.n)],
            #[inline(always)]
            |(first, count), [panel]| {
                let rows = &x[first..][..count];
                match count {
                    3 => scale_panel::<3, V>(vectors, rows, x, panel),
                    2 => scale_panel::<2, V>(vectors, rows, x, panel),
                    _ => scale_panel::<1, V>(vectors, rows, x, panel),
                }
            },
        );
    }

    /// `x` may have any number of columns. Not inlined, so that every place that needs it shares the code.
    #[inline(never)]
    fn multiply(self, columns: usize, matrix: &[V::Array], x: &[V::Array], out: &mut [V::Array]) {
        let (n, vectors) = (self.n, self.vectors);
        self.each_panel(
            [(out, columns)],
            #[inline(always)]
            |(first, count), [out]| {
                let panel = &matrix[first * n..][..count * n];
                multiply_rows(vectors, columns, count, panel, x, out);
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

/// Columns of a panel that stay in the first-level cache, in vectors, while all columns of a table meet them.
pub(super) const BLOCK: usize = 12;

/// Columns of a panel, and the rows of a table that belong to them.
pub(super) type Segment<'a, const ROWS: usize, A> = (&'a [[A; ROWS]], &'a [A]);

/// A panel of `count` vector rows times a table of `columns` vectors a row, to `out`.
#[inline(always)]
fn multiply_rows<V: Vector>(
    vectors: Vectors<V>,
    columns: usize,
    count: usize,
    panel: &[V::Array],
    x: &[V::Array],
    out: &mut [V::Array],
) {
    match count {
        3 => multiply_panel::<3, V>(vectors, columns, panel.as_chunks().0, x, out),
        2 => multiply_panel::<2, V>(vectors, columns, panel.as_chunks().0, x, out),
        _ => multiply_panel::<1, V>(vectors, columns, panel.as_chunks().0, x, out),
    }
}

/// [`multiply_rows`] for a panel of `ROWS` vectors.
#[inline(always)]
fn multiply_panel<const ROWS: usize, V: Vector>(
    vectors: Vectors<V>,
    columns: usize,
    panel: &[[V::Array; ROWS]],
    x: &[V::Array],
    out: &mut [V::Array],
) {
    for (block, panel) in panel.chunks(BLOCK * V::W).enumerate() {
        let x = &x[block * BLOCK * columns..];
        add::<ROWS, V>(vectors, columns, block == 0, &(panel, x), out);
    }
}

/// Adds some columns of a panel, times the rows of a table that belong to them, to `out`; or writes it there, if they are
/// the `first`.
#[inline(never)]
pub(super) fn add<const ROWS: usize, V: Vector>(
    vectors: Vectors<V>,
    columns: usize,
    first: bool,
    segment: &Segment<'_, ROWS, V::Array>,
    out: &mut [V::Array],
) {
    vectors.vectorize(
        #[inline(always)]
        move || {
            // As many sums as registers hold, and no column alone, if it can be helped: its sums would wait for
            // themselves.
            let mut c = 0;
            if size_of::<V>() > 32 {
                // AVX-512 has twice as many registers.
                while columns - c > 7 {
                    add_tile::<ROWS, 6, V>(vectors, columns, c, first, segment, out);
                    c += 6;
                }
            }
            if ROWS > 2 {
                while columns - c > 4 {
                    add_tile::<ROWS, 3, V>(vectors, columns, c, first, segment, out);
                    c += 3;
                }
            } else {
                while columns - c > 6 {
                    add_tile::<ROWS, 4, V>(vectors, columns, c, first, segment, out);
                    c += 4;
                }
                if columns - c > 4 {
                    add_tile::<ROWS, 3, V>(vectors, columns, c, first, segment, out);
                    c += 3;
                }
            }
            match columns - c {
                4 => add_tile::<ROWS, 4, V>(vectors, columns, c, first, segment, out),
                3 => add_tile::<ROWS, 3, V>(vectors, columns, c, first, segment, out),
                2 => add_tile::<ROWS, 2, V>(vectors, columns, c, first, segment, out),
                _ => add_tile::<ROWS, 1, V>(vectors, columns, c, first, segment, out),
            }
        },
    );
}

/// COLUMNS columns of it. Every sum runs over j upwards, as in the lanes shape.
#[inline(always)]
fn add_tile<const ROWS: usize, const COLUMNS: usize, V: Vector>(
    vectors: Vectors<V>,
    columns: usize,
    c: usize,
    first: bool,
    segment: &Segment<'_, ROWS, V::Array>,
    out: &mut [V::Array],
) {
    let mut sums = [[vectors.zero(); COLUMNS]; ROWS];
    if !first {
        for v in 0..ROWS {
            let out = &out[v * columns + c..][..COLUMNS];
            for column in 0..COLUMNS {
                sums[v][column] = vectors.load(&out[column]);
            }
        }
    }
    let &(panel, x) = segment;
    let mut x = &x[c..];
    // W columns of the matrix meet one vector row of x, from which they take a lane each.
    let full = panel.chunks_exact(V::W);
    let rest = full.remainder();
    for matrix in full {
        for l in 0..V::W {
            add_column(vectors, &matrix[l], &x[..COLUMNS], l, &mut sums);
        }
        x = x.get(columns..).unwrap_or_default();
    }
    for (l, matrix) in rest.iter().enumerate().take(V::W) {
        add_column(vectors, matrix, &x[..COLUMNS], l, &mut sums);
    }
    for v in 0..ROWS {
        let out = &mut out[v * columns + c..][..COLUMNS];
        for column in 0..COLUMNS {
            sums[v][column].store_array(&mut out[column]);
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
