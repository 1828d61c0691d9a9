//! Matrices to compare on: the same ones every time.

/// n×n matrices with diagonals near 1: positive semidefinite ones, and their negatives, since ReLU turns
/// other units off for those.
pub(super) fn matrices(n: usize) -> Vec<Vec<f32>> {
    let mut state = 0x5eed_u64;
    let pair = |factors: usize| {
        let m = matrix(n, factors, &mut state);
        let negative = m.iter().map(|x| -x).collect();
        [m, negative]
    };
    // Few factors make entries of many sizes.
    [2, 3].map(pair).concat()
}

/// Matrices of more than rank k with a few large entries: so far from being split well that every layer of an
/// unrolled network still moves U, and its weights show.
pub(super) fn hard(n: usize, k: usize) -> Vec<Vec<f32>> {
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
    [k + 2, 2 * k, n]
        .map(|factors| sparse(matrix(n, factors, &mut state)))
        .to_vec()
}

fn matrix(n: usize, factors: usize, state: &mut u64) -> Vec<f32> {
    // Uniform with variance 1.
    let mut number = || (uniform(state) * 2.0 - 1.0) * 3.0_f64.sqrt();
    let b: Vec<f64> = (0..n * factors).map(|_| number()).collect();
    let row = |i: usize| &b[i * factors..(i + 1) * factors];
    let entry = |i: usize, j: usize| {
        let dot: f64 = row(i).iter().zip(row(j)).map(|(x, y)| x * y).sum();
        // An own part for every row makes the matrix one of full rank.
        let own = if i == j { 0.25 } else { 0.0 };
        (dot / factors as f64 + own) as f32
    };
    (0..n * n).map(|e| entry(e / n, e % n)).collect()
}

/// The next of a sequence of numbers between 0 and 1 (splitmix64).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}
