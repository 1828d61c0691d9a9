//! Operators that work element by element on two values.

use super::arrange::{broadcast, common_shape};
use super::budget::Budget;
use super::error::Refused;
use super::stages::INPUT;
use super::tensor::Data;
use super::value::{Elements, Pick, Value};
use crate::memory::{collected, copied, push};
use crate::status::Error;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
}

pub(super) fn binary(
    operation: Operation,
    a: &Value,
    b: &Value,
    budget: &Budget,
) -> Result<Value, Refused> {
    use Operation::{Add, Div, Mul, Sub};
    let shape = common_shape(&a.shape, &b.shape)?;
    budget.count(&shape)?;
    let a = a.arranged(copied(&shape)?, &broadcast(a, &shape)?)?;
    let b = b.arranged(copied(&shape)?, &broadcast(b, &shape)?)?;
    let elements = match (a.elements, b.elements) {
        (Elements::Known(a), Elements::Known(b)) => Elements::Known(numbers(operation, a, b)?),
        (Elements::Picks { stage, picks }, Elements::Known(Data::Floats(c))) => Elements::Picks {
            stage,
            picks: each(picks, &c, |pick, c| match operation {
                Add => moved(pick, c),
                Sub => moved(pick, -c),
                Mul => scaled(pick, c),
                Div => Pick {
                    scale: pick.scale / c,
                    offset: pick.offset / c,
                    ..pick
                },
            }),
        },
        (Elements::Known(Data::Floats(c)), Elements::Picks { stage, picks })
            if operation != Div =>
        {
            Elements::Picks {
                stage,
                picks: each(picks, &c, |pick, c| match operation {
                    Mul => scaled(pick, c),
                    Sub => moved(scaled(pick, -1.0), c),
                    _ => moved(pick, c),
                }),
            }
        }
        // S = M − L.
        (
            Elements::Picks {
                stage: INPUT,
                picks,
            },
            Elements::Low { u, entries },
        ) if operation == Sub && is_m(&picks, &entries, u.picks.len() / u.k) => {
            Elements::Sparse { u, entries }
        }
        _ => {
            return Err(Refused::unsupported(
                "of two values that depend on M only M - L is supported",
            ));
        }
    };
    Ok(Value { shape, elements })
}

fn each(mut picks: Vec<Pick>, constants: &[f32], f: impl Fn(Pick, f32) -> Pick) -> Vec<Pick> {
    for (pick, &c) in picks.iter_mut().zip(constants) {
        *pick = f(*pick, c);
    }
    picks
}

pub(super) fn moved(pick: Pick, by: f32) -> Pick {
    Pick {
        offset: pick.offset + by,
        ..pick
    }
}

pub(super) fn scaled(pick: Pick, by: f32) -> Pick {
    Pick {
        scale: pick.scale * by,
        offset: pick.offset * by,
        ..pick
    }
}

/// Whether the picks from the triangle are the entries of M at the same places as those of L.
fn is_m(picks: &[Pick], entries: &[u32], n: usize) -> bool {
    picks.iter().zip(entries).all(|(&pick, &entry)| {
        let (i, j) = (entry as usize / n, entry as usize % n);
        pick == Pick::plain(in_triangle(i, j))
    })
}

/// Where M_ij is in the lower triangle, row by row.
pub(super) fn in_triangle(i: usize, j: usize) -> usize {
    let (i, j) = (i.max(j), i.min(j));
    i * (i + 1) / 2 + j
}

fn numbers(operation: Operation, a: Data, b: Data) -> Result<Data, Refused> {
    match (a, b) {
        (Data::Floats(mut a), Data::Floats(b)) => {
            for (a, b) in a.iter_mut().zip(b) {
                match operation {
                    Operation::Add => *a += b,
                    Operation::Sub => *a -= b,
                    Operation::Mul => *a *= b,
                    Operation::Div => *a /= b,
                }
            }
            Ok(Data::Floats(a))
        }
        (Data::Ints(mut a), Data::Ints(b)) => {
            let f = |(a, b): (i64, i64)| match operation {
                Operation::Add => a.checked_add(b),
                Operation::Sub => a.checked_sub(b),
                Operation::Mul => a.checked_mul(b),
                // Readers disagree about the rounding of negative quotients.
                Operation::Div => (a >= 0 && b > 0).then(|| a / b),
            };
            for (a, b) in a.iter_mut().zip(b) {
                *a = f((*a, b))
                    .ok_or_else(|| Refused::unsupported("a whole number is out of range"))?;
            }
            Ok(Data::Ints(a))
        }
        _ => Err(Refused::damaged("the two inputs differ in type")),
    }
}

/// Joins values along an axis.
pub(super) fn concat(values: &[&Value], along: usize, budget: &Budget) -> Result<Value, Refused> {
    let first = values
        .first()
        .ok_or_else(|| Refused::damaged("has no inputs"))?;
    let mut shape = copied(&first.shape)?;
    let fits = |value: &&Value| {
        value.shape.len() == shape.len()
            && value
                .shape
                .iter()
                .zip(&shape)
                .enumerate()
                .all(|(a, (x, y))| a == along || x == y)
    };
    if !values.iter().all(fits) {
        return Err(Refused::damaged("shapes do not fit each other"));
    }
    shape[along] = values
        .iter()
        .try_fold(0_usize, |sum, value| sum.checked_add(value.shape[along]))
        .ok_or_else(|| Refused::unsupported("a value is too large"))?;
    budget.count(&shape)?;
    // One after the other, then in the right order.
    let mut all = first.elements.copy()?;
    for value in &values[1..] {
        match (&mut all, &value.elements) {
            (Elements::Known(Data::Ints(all)), Elements::Known(Data::Ints(more))) => {
                extend(all, more)?
            }
            (Elements::Known(Data::Floats(all)), Elements::Known(Data::Floats(more))) => {
                extend(all, more)?
            }
            (
                Elements::Picks { stage, picks },
                Elements::Picks {
                    stage: other,
                    picks: more,
                },
            ) if stage == other => {
                extend(picks, more)?;
            }
            _ => {
                return Err(Refused::unsupported(
                    "values of different layers cannot be joined",
                ));
            }
        }
    }
    let outer: usize = shape[..along].iter().product();
    let mut starts = Vec::new();
    let mut start = 0;
    for value in values {
        let block = value.count() / outer;
        push(&mut starts, (start, block))?;
        start += value.count();
    }
    let from = (0..outer)
        .flat_map(|o| {
            starts
                .iter()
                .map(move |&(start, block)| (start + o * block, block))
        })
        .flat_map(|(start, block)| start..start + block);
    let joined = Value {
        shape: Vec::new(),
        elements: all,
    };
    Ok(joined.arranged(shape, &collected(from)?)?)
}

fn extend<T: Copy>(all: &mut Vec<T>, more: &[T]) -> Result<(), Error> {
    all.try_reserve(more.len())?;
    all.extend_from_slice(more);
    Ok(())
}
