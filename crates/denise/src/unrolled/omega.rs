//! Ω, the fixed directions from which the range of M is found.

/// Ω for any n and k, row-major. Entry (i, a) depends on i and a only: the value in [-1, 1) of a
/// 24-bit hash, so that it is the same number in `f32` and `f64` and on every machine.
pub fn omega(n: usize, k: usize) -> impl Iterator<Item = f64> {
    (0..n).flat_map(move |i| (0..k).map(move |a| entry(i as u64, a as u64)))
}

fn entry(i: u64, a: u64) -> f64 {
    let bits = mix((i << 32) | a) >> 40;
    bits as f64 / f64::from(1 << 23) - 1.0
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_centred_exact_in_f32_and_independent_of_the_size() {
        let small: Vec<f64> = omega(20, 3).collect();
        let large: Vec<f64> = omega(40, 5).collect();
        for i in 0..20 {
            for a in 0..3 {
                assert_eq!(small[i * 3 + a], large[i * 5 + a]);
            }
        }
        assert!(
            large
                .iter()
                .all(|&x| (-1.0..1.0).contains(&x) && f64::from(x as f32) == x)
        );
        let mean = omega(512, 32).sum::<f64>() / (512.0 * 32.0);
        assert!(mean.abs() < 0.02, "{mean}");
    }
}
