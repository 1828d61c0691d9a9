//! The C boundary in calls so small that Miri can follow them: `scripts/sanitize miri`.

use denise::*;
use denise_rust::Outputs;
use denise_rust::classical::{Method, Solver};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

const N: usize = 3;
const SIZE: usize = N * N;

fn options() -> denise_options {
    let mut options = MaybeUninit::uninit();
    // SAFETY: the function fills in every field.
    let mut options: denise_options = unsafe {
        denise_options_init(options.as_mut_ptr(), size_of::<denise_options>());
        options.assume_init()
    };
    options.n = N as u32;
    options.k = 1;
    options.max_concurrency = 1;
    options.flags = DENISE_FLAG_PORTABLE;
    options
}

fn load(options: &denise_options) -> *mut denise_model {
    let mut model = null_mut();
    // SAFETY: both pointers are to live values.
    let status = unsafe { denise_load(null(), options, &mut model) };
    assert_eq!(status, DENISE_OK);
    model
}

fn entry(at: usize) -> f64 {
    let (i, j) = (at / N % N, at % N);
    if i == j {
        2.0
    } else {
        0.5 / (1 + i + j + at / SIZE) as f64
    }
}

#[test]
fn buffers_aligned_shifted_and_in_place_give_the_same() {
    const COUNT: usize = 5; // a group in lanes, and one alone
    let model = load(&options());
    let m: Vec<f32> = (0..COUNT * SIZE).map(|at| entry(at) as f32).collect();
    let (mut l, mut s) = (vec![0.0_f32; m.len()], vec![0.0_f32; m.len()]);
    let mut u = vec![0.0_f32; COUNT * N];
    let mut reports: Vec<MaybeUninit<denise_report>> =
        (0..COUNT).map(|_| MaybeUninit::uninit()).collect();
    // SAFETY: the buffers hold COUNT matrices each.
    let status = unsafe {
        denise_decompose_batch(
            model,
            COUNT,
            m.as_ptr(),
            u.as_mut_ptr(),
            l.as_mut_ptr(),
            s.as_mut_ptr(),
            reports.as_mut_ptr().cast(),
        )
    };
    assert_eq!(status, DENISE_OK);
    for report in reports {
        // SAFETY: the call fills in every report.
        assert_eq!(unsafe { report.assume_init() }.status, DENISE_OK);
    }

    let mut in_place = m.clone();
    let pointer = in_place.as_mut_ptr();
    // SAFETY: S takes the place of M, which the contract allows.
    let status = unsafe {
        denise_decompose_batch(
            model,
            COUNT,
            pointer,
            null_mut(),
            null_mut(),
            pointer,
            null_mut(),
        )
    };
    assert_eq!(status, DENISE_OK);
    assert_eq!(in_place, s);

    // One byte off, for M and for L.
    let mut given = vec![0_u8; 1 + size_of_val(&m[..])];
    let mut found = given.clone();
    for (to, x) in given[1..].chunks_exact_mut(4).zip(&m) {
        to.copy_from_slice(&x.to_ne_bytes());
    }
    // SAFETY: any alignment is allowed, and there is room behind the first byte.
    let status = unsafe {
        denise_decompose_batch(
            model,
            COUNT,
            given.as_ptr().add(1).cast(),
            null_mut(),
            found.as_mut_ptr().add(1).cast(),
            null_mut(),
            null_mut(),
        )
    };
    assert_eq!(status, DENISE_OK);
    let found: Vec<f32> = found[1..]
        .chunks_exact(4)
        .map(|x| f32::from_ne_bytes(x.try_into().unwrap()))
        .collect();
    assert_eq!(found, l);
    // SAFETY: a live handle, freed once.
    unsafe { denise_free(model) };
}

#[test]
fn threads_share_a_batch_in_double_precision() {
    const COUNT: usize = 65; // more than one part
    let model = load(&denise_options {
        n: 2,
        threads: 2,
        ..options()
    });
    let m = [2.0, 0.5, 0.5, 1.0].repeat(COUNT);
    let mut s = vec![0.0; m.len()];
    // SAFETY: the buffers hold COUNT matrices each.
    let status = unsafe {
        denise_decompose_batch_f64(
            model,
            COUNT,
            m.as_ptr(),
            null_mut(),
            null_mut(),
            s.as_mut_ptr(),
            null_mut(),
        )
    };
    assert_eq!(status, DENISE_OK);
    // SAFETY: a live handle, freed once.
    unsafe { denise_free(model) };
    assert!(s[..4].iter().any(|&x| x != 0.0));
    assert!(s.chunks(4).all(|one| one == &s[..4]));
}

#[test]
fn nothing_is_touched_by_a_call_that_is_refused() {
    let model = load(&options());
    let m = [1.0_f32; SIZE];
    let mut l = [7.0_f32; SIZE];
    let pointer = l.as_mut_ptr();
    // SAFETY: the calls may not touch anything.
    unsafe {
        let call =
            |count, m, l, s| denise_decompose_batch(model, count, m, null_mut(), l, s, null_mut());
        assert_eq!(
            call(1, null(), pointer, null_mut()),
            DENISE_ERR_NULL_POINTER
        );
        assert_eq!(call(1, m.as_ptr(), pointer, pointer), DENISE_ERR_ARGUMENT);
        assert_eq!(
            call(usize::MAX / 4, m.as_ptr(), pointer, null_mut()),
            DENISE_ERR_SHAPE
        );
        denise_free(model);
        denise_free(null_mut());
    }
    assert_eq!(l, [7.0; SIZE]);
}

#[test]
fn messages_fit_their_buffer() {
    for size in [1, 2, 30] {
        let mut message = vec![1_u8; size];
        let mut options = options();
        options.k = 9;
        options.message = message.as_mut_ptr().cast();
        options.message_size = size;
        let mut model = null_mut();
        // SAFETY: all pointers are to live memory.
        let status = unsafe { denise_load(null(), &options, &mut model) };
        assert_eq!(status, DENISE_ERR_ARGUMENT);
        assert!(model.is_null());
        assert_eq!(message[size - 1], 0);
    }
}

#[test]
fn classical_methods_give_through_the_boundary_what_they_give_in_rust() {
    let m: Vec<f64> = (0..2 * SIZE).map(entry).collect();
    let (mut l, mut s) = (vec![0.0; m.len()], vec![0.0; m.len()]);
    let (mut own_l, mut own_s) = (l.clone(), s.clone());
    for method in Method::ALL {
        // SAFETY: the buffers hold two matrices each.
        let status = unsafe {
            denise_solve_batch(
                method as i32,
                N as u32,
                1,
                0.0,
                2,
                m.as_ptr(),
                l.as_mut_ptr(),
                s.as_mut_ptr(),
            )
        };
        assert_eq!(status, DENISE_OK);
        let mut solver = Solver::new(method, N, 1, 0.0).unwrap();
        let own = Outputs::parts(&mut own_l, &mut own_s);
        solver.solve(&m, own).unwrap();
        assert_eq!((&l, &s), (&own_l, &own_s), "{method:?}");
        // Something was computed. (For matrices as small as these PCP and IALM find that all of M is sparse.)
        for ((l, s), m) in l.iter().zip(&s).zip(&m) {
            assert!((l + s - m).abs() < 1e-2, "{method:?}: {l} + {s} is not {m}");
        }
        assert!(
            l.iter().any(|x| x.abs() > 0.1) == method.takes_rank(),
            "{method:?}"
        );
    }
}

#[test]
fn a_message_names_the_flag_as_c_has_it() {
    for (flag, name) in [
        (DENISE_FLAG_F16, "DENISE_FLAG_F16"),
        (DENISE_FLAG_INT8, "DENISE_FLAG_INT8"),
    ] {
        let mut message = [1; 200];
        let mut options = options();
        options.flags |= flag;
        options.message = message.as_mut_ptr();
        options.message_size = message.len();
        let mut model = null_mut();
        // SAFETY: all pointers are to live memory.
        let (status, message) = unsafe {
            let status = denise_load(null(), &options, &mut model);
            (status, CStr::from_ptr(message.as_ptr()))
        };
        assert_eq!(status, DENISE_ERR_UNSUPPORTED);
        assert!(model.is_null());
        assert!(message.to_string_lossy().contains(name));
    }
}

#[test]
fn a_report_names_the_first_entry_that_is_not_finite() {
    let model = load(&options());
    let mut m: Vec<f32> = (0..4 * SIZE).map(|at| entry(at) as f32).collect();
    m[1] = f32::NAN; // above the diagonal: not read
    m[SIZE + 2 * N + 1] = f32::NEG_INFINITY;
    m[2 * SIZE + 2 * N] = f32::NAN;
    m[2 * SIZE + N + 1] = f32::INFINITY;
    // In place, so that S is where M was before the report is written; one byte off, one matrix at a time.
    for shift in [0, 1] {
        let mut bytes = vec![0_u8; shift + size_of_val(&m[..])];
        for (to, x) in bytes[shift..].chunks_exact_mut(4).zip(&m) {
            to.copy_from_slice(&x.to_ne_bytes());
        }
        // Vec<u8> may lie anywhere: copied to where the first byte is aligned.
        let mut aligned = vec![0_u64; bytes.len().div_ceil(8)];
        let start = aligned.as_mut_ptr().cast::<u8>();
        let mut reports: Vec<MaybeUninit<denise_report>> =
            (0..4).map(|_| MaybeUninit::uninit()).collect();
        // SAFETY: the memory holds the bytes, and four matrices behind the first `shift` of them.
        let status = unsafe {
            start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            let m = start.add(shift).cast::<f32>();
            let reports = reports.as_mut_ptr().cast();
            denise_decompose_batch(model, 4, m, null_mut(), null_mut(), m, reports)
        };
        assert_eq!(status, DENISE_ERR_NOT_FINITE);
        // SAFETY: the call fills in every report.
        let reports = reports.into_iter().map(|x| unsafe { x.assume_init() });
        let bad: Vec<u32> = reports.map(|report| report.first_bad).collect();
        assert_eq!(bad, [u32::MAX, 2 * N as u32 + 1, N as u32 + 1, u32::MAX]);
    }
    // SAFETY: a live handle, freed once.
    unsafe { denise_free(model) };
}
