//! Gradients through several ticks of streams, each of which starts from where the one before left U.

use super::{State, Unrolled};
use crate::train::learner::Result;
use burn::tensor::{Tensor, TensorData};
use rayon::prelude::*;

/// Some ticks of streams of one size, side by side.
pub struct Ticks {
    /// Which of the learner's sizes.
    pub size: usize,
    /// The balanced matrices of each tick, B×n×n.
    pub m: Vec<Tensor<3>>,
    /// The mean |R_ij| that is usual for them, B×1×1.
    pub usual: Vec<Tensor<3>>,
    /// What the streams keep of the tick before.
    pub state: State,
}

/// What some ticks teach.
pub struct Slope {
    /// The mean loss of streams and ticks.
    pub loss: f64,
    /// Its gradient by the free numbers.
    pub gradient: Vec<f64>,
    /// What the streams of each part keep at the end, without its past.
    pub states: Vec<State>,
}

impl Unrolled {
    /// Goes through the ticks of all parts, each of which may have another size. `loss` is the mean loss of residuals
    /// R_ij relative to what is usual.
    ///
    /// Parts are computed on as many threads as there are, each with weights of its own: no bit depends on the threads.
    pub fn through_time(
        &self,
        free: &[f64],
        parts: Vec<Ticks>,
        loss: &(dyn Fn(Tensor<3>) -> Tensor<1> + Sync),
    ) -> Result<Slope> {
        let layers = self.layers(free);
        let data = Unrolled::data(&layers);
        let count = |part: &Ticks| part.state.u.dims()[0] as f64;
        let all: f64 = parts.iter().map(count).sum();
        let each: Vec<_> = parts
            .into_par_iter()
            .map(|part| {
                let share = count(&part) / all / part.m.len() as f64;
                self.part(&data, part, share, loss)
            })
            .collect();
        let mut slope = Slope {
            loss: 0.0,
            gradient: Vec::new(),
            states: Vec::new(),
        };
        let mut gradients = Vec::new();
        for (loss, gradient, state) in each {
            let loss: Vec<f32> = loss.into_data().try_into_vec()?;
            slope.loss += f64::from(loss[0]);
            gradients.push(gradient);
            slope.states.push(state);
        }
        slope.gradient = Unrolled::gather(&layers, gradients)?;
        Ok(slope)
    }

    /// The loss of one part times its share of all, the gradient of that, and where the part arrives.
    fn part(
        &self,
        weights: &TensorData,
        part: Ticks,
        share: f64,
        loss: &(dyn Fn(Tensor<3>) -> Tensor<1> + Sync),
    ) -> (Tensor<1>, Option<Tensor<2>>, State) {
        let weights = Tensor::from_data(weights.clone(), &self.device).require_grad();
        let graph = &self.graphs[part.size];
        let mut state = part.state;
        let mut sum = Tensor::zeros([1], &self.device);
        for (m, usual) in part.m.into_iter().zip(part.usual) {
            state = graph.follow(m.clone(), state, &weights);
            let u = state.u.clone();
            let r = m - u.clone().swap_dims(1, 2).matmul(u);
            sum = sum + loss(r / usual);
        }
        let sum = sum.mul_scalar(share);
        let gradient = weights.grad(&sum.backward());
        let state = State {
            u: state.u.detach(),
            mean: state.mean.detach(),
        };
        (sum.detach(), gradient, state)
    }
}

#[cfg(test)]
mod tests;
