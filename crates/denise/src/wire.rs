//! The wire format of Protocol Buffers, read in place.

#![cfg_attr(
    not(feature = "onnx"),
    allow(dead_code, reason = "metadata needs less of it than graphs do")
)]

use crate::status::{Error, Status};
use core::cell::Cell;

/// A field's value.
#[derive(Clone, Copy)]
pub(crate) enum Field<'a> {
    /// A number of variable length.
    Number(u64),
    /// A string, a message or a packed list.
    Bytes(&'a [u8]),
    /// A number of four bytes.
    Fixed4([u8; 4]),
    /// A number of eight bytes.
    Fixed8,
}

/// What is left of a message.
pub(crate) struct Message<'a, 'c> {
    rest: &'a [u8],
    /// Fields that may still be read, in all messages of the file together.
    left: &'c Cell<usize>,
}

impl<'a, 'c> Message<'a, 'c> {
    pub(crate) fn new(rest: &'a [u8], left: &'c Cell<usize>) -> Message<'a, 'c> {
        Message { rest, left }
    }

    /// A message inside of this one.
    pub(crate) fn inner(&self, bytes: &'a [u8]) -> Message<'a, 'c> {
        Message::new(bytes, self.left)
    }

    /// The next field's number and value; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Field<'a>)>, Error> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let left = self.left.get().checked_sub(1).ok_or_else(|| {
            Error::new(
                Status::Unsupported,
                "the file has more parts than any network needs",
            )
        })?;
        self.left.set(left);
        let tag = self.number()?;
        let value = match tag & 7 {
            0 => Field::Number(self.number()?),
            1 => {
                self.array::<8>()?;
                Field::Fixed8
            }
            2 => {
                let len = self.number()?;
                Field::Bytes(self.bytes(len)?)
            }
            5 => Field::Fixed4(self.array()?),
            // Groups, which ONNX does not use, and nonsense.
            _ => return Err(cut_off()),
        };
        match tag >> 3 {
            number @ 1..=0x1fff_ffff => Ok(Some((number, value))),
            _ => Err(cut_off()),
        }
    }

    /// The next number, where the message is a packed list of them; `None` at the end.
    pub(crate) fn packed(&mut self) -> Result<Option<u64>, Error> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        self.number().map(Some)
    }

    /// Seven bits a byte, the lowest first; all bytes but the last have the top bit set.
    fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or_else(cut_off)?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(cut_off());
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(cut_off())
    }

    fn bytes(&mut self, len: u64) -> Result<&'a [u8], Error> {
        let (bytes, rest) = usize::try_from(len)
            .ok()
            .and_then(|len| self.rest.split_at_checked(len))
            .ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(*bytes)
    }
}

impl<'a> Field<'a> {
    pub(crate) fn bytes(self) -> Result<&'a [u8], Error> {
        match self {
            Field::Bytes(bytes) => Ok(bytes),
            _ => Err(cut_off()),
        }
    }

    pub(crate) fn text(self) -> Result<&'a str, Error> {
        core::str::from_utf8(self.bytes()?).map_err(|_| cut_off())
    }

    pub(crate) fn int(self) -> Result<i64, Error> {
        match self {
            Field::Number(x) => Ok(x.cast_signed()),
            _ => Err(cut_off()),
        }
    }

    pub(crate) fn float(self) -> Result<f32, Error> {
        match self {
            Field::Fixed4(x) => Ok(f32::from_le_bytes(x)),
            _ => Err(cut_off()),
        }
    }
}

/// For bytes that no writer of ONNX makes.
pub(crate) fn cut_off() -> Error {
    Error::new(
        Status::Format,
        "the data is not an ONNX model, or is cut off or damaged; get or export it again",
    )
}
