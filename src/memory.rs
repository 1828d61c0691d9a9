//! Memory that may not be there: the host must survive it.

use core::ptr::NonNull;
use denise_rust::{Element, Error, Status};
use std::alloc::{Layout, alloc_zeroed};

fn short() -> Error {
    Error::new(Status::Memory, "out of memory")
}

/// So many zeros. If they are many, the system has them as pages that nobody has touched yet, and that cost nothing
/// until they are used.
pub(crate) fn zeros<F: Element>(len: usize) -> Result<Vec<F>, Error> {
    let layout = Layout::array::<F>(len).map_err(|_| short())?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the size is not zero.
    let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(short)?;
    // SAFETY: allocated as a Vec of that capacity would be; zero bytes are the number 0 of an f32 and an f64, and there
    // is no other element.
    Ok(unsafe { Vec::from_raw_parts(start.as_ptr().cast(), len, len) })
}

/// `Box::into_raw` of `Box::new`.
pub(crate) fn boxed<T>(value: T) -> Result<NonNull<T>, Error> {
    let mut one = Vec::new();
    one.try_reserve_exact(1).map_err(|_| short())?;
    one.push(value);
    // As long as there is room for, so nothing is moved. A boxed slice of one value has the layout of a boxed value.
    Ok(NonNull::from(Box::leak(one.into_boxed_slice())).cast())
}
