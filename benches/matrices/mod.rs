//! Matrices to measure with: normal U Uᵀ plus entries at about one pair in ten.

use denise_data::matrices::covariance;
use denise_data::random::Random;

/// `count` matrices, row-major; the same ones every time.
pub(crate) fn matrices(n: usize, k: usize, count: usize) -> Vec<f32> {
    let random = &mut Random::new(1);
    let all = (0..count).flat_map(|_| covariance(n, k, 0.1, random));
    all.map(|x| x as f32).collect()
}
