//! Two factors of a matrix become one, as in `denise::unrolled::reference`.

use super::graph::{Matrices, Residual, State, TINY, total};
use burn::tensor::{Tensor, TensorData};
use denise::unrolled::{CUT, GATE, omega};

/// Keeps the slopes of √share and √(1 − share) finite.
const LEAST: f64 = 1e-7;
/// A column of which less than the root of this is left counts as parallel to those before it.
const PARALLEL: f64 = (64.0 * f32::EPSILON as f64) * (64.0 * f32::EPSILON as f64);

/// Joins the first half of the states, from M̂, with the second, from the clipped M̂.
pub fn join(m: &Matrices, typical: &Tensor<3>, both: &State) -> State {
    let count = both.u.dims()[0] / 2;
    let half = |x: &Tensor<3>, i: usize| x.clone().narrow(0, i * count, count);
    let (plain, robust) = (half(&both.u, 0), half(&both.u, 1));
    let cut = typical.clone().mul_scalar(CUT);
    let cost = unexplained(m, &plain, &cut);
    let gain = cost.clone() - unexplained(m, &robust, &cut);
    let x = (gain / cost.mul_scalar(GATE).add_scalar(TINY)).clamp(0.0, 1.0);
    let share = x.clone() * x.clone() * x.mul_scalar(-2.0).add_scalar(3.0);
    let (first, second) = (half(&both.mean, 0), half(&both.mean, 1));
    State {
        mean: first.clone() + share.clone() * (second - first),
        u: blend(plain, robust, &share.clamp(LEAST, 1.0 - LEAST)),
    }
}

/// Σ |R_ij| over i ≠ j, where none counts with more than `cut`.
fn unexplained(m: &Matrices, u: &Tensor<3>, cut: &Tensor<3>) -> Tensor<3> {
    let Residual { r, diagonal } = m.residual(u);
    let sizes = |r: Tensor<3>| {
        let most = cut.clone().expand(r.dims());
        total(r.abs().min_pair(most))
    };
    sizes(r) - sizes(diagonal)
}

/// A factor of (1 − share) U Uᵀ + share V Vᵀ, by orthogonal iteration in the columns of both.
fn blend(u: Tensor<3>, v: Tensor<3>, share: &Tensor<3>) -> Tensor<3> {
    let [_, k, _] = u.dims();
    let other = share.clone().neg().add_scalar(1.0);
    let both = Tensor::cat(vec![u * other.clone().sqrt(), v * share.clone().sqrt()], 1);
    let gram = both.clone().matmul(both.clone().swap_dims(1, 2));
    let begin: Vec<f32> = omega(2 * k, k)
        .enumerate()
        .map(|(at, x)| {
            let (i, a) = (at / k, at % k);
            f32::from(u8::from(i % k == a)) + (x * 0.5 / k as f64) as f32
        })
        .collect();
    let begin = TensorData::new(begin, [1, 2 * k, k]);
    let begin = Tensor::<3>::from_data(begin, &share.device());
    let weights = vec![other.repeat_dim(1, k), share.clone().repeat_dim(1, k)];
    // Stored with its columns side by side, as U is.
    let mut c = (begin * Tensor::cat(weights, 1)).swap_dims(1, 2);
    for _ in 0..3 {
        c = orthonormalise(c.matmul(gram.clone()));
    }
    c.matmul(both)
}

/// Modified Gram–Schmidt on B×width×n.
fn orthonormalise(y: Tensor<3>) -> Tensor<3> {
    let [_, width, _] = y.dims();
    let least = (y.clone() * y.clone()).sum_dim(2);
    let least = least.mul_scalar(PARALLEL).add_scalar(TINY);
    let mut rest = y;
    let mut done = Vec::with_capacity(width);
    for a in 0..width {
        let column = rest.clone().narrow(1, 0, 1);
        let square = (column.clone() * column.clone()).sum_dim(2);
        let direction = column / (square + least.clone().narrow(1, a, 1)).sqrt();
        if a + 1 < width {
            rest = rest.narrow(1, 1, width - 1 - a);
            let share = (rest.clone() * direction.clone()).sum_dim(2);
            rest = rest - share * direction.clone();
        }
        done.push(direction);
    }
    Tensor::cat(done, 1)
}
