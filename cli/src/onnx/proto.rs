//! The messages of `onnx.proto`, with the fields that are written here. Where the format has a `oneof`,
//! optional fields stand for it: their encoding is the same.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Model {
    #[prost(int64, tag = "1")]
    pub(super) ir_version: i64,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSet>,
    #[prost(string, tag = "2")]
    pub(super) producer_name: String,
    #[prost(string, tag = "3")]
    pub(super) producer_version: String,
    #[prost(string, tag = "6")]
    pub(super) doc_string: String,
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<Graph>,
    #[prost(message, repeated, tag = "14")]
    pub(super) metadata_props: Vec<Entry>,
    #[prost(message, repeated, tag = "25")]
    pub(super) functions: Vec<Function>,
}

/// A version of the operators of one domain.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

/// One line of metadata.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<Node>,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<Value>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) name: String,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub(super) domain: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(float, optional, tag = "2")]
    pub(super) f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub(super) i: Option<i64>,
    #[prost(message, optional, tag = "5")]
    pub(super) t: Option<Tensor>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub(super) ints: Vec<i64>,
    /// One of the constants below.
    #[prost(int32, tag = "20")]
    pub(super) kind: i32,
    /// In a function: the attribute of the calling node that gives the value.
    #[prost(string, tag = "21")]
    pub(super) ref_attr_name: String,
}

impl Attribute {
    const FLOAT: i32 = 1;
    const INT: i32 = 2;
    const TENSOR: i32 = 4;
    const INTS: i32 = 7;

    fn new(name: &str, kind: i32) -> Attribute {
        Attribute {
            name: name.to_owned(),
            kind,
            ..Attribute::default()
        }
    }

    pub(super) fn float(name: &str, value: f32) -> Attribute {
        Attribute {
            f: Some(value),
            ..Attribute::new(name, Attribute::FLOAT)
        }
    }

    /// The float attribute `of` of the calling node.
    pub(super) fn float_ref(name: &str, of: &str) -> Attribute {
        Attribute {
            ref_attr_name: of.to_owned(),
            ..Attribute::new(name, Attribute::FLOAT)
        }
    }

    pub(super) fn int(name: &str, value: i64) -> Attribute {
        Attribute {
            i: Some(value),
            ..Attribute::new(name, Attribute::INT)
        }
    }

    pub(super) fn ints(name: &str, values: &[i64]) -> Attribute {
        Attribute {
            ints: values.to_vec(),
            ..Attribute::new(name, Attribute::INTS)
        }
    }

    pub(super) fn tensor(name: &str, value: Tensor) -> Attribute {
        Attribute {
            t: Some(value),
            ..Attribute::new(name, Attribute::TENSOR)
        }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Tensor {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    /// Little-endian, row-major.
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
}

/// The number of the element type `float`.
const FLOAT: i32 = 1;
/// The number of the element type `int64`.
const INT64: i32 = 7;

impl Tensor {
    pub(super) fn floats(dims: &[usize], values: &[f32]) -> Tensor {
        Tensor::new(dims, FLOAT, values.iter().flat_map(|x| x.to_le_bytes()))
    }

    pub(super) fn ints(dims: &[usize], values: &[i64]) -> Tensor {
        Tensor::new(dims, INT64, values.iter().flat_map(|x| x.to_le_bytes()))
    }

    fn new(dims: &[usize], data_type: i32, raw_data: impl Iterator<Item = u8>) -> Tensor {
        Tensor {
            dims: dims.iter().map(|&dim| dim as i64).collect(),
            data_type,
            raw_data: raw_data.collect(),
        }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Function {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, repeated, tag = "4")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    pub(super) output: Vec<String>,
    #[prost(string, repeated, tag = "6")]
    pub(super) attribute: Vec<String>,
    #[prost(message, repeated, tag = "7")]
    pub(super) node: Vec<Node>,
    #[prost(string, tag = "8")]
    pub(super) doc_string: String,
    #[prost(message, repeated, tag = "9")]
    pub(super) opset_import: Vec<OperatorSet>,
    #[prost(string, tag = "10")]
    pub(super) domain: String,
}

/// The name and type of an input or output of the graph.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Value {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    kind: Option<Type>,
}

impl Value {
    /// `float32[batch, rows, columns]`, for a batch of any size.
    pub(super) fn batch_of(name: &str, rows: usize, columns: usize) -> Value {
        let batch = Dimension {
            dim_param: Some("batch".to_owned()),
            ..Dimension::default()
        };
        let fixed = |dim: usize| Dimension {
            dim_value: Some(dim as i64),
            ..Dimension::default()
        };
        let shape = Shape {
            dim: vec![batch, fixed(rows), fixed(columns)],
        };
        let tensor = TensorType {
            elem_type: FLOAT,
            shape: Some(shape),
        };
        Value {
            name: name.to_owned(),
            kind: Some(Type {
                tensor_type: Some(tensor),
            }),
        }
    }
}

#[derive(Clone, PartialEq, Message)]
struct Type {
    #[prost(message, optional, tag = "1")]
    tensor_type: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorType {
    #[prost(int32, tag = "1")]
    elem_type: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
struct Shape {
    #[prost(message, repeated, tag = "1")]
    dim: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
struct Dimension {
    #[prost(int64, optional, tag = "1")]
    dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    dim_param: Option<String>,
}
