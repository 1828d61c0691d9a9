//! Streams: returns in, a split that moves as little as it must.

use crate::covariance;
use crate::guard::{code, guard, null};
use crate::memory::boxed;
use crate::model::denise_model;
use crate::named::{Buffer, Name, check, values};
use crate::options::DENISE_FLAG_CORRELATION;
use crate::report::denise_report;
use crate::status::denise_status;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, Ordering};
use denise_rust::{Element, Error, Outputs, Report, Status, Stream, StreamOptions};

/// For denise_stream_options.flags: subtract the means of the returns. Without it they count as zero, as they nearly are
/// over short times.
pub const DENISE_STREAM_DEMEAN: u32 = 256;

/// Streams of returns. denise_stream_new makes it, denise_stream_free frees it. It changes with every tick: one thread
/// at a time may use it, and a call that meets another one gets DENISE_ERR_ARGUMENT. Any number of streams may be made
/// from one model and used at once. A stream keeps what it needs of its model, which may be freed before it.
pub struct denise_stream {
    /// Whether a call is running.
    busy: AtomicBool,
    /// Bytes of a state of all streams, and of one.
    state_size: usize,
    state_size_one: usize,
    inner: UnsafeCell<Inner>,
}

struct Inner {
    stream: Stream,
    /// Bytes of a report in the caller's header, and room for our own if theirs are shorter.
    report_size: usize,
    reports: Vec<Report>,
}

/// Options of denise_stream_new. Call denise_stream_options_init, then set what you need.
#[repr(C)]
pub struct denise_stream_options {
    /// Set by denise_stream_options_init; do not change it.
    pub struct_size: usize,
    /// Independent streams that advance together, at most 1048576; 1 if left alone. Many in one handle are faster than
    /// many handles: they lie side by side in the lanes of vectors.
    pub streams: u32,
    /// Ticks of a moving window, 2 to 1048576. 0: exponential weights, by half_life.
    pub window: u32,
    /// Ticks until an observation counts half, 0.1 to 1e9. 0 with window 0: 60. Must be 0 with a window.
    pub half_life: f64,
    /// DENISE_FLAG_CORRELATION, DENISE_STREAM_DEMEAN, both combined with |, or 0. A model that was loaded with
    /// DENISE_FLAG_CORRELATION has streams with it.
    pub flags: u32,
    /// Ticks before the first split, and times that two assets must have been seen together before their covariance
    /// counts as known. At most the window. 0: 2 k, or the window if that is shorter.
    pub warm_up: u32,
}

impl denise_stream_options {
    const DEFAULT: denise_stream_options = denise_stream_options {
        struct_size: size_of::<denise_stream_options>(),
        streams: 1,
        window: 0,
        half_life: 0.0,
        flags: 0,
        warm_up: 0,
    };

    /// The same for the Rust library.
    fn settings(&self) -> Result<StreamOptions, Error> {
        let unknown = self.flags & !(DENISE_FLAG_CORRELATION | DENISE_STREAM_DEMEAN);
        if unknown != 0 {
            let message = format_args!(
                "flags has {unknown:#x}; a stream has DENISE_FLAG_CORRELATION and DENISE_STREAM_DEMEAN only"
            );
            return Err(Error::format(Status::Argument, message));
        }
        Ok(StreamOptions {
            streams: self.streams as usize,
            window: self.window as usize,
            half_life: self.half_life,
            correlation: self.flags & DENISE_FLAG_CORRELATION != 0,
            demean: self.flags & DENISE_STREAM_DEMEAN != 0,
            warm_up: self.warm_up as usize,
        })
    }
}

// The one field that is read before the rest is known.
const _: () = assert!(offset_of!(denise_stream_options, struct_size) == 0);
// A struct that grows needs a list of sizes, as denise_options has one in layout.rs.
const _: () = assert!(size_of::<usize>() != 8 || size_of::<denise_stream_options>() == 32);

/// Sets every option to its default. Pass sizeof *options as struct_size: nothing is written past it. Does nothing if
/// options is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_options_init(
    options: *mut denise_stream_options,
    struct_size: usize,
) {
    if options.is_null() || struct_size < size_of::<usize>() {
        return;
    }
    let given = denise_stream_options {
        struct_size,
        ..denise_stream_options::DEFAULT
    };
    let len = struct_size.min(size_of::<denise_stream_options>());
    // SAFETY: not null, and the caller owns struct_size bytes there, which may lie anywhere; the struct has no bytes
    // between fields, so all of ours are initialised.
    unsafe {
        core::ptr::copy_nonoverlapping((&raw const given).cast::<u8>(), options.cast::<u8>(), len);
    }
}

/// Makes streams that the model splits. Allocates: the calls below do not, but for denise_stream_free.
///
/// - options may be NULL, for the defaults. On success *stream is a handle for denise_stream_free; on failure it is NULL.
/// - A dense network, and a model loaded with DENISE_FLAG_CAREFUL, give DENISE_ERR_UNSUPPORTED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_new(
    model: *const denise_model,
    options: *const denise_stream_options,
    stream: *mut *mut denise_stream,
) -> denise_status {
    if stream.is_null() {
        return code(null("stream is NULL"));
    }
    // SAFETY: not null, and the caller owns a pointer there.
    unsafe { stream.write(core::ptr::null_mut()) };
    // SAFETY: null, or a live handle.
    let Some(model) = (unsafe { model.as_ref() }) else {
        return code(null("model is NULL"));
    };
    let mut given = denise_stream_options::DEFAULT;
    if !options.is_null() {
        // SAFETY: not null; struct_size is the first field of every version of the struct.
        let size = unsafe { options.cast::<usize>().read_unaligned() };
        if size != size_of::<denise_stream_options>() {
            let message = format_args!(
                "options.struct_size is {size}: call denise_stream_options_init(&options, sizeof options) first; if \
                 that was done, the program was compiled with the header of another libdenise than this one, {}",
                env!("CARGO_PKG_VERSION")
            );
            return code(Err(Error::format(Status::Argument, message)));
        }
        // SAFETY: the caller's struct has that size, and may lie anywhere.
        given = unsafe { options.read_unaligned() };
    }
    code(guard(|| {
        let inner = model.model.stream(&given.settings()?)?;
        let report_size = model.layout.report;
        let reports = if report_size == size_of::<Report>() {
            Vec::new()
        } else {
            let mut all = Vec::new();
            all.try_reserve_exact(inner.streams())?;
            all.resize(inner.streams(), Report::default());
            all
        };
        let handle = boxed(denise_stream {
            busy: AtomicBool::new(false),
            state_size: inner.state_size(),
            state_size_one: inner.state_size_one(),
            inner: UnsafeCell::new(Inner {
                stream: inner,
                report_size,
                reports,
            }),
        })?;
        // SAFETY: not null, and the caller owns a pointer there.
        unsafe { stream.write(handle.as_ptr()) };
        Ok(())
    }))
}

/// Frees streams. No call may be running on them, and none may follow. Does nothing if stream is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_free(stream: *mut denise_stream) {
    if !stream.is_null() {
        // SAFETY: the caller passes a handle that denise_stream_new made, once.
        let stream = unsafe { Box::from_raw(stream) };
        let _ = guard(|| {
            drop(stream);
            Ok(())
        });
    }
}

/// A tick: takes the returns in, estimates the covariances again, and splits them. Never allocates, prints or waits.
///
/// - returns holds n values for every stream, one stream after another. u, l, s and reports are as in
///   denise_decompose_batch, with one of each for every stream, and may each be NULL. Buffers must not overlap, and must
///   be aligned to their type.
/// - A covariance is the weighted mean of r_i r_j, or of that less the product of the means (DENISE_STREAM_DEMEAN): the
///   divisor is the sum of the weights.
/// - NaN is a return that is not known. With exponential weights the pairs that need it keep their value and lose none
///   of their weight; in a window the tick counts for them as one that is not there. A pair that has not been seen
///   warm_up times together is missing, as with DENISE_FLAG_MISSING: L is complete, and S is NaN there.
/// - Infinity, or a return beyond 1e100, makes none of the returns of its stream count at this tick. Outputs of that
///   stream are NaN, its report has DENISE_ERR_NOT_FINITE and the asset in first_bad, and so does the call return. For
///   the estimate it is a tick at which nothing is known.
/// - Before the first split of a stream its outputs are NaN, and its report has DENISE_ERR_NOT_READY; the call returns
///   DENISE_OK.
/// - u moves continuously from tick to tick: no column flips or changes places. Its columns are orthogonal, the longest
///   first, at the first split only. L = U U' at every tick.
/// - At every 20th split the network also starts from scratch, and takes over, turned to the u that was there, if it
///   leaves less than 0.96 of the sum of |S_ij|. So what a stream leaves is never more than 1/0.96 of that for longer
///   than 20 ticks. Such a tick takes as long as a call of denise_decompose_batch and a usual one together.
/// - Results are the same, to the bit, for a stream alone and among others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_push(
    stream: *mut denise_stream,
    returns: *const f32,
    u: *mut f32,
    l: *mut f32,
    s: *mut f32,
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { push(stream, Input::Returns(returns), [u, l, s], reports) }
}

/// The same in double precision. Calls of both kinds may alternate on one stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_push_f64(
    stream: *mut denise_stream,
    returns: *const f64,
    u: *mut f64,
    l: *mut f64,
    s: *mut f64,
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { push(stream, Input::Returns(returns), [u, l, s], reports) }
}

/// A tick of the caller's own covariances: m holds n*n values for every stream, of which the lower triangles are read.
/// There is no warm-up, and the estimate from returns stays as it is. NaN is DENISE_ERR_NOT_FINITE, or an entry that is
/// not known if the model was loaded with DENISE_FLAG_MISSING; a stream whose matrix is not finite stays where it was.
/// Otherwise as denise_stream_push.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_push_matrices(
    stream: *mut denise_stream,
    m: *const f32,
    u: *mut f32,
    l: *mut f32,
    s: *mut f32,
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { push(stream, Input::Matrices(m), [u, l, s], reports) }
}

/// The same in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_push_matrices_f64(
    stream: *mut denise_stream,
    m: *const f64,
    u: *mut f64,
    l: *mut f64,
    s: *mut f64,
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { push(stream, Input::Matrices(m), [u, l, s], reports) }
}

/// Writes the covariances that have been estimated from returns: n*n values for every stream, NaN where too little is
/// known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_covariance_f64(
    stream: *const denise_stream,
    m: *mut f64,
) -> denise_status {
    // SAFETY: null, or a live handle.
    let stream = unsafe { stream.as_ref() };
    code(guard(|| {
        let inner = enter(stream)?;
        let (streams, size) = (inner.streams(), inner.n() * inner.n());
        let len = streams * size;
        check(&[Buffer::new(Name::M, m, streams, size).needed()])?;
        // SAFETY: checked, and the caller owns so many values there.
        inner.covariance(unsafe { core::slice::from_raw_parts_mut(m, len) })
    }))
}

/// Makes a covariance that can be inverted for every stream, as denise_covariance_from_u_batch does, from the u that
/// denise_stream_push wrote at this tick and the variances that the streams have estimated. Never allocates.
///
/// - u has n*k values for every stream, d n, sigma and inverse n*n, log_det one. Any of the last four may be NULL.
/// - A stream that was not split at this tick has NaN in u, and gets NaN; the call returns DENISE_ERR_NOT_FINITE.
/// - After denise_stream_push_matrices call denise_covariance_from_u_batch with the same m.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_sigma(
    stream: *const denise_stream,
    u: *const f32,
    floor: f64,
    d: *mut f32,
    sigma: *mut f32,
    inverse: *mut f32,
    log_det: *mut f64,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { stream_sigma(stream, u, floor, [d, sigma, inverse], log_det) }
}

/// The same in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_sigma_f64(
    stream: *const denise_stream,
    u: *const f64,
    floor: f64,
    d: *mut f64,
    sigma: *mut f64,
    inverse: *mut f64,
    log_det: *mut f64,
) -> denise_status {
    // SAFETY: the caller's contract is that of this function.
    unsafe { stream_sigma(stream, u, floor, [d, sigma, inverse], log_det) }
}

/// Bytes that denise_stream_save writes; 0 if stream is NULL. It never changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_state_size(stream: *const denise_stream) -> usize {
    // SAFETY: null, or a live handle.
    unsafe { stream.as_ref() }.map_or(0, |stream| stream.state_size)
}

/// Writes everything that the streams know to state, which has room for size bytes: at least denise_stream_state_size.
/// Any machine can read them. Who restores them goes on with the same bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_save(
    stream: *const denise_stream,
    state: *mut c_void,
    size: usize,
) -> denise_status {
    // SAFETY: null, or a live handle; the caller's contract is that of this function.
    unsafe { save(stream, state, size, |inner, state| inner.save(state)) }
}

/// Takes the streams back to where denise_stream_save was called: on this handle, or on another one whose model and
/// options were the same. size is that of the state. An error changes nothing: DENISE_ERR_FORMAT if the bytes are
/// damaged, DENISE_ERR_SHAPE or DENISE_ERR_ARGUMENT if they are of other streams.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_restore(
    stream: *mut denise_stream,
    state: *const c_void,
    size: usize,
) -> denise_status {
    // SAFETY: null, or a live handle; the caller's contract is that of this function.
    unsafe { restore(stream, state, size, |inner, state| inner.restore(state)) }
}

/// Forgets everything: the streams are as new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_reset(stream: *mut denise_stream) -> denise_status {
    // SAFETY: null, or a live handle.
    let stream = unsafe { stream.as_ref() };
    code(guard(|| {
        enter(stream)?.reset();
        Ok(())
    }))
}

/// Bytes that denise_stream_save_one writes; 0 if stream is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_state_size_one(stream: *const denise_stream) -> usize {
    // SAFETY: null, or a live handle.
    unsafe { stream.as_ref() }.map_or(0, |stream| stream.state_size_one)
}

/// denise_stream_save for one of the streams, which are counted from 0. Its state is that of a handle with one stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_save_one(
    stream: *const denise_stream,
    which: usize,
    state: *mut c_void,
    size: usize,
) -> denise_status {
    // SAFETY: null, or a live handle; the caller's contract is that of this function.
    unsafe {
        save(stream, state, size, |inner, state| {
            inner.save_one(which, state)
        })
    }
}

/// denise_stream_restore for one of the streams. The others stay as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_restore_one(
    stream: *mut denise_stream,
    which: usize,
    state: *const c_void,
    size: usize,
) -> denise_status {
    // SAFETY: null, or a live handle; the caller's contract is that of this function.
    unsafe {
        restore(stream, state, size, |inner, state| {
            inner.restore_one(which, state)
        })
    }
}

/// denise_stream_reset for one of the streams. The others stay as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_stream_reset_one(
    stream: *mut denise_stream,
    which: usize,
) -> denise_status {
    // SAFETY: null, or a live handle.
    let stream = unsafe { stream.as_ref() };
    code(guard(|| enter(stream)?.reset_one(which)))
}

/// A call that has the streams for itself.
struct Entered<'a>(&'a denise_stream);

/// The streams, unless another call has them.
fn enter(stream: Option<&denise_stream>) -> Result<Entered<'_>, Error> {
    let stream = stream.ok_or_else(|| Error::new(Status::NullPointer, "stream is NULL"))?;
    if stream.busy.swap(true, Ordering::Acquire) {
        let message = "another thread is inside of a call on this stream: one at a time may be";
        return Err(Error::new(Status::Argument, message));
    }
    Ok(Entered(stream))
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::Release);
    }
}

impl Entered<'_> {
    fn inner(&mut self) -> &mut Inner {
        // SAFETY: `busy` was false, and is true as long as this lives: nobody else has it.
        unsafe { &mut *self.0.inner.get() }
    }
}

impl core::ops::Deref for Entered<'_> {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        // SAFETY: as above, and this borrow keeps `inner` from being called.
        unsafe { &(*self.0.inner.get()).stream }
    }
}

impl core::ops::DerefMut for Entered<'_> {
    fn deref_mut(&mut self) -> &mut Stream {
        &mut self.inner().stream
    }
}

/// What comes in at a tick.
#[derive(Clone, Copy)]
enum Input<F> {
    Returns(*const F),
    Matrices(*const F),
}

/// # Safety
/// `stream` is null or a live handle; the buffers are as `denise_stream_push` says.
unsafe fn push<F: Element>(
    stream: *mut denise_stream,
    input: Input<F>,
    [u, l, s]: [*mut F; 3],
    reports: *mut denise_report,
) -> denise_status {
    // SAFETY: null, or a live handle.
    let stream = unsafe { stream.as_ref() };
    code(guard(|| {
        let mut entered = enter(stream)?;
        let Inner {
            stream,
            report_size,
            reports: own_reports,
        } = entered.inner();
        let (n, k, count) = (stream.n(), stream.k(), stream.streams());
        let (name, from, each) = match input {
            Input::Returns(from) => (Name::Returns, from, n),
            Input::Matrices(from) => (Name::M, from, n * n),
        };
        let reports_at = reports as usize;
        let bytes = count * *report_size;
        check(&[
            Buffer::new(name, from, count, each).needed(),
            Buffer::new(Name::U, u, count, n * k),
            Buffer::new(Name::L, l, count, n * n),
            Buffer::new(Name::S, s, count, n * n),
            Buffer::bytes(Name::Reports, reports_at, bytes, align_of::<Report>()),
        ])?;
        let as_ours = own_reports.is_empty();
        // SAFETY: aligned, and apart; the caller owns so many values in each for the length of the call.
        let (input_values, out) = unsafe {
            let own = (!reports.is_null()).then_some(&mut own_reports[..]);
            let out = Outputs {
                u: values(u, count * n * k),
                l: values(l, count * n * n),
                s: values(s, count * n * n),
                reports: if as_ours {
                    values(reports.cast::<Report>(), count)
                } else {
                    own
                },
            };
            (core::slice::from_raw_parts(from, count * each), out)
        };
        let result = match input {
            Input::Returns(_) => stream.push(input_values, out),
            Input::Matrices(_) => stream.push_matrices(input_values, out),
        };
        if !as_ours && !reports.is_null() {
            for (i, report) in own_reports.iter().enumerate() {
                // SAFETY: a report in the caller's header is no longer than ours, and there is room for all.
                unsafe {
                    let to = reports.cast::<u8>().add(i * *report_size);
                    core::ptr::copy_nonoverlapping((&raw const *report).cast(), to, *report_size);
                }
            }
        }
        result
    }))
}

/// # Safety
/// `stream` is null or a live handle; the buffers are as `denise_stream_sigma` says.
unsafe fn stream_sigma<F: Element>(
    stream: *const denise_stream,
    u: *const F,
    floor: f64,
    parts: [*mut F; 3],
    log_det: *mut f64,
) -> denise_status {
    // SAFETY: null, or a live handle.
    let stream = unsafe { stream.as_ref() };
    code(guard(|| {
        let inner = enter(stream)?;
        let (n, k, count) = (inner.n(), inner.k(), inner.streams());
        let given = Buffer::new(Name::U, u, count, n * k).needed();
        let [d, sigma, inverse, log] = covariance::buffers(n, count, parts, log_det);
        check(&[given, d, sigma, inverse, log])?;
        // SAFETY: checked; the caller owns so many values in each for the length of the call.
        unsafe {
            let u = core::slice::from_raw_parts(u, count * n * k);
            inner.sigma(u, floor, covariance::outputs(n, count, parts, log_det))
        }
    }))
}

/// # Safety
/// `stream` is null or a live handle; `state` is null or has `size` writable bytes.
unsafe fn save(
    stream: *const denise_stream,
    state: *mut c_void,
    size: usize,
    body: impl FnOnce(&Stream, &mut [u8]) -> Result<(), Error>,
) -> denise_status {
    // SAFETY: null, or a live handle.
    let stream = unsafe { stream.as_ref() };
    code(guard(|| {
        let inner = enter(stream)?;
        check(&[Buffer::bytes(Name::State, state as usize, size, 1).needed()])?;
        // SAFETY: checked, and the caller owns so many bytes there.
        let state = unsafe { core::slice::from_raw_parts_mut(state.cast(), size) };
        body(&inner, state)
    }))
}

/// # Safety
/// `stream` is null or a live handle; `state` is null or has `size` readable bytes.
unsafe fn restore(
    stream: *mut denise_stream,
    state: *const c_void,
    size: usize,
    body: impl FnOnce(&mut Stream, &[u8]) -> Result<(), Error>,
) -> denise_status {
    // SAFETY: null, or a live handle.
    let stream = unsafe { stream.as_ref() };
    code(guard(|| {
        let mut inner = enter(stream)?;
        check(&[Buffer::bytes(Name::State, state as usize, size, 1).needed()])?;
        // SAFETY: checked, and the caller owns so many bytes there.
        let state = unsafe { core::slice::from_raw_parts(state.cast(), size) };
        body(&mut inner, state)
    }))
}
