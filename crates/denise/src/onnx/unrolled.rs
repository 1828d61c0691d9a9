//! Whether the graph of an unrolled network does what its metadata says.
//!
//! The library takes an unrolled network from the metadata of its file; every other runtime takes it from the
//! graph, whose nodes are functions that the file spells out. tract does not know such functions, and takes half
//! a second to prepare the 1,800 nodes that they come to, so the graph is carried out here, on numbers.

use super::budget::Budget;
use super::error::{Refused, shown};
use super::numbers;
use super::operator::{Call, Context};
use super::proto::{self, Attribute, Function, Node};
use super::samples;
use super::stages::Stages;
use super::value::Value;
use crate::memory::{Map, all_collected, collected, copied, counted, insert, push};
use crate::size::check_size;
use crate::status::{Error, Status, text};

/// Enough for 64 layers of rank 32.
const MAX_FIELDS: usize = 100_000;
/// Functions may call functions, so deep.
const MAX_DEPTH: usize = 8;
/// Elements and products that are computed before the graph is found too large: about a second's worth.
const MAX_WORK: usize = 1_000_000_000;
/// The largest difference of L allowed, in units of the mean of M's diagonal. Both sides add in 32 bits, in another
/// order, which makes about 1e-6 with the shipped weights; other weights make much more.
const TOLERANCE: f32 = 1e-4;

/// Compares output L of the graph with `l_of`, which takes a matrix (n×n) and gives L (n×n).
///
/// `false` if the graph is too large for that to take a second. [`Status::Format`] if both
/// disagree, or if the file makes no sense; [`Status::Unsupported`] with the name of the operator if the graph is not
/// one that the program denise writes.
pub fn check_unrolled(
    bytes: &[u8],
    n: usize,
    k: usize,
    mut l_of: impl FnMut(&[f32]) -> Vec<f32>,
) -> Result<bool, Error> {
    check_size(n, k)?;
    let mut work = MAX_WORK;
    for m in samples::hard(n, k)? {
        let Some(found) = low(bytes, n, k, &m, &mut work)? else {
            return Ok(false);
        };
        let scale = (0..n).map(|i| m[i * n + i]).sum::<f32>() / n as f32;
        let expected = l_of(&m);
        let close = |(x, y): (&f32, &f32)| (x - y).abs() <= TOLERANCE * scale;
        if found.len() != expected.len() || !found.iter().zip(&expected).all(close) {
            return Err(Error::new(
                Status::Format,
                "the file's metadata and its graph are two different networks; get or write it again",
            ));
        }
    }
    Ok(true)
}

/// Output L of the graph for M; `None` if it takes too much work.
fn low(
    bytes: &[u8],
    n: usize,
    k: usize,
    m: &[f32],
    work: &mut usize,
) -> Result<Option<Vec<f32>>, Refused> {
    let graph = proto::model(bytes, MAX_FIELDS)?;
    let [input] = &graph.inputs[..] else {
        return Err(Refused::unsupported("the graph must have one input"));
    };
    if !graph.initializers.is_empty() {
        return Err(Refused::unsupported("the graph has initializers"));
    }
    // A layer holds a few values of n×n, n×k² and smaller at once.
    let values = n * n + n * k * k;
    let mut run = Run {
        opset: graph.opset,
        functions: &graph.functions,
        budget: Budget::for_numbers(values * 128 + (1 << 20), 2 * n * n * k * k),
        stages: Stages::new(n)?,
        work,
    };
    // As in the library, only the lower triangle is read.
    let lower = |e: usize| if e % n <= e / n { m[e] } else { 0.0 };
    let m = Value::floats(&[1, n, n], collected((0..n * n).map(lower))?)?;
    run.budget.take(&m)?;
    let mut scope = Map::default();
    insert(&mut scope, input.name, m)?;
    let mut values = match run.body(&graph.nodes, scope, &["L"], &[], 0) {
        Ok(values) => values,
        Err(_) if *run.work == 0 => return Ok(None),
        Err(refused) => return Err(refused),
    };
    match values.pop() {
        Some(l) => Ok(Some(copied(l.as_floats()?)?)),
        None => Err(Refused::damaged("the graph has no output L")),
    }
}

/// A graph that is being carried out.
struct Run<'r, 'a> {
    opset: i64,
    functions: &'r [Function<'a>],
    budget: Budget,
    stages: Stages,
    work: &'r mut usize,
}

impl<'a> Run<'_, 'a> {
    /// The outputs of a list of nodes.
    fn body(
        &mut self,
        nodes: &[Node<'a>],
        mut scope: Map<&'a str, Value>,
        outputs: &[&str],
        settings: &[(&'a str, Attribute<'a>)],
        depth: usize,
    ) -> Result<Vec<Value>, Refused> {
        let inputs = nodes.iter().flat_map(|node| &node.inputs);
        let mut uses = counted(inputs.chain(outputs).copied())?;
        for node in nodes {
            let values = self
                .node(node, &scope, settings, depth)
                .map_err(|refused| refused.at(node.label()))?;
            if values.len() != node.outputs.len() {
                return Err(Refused::damaged("has another number of outputs").at(node.label()));
            }
            for (&name, value) in node.outputs.iter().zip(values) {
                self.budget.take(&value)?;
                if name.is_empty() || insert(&mut scope, name, value)?.is_some() {
                    return Err(Refused::damaged("gives a value twice").at(node.label()));
                }
            }
            for name in &node.inputs {
                if let Some(left) = uses.get_mut(name) {
                    *left -= 1;
                    if *left == 0
                        && let Some(value) = scope.remove(name)
                    {
                        self.budget.give(&value);
                    }
                }
            }
        }
        let output = |name: &&str| {
            let missing =
                || Refused::damaged(text(format_args!("nothing gives \"{}\"", shown(name))));
            Ok(scope.get(*name).ok_or_else(missing)?.copy()?)
        };
        let values = all_collected(outputs.iter().map(output));
        scope.values().for_each(|value| self.budget.give(value));
        values
    }

    /// The outputs of one node.
    fn node(
        &mut self,
        node: &Node<'a>,
        scope: &Map<&'a str, Value>,
        settings: &[(&'a str, Attribute<'a>)],
        depth: usize,
    ) -> Result<Vec<Value>, Refused> {
        let mut node = node.copy()?;
        for (name, value) in &mut node.attributes {
            if let Attribute::Reference(of) = value {
                let given = settings.iter().find(|(other, _)| other == of);
                let missing = || {
                    Refused::damaged(text(format_args!("attribute {} is not given", shown(name))))
                };
                *value = given.ok_or_else(missing)?.1.copy()?;
            }
        }
        let mut inputs = Vec::new();
        for name in &node.inputs {
            let input = match (*name, scope.get(name)) {
                ("", _) => None,
                (_, Some(value)) => Some(value),
                (_, None) => {
                    let reason = text(format_args!(
                        "reads \"{}\", which nothing before it gives",
                        shown(name)
                    ));
                    return Err(Refused::damaged(reason));
                }
            };
            push(&mut inputs, input)?;
        }
        if !node.domain.is_empty() {
            return self.function(&node, &inputs, depth);
        }
        let terms = match (node.op, inputs.first()) {
            ("MatMul", Some(Some(a))) => a.shape.last().copied().unwrap_or(1),
            _ => 1,
        };
        let mut call = Call {
            node: &mut node,
            inputs,
        };
        let values = match numbers::run(&mut call, self.opset, &self.budget)? {
            Some(values) => call.finished().map(|()| values)?,
            None => {
                let mut context = Context {
                    n: 0,
                    opset: self.opset,
                    stages: &mut self.stages,
                    budget: &mut self.budget,
                };
                collected([call.run(&mut context)?])?
            }
        };
        let elements: usize = values.iter().map(Value::count).sum();
        self.spend(elements.saturating_mul(terms))?;
        Ok(values)
    }

    /// The outputs of a function.
    fn function(
        &mut self,
        node: &Node<'a>,
        inputs: &[Option<&Value>],
        depth: usize,
    ) -> Result<Vec<Value>, Refused> {
        let functions = self.functions;
        let function = functions
            .iter()
            .find(|function| function.domain == node.domain && function.name == node.op)
            .filter(|_| depth < MAX_DEPTH)
            .ok_or_else(|| Refused::unsupported("there is no such function"))?;
        if function.inputs.len() != inputs.len() {
            return Err(Refused::damaged(
                "has another number of inputs than its function",
            ));
        }
        let mut scope = Map::default();
        for (&name, value) in function.inputs.iter().zip(inputs) {
            let value = value
                .ok_or_else(|| Refused::damaged("an input is missing"))?
                .copy()?;
            self.budget.take(&value)?;
            insert(&mut scope, name, value)?;
        }
        self.body(
            &function.nodes,
            scope,
            &function.outputs,
            &node.attributes,
            depth + 1,
        )
    }

    fn spend(&mut self, work: usize) -> Result<(), Refused> {
        match self.work.checked_sub(work.max(1)) {
            Some(left) if left > 0 => *self.work = left,
            _ => {
                *self.work = 0;
                return Err(Refused::unsupported("the graph is too large"));
            }
        }
        Ok(())
    }
}
