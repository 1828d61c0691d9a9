//! What happens to a finished sum.

use super::network::Activation;
use crate::simd::{Vector, Vectors};
use fearless_simd::Select;

/// The function of one value, of a vector of finite values. Accurate to a few units in the last place.
#[inline(always)]
pub(super) fn activate<V: Vector<Scalar = f32>>(
    vectors: Vectors<V>,
    activation: Activation,
    x: V,
) -> V {
    let (zero, one) = (vectors.zero(), vectors.one());
    match activation {
        Activation::Identity => x,
        Activation::Relu => x.max(zero),
        Activation::LeakyRelu(slope) => x.simd_lt(zero).select(x * vectors.splat(slope), x),
        Activation::Elu(factor) => {
            let (power, rest) = exponential(vectors, x.min(zero));
            let below = power.mul_add(rest, power - one);
            x.simd_lt(zero).select(below * vectors.splat(factor), x)
        }
        Activation::Tanh => {
            // tanh |x| = −t/(2 + t) with t = e^(−2|x|) − 1, which keeps small values accurate.
            let (power, rest) = exponential(vectors, -(x.abs() + x.abs()));
            let t = power.mul_add(rest, power - one);
            (-t / (t + vectors.splat(2.0))).copysign(x)
        }
        Activation::Sigmoid => {
            let (power, rest) = exponential(vectors, -x.abs());
            let e = power.mul_add(rest, power);
            x.simd_lt(zero).select(e, one) / (one + e)
        }
    }
}

/// A power of two and r with eˣ = power · (1 + r), for x <= 0; r is as accurate when it is small.
#[inline(always)]
fn exponential<V: Vector<Scalar = f32>>(vectors: Vectors<V>, x: V) -> (V, V) {
    // Below this the power would not be a normal number.
    let x = x.max(vectors.splat(-87.0));
    // Adding 1.5 · 2²³ rounds to an integer, and leaves it in the lowest bits.
    let shift = vectors.splat(12_582_912.0);
    let shifted = x.mul_add(vectors.splat(core::f32::consts::LOG2_E), shift);
    let whole = shifted - shift;
    let power = V::from_bits((shifted.to_bits() << 23) + (127 << 23));
    // ln 2 in two parts, the first so short that its product is exact.
    let x = whole.mul_add(vectors.splat(-0.693_359_4), x);
    let x = whole.mul_add(vectors.splat(2.121_944_4e-4), x);
    // |x| <= ln(2)/2: the Taylor series of (eˣ − 1 − x)/x².
    let mut series = vectors.splat(1.0 / 5040.0);
    for factor in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5] {
        series = series.mul_add(x, vectors.splat(factor));
    }
    (power, (x * x).mul_add(series, x))
}
