//! Products of blocks. One tile of sums at a time is held in registers.

use super::{ENTRIES, Lanes, SIDE};
use crate::simd::{Vector, Vectors};
use crate::unrolled::rank::by_width;
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
        by_width(
            self.vectors,
            k,
            #[inline(always)]
            move |k| {
                let blocks = matrix.as_chunks::<ENTRIES>().0;
                for i in 0..out.len() / (SIDE * k) {
                    add_row(self.vectors, k, &blocks[triangle(i)..][..=i], x, out);
                }
            },
        );
    }
}

/// Adds the products of blocks (i, 0) to (i, i), which are `blocks`, and of their mirror images. To rows of block i they
/// are the first, and what they find there does not matter. Called in the right order, every sum runs over j upwards,
/// as in the single shape.
#[inline(always)]
pub(super) fn add_row<V: Vector>(
    vectors: Vectors<V>,
    columns: usize,
    blocks: &[[V::Array; ENTRIES]],
    x: &[V::Array],
    out: &mut [V::Array],
) {
    let size = SIDE * columns;
    let left = blocks.len() - 1;
    let (above, out_i) = out.split_at_mut(left * size);
    let product = Product::<V> { vectors, columns };
    product.add::<false>(blocks, x, out_i);
    for (block, out_j) in blocks[..left].iter().zip(above.chunks_exact_mut(size)) {
        product.add::<true>(core::slice::from_ref(block), &x[left * size..], out_j);
    }
}

/// Products of blocks with rows of `columns` vectors each.
#[derive(Clone, Copy)]
struct Product<V: Vector> {
    vectors: Vectors<V>,
    columns: usize,
}

impl<V: Vector> Product<V> {
    /// Writes the product of `blocks`, side by side, and `x` to the four rows of `out`. Or, for the `MIRROR` images of
    /// one block, adds it there.
    #[inline(always)]
    fn add<const MIRROR: bool>(
        self,
        blocks: &[[V::Array; ENTRIES]],
        x: &[V::Array],
        out: &mut [V::Array],
    ) {
        let columns = self.columns;
        let (x, out) = (
            &x[..blocks.len() * SIDE * columns],
            &mut out[..SIDE * columns],
        );
        let mut column = 0;
        while column + 3 <= columns {
            self.add_tile::<MIRROR, 3>(blocks, x, column, out);
            column += 3;
        }
        match columns - column {
            2 => self.add_tile::<MIRROR, 2>(blocks, x, column, out),
            1 => self.add_tile::<MIRROR, 1>(blocks, x, column, out),
            _ => {}
        }
    }

    /// [`Product::add`] for `COLUMNS` columns, whose sums are in registers all the time.
    #[inline(always)]
    fn add_tile<const MIRROR: bool, const COLUMNS: usize>(
        self,
        blocks: &[[V::Array; ENTRIES]],
        x: &[V::Array],
        column: usize,
        out: &mut [V::Array],
    ) {
        let Product { vectors, columns } = self;
        let mut sums = [[vectors.zero(); COLUMNS]; SIDE];
        if MIRROR {
            for r in 0..SIDE {
                let out = &out[r * columns + column..][..COLUMNS];
                for c in 0..COLUMNS {
                    sums[r][c] = vectors.load(&out[c]);
                }
            }
        }
        for (block, x) in blocks.iter().zip(x.chunks_exact(SIDE * columns)) {
            for j in 0..SIDE {
                let x = &x[j * columns + column..][..COLUMNS];
                let mut held = [vectors.zero(); COLUMNS];
                for c in 0..COLUMNS {
                    held[c] = vectors.load(&x[c]);
                }
                for r in 0..SIDE {
                    let at = if MIRROR { j * SIDE + r } else { r * SIDE + j };
                    let entry = vectors.load(&block[at]);
                    for c in 0..COLUMNS {
                        sums[r][c] = entry.mul_add(held[c], sums[r][c]);
                    }
                }
            }
        }
        for r in 0..SIDE {
            let out = &mut out[r * columns + column..][..COLUMNS];
            for c in 0..COLUMNS {
                sums[r][c].store_array(&mut out[c]);
            }
        }
    }
}
