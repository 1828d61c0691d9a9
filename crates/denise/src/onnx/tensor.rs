//! Numbers that a file holds.

use super::error::{Refused, cut_off};
use crate::memory::{all_collected, collected, copied, push};
use crate::status::{Error, text};
use crate::wire::{Field, Message};
use tract_core::prelude::f16;

/// Axes of a tensor.
pub(super) const MAX_RANK: usize = 8;

pub(super) fn too_many_axes() -> Refused {
    Refused::unsupported(text(format_args!("a tensor has more than {MAX_RANK} axes")))
}

/// Codes of element types.
pub(super) const FLOAT: i64 = 1;
pub(super) const DOUBLE: i64 = 11;
const FLOAT16: i64 = 10;
const INT32: i64 = 6;
const INT64: i64 = 7;
const BOOL: i64 = 9;

/// Known numbers.
#[derive(Debug)]
pub(super) enum Data {
    Floats(Vec<f32>),
    /// Whole numbers and truth values.
    Ints(Vec<i64>),
}

impl Data {
    pub(super) fn len(&self) -> usize {
        match self {
            Data::Floats(x) => x.len(),
            Data::Ints(x) => x.len(),
        }
    }
}

/// A `TensorProto`, left where it is until it is needed.
pub(super) struct Stored<'a> {
    shape: Vec<usize>,
    count: usize,
    kind: i64,
    bytes: &'a [u8],
    /// Whether whole numbers have a variable length.
    variable: bool,
}

impl<'a> Stored<'a> {
    /// The tensor and its name. Its data has the length that its shape says.
    pub(super) fn read(mut message: Message<'a, '_>) -> Result<(&'a str, Stored<'a>), Refused> {
        let mut shape = Vec::new();
        let (mut kind, mut name) = (None, "");
        // The number of the field that the data is in, and the data.
        let mut data: Option<(u64, &[u8])> = None;
        while let Some((number, field)) = message.next()? {
            match (number, field) {
                (1, Field::Number(size)) => push(&mut shape, size)?,
                (1, Field::Bytes(bytes)) => {
                    let mut list = message.inner(bytes);
                    while let Some(size) = list.packed()? {
                        push(&mut shape, size)?;
                        if shape.len() > MAX_RANK {
                            break;
                        }
                    }
                }
                (2, Field::Number(x)) if kind.is_none() => kind = Some(x.cast_signed()),
                (4 | 5 | 7 | 9 | 10, Field::Bytes(bytes)) if data.is_none() => {
                    data = Some((number, bytes));
                }
                (8, field) => name = field.text()?,
                (12 | 16, field) => drop(field.bytes()?),
                (13, _) | (14, Field::Number(1)) => {
                    return Err(Refused::unsupported(
                        "weights are in another file; export the model into one file",
                    ));
                }
                (14, Field::Number(0)) => {}
                (3 | 6 | 11, _) => {
                    return Err(Refused::unsupported(
                        "a tensor is in parts, or holds text or unsigned numbers",
                    ));
                }
                _ => return Err(cut_off()),
            }
            if shape.len() > MAX_RANK {
                return Err(too_many_axes());
            }
        }
        let (field, bytes) = data.unwrap_or((9, &[]));
        let senseless = || Refused::damaged("a tensor's shape makes no sense");
        let sizes = shape
            .into_iter()
            .map(|x| usize::try_from(x).map_err(|_| senseless()));
        let shape = all_collected(sizes)?;
        let count = shape
            .iter()
            .try_fold(1_usize, |n, &size| n.checked_mul(size))
            .ok_or_else(senseless)?;
        if count == 0 {
            return Err(Refused::unsupported("a tensor is empty"));
        }
        let kind = kind.unwrap_or(0);
        let (width, own_field) = match kind {
            FLOAT => (4, 4),
            DOUBLE => (8, 10),
            FLOAT16 => (2, 5),
            INT32 => (4, 5),
            INT64 => (8, 7),
            BOOL => (1, 5),
            _ => {
                return Err(Refused::unsupported(text(format_args!(
                    "a tensor has elements of type {kind}; export it with 32-bit floats"
                ))));
            }
        };
        let variable = field != 9 && !matches!(kind, FLOAT | DOUBLE);
        let len = if variable {
            // Each number ends with a byte below 128.
            bytes.iter().filter(|&&byte| byte < 0x80).count()
        } else {
            bytes.len()
        };
        let expected = if variable {
            Some(count)
        } else {
            count.checked_mul(width)
        };
        if !matches!(field, 9) && field != own_field || Some(len) != expected {
            return Err(Refused::damaged(
                "a tensor's data does not have the length that its shape says",
            ));
        }
        let stored = Stored {
            shape,
            count,
            kind,
            bytes,
            variable,
        };
        // Values of variable length are checked now, so that taking them cannot fail.
        if variable {
            let mut list = message.inner(bytes);
            while list.packed()?.is_some() {}
        }
        Ok((name, stored))
    }

    pub(super) fn copy(&self) -> Result<Stored<'a>, Error> {
        Ok(Stored {
            shape: copied(&self.shape)?,
            ..*self
        })
    }

    pub(super) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The numbers, as 32-bit floats or as whole numbers.
    pub(super) fn data(&self) -> Result<Data, Refused> {
        let mut numbers = Vec::new();
        if self.variable {
            let left = core::cell::Cell::new(0);
            let mut list = Message::new(self.bytes, &left);
            numbers.try_reserve_exact(self.count).map_err(Error::from)?;
            while let Some(x) = list.packed()? {
                push(&mut numbers, x.cast_signed())?;
            }
        }
        Ok(match (self.kind, self.variable) {
            (FLOAT, _) => Data::Floats(each(self.bytes, f32::from_le_bytes)?),
            (DOUBLE, _) => Data::Floats(each(self.bytes, |x| f64::from_le_bytes(x) as f32)?),
            (FLOAT16, false) => Data::Floats(each(self.bytes, |x| {
                f16::from_bits(u16::from_le_bytes(x)).to_f32()
            })?),
            (FLOAT16, true) => Data::Floats(collected(
                numbers.iter().map(|&x| f16::from_bits(x as u16).to_f32()),
            )?),
            (INT32, false) => Data::Ints(each(self.bytes, |x| i64::from(i32::from_le_bytes(x)))?),
            (INT64, false) => Data::Ints(each(self.bytes, i64::from_le_bytes)?),
            (BOOL, false) => Data::Ints(each(self.bytes, |[x]: [u8; 1]| i64::from(x != 0))?),
            (BOOL, true) => Data::Ints(collected(numbers.iter().map(|&x| i64::from(x != 0)))?),
            (INT32, true) => Data::Ints(collected(numbers.iter().map(|&x| i64::from(x as i32)))?),
            _ => Data::Ints(numbers),
        })
    }
}

fn each<T, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Result<Vec<T>, Error> {
    collected(bytes.as_chunks().0.iter().map(|&x| number(x)))
}
