//! One node: its settings and inputs, and what each operator does.

use super::arithmetic::{Operation, binary, concat, moved, scaled};
use super::arrange::{flatten, gather, gather_nd, reshape, slice, squeeze, transpose, unsqueeze};
use super::budget::Budget;
use super::contract::Contraction;
use super::error::{Refused, shown};
use super::pieces::{greater, joined, masked, not};
use super::proto::{Attribute, Node};
use super::stages::Stages;
use super::tensor::{DOUBLE, Data, FLOAT};
use super::value::{Elements, Pick, Value, axis};
use crate::dense::Activation;
use crate::memory::{all_collected, collected, copied};
use crate::status::text;

/// Where a node works.
pub(super) struct Context<'c> {
    pub(super) n: usize,
    pub(super) opset: i64,
    pub(super) stages: &'c mut Stages,
    pub(super) budget: &'c mut Budget,
}

/// A node that is being carried out.
pub(super) struct Call<'c, 'a> {
    pub(super) node: &'c mut Node<'a>,
    /// `None` where an optional input is left out.
    pub(super) inputs: Vec<Option<&'c Value>>,
}

impl Call<'_, '_> {
    pub(super) fn input(&self, i: usize) -> Result<&Value, Refused> {
        self.optional(i)
            .ok_or_else(|| Refused::damaged("an input is missing"))
    }

    pub(super) fn optional(&self, i: usize) -> Option<&Value> {
        self.inputs.get(i).copied().flatten()
    }

    pub(super) fn at_most(&self, inputs: usize) -> Result<(), Refused> {
        if self.inputs.len() > inputs {
            return Err(Refused::damaged("has too many inputs"));
        }
        Ok(())
    }

    fn take(&mut self, name: &str) -> Option<Attribute<'_>> {
        let i = self
            .node
            .attributes
            .iter()
            .position(|(other, _)| *other == name)?;
        Some(self.node.attributes.swap_remove(i).1)
    }

    pub(super) fn int(&mut self, name: &str, default: i64) -> Result<i64, Refused> {
        match self.take(name) {
            None => Ok(default),
            Some(Attribute::Int(x)) => Ok(x),
            Some(_) => Err(wrong_type(name)),
        }
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<bool, Refused> {
        match self.int(name, 0)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Refused::damaged(text(format_args!(
                "{name} must be 0 or 1"
            )))),
        }
    }

    fn float(&mut self, name: &str, default: f32) -> Result<f32, Refused> {
        match self.take(name) {
            None => Ok(default),
            Some(Attribute::Float(x)) => Ok(x),
            Some(_) => Err(wrong_type(name)),
        }
    }

    fn ints(&mut self, name: &str) -> Result<Option<Vec<i64>>, Refused> {
        match self.take(name) {
            None => Ok(None),
            Some(Attribute::Ints(x)) => Ok(Some(x)),
            Some(_) => Err(wrong_type(name)),
        }
    }

    /// A list that older files have as an attribute and newer ones as input number i.
    pub(super) fn list(
        &mut self,
        name: &str,
        i: usize,
        input_since: i64,
        opset: i64,
    ) -> Result<Option<Vec<i64>>, Refused> {
        if opset < input_since {
            return self.ints(name);
        }
        self.optional(i)
            .map(|value| Ok(copied(value.as_ints()?)?))
            .transpose()
    }

    /// What the node gives.
    pub(super) fn run(mut self, context: &mut Context<'_>) -> Result<Value, Refused> {
        let value = self.value(context)?;
        self.finished().map(|()| value)
    }

    /// Every setting must have been understood.
    pub(super) fn finished(&self) -> Result<(), Refused> {
        match self.node.attributes.first() {
            None => Ok(()),
            Some((name, _)) => {
                let reason = text(format_args!("attribute {} is not supported", shown(name)));
                Err(Refused::unsupported(reason))
            }
        }
    }

    fn value(&mut self, context: &mut Context<'_>) -> Result<Value, Refused> {
        let opset = context.opset;
        if !self.node.domain.is_empty() {
            let reason = text(format_args!(
                "domain {} is not supported",
                shown(self.node.domain)
            ));
            return Err(Refused::unsupported(reason));
        }
        match self.node.op {
            "Add" => self.binary(Operation::Add, context),
            "Sub" => self.binary(Operation::Sub, context),
            "Mul" => self.binary(Operation::Mul, context),
            "Div" => self.binary(Operation::Div, context),
            "MatMul" => {
                self.at_most(2)?;
                let (a, b) = (self.input(0)?, self.input(1)?);
                let product = Contraction::matmul(a, b, context.budget)?;
                product.apply(a, b, context.n, context.stages, context.budget)
            }
            "Gemm" => self.gemm(context),
            "BatchNormalization" => self.batch_normalization(),
            "Relu" => self.activation(Activation::Relu, context),
            "LeakyRelu" => {
                let slope = self.float("alpha", 0.01)?;
                self.activation(Activation::LeakyRelu(slope), context)
            }
            "Elu" => {
                let factor = self.float("alpha", 1.0)?;
                self.activation(Activation::Elu(factor), context)
            }
            "Tanh" => self.activation(Activation::Tanh, context),
            "Sigmoid" => self.activation(Activation::Sigmoid, context),
            "Greater" => {
                self.at_most(2)?;
                greater(self.input(0)?, self.input(1)?)
            }
            "Not" => {
                self.at_most(1)?;
                not(self.input(0)?)
            }
            "Where" => self.choose(context),
            "Clip" => self.clip(context),
            "Max" => self.max(context),
            "Identity" => {
                self.at_most(1)?;
                Ok(self.input(0)?.copy()?)
            }
            "Cast" => self.cast(),
            "Constant" => self.constant(context),
            "Shape" => self.shape(),
            "Reshape" => {
                self.at_most(2)?;
                let zero_is_a_size = self.flag("allowzero")?;
                reshape(self.input(0)?, self.input(1)?.as_ints()?, zero_is_a_size)
            }
            "Flatten" => {
                self.at_most(1)?;
                let at = self.int("axis", 1)?;
                flatten(self.input(0)?, at)
            }
            "Squeeze" => {
                self.at_most(2)?;
                let axes = self.list("axes", 1, 13, opset)?;
                squeeze(self.input(0)?, axes.as_deref())
            }
            "Unsqueeze" => {
                self.at_most(2)?;
                let axes = self.list("axes", 1, 13, opset)?;
                let axes = axes.ok_or_else(|| Refused::damaged("axes are missing"))?;
                unsqueeze(self.input(0)?, &axes)
            }
            "Transpose" => {
                self.at_most(1)?;
                let order = self.ints("perm")?;
                transpose(self.input(0)?, order.as_deref())
            }
            "Gather" => {
                self.at_most(2)?;
                let along = self.int("axis", 0)?;
                gather(self.input(0)?, self.input(1)?, along, context.budget)
            }
            "GatherND" => {
                self.at_most(2)?;
                if self.int("batch_dims", 0)? != 0 {
                    return Err(Refused::unsupported(
                        "batch_dims other than 0 is not supported",
                    ));
                }
                gather_nd(self.input(0)?, self.input(1)?, context.budget)
            }
            "Slice" => {
                self.at_most(5)?;
                let missing = || Refused::damaged("starts or ends are missing");
                let starts = self.list("starts", 1, 10, opset)?.ok_or_else(missing)?;
                let ends = self.list("ends", 2, 10, opset)?.ok_or_else(missing)?;
                let axes = self.list("axes", 3, 10, opset)?;
                let steps = self.list("steps", 4, 10, opset)?;
                slice(
                    self.input(0)?,
                    &starts,
                    &ends,
                    axes.as_deref(),
                    steps.as_deref(),
                )
            }
            "Concat" => {
                let along = self.int("axis", i64::MIN)?;
                let values = all_collected((0..self.inputs.len()).map(|i| self.input(i)))?;
                let along = axis(along, self.input(0)?.shape.len())?;
                concat(&values, along, context.budget)
            }
            _ => Err(Refused::unsupported(
                "not supported; a dense network is made of Gemm or MatMul and Add, with Relu, LeakyRelu, \
                 Elu, Tanh or Sigmoid",
            )),
        }
    }

    fn binary(
        &mut self,
        operation: Operation,
        context: &mut Context<'_>,
    ) -> Result<Value, Refused> {
        self.at_most(2)?;
        let (a, b) = (self.input(0)?, self.input(1)?);
        match (operation, &a.elements, &b.elements) {
            (Operation::Mul, Elements::Mask { .. }, _) => masked(a, b, context.stages),
            (Operation::Mul, _, Elements::Mask { .. }) => masked(b, a, context.stages),
            (Operation::Add, Elements::Piece { .. }, _) => {
                joined(a, b, context.stages, context.budget)
            }
            _ => binary(operation, a, b, context.budget),
        }
    }

    /// One piece where the mask is, the other one elsewhere.
    fn choose(&mut self, context: &mut Context<'_>) -> Result<Value, Refused> {
        self.at_most(3)?;
        let mask = self.input(0)?;
        let here = masked(mask, self.input(1)?, context.stages)?;
        let elsewhere = masked(&not(mask)?, self.input(2)?, context.stages)?;
        joined(&here, &elsewhere, context.stages, context.budget)
    }

    /// alpha·A·B + beta·C.
    fn gemm(&mut self, context: &mut Context<'_>) -> Result<Value, Refused> {
        self.at_most(3)?;
        let (alpha, beta) = (self.float("alpha", 1.0)?, self.float("beta", 1.0)?);
        let transposed = (self.flag("transA")?, self.flag("transB")?);
        let (a, b) = (self.input(0)?, self.input(1)?);
        let product = Contraction::gemm(a, b, transposed, context.budget)?;
        let mut value = product.apply(a, b, context.n, context.stages, context.budget)?;
        match &mut value.elements {
            Elements::Picks { picks, .. } => picks
                .iter_mut()
                .for_each(|pick| *pick = scaled(*pick, alpha)),
            _ if alpha == 1.0 => {}
            _ => {
                return Err(Refused::unsupported(
                    "alpha other than 1 is not supported here",
                ));
            }
        }
        let Some(c) = self.optional(2) else {
            return Ok(value);
        };
        let mut c = c.copy()?;
        match &mut c.elements {
            Elements::Known(Data::Floats(numbers)) => numbers.iter_mut().for_each(|x| *x *= beta),
            _ => return Err(Refused::unsupported("the bias must be constant")),
        }
        let sum = binary(Operation::Add, &value, &c, context.budget)?;
        if sum.shape != value.shape {
            return Err(Refused::damaged("the shape of the bias does not fit"));
        }
        Ok(sum)
    }

    /// (x − mean)/√(variance + epsilon)·scale + bias, by the second axis.
    fn batch_normalization(&mut self) -> Result<Value, Refused> {
        self.at_most(5)?;
        let epsilon = f64::from(self.float("epsilon", 1e-5)?);
        self.float("momentum", 0.9)?;
        if self.flag("training_mode")? {
            return Err(Refused::unsupported(
                "export the model for inference, not for training",
            ));
        }
        let x = self.input(0)?;
        let mut value = x.copy()?;
        let (Elements::Picks { picks, .. }, [_, channels, inner @ ..]) =
            (&mut value.elements, &x.shape[..])
        else {
            return Err(Refused::unsupported("works on the output of a layer only"));
        };
        let mut constants = [&[][..]; 4];
        for (i, constant) in constants.iter_mut().enumerate() {
            *constant = self.input(i + 1)?.as_floats()?;
            if constant.len() != *channels {
                return Err(Refused::damaged("the number of channels does not fit"));
            }
        }
        let [scale, bias, mean, variance] = constants;
        let inner: usize = inner.iter().product();
        for (e, pick) in picks.iter_mut().enumerate() {
            let c = e / inner % channels;
            let factor = f64::from(scale[c]) / (f64::from(variance[c]) + epsilon).sqrt();
            let by = f64::from(bias[c]) - f64::from(mean[c]) * factor;
            *pick = moved(scaled(*pick, factor as f32), by as f32);
        }
        Ok(value)
    }

    fn activation(
        &mut self,
        activation: Activation,
        context: &mut Context<'_>,
    ) -> Result<Value, Refused> {
        self.at_most(1)?;
        active(self.input(0)?, activation, context)
    }

    /// A limit below at zero, and none above, is ReLU.
    fn clip(&mut self, context: &mut Context<'_>) -> Result<Value, Refused> {
        self.at_most(3)?;
        let (least, most) = if context.opset < 11 {
            (
                Some(self.float("min", f32::MIN)?),
                Some(self.float("max", f32::MAX)?),
            )
        } else {
            let limit = |i: usize| self.optional(i).map(Value::as_float).transpose();
            (limit(1)?, limit(2)?)
        };
        if least != Some(0.0) || most.is_some_and(|most| most < f32::MAX) {
            return Err(Refused::unsupported(
                "limits other than 0 and infinity are not supported",
            ));
        }
        active(self.input(0)?, Activation::Relu, context)
    }

    /// The larger of a value and zero is ReLU.
    fn max(&mut self, context: &mut Context<'_>) -> Result<Value, Refused> {
        self.at_most(2)?;
        let (mut a, mut b) = (self.input(0)?, self.input(1)?);
        if matches!(a.elements, Elements::Known(_)) {
            (a, b) = (b, a);
        }
        let zeros = b.as_floats()?.iter().all(|&x| x == 0.0);
        if !zeros || super::arrange::common_shape(&a.shape, &b.shape)? != a.shape {
            return Err(Refused::unsupported(
                "only the larger of a value and zero is supported",
            ));
        }
        active(a, Activation::Relu, context)
    }

    fn cast(&mut self) -> Result<Value, Refused> {
        self.at_most(1)?;
        let to = self.int("to", 0)?;
        // About numbers in eight bits only.
        self.int("saturate", 1)?;
        let x = self.input(0)?;
        let elements = match (&x.elements, to) {
            (Elements::Known(Data::Ints(numbers)), FLOAT | DOUBLE) => {
                Elements::Known(Data::Floats(collected(numbers.iter().map(|&x| x as f32))?))
            }
            // The same kind of number in another width: whole numbers are small, floats are kept in 32 bits.
            (Elements::Known(Data::Ints(_)), 6 | 7) => x.elements.copy()?,
            (Elements::Known(Data::Ints(_)), _) => {
                return Err(Refused::unsupported(text(format_args!(
                    "a cast to type {to} is not supported"
                ))));
            }
            (_, FLOAT | DOUBLE) => x.elements.copy()?,
            _ => {
                return Err(Refused::unsupported(text(format_args!(
                    "a cast to type {to} is not supported"
                ))));
            }
        };
        Ok(Value {
            shape: copied(&x.shape)?,
            elements,
        })
    }

    fn constant(&mut self, context: &Context<'_>) -> Result<Value, Refused> {
        self.at_most(0)?;
        let (shape, data) = match self.node.attributes.pop() {
            Some(("value", Attribute::Tensor(tensor))) => {
                context.budget.count(tensor.shape())?;
                (copied(tensor.shape())?, tensor.data()?)
            }
            Some(("value_float", Attribute::Float(x))) => (vec![], Data::Floats(copied(&[x])?)),
            Some(("value_floats", Attribute::Floats(x))) => (copied(&[x.len()])?, Data::Floats(x)),
            Some(("value_int", Attribute::Int(x))) => (vec![], Data::Ints(copied(&[x])?)),
            Some(("value_ints", Attribute::Ints(x))) => (copied(&[x.len()])?, Data::Ints(x)),
            _ => {
                return Err(Refused::unsupported(
                    "the constant is of a kind that is not supported",
                ));
            }
        };
        context.budget.count(&shape)?;
        Ok(Value {
            shape,
            elements: Elements::Known(data),
        })
    }

    /// The shape of a value as a list of numbers.
    fn shape(&mut self) -> Result<Value, Refused> {
        self.at_most(1)?;
        let (start, end) = (self.int("start", 0)?, self.int("end", i64::MAX)?);
        let shape = &self.input(0)?.shape;
        let sizes = collected(shape.iter().map(|&size| size as i64))?;
        slice(
            &Value::ints(&[sizes.len()], sizes)?,
            &[start],
            &[end],
            None,
            None,
        )
    }
}

/// A layer's output.
fn active(x: &Value, activation: Activation, context: &mut Context<'_>) -> Result<Value, Refused> {
    let Elements::Picks { stage, picks } = &x.elements else {
        return Err(Refused::unsupported("works on the output of a layer only"));
    };
    let stage = context
        .stages
        .active(*stage, copied(picks)?, activation, context.budget)?;
    Ok(Value::picks(&x.shape, stage, Pick::all(picks.len())?)?)
}

fn wrong_type(name: &str) -> Refused {
    Refused::damaged(text(format_args!("attribute {name} has the wrong type")))
}
