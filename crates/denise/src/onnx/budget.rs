//! How much memory and work a file may ask for: a multiple of its own size.

use super::error::Refused;
use super::tensor::{MAX_RANK, too_many_axes};
use super::value::Value;

/// What small files may use beyond their share, in bytes.
const FLOOR: usize = 1 << 20;
/// Bytes of values alive at once, for each byte of the file. Weights that are stored in half precision, and
/// transposed, take four.
const SHARE: usize = 6;
/// The largest element of a value, in bytes.
const ELEMENT: usize = 12;

/// What may still be used.
///
/// A dense network has at least one weight for every element of its input and of every layer, so no honest
/// file comes near these limits, and a small file cannot ask for much.
pub(super) struct Budget {
    bytes: usize,
    weights: usize,
}

impl Budget {
    pub(super) fn new(file: usize) -> Budget {
        // Weights that a file has are counted a second time where they are folded into a whole triangle.
        Budget {
            bytes: file.saturating_mul(SHARE).saturating_add(FLOOR),
            weights: file.saturating_add(FLOOR / 4),
        }
    }

    /// For a graph that is carried out on numbers.
    pub(super) fn for_numbers(bytes: usize, products: usize) -> Budget {
        Budget {
            bytes,
            weights: products,
        }
    }

    /// The number of elements of a value of this shape, which may be made.
    pub(super) fn count(&self, shape: &[usize]) -> Result<usize, Refused> {
        if shape.len() > MAX_RANK {
            return Err(too_many_axes());
        }
        let count = shape
            .iter()
            .try_fold(1_usize, |count, &size| count.checked_mul(size));
        match count {
            Some(0) => Err(Refused::unsupported("a value is empty")),
            Some(count) if count <= self.bytes / ELEMENT => Ok(count),
            _ => Err(too_large()),
        }
    }

    /// A value has been made.
    pub(super) fn take(&mut self, value: &Value) -> Result<(), Refused> {
        self.bytes = self
            .bytes
            .checked_sub(value.bytes())
            .ok_or_else(too_large)?;
        Ok(())
    }

    /// A value has been dropped.
    pub(super) fn give(&mut self, value: &Value) {
        self.bytes += value.bytes();
    }

    /// So many elements are about to be kept to the end.
    pub(super) fn keep(&mut self, count: usize) -> Result<(), Refused> {
        let bytes = count.checked_mul(ELEMENT);
        self.bytes = bytes
            .and_then(|bytes| self.bytes.checked_sub(bytes))
            .ok_or_else(too_large)?;
        Ok(())
    }

    /// A layer with so many inputs and outputs is about to be made.
    pub(super) fn take_weights(&mut self, inputs: usize, outputs: usize) -> Result<(), Refused> {
        self.weights = inputs
            .checked_mul(outputs)
            .and_then(|count| self.weights.checked_sub(count))
            .ok_or_else(too_large)?;
        Ok(())
    }

    /// Whether so many sums of so many products are few enough to be carried out.
    pub(super) fn allows_products(&self, sums: usize, terms: usize) -> Result<(), Refused> {
        let products = sums.checked_mul(terms);
        let most = self.bytes.saturating_add(self.weights);
        products
            .filter(|&x| x <= most)
            .map(drop)
            .ok_or_else(too_large)
    }
}

fn too_large() -> Refused {
    Refused::unsupported("the values are too large for the weights that the file has")
}
