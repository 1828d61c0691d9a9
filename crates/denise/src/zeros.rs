//! Memory full of zeros that is reserved now and touched now, or as it is used.
//!
//! A page costs a microsecond or two when it is touched for the first time. So what the next call needs is touched when
//! a model is loaded, and what perhaps no call ever needs is only reserved. Large pages cost less for each byte.
//!
//! An allocator does not do as well: it clears what was in use before, which touches it.

use crate::simd::Real;
use crate::status::{Error, Status};
use core::ptr::NonNull;
use core::slice;
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// A cache line. Memory starts at one.
pub(crate) const LINE: usize = 64;
/// The smallest page that there is.
const PAGE: usize = 4096;

/// So many bytes, all zero until they are written.
pub struct Zeros {
    start: NonNull<u8>,
    len: usize,
    origin: Origin,
}

#[derive(Clone, Copy)]
enum Origin {
    Allocated(Layout),
    /// From the system, whose pages are zero when they are first touched.
    #[cfg(all(any(target_os = "linux", windows), not(miri)))]
    Mapped,
}

impl Zeros {
    /// Reserves `len` bytes. What need not be touched at once is not, if that is a good part of it.
    pub fn new(len: usize, touched: usize) -> Result<Zeros, Error> {
        #[cfg(all(any(target_os = "linux", windows), not(miri)))]
        if let Some(mapped) = mapped::zeros(len, touched)? {
            return Ok(mapped);
        }
        let _ = touched;
        let layout = Layout::from_size_align(len.max(1), LINE).map_err(|_| out_of_memory())?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let mut zeros = Zeros {
            start: NonNull::new(start).ok_or_else(out_of_memory)?,
            len,
            origin: Origin::Allocated(layout),
        };
        // An allocator may know that its pages are zero, and leave them alone.
        zeros.touch(len);
        Ok(zeros)
    }

    /// Has the system find a page for each of the first `len` bytes.
    fn touch(&mut self, len: usize) {
        for at in (0..len).step_by(PAGE) {
            // SAFETY: inside of the memory, which is ours. Volatile, or a compiler that knows of the zeros drops it.
            unsafe { self.start.add(at).write_volatile(0) };
        }
    }

    /// As many values as there is room for, with whatever was written there last.
    #[allow(private_bounds, reason = "sealed: f32 or f64")]
    pub fn values<F: Real>(&mut self) -> &mut [F] {
        const { assert!(align_of::<F>() <= LINE) };
        let len = self.len / size_of::<F>();
        // SAFETY: ours, initialised, and aligned; any bytes are a floating-point number, which is all that `Real` is.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr().cast(), len) }
    }
}

impl Drop for Zeros {
    fn drop(&mut self) {
        match self.origin {
            // SAFETY: allocated with this layout.
            Origin::Allocated(layout) => unsafe { dealloc(self.start.as_ptr(), layout) },
            #[cfg(all(any(target_os = "linux", windows), not(miri)))]
            Origin::Mapped => mapped::unmap(self.start, self.len),
        }
    }
}

// SAFETY: owns its bytes, as a `Vec` does.
unsafe impl Send for Zeros {}
// SAFETY: as above.
unsafe impl Sync for Zeros {}

fn out_of_memory() -> Error {
    Error::new(Status::Memory, "out of memory")
}

#[cfg(all(target_os = "linux", not(miri)))]
mod mapped {
    use super::{Origin, PAGE, Zeros, out_of_memory};
    use crate::status::Error;
    use core::ptr::{self, NonNull};

    /// A large page of x86-64 and of most ARM systems.
    const LARGE: usize = 2 << 20;
    /// From here on, one large page is found and cleared faster than so many small ones.
    const LARGE_PAYS: usize = 512 << 10;
    /// So much that is not needed at once is worth a mapping of its own.
    const WORTHWHILE: usize = 16 << 10;

    /// Memory from the system; `None` if an allocator does as well.
    pub(super) fn zeros(len: usize, touched: usize) -> Result<Option<Zeros>, Error> {
        let large = touched >= LARGE_PAYS;
        if !large && len.saturating_sub(touched) < WORTHWHILE {
            return Ok(None);
        }
        let unit = if large { LARGE } else { PAGE };
        let whole = len
            .checked_next_multiple_of(unit)
            .ok_or_else(out_of_memory)?;
        let start = map(whole, unit)?;
        let mut zeros = Zeros {
            start,
            len: whole,
            origin: Origin::Mapped,
        };
        if large {
            // Before the memory is first touched. Whether the system complies does not matter.
            // SAFETY: whole pages that are ours; the advice leaves contents and addresses as they are.
            unsafe { libc::madvise(start.as_ptr().cast(), whole, libc::MADV_HUGEPAGE) };
        }
        zeros.touch(touched.min(whole));
        Ok(Some(zeros))
    }

    /// `len` bytes that start at a multiple of `unit`; both are whole pages.
    fn map(len: usize, unit: usize) -> Result<NonNull<u8>, Error> {
        // Somewhere in here is such a place, and the rest goes back.
        let room = len.checked_add(unit - PAGE).ok_or_else(out_of_memory)?;
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a new mapping, at an address of the system's choice.
        let first = unsafe { libc::mmap(ptr::null_mut(), room, access, kind, -1, 0) };
        if first == libc::MAP_FAILED {
            return Err(out_of_memory());
        }
        let first = first.cast::<u8>();
        let before = first.align_offset(unit).min(room - len);
        // SAFETY: inside of the mapping, which is not at address 0.
        let start = unsafe { NonNull::new_unchecked(first.add(before)) };
        for (at, len) in [(0, before), (before + len, room - len - before)] {
            if len > 0 {
                // SAFETY: as above.
                let at = unsafe { NonNull::new_unchecked(first.add(at)) };
                unmap(at, len);
            }
        }
        Ok(start)
    }

    /// Gives pages back that nobody uses any more.
    pub(super) fn unmap(start: NonNull<u8>, len: usize) {
        // SAFETY: whole pages of a mapping of this file, which their owner no longer uses.
        unsafe { libc::munmap(start.as_ptr().cast(), len) };
    }
}

/// Large pages need a privilege here that few processes have.
#[cfg(all(windows, not(miri)))]
mod mapped {
    use super::{Origin, PAGE, Zeros, out_of_memory};
    use crate::status::Error;
    use core::ffi::c_void;
    use core::ptr::{self, NonNull};

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn VirtualAlloc(at: *const c_void, len: usize, kind: u32, access: u32) -> *mut c_void;
        fn VirtualFree(at: *mut c_void, len: usize, kind: u32) -> i32;
    }
    const MEM_COMMIT: u32 = 0x1000;
    const MEM_RESERVE: u32 = 0x2000;
    const MEM_RELEASE: u32 = 0x8000;
    const PAGE_READWRITE: u32 = 4;

    /// Mappings start at multiples of this, so smaller ones would waste addresses.
    const WORTHWHILE: usize = 64 << 10;

    /// Memory from the system; `None` if an allocator does as well. It is promised at once, and found when touched.
    pub(super) fn zeros(len: usize, touched: usize) -> Result<Option<Zeros>, Error> {
        if len.saturating_sub(touched) < WORTHWHILE {
            return Ok(None);
        }
        let whole = len
            .checked_next_multiple_of(PAGE)
            .ok_or_else(out_of_memory)?;
        // SAFETY: a new mapping, at an address of the system's choice.
        let start =
            unsafe { VirtualAlloc(ptr::null(), whole, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE) };
        let mut zeros = Zeros {
            start: NonNull::new(start.cast()).ok_or_else(out_of_memory)?,
            len: whole,
            origin: Origin::Mapped,
        };
        zeros.touch(touched.min(whole));
        Ok(Some(zeros))
    }

    /// Gives a whole mapping back that nobody uses any more.
    pub(super) fn unmap(start: NonNull<u8>, _: usize) {
        // SAFETY: the start of a mapping of this file, which its owner no longer uses.
        unsafe { VirtualFree(start.as_ptr().cast(), 0, MEM_RELEASE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_at_a_cache_line_of_every_length() {
        for len in [0, 1, LINE, 70_000, 600_000, (2 << 20) + 1, 5 << 20] {
            for touched in [0, len / 2, len] {
                let mut zeros = Zeros::new(len, touched).unwrap();
                let values = zeros.values::<f32>();
                assert!(values.len() >= len / 4);
                assert_eq!(values.as_ptr() as usize % LINE, 0);
                assert!(values.iter().all(|&x| x == 0.0), "{len} {touched}");
                values.fill(7.0);
                assert!(zeros.values::<f64>().iter().all(|&x| x != 0.0));
            }
        }
    }

    #[test]
    fn what_cannot_be_reserved_is_an_error() {
        for len in [usize::MAX, isize::MAX as usize, 1 << 60] {
            for touched in [0, 1 << 20] {
                let error = Zeros::new(len, touched).err().expect("too much");
                assert_eq!(error.status, Status::Memory);
            }
        }
    }
}
