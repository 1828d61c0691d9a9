//! Operators that work element by element on two values.

use super::arrange::{broadcast, common_shape};
use super::budget::Budget;
use super::error::Refused;
use super::stages::INPUT;
use super::tensor::Data;
use super::value::{Elements, Pick, Value};

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
    let a = a.arranged(shape.clone(), &broadcast(a, &shape)?);
    let b = b.arranged(shape.clone(), &broadcast(b, &shape)?);
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

fn each(picks: Vec<Pick>, constants: &[f32], f: impl Fn(Pick, f32) -> Pick) -> Vec<Pick> {
    picks
        .into_iter()
        .zip(constants)
        .map(|(pick, &c)| f(pick, c))
        .collect()
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
        (Data::Floats(a), Data::Floats(b)) => {
            let f = |(a, b): (f32, f32)| match operation {
                Operation::Add => a + b,
                Operation::Sub => a - b,
                Operation::Mul => a * b,
                Operation::Div => a / b,
            };
            Ok(Data::Floats(a.into_iter().zip(b).map(f).collect()))
        }
        (Data::Ints(a), Data::Ints(b)) => {
            let f = |(a, b): (i64, i64)| match operation {
                Operation::Add => a.checked_add(b),
                Operation::Sub => a.checked_sub(b),
                Operation::Mul => a.checked_mul(b),
                // Readers disagree about the rounding of negative quotients.
                Operation::Div => (a >= 0 && b > 0).then(|| a / b),
            };
            let numbers: Option<Vec<i64>> = a.into_iter().zip(b).map(f).collect();
            numbers
                .map(Data::Ints)
                .ok_or_else(|| Refused::unsupported("a whole number is out of range"))
        }
        _ => Err(Refused::damaged("the two inputs differ in type")),
    }
}

/// Joins values along an axis.
pub(super) fn concat(values: &[&Value], along: usize, budget: &Budget) -> Result<Value, Refused> {
    let first = values
        .first()
        .ok_or_else(|| Refused::damaged("has no inputs"))?;
    let mut shape = first.shape.clone();
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
    let mut all = first.elements.clone();
    for value in &values[1..] {
        match (&mut all, &value.elements) {
            (Elements::Known(Data::Ints(all)), Elements::Known(Data::Ints(more))) => {
                all.extend(more)
            }
            (Elements::Known(Data::Floats(all)), Elements::Known(Data::Floats(more))) => {
                all.extend(more)
            }
            (
                Elements::Picks { stage, picks },
                Elements::Picks {
                    stage: other,
                    picks: more,
                },
            ) if stage == other => {
                picks.extend(more);
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
        starts.push((start, block));
        start += value.count();
    }
    let from: Vec<usize> = (0..outer)
        .flat_map(|o| {
            starts
                .iter()
                .map(move |&(start, block)| (start + o * block, block))
        })
        .flat_map(|(start, block)| start..start + block)
        .collect();
    let joined = Value {
        shape: vec![from.len()],
        elements: all,
    };
    Ok(joined.arranged(shape, &from))
}
