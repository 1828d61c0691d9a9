//! Matrices to measure with: normal U Uᵀ plus entries at about one pair in ten.

/// `count` matrices, row-major; the same ones every time.
pub(crate) fn matrices(n: usize, k: usize, count: usize) -> Vec<f32> {
    let mut state = 1_u64;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut all = Vec::with_capacity(count * n * n);
    for _ in 0..count {
        let u: Vec<f64> = (0..n * k)
            .map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0)
            .collect();
        let start = all.len();
        for i in 0..n {
            for j in 0..n {
                all.push((0..k).map(|a| u[i * k + a] * u[j * k + a]).sum::<f64>() as f32);
            }
        }
        for i in 0..n {
            for j in 0..i {
                if uniform() < 0.1 {
                    let x = (uniform() - 0.5) as f32;
                    all[start + i * n + j] += x;
                    all[start + j * n + i] += x;
                    all[start + i * n + i] += x.abs();
                    all[start + j * n + j] += x.abs();
                }
            }
        }
    }
    all
}
