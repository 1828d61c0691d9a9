//! U₀, where the layers start: orthogonal iteration from Ω, then the Nyström factor of M̂ in the subspace found.

use super::RMS_LIMIT;
use super::buffers::Buffers;
use super::rows::{self, Guard};
use super::shape::Shape;
const ROUNDS: usize = 4;
use crate::simd::Vector;

/// From M̂ in `buffers.m` to U₀ in `buffers.u` and its squared row norms in `buffers.norms`.
#[inline(always)]
pub(super) fn start<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    omega: &[V::Scalar],
    buffers: &mut Buffers<'_, V>,
) {
    let vectors = shape.vectors();
    let n = shape.n() as f64;
    let Buffers {
        m, u, v, g, norms, ..
    } = buffers;
    shape.spread(k, omega, u);
    for _ in 0..ROUNDS {
        shape.multiply(k, m, u, v);
        shape.gram(k, v, v, g);
        // An entry of an orthonormal matrix is at most 1.
        rows::unmix(vectors, k, Guard::Ridge, n, g, v);
        core::mem::swap(u, v);
    }
    shape.multiply(k, m, u, v);
    shape.gram(k, u, v, g);
    // An entry of the factor of a positive semidefinite matrix of trace n is at most √n.
    rows::unmix(vectors, k, Guard::Pivot, n, g, v);
    rows::squares(vectors, k, v, norms);
    let limit = vectors.number(RMS_LIMIT * RMS_LIMIT);
    let shrink = (limit / shape.mean(norms).max(limit)).sqrt();
    for (u, v) in u.iter_mut().zip(v.iter()) {
        (vectors.load(v) * shrink).store_array(u);
    }
    rows::squares(vectors, k, u, norms);
}
