//! Products of blocks. One tile of sums at a time is held in registers.

use super::{ENTRIES, Lanes, SIDE};
use crate::simd::{Vector, Vectors};
use crate::unrolled::rank::by_one;
use crate::unrolled::shape::Multiply;
use crate::unrolled::triangle::triangle;

impl<V: Vector> Multiply<V> for Lanes<V> {
    #[inline(always)]
    fn scale_both(self, x: &[V::Array], matrix: &mut [V::Array]) {
        let vectors = self.vectors;
        let (x, _) = x.as_chunks::<SIDE>();
        let (blocks, _) = matrix.as_chunks_mut::<ENTRIES>();
        for (i, rows) in x.iter().enumerate() {
            let blocks = &mut blocks[triangle(i)..];
            for (block, columns) in blocks.iter_mut().zip(&x[..=i]) {
                for at in 0..ENTRIES {
                    let both = vectors.load(&rows[at / SIDE]) * vectors.load(&columns[at % SIDE]);
                    (vectors.load(&block[at]) * both).store_array(&mut block[at]);
                }
            }
        }
    }

    #[inline(never)]
    fn multiply(self, k: usize, matrix: &[V::Array], x: &[V::Array], out: &mut [V::Array]) {
        by_one::<5, V>(
            self.vectors,
            k,
            #[inline(always)]
            move |k| {
                let blocks = matrix.as_chunks::<ENTRIES>().0;
                for i in 0..out.len() / (SIDE * k) {
                    for j in 0..=i {
                        add_both(self.vectors, k, i, j, &blocks[triangle(i) + j], x, out);
                    }
                }
            },
        );
    }
}

/// Adds the products of block (i, j) and, if that is another one, of block (j, i). Column 0 is the first to
/// come to a row, and what it finds there does not matter.
#[inline(always)]
pub(super) fn add_both<V: Vector>(
    vectors: Vectors<V>,
    columns: usize,
    i: usize,
    j: usize,
    block: &[V::Array; ENTRIES],
    x: &[V::Array],
    out: &mut [V::Array],
) {
    let size = SIDE * columns;
    let (above, out_i) = out.split_at_mut(i * size);
    let x_j = &x[j * size..];
    if j == 0 {
        add_block::<false, true, V>(vectors, columns, block, x_j, out_i);
    } else {
        add_block::<false, false, V>(vectors, columns, block, x_j, out_i);
    }
    if j < i {
        let out_j = &mut above[j * size..];
        add_block::<true, false, V>(vectors, columns, block, &x[i * size..], out_j);
    }
}

/// Adds `block` · `x`, or the transposed block's product, to `out`: four rows of `columns` vectors each. Or
/// writes it there, if it is the `FIRST`. Called in the right order, every sum runs over j upwards, as in the
/// single shape.
#[inline(always)]
fn add_block<const TRANSPOSED: bool, const FIRST: bool, V: Vector>(
    vectors: Vectors<V>,
    columns: usize,
    block: &[V::Array; ENTRIES],
    x: &[V::Array],
    out: &mut [V::Array],
) {
    let (x, out) = (&x[..SIDE * columns], &mut out[..SIDE * columns]);
    let product = Product::<TRANSPOSED, FIRST, V> {
        vectors,
        columns,
        block,
        x,
    };
    let mut column = 0;
    while column + 3 <= columns {
        product.add_tile::<2, 3>(0, column, out);
        product.add_tile::<2, 3>(2, column, out);
        column += 3;
    }
    match columns - column {
        2 => product.add_tile::<4, 2>(0, column, out),
        1 => product.add_tile::<4, 1>(0, column, out),
        _ => {}
    }
}

/// `block` · `x`, or the transposed block's.
struct Product<'a, const TRANSPOSED: bool, const FIRST: bool, V: Vector> {
    vectors: Vectors<V>,
    columns: usize,
    block: &'a [V::Array; ENTRIES],
    x: &'a [V::Array],
}

impl<const TRANSPOSED: bool, const FIRST: bool, V: Vector> Product<'_, TRANSPOSED, FIRST, V> {
    #[inline(always)]
    fn entry(&self, row: usize, column: usize) -> V {
        let at = if TRANSPOSED {
            column * SIDE + row
        } else {
            row * SIDE + column
        };
        self.vectors.load(&self.block[at])
    }

    /// Adds `ROWS` × `COLUMNS` sums to `out`, from (`row`, `column`) on.
    #[inline(always)]
    fn add_tile<const ROWS: usize, const COLUMNS: usize>(
        &self,
        row: usize,
        column: usize,
        out: &mut [V::Array],
    ) {
        let (vectors, columns) = (self.vectors, self.columns);
        let mut sums = [[vectors.zero(); COLUMNS]; ROWS];
        if !FIRST {
            for r in 0..ROWS {
                let out = &out[(row + r) * columns + column..][..COLUMNS];
                for c in 0..COLUMNS {
                    sums[r][c] = vectors.load(&out[c]);
                }
            }
        }
        for j in 0..SIDE {
            // The shorter side stays in registers, the other one comes from memory.
            let x = &self.x[j * columns + column..][..COLUMNS];
            if ROWS < COLUMNS {
                let mut entries = [vectors.zero(); ROWS];
                for r in 0..ROWS {
                    entries[r] = self.entry(row + r, j);
                }
                for c in 0..COLUMNS {
                    let x = vectors.load(&x[c]);
                    for r in 0..ROWS {
                        sums[r][c] = entries[r].mul_add(x, sums[r][c]);
                    }
                }
            } else {
                let mut held = [vectors.zero(); COLUMNS];
                for c in 0..COLUMNS {
                    held[c] = vectors.load(&x[c]);
                }
                for r in 0..ROWS {
                    let entry = self.entry(row + r, j);
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
