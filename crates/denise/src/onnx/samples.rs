//! Matrices to compare on: the same ones every time.

use crate::memory::{all_collected, collected, push};
use crate::status::Error;

/// n×n matrices with diagonals near 1: positive semidefinite ones, and their negatives, since ReLU turns
/// other units off for those.
pub(super) fn matrices(n: usize) -> Result<Vec<Vec<f32>>, Error> {
    let mut state = 0x5eed_u64;
    let mut all = Vec::new();
    // Few factors make entries of many sizes.
    for factors in [2, 3] {
        let m = matrix(n, factors, &mut state)?;
        let negative = collected(m.iter().map(|x| -x))?;
        push(&mut all, m)?;
        push(&mut all, negative)?;
    }
    Ok(all)
}

/// Matrices of more than rank k with a few large entries: so far from being split well that every layer of an
/// unrolled network still moves U, and its weights show.
pub(super) fn hard(n: usize, k: usize) -> Result<Vec<Vec<f32>>, Error> {
    let mut state = 0x5eed_u64;
    let sparse = |mut m: Vec<f32>| {
        for i in 0..n {
            let j = (7 * i + 3) % n;
            if i != j && i % 2 == 0 {
                m[i * n + j] += 0.5;
                m[j * n + i] += 0.5;
            }
        }
        m
    };
    all_collected([k + 2, 2 * k, n].map(|factors| matrix(n, factors, &mut state).map(sparse)))
}

fn matrix(n: usize, factors: usize, state: &mut u64) -> Result<Vec<f32>, Error> {
    // Uniform with variance 1.
    let mut number = || (uniform(state) * 2.0 - 1.0) * 3.0_f64.sqrt();
    let b = collected((0..n * factors).map(|_| number()))?;
    let row = |i: usize| &b[i * factors..(i + 1) * factors];
    let entry = |i: usize, j: usize| {
        let dot: f64 = row(i).iter().zip(row(j)).map(|(x, y)| x * y).sum();
        // An own part for every row makes the matrix one of full rank.
        let own = if i == j { 0.25 } else { 0.0 };
        (dot / factors as f64 + own) as f32
    };
    collected((0..n * n).map(|e| entry(e / n, e % n)))
}

/// The next of a sequence of numbers between 0 and 1 (splitmix64).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}
