//! From a graph to a network.
//!
//! The graph is taken as the file has it, in the operators of the standard, and not as tract has rewritten it:
//! their meaning is specified and stays, a node keeps the name that its owner knows, and nothing reaches tract
//! that has not been understood, and measured, here. What tract makes of the same file is compared afterwards.

use super::arithmetic::in_triangle;
use super::budget::Budget;
use super::error::{Refused, shown};
use super::operator::{Call, Context};
use super::outputs::{Output, outputs};
use super::proto::{self, Graph, Port};
use super::stages::{INPUT, Stages};
use super::tensor::{FLOAT, Stored};
use super::value::{Elements, Pick, Value};
use crate::dense::Network;
use crate::memory::{Map, all_collected, collected, copied, counted, insert, owned, push};
use crate::size::MAX_N;
use crate::status::{Error, Status, text};

/// More fields than any honest file has, and few enough that decoding them costs little: an empty message
/// takes two bytes of a file and hundreds in tract's memory.
const MAX_FIELDS: usize = 20_000;

/// What a graph turned out to be.
pub(super) struct Lowered {
    pub(super) network: Network,
    pub(super) outputs: Vec<Output>,
    /// For each layer the node that gives its output, and the output's name, if there is one.
    pub(super) layers: Vec<Option<(String, String)>>,
    pub(super) input: Input,
}

/// What goes into the graph.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) n: usize,
    /// For one matrix.
    pub(super) shape: Vec<usize>,
    /// For each element its place in the lower triangle.
    pub(super) places: Vec<usize>,
}

/// Finds the network in a file.
pub(super) fn lower(bytes: &[u8]) -> Result<Lowered, Refused> {
    let graph = proto::model(bytes, MAX_FIELDS)?;
    let candidates = Input::candidates(input(&graph)?, bytes.len())?;
    drop(graph);
    let mut found = None;
    let mut refused = None;
    for candidate in candidates {
        match lower_as(bytes, candidate) {
            Ok(_) if found.is_some() => {
                return Err(Refused::unsupported(
                    "the input can be an n x n matrix or a triangle of a larger one, and the outputs fit both; \
                     export the model with an input of shape [1, n, n]",
                ));
            }
            Ok(lowered) => found = Some(lowered),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match (found, refused) {
        (Some(lowered), _) => Ok(lowered),
        (None, Some(error)) => Err(error),
        (None, None) => Err(Refused::unsupported("the file has no input")),
    }
}

/// The one input that is not a constant.
fn input<'g, 'a>(graph: &'g Graph<'a>) -> Result<&'g Port<'a>, Refused> {
    let constant = |port: &&Port<'_>| {
        graph
            .initializers
            .iter()
            .any(|(name, _)| *name == port.name)
    };
    let mut open = graph.inputs.iter().filter(|port| !constant(port));
    match (open.next(), open.next()) {
        (Some(port), None) => Ok(port),
        _ => Err(Refused::unsupported(
            "the model must have one input, which is M or its lower triangle",
        )),
    }
}

impl Input {
    /// What goes in for M.
    pub(super) fn of(&self, m: &[f32]) -> Result<Vec<f32>, Error> {
        let n = self.n;
        let triangle = (0..n).flat_map(|i| &m[i * n..i * n + i + 1]);
        let triangle = collected(triangle.copied())?;
        collected(self.places.iter().map(|&place| triangle[place]))
    }

    pub(super) fn copy(&self) -> Result<Input, Error> {
        Ok(Input {
            n: self.n,
            shape: copied(&self.shape)?,
            places: copied(&self.places)?,
        })
    }

    /// What the input can be, by its shape.
    fn candidates(port: &Port<'_>, file: usize) -> Result<Vec<Input>, Refused> {
        let name = shown(port.name);
        if port.kind != FLOAT {
            let reason = text(format_args!(
                "input \"{name}\" must have 32-bit floats; export the model with them"
            ));
            return Err(Refused::unsupported(reason));
        }
        let mut shape = Vec::new();
        for (axis, size) in port.shape.iter().enumerate() {
            let size = match size {
                Some(size) => *size,
                // An open first axis counts matrices.
                None if axis == 0 => 1,
                None => {
                    return Err(Refused::unsupported(text(format_args!(
                        "input \"{name}\" has an axis of open size beside the first; export the model for one n"
                    ))));
                }
            };
            push(&mut shape, size)?;
        }
        let sizes = collected(shape.iter().copied().filter(|&size| size != 1))?;
        let (matrix, triangle) = match sizes[..] {
            [n, columns] if n == columns => (Some(n), None),
            [len] => (
                (1..=MAX_N).find(|n| n * n == len),
                (1..=MAX_N).find(|n| n * (n + 1) / 2 == len),
            ),
            _ => (None, None),
        };
        // Each of these has at least two bytes of weights.
        let fits = |n: &usize| *n <= MAX_N && n * (n + 1) <= file;
        let mut candidates = Vec::new();
        if let Some(n) = matrix.filter(fits) {
            let places = collected((0..n * n).map(|e| in_triangle(e / n, e % n)))?;
            let shape = copied(&shape)?;
            push(&mut candidates, Input { n, shape, places })?;
        }
        if let Some(n) = triangle.filter(fits) {
            let places = collected(0..n * (n + 1) / 2)?;
            let shape = copied(&shape)?;
            push(&mut candidates, Input { n, shape, places })?;
        }
        if candidates.is_empty() {
            return Err(Refused::unsupported(text(format_args!(
                "input \"{name}\" of shape {shape:?} is neither an n x n matrix nor its lower triangle of n(n+1)/2 \
                 values, with n up to {MAX_N}, for one matrix at a time"
            ))));
        }
        Ok(candidates)
    }
}

/// Finds the network if the input is this.
fn lower_as(bytes: &[u8], input: Input) -> Result<Lowered, Refused> {
    let graph = proto::model(bytes, MAX_FIELDS)?;
    if !graph.functions.is_empty() {
        return Err(Refused::unsupported(
            "the file has functions of its own; export it with standard operators only",
        ));
    }
    let mut budget = Budget::new(bytes.len());
    let mut stages = Stages::new(input.n)?;
    let mut values = Values::new(&graph)?;
    let places = collected(input.places.iter().map(|&place| Pick::plain(place)))?;
    let name = self::input(&graph)?.name;
    let m = Value::picks(&input.shape, INPUT, places)?;
    values.define(name, m, &mut budget)?;
    for mut node in graph.nodes {
        let label = node.label();
        let known = stages.makers.len();
        let value = values
            .inputs(&node.inputs, &mut budget)
            .and_then(|inputs| {
                let mut context = Context {
                    n: input.n,
                    opset: graph.opset,
                    stages: &mut stages,
                    budget: &mut budget,
                };
                let call = Call {
                    node: &mut node,
                    inputs,
                };
                call.run(&mut context)
            })
            .map_err(|refused| refused.at(label))?;
        let [output] = node.outputs[..] else {
            return Err(Refused::unsupported("one output is supported").at(label));
        };
        for maker in &mut stages.makers[known..] {
            *maker = (text(format_args!("{label}")).into_owned(), owned(output)?);
        }
        values
            .define(output, value, &mut budget)
            .map_err(|refused| refused.at(label))?;
        values.drop_unused(&node.inputs, &mut budget);
    }
    let (outputs, u) = outputs(&graph.outputs, input.n, |name| values.made.get(name))?;
    drop(values);
    let mut makers = core::mem::take(&mut stages.makers);
    let built = stages.build(input.n, &u, &mut budget)?;
    built.network.check().map_err(|error| match error.status {
        Status::Argument => Refused::unsupported(error.message),
        Status::Shape => Refused::damaged(error.message),
        _ => error.into(),
    })?;
    let layers = built
        .stages
        .into_iter()
        .map(|stage| stage.map(|stage| core::mem::take(&mut makers[stage])));
    Ok(Lowered {
        network: built.network,
        outputs,
        layers: collected(layers)?,
        input,
    })
}

/// The values of a graph by name.
struct Values<'a> {
    stored: Map<&'a str, Stored<'a>>,
    made: Map<&'a str, Value>,
    /// How often each is still to be read.
    uses: Map<&'a str, usize>,
}

impl<'a> Values<'a> {
    fn new(graph: &Graph<'a>) -> Result<Values<'a>, Refused> {
        let outputs = graph.outputs.iter().map(|port| port.name);
        let inputs = graph.nodes.iter().flat_map(|node| &node.inputs).copied();
        let uses = counted(inputs.chain(outputs))?;
        let mut stored = Map::default();
        for (name, tensor) in &graph.initializers {
            if name.is_empty() || insert(&mut stored, *name, tensor.copy()?)?.is_some() {
                return Err(Refused::damaged(text(format_args!(
                    "constant \"{}\" appears twice, or has no name",
                    shown(name)
                ))));
            }
        }
        Ok(Values {
            stored,
            made: Map::default(),
            uses,
        })
    }

    /// A value that a node has given. Every name is given once, so no value can depend on itself.
    fn define(&mut self, name: &'a str, value: Value, budget: &mut Budget) -> Result<(), Refused> {
        if name.is_empty() || self.stored.contains_key(name) || self.made.contains_key(name) {
            return Err(Refused::damaged(text(format_args!(
                "value \"{}\" is given twice, or has no name",
                shown(name)
            ))));
        }
        budget.take(&value)?;
        insert(&mut self.made, name, value)?;
        Ok(())
    }

    /// What a node reads. Constants are taken out of the file when the first node needs them.
    fn inputs(
        &mut self,
        names: &[&'a str],
        budget: &mut Budget,
    ) -> Result<Vec<Option<&Value>>, Refused> {
        for &name in names {
            if let Some(stored) = self.stored.get(name)
                && !self.made.contains_key(name)
            {
                budget.count(stored.shape())?;
                let value = Value {
                    shape: copied(stored.shape())?,
                    elements: Elements::Known(stored.data()?),
                };
                budget.take(&value)?;
                insert(&mut self.made, name, value)?;
            }
        }
        all_collected(names.iter().map(|&name| match (name, self.made.get(name)) {
            ("", _) => Ok(None),
            (_, Some(value)) => Ok(Some(value)),
            (_, None) => Err(Refused::damaged(text(format_args!(
                "reads \"{}\", which nothing before it gives",
                shown(name)
            )))),
        }))
    }

    /// Frees what has been read for the last time.
    fn drop_unused(&mut self, names: &[&'a str], budget: &mut Budget) {
        for name in names {
            if let Some(uses) = self.uses.get_mut(name) {
                *uses -= 1;
                if *uses == 0
                    && let Some(value) = self.made.remove(name)
                {
                    budget.give(&value);
                }
            }
        }
    }
}
