//! What all methods do with rows of numbers.

/// Σ f(x, y), summed in eight strands: one would wait for each addition.
#[inline(always)]
fn sum(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; 8];
    let (x, x_rest) = x.as_chunks::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    for (x, y) in x.iter().zip(y) {
        for lane in 0..8 {
            sums[lane] += f(x[lane], y[lane]);
        }
    }
    for ((sum, &x), &y) in sums.iter_mut().zip(x_rest).zip(y_rest) {
        *sum += f(x, y);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The scalar product.
#[inline(never)]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    sum(x, y, |x, y| x * y)
}

/// ‖x − y‖_F².
#[inline(never)]
pub(crate) fn square_distance(x: &[f64], y: &[f64]) -> f64 {
    sum(x, y, |x, y| (x - y) * (x - y))
}

/// ‖x‖_F².
pub(crate) fn square_norm(x: &[f64]) -> f64 {
    dot(x, x)
}

/// The largest magnitude.
#[inline(never)]
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0_f64, |most, x| most.max(x.abs()))
}

/// Moves x towards zero by `by`, and not past it.
#[inline(always)]
pub(crate) fn shrink(x: f64, by: f64) -> f64 {
    // What is clipped off is taken away: no branch, and exact zeros.
    let low = if x > by { by } else { x };
    let clipped = if low < -by { -by } else { low };
    x - clipped
}

/// y ← y + a x.
pub(crate) fn add(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Σ ± w wᵀ over the rows w, with the signs of `signs`. Entry (i, j) has the factors of (j, i) in the same order:
/// the result is bitwise symmetric.
#[inline(never)]
pub(crate) fn sum_of_squares(rows: &[f64], signs: &[f64], n: usize, l: &mut [f64]) {
    l.fill(0.0);
    for (w, sign) in rows.chunks_exact(n).zip(signs) {
        for (row, &wi) in l.chunks_exact_mut(n).zip(w) {
            add(row, wi * 1.0_f64.copysign(*sign), w);
        }
    }
}
