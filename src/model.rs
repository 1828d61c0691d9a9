//! A loaded network: made, asked, freed.

use crate::buffers::Buffers;
use crate::decompose::{denise_decompose_batch, denise_decompose_batch_f64};
use crate::guard::{code, guard, null};
use crate::layout::Layout;
use crate::memory::boxed;
use crate::options::denise_options;
use crate::status::{DENISE_OK, denise_status};
use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use denise_rust::zeros::Zeros;
use denise_rust::{Error, Model, Options, Status};
use std::path::Path;
use std::sync::Mutex;

/// A loaded network. denise_load makes it, denise_free frees it. It never changes: any number of threads may use one
/// handle at once.
pub struct denise_model {
    pub(crate) model: Model,
    /// What the caller's structs look like.
    pub(crate) layout: Layout,
    /// Memory for one matrix and its outputs in either precision, for buffers that cannot be used as they are. Most
    /// programs never need it, so it is reserved and not touched.
    pub(crate) staging: Mutex<Zeros>,
}

/// Loads a model. If path is NULL or "default", this is the network built into the library; "fast" is another one, with
/// fewer layers, that takes two thirds of the time and is less accurate. Otherwise path names an ONNX file: one that the
/// program denise wrote, or a stack of dense layers from M to U, to L, or to S and L, as Keras and PyTorch export it. (A
/// library built without the ONNX loader reads the first kind only. A file named fast is "./fast".) Allocates.
///
/// - options may be NULL, for the defaults.
/// - On success *model is a handle for denise_free. On failure it is NULL, and options.message says why.
/// - DENISE_ERR_IO: the file cannot be read. DENISE_ERR_FORMAT: it is damaged, or not a model. DENISE_ERR_UNSUPPORTED:
///   it is an ONNX model of another kind; the message names the operator.
/// - Before this returns, the results of the library are compared with those of the graph in the file. Part of that
///   runs on another thread, which ends before this returns.
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

/// Loads a model from size bytes of memory, which may be released afterwards. Otherwise as denise_load.
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

/// Frees a model. No call may be running on it, and none may follow. Does nothing if model is NULL.
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

/// The network and the instruction set it runs on, such as "unrolled avx2". The string is static; "" if model is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_kernel(model: *const denise_model) -> *const c_char {
    // SAFETY: null, or a live handle.
    unsafe { model.as_ref() }
        .map_or(c"", |model| model.model.kernel())
        .as_ptr()
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
    unsafe { model.write(ptr::null_mut()) };
    let (mut given, mut layout) = (denise_options::DEFAULT, Layout::OLDEST);
    if !options.is_null() {
        // SAFETY: not null; struct_size is the first field of every version of the struct.
        let size = unsafe { options.cast::<usize>().read_unaligned() };
        layout = match Layout::of(size) {
            Ok(layout) => layout,
            Err(error) => return code(Err(error)),
        };
        // SAFETY: the caller's struct has that size, which no header has larger than ours.
        given = unsafe { denise_options::read(options, size) };
    }
    #[cfg(windows)]
    crate::pin::pin();
    let result = guard(|| {
        let handle = boxed(open(source, &given.settings()?, layout)?)?;
        // SAFETY: not null, and the caller owns a pointer there.
        unsafe { model.write(handle.as_ptr()) };
        // SAFETY: a live handle.
        unsafe { run_empty(handle.as_ptr()) };
        Ok(())
    });
    let text = result.as_ref().err().map_or("", |error| &error.message);
    // SAFETY: the caller owns message_size bytes at message, if that is not null.
    unsafe { given.write_message(text) };
    code(result)
}

/// Runs the C functions of the hot path once, with no matrix: the first call shall not wait for a page of their code.
///
/// # Safety
/// `model` is a live handle.
unsafe fn run_empty(model: *const denise_model) {
    let (none, none_f64) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: a live handle; with no matrices there is nothing behind the other pointers.
    let statuses = unsafe {
        [
            denise_decompose_batch(model, 0, none, none, none, none, ptr::null_mut()),
            denise_decompose_batch_f64(
                model,
                0,
                none_f64,
                none_f64,
                none_f64,
                none_f64,
                ptr::null_mut(),
            ),
        ]
    };
    debug_assert_eq!(statuses, [DENISE_OK; 2]);
}

fn open(source: Source<'_>, options: &Options, layout: Layout) -> Result<denise_model, Error> {
    let model = match source {
        Source::Builtin => Model::builtin(options)?,
        Source::Missing => return Err(Error::new(Status::NullPointer, "data is NULL")),
        Source::TooLarge => {
            return Err(Error::new(Status::Shape, "size is larger than any object"));
        }
        Source::Memory(bytes) => Model::from_bytes(bytes, options)?,
        Source::File(path) => Model::load(file_name(path)?, options)?,
    };
    let staging = Buffers::<f64>::staging_len(model.n(), model.k()) * size_of::<f64>();
    Ok(denise_model {
        model,
        layout,
        staging: Mutex::new(Zeros::new(staging, 0)?),
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
