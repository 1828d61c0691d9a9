//! The C ABI: the only `extern "C"` functions and the only guard against unwinding.
//!
//! Nothing here computes. Every function checks its arguments, turns pointers into slices and calls
//! the safe crate. cbindgen turns this file into `include/denise.h`, so comments on public items are
//! written for C programmers.
#![allow(non_camel_case_types)]
// Comments here are the header's, and say what a C caller must keep to.
#![allow(clippy::missing_safety_doc)]

use crate::batch::{Batch, Outputs, Report};
use crate::challengers::{Method, Solver};
use crate::last_error;
use crate::load::{File, read_file};
use crate::memory::{self, boxed, filled};
use crate::model::{Element, InstructionSet, Model, Options};
use crate::modes;
use crate::pool::{Pool, Task};
use crate::status::{Error, Status};
use core::ffi::{CStr, c_char, c_void};
use core::mem::offset_of;
use core::sync::atomic::{AtomicI32, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What a function returns: DENISE_OK, which is 0, or one of the DENISE_ERR_ codes. Codes are never reused;
/// a newer library may have more of them.
pub type denise_status = i32;

/// All went well: every output that was asked for is written.
pub const DENISE_OK: denise_status = 0;
/// A pointer that must not be NULL is NULL. No output was written.
pub const DENISE_ERR_NULL_POINTER: denise_status = 1;
/// An argument is out of range: a rank that is not less than n, an unknown flag or method, buffers that overlap, a
/// struct_size that is too small (denise_options_init was not called). No output was written.
pub const DENISE_ERR_ARGUMENT: denise_status = 2;
/// A file cannot be read: it is missing, not permitted, or no file.
pub const DENISE_ERR_IO: denise_status = 3;
/// The data is damaged, or is no model.
pub const DENISE_ERR_FORMAT: denise_status = 4;
/// A model, size, method or instruction set that this build or machine does not have.
pub const DENISE_ERR_UNSUPPORTED: denise_status = 5;
/// Sizes that do not fit each other, or whose product overflows. No output was written.
pub const DENISE_ERR_SHAPE: denise_status = 6;
/// At least one matrix has a NaN or an infinity; all others were decomposed.
pub const DENISE_ERR_NOT_FINITE: denise_status = 7;
/// Out of memory, or of threads.
pub const DENISE_ERR_MEMORY: denise_status = 8;
/// A bug in the library. The outputs are unspecified; the process is intact.
pub const DENISE_ERR_INTERNAL: denise_status = 9;

/// For denise_options.flags: use only what every machine of this architecture has (SSE2, NEON).
/// Without a flag, the library takes the best that it finds on the machine.
pub const DENISE_FLAG_PORTABLE: u32 = 1;
/// For denise_options.flags: use AVX2 and FMA, or fail with DENISE_ERR_UNSUPPORTED.
pub const DENISE_FLAG_AVX2: u32 = 2;
/// For denise_options.flags, alone or with one of the others: keep the weights of a dense network as 16-bit
/// floating-point numbers. Half the memory and, for calls of one matrix, less than half of the time; each weight
/// keeps eleven significant bits. DENISE_ERR_UNSUPPORTED for an unrolled network, which has too few weights to gain.
pub const DENISE_FLAG_F16: u32 = 4;

/// A method of denise_solve_batch, as are the four below. docs/CHALLENGERS.md says how near they are to the LRS
/// library's.
///
/// Eigen-truncation: the k largest eigenvalues that are positive. L is positive semidefinite with rank at
/// most k; s = m - l. lambda is not used.
pub const DENISE_METHOD_EIGEN: i32 = 1;
/// Principal component pursuit (Candes et al. 2011) by alternating directions, until (L, S) changes by less
/// than 1e-5 in a step, at most 1000 steps. lambda weighs |S|_1 against the nuclear norm of L; the paper's is
/// 0.56/sqrt(n) (for its stocks 0.64/sqrt(n)). k is not used: the rank follows from lambda, and L need not
/// be positive semidefinite. s is the method's own, with exact zeros: l + s is m to 1e-3, usually 1e-4.
pub const DENISE_METHOD_PCP: i32 = 2;
/// The same problem by inexact augmented Lagrange multipliers (Lin et al. 2010), until |M - L - S|_F is less
/// than 1e-7 |M|_F, at most 1000 steps. lambda, k, l and s as for DENISE_METHOD_PCP; l + s is m to 1e-7.
pub const DENISE_METHOD_IALM: i32 = 3;
/// Fast principal component pursuit (Rodriguez and Wohlberg 2013): k loops, in which the rank grows from 1 to at
/// most k. L need not be positive semidefinite; s = m - l. lambda, in the units of m, is what entries of S
/// are shrunk by inside; the paper's is 1/sqrt(n).
pub const DENISE_METHOD_FPCP: i32 = 4;
/// Robust PCA by gradient descent (Yi et al. 2016), at most 29 steps, until the error is below 2e-4 or does not
/// fall any more. L has rank at most k and need not be positive semidefinite; s = m - l. lambda is here
/// the largest share of outliers in a row, less than 1; the paper's is 0.1 (none for n < 10).
pub const DENISE_METHOD_RPCA_GD: i32 = 5;

/// A loaded network, made by denise_load and freed by one call of denise_free. Immutable: any number of threads
/// may use one handle at once.
pub struct denise_model {
    model: Model,
    pool: Option<Pool<Job>>,
    staging_f32: Mutex<Vec<f32>>,
    staging_f64: Mutex<Vec<f64>>,
}

/// What a model is loaded for. Fill it with denise_options_init, then change what you need. It is read while
/// loading and not kept.
#[repr(C)]
pub struct denise_options {
    /// sizeof(denise_options). Lets the struct grow without breaking programs built against an older header.
    pub struct_size: usize,
    /// Size of the matrices, at most 512. 0: the model's own (20 for the built-in network, which takes any). A
    /// dense network takes its own only; DENISE_ERR_SHAPE for another.
    pub n: u32,
    /// Largest rank of L, less than n and at most 32. 0: the model's own (3 for the built-in network, which takes
    /// any; a dense network as for n).
    pub k: u32,
    /// Calls that may run at once on this handle without waiting for each other; each reserves its
    /// working memory when the model is loaded. At most 4096. 0: the number of CPUs, or as many calls as have
    /// their memory in 64 MB, whichever is less; at least one.
    pub max_concurrency: u32,
    /// Threads that one call may use for a large batch, at most 256. 0 or 1: the calling thread only.
    /// Others are started by denise_load and joined by denise_free. On Linux they block all signals but those of a
    /// thread's own faults, such as SIGSEGV.
    pub threads: u32,
    /// DENISE_FLAG_ values, or 0.
    pub flags: u32,
    /// Optional: receives one line that says why loading failed, cut to fit, always terminated; on
    /// success the empty string.
    pub message: *mut c_char,
    /// Size of that buffer in bytes.
    pub message_size: usize,
}

/// What is known of one decomposition. Enough to watch a stream of matrices without asking for l or s.
#[repr(C)]
pub struct denise_report {
    /// Sum of |S_ij|, at most FLT_MAX.
    pub l1: f32,
    /// ||M - L||_F / ||M||_F: 0 if L is all of M, and for the zero matrix.
    pub residual: f32,
    /// Share of entries with |S_ij| <= 0.01 * tr(M)/n, from 0 to 1.
    pub sparsity: f32,
    /// DENISE_OK, or DENISE_ERR_NOT_FINITE if this matrix has a NaN or an infinity (all else here is then NaN).
    pub status: i32,
}

// denise_report is the C name of Report: the same fields at the same places.
const _: () = {
    assert!(size_of::<denise_report>() == size_of::<Report>());
    assert!(offset_of!(denise_report, l1) == offset_of!(Report, l1));
    assert!(offset_of!(denise_report, residual) == offset_of!(Report, residual));
    assert!(offset_of!(denise_report, sparsity) == offset_of!(Report, sparsity));
    assert!(offset_of!(denise_report, status) == offset_of!(Report, status));
};

// The numbers of C are those of the enums.
const _: () = {
    assert!(DENISE_OK == Status::Ok as i32);
    assert!(DENISE_ERR_NULL_POINTER == Status::NullPointer as i32);
    assert!(DENISE_ERR_ARGUMENT == Status::Argument as i32);
    assert!(DENISE_ERR_IO == Status::Io as i32);
    assert!(DENISE_ERR_FORMAT == Status::Format as i32);
    assert!(DENISE_ERR_UNSUPPORTED == Status::Unsupported as i32);
    assert!(DENISE_ERR_SHAPE == Status::Shape as i32);
    assert!(DENISE_ERR_NOT_FINITE == Status::NotFinite as i32);
    assert!(DENISE_ERR_MEMORY == Status::Memory as i32);
    assert!(DENISE_ERR_INTERNAL == Status::Internal as i32);
    // Each is its place in the list, which denise_status_string relies on; and none is left out here.
    let mut place = 0;
    while place < Status::ALL.len() {
        assert!(Status::ALL[place] as usize == place);
        place += 1;
    }
    assert!(Status::ALL.len() == DENISE_ERR_INTERNAL as usize + 1);
    assert!(DENISE_METHOD_EIGEN == Method::Eigen as i32);
    assert!(DENISE_METHOD_PCP == Method::Pcp as i32);
    assert!(DENISE_METHOD_IALM == Method::Ialm as i32);
    assert!(DENISE_METHOD_FPCP == Method::Fpcp as i32);
    assert!(DENISE_METHOD_RPCA_GD == Method::RpcaGd as i32);
    assert!(Method::ALL.len() == 5);
};

/// The soname's number, from build.rs.
const ABI_VERSION: u32 = match u32::from_str_radix(env!("DENISE_ABI"), 10) {
    Ok(number) => number,
    Err(_) => panic!("build.rs sets a number"),
};
/// Size of `denise_options` in the first release; a caller's may be larger, never smaller.
const OPTIONS_SIZE: usize = size_of::<denise_options>();
const MAX_THREADS: u32 = 256;
/// Sets every option to its default. Does nothing if options is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_options_init(options: *mut denise_options) {
    if !options.is_null() {
        let default = denise_options {
            struct_size: OPTIONS_SIZE,
            n: 0,
            k: 0,
            max_concurrency: 0,
            threads: 0,
            flags: 0,
            message: core::ptr::null_mut(),
            message_size: 0,
        };
        // SAFETY: not null, and the caller owns a denise_options there.
        unsafe { options.write(default) }
    }
}

/// Loads a model. path NULL gives the network built into the library; else it names an ONNX file: one that the
/// program denise wrote or, unless the library was built without that, a stack of dense layers from M to U, to L or
/// to S and L, as Keras and PyTorch export it. options may be NULL, for the defaults. Allocates.
///
/// - On success *model is a handle for denise_free; on failure it is NULL, and options.message says why.
/// - DENISE_ERR_IO if the file cannot be read, DENISE_ERR_FORMAT if it is damaged or no model,
///   DENISE_ERR_UNSUPPORTED, with the operator's name, if it is an ONNX model of another kind.
/// - What will run is compared with the file's graph before this returns; a thread of the library's own, which
///   ends before this returns, does part of that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_load(
    path: *const c_char,
    options: *const denise_options,
    model: *mut *mut denise_model,
) -> denise_status {
    let source = if path.is_null() {
        Source::Builtin
    } else {
        // SAFETY: not null, and the caller passes a terminated string.
        Source::File(unsafe { CStr::from_ptr(path) })
    };
    // SAFETY: the caller's contract is that of this function.
    unsafe { load(source, options, model) }
}

/// Loads a model from size bytes of memory, which may be released afterwards; else as denise_load.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_load_memory(
    data: *const c_void,
    size: usize,
    options: *const denise_options,
    model: *mut *mut denise_model,
) -> denise_status {
    let source = if data.is_null() {
        Source::Missing
    } else if size > isize::MAX as usize {
        Source::TooLarge
    } else {
        // SAFETY: not null, no larger than an object can be, and the caller owns that many bytes.
        Source::Memory(unsafe { core::slice::from_raw_parts(data.cast(), size) })
    };
    // SAFETY: the caller's contract is that of this function.
    unsafe { load(source, options, model) }
}

/// Splits count matrices, M = L + S with L = U U' of rank at most k. Never allocates, prints or spawns;
/// waits only if more calls run on this handle than max_concurrency.
///
/// - m, l and s hold count matrices of n*n values; u holds count n x k factors; all row-major. The
///   lower triangle of m counts; what stands above the diagonal does not matter. u, l, s and reports may
///   each be NULL.
/// - s may be the same pointer as m; no other buffers may overlap. Any alignment works,
///   but a call with a pointer that is not aligned to its type goes one matrix at a time, and such calls
///   wait for each other.
/// - l and s are bitwise symmetric, and l + s is m to one rounding.
/// - A matrix with NaN or infinity gets NaN in its outputs; the call returns DENISE_ERR_NOT_FINITE after
///   finishing all others.
/// - Results do not depend, to the bit, on count, on the place in the batch, or on threads.
/// - Finite input gives finite output. Magnitudes are limited to the largest finite value, which with the
///   built-in network only matrices with entries above 1e-5 of it can reach. A matrix that is not positive
///   semidefinite is no error; the farther it is from that, the less its split means.
/// - count 0 does nothing and is DENISE_OK.
/// - A child after fork may call it too, if no other thread was inside a call on this handle at the time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_decompose_batch(
    model: *const denise_model,
    count: usize,
    m: *const f32,
    u: *mut f32,
    l: *mut f32,
    s: *mut f32,
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe {
        decompose(
            model,
            count,
            Pointers {
                m,
                u,
                l,
                s,
                reports: reports.cast(),
            },
        )
    }
}

/// The same in double precision, on the same handle. A dense network works on m rounded to float, and u holds
/// floats; l and s are computed from them in double.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_decompose_batch_f64(
    model: *const denise_model,
    count: usize,
    m: *const f64,
    u: *mut f64,
    l: *mut f64,
    s: *mut f64,
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe {
        decompose(
            model,
            count,
            Pointers {
                m,
                u,
                l,
                s,
                reports: reports.cast(),
            },
        )
    }
}

/// Frees a model. NULL is fine. No call may be running on it, and none may follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_free(model: *mut denise_model) {
    if !model.is_null() {
        // SAFETY: the caller passes a handle that denise_load made, once.
        let model = unsafe { Box::from_raw(model) };
        let _ = guard(|| {
            drop(model);
            Ok(())
        });
    }
}

/// Size of the matrices that the model takes; 0 if model is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_n(model: *const denise_model) -> u32 {
    // SAFETY: null, or a live handle.
    unsafe { model.as_ref() }.map_or(0, |model| model.model.n() as u32)
}

/// Largest rank of L; 0 if model is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_k(model: *const denise_model) -> u32 {
    // SAFETY: null, or a live handle.
    unsafe { model.as_ref() }.map_or(0, |model| model.model.k() as u32)
}

/// The network and the instruction set it runs on, such as "unrolled avx2"; static. "" if model is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_kernel(model: *const denise_model) -> *const c_char {
    // SAFETY: null, or a live handle.
    unsafe { model.as_ref() }
        .map_or(c"", |model| model.model.kernel())
        .as_ptr()
}

/// A phrase for any status, known or not; static.
#[unsafe(no_mangle)]
pub extern "C" fn denise_status_string(status: denise_status) -> *const c_char {
    let known = usize::try_from(status)
        .ok()
        .and_then(|code| Status::ALL.get(code));
    known
        .map_or(c"unknown status", |status| status.text())
        .as_ptr()
}

/// Why the last call on this thread that did not return DENISE_OK failed, in one line that names the argument or the
/// file: for a log, not for a program to look at. Valid until the next call on this thread fails; "" if none has. (If
/// very many threads keep failing, some may get "".) Does not allocate.
#[unsafe(no_mangle)]
pub extern "C" fn denise_last_error() -> *const c_char {
    last_error::text()
}

/// The version of the library, such as "0.1.0"; static.
#[unsafe(no_mangle)]
pub extern "C" fn denise_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// The number of the binary interface, which is also the number in the name libdenise.so.1; it changes only when
/// programs must be rebuilt.
#[unsafe(no_mangle)]
pub extern "C" fn denise_abi_version() -> u32 {
    ABI_VERSION
}

/// Splits count matrices with a classical method (DENISE_METHOD_), to check the network against. Slow, and
/// it allocates: once a call, not for every matrix. lambda <= 0: the paper's value for that method. n is 2 to 512 and k
/// as in denise_options, where the method uses it. The lower triangle of m counts; l and s may each be NULL;
/// s may be the same pointer as m. l and s are bitwise symmetric, and finite for finite m. A matrix with NaN or
/// infinity gets NaN, and results do not depend on count, as in denise_decompose_batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_solve_batch(
    method: i32,
    n: u32,
    k: u32,
    lambda: f64,
    count: usize,
    m: *const f64,
    l: *mut f64,
    s: *mut f64,
) -> denise_status {
    code(guard(|| {
        let method = Method::from_code(method)
            .ok_or_else(|| Error::new(Status::Argument, "method is no DENISE_METHOD_ value"))?;
        let mut solver = Solver::new(method, n as usize, k as usize, lambda)?;
        let pointers = Pointers {
            m,
            u: core::ptr::null_mut(),
            l,
            s,
            reports: core::ptr::null_mut(),
        };
        let (n, k) = (solver.n(), solver.k());
        pointers.check(count, n, k)?;
        // SAFETY: checked, and the caller owns the buffers for the length of the call.
        let result = unsafe {
            if pointers.aligned() {
                solver.run(pointers.batch(n, k, 0, count))
            } else {
                let mut staging = filled(Pointers::<f64>::staging_len(n, k), 0.0)?;
                pointers.staged(n, k, count, &mut staging, |batch| solver.run(batch))
            }
        };
        Ok(result?)
    }))
}

/// Runs `body` in the default floating-point modes; a panic becomes an internal error.
fn guard(body: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let _modes = modes::Default::enter();
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(Error::new(
            Status::Internal,
            "a bug in the library; please report it",
        ))
    })
}

/// The status of a call, whose reason is kept if it failed.
fn code(result: Result<(), Error>) -> denise_status {
    match result {
        Ok(()) => DENISE_OK,
        Err(error) => {
            last_error::keep(&error.message);
            error.status as i32
        }
    }
}

fn null(message: &'static str) -> Result<(), Error> {
    Err(Error::new(Status::NullPointer, message))
}

enum Source<'a> {
    Builtin,
    File(&'a CStr),
    Memory(&'a [u8]),
    Missing,
    TooLarge,
}

/// # Safety
/// `options` is null or points to as many bytes as it says; `model` is null or writable; a message
/// buffer is as large as it says.
unsafe fn load(
    source: Source<'_>,
    options: *const denise_options,
    model: *mut *mut denise_model,
) -> denise_status {
    if model.is_null() {
        return code(null("model is NULL"));
    }
    // SAFETY: not null, and the caller owns a pointer there.
    unsafe { model.write(core::ptr::null_mut()) };
    let mut given = None;
    if !options.is_null() {
        // SAFETY: not null; struct_size is the first field of every version of the struct.
        let size = unsafe { options.cast::<usize>().read_unaligned() };
        if size < OPTIONS_SIZE {
            let message = "options.struct_size is too small: call denise_options_init first";
            return code(Err(Error::new(Status::Argument, message)));
        }
        // SAFETY: the caller's struct is at least as large as ours.
        given = Some(unsafe { options.read_unaligned() });
    }
    let result = guard(|| {
        let loaded = open(source, given.as_ref())?;
        let handle = boxed(loaded)?;
        // SAFETY: not null, and the caller owns a pointer there.
        unsafe { model.write(handle.as_ptr()) };
        Ok(())
    });
    if let Some(options) = &given {
        let text = result.as_ref().err().map_or("", |error| &error.message);
        // SAFETY: the caller owns message_size bytes at message, if that is not null.
        unsafe { write_message(options, text) };
    }
    code(result)
}

/// # Safety
/// `options.message` is null or has `options.message_size` writable bytes.
unsafe fn write_message(options: &denise_options, text: &str) {
    if options.message.is_null() || options.message_size == 0 {
        return;
    }
    let mut length = text.len().min(options.message_size - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    // SAFETY: length + 1 <= message_size bytes are written; text and buffer do not overlap.
    unsafe {
        core::ptr::copy_nonoverlapping(text.as_ptr().cast(), options.message, length);
        options.message.add(length).write(0);
    }
}

fn open(source: Source<'_>, options: Option<&denise_options>) -> Result<denise_model, Error> {
    let loaded = match source {
        Source::Builtin => File::builtin()?,
        Source::Missing => return Err(Error::new(Status::NullPointer, "data is NULL")),
        Source::TooLarge => {
            return Err(Error::new(Status::Shape, "size is larger than any object"));
        }
        Source::Memory(bytes) => File::read(bytes)?,
        Source::File(path) => read_file(file_name(path)?)?,
    };
    let (mut settings, mut threads) = (Options::default(), 1);
    if let Some(options) = options {
        threads = options.threads.max(1);
        if threads > MAX_THREADS {
            let message = format_args!("threads is {threads}; the most is {MAX_THREADS}");
            return Err(memory::error(Status::Argument, message));
        }
        settings = Options {
            n: options.n as usize,
            k: options.k as usize,
            max_concurrency: options.max_concurrency as usize,
            instruction_set: instruction_set(options.flags & !DENISE_FLAG_F16)?,
            half_weights: options.flags & DENISE_FLAG_F16 != 0,
        };
    }
    let helpers = threads as usize - 1;
    let pool = if helpers > 0 {
        Some(Pool::new(helpers)?)
    } else {
        None
    };
    let model = Model::with_helpers(&loaded, &settings, helpers)?;
    let (staging_f32, staging_f64) = (staging(&model)?, staging(&model)?);
    Ok(denise_model {
        model,
        pool,
        staging_f32,
        staging_f64,
    })
}

/// A C string as a path: any bytes where paths are bytes, else UTF-8.
fn file_name(path: &CStr) -> Result<&Path, Error> {
    #[cfg(unix)]
    return Ok(Path::new(
        <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path.to_bytes()),
    ));
    #[cfg(not(unix))]
    path.to_str()
        .map(Path::new)
        .map_err(|_| Error::new(Status::Argument, "the path is not valid UTF-8"))
}

fn staging<F: Abi>(model: &Model) -> Result<Mutex<Vec<F>>, Error> {
    let len = Pointers::<F>::staging_len(model.n(), model.k());
    Ok(Mutex::new(filled(len, F::ZERO)?))
}

fn instruction_set(flags: u32) -> Result<InstructionSet, Error> {
    match flags {
        0 => Ok(InstructionSet::Best),
        DENISE_FLAG_PORTABLE => Ok(InstructionSet::Portable),
        DENISE_FLAG_AVX2 => Ok(InstructionSet::Avx2),
        _ => Err(memory::error(
            Status::Argument,
            format_args!(
                "flags, but for DENISE_FLAG_F16, is {flags:#x}; it may be 0, DENISE_FLAG_PORTABLE or \
                 DENISE_FLAG_AVX2"
            ),
        )),
    }
}

/// The buffers of a batch.
#[derive(Clone, Copy)]
struct Pointers<F> {
    m: *const F,
    u: *mut F,
    l: *mut F,
    s: *mut F,
    reports: *mut Report,
}

impl<F: Copy> Pointers<F> {
    /// That every buffer's size fits in memory, and that none overlaps another.
    fn check(&self, count: usize, n: usize, k: usize) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        if self.m.is_null() {
            return Err(Error::new(Status::NullPointer, "m is NULL"));
        }
        let bytes = |each: usize, size: usize| {
            count
                .checked_mul(each)
                .and_then(|values| values.checked_mul(size))
                .filter(|&bytes| bytes <= isize::MAX as usize)
                .ok_or_else(|| {
                    Error::new(
                        Status::Shape,
                        "count is too large: no memory can hold that many matrices",
                    )
                })
        };
        let matrices = bytes(n * n, size_of::<F>())?;
        let factors = bytes(n * k, size_of::<F>())?;
        let reports = bytes(1, size_of::<Report>())?;
        const OVERLAPS: [[&str; 4]; 4] = [
            [
                "m and u overlap",
                "m and l overlap",
                "m and s overlap but are not the same",
                "m and reports overlap",
            ],
            [
                "",
                "u and l overlap",
                "u and s overlap",
                "u and reports overlap",
            ],
            ["", "", "l and s overlap", "l and reports overlap"],
            ["", "", "", "s and reports overlap"],
        ];
        let buffers = [
            (self.m as usize, matrices),
            (self.u as usize, factors),
            (self.l as usize, matrices),
            (self.s as usize, matrices),
            (self.reports as usize, reports),
        ];
        for (i, &(start, length)) in buffers.iter().enumerate() {
            if start == 0 {
                continue;
            }
            let end = start.checked_add(length).ok_or_else(|| {
                Error::new(Status::Shape, "a buffer reaches past the address space")
            })?;
            for (j, &(other, other_length)) in buffers.iter().enumerate().skip(i + 1) {
                let in_place = i == 0 && other == start && other == self.s as usize;
                let apart = other == 0
                    || in_place
                    || end <= other
                    || other.saturating_add(other_length) <= start;
                if !apart {
                    return Err(Error::new(Status::Argument, OVERLAPS[i][j - 1]));
                }
            }
        }
        Ok(())
    }

    /// Whether slices may be made of the buffers as they are.
    fn aligned(&self) -> bool {
        self.m.is_aligned()
            && self.u.is_aligned()
            && self.l.is_aligned()
            && self.s.is_aligned()
            && self.reports.is_aligned()
    }

    /// Values that [`Pointers::staged`] needs.
    fn staging_len(n: usize, k: usize) -> usize {
        n * (2 * n + k)
    }

    /// Runs `body` on one matrix after another, each copied to and from aligned memory.
    ///
    /// # Safety
    /// As for [`Pointers::batch`], but for alignment.
    unsafe fn staged(
        &self,
        n: usize,
        k: usize,
        count: usize,
        staging: &mut [F],
        mut body: impl FnMut(Batch<'_, F>) -> Result<(), Status>,
    ) -> Result<(), Status> {
        /// # Safety
        /// `to` is null or has room for value number `place`.
        unsafe fn copy_out<T>(from: &[T], to: *mut T, place: usize) {
            if !to.is_null() {
                // SAFETY: bytes may lie anywhere; the ranges are inside both and do not overlap.
                unsafe {
                    let to = to.cast::<u8>().add(place * size_of_val(from));
                    core::ptr::copy_nonoverlapping(
                        from.as_ptr().cast::<u8>(),
                        to,
                        size_of_val(from),
                    );
                }
            }
        }
        let (s, rest) = staging.split_at_mut(n * n);
        let (l, rest) = rest.split_at_mut(n * n);
        let u = &mut rest[..n * k];
        let mut result = Ok(());
        for i in 0..count {
            let mut report = [Report::default()];
            // SAFETY: matrix i is inside the caller's buffer; bytes may lie anywhere.
            unsafe {
                let from = self.m.cast::<u8>().add(i * size_of_val(s));
                core::ptr::copy_nonoverlapping(from, s.as_mut_ptr().cast::<u8>(), size_of_val(s));
            }
            let outcome = body(Batch {
                n,
                k,
                count: 1,
                m: None,
                out: Outputs {
                    u: Some(&mut *u),
                    l: Some(&mut *l),
                    s: Some(&mut *s),
                    reports: Some(&mut report),
                },
            });
            result = result.and(outcome);
            // SAFETY: place i is inside the caller's buffers, which do not overlap the staging.
            unsafe {
                copy_out(u, self.u, i);
                copy_out(l, self.l, i);
                copy_out(s, self.s, i);
                copy_out(&report, self.reports, i);
            }
        }
        result
    }

    /// Matrices `first` .. `first + count` as slices.
    ///
    /// # Safety
    /// The buffers are aligned and passed [`Pointers::check`] for at least that many matrices, and for as long as the
    /// result lives they are valid and nobody else touches these matrices in them.
    unsafe fn batch<'a>(&self, n: usize, k: usize, first: usize, count: usize) -> Batch<'a, F> {
        /// # Safety
        /// As for `batch`.
        unsafe fn cut<'a, T>(
            all: *mut T,
            each: usize,
            first: usize,
            count: usize,
        ) -> Option<&'a mut [T]> {
            if all.is_null() || count == 0 {
                return None;
            }
            // SAFETY: the range is inside the buffer, which the caller of `batch` vouches for.
            Some(unsafe { core::slice::from_raw_parts_mut(all.add(first * each), count * each) })
        }
        let in_place = self.m == self.s.cast_const();
        // SAFETY: as the caller promises; m is only read, and is left out where s stands in for it.
        unsafe {
            Batch {
                n,
                k,
                count,
                m: (!in_place && count > 0)
                    .then(|| core::slice::from_raw_parts(self.m.add(first * n * n), count * n * n)),
                out: Outputs {
                    u: cut(self.u, n * k, first, count),
                    l: cut(self.l, n * n, first, count),
                    s: cut(self.s, n * n, first, count),
                    reports: cut(self.reports, 1, first, count),
                },
            }
        }
    }
}

/// # Safety
/// `model` is null or a live handle; the buffers are as `denise_decompose_batch` says.
unsafe fn decompose<F: Abi>(
    model: *const denise_model,
    count: usize,
    pointers: Pointers<F>,
) -> denise_status {
    // SAFETY: null, or a live handle.
    let Some(handle) = (unsafe { model.as_ref() }) else {
        return code(null("model is NULL"));
    };
    let (n, k) = (handle.model.n(), handle.model.k());
    code(guard(|| {
        pointers.check(count, n, k)?;
        if !pointers.aligned() {
            let mut staging = F::staging(handle)
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            // SAFETY: checked, and the caller owns the buffers for the length of the call.
            let result = unsafe {
                pointers.staged(n, k, count, &mut staging, |batch| handle.model.run(batch))
            };
            return Ok(result?);
        }
        let result = match &handle.pool {
            Some(pool) if count > handle.model.part(count, pool.threads()) => {
                let failure = AtomicI32::new(DENISE_OK);
                pool.run(F::job(Work {
                    model,
                    count,
                    part: handle.model.part(count, pool.threads()),
                    pointers,
                    failure: &raw const failure,
                }));
                Status::from_code(failure.into_inner())
            }
            // SAFETY: checked, and the caller owns the buffers for the length of the call.
            _ => handle.model.run(unsafe { pointers.batch(n, k, 0, count) }),
        };
        Ok(result?)
    }))
}

/// The precisions of the ABI.
trait Abi: Element {
    /// Memory for one matrix and its outputs, for buffers that are not aligned.
    fn staging(model: &denise_model) -> &Mutex<Vec<Self>>;
    fn job(work: Work<Self>) -> Job;
}

impl Abi for f32 {
    fn staging(model: &denise_model) -> &Mutex<Vec<f32>> {
        &model.staging_f32
    }
    fn job(work: Work<f32>) -> Job {
        Job::F32(work)
    }
}

impl Abi for f64 {
    fn staging(model: &denise_model) -> &Mutex<Vec<f64>> {
        &model.staging_f64
    }
    fn job(work: Work<f64>) -> Job {
        Job::F64(work)
    }
}

/// A batch that threads share. Every pointer in it outlives `Pool::run`, which returns only when no
/// thread works on it any more.
#[derive(Clone, Copy)]
struct Work<F> {
    model: *const denise_model,
    count: usize,
    /// Matrices of a part that is not the last.
    part: usize,
    pointers: Pointers<F>,
    failure: *const AtomicI32,
}

#[derive(Clone, Copy)]
enum Job {
    F32(Work<f32>),
    F64(Work<f64>),
}

// SAFETY: the parts of a batch are disjoint, the model is Sync and the flag is atomic.
unsafe impl Send for Job {}

impl Task for Job {
    fn parts(&self) -> usize {
        match self {
            Job::F32(work) => work.count.div_ceil(work.part),
            Job::F64(work) => work.count.div_ceil(work.part),
        }
    }

    fn run(&self, part: usize) {
        match self {
            Job::F32(work) => work.run(part),
            Job::F64(work) => work.run(part),
        }
    }
}

impl<F: Abi> Work<F> {
    fn run(&self, part: usize) {
        // SAFETY: both outlive the call that this work belongs to.
        let (handle, failure) = unsafe { (&*self.model, &*self.failure) };
        let first = part * self.part;
        let count = self.part.min(self.count - first);
        let (n, k) = (handle.model.n(), handle.model.k());
        let result = guard(|| {
            // SAFETY: the whole batch was checked, and no other part has these matrices.
            Ok(handle
                .model
                .run(unsafe { self.pointers.batch(n, k, first, count) })?)
        });
        if let Err(error) = result {
            // INTERNAL, the highest code, outweighs NOT_FINITE.
            failure.fetch_max(error.status as i32, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No input is known that makes the library panic, so a panic is made here.
    #[test]
    fn a_panic_ends_at_the_boundary() {
        let error = guard(|| panic!("on purpose")).unwrap_err();
        assert_eq!(error.status, Status::Internal);
        assert_eq!(error.status as i32, DENISE_ERR_INTERNAL);
        assert_eq!(guard(|| Ok(())), Ok(()));
    }
}
