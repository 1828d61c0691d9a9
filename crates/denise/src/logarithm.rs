//! The natural logarithm. The one of the system differs in its last bit from system to system, and on some of them
//! depends on modes that a host may have set.

/// ln 2, of which the first part has so few bits that its products with exponents are exact.
const LN_2: [f64; 2] = [0.6931471803691238, 1.9082149292705877e-10];
/// Terms of the series: the next is below 1e-18.
const TERMS: i32 = 11;

/// ln x, to about one unit in the last place. NaN below zero.
pub(crate) fn ln(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x == f64::INFINITY {
        return x;
    }
    // x = m 2^e, with m between the roots of one half and of two.
    let (x, shift) = if x < f64::MIN_POSITIVE {
        (x * (1_u64 << 54) as f64, 54)
    } else {
        (x, 0)
    };
    let bits = x.to_bits();
    let mut e = (bits >> 52) as i32 - 1023 - shift;
    let mut m = f64::from_bits(bits & ((1 << 52) - 1) | 1.0_f64.to_bits());
    if m > core::f64::consts::SQRT_2 {
        m *= 0.5;
        e += 1;
    }
    // ln m = 2 artanh s = 2 s + s (2/3 s^2 + 2/5 s^4 + ...), and 2 s = f - s f.
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let square = s * s;
    let series = (1..=TERMS)
        .rev()
        .fold(0.0, |sum, i| (sum + 2.0 / f64::from(2 * i + 1)) * square);
    let e = f64::from(e);
    e * LN_2[0] + (f - (s * (f - series) - e * LN_2[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_system_has_it_but_for_the_last_bits() {
        let mut x = f64::from_bits(1);
        while x < f64::MAX / 1.01 {
            let (own, other) = (ln(x), x.ln());
            assert!(
                (own - other).abs() <= 2.5e-16 * other.abs(),
                "{x:e}: {own:e} {other:e}"
            );
            x = (x * 1.003_7).max(f64::from_bits(x.to_bits() + 1));
        }
        for i in -1000..1000 {
            let x = 1.0 + f64::from(i) * 1e-7;
            let (own, other) = (ln(x), x.ln());
            assert!(
                (own - other).abs() <= 2.5e-16 * other.abs(),
                "{x:e}: {own:e} {other:e}"
            );
        }
    }

    #[test]
    fn what_is_exact_and_what_is_not_a_number() {
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert_eq!(ln(-0.0), f64::NEG_INFINITY);
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && ln(f64::NEG_INFINITY).is_nan());
    }

    /// The same bits on every system.
    #[test]
    fn a_digest() {
        let all = (1..2000).fold(0_u64, |state, i| {
            let x = f64::from(i) * 1.7e-3;
            (state ^ ln(x).to_bits()).wrapping_mul(0x100_0000_01b3)
        });
        assert_eq!(format!("{all:016x}"), "8285a3f81b5e86a9");
    }
}
