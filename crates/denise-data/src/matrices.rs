//! Matrices for tests, row-major: the same ones every time and on every machine.

use crate::random::Random;

/// A symmetric matrix from the entries of its lower triangle, row by row.
pub fn symmetric(n: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Vec<f64> {
    let mut m = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            m[i * n + j] = entry(i, j);
            m[j * n + i] = m[i * n + j];
        }
    }
    m
}

/// U Uᵀ with k columns in U, plus an entry between −½ and ½ at this share of the pairs off the diagonal.
///
/// All of it is additions and multiplications, which round the same everywhere. The matrix may be indefinite, and then
/// small changes of it can make large changes of its split; [`covariance`] gives those that have a split to be found.
pub fn low_rank_plus_sparse(n: usize, k: usize, share: f64, random: &mut Random) -> Vec<f64> {
    let u: Vec<f64> = (0..n * k).map(|_| random.signed()).collect();
    symmetric(n, |i, j| {
        let mut x = 0.0;
        for a in 0..k {
            x += u[i * k + a] * u[j * k + a];
        }
        if i != j && random.uniform() < share {
            x += random.uniform() - 0.5;
        }
        x
    })
}

/// Normal U Uᵀ plus a sparse matrix that is as large on its diagonal as in the rest of each row, as the paper has it: a
/// covariance matrix, positive semidefinite.
pub fn covariance(n: usize, k: usize, share: f64, random: &mut Random) -> Vec<f64> {
    let u: Vec<f64> = (0..n * k).map(|_| random.normal()).collect();
    let mut m = symmetric(n, |i, j| (0..k).map(|a| u[i * k + a] * u[j * k + a]).sum());
    for i in 0..n {
        for j in 0..i {
            if random.uniform() < share {
                let x = random.uniform() - 0.5;
                for (i, j) in [(i, j), (j, i)] {
                    m[i * n + j] += x;
                    m[i * n + i] += x.abs();
                }
            }
        }
    }
    m
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_symmetric_and_as_sparse_as_asked() {
        for (n, k, share) in [(1, 1, 0.5), (20, 3, 0.1), (33, 5, 0.0), (12, 2, 1.0)] {
            let m = low_rank_plus_sparse(n, k, share, &mut Random::new(7));
            let low = low_rank_plus_sparse(n, k, 0.0, &mut Random::new(7));
            let mut other = 0;
            for i in 0..n {
                assert_eq!(m[i * n + i], low[i * n + i]);
                for j in 0..i {
                    assert_eq!(m[i * n + j], m[j * n + i]);
                    let x = (m[i * n + j] - low[i * n + j]).abs();
                    assert!(x <= 0.5 + 1e-12);
                    other += usize::from(x > 0.0);
                }
            }
            let pairs = n * (n - 1) / 2;
            let expected = share * pairs as f64;
            assert!(
                (other as f64 - expected).abs() <= 0.1 * pairs as f64,
                "{other} of {pairs}"
            );
        }
    }

    #[test]
    fn covariances_are_symmetric_and_dominated_by_their_diagonal() {
        let n = 20;
        let m = covariance(n, 3, 0.3, &mut Random::new(1));
        let low = covariance(n, 3, 0.0, &mut Random::new(1));
        let mut pairs = 0;
        for i in 0..n {
            let s = |j: usize| m[i * n + j] - low[i * n + j];
            let others: f64 = (0..n).filter(|&j| j != i).map(|j| s(j).abs()).sum();
            assert!((s(i) - others).abs() < 1e-12);
            for j in 0..i {
                assert_eq!(m[i * n + j], m[j * n + i]);
                pairs += usize::from(s(j) != 0.0);
            }
        }
        assert!((40..75).contains(&pairs), "{pairs}");
    }
}
