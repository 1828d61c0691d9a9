//! The parts of an ONNX file, as far as a dense network has them. Nothing is copied but lists of names.
//!
//! Everything that this version does not understand is refused here, so that what reaches tract afterwards
//! has no subgraphs and no data in other files. A field that may appear once is
//! refused when it appears twice: readers disagree about what that means.

use super::error::{Refused, cut_off, shown};
use super::tensor::{MAX_RANK, Stored, too_many_axes};
use crate::memory::{copied, push};
use crate::status::{Error, text};
use crate::wire::{Field, Message};
use core::fmt;
use std::cell::Cell;

/// Versions of the standard operators whose meaning is known here.
const OPSETS: core::ops::RangeInclusive<i64> = 9..=24;
const MAX_NODES: usize = 1024;

/// A graph of standard operators.
pub(super) struct Graph<'a> {
    /// Version of the operators.
    pub(super) opset: i64,
    pub(super) nodes: Vec<Node<'a>>,
    /// Named constants.
    pub(super) initializers: Vec<(&'a str, Stored<'a>)>,
    /// What goes in and is not a constant.
    pub(super) inputs: Vec<Port<'a>>,
    pub(super) outputs: Vec<Port<'a>>,
    /// What operators of other domains mean.
    pub(super) functions: Vec<Function<'a>>,
}

/// An operator of the file's own, spelt in others.
pub(super) struct Function<'a> {
    pub(super) domain: &'a str,
    pub(super) name: &'a str,
    pub(super) inputs: Vec<&'a str>,
    pub(super) outputs: Vec<&'a str>,
    pub(super) nodes: Vec<Node<'a>>,
}

/// One operation.
pub(super) struct Node<'a> {
    /// Empty for standard operators.
    pub(super) domain: &'a str,
    pub(super) op: &'a str,
    pub(super) name: &'a str,
    /// Empty where an optional input is left out.
    pub(super) inputs: Vec<&'a str>,
    pub(super) outputs: Vec<&'a str>,
    pub(super) attributes: Vec<(&'a str, Attribute<'a>)>,
}

/// A setting of an operation.
pub(super) enum Attribute<'a> {
    /// The setting of this name of the node that calls the function.
    Reference(&'a str),
    Float(f32),
    Int(i64),
    Tensor(Stored<'a>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
}

/// An input or output of the graph.
pub(super) struct Port<'a> {
    pub(super) name: &'a str,
    /// The code of its element type.
    pub(super) kind: i64,
    /// `None` where the size is open.
    pub(super) shape: Vec<Option<usize>>,
}

impl<'a> Node<'a> {
    /// For messages.
    pub(super) fn label(&self) -> Label<'a> {
        let name = match (self.name, self.outputs.first()) {
            ("", Some(output)) => output,
            _ => self.name,
        };
        Label { op: self.op, name }
    }

    pub(super) fn copy(&self) -> Result<Node<'a>, Error> {
        let mut attributes = Vec::new();
        for (name, value) in &self.attributes {
            push(&mut attributes, (*name, value.copy()?))?;
        }
        Ok(Node {
            inputs: copied(&self.inputs)?,
            outputs: copied(&self.outputs)?,
            attributes,
            ..*self
        })
    }
}

impl<'a> Attribute<'a> {
    pub(super) fn copy(&self) -> Result<Attribute<'a>, Error> {
        Ok(match self {
            Attribute::Reference(name) => Attribute::Reference(name),
            Attribute::Float(x) => Attribute::Float(*x),
            Attribute::Int(x) => Attribute::Int(*x),
            Attribute::Tensor(tensor) => Attribute::Tensor(tensor.copy()?),
            Attribute::Floats(x) => Attribute::Floats(copied(x)?),
            Attribute::Ints(x) => Attribute::Ints(copied(x)?),
        })
    }
}

/// How messages call a node.
#[derive(Clone, Copy)]
pub(super) struct Label<'a> {
    op: &'a str,
    name: &'a str,
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (op, name) = (shown(self.op), shown(self.name));
        write!(f, "operator {op} of node \"{name}\"")
    }
}

/// Sets what may be set once.
fn once<T>(place: &mut Option<T>, value: T) -> Result<(), Refused> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Refused::damaged(
            "a field that may appear once appears twice",
        )),
    }
}

/// Reads a `ModelProto`.
pub(super) fn model(bytes: &[u8], most_fields: usize) -> Result<Graph<'_>, Refused> {
    let left = Cell::new(most_fields);
    let mut message = Message::new(bytes, &left);
    let (mut version, mut opset, mut body) = (None, None, None);
    let mut functions = Vec::new();
    while let Some((number, field)) = message.next()? {
        match number {
            1 => once(&mut version, field.int()?)?,
            // Who made it, and comments.
            2..=4 | 6 | 14 => drop(field.bytes()?),
            5 => drop(field.int()?),
            7 => once(&mut body, field.bytes()?)?,
            8 => {
                let (domain, version) = operator_set(message.inner(field.bytes()?))?;
                // Others may be listed as long as no node uses them.
                if matches!(domain, "" | "ai.onnx") {
                    once(&mut opset, version)?;
                }
            }
            25 => push(&mut functions, field.bytes()?)?,
            _ => return Err(unknown("model", number)),
        }
    }
    let (Some(_), Some(body)) = (version, body) else {
        return Err(cut_off());
    };
    let opset =
        opset.ok_or_else(|| Refused::damaged("the file names no version of the operators"))?;
    if !OPSETS.contains(&opset) {
        return Err(Refused::unsupported(text(format_args!(
            "the file uses opset {opset}; export it with opset 17"
        ))));
    }
    let mut graph = graph(message.inner(body), opset)?;
    for bytes in functions {
        push(&mut graph.functions, function(message.inner(bytes), opset)?)?;
    }
    Ok(graph)
}

fn unknown(what: &str, number: u64) -> Refused {
    let reason = text(format_args!(
        "the {what} has field {number}, which this version does not know"
    ));
    Refused::unsupported(reason)
}

/// Reads an `OperatorSetIdProto`.
fn operator_set<'a>(mut message: Message<'a, '_>) -> Result<(&'a str, i64), Refused> {
    let (mut domain, mut version) = (None, None);
    while let Some((number, field)) = message.next()? {
        match number {
            1 => once(&mut domain, field.text()?)?,
            2 => once(&mut version, field.int()?)?,
            _ => return Err(unknown("list of operators", number)),
        }
    }
    Ok((domain.unwrap_or(""), version.unwrap_or(0)))
}

/// Reads a `GraphProto`.
fn graph<'a>(mut message: Message<'a, '_>, opset: i64) -> Result<Graph<'a>, Refused> {
    let mut graph = Graph {
        opset,
        nodes: Vec::new(),
        initializers: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        functions: Vec::new(),
    };
    while let Some((number, field)) = message.next()? {
        let bytes = field.bytes()?;
        let inner = message.inner(bytes);
        match number {
            1 => push(&mut graph.nodes, node(inner)?)?,
            // Its name, comments, notes.
            2 | 10 | 16 => {}
            5 => push(&mut graph.initializers, Stored::read(inner)?)?,
            11 => push(&mut graph.inputs, port(inner)?)?,
            12 => push(&mut graph.outputs, port(inner)?)?,
            // Shapes of values inside; they follow from the others.
            13 => drop(port(inner)?),
            14 => return Err(Refused::unsupported("the file has quantised values")),
            15 => return Err(Refused::unsupported("the file has sparse constants")),
            _ => return Err(unknown("graph", number)),
        }
        if graph.nodes.len() > MAX_NODES {
            let reason = text(format_args!("the graph has more than {MAX_NODES} nodes"));
            return Err(Refused::unsupported(reason));
        }
    }
    Ok(graph)
}

/// Reads a `FunctionProto`.
fn function<'a>(mut message: Message<'a, '_>, opset: i64) -> Result<Function<'a>, Refused> {
    let (mut domain, mut name) = (None, None);
    let (mut inputs, mut outputs, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((number, field)) = message.next()? {
        match number {
            1 => once(&mut name, field.text()?)?,
            4 => push(&mut inputs, field.text()?)?,
            5 => push(&mut outputs, field.text()?)?,
            // Names of attributes; comments.
            6 | 8 | 14 => drop(field.bytes()?),
            7 => push(&mut nodes, node(message.inner(field.bytes()?))?)?,
            9 => {
                let (domain, version) = operator_set(message.inner(field.bytes()?))?;
                if matches!(domain, "" | "ai.onnx") && version != opset {
                    let reason = "a function uses another opset than the graph";
                    return Err(Refused::unsupported(reason));
                }
            }
            10 => once(&mut domain, field.text()?)?,
            _ => return Err(unknown("function", number)),
        }
    }
    Ok(Function {
        domain: domain.unwrap_or(""),
        name: name.unwrap_or(""),
        inputs,
        outputs,
        nodes,
    })
}

/// Reads a `NodeProto`.
fn node<'a>(mut message: Message<'a, '_>) -> Result<Node<'a>, Refused> {
    let (mut name, mut op, mut domain) = (None, None, None);
    let (mut inputs, mut outputs, mut attributes) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((number, field)) = message.next()? {
        match number {
            1 => push(&mut inputs, field.text()?)?,
            2 => push(&mut outputs, field.text()?)?,
            3 => once(&mut name, field.text()?)?,
            4 => once(&mut op, field.text()?)?,
            5 => push(&mut attributes, field.bytes()?)?,
            6 | 9 => drop(field.bytes()?),
            7 => once(&mut domain, field.text()?)?,
            _ => return Err(unknown("node", number)),
        }
    }
    let mut node = Node {
        domain: domain.filter(|&domain| domain != "ai.onnx").unwrap_or(""),
        op: op.unwrap_or(""),
        name: name.unwrap_or(""),
        inputs,
        outputs,
        attributes: Vec::new(),
    };
    for bytes in attributes {
        let (name, value) = attribute(message.inner(bytes)).map_err(|e| e.at(node.label()))?;
        if node.attributes.iter().any(|(other, _)| *other == name) {
            return Err(Refused::damaged("an attribute appears twice").at(node.label()));
        }
        push(&mut node.attributes, (name, value))?;
    }
    Ok(node)
}

/// Reads an `AttributeProto`.
fn attribute<'a>(mut message: Message<'a, '_>) -> Result<(&'a str, Attribute<'a>), Refused> {
    let (mut name, mut kind, mut reference) = (None, None, None);
    let (mut float, mut int, mut tensor) = (None, None, None);
    let (mut floats, mut ints) = (Vec::new(), Vec::new());
    while let Some((number, field)) = message.next()? {
        match number {
            1 => once(&mut name, field.text()?)?,
            2 => once(&mut float, field.float()?)?,
            3 => once(&mut int, field.int()?)?,
            5 => once(&mut tensor, Stored::read(message.inner(field.bytes()?))?.1)?,
            6 | 11 => {
                return Err(Refused::unsupported(
                    "a graph inside of a node is not supported",
                ));
            }
            7 => match field {
                Field::Bytes(bytes) => {
                    let (each, rest) = bytes.as_chunks();
                    if !rest.is_empty() {
                        return Err(cut_off());
                    }
                    floats.try_reserve(each.len()).map_err(Error::from)?;
                    floats.extend(each.iter().map(|&x| f32::from_le_bytes(x)));
                }
                field => push(&mut floats, field.float()?)?,
            },
            8 => match field {
                Field::Bytes(bytes) => {
                    let mut list = message.inner(bytes);
                    while let Some(x) = list.packed()? {
                        push(&mut ints, x.cast_signed())?;
                    }
                }
                field => push(&mut ints, field.int()?)?,
            },
            13 => drop(field.bytes()?),
            20 => once(&mut kind, field.int()?)?,
            21 => once(&mut reference, field.text()?)?,
            _ => return Err(unknown("attribute", number)),
        }
    }
    let given = [
        float.is_some(),
        int.is_some(),
        tensor.is_some(),
        !floats.is_empty(),
        !ints.is_empty(),
    ];
    let name = name.unwrap_or("");
    if let Some(reference) = reference.filter(|name| !name.is_empty()) {
        return match given.contains(&true) {
            true => Err(Refused::damaged(
                "an attribute has a value and refers to another",
            )),
            false => Ok((name, Attribute::Reference(reference))),
        };
    }
    // A value that is left out is zero or empty.
    let (place, value) = match kind {
        Some(1) => (0, Attribute::Float(float.unwrap_or(0.0))),
        Some(2) => (1, Attribute::Int(int.unwrap_or(0))),
        Some(4) => (2, Attribute::Tensor(tensor.ok_or_else(cut_off)?)),
        Some(6) => (3, Attribute::Floats(floats)),
        Some(7) => (4, Attribute::Ints(ints)),
        _ => {
            let reason = text(format_args!(
                "the type of attribute {} is not supported",
                shown(name)
            ));
            return Err(Refused::unsupported(reason));
        }
    };
    if given
        .iter()
        .enumerate()
        .any(|(i, &given)| given && i != place)
    {
        return Err(Refused::damaged(text(format_args!(
            "attribute {} has a value of another type than it says",
            shown(name)
        ))));
    }
    Ok((name, value))
}

/// Reads a `ValueInfoProto`.
fn port<'a>(mut message: Message<'a, '_>) -> Result<Port<'a>, Refused> {
    let (mut name, mut kind, mut shape) = (None, None, None);
    while let Some((number, field)) = message.next()? {
        match number {
            1 => once(&mut name, field.text()?)?,
            2 => {
                let mut inner = message.inner(field.bytes()?);
                while let Some((number, field)) = inner.next()? {
                    match number {
                        1 => once(
                            &mut kind,
                            tensor_type(inner.inner(field.bytes()?), &mut shape)?,
                        )?,
                        6 => drop(field.bytes()?),
                        _ => {
                            let reason = "an input, output or value is not a plain tensor";
                            return Err(Refused::unsupported(reason));
                        }
                    }
                }
            }
            3 | 4 => drop(field.bytes()?),
            _ => return Err(unknown("input or output", number)),
        }
    }
    Ok(Port {
        name: name.unwrap_or(""),
        kind: kind.unwrap_or(0),
        shape: shape.unwrap_or_default(),
    })
}

/// Reads a `TypeProto.Tensor`.
fn tensor_type(
    mut message: Message<'_, '_>,
    shape: &mut Option<Vec<Option<usize>>>,
) -> Result<i64, Refused> {
    let mut kind = None;
    while let Some((number, field)) = message.next()? {
        match number {
            1 => once(&mut kind, field.int()?)?,
            2 => {
                let mut dims = Vec::new();
                let mut inner = message.inner(field.bytes()?);
                while let Some((number, field)) = inner.next()? {
                    if number != 1 {
                        return Err(unknown("shape", number));
                    }
                    push(&mut dims, dimension(inner.inner(field.bytes()?))?)?;
                    if dims.len() > MAX_RANK {
                        return Err(too_many_axes());
                    }
                }
                once(shape, dims)?;
            }
            _ => return Err(unknown("type", number)),
        }
    }
    Ok(kind.unwrap_or(0))
}

/// Reads a `TensorShapeProto.Dimension`.
fn dimension(mut message: Message<'_, '_>) -> Result<Option<usize>, Refused> {
    let (mut size, mut name) = (None, None);
    while let Some((number, field)) = message.next()? {
        match number {
            1 => once(&mut size, field.int()?)?,
            2 => once(&mut name, field.text()?)?,
            3 => drop(field.bytes()?),
            _ => return Err(unknown("dimension", number)),
        }
    }
    match (size, name) {
        (Some(size), None) => usize::try_from(size)
            .map(Some)
            .map_err(|_| Refused::damaged("a dimension is negative")),
        // tract parses a name as a formula, and would go as deep as its brackets do.
        (None, Some(name)) if name.len() > 100 || name.contains(['(', ')']) => {
            Err(Refused::unsupported(text(format_args!(
                "a dimension is called {}; give it a plain name",
                shown(name)
            ))))
        }
        (None, _) => Ok(None),
        (Some(_), Some(_)) => Err(cut_off()),
    }
}
