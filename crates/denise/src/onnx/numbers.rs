//! Operators that an unrolled network has and a dense one has not, on known numbers.

use super::arrange::{broadcast, common_shape, slice};
use super::budget::Budget;
use super::contract::Contraction;
use super::error::Refused;
use super::operator::Call;
use super::tensor::Data;
use super::value::{Elements, Value, axis};
use crate::memory::{all_collected, collected, copied, filled};

/// What the node gives, or `None` if its operator is not one of these.
pub(super) fn run(
    call: &mut Call<'_, '_>,
    opset: i64,
    budget: &Budget,
) -> Result<Option<Vec<Value>>, Refused> {
    let value = match call.node.op {
        "Max" => floats(call, budget, f32::max),
        "Min" => floats(call, budget, f32::min),
        "Neg" => map(call, |x| -x),
        "Abs" => map(call, f32::abs),
        "Sqrt" => map(call, f32::sqrt),
        "Equal" => comparison(call, budget, |a, b| a == b),
        "GreaterOrEqual" => comparison(call, budget, |a, b| a >= b),
        "Clip" => clip(call),
        "Where" => choose(call, budget),
        "MatMul" => matmul(call, budget),
        "ReduceSum" => reduce(call, 13, opset, |a, b| a + b),
        "ReduceMax" => reduce(call, 18, opset, f32::max),
        "Split" => return split(call).map(Some),
        _ => return Ok(None),
    };
    Ok(Some(collected([value?])?))
}

fn map(call: &Call<'_, '_>, f: impl Fn(f32) -> f32) -> Result<Value, Refused> {
    call.at_most(1)?;
    let x = call.input(0)?;
    let numbers = collected(x.as_floats()?.iter().map(|&x| f(x)))?;
    Ok(Value::floats(&x.shape, numbers)?)
}

/// Two inputs in the shape that they have in common.
fn pair(call: &Call<'_, '_>, budget: &Budget) -> Result<(Value, Value), Refused> {
    call.at_most(2)?;
    let (a, b) = (call.input(0)?, call.input(1)?);
    let shape = common_shape(&a.shape, &b.shape)?;
    budget.count(&shape)?;
    let spread = |x: &Value| {
        let from = broadcast(x, &shape)?;
        Ok::<_, Refused>(x.arranged(copied(&shape)?, &from)?)
    };
    Ok((spread(a)?, spread(b)?))
}

fn floats(
    call: &Call<'_, '_>,
    budget: &Budget,
    f: impl Fn(f32, f32) -> f32,
) -> Result<Value, Refused> {
    let (a, b) = pair(call, budget)?;
    let pairs = a.as_floats()?.iter().zip(b.as_floats()?);
    let numbers = collected(pairs.map(|(&a, &b)| f(a, b)))?;
    Ok(Value::floats(&a.shape, numbers)?)
}

fn comparison(
    call: &Call<'_, '_>,
    budget: &Budget,
    f: impl Fn(i64, i64) -> bool,
) -> Result<Value, Refused> {
    let (a, b) = pair(call, budget)?;
    let pairs = a.as_ints()?.iter().zip(b.as_ints()?);
    let numbers = collected(pairs.map(|(&a, &b)| i64::from(f(a, b))))?;
    Ok(Value::ints(&a.shape, numbers)?)
}

fn clip(call: &Call<'_, '_>) -> Result<Value, Refused> {
    call.at_most(3)?;
    let limit = |i: usize| call.optional(i).map(Value::as_float).transpose();
    let (least, most) = (limit(1)?, limit(2)?);
    let x = call.input(0)?;
    let limited = |&x: &f32| {
        let x = least.map_or(x, |least| x.max(least));
        most.map_or(x, |most| x.min(most))
    };
    let numbers = collected(x.as_floats()?.iter().map(limited))?;
    Ok(Value::floats(&x.shape, numbers)?)
}

fn choose(call: &Call<'_, '_>, budget: &Budget) -> Result<Value, Refused> {
    call.at_most(3)?;
    let (mask, a, b) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let shape = common_shape(&common_shape(&mask.shape, &a.shape)?, &b.shape)?;
    budget.count(&shape)?;
    let (mask_at, a_at, b_at) = (
        broadcast(mask, &shape)?,
        broadcast(a, &shape)?,
        broadcast(b, &shape)?,
    );
    let (mask, a, b) = (mask.as_ints()?, a.as_floats()?, b.as_floats()?);
    let places = mask_at.into_iter().zip(a_at).zip(b_at);
    let chosen = places.map(|((m, i), j)| if mask[m] != 0 { a[i] } else { b[j] });
    Ok(Value::floats(&shape, collected(chosen)?)?)
}

fn matmul(call: &Call<'_, '_>, budget: &Budget) -> Result<Value, Refused> {
    call.at_most(2)?;
    let (a, b) = (call.input(0)?, call.input(1)?);
    let product = Contraction::matmul(a, b, budget)?;
    Ok(product.numbers(a.as_floats()?, b.as_floats()?)?)
}

/// Along some axes, which stay with one element.
fn reduce(
    call: &mut Call<'_, '_>,
    input_since: i64,
    opset: i64,
    f: impl Fn(f32, f32) -> f32,
) -> Result<Value, Refused> {
    call.at_most(2)?;
    let axes = call.list("axes", 1, input_since, opset)?;
    if call.int("keepdims", 1)? != 1 {
        return Err(Refused::unsupported(
            "keepdims other than 1 is not supported",
        ));
    }
    let x = call.input(0)?;
    let rank = x.shape.len();
    let axes = match axes {
        Some(axes) => all_collected(axes.iter().map(|&a| axis(a, rank)))?,
        None => collected(0..rank)?,
    };
    let mut shape = copied(&x.shape)?;
    for a in axes {
        shape[a] = 1;
    }
    // Where each element goes.
    let count = shape.iter().product();
    let template = Value::ints(&shape, filled(count, 0)?)?;
    let to = broadcast(&template, &x.shape)?;
    let mut result: Vec<Option<f32>> = filled(count, None)?;
    for (&x, to) in x.as_floats()?.iter().zip(to) {
        result[to] = Some(result[to].map_or(x, |sum| f(sum, x)));
    }
    let numbers = collected(result.into_iter().flatten())?;
    Ok(Value::floats(&shape, numbers)?)
}

fn split(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refused> {
    call.at_most(2)?;
    let along = call.int("axis", 0)?;
    let x = call.input(0)?;
    if !matches!(x.elements, Elements::Known(Data::Floats(_))) {
        return Err(Refused::unsupported("needs floats"));
    }
    let sizes = call.input(1)?.as_ints()?;
    let size = x.shape[axis(along, x.shape.len())?] as i64;
    if sizes.iter().any(|&part| !(1..=size).contains(&part)) || sizes.iter().sum::<i64>() != size {
        return Err(Refused::damaged("the parts do not make up the whole"));
    }
    let mut start = 0;
    all_collected(sizes.iter().map(|&part| {
        start += part;
        slice(x, &[start - part], &[start], Some(&[along]), None)
    }))
}
