//! What is known about the values of a graph, element by element.
//!
//! The graph is not searched for patterns of nodes: every node is carried out on descriptions of its
//! inputs. So whatever an exporter does to cut the lower triangle out of M, to add a batch axis or to compute a
//! shape, it leaves a list of places, which the next layer's weights then absorb.

use super::error::Refused;
use super::tensor::Data;
use crate::memory::{collected, copied, push};
use crate::status::Error;
use std::rc::Rc;

/// One element: `scale` times an element of a stage, plus `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pick {
    pub(super) index: u32,
    pub(super) scale: f32,
    pub(super) offset: f32,
}

impl Pick {
    /// All elements of a stage, unchanged.
    pub(super) fn all(count: usize) -> Result<Vec<Pick>, Error> {
        collected((0..count).map(Pick::plain))
    }

    /// An element unchanged.
    pub(super) fn plain(index: usize) -> Pick {
        Pick {
            // Files of 4 GiB and more are refused, and with them larger numbers.
            index: u32::try_from(index).unwrap_or(u32::MAX),
            scale: 1.0,
            offset: 0.0,
        }
    }
}

/// The factor U, n×k, row by row.
#[derive(Debug, PartialEq)]
pub(super) struct Factor {
    pub(super) k: usize,
    pub(super) stage: usize,
    pub(super) picks: Vec<Pick>,
}

/// The elements of a value.
#[derive(Debug)]
pub(super) enum Elements {
    /// Known numbers.
    Known(Data),
    /// Elements of a stage, which is the input or the output of a layer.
    Picks { stage: usize, picks: Vec<Pick> },
    /// 1 where an element of a stage is above zero (or where it is not), else 0.
    Mask {
        stage: usize,
        picks: Vec<Pick>,
        above: bool,
    },
    /// Elements of a layer's output where what its function was applied to is above zero (or where it is not),
    /// else 0.
    Piece {
        stage: usize,
        picks: Vec<Pick>,
        above: bool,
    },
    /// Entries of L = UUᵀ, each as i·n + j.
    Low { u: Rc<Factor>, entries: Vec<u32> },
    /// Entries of S = M − L.
    Sparse { u: Rc<Factor>, entries: Vec<u32> },
}

impl Elements {
    /// All of them.
    pub(super) fn copy(&self) -> Result<Elements, Error> {
        self.map(Taken::All)
    }

    /// Those that stand at these places.
    fn taken(&self, from: &[usize]) -> Result<Elements, Error> {
        self.map(Taken::These(from))
    }

    fn map(&self, taken: Taken<'_>) -> Result<Elements, Error> {
        Ok(match self {
            Elements::Known(Data::Floats(x)) => Elements::Known(Data::Floats(taken.of(x)?)),
            Elements::Known(Data::Ints(x)) => Elements::Known(Data::Ints(taken.of(x)?)),
            Elements::Picks { stage, picks } => Elements::Picks {
                stage: *stage,
                picks: taken.of(picks)?,
            },
            Elements::Mask {
                stage,
                picks,
                above,
            } => Elements::Mask {
                stage: *stage,
                picks: taken.of(picks)?,
                above: *above,
            },
            Elements::Piece {
                stage,
                picks,
                above,
            } => Elements::Piece {
                stage: *stage,
                picks: taken.of(picks)?,
                above: *above,
            },
            Elements::Low { u, entries } => Elements::Low {
                u: u.clone(),
                entries: taken.of(entries)?,
            },
            Elements::Sparse { u, entries } => Elements::Sparse {
                u: u.clone(),
                entries: taken.of(entries)?,
            },
        })
    }
}

/// Which elements are copied.
#[derive(Clone, Copy)]
enum Taken<'a> {
    All,
    These(&'a [usize]),
}

impl Taken<'_> {
    fn of<T: Copy>(self, all: &[T]) -> Result<Vec<T>, Error> {
        match self {
            Taken::All => copied(all),
            Taken::These(from) => collected(from.iter().map(|&e| all[e])),
        }
    }
}

/// A tensor.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) shape: Vec<usize>,
    pub(super) elements: Elements,
}

impl Value {
    pub(super) fn ints(shape: &[usize], numbers: Vec<i64>) -> Result<Value, Error> {
        Ok(Value {
            shape: copied(shape)?,
            elements: Elements::Known(Data::Ints(numbers)),
        })
    }

    pub(super) fn floats(shape: &[usize], numbers: Vec<f32>) -> Result<Value, Error> {
        Ok(Value {
            shape: copied(shape)?,
            elements: Elements::Known(Data::Floats(numbers)),
        })
    }

    pub(super) fn picks(shape: &[usize], stage: usize, picks: Vec<Pick>) -> Result<Value, Error> {
        Ok(Value {
            shape: copied(shape)?,
            elements: Elements::Picks { stage, picks },
        })
    }

    pub(super) fn copy(&self) -> Result<Value, Error> {
        Ok(Value {
            shape: copied(&self.shape)?,
            elements: self.elements.copy()?,
        })
    }

    pub(super) fn count(&self) -> usize {
        match &self.elements {
            Elements::Known(data) => data.len(),
            Elements::Picks { picks, .. }
            | Elements::Mask { picks, .. }
            | Elements::Piece { picks, .. } => picks.len(),
            Elements::Low { entries, .. } | Elements::Sparse { entries, .. } => entries.len(),
        }
    }

    /// Its size in memory.
    pub(super) fn bytes(&self) -> usize {
        let each = match &self.elements {
            Elements::Known(Data::Floats(_)) => size_of::<f32>(),
            Elements::Known(Data::Ints(_)) => size_of::<i64>(),
            Elements::Picks { .. } | Elements::Mask { .. } | Elements::Piece { .. } => {
                size_of::<Pick>()
            }
            Elements::Low { .. } | Elements::Sparse { .. } => size_of::<u32>(),
        };
        each * self.count()
    }

    /// Whole numbers, such as a shape or a list of axes.
    pub(super) fn as_ints(&self) -> Result<&[i64], Refused> {
        match &self.elements {
            Elements::Known(Data::Ints(numbers)) => Ok(numbers),
            Elements::Known(_) => Err(Refused::unsupported("needs whole numbers")),
            _ => Err(Refused::unsupported("a shape, index or axis depends on M")),
        }
    }

    /// Floats that are known.
    pub(super) fn as_floats(&self) -> Result<&[f32], Refused> {
        match &self.elements {
            Elements::Known(Data::Floats(numbers)) => Ok(numbers),
            Elements::Known(_) => Err(Refused::unsupported("needs floats, has whole numbers")),
            _ => Err(Refused::unsupported("what must be constant depends on M")),
        }
    }

    /// One float that is known.
    pub(super) fn as_float(&self) -> Result<f32, Refused> {
        match self.as_floats()? {
            &[x] => Ok(x),
            _ => Err(Refused::unsupported("needs one number")),
        }
    }

    /// The value whose element number e is element number `from[e]` of this one.
    pub(super) fn arranged(&self, shape: Vec<usize>, from: &[usize]) -> Result<Value, Error> {
        let elements = self.elements.taken(from)?;
        Ok(Value { shape, elements })
    }

    /// The same elements in another shape.
    pub(super) fn reshaped(&self, shape: Vec<usize>) -> Result<Value, Refused> {
        let count = shape
            .iter()
            .try_fold(1_usize, |count, &size| count.checked_mul(size));
        if count != Some(self.count()) || count == Some(0) {
            return Err(Refused::damaged(
                "the new shape has another number of elements",
            ));
        }
        Ok(Value {
            shape,
            elements: self.elements.copy()?,
        })
    }
}

/// Steps between neighbours along each axis.
pub(super) fn strides(shape: &[usize]) -> Result<Vec<usize>, Error> {
    let mut step = 1;
    let mut strides = copied(shape)?;
    for stride in strides.iter_mut().rev() {
        let size = *stride;
        *stride = step;
        step *= size;
    }
    Ok(strides)
}

/// Where the elements of a tensor of this shape are, if a step along each axis is that of `strides`.
pub(super) fn places(shape: &[usize], strides: &[usize]) -> Result<Vec<usize>, Error> {
    let mut places = Vec::new();
    push(&mut places, 0)?;
    for (&size, &stride) in shape.iter().zip(strides) {
        let mut next = Vec::new();
        next.try_reserve_exact(places.len() * size)?;
        for &place in &places {
            next.extend((0..size).map(|i| place + i * stride));
        }
        places = next;
    }
    Ok(places)
}

/// A number from a file as an axis of a tensor.
pub(super) fn axis(number: i64, rank: usize) -> Result<usize, Refused> {
    wrapped(number, rank).ok_or_else(|| Refused::damaged("there is no such axis"))
}

/// A number that counts from the end if it is negative.
pub(super) fn wrapped(number: i64, size: usize) -> Option<usize> {
    let size = i64::try_from(size).ok()?;
    let number = if number < 0 {
        number.checked_add(size)?
    } else {
        number
    };
    usize::try_from(number).ok().filter(|_| number < size)
}
