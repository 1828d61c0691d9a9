//! The unrolled network: a few weights a layer.

mod graph;
mod through_time;
mod weights;

use super::batch::Batch;
use super::learner::{Learner, Result};
use crate::onnx;
use burn::tensor::{Device, Tensor, TensorData};
use denise::unrolled::{Curvature, Layer, Stages};
use denise::{Model, Options};
use denise_data::files::FileError;
use graph::{Graph, WEIGHTS};
use rayon::prelude::*;
use std::path::Path;
use weights::{confine, free, layer, pull_back};

pub use graph::State;
pub use through_time::Ticks;
pub use weights::{initial, initial_follow, initial_mend, taking_back};

/// A batch is computed in equal parts of at most so many matrices, on as many threads as there are. The parts, and with
/// them all bits, do not depend on the threads.
const PART: usize = 140;
/// An error that should not occur.
const LOST: &str = "no gradient reached the weights";

/// Learns the weights of all layers, on matrices of one or more sizes; or those of the mending layers, which come first
/// where entries are missing; or those of the layers that follow a stream.
pub struct Unrolled {
    initial: Vec<Layer>,
    curvatures: Vec<Curvature>,
    graphs: Vec<Graph>,
    device: Device,
    /// The network, of which some layers learn.
    network: Network,
    learns: Stage,
}

/// Which layers learn.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Layers,
    Mend,
    Follow,
}

/// The layers of a network.
#[derive(Clone, Default)]
struct Network {
    layers: Vec<Layer>,
    mend: Vec<Layer>,
    follow: Vec<Layer>,
}

impl Network {
    fn of(stages: Stages<'_>) -> Network {
        Network {
            layers: stages.layers.to_vec(),
            mend: stages.mend.to_vec(),
            follow: stages.follow.to_vec(),
        }
    }

    fn stages(&self) -> Stages<'_> {
        Stages {
            layers: &self.layers,
            mend: &self.mend,
            follow: &self.follow,
        }
    }
}

impl Unrolled {
    /// Learns the layers, from weights to start with, for these sizes n and ranks k. Those that mend or follow stay what
    /// they are, and complete matrices do not need them.
    pub fn new(stages: Stages<'_>, sizes: &[(usize, usize)], device: &Device) -> Unrolled {
        let initial = stages.layers;
        let device = device.clone().autodiff();
        let curvatures: Vec<Curvature> = initial.iter().map(|x| x.curvature).collect();
        let graph = |&(n, k): &(usize, usize)| Graph::new(n, k, initial, &device);
        Unrolled {
            graphs: sizes.iter().map(graph).collect(),
            initial: initial.to_vec(),
            curvatures,
            network: Network::of(stages),
            learns: Stage::Layers,
            device,
        }
    }

    /// Learns the mending layers, from weights to start with; all others stay what they are.
    pub fn mending(stages: Stages<'_>, sizes: &[(usize, usize)], device: &Device) -> Unrolled {
        let all = Unrolled::new(Stages::only(stages.mend), sizes, device);
        let graphs = all.graphs.into_iter();
        Unrolled {
            graphs: graphs
                .map(|graph| graph.with_fixed(stages.layers, &all.device))
                .collect(),
            network: Network::of(stages),
            learns: Stage::Mend,
            ..all
        }
    }

    /// Learns the layers that follow a stream, from weights to start with; all others stay what they are. That is done
    /// by [`Unrolled::through_time`]; batches have no ticks.
    pub fn following(stages: Stages<'_>, sizes: &[(usize, usize)], device: &Device) -> Unrolled {
        Unrolled {
            network: Network::of(stages),
            learns: Stage::Follow,
            ..Unrolled::new(Stages::only(stages.follow), sizes, device)
        }
    }

    /// The network that the numbers stand for.
    fn network(&self, numbers: &[f64]) -> Network {
        let mut network = self.network.clone();
        let learnt = match self.learns {
            Stage::Layers => &mut network.layers,
            Stage::Mend => &mut network.mend,
            Stage::Follow => &mut network.follow,
        };
        *learnt = self.layers(numbers);
        network
    }

    /// The weights of layers, as the graph takes them.
    fn data(layers: &[Layer]) -> TensorData {
        let numbers = layers.iter().flat_map(Layer::weights);
        let numbers: Vec<f32> = numbers.map(|x| x as f32).collect();
        TensorData::new(numbers, [layers.len(), WEIGHTS])
    }

    /// The gradient by the free numbers of layers, from those by their weights in each part.
    fn gather(layers: &[Layer], parts: Vec<Option<Tensor<2>>>) -> Result<Vec<f64>> {
        let mut gradient = vec![0.0; layers.len() * WEIGHTS];
        for part in parts {
            let part: Vec<f32> = part.ok_or(LOST)?.into_data().try_into_vec()?;
            for (sum, x) in gradient.iter_mut().zip(part) {
                *sum += f64::from(x);
            }
        }
        let rows = gradient.as_chunks::<WEIGHTS>().0;
        let free = layers.iter().zip(rows).flat_map(|(x, g)| pull_back(x, g));
        Ok(free.collect())
    }

    /// The layers that the numbers stand for.
    fn layers(&self, numbers: &[f64]) -> Vec<Layer> {
        let rows = numbers.as_chunks::<WEIGHTS>().0;
        let layers = self.curvatures.iter().zip(rows);
        layers.map(|(&curvature, x)| layer(curvature, x)).collect()
    }
}

impl Learner for Unrolled {
    fn initial(&self) -> Vec<f64> {
        self.initial.iter().flat_map(free).collect()
    }

    fn confine(&self, free: &mut [f64]) {
        free.as_chunks_mut::<WEIGHTS>()
            .0
            .iter_mut()
            .for_each(confine);
    }

    fn gradient(
        &self,
        free: &[f64],
        batch: &Batch,
        loss: &mut dyn FnMut(Tensor<3>) -> Result<Tensor<1>>,
    ) -> Result<(f64, Vec<f64>)> {
        let layers = self.layers(free);
        let data = Unrolled::data(&layers);
        let [count, ..] = batch.m.dims();
        let each = count.div_ceil(count.div_ceil(PART));
        // Every part has weights of its own, so that no thread waits for another.
        let parts: Vec<(Tensor<2>, Tensor<3>)> = (0..count)
            .step_by(each)
            .collect::<Vec<usize>>()
            .into_par_iter()
            .map(|begin| {
                let weights = Tensor::from_data(data.clone(), &self.device).require_grad();
                let some = batch.part(begin, each.min(count - begin));
                let u = self.graphs[batch.size].forward(&some, &weights) * some.sizes;
                (weights, u.clone().swap_dims(1, 2).matmul(u))
            })
            .collect();
        let l = parts.iter().map(|(_, l)| l.clone().detach()).collect();
        let l = Tensor::cat(l, 0).detach().require_grad();
        let loss = loss(l.clone())?;
        let value: Vec<f32> = loss.clone().into_data().try_into_vec()?;
        let slope = l.grad(&loss.backward()).ok_or(LOST)?;
        let slope: Vec<f32> = slope.into_data().try_into_vec()?;
        let gradients: Vec<Option<Tensor<2>>> = parts
            .into_par_iter()
            .enumerate()
            .map(|(part, (weights, l))| {
                let [_, n, _] = l.dims();
                let slope = &slope[part * each * n * n..][..l.shape().num_elements()];
                let slope = TensorData::new(slope.to_vec(), l.dims());
                let slope = Tensor::<3>::from_data(slope, &self.device);
                weights.grad(&(l * slope).sum().backward())
            })
            .collect();
        Ok((f64::from(value[0]), Unrolled::gather(&layers, gradients)?))
    }

    fn model(&self, free: &[f64], n: usize, k: usize) -> Result<Model> {
        let options = Options {
            n,
            k,
            missing: self.learns == Stage::Mend,
            ..Options::default()
        };
        Ok(Model::unrolled(self.network(free).stages(), &options)?)
    }

    fn write(
        &self,
        free: &[f64],
        n: usize,
        k: usize,
        path: &Path,
        metadata: &[(String, String)],
    ) -> std::result::Result<(), FileError> {
        onnx::write(path, n, k, self.network(free).stages(), metadata)
    }
}
