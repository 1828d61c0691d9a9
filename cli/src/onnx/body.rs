//! Builds the nodes of a graph or of a function, one expression after the other.

use super::proto::{Attribute, Node, Tensor};

/// The domain of the nodes that the file itself defines.
pub(super) const DOMAIN: &str = "ai.denise";

/// The name of a value.
pub(super) type Name = String;

/// Nodes in the order of their use.
#[derive(Default)]
pub(super) struct Body {
    nodes: Vec<Node>,
    values: usize,
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
        let value = Attribute::float("value_float", value as f32);
        self.op_with("Constant", &[], vec![value])
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
        self.tensor(Tensor::ints(&[values.len()], values))
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

    /// `factor` · a + the least normal number, which is positive even if a is zero.
    pub(super) fn times_plus_tiny(&mut self, a: &str, factor: &str) -> Name {
        let product = self.mul(a, factor);
        let tiny = self.number(super::constants::TINY);
        self.add(&product, &tiny)
    }

    /// Cuts every entry at ±`most`.
    pub(super) fn clip(&mut self, a: &str, most: f64) -> Name {
        let (low, high) = (self.number(-most), self.number(most));
        self.op("Clip", &[a, &low, &high])
    }

    /// Swaps the last two of three axes.
    pub(super) fn transpose(&mut self, a: &str) -> Name {
        self.op_with("Transpose", &[a], vec![Attribute::ints("perm", &[0, 2, 1])])
    }

    /// Sums over axes, which stay with length 1.
    pub(super) fn sum(&mut self, a: &str, axes: &[i64]) -> Name {
        let axes = self.list(axes);
        self.op("ReduceSum", &[a, &axes])
    }

    /// A new axis of length 1.
    pub(super) fn unsqueeze(&mut self, a: &str, axis: i64) -> Name {
        let axis = self.list(&[axis]);
        self.op("Unsqueeze", &[a, &axis])
    }

    /// Other dimensions; the first, the batch, stays.
    pub(super) fn reshape(&mut self, a: &str, rest: &[usize]) -> Name {
        let mut dims = vec![0];
        dims.extend(rest.iter().map(|&dim| dim as i64));
        let dims = self.list(&dims);
        self.op("Reshape", &[a, &dims])
    }

    /// The first slice along an axis, and the others; `len` ≥ 2 slices in all.
    pub(super) fn split_first(&mut self, a: &str, axis: i64, len: usize) -> (Name, Name) {
        let sizes = self.list(&[1, len as i64 - 1]);
        let axis = Attribute::int("axis", axis);
        let mut parts = self.push("Split", &[a, &sizes], 2, vec![axis]).into_iter();
        (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        )
    }

    /// Puts tensors one after the other along an axis.
    pub(super) fn concat(&mut self, parts: &[&str], axis: i64) -> Name {
        self.op_with("Concat", parts, vec![Attribute::int("axis", axis)])
    }
}
