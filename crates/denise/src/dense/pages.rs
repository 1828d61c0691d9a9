//! Memory for the weights, in large pages where the system has them.
//!
//! A call of one matrix reads megabytes of weights, each once. In pages of 4 KB, finding out where a page is takes
//! a fifth of that time.

use crate::status::{Error, Status};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use std::alloc::{Layout, alloc, dealloc};

/// A large page of x86-64 and of most ARM systems.
const LARGE: usize = 2 << 20;
/// A cache line.
const SMALL: usize = 64;

/// A slice that starts at a page, if it is as large as one, and otherwise at a cache line.
pub(super) struct Pages<T> {
    start: NonNull<T>,
    len: usize,
    layout: Layout,
}

impl<T: Copy> Pages<T> {
    /// A slice of copies, without aborting if there is no memory.
    pub(super) fn filled(len: usize, value: T) -> Result<Pages<T>, Error> {
        const { assert!(size_of::<T>() > 0 && align_of::<T>() <= SMALL) };
        let layout = layout(len.max(1).checked_mul(size_of::<T>())).ok_or_else(out_of_memory)?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc(layout) }.cast::<T>();
        let start = NonNull::new(start).ok_or_else(out_of_memory)?;
        #[cfg(target_os = "linux")]
        if layout.align() == LARGE {
            // Before the memory is first written. Whether the system complies does not matter.
            // SAFETY: whole pages that are ours; the advice leaves contents and addresses as they are.
            unsafe { libc::madvise(start.as_ptr().cast(), layout.size(), libc::MADV_HUGEPAGE) };
        }
        for i in 0..len {
            // SAFETY: inside the allocation, which is aligned for T.
            unsafe { start.add(i).write(value) };
        }
        Ok(Pages { start, len, layout })
    }
}

fn out_of_memory() -> Error {
    Error::new(Status::Memory, "out of memory")
}

/// Whole large pages, or whole cache lines.
fn layout(size: Option<usize>) -> Option<Layout> {
    let size = size?;
    let unit = if size < LARGE { SMALL } else { LARGE };
    Layout::from_size_align(size.checked_next_multiple_of(unit)?, unit).ok()
}

impl<T> Deref for Pages<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: `len` values were written there.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.len).as_ref() }
    }
}

impl<T> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: `len` values were written there, and nobody else can reach them.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.len).as_mut() }
    }
}

impl<T> Drop for Pages<T> {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; values that are `Copy` need no dropping.
        unsafe { dealloc(self.start.as_ptr().cast(), self.layout) }
    }
}

// SAFETY: owns its values, as a `Vec` does.
unsafe impl<T: Send> Send for Pages<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Pages<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_where_it_should_and_refuses_what_cannot_be() {
        for len in [0, 1, 5, LARGE / 4 - 1, LARGE / 4, LARGE / 4 + 1] {
            let mut memory = Pages::filled(len, 7_u32).expect("a few megabytes");
            let unit = if len * 4 < LARGE { SMALL } else { LARGE };
            assert_eq!(memory.as_ptr() as usize % unit, 0);
            assert_eq!(memory.len(), len);
            assert!(memory.iter().all(|&x| x == 7));
            memory.fill(8);
            assert!(memory.iter().all(|&x| x == 8));
        }
        for len in [usize::MAX, usize::MAX / 4, isize::MAX as usize / 4, 1 << 50] {
            // Looked at, or a compiler leaves out the memory, and with it the failure.
            let memory = core::hint::black_box(Pages::filled(len, 7_u32));
            let error = memory.err().expect("too much");
            assert_eq!(error.status, Status::Memory);
        }
    }
}
