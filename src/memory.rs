//! Memory that may not be there: the host must survive it.

use core::ptr::NonNull;
use denise_rust::{Error, Status};

fn short() -> Error {
    Error::new(Status::Memory, "out of memory")
}

/// So many zeros.
pub(crate) fn zeros<F: Copy + Default>(len: usize) -> Result<Vec<F>, Error> {
    let mut all = Vec::new();
    all.try_reserve_exact(len).map_err(|_| short())?;
    all.resize(len, F::default());
    Ok(all)
}

/// `Box::into_raw` of `Box::new`.
pub(crate) fn boxed<T>(value: T) -> Result<NonNull<T>, Error> {
    let mut one = Vec::new();
    one.try_reserve_exact(1).map_err(|_| short())?;
    one.push(value);
    // As long as there is room for, so nothing is moved. A boxed slice of one value has the layout of a boxed value.
    Ok(NonNull::from(Box::leak(one.into_boxed_slice())).cast())
}
