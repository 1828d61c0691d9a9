//! Buffers as a C program might pass them: anywhere in memory, with something of its own on both sides.

use std::mem::size_of;

/// What stands around a buffer, and in it before the call.
const FILL: u8 = 0xa5;
const MARGIN: usize = 32;

/// Room for values, `shift` bytes off their alignment.
pub(crate) struct Guarded {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Guarded {
    /// If `to_the_edge`, the buffer ends where its allocation ends, for AddressSanitizer to watch; else with a margin.
    pub(crate) fn new<T>(count: usize, shift: usize, to_the_edge: bool) -> Guarded {
        let len = count * size_of::<T>();
        let after = if to_the_edge { 0 } else { MARGIN };
        // The allocator aligns to 16 bytes at least; an aligned address is looked for all the same.
        let mut bytes = vec![FILL; MARGIN + 16 + shift + len + after];
        let start = MARGIN + bytes[MARGIN..].as_ptr().align_offset(16) + shift;
        bytes.truncate(start + len + after);
        bytes.shrink_to_fit();
        Guarded { bytes, start, len }
    }

    pub(crate) fn pointer<T>(&mut self) -> *mut T {
        self.bytes[self.start..].as_mut_ptr().cast()
    }

    /// Whether every byte in it is as it was made.
    pub(crate) fn is_untouched(&self) -> bool {
        self.bytes.iter().all(|&byte| byte == FILL)
    }

    /// The values. Panics if a byte beside them has changed.
    pub(crate) fn values<T>(&self) -> Vec<T> {
        let (before, rest) = self.bytes.split_at(self.start);
        let (inside, after) = rest.split_at(self.len);
        assert!(
            before.iter().chain(after).all(|&byte| byte == FILL),
            "a byte beside a buffer was written"
        );
        let each = inside.chunks_exact(size_of::<T>());
        // SAFETY: T is a float or a struct of numbers, for which any bytes will do, and each chunk is of its size.
        each.map(|chunk| unsafe { chunk.as_ptr().cast::<T>().read_unaligned() })
            .collect()
    }

    pub(crate) fn fill<T: Copy>(&mut self, values: &[T]) {
        assert_eq!(self.len, size_of_val(values));
        // SAFETY: as many bytes as the buffer has, checked above; the two do not overlap.
        unsafe {
            let from = values.as_ptr().cast::<u8>();
            self.pointer::<u8>()
                .copy_from_nonoverlapping(from, self.len);
        }
    }
}
