//! Working memory: reserved when a model is loaded, and carved up for every group of matrices.

use super::EXTRA;
use super::shape::Layout;
use super::triangle::triangle;
use crate::simd::{Fixed, Vector};
use crate::status::Error;
use crate::zeros::Zeros;

/// Working memory for one call at a time, in either precision.
pub(crate) struct Workspace(Zeros);

impl Workspace {
    /// So many bytes; touched now, so that no call has to wait for them, or reserved.
    pub(super) fn new(bytes: usize, touched: bool) -> Result<Workspace, Error> {
        let zeros = Zeros::new(bytes, if touched { bytes } else { 0 })?;
        Ok(Workspace(zeros))
    }

    pub(super) fn vectors<V: Vector>(&mut self) -> &mut [V::Array] {
        V::Array::chunks_mut(self.0.values())
    }
}

/// What a forward pass works on, in vectors. Contents on entry do not matter.
pub(super) struct Buffers<'a, V: Vector> {
    /// M as it was given.
    pub(super) raw: &'a mut [V::Array],
    /// M̂ = M / s.
    pub(super) m: &'a mut [V::Array],
    pub(super) w: &'a mut [V::Array],
    /// w R.
    pub(super) c: &'a mut [V::Array],
    pub(super) u: &'a mut [V::Array],
    /// U of the layer before, then of the layer after.
    pub(super) v: &'a mut [V::Array],
    /// The best U of the starts of the careful mode.
    pub(super) kept: &'a mut [V::Array],
    /// For what only the start, or only a layer needs.
    pub(super) room: &'a mut [V::Array],
    /// Right-hand sides, then steps.
    pub(super) b: &'a mut [V::Array],
    /// A number for every row.
    pub(super) sums: &'a mut [V::Array],
    /// Σ_j w_ij.
    pub(super) trust: &'a mut [V::Array],
    /// What the rows of M̂ were divided by.
    pub(super) sizes: &'a mut [V::Array],
    /// What the sum of a row is multiplied by for its mean: one by how many of its entries are known.
    pub(super) shares: &'a mut [V::Array],
    /// The diagonal of M̂.
    pub(super) variances: &'a mut [V::Array],
    /// |u_i|².
    pub(super) norms: &'a mut [V::Array],
    /// A small symmetric matrix.
    pub(super) g: &'a mut [V::Array],
    /// Other small matrices.
    pub(super) small: &'a mut [V::Array],
    /// If entries may be missing: 1 where an entry is known, 0 where it is not, and in padding.
    pub(super) known: &'a mut [V::Array],
    /// If entries may be missing: U before the mending layers.
    pub(super) first: &'a mut [V::Array],
    /// If entries may be missing: units of the assets whose variance is.
    pub(super) roots: &'a mut [V::Array],
    /// If entries may be missing: the diagonal of `known`.
    pub(super) variances_known: &'a mut [V::Array],
}

impl<'a, V: Vector> Buffers<'a, V> {
    /// How many values matrices of this shape need if nothing is missing.
    pub(super) fn len(shape: impl Layout<V>, k: usize) -> usize {
        let each_row = 4 * k + room(shape.n(), k) + 6;
        let width = width(shape.n(), k);
        let small = small(width) + triangle(width);
        let matrices = 4 * shape.matrix();
        (matrices + shape.rows() * each_row + small) * V::W
    }

    /// How many they need beside that if entries may be.
    pub(super) fn len_for_missing(shape: impl Layout<V>, k: usize) -> usize {
        (shape.matrix() + shape.rows() * (k + 2)) * V::W
    }

    pub(super) fn carve(
        memory: &'a mut [V::Array],
        shape: impl Layout<V>,
        k: usize,
        missing: bool,
    ) -> Buffers<'a, V> {
        let (matrix, rows, n) = (shape.matrix(), shape.rows(), shape.n());
        let mut rest = memory;
        let mut take = |len| {
            let (head, tail) = core::mem::take(&mut rest).split_at_mut(len);
            rest = tail;
            head
        };
        Buffers {
            m: take(matrix),
            w: take(matrix),
            c: take(matrix),
            u: take(rows * k),
            v: take(rows * k),
            kept: take(rows * k),
            room: take(rows * room(n, k)),
            b: take(rows * k),
            sums: take(rows),
            sizes: take(rows),
            shares: take(rows),
            trust: take(rows),
            variances: take(rows),
            norms: take(rows),
            g: take(triangle(width(n, k))),
            small: take(small(width(n, k))),
            raw: take(matrix),
            known: take(if missing { matrix } else { 0 }),
            first: take(if missing { rows * k } else { 0 }),
            roots: take(if missing { rows } else { 0 }),
            variances_known: take(if missing { rows } else { 0 }),
        }
    }
}

/// Columns of the start's factors.
pub(super) fn width(n: usize, k: usize) -> usize {
    (k + EXTRA).min(n)
}

/// Vectors in each row of `room`: u_j u_jᵀ and A_i for a layer, three factors for the start.
fn room(n: usize, k: usize) -> usize {
    (2 * triangle(k)).max(3 * width(n, k))
}

/// Vectors in `small`: the start's core and its rotation side by side, or a number for each column.
fn small(width: usize) -> usize {
    2 * width * width
}
