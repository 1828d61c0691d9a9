//! Covariances and correlations of the columns of a window.

/// The columns of a window, each without its mean.
fn centred(window: &[f64], n: usize) -> Vec<Vec<f64>> {
    let rows = window.len() / n;
    let column = |j: usize| window.iter().skip(j).step_by(n);
    (0..n)
        .map(|j| {
            let mean = column(j).sum::<f64>() / rows as f64;
            column(j).map(|value| value - mean).collect()
        })
        .collect()
}

/// All inner products of the columns: bitwise symmetric.
fn products(columns: &[Vec<f64>]) -> Vec<f64> {
    let n = columns.len();
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let product = columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum();
            matrix[i * n + j] = product;
            matrix[j * n + i] = product;
        }
    }
    matrix
}

/// Sample covariances, with the divisor rows − 1.
pub(super) fn covariance(window: &[f64], n: usize) -> Vec<f64> {
    let divisor = (window.len() / n - 1) as f64;
    let mut matrix = products(&centred(window, n));
    matrix.iter_mut().for_each(|value| *value /= divisor);
    matrix
}

/// The correlations, and a column that does not vary, for which there are none.
pub(super) fn correlation(window: &[f64], n: usize) -> (Vec<f64>, Option<usize>) {
    let mut still = None;
    // To unit scale first: squares of very small or very large numbers are not numbers of use.
    let mut scaled = window.to_vec();
    for j in 0..n {
        let column = || window.iter().skip(j).step_by(n);
        let scale = column().fold(0.0_f64, |most, value| most.max(value.abs()));
        let (low, high) = column().fold((f64::MAX, f64::MIN), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
        // Returns of a constant growth differ by rounding only.
        if high / scale - low / scale <= 1e-12 || scale == 0.0 {
            still = still.or(Some(j));
        }
        scaled[j..]
            .iter_mut()
            .step_by(n)
            .for_each(|value| *value /= scale);
    }
    let mut columns = centred(&scaled, n);
    for column in &mut columns {
        let norm = column.iter().map(|value| value * value).sum::<f64>().sqrt();
        column.iter_mut().for_each(|value| *value /= norm);
    }
    let mut matrix = products(&columns);
    matrix
        .iter_mut()
        .for_each(|value| *value = value.clamp(-1.0, 1.0));
    matrix
        .iter_mut()
        .step_by(n + 1)
        .for_each(|value| *value = 1.0);
    (matrix, still)
}
