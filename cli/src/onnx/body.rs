//! Builds the nodes of a graph or of a function, one expression after the other.

use super::proto::{Attribute, Node, Tensor};
use std::collections::BTreeMap;

/// The domain of the nodes that the file itself defines.
pub(super) const DOMAIN: &str = "ai.denise";

/// The name of a value.
pub(super) type Name = String;

/// Nodes in the order of their use.
#[derive(Default)]
pub(super) struct Body {
    nodes: Vec<Node>,
    values: usize,
    /// Constants that are used again and again, by their bits.
    numbers: BTreeMap<u32, Name>,
    lists: BTreeMap<Vec<i64>, Name>,
}

impl Body {
    pub(super) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    /// A name that no other value has.
    fn fresh(&mut self) -> Name {
        self.values += 1;
        format!("v{}", self.values)
    }

    fn push(
        &mut self,
        op: &str,
        inputs: &[&str],
        outputs: usize,
        attribute: Vec<Attribute>,
    ) -> Vec<Name> {
        let output: Vec<Name> = (0..outputs).map(|_| self.fresh()).collect();
        self.nodes.push(Node {
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: output.clone(),
            op_type: op.to_owned(),
            attribute,
            ..Node::default()
        });
        output
    }

    /// A standard operator with one output.
    pub(super) fn op_with(&mut self, op: &str, inputs: &[&str], attribute: Vec<Attribute>) -> Name {
        self.push(op, inputs, 1, attribute).remove(0)
    }

    /// A standard operator without attributes.
    pub(super) fn op(&mut self, op: &str, inputs: &[&str]) -> Name {
        self.op_with(op, inputs, Vec::new())
    }

    /// A function of this file, its outputs named by the caller.
    pub(super) fn call(
        &mut self,
        function: &str,
        inputs: &[&str],
        outputs: &[&str],
        attribute: Vec<Attribute>,
    ) {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        self.nodes.push(Node {
            input: owned(inputs),
            output: owned(outputs),
            name: format!("{function} {}", outputs.join(" ")),
            op_type: function.to_owned(),
            attribute,
            domain: DOMAIN.to_owned(),
        });
    }

    /// Gives a value the name by which the function or the graph returns it.
    pub(super) fn give(&mut self, value: &str, name: &str) {
        self.nodes.push(Node {
            input: vec![value.to_owned()],
            output: vec![name.to_owned()],
            op_type: "Identity".to_owned(),
            ..Node::default()
        });
    }

    /// A constant number, of no dimension.
    pub(super) fn number(&mut self, value: f64) -> Name {
        let value = value as f32;
        if let Some(name) = self.numbers.get(&value.to_bits()) {
            return name.clone();
        }
        let attribute = Attribute::float("value_float", value);
        let name = self.op_with("Constant", &[], vec![attribute]);
        self.numbers.insert(value.to_bits(), name.clone());
        name
    }

    /// The number that the calling node has as attribute `of`.
    pub(super) fn attribute(&mut self, of: &str) -> Name {
        self.op_with(
            "Constant",
            &[],
            vec![Attribute::float_ref("value_float", of)],
        )
    }

    /// A constant tensor.
    pub(super) fn tensor(&mut self, value: Tensor) -> Name {
        self.op_with("Constant", &[], vec![Attribute::tensor("value", value)])
    }

    /// A constant list of integers: axes, sizes.
    pub(super) fn list(&mut self, values: &[i64]) -> Name {
        if let Some(name) = self.lists.get(values) {
            return name.clone();
        }
        let name = self.tensor(Tensor::ints(&[values.len()], values));
        self.lists.insert(values.to_vec(), name.clone());
        name
    }

    /// I, k×k.
    pub(super) fn identity(&mut self, k: usize) -> Name {
        let mut values = vec![0.0; k * k];
        values.iter_mut().step_by(k + 1).for_each(|x| *x = 1.0);
        self.tensor(Tensor::floats(&[k, k], &values))
    }

    pub(super) fn add(&mut self, a: &str, b: &str) -> Name {
        self.op("Add", &[a, b])
    }

    pub(super) fn sub(&mut self, a: &str, b: &str) -> Name {
        self.op("Sub", &[a, b])
    }

    pub(super) fn mul(&mut self, a: &str, b: &str) -> Name {
        self.op("Mul", &[a, b])
    }

    pub(super) fn div(&mut self, a: &str, b: &str) -> Name {
        self.op("Div", &[a, b])
    }

    pub(super) fn matmul(&mut self, a: &str, b: &str) -> Name {
        self.op("MatMul", &[a, b])
    }

    /// `factor` · a.
    pub(super) fn times(&mut self, a: &str, factor: f64) -> Name {
        let factor = self.number(factor);
        self.mul(a, &factor)
    }

    /// a + `constant`.
    pub(super) fn plus(&mut self, a: &str, constant: f64) -> Name {
        let constant = self.number(constant);
        self.add(a, &constant)
    }

    pub(super) fn max(&mut self, a: &str, b: &str) -> Name {
        self.op("Max", &[a, b])
    }

    pub(super) fn min(&mut self, a: &str, b: &str) -> Name {
        self.op("Min", &[a, b])
    }

    pub(super) fn abs(&mut self, a: &str) -> Name {
        self.op("Abs", &[a])
    }

    pub(super) fn sqrt(&mut self, a: &str) -> Name {
        self.op("Sqrt", &[a])
    }

    pub(super) fn square(&mut self, a: &str) -> Name {
        self.mul(a, a)
    }

    /// `factor` · a + the least normal number, which is positive even if a is zero.
    pub(super) fn times_plus_tiny(&mut self, a: &str, factor: &str) -> Name {
        let product = self.mul(a, factor);
        let tiny = self.number(super::constants::TINY);
        self.add(&product, &tiny)
    }

    /// Cuts every entry at `least` and at `most`.
    pub(super) fn clip(&mut self, a: &str, least: f64, most: f64) -> Name {
        let (least, most) = (self.number(least), self.number(most));
        self.op("Clip", &[a, &least, &most])
    }

    /// Cuts every entry at ±`most`, a value.
    pub(super) fn cut(&mut self, a: &str, most: &str) -> Name {
        let least = self.op("Neg", &[most]);
        let a = self.max(a, &least);
        self.min(&a, most)
    }

    /// 1 where a ≥ 0, else 0. The library, which carries graphs out to check them, compares no numbers.
    pub(super) fn not_negative(&mut self, a: &str) -> Name {
        let large = self.times(a, f64::from(f32::MAX));
        let moved = self.plus(&large, 1.0);
        self.clip(&moved, 0.0, 1.0)
    }

    /// 1 where a > 0, else 0.
    pub(super) fn positive(&mut self, a: &str) -> Name {
        let large = self.times(a, f64::from(f32::MAX));
        self.clip(&large, 0.0, 1.0)
    }

    /// Swaps the last two of three axes.
    pub(super) fn transpose(&mut self, a: &str) -> Name {
        let order = Attribute::ints("perm", &[0, 2, 1]);
        self.op_with("Transpose", &[a], vec![order])
    }

    /// Sums over axes, which stay with length 1. Counted from the front: onnxruntime does not know others if the batch
    /// is empty.
    pub(super) fn sum(&mut self, a: &str, axes: &[i64]) -> Name {
        let axes = self.list(axes);
        self.op("ReduceSum", &[a, &axes])
    }

    /// A new axis of length 1.
    pub(super) fn unsqueeze(&mut self, a: &str, axis: i64) -> Name {
        let axis = self.list(&[axis]);
        self.op("Unsqueeze", &[a, &axis])
    }

    /// Other dimensions after the first `kept`, which stay.
    pub(super) fn reshape(&mut self, a: &str, kept: usize, rest: &[usize]) -> Name {
        let mut dims = vec![0; kept];
        dims.extend(rest.iter().map(|&dim| dim as i64));
        let dims = self.list(&dims);
        self.op("Reshape", &[a, &dims])
    }

    /// The first `len` slices along an axis, and the `rest`, at least one each.
    pub(super) fn split(&mut self, a: &str, axis: i64, len: usize, rest: usize) -> (Name, Name) {
        let sizes = self.list(&[len as i64, rest as i64]);
        let axis = Attribute::int("axis", axis);
        let mut parts = self.push("Split", &[a, &sizes], 2, vec![axis]).into_iter();
        (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        )
    }

    /// The first slice along an axis, and the others; `len` ≥ 2 slices in all.
    pub(super) fn split_first(&mut self, a: &str, axis: i64, len: usize) -> (Name, Name) {
        self.split(a, axis, 1, len - 1)
    }

    /// The first slice of `len` and the others, of which there may be none: then both names are the same.
    pub(super) fn first(&mut self, a: &str, axis: i64, len: usize) -> (Name, Name) {
        if len == 1 {
            (a.to_owned(), a.to_owned())
        } else {
            self.split_first(a, axis, len)
        }
    }

    /// Slices along an axis, chosen by number.
    pub(super) fn gather(&mut self, a: &str, chosen: &str, axis: i64) -> Name {
        self.op_with("Gather", &[a, chosen], vec![Attribute::int("axis", axis)])
    }

    /// Puts tensors one after the other along an axis.
    pub(super) fn concat(&mut self, parts: &[&str], axis: i64) -> Name {
        self.op_with("Concat", parts, vec![Attribute::int("axis", axis)])
    }
}
