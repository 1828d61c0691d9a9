//! Covariances and correlations of the columns of a window.

/// Returns of a constant growth differ by rounding only, which is less than this share of them.
const STILL: f64 = 1e-12;

/// The columns of a window, one after the other.
pub(super) fn columns(window: &[f64], n: usize) -> Vec<Vec<f64>> {
    let column = |j: usize| window.iter().skip(j).step_by(n).copied().collect();
    (0..n).map(column).collect()
}

/// Takes the mean out of a column.
pub(super) fn centre(column: &mut [f64]) {
    let mean = column.iter().sum::<f64>() / column.len() as f64;
    column.iter_mut().for_each(|value| *value -= mean);
}

/// Takes the mean out of a column, and scales it to length 1. Says whether it varies; if not, there is no such column.
pub(super) fn standardise(column: &mut [f64]) -> bool {
    let scale = column
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    let (low, high) = column
        .iter()
        .fold((f64::MAX, f64::MIN), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
    let still = high / scale - low / scale <= STILL || scale == 0.0;
    // To unit scale first: squares of very small or very large numbers are not numbers of use.
    column.iter_mut().for_each(|value| *value /= scale);
    centre(column);
    let norm = product(column, column).sqrt();
    column.iter_mut().for_each(|value| *value /= norm);
    !still
}

/// The inner product of two columns.
pub(super) fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The matrix of an entry for every pair of columns: bitwise symmetric.
pub(super) fn symmetric(n: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Vec<f64> {
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let value = entry(i, j);
            matrix[i * n + j] = value;
            matrix[j * n + i] = value;
        }
    }
    matrix
}

/// Sample covariances, with the divisor rows − 1.
pub(super) fn covariance(window: &[f64], n: usize) -> Vec<f64> {
    let divisor = (window.len() / n - 1) as f64;
    let mut columns = columns(window, n);
    columns.iter_mut().for_each(|column| centre(column));
    symmetric(n, |i, j| product(&columns[i], &columns[j]) / divisor)
}

/// The correlations, and a column that does not vary, for which there are none.
pub(super) fn correlation(window: &[f64], n: usize) -> (Vec<f64>, Option<usize>) {
    let mut columns = columns(window, n);
    let mut still = None;
    for (j, column) in columns.iter_mut().enumerate() {
        if !standardise(column) {
            still = still.or(Some(j));
        }
    }
    let matrix = symmetric(n, |i, j| match i == j {
        true => 1.0,
        false => product(&columns[i], &columns[j]).clamp(-1.0, 1.0),
    });
    (matrix, still)
}
