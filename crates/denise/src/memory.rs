//! Memory that may not be there.
//!
//! Loading happens inside of somebody else's process, which must survive it when memory runs out. `Vec::push`,
//! `collect` and `clone` end the process then; what is here gives an error in their place.

use crate::status::Error;
#[cfg(feature = "onnx")]
use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, DefaultHasher, Hash},
};

/// `push`.
#[cfg(feature = "onnx")]
pub(crate) fn push<T>(all: &mut Vec<T>, one: T) -> Result<(), Error> {
    all.try_reserve(1)?;
    all.push(one);
    Ok(())
}

/// `vec![value; len]`.
pub(crate) fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    all.try_reserve_exact(len)?;
    all.resize(len, value);
    Ok(all)
}

/// `to_vec`.
#[cfg(feature = "onnx")]
pub(crate) fn copied<T: Copy>(from: &[T]) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    all.try_reserve_exact(from.len())?;
    all.extend_from_slice(from);
    Ok(all)
}

/// `to_owned`.
#[cfg(feature = "onnx")]
pub(crate) fn owned(text: &str) -> Result<String, Error> {
    let mut all = String::new();
    all.try_reserve_exact(text.len())?;
    all.push_str(text);
    Ok(all)
}

/// `collect`.
#[cfg(feature = "onnx")]
pub(crate) fn collected<T>(values: impl IntoIterator<Item = T>) -> Result<Vec<T>, Error> {
    let values = values.into_iter();
    let mut all = Vec::new();
    all.try_reserve_exact(values.size_hint().0)?;
    for value in values {
        push(&mut all, value)?;
    }
    Ok(all)
}

/// `collect` of values that may be errors.
#[cfg(feature = "onnx")]
pub(crate) fn all_collected<T, E: From<Error>>(
    values: impl IntoIterator<Item = Result<T, E>>,
) -> Result<Vec<T>, E> {
    let values = values.into_iter();
    let mut all = Vec::new();
    for value in values {
        push(&mut all, value?)?;
    }
    Ok(all)
}

/// Values by name. Hashed without random keys, which are kept in thread-local memory: in a library that is opened late,
/// the first use of that ends the process when memory runs out.
#[cfg(feature = "onnx")]
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// `insert`.
#[cfg(feature = "onnx")]
pub(crate) fn insert<K: Eq + Hash, V>(
    map: &mut Map<K, V>,
    key: K,
    value: V,
) -> Result<Option<V>, Error> {
    map.try_reserve(1)?;
    Ok(map.insert(key, value))
}

/// Counts the times that each name appears.
#[cfg(feature = "onnx")]
pub(crate) fn counted<'a>(
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Map<&'a str, usize>, Error> {
    let mut counts = Map::default();
    for name in names {
        counts.try_reserve(1)?;
        *counts.entry(name).or_insert(0) += 1;
    }
    Ok(counts)
}

/// `Box::new`.
pub(crate) fn boxed<T>(value: T) -> Result<Box<T>, Error> {
    let mut one = Vec::new();
    one.try_reserve_exact(1)?;
    one.push(value);
    let one = Box::into_raw(one.into_boxed_slice());
    // SAFETY: a box of a slice of one value has the layout of a box of that value.
    Ok(unsafe { Box::from_raw(one.cast::<T>()) })
}
