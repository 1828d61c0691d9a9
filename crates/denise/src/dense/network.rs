//! What a stack of dense layers is, whatever file it came from and whatever runs it.

use crate::size::check_size;
use crate::status::{Error, Status};
use core::fmt;

/// More than any network needs.
const MAX_LAYERS: usize = 64;

/// h(M) → layers → U. The lower triangle of M goes in, row by row; the n×k entries of U come out, row
/// by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Size of the matrices.
    pub n: usize,
    /// Columns of U.
    pub k: usize,
    /// From the first, which takes n(n+1)/2 values, to the last, which gives n·k.
    pub layers: Vec<Layer>,
}

/// y = activation(x W + b).
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Length of x.
    pub inputs: usize,
    /// Length of y.
    pub outputs: usize,
    /// W, `inputs` rows of `outputs` values.
    pub weights: Vec<f32>,
    /// b.
    pub bias: Vec<f32>,
    /// Applied to each value.
    pub activation: Activation,
}

/// A function of one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// x.
    Identity,
    /// max(x, 0).
    Relu,
    /// x where positive, else the slope times x.
    LeakyRelu(f32),
    /// x where positive, else the factor times eˣ − 1.
    Elu(f32),
    /// tanh x.
    Tanh,
    /// 1/(1 + e⁻ˣ).
    Sigmoid,
}

impl Network {
    /// Whether sizes fit each other and every number is finite.
    pub fn check(&self) -> Result<(), Error> {
        check_size(self.n, self.k)?;
        let layers = self.layers.len();
        if !(1..=MAX_LAYERS).contains(&layers) {
            let message = format_args!("{layers} dense layers: 1 to {MAX_LAYERS} are supported");
            return Err(Error::format(Status::Unsupported, message));
        }
        let mut width = self.n * (self.n + 1) / 2;
        for (t, layer) in self.layers.iter().enumerate() {
            let wrong = |what: fmt::Arguments<'_>| {
                Err(Error::format(
                    Status::Shape,
                    format_args!("layer {t}: {what}"),
                ))
            };
            if layer.inputs != width {
                return wrong(format_args!("takes {} values, gets {width}", layer.inputs));
            }
            if Some(layer.weights.len()) != layer.inputs.checked_mul(layer.outputs)
                || layer.bias.len() != layer.outputs
            {
                return wrong(format_args!("weights or bias have the wrong length"));
            }
            let parameter = match layer.activation {
                Activation::LeakyRelu(x) | Activation::Elu(x) => x,
                _ => 0.0,
            };
            let mut numbers = layer.weights.iter().chain(&layer.bias).chain([&parameter]);
            if !numbers.all(|x| x.is_finite()) {
                return wrong(format_args!("a weight is not finite"));
            }
            width = layer.outputs;
        }
        if width != self.n * self.k {
            let message = format_args!(
                "the last layer gives {width} values, U has {}",
                self.n * self.k
            );
            return Err(Error::format(Status::Shape, message));
        }
        Ok(())
    }
}
