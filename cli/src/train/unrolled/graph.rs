//! The layers of the network as a graph of tensors, through which gradients flow.
//!
//! It computes what `denise::unrolled::reference` specifies for balanced matrices, for a batch, from the start on, which
//! has no weights.
//! U is stored as B×k×n here, so that its columns lie side by side.

use crate::train::batch::Batch;
use burn::tensor::{Device, Int, Tensor, TensorData};
use denise::unrolled::{Curvature, Layer, RIDGE, RMS_LIMIT};

/// Added where a sum may be zero.
const TINY: f64 = f32::MIN_POSITIVE as f64;

/// Number of weights in a layer, in the order of [`denise::unrolled::Layer`]'s fields.
pub const WEIGHTS: usize = 8;

/// Constants of one size of matrix.
pub struct Graph {
    n: usize,
    k: usize,
    forms: Vec<Form>,
    /// Entries (a, b) with a ≥ b of a k×k matrix, column by column.
    rows: Tensor<1, Int>,
    columns: Tensor<1, Int>,
    /// Layers that follow and do not learn.
    fixed: Option<Fixed>,
}

/// Layers whose weights stay what they are.
struct Fixed {
    forms: Vec<Form>,
    weights: Tensor<2>,
}

/// What a layer computes, whatever its weights are.
#[derive(Clone, Copy)]
struct Form {
    curvature: Curvature,
    /// Whether it takes back a part of its step within the span of U.
    within: bool,
}

impl Form {
    fn of(layers: &[Layer]) -> Vec<Form> {
        let form = |layer: &Layer| Form {
            curvature: layer.curvature,
            within: layer.nu != 0.0,
        };
        layers.iter().map(form).collect()
    }
}

/// Û, and the mean |R_ij| that the layer before saw.
#[derive(Clone)]
pub struct State {
    /// B×k×n.
    pub u: Tensor<3>,
    /// B×1×1.
    pub mean: Tensor<3>,
}

impl State {
    /// Before the first layer that there is.
    fn start(u: Tensor<3>) -> State {
        let [count, ..] = u.dims();
        let mean = Tensor::zeros([count, 1, 1], &u.device());
        State { u, mean }
    }
}

impl Graph {
    /// For matrices of one size, and layers that differ from these in the values of their weights only.
    pub fn new(n: usize, k: usize, layers: &[Layer], device: &Device) -> Graph {
        let places: Vec<(i64, i64)> = (0..k as i64)
            .flat_map(|b| (b..k as i64).map(move |a| (a, b)))
            .collect();
        let tensor = |of: fn(&(i64, i64)) -> i64| {
            let values: Vec<i64> = places.iter().map(of).collect();
            Tensor::from_data(TensorData::new(values, [places.len()]), device)
        };
        Graph {
            n,
            k,
            forms: Form::of(layers),
            rows: tensor(|x| x.0),
            columns: tensor(|x| x.1),
            fixed: None,
        }
    }

    /// Followed by layers that do not learn.
    pub fn with_fixed(self, layers: &[Layer], device: &Device) -> Graph {
        let weights: Vec<f32> = layers
            .iter()
            .flat_map(Layer::weights)
            .map(|x| x as f32)
            .collect();
        let data = TensorData::new(weights, [layers.len(), WEIGHTS]);
        Graph {
            fixed: Some(Fixed {
                forms: Form::of(layers),
                weights: Tensor::from_data(data, device),
            }),
            ..self
        }
    }

    /// Û after all layers, B×k×n, for weights of layers × [`WEIGHTS`].
    pub fn forward(&self, batch: &Batch, weights: &Tensor<2>) -> Tensor<3> {
        let m = Matrices::new(batch.balanced.clone(), batch.known.clone());
        let start = State::start(batch.start.clone());
        let u = self.run(&m, start, &self.forms, weights).u;
        match &self.fixed {
            None => u,
            Some(fixed) => {
                // What learns are mending layers: where nothing is to be mended, the start stays as it is.
                let u = match &m.known {
                    None => u,
                    Some(known) => {
                        let start = batch.start.clone();
                        start.clone() + (u - start) * known.gaps.clone()
                    }
                };
                let start = State::start(u);
                self.run(&m, start, &fixed.forms, &fixed.weights).u
            }
        }
    }

    /// A tick of streams: what they keep goes through all layers, on new balanced matrices of which all is known.
    pub fn follow(&self, m: Tensor<3>, state: State, weights: &Tensor<2>) -> State {
        let m = Matrices::new(m, None);
        self.run(&m, state, &self.forms, weights)
    }

    /// Layers one after the other, the first without momentum.
    fn run(&self, m: &Matrices, mut state: State, forms: &[Form], weights: &Tensor<2>) -> State {
        let mut momentum = None;
        for (t, &form) in forms.iter().enumerate() {
            let weight =
                |e: usize| -> Tensor<3> { weights.clone().slice([t..t + 1, e..e + 1]).unsqueeze() };
            let next = self.step(m, &state, momentum, form, weight);
            momentum = Some(next.u.clone() - state.u);
            state = next;
        }
        state
    }

    fn step(
        &self,
        m: &Matrices,
        state: &State,
        momentum: Option<Tensor<3>>,
        form: Form,
        weight: impl Fn(usize) -> Tensor<3>,
    ) -> State {
        let [alpha, beta, gamma, delta, sigma, eta, mu, nu] = core::array::from_fn(weight);
        let State { u, mean } = state;
        let n = self.n as f64;
        let squares = u.clone() * u.clone();
        // Assets of which nothing is known are not there.
        let mean_over_assets = |sum: Tensor<3>| match &m.known {
            None => sum.div_scalar(n),
            Some(known) => sum / known.live.clone(),
        };
        let size = mean_over_assets(total(squares.clone()));
        let (mean, size_square) = (mean.clone() * mean.clone(), size.clone() * size.clone());
        let threshold = |of_mean: Tensor<3>, of_size: Tensor<3>| {
            (of_mean * mean.clone() + of_size * size_square.clone()).add_scalar(TINY)
        };
        let scale = threshold(alpha, beta);
        let diagonal_scale = threshold(gamma, delta);
        let Residual { r, diagonal } = m.residual(u);
        let mut w = scale.clone() / (r.clone() * r.clone() + scale.clone());
        // All of w is made with the scale of pairs; `beyond` is what the diagonal has beyond that.
        let square = diagonal.clone() * diagonal.clone();
        let negative = diagonal.clone().clamp_max(0.0) * m.variance.clone();
        let trust = sigma * diagonal_scale.clone() + negative.clone() * negative;
        let own = trust / (square.clone() + diagonal_scale);
        let beyond = match &m.known {
            None => own - scale.clone() / (square + scale),
            // Nothing is taken away again: where few weights are left, that could be all but a rounding.
            Some(known) => {
                w = w * known.pairs.clone();
                own * known.variances.clone()
            }
        };
        let b = u.clone().matmul(w.clone() * r.clone())
            + u.clone() * (beyond.clone() * diagonal.clone());
        let products = self.products(u);
        let gram = products.clone().sum_dim(2);
        let nothing = m.known.as_ref().map(|known| known.nothing.clone());
        let d = match form.curvature {
            // W is symmetric.
            Curvature::Own => {
                let a = products.clone().matmul(w) + products * beyond;
                self.solve(&a, b, nothing)
            }
            Curvature::Shared => {
                let mut weight = mean_over_assets(w.sum_dim(1) + beyond);
                if let Some(nothing) = nothing {
                    weight = weight + nothing;
                }
                self.solve(&gram, b, None) / weight
            }
        };
        let limit = size
            .clamp_max(RMS_LIMIT * RMS_LIMIT)
            .mul_scalar(16.0)
            .add_scalar(TINY);
        let d = d.clone() * (limit.clone() / ((d.clone() * d).sum_dim(1) + limit));
        let mut next = u.clone() + d.clone() * eta;
        if form.within {
            let within = self.solve(&gram, u.clone().matmul(d.swap_dims(1, 2)), None);
            next = next + within.swap_dims(1, 2).matmul(u.clone()) * nu;
        }
        if let Some(momentum) = momentum {
            next = next + momentum * mu;
        }
        let sum = total(r.abs()) - total(diagonal.abs());
        State {
            u: next,
            mean: match &m.known {
                None => sum.div_scalar(n * (n - 1.0)),
                Some(known) => sum / known.count.clone(),
            },
        }
    }

    /// u_a u_b for a ≥ b, column by column of the matrix of them: B×k(k+1)/2×n.
    fn products(&self, u: &Tensor<3>) -> Tensor<3> {
        u.clone().select(1, self.rows.clone()) * u.clone().select(1, self.columns.clone())
    }

    /// Solves (A + ridge·tr(A)·I) x = b for each row of U, through L D Lᵀ. The lower triangle of A, column by column, is
    /// B×k(k+1)/2×n, or B×k(k+1)/2×1 if all rows share it; b and x are B×k×n.
    /// Rows of which `nothing` is known have a system of zeros; with one on its diagonal their slopes are finite.
    fn solve(&self, a: &Tensor<3>, mut b: Tensor<3>, nothing: Option<Tensor<3>>) -> Tensor<3> {
        let k = self.k;
        let begin = |j: usize| j * k - j * j.saturating_sub(1) / 2;
        let mut columns: Vec<Tensor<3>> = (0..k)
            .map(|j| a.clone().narrow(1, begin(j), k - j))
            .collect();
        let pivot = |column: &Tensor<3>| column.clone().narrow(1, 0, 1);
        let trace = columns.iter().map(pivot).reduce(|sum, x| sum + x);
        let trace = trace.expect("k is at least 1");
        let mut shift = trace.clone().mul_scalar(RIDGE).add_scalar(TINY);
        if let Some(nothing) = nothing {
            shift = shift + nothing;
        }
        let least = trace.mul_scalar(0.1 * RIDGE).add_scalar(TINY);
        // What L D z = b gives, and for each column but the last what is below the diagonal of L.
        let (mut z, mut below) = (Vec::new(), Vec::new());
        for j in 0..k {
            let inverse = (pivot(&columns[j]) + shift.clone())
                .max_pair(least.clone())
                .recip();
            let first = b.clone().narrow(1, 0, 1);
            z.push(first.clone() * inverse.clone());
            let rest = k - 1 - j;
            if rest == 0 {
                break;
            }
            let under = columns[j].clone().narrow(1, 1, rest);
            let l = under.clone() * inverse;
            b = b.narrow(1, 1, rest) - l.clone() * first;
            for c in 0..rest {
                let (from, height) = (l.clone().narrow(1, c, rest - c), under.clone());
                let change = from * height.narrow(1, c, 1);
                columns[j + 1 + c] = columns[j + 1 + c].clone() - change;
            }
            below.push(l);
        }
        let mut x = z.pop().expect("k is at least 1");
        while let (Some(z), Some(l)) = (z.pop(), below.pop()) {
            let first = z - (l * x.clone()).sum_dim(1);
            x = Tensor::cat(vec![first, x], 1);
        }
        x
    }
}

/// Balanced matrices, with their diagonal.
struct Matrices {
    m: Tensor<3>,
    /// B×1×n.
    diagonal: Tensor<3>,
    /// 1 where that is positive, else 0.
    variance: Tensor<3>,
    /// Where entries are missing.
    known: Option<Known>,
}

/// What is known: 1 where it is, else 0.
struct Known {
    entries: Tensor<3>,
    /// Without the diagonal.
    pairs: Tensor<3>,
    /// Of the diagonal, B×1×n.
    variances: Tensor<3>,
    /// 1 for rows of which nothing is known, B×1×n.
    nothing: Tensor<3>,
    /// How many rows there are of which something is, at least one, B×1×1.
    live: Tensor<3>,
    /// 1 if something between these is not known, B×1×1.
    gaps: Tensor<3>,
    /// How many pairs i ≠ j are, B×1×1.
    count: Tensor<3>,
}

/// R = M − U Uᵀ, with its diagonal.
struct Residual {
    r: Tensor<3>,
    /// B×1×n.
    diagonal: Tensor<3>,
}

impl Matrices {
    fn new(m: Tensor<3>, known: Option<Tensor<3>>) -> Matrices {
        let [_, n, _] = m.dims();
        let eye: Tensor<3> = Tensor::<2>::eye(n, &m.device()).unsqueeze();
        let diagonal = (m.clone() * eye.clone()).sum_dim(1);
        let variance = diagonal.clone().greater_elem(0.0).float();
        let known = known.map(|entries| {
            let variances = (entries.clone() * eye.clone()).sum_dim(1);
            let pairs = entries.clone() - entries.clone() * eye;
            let nothing = entries.clone().sum_dim(1).lower_elem(0.5).float();
            let live = (-total(nothing.clone()))
                .add_scalar(n as f64)
                .clamp_min(1.0);
            let between = live.clone() * live.clone() - total(entries.clone());
            Known {
                gaps: between.greater_elem(0.5).float(),
                live,
                nothing,
                count: total(pairs.clone()).clamp_min(1.0),
                pairs,
                variances,
                entries,
            }
        });
        Matrices {
            m,
            diagonal,
            variance,
            known,
        }
    }

    fn residual(&self, u: &Tensor<3>) -> Residual {
        let squares = (u.clone() * u.clone()).sum_dim(1);
        let r = self.m.clone() - u.clone().swap_dims(1, 2).matmul(u.clone());
        let diagonal = self.diagonal.clone() - squares;
        match &self.known {
            None => Residual { r, diagonal },
            Some(known) => Residual {
                r: r * known.entries.clone(),
                diagonal: diagonal * known.variances.clone(),
            },
        }
    }
}

/// Σ over a matrix, B×1×1.
fn total(x: Tensor<3>) -> Tensor<3> {
    x.sum_dim(1).sum_dim(2)
}

#[cfg(test)]
mod tests;
