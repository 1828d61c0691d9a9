//! What a model is loaded for.

use core::ffi::c_char;
use core::mem::offset_of;
use denise_rust::{Error, InstructionSet, Options, Status};

/// For denise_options.flags: use only instructions that every machine of this architecture has (SSE2, NEON).
/// By default the library uses the best instructions that it finds.
pub const DENISE_FLAG_PORTABLE: u32 = 1;
/// For denise_options.flags: use AVX2 and FMA, or fail with DENISE_ERR_UNSUPPORTED.
pub const DENISE_FLAG_AVX2: u32 = 2;
/// For denise_options.flags, alone or with another flag: keep the weights of a dense network as 16-bit floating-point
/// numbers, with eleven significant bits. This halves the memory, and more than halves the time of a call with one
/// matrix. The built-in network and its kind have few weights and give DENISE_ERR_UNSUPPORTED.
pub const DENISE_FLAG_F16: u32 = 4;
/// For denise_options.flags, alone or with another flag: split the correlation matrix D^(-1/2) M D^(-1/2), where D is the
/// diagonal of M, and scale the result back. L then does not depend on the unit of any asset. An asset whose variance
/// is not positive gets zeros in L. A dense network gives DENISE_ERR_UNSUPPORTED.
pub const DENISE_FLAG_CORRELATION: u32 = 8;
/// For denise_options.flags, alone or with another flag: several starts, each of which runs through all layers, and the
/// result that leaves the least unexplained is kept. This takes about four times the time, and gives smaller errors
/// where outliers are large or many. It is a choice between candidates, so L is not continuous in M. A dense network
/// gives DENISE_ERR_UNSUPPORTED.
pub const DENISE_FLAG_CAREFUL: u32 = 16;
/// For denise_options.flags, alone or with another flag: NaN in the lower triangle of m means that an entry is not
/// known. L is complete, S is NaN where M is, and reports count the missing entries; their other figures are about the
/// known ones. An asset of which nothing is known off the diagonal gets zeros in L. Infinity stays an error. Results for
/// matrices without NaN are the same as without this flag, to the bit. A dense network gives DENISE_ERR_UNSUPPORTED.
pub const DENISE_FLAG_MISSING: u32 = 32;
/// For denise_options.flags, alone or with another flag but DENISE_FLAG_F16: keep the weights of a dense network as
/// 8-bit whole numbers, with a scale for each output of a layer. This takes a quarter of the memory, and less than
/// a quarter of the time of a call with one matrix. A weight changes by up to 1/254 of the largest of its output, and U
/// typically by one part in a hundred: see what that means for your network. The built-in network and its kind have few
/// weights and give DENISE_ERR_UNSUPPORTED.
pub const DENISE_FLAG_INT8: u32 = 64;
/// For denise_options.flags: use AVX-512, as much of it as Ice Lake and Zen 4 have, or fail with DENISE_ERR_UNSUPPORTED.
/// The library uses it by default where it finds it, unless it was built small; DENISE_FLAG_AVX2 keeps it from that.
/// Results are the same to the bit.
pub const DENISE_FLAG_AVX512: u32 = 128;

/// Options of denise_load. Call denise_options_init, then set what you need. The library reads the struct during the
/// call and keeps no pointer to it.
#[repr(C)]
pub struct denise_options {
    /// Set by denise_options_init; do not change it. It tells the library which header the program was compiled with,
    /// so that structs can grow and old programs keep working.
    pub struct_size: usize,
    /// Size of the matrices, at most 512. 0: the size that the model was trained for, 20 for the built-in network.
    /// A dense network takes that size only; any other gives DENISE_ERR_SHAPE.
    pub n: u32,
    /// Largest rank of L, less than n and at most 32. 0: the rank that the model was trained for, 3 for the built-in
    /// network. A dense network takes that rank only.
    pub k: u32,
    /// Calls that can run at once on this handle without waiting for each other, at most 4096. Working memory for each
    /// is reserved when the model is loaded. 0: one for each CPU, or fewer if they would need more than 64 MB. Loading then
    /// touches the memory of the first call, else that of all: the first use of a page takes a microsecond or two.
    pub max_concurrency: u32,
    /// Threads that one call may use for a large batch, for a matrix with n of 200 or more, or for any batch of a dense
    /// network, at most 256. 0 or 1: the calling thread only. denise_load starts the others and denise_free joins them.
    /// Calls with few matrices go without them where that is found to be faster, as it is where cores are far apart.
    /// On Linux they block all signals except those for their own faults, such as SIGSEGV.
    pub threads: u32,
    /// DENISE_FLAG_ values combined with |, or 0.
    pub flags: u32,
    /// Optional buffer for one line that says why loading failed. It is cut to fit and always terminated; on success it
    /// is empty.
    pub message: *mut c_char,
    /// Size of that buffer in bytes.
    pub message_size: usize,
}

impl denise_options {
    pub(crate) const DEFAULT: denise_options = denise_options {
        struct_size: size_of::<denise_options>(),
        n: 0,
        k: 0,
        max_concurrency: 0,
        threads: 0,
        flags: 0,
        message: core::ptr::null_mut(),
        message_size: 0,
    };

    /// The first `size` bytes of the caller's struct, and the defaults for what its header does not have.
    ///
    /// # Safety
    /// There are that many bytes, and no more than a denise_options has.
    pub(crate) unsafe fn read(options: *const denise_options, size: usize) -> denise_options {
        let mut known = denise_options::DEFAULT;
        // SAFETY: as the caller promises; any bytes make a valid struct, and they may lie anywhere.
        unsafe {
            let to = (&raw mut known).cast::<u8>();
            core::ptr::copy_nonoverlapping(options.cast::<u8>(), to, size);
        }
        known
    }

    /// The same for the Rust library.
    pub(crate) fn settings(&self) -> Result<Options, Error> {
        Ok(Options {
            n: self.n as usize,
            k: self.k as usize,
            max_concurrency: self.max_concurrency as usize,
            threads: self.threads as usize,
            instruction_set: instruction_set(self.flags & !FREE)?,
            half_weights: self.flags & DENISE_FLAG_F16 != 0,
            byte_weights: self.flags & DENISE_FLAG_INT8 != 0,
            correlation: self.flags & DENISE_FLAG_CORRELATION != 0,
            careful: self.flags & DENISE_FLAG_CAREFUL != 0,
            missing: self.flags & DENISE_FLAG_MISSING != 0,
        })
    }

    /// Writes the message, if the caller wants one.
    ///
    /// # Safety
    /// `message` is null or has `message_size` writable bytes.
    pub(crate) unsafe fn write_message(&self, text: &str) {
        if self.message.is_null() || self.message_size == 0 {
            return;
        }
        let mut length = text.len().min(self.message_size - 1);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        // SAFETY: length + 1 <= message_size bytes are written; text and buffer do not overlap.
        unsafe {
            core::ptr::copy_nonoverlapping(text.as_ptr().cast(), self.message, length);
            self.message.add(length).write(0);
        }
    }
}

/// Flags that go with any other.
const FREE: u32 = DENISE_FLAG_F16
    | DENISE_FLAG_CORRELATION
    | DENISE_FLAG_CAREFUL
    | DENISE_FLAG_MISSING
    | DENISE_FLAG_INT8;

fn instruction_set(flags: u32) -> Result<InstructionSet, Error> {
    match flags {
        0 => Ok(InstructionSet::Best),
        DENISE_FLAG_PORTABLE => Ok(InstructionSet::Portable),
        DENISE_FLAG_AVX2 => Ok(InstructionSet::Avx2),
        DENISE_FLAG_AVX512 => Ok(InstructionSet::Avx512),
        _ => Err(Error::format(
            Status::Argument,
            format_args!(
                "flags, but for DENISE_FLAG_F16, DENISE_FLAG_INT8, DENISE_FLAG_CORRELATION, DENISE_FLAG_CAREFUL and \
                 DENISE_FLAG_MISSING, is {flags:#x}; it may be 0, DENISE_FLAG_PORTABLE, DENISE_FLAG_AVX2 or \
                 DENISE_FLAG_AVX512"
            ),
        )),
    }
}

/// Sets every option to its default. Pass sizeof *options as struct_size: nothing is written past it. Does nothing if
/// options is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_options_init(options: *mut denise_options, struct_size: usize) {
    // Without room for struct_size there is no header that has such a struct; denise_load will say so.
    if options.is_null() || struct_size < size_of::<usize>() {
        return;
    }
    let len = struct_size.min(size_of::<denise_options>());
    let size = struct_size.to_ne_bytes();
    // Every default is zero. Byte by byte, the ones between fields too, so that nothing of our stack is copied out.
    // SAFETY: not null, and the caller owns struct_size bytes there, which is room for the first field; they may lie
    // anywhere.
    unsafe {
        options.cast::<u8>().write_bytes(0, len);
        core::ptr::copy_nonoverlapping(size.as_ptr(), options.cast::<u8>(), size.len());
    }
}

// The one field that denise_load reads before it knows the rest.
const _: () = assert!(offset_of!(denise_options, struct_size) == 0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_past_the_size_that_is_given() {
        const ROOM: usize = 80;
        for size in 0..=ROOM {
            let mut bytes = [0xaa_u8; ROOM];
            // SAFETY: there is room for as much as the function is told.
            unsafe { denise_options_init(bytes.as_mut_ptr().cast(), size) };
            let written = if size < 8 {
                0
            } else {
                size.min(size_of::<denise_options>())
            };
            assert!(bytes[written..].iter().all(|&x| x == 0xaa), "{size}");
            if written > 0 {
                assert_eq!(bytes[..8], size.to_ne_bytes());
                assert!(bytes[8..written].iter().all(|&x| x == 0), "{size}");
            }
        }
    }

    #[test]
    fn what_an_older_header_does_not_have_is_as_by_default() {
        let full = denise_options {
            n: 7,
            k: 2,
            message_size: 99,
            ..denise_options::DEFAULT
        };
        // SAFETY: less than all of it.
        let old = unsafe { denise_options::read(&full, offset_of!(denise_options, message_size)) };
        assert_eq!((old.n, old.k, old.message_size), (7, 2, 0));
    }
}
