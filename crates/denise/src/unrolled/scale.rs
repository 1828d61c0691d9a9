//! What a matrix is divided by before the network sees it.

use super::missing::or_zero;
use super::shape::Sums;
use crate::simd::{Real, Vector};
use fearless_simd::Select;

/// A scale above which its reciprocal comes near the least normal number of f32.
const LARGE: f64 = (1_u128 << 120) as f64;
/// What brings such a scale back, without making anything subnormal that would not be so after division by it.
const SHIFT: f64 = 1.0 / (1_u64 << 32) as f64;

#[derive(Clone, Copy)]
pub(super) struct Scale<V> {
    /// The mean variance, tr(M)/n, or max |M_ij| / n if that is more, which it is not for a positive semidefinite M: it
    /// keeps s positive, and continuous in M, when M is not.
    pub(super) s: V,
    /// M̂ = M · `shift` · `inverse`: multiplications, because a division for every entry is slow, and two of
    /// them, because 1/s is no normal number if s is large. `shift` is a power of two.
    pub(super) shift: V,
    pub(super) inverse: V,
    /// Zero if M is finite, else NaN.
    pub(super) poison: V,
}

impl<V: Vector> Scale<V> {
    /// Of the matrices in `raw`; `numbers` is scratch.
    #[inline(always)]
    pub(super) fn of(shape: impl Sums<V>, raw: &[V::Array], numbers: &mut [V::Array]) -> Scale<V> {
        let share = shape.vectors().number(1.0 / shape.n() as f64);
        Scale::of_known(shape, raw, share, numbers)
    }

    /// The same where some variances are zero because they are not known, and `known` is one by how many are.
    #[inline(always)]
    pub(super) fn of_known(
        shape: impl Sums<V>,
        raw: &[V::Array],
        known: V,
        numbers: &mut [V::Array],
    ) -> Scale<V> {
        let vectors = shape.vectors();
        let share = vectors.number(1.0 / shape.n() as f64);
        let (largest, poison) = shape.extremes(raw, numbers);
        // Divided before it is summed: the trace of a finite matrix may overflow.
        for (row, number) in numbers.iter_mut().enumerate() {
            (shape.diagonal(raw, row) * known).store_array(number);
        }
        let trace = shape.sum(numbers);
        let s = trace
            .max(largest * share)
            .min(vectors.splat(V::Scalar::MAX));
        let one = vectors.one();
        let large = s.simd_gt(vectors.number(LARGE));
        let shift: V = large.select(vectors.number(SHIFT), one);
        Scale {
            s,
            shift,
            inverse: one / (s * shift).max(vectors.splat(V::Scalar::TINY)),
            poison,
        }
    }

    /// Whether each of the first `count` matrices is.
    #[inline(always)]
    pub(super) fn finite(&self, count: usize) -> bool {
        let poison = self.poison.to_array();
        (0..count).all(|i| poison[i].finite())
    }

    /// Whether matrix `i` is.
    #[inline(always)]
    pub(super) fn finite_at(&self, i: usize) -> bool {
        self.poison.to_array()[i].finite()
    }

    /// M̂ from M.
    #[inline(always)]
    pub(super) fn apply(self, shape: impl Sums<V>, raw: &[V::Array], m: &mut [V::Array]) {
        shape.map(
            raw,
            m,
            #[inline(always)]
            |raw| raw * self.shift * self.inverse,
        );
    }

    /// The same from M with zeros where it is NaN.
    #[inline(always)]
    pub(super) fn apply_known(self, shape: impl Sums<V>, raw: &[V::Array], m: &mut [V::Array]) {
        let vectors = shape.vectors();
        shape.map(
            raw,
            m,
            #[inline(always)]
            |raw| or_zero(vectors, raw) * self.shift * self.inverse,
        );
    }
}
