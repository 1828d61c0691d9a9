//! Eigen-truncation: the best positive semidefinite approximation of rank k in the Frobenius norm.

use nalgebra::{DMatrix, SymmetricEigen};

/// The sum of λ v vᵀ over the k largest positive eigenvalues; bitwise symmetric.
pub(super) fn truncate(m: &DMatrix<f64>, k: usize) -> DMatrix<f64> {
    let n = m.nrows();
    // To unit scale: squares of the largest finite numbers are not finite.
    let scale = m.amax();
    if scale == 0.0 {
        return DMatrix::zeros(n, n);
    }
    let eigen = SymmetricEigen::new(m / scale);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let top: Vec<usize> = order
        .into_iter()
        .take(k)
        .filter(|&a| eigen.eigenvalues[a] > 0.0)
        .collect();
    DMatrix::from_fn(n, n, |i, j| {
        let term = |&a: &usize| {
            let v = eigen.eigenvectors.column(a);
            eigen.eigenvalues[a] * (v[i] * v[j])
        };
        top.iter().map(term).sum::<f64>() * scale
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_largest_positive_eigenvalues() {
        let m = DMatrix::from_diagonal(&nalgebra::DVector::from_vec(vec![3.0, -9.0, 5.0, 1.0]));
        let l = truncate(&m, 2);
        assert!(
            (l - DMatrix::from_diagonal(&nalgebra::DVector::from_vec(vec![3.0, 0.0, 5.0, 0.0])))
                .amax()
                < 1e-12
        );
        assert_eq!(truncate(&DMatrix::zeros(3, 3), 2), DMatrix::zeros(3, 3));
        assert!(
            truncate(&DMatrix::from_element(4, 4, f64::MAX / 8.0), 1)
                .iter()
                .all(|x| x.is_finite())
        );
    }
}
