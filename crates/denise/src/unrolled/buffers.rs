//! Working memory: reserved when a model is loaded, and carved up for every group of matrices.

use super::shape::Layout;
use super::triangle::triangle;
use crate::simd::{Fixed, Real, Vector};
use crate::status::Error;

/// Working memory for one call at a time.
pub(crate) struct Workspace<F> {
    memory: Vec<F>,
    start: usize,
}

const ALIGNMENT: usize = 64;

impl<F: Real> Workspace<F> {
    pub(super) fn new(len: usize) -> Result<Workspace<F>, Error> {
        let mut memory = Vec::new();
        let len = len + ALIGNMENT / size_of::<F>();
        memory.try_reserve_exact(len)?;
        memory.resize(len, F::ZERO);
        let start = memory.as_ptr().align_offset(ALIGNMENT).min(len);
        Ok(Workspace { memory, start })
    }

    pub(super) fn vectors<V: Vector<Scalar = F>>(&mut self) -> &mut [V::Array] {
        V::Array::chunks_mut(&mut self.memory[self.start..])
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
    /// u_j u_jᵀ.
    pub(super) p: &'a mut [V::Array],
    /// A_i.
    pub(super) a: &'a mut [V::Array],
    /// Right-hand sides, then steps.
    pub(super) b: &'a mut [V::Array],
    /// A number for every row.
    pub(super) sums: &'a mut [V::Array],
    /// Σ_j w_ij.
    pub(super) trust: &'a mut [V::Array],
    /// |u_i|².
    pub(super) norms: &'a mut [V::Array],
    /// A k×k matrix.
    pub(super) g: &'a mut [V::Array],
}

impl<'a, V: Vector> Buffers<'a, V> {
    /// How many values matrices of this shape need.
    pub(super) fn len(shape: impl Layout<V>, k: usize) -> usize {
        let each_row = 3 * k + 2 * triangle(k) + 3;
        (4 * shape.matrix() + shape.rows() * each_row + triangle(k)) * V::W
    }

    pub(super) fn carve(
        memory: &'a mut [V::Array],
        shape: impl Layout<V>,
        k: usize,
    ) -> Buffers<'a, V> {
        let (matrix, rows) = (shape.matrix(), shape.rows());
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
            p: take(rows * triangle(k)),
            a: take(rows * triangle(k)),
            b: take(rows * k),
            sums: take(rows),
            trust: take(rows),
            norms: take(rows),
            g: take(triangle(k)),
            raw: take(matrix),
        }
    }
}
