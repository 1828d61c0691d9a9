//! Operators that only move elements.

use super::budget::Budget;
use super::error::Refused;
use super::value::{Value, axis, places, strides, wrapped};
use crate::memory::{all_collected, collected, filled, push};
use crate::status::Error;

pub(super) fn reshape(x: &Value, target: &[i64], zero_is_a_size: bool) -> Result<Value, Refused> {
    let mut shape = Vec::new();
    let mut open = None;
    for (i, &size) in target.iter().enumerate() {
        let size = match size {
            -1 if open.is_none() => {
                open = Some(i);
                1
            }
            0 if !zero_is_a_size => *x
                .shape
                .get(i)
                .ok_or_else(|| Refused::damaged("the new shape has too many axes"))?,
            size => usize::try_from(size)
                .map_err(|_| Refused::damaged("the new shape has a negative size"))?,
        };
        push(&mut shape, size)?;
    }
    if let Some(i) = open {
        let known: usize = shape
            .iter()
            .try_fold(1_usize, |count, &size| count.checked_mul(size))
            .unwrap_or(0);
        if known == 0 || !x.count().is_multiple_of(known) {
            return Err(Refused::damaged("the new shape does not fit"));
        }
        shape[i] = x.count() / known;
    }
    x.reshaped(shape)
}

/// To two axes; those from `at` on become the second.
pub(super) fn flatten(x: &Value, at: i64) -> Result<Value, Refused> {
    let rank = x.shape.len();
    let at = wrapped(at, rank)
        .or_else(|| (usize::try_from(at) == Ok(rank)).then_some(rank))
        .ok_or_else(|| Refused::damaged("there is no such axis"))?;
    let (outer, inner) = x.shape.split_at(at);
    x.reshaped(collected(
        [outer, inner].map(|sizes| sizes.iter().product()),
    )?)
}

pub(super) fn squeeze(x: &Value, axes: Option<&[i64]>) -> Result<Value, Refused> {
    let rank = x.shape.len();
    let drop = match axes {
        Some(axes) => all_collected(axes.iter().map(|&a| axis(a, rank)))?,
        None => collected((0..rank).filter(|&a| x.shape[a] == 1))?,
    };
    if drop.iter().any(|&a| x.shape[a] != 1) {
        return Err(Refused::damaged(
            "an axis to be dropped has more than one element",
        ));
    }
    let kept = (0..rank).filter(|a| !drop.contains(a));
    x.reshaped(collected(kept.map(|a| x.shape[a]))?)
}

pub(super) fn unsqueeze(x: &Value, axes: &[i64]) -> Result<Value, Refused> {
    let rank = x.shape.len() + axes.len();
    let mut new = all_collected(axes.iter().map(|&a| axis(a, rank)))?;
    new.sort_unstable();
    if new.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Refused::damaged("an axis appears twice"));
    }
    let mut old = x.shape.iter();
    let shape = (0..rank).map(|a| {
        if new.contains(&a) {
            1
        } else {
            old.next().copied().unwrap_or(1)
        }
    });
    x.reshaped(collected(shape)?)
}

pub(super) fn transpose(x: &Value, order: Option<&[i64]>) -> Result<Value, Refused> {
    let rank = x.shape.len();
    let order = match order {
        Some(order) => all_collected(order.iter().map(|&a| axis(a, rank)))?,
        None => collected((0..rank).rev())?,
    };
    if order.len() != rank || (0..rank).any(|a| !order.contains(&a)) {
        return Err(Refused::damaged("the order of axes does not fit"));
    }
    let steps = strides(&x.shape)?;
    let shape = collected(order.iter().map(|&a| x.shape[a]))?;
    let steps = collected(order.iter().map(|&a| steps[a]))?;
    let from = places(&shape, &steps)?;
    Ok(x.arranged(shape, &from)?)
}

/// Indices from a file, for an axis of this size.
fn indices(numbers: &[i64], size: usize) -> Result<Vec<usize>, Refused> {
    let place =
        |&i: &i64| wrapped(i, size).ok_or_else(|| Refused::damaged("an index is out of range"));
    all_collected(numbers.iter().map(place))
}

/// Slices of an axis, chosen by number.
pub(super) fn gather(
    x: &Value,
    chosen: &Value,
    along: i64,
    budget: &Budget,
) -> Result<Value, Refused> {
    let along = axis(along, x.shape.len())?;
    let chosen_at = indices(chosen.as_ints()?, x.shape[along])?;
    let (outer, inner) = (&x.shape[..along], &x.shape[along + 1..]);
    let shape = collected([outer, &chosen.shape, inner].into_iter().flatten().copied())?;
    budget.count(&shape)?;
    let step: usize = inner.iter().product();
    let block = step * x.shape[along];
    let outer: usize = outer.iter().product();
    let from = (0..outer)
        .flat_map(|o| chosen_at.iter().map(move |&i| o * block + i * step))
        .flat_map(|start| start..start + step);
    Ok(x.arranged(shape, &collected(from)?)?)
}

/// Slices chosen by the first few of their indices at once.
pub(super) fn gather_nd(x: &Value, chosen: &Value, budget: &Budget) -> Result<Value, Refused> {
    let Some((&depth, outer)) = chosen.shape.split_last() else {
        return Err(Refused::damaged("indices without an axis"));
    };
    if depth == 0 || depth > x.shape.len() {
        return Err(Refused::damaged("an index has too many parts, or none"));
    }
    let shape = collected([outer, &x.shape[depth..]].into_iter().flatten().copied())?;
    budget.count(&shape)?;
    let steps = strides(&x.shape)?;
    let size: usize = x.shape[depth..].iter().product();
    let mut from = Vec::new();
    for index in chosen.as_ints()?.chunks_exact(depth) {
        let mut start = 0;
        for (a, &i) in index.iter().enumerate() {
            start += steps[a] * indices(&[i], x.shape[a])?[0];
        }
        from.try_reserve(size).map_err(Error::from)?;
        from.extend(start..start + size);
    }
    Ok(x.arranged(shape, &from)?)
}

/// A part of some axes.
pub(super) fn slice(
    x: &Value,
    starts: &[i64],
    ends: &[i64],
    axes: Option<&[i64]>,
    steps: Option<&[i64]>,
) -> Result<Value, Refused> {
    let all = collected((0..).take(starts.len()))?;
    let axes = axes.unwrap_or(&all);
    if ends.len() != starts.len() || axes.len() != starts.len() {
        return Err(Refused::damaged("starts, ends and axes differ in number"));
    }
    if steps.is_some_and(|steps| steps.len() != starts.len() || steps.iter().any(|&step| step != 1))
    {
        return Err(Refused::unsupported("a step other than 1 is not supported"));
    }
    let mut kept = collected(x.shape.iter().map(|&size| (0, size)))?;
    for ((&start, &end), &a) in starts.iter().zip(ends).zip(axes) {
        let a = axis(a, x.shape.len())?;
        let size = x.shape[a];
        let clamped = |number: i64| {
            let number = if number < 0 {
                number.saturating_add_unsigned(size as u64)
            } else {
                number
            };
            usize::try_from(number.max(0)).map_or(size, |number| number.min(size))
        };
        if kept[a] != (0, size) {
            return Err(Refused::unsupported("an axis is cut twice"));
        }
        kept[a] = (clamped(start), clamped(end));
        let (first, after) = kept[a];
        // Exporters compute shapes with lists that may be empty; nothing else may be.
        if first >= after && (x.shape.len() > 1 || x.as_ints().is_err()) {
            return Err(Refused::unsupported("nothing is left"));
        }
        kept[a].1 = after.max(first);
    }
    let steps = strides(&x.shape)?;
    let shape = collected(kept.iter().map(|(start, end)| end - start))?;
    let first: usize = kept
        .iter()
        .zip(&steps)
        .map(|((start, _), step)| start * step)
        .sum();
    let mut from = places(&shape, &steps)?;
    from.iter_mut().for_each(|place| *place += first);
    Ok(x.arranged(shape, &from)?)
}

/// Repeats axes of one element as the rules of broadcasting say.
pub(super) fn broadcast(x: &Value, shape: &[usize]) -> Result<Vec<usize>, Refused> {
    let missing = shape
        .len()
        .checked_sub(x.shape.len())
        .ok_or_else(|| Refused::damaged("shapes do not fit each other"))?;
    let own = strides(&x.shape)?;
    let mut steps = filled(shape.len(), 0)?;
    for (a, &size) in x.shape.iter().enumerate() {
        match size {
            1 => {}
            _ if size == shape[missing + a] => steps[missing + a] = own[a],
            _ => return Err(Refused::damaged("shapes do not fit each other")),
        }
    }
    Ok(places(shape, &steps)?)
}

/// The shape that two shapes have in common.
pub(super) fn common_shape(a: &[usize], b: &[usize]) -> Result<Vec<usize>, Refused> {
    let rank = a.len().max(b.len());
    let size = |shape: &[usize], axis: usize| {
        (axis + shape.len())
            .checked_sub(rank)
            .map_or(1, |i| shape[i])
    };
    all_collected((0..rank).map(|axis| match (size(a, axis), size(b, axis)) {
        (a, 1) => Ok(a),
        (1, b) => Ok(b),
        (a, b) if a == b => Ok(a),
        _ => Err(Refused::damaged("shapes do not fit each other")),
    }))
}
