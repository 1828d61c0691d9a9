//! Memory that may not be there.
//!
//! Loading happens inside of somebody else's process, which must survive it when memory runs out. `Vec::push`, `collect`,
//! `clone` and `format!` end the process then; what is here gives an error in their place.

use crate::status::{Error, Status};
use core::fmt;
use core::ptr::NonNull;
use std::borrow::Cow;
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

/// `Box::into_raw` of `Box::new`.
pub(crate) fn boxed<T>(value: T) -> Result<NonNull<T>, Error> {
    let mut one = Vec::new();
    one.try_reserve_exact(1)?;
    one.push(value);
    // As long as there is room for, so nothing is moved. A boxed slice of one value has the layout of a boxed value.
    Ok(NonNull::from(Box::leak(one.into_boxed_slice())).cast())
}

/// `format!`, for the reason of an error. Where there is no memory for it, a sentence that needs none.
pub(crate) fn text(arguments: fmt::Arguments<'_>) -> Cow<'static, str> {
    struct Fallible(String);
    impl fmt::Write for Fallible {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0.try_reserve(part.len()).map_err(|_| fmt::Error)?;
            self.0.push_str(part);
            Ok(())
        }
    }
    let mut all = Fallible(String::new());
    match fmt::write(&mut all, arguments) {
        Ok(()) => Cow::Owned(all.0),
        Err(_) => Cow::Borrowed("there is no memory left to say why"),
    }
}

/// An error with a reason put together by `format_args!`.
pub(crate) fn error(status: Status, reason: fmt::Arguments<'_>) -> Error {
    Error::new(status, text(reason))
}
