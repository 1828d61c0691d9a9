//! The layers found so far, and the network that they make.

use super::budget::Budget;
use super::error::Refused;
use super::value::{Factor, Pick};
use crate::dense::{Activation, Layer, Network};
use crate::memory::{collected, copied, filled, push};
use crate::status::Error;

/// The lower triangle of M.
pub(super) const INPUT: usize = 0;

/// What the elements of values are taken from.
enum Stage {
    /// h(M), which goes in.
    Input,
    /// x W + b, where x is stage `parent`.
    Linear {
        parent: usize,
        weights: Vec<f32>,
        bias: Vec<f32>,
    },
    /// A function of each element that is picked from stage `parent`.
    Active {
        parent: usize,
        picks: Vec<Pick>,
        activation: Activation,
    },
}

/// All stages, each made from an earlier one.
pub(super) struct Stages {
    stages: Vec<(Stage, usize)>,
    /// For each stage the node that makes it, and its output.
    pub(super) makers: Vec<(String, String)>,
}

/// The layers of a network, with the number of the stage that gives each layer's output if one does.
pub(super) struct Built {
    pub(super) network: Network,
    pub(super) stages: Vec<Option<usize>>,
}

impl Stages {
    pub(super) fn new(n: usize) -> Result<Stages, Error> {
        Ok(Stages {
            stages: collected([(Stage::Input, n * (n + 1) / 2)])?,
            makers: collected([(String::new(), String::new())])?,
        })
    }

    /// Number of elements.
    pub(super) fn width(&self, stage: usize) -> usize {
        self.stages[stage].1
    }

    /// If it is a function of picks from another stage: that stage, the picks and the function.
    pub(super) fn function(&self, stage: usize) -> Option<(usize, &[Pick], Activation)> {
        match &self.stages[stage].0 {
            Stage::Active {
                parent,
                picks,
                activation,
            } => Some((*parent, picks, *activation)),
            _ => None,
        }
    }

    pub(super) fn linear(
        &mut self,
        parent: usize,
        weights: Vec<f32>,
        bias: Vec<f32>,
    ) -> Result<usize, Error> {
        let width = bias.len();
        self.push(
            Stage::Linear {
                parent,
                weights,
                bias,
            },
            width,
        )
    }

    pub(super) fn active(
        &mut self,
        parent: usize,
        picks: Vec<Pick>,
        activation: Activation,
        budget: &mut Budget,
    ) -> Result<usize, Refused> {
        let width = picks.len();
        budget.keep(width)?;
        let stage = Stage::Active {
            parent,
            picks,
            activation,
        };
        Ok(self.push(stage, width)?)
    }

    fn push(&mut self, stage: Stage, width: usize) -> Result<usize, Error> {
        push(&mut self.stages, (stage, width))?;
        push(&mut self.makers, (String::new(), String::new()))?;
        Ok(self.stages.len() - 1)
    }

    /// The network that gives U, from its last layer back to the first.
    pub(super) fn build(
        mut self,
        n: usize,
        u: &Factor,
        budget: &mut Budget,
    ) -> Result<Built, Refused> {
        let (mut layers, mut stages) = (Vec::new(), Vec::new());
        // What is still to be made from `stage`: these picks, then this function. `whole` is the stage that is
        // just that.
        let mut stage = u.stage;
        let mut picks = copied(&u.picks)?;
        let mut activation = Activation::Identity;
        let mut whole = None;
        loop {
            let (found, width) = core::mem::replace(&mut self.stages[stage], (Stage::Input, 0));
            let plain = activation == Activation::Identity && is_all(&picks, width);
            match found {
                Stage::Input if plain && !layers.is_empty() => break,
                Stage::Linear {
                    parent,
                    weights,
                    bias,
                } => {
                    push(
                        &mut layers,
                        folded(weights, bias, &picks, activation, budget)?,
                    )?;
                    // Without a function of its own the layer is the product as the node gave it.
                    push(&mut stages, if plain { Some(stage) } else { whole })?;
                    (stage, activation, whole) = (parent, Activation::Identity, None);
                    picks = Pick::all(self.width(parent))?;
                }
                Stage::Active {
                    parent,
                    picks: inner,
                    activation: own,
                } if plain => {
                    whole = Some(stage);
                    (stage, picks, activation) = (parent, inner, own);
                }
                other => {
                    // Picking is a layer of its own, with one weight for each output.
                    push(&mut layers, picking(width, &picks, activation, budget)?)?;
                    push(&mut stages, whole)?;
                    self.stages[stage] = (other, width);
                    (picks, activation, whole) = (Pick::all(width)?, Activation::Identity, None);
                }
            }
        }
        layers.reverse();
        stages.reverse();
        let network = Network { n, k: u.k, layers };
        Ok(Built { network, stages })
    }
}

fn is_all(picks: &[Pick], width: usize) -> bool {
    picks.len() == width
        && picks
            .iter()
            .enumerate()
            .all(|(i, &pick)| pick == Pick::plain(i))
}

/// The layer whose outputs are picks from those of a linear one.
fn folded(
    weights: Vec<f32>,
    bias: Vec<f32>,
    picks: &[Pick],
    activation: Activation,
    budget: &mut Budget,
) -> Result<Layer, Refused> {
    let (width, outputs) = (bias.len(), picks.len());
    let inputs = weights.len() / width;
    let in_place = |(i, pick): (usize, &Pick)| pick.index as usize == i && pick.scale == 1.0;
    // Most often only a bias is added.
    let weights = if outputs == width && picks.iter().enumerate().all(in_place) {
        weights
    } else {
        budget.take_weights(inputs, outputs)?;
        let mut all = Vec::new();
        all.try_reserve_exact(inputs * outputs)
            .map_err(Error::from)?;
        for row in weights.chunks_exact(width) {
            let picked = picks
                .iter()
                .map(|pick| row[pick.index as usize] * pick.scale);
            all.extend(picked);
        }
        all
    };
    Ok(Layer {
        inputs,
        outputs,
        weights,
        bias: collected(
            picks
                .iter()
                .map(|pick| bias[pick.index as usize] * pick.scale + pick.offset),
        )?,
        activation,
    })
}

/// The layer that does nothing but pick.
fn picking(
    inputs: usize,
    picks: &[Pick],
    activation: Activation,
    budget: &mut Budget,
) -> Result<Layer, Refused> {
    let outputs = picks.len();
    budget.take_weights(inputs, outputs)?;
    let mut weights = filled(inputs * outputs, 0.0)?;
    for (j, pick) in picks.iter().enumerate() {
        weights[pick.index as usize * outputs + j] = pick.scale;
    }
    Ok(Layer {
        inputs,
        outputs,
        weights,
        bias: collected(picks.iter().map(|pick| pick.offset))?,
        activation,
    })
}
