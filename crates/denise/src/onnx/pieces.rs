//! Functions that a graph puts together from two pieces, one above zero and one below.
//!
//! Keras spells ELU with a factor as mask·elu(x) + (1 − mask)·factor·elu(x), where the mask is 1 where x > 0.

use super::budget::Budget;
use super::error::Refused;
use super::stages::Stages;
use super::tensor::Data;
use super::value::{Elements, Pick, Value};
use crate::dense::Activation;
use crate::memory::{collected, copied};

/// Which elements of `x` are above zero.
pub(super) fn greater(x: &Value, than: &Value) -> Result<Value, Refused> {
    let zero = matches!(&than.elements, Elements::Known(Data::Floats(c)) if c[..] == [0.0]);
    match &x.elements {
        Elements::Picks { stage, picks } if zero => Ok(Value {
            shape: copied(&x.shape)?,
            elements: Elements::Mask {
                stage: *stage,
                picks: copied(picks)?,
                above: true,
            },
        }),
        _ => Err(Refused::unsupported(
            "only a layer's output can be compared, with zero",
        )),
    }
}

/// The other elements.
pub(super) fn not(x: &Value) -> Result<Value, Refused> {
    match &x.elements {
        Elements::Mask {
            stage,
            picks,
            above,
        } => Ok(Value {
            shape: copied(&x.shape)?,
            elements: Elements::Mask {
                stage: *stage,
                picks: copied(picks)?,
                above: !above,
            },
        }),
        _ => Err(Refused::unsupported("works on a comparison with zero only")),
    }
}

/// A function of x where the mask is, zero elsewhere.
pub(super) fn masked(mask: &Value, x: &Value, stages: &Stages) -> Result<Value, Refused> {
    let (
        Elements::Mask {
            stage: compared,
            picks: compared_picks,
            above,
        },
        Elements::Picks { stage, picks },
    ) = (&mask.elements, &x.elements)
    else {
        return Err(only_pieces());
    };
    let (parent, inner, _) = stages.function(*stage).ok_or_else(only_pieces)?;
    let same = |(mask, pick): (&Pick, &Pick)| *mask == inner[pick.index as usize];
    if mask.shape != x.shape || *compared != parent || !compared_picks.iter().zip(picks).all(same) {
        return Err(only_pieces());
    }
    Ok(Value {
        shape: copied(&x.shape)?,
        elements: Elements::Piece {
            stage: *stage,
            picks: copied(picks)?,
            above: *above,
        },
    })
}

/// The sum of the two pieces of a function.
pub(super) fn joined(
    a: &Value,
    b: &Value,
    stages: &mut Stages,
    budget: &mut Budget,
) -> Result<Value, Refused> {
    fn piece(value: &Value) -> Result<(usize, &[Pick], bool), Refused> {
        match &value.elements {
            Elements::Piece {
                stage,
                picks,
                above,
            } => Ok((*stage, picks, *above)),
            _ => Err(only_pieces()),
        }
    }
    let (first, second) = (piece(a)?, piece(b)?);
    let ((stage, upper, true), (other, lower, false)) = (if first.2 {
        (first, second)
    } else {
        (second, first)
    }) else {
        return Err(only_pieces());
    };
    let factor = lower.first().map_or(1.0, |pick| pick.scale);
    let fits = |(upper, lower): (&Pick, &Pick)| {
        *upper == Pick::plain(upper.index as usize)
            && *lower
                == Pick {
                    scale: factor,
                    ..*upper
                }
    };
    if stage != other || a.shape != b.shape || !upper.iter().zip(lower).all(fits) {
        return Err(only_pieces());
    }
    let (parent, inner, activation) = stages.function(stage).ok_or_else(only_pieces)?;
    let activation = match activation {
        Activation::Relu => Activation::Relu,
        Activation::LeakyRelu(slope) => Activation::LeakyRelu(slope * factor),
        Activation::Elu(own) => Activation::Elu(own * factor),
        Activation::Identity | Activation::Tanh | Activation::Sigmoid => return Err(only_pieces()),
    };
    let picks = collected(upper.iter().map(|pick| inner[pick.index as usize]))?;
    let count = picks.len();
    let stage = stages.active(parent, picks, activation, budget)?;
    Ok(Value::picks(&a.shape, stage, Pick::all(count)?)?)
}

fn only_pieces() -> Refused {
    Refused::unsupported(
        "of functions in two pieces only ELU and LeakyReLU with a factor are supported",
    )
}
