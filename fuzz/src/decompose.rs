//! Networks on any numbers, in any buffers.

use crate::abi::{Handle, default_options, open};
use crate::bytes::Bytes;
use crate::guarded::Guarded;
use crate::solve::solve;
use crate::value::Value;
use denise::{
    DENISE_ERR_ARGUMENT, DENISE_ERR_NOT_FINITE, DENISE_ERR_NULL_POINTER, DENISE_ERR_SHAPE,
    DENISE_ERR_UNSUPPORTED, DENISE_FLAG_CAREFUL, DENISE_FLAG_CORRELATION, DENISE_FLAG_MISSING,
    DENISE_OK, denise_options, denise_report,
};
use std::ptr;
use std::sync::OnceLock;

/// A dense network: n = 6, k = 2.
const DENSE: &[u8] = include_bytes!("../../tests/data/onnx/keras_paper.onnx");

/// Runs the built-in network, a dense one or a classical method on numbers, sizes and buffers that the bytes say.
///
/// Panics if a byte beside an output is written, if finite matrices do not give finite, symmetric outputs
/// with L = UUᵀ and L + S = M, or if any output differs from that of the same matrix alone.
pub fn decompose(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    match bytes.byte() % 8 {
        0..=2 => network::<f32>(&mut bytes),
        3..=4 => network::<f64>(&mut bytes),
        5 => with_model::<f32>(dense(), false, &mut bytes),
        6 => with_model::<f64>(dense(), false, &mut bytes),
        _ => solve(&mut bytes),
    }
}

fn dense() -> &'static Handle {
    static MODEL: OnceLock<Handle> = OnceLock::new();
    MODEL.get_or_init(|| open(Some(DENSE), default_options()).expect("a good file"))
}

/// The built-in network at a size of the fuzzer's choice.
fn network<F: Value>(bytes: &mut Bytes<'_>) {
    let n = 2 + bytes.below(31);
    // Mostly small ranks: large ones take a hundred times as long.
    let k = match bytes.byte() {
        small @ 0..240 => 1 + usize::from(small) % 6.min(n - 1),
        any => 1 + usize::from(any - 240) * 2 % (n - 1),
    };
    let threads = [0, 0, 0, 0, 0, 1, 2, 3][bytes.below(8)];
    let flags = u32::from(bytes.byte());
    let correlation = if flags >= 192 {
        DENISE_FLAG_CORRELATION
    } else {
        0
    };
    // Seldom, because it takes a multiple of the time.
    let careful = if flags % 8 == 7 {
        DENISE_FLAG_CAREFUL
    } else {
        0
    };
    let missing = if flags % 5 == 4 {
        DENISE_FLAG_MISSING
    } else {
        0
    };
    let options = denise_options {
        n: n as u32,
        k: k as u32,
        max_concurrency: 1,
        threads,
        flags: (flags % 3) | correlation | careful | missing,
        ..default_options()
    };
    match open(None, options) {
        Ok(model) => with_model::<F>(&model, missing != 0, bytes),
        // AVX2 on a machine that does not have it.
        Err((status, message)) => assert_eq!(status, DENISE_ERR_UNSUPPORTED, "{message}"),
    }
}

/// Matrices whose entries are a few numbers again and again, with any numbers in a few places.
pub(crate) fn matrices<F: Value>(bytes: &mut Bytes<'_>, n: usize, count: usize) -> Vec<F> {
    let mut palette = Vec::new();
    for _ in 0..1 + bytes.below(8) {
        let value = F::from_bytes(bytes.array());
        palette.push(if value.get().is_finite() {
            value
        } else {
            F::new(1.0)
        });
    }
    let mut state = u64::from(bytes.byte());
    let diagonal = bytes.byte();
    let mut all = Vec::with_capacity(count * n * n);
    for at in 0..count * n * n {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let (i, j) = (at / n % n, at % n);
        all.push(match diagonal % 3 {
            // Most matrices have their largest entries there.
            0 if i == j => palette[0],
            1 if i > j => F::new(palette[(state >> 33) as usize % palette.len()].get() * 0.1),
            _ => palette[(state >> 33) as usize % palette.len()],
        });
        // What stands above the diagonal does not matter.
        if j > i && diagonal >= 128 {
            all[at] = F::new(f64::NAN);
        }
    }
    for _ in 0..bytes.below(8) {
        let place = u16::from_le_bytes(bytes.array());
        let value = F::from_bytes(bytes.array());
        if let Some(len) = all.len().checked_sub(1) {
            all[usize::from(place) % (len + 1)] = value;
        }
    }
    all
}

/// What is asked of one call.
struct Wanted {
    u: bool,
    l: bool,
    s: bool,
    reports: bool,
    /// S in the place of M.
    in_place: bool,
    shifts: [usize; 5],
    to_the_edge: bool,
}

/// The outputs that were asked for; the others are empty.
struct Found<F> {
    status: i32,
    u: Vec<F>,
    l: Vec<F>,
    s: Vec<F>,
    reports: Vec<denise_report>,
}

fn with_model<F: Value>(model: &Handle, missing: bool, bytes: &mut Bytes<'_>) {
    let (n, k) = (model.n(), model.k());
    // Some batches are long enough for threads to share.
    let count = match bytes.byte() {
        few if n * k > 200 => usize::from(few) % 3,
        few @ 0..200 => usize::from(few) % 20,
        many if n <= 8 => 60 + usize::from(many) % 12,
        many => usize::from(many) % 4,
    };
    let mask = bytes.byte();
    let shift = bytes.byte();
    let wanted = Wanted {
        u: mask & 1 != 0,
        l: mask & 2 != 0,
        s: mask & 4 != 0,
        reports: mask & 8 != 0,
        in_place: mask & 16 != 0,
        // Most calls have aligned buffers.
        shifts: [0, 1, 2, 3, 4].map(|buffer| match shift < 128 {
            true => 0,
            false => usize::from(shift >> buffer) % 8,
        }),
        to_the_edge: mask & 32 != 0,
    };
    let m = matrices::<F>(bytes, n, count);
    refuses_what_it_must::<F>(model, bytes);
    let found = call(model, &m, count, &wanted);
    check::<F>(model, missing, &m, count, &found);

    // Every matrix alone, in aligned buffers.
    let alone = Wanted {
        u: true,
        l: true,
        s: true,
        reports: true,
        in_place: false,
        shifts: [0; 5],
        to_the_edge: true,
    };
    for (i, m) in m.chunks_exact(n * n).enumerate() {
        let one = call(model, m, 1, &alone);
        check::<F>(model, missing, m, 1, &one);
        same(&found.u, &one.u, i, n * k);
        same(&found.l, &one.l, i, n * n);
        same(&found.s, &one.s, i, n * n);
        if let Some(report) = found.reports.get(i) {
            let bits = |r: &denise_report| {
                let values = [r.l1, r.residual, r.sparsity, r.unsettled, r.least_specific];
                (values.map(f32::to_bits), r.status, r.missing, r.first_bad)
            };
            assert_eq!(bits(report), bits(&one.reports[0]), "report {i}");
        }
    }
}

/// Panics unless part `i` of `all`, if that was asked for, is `one`, bit by bit.
pub(crate) fn same<F: Value>(all: &[F], one: &[F], i: usize, len: usize) {
    if all.is_empty() {
        return;
    }
    for (at, (x, y)) in all[i * len..].iter().zip(one).enumerate() {
        assert!(
            x.bits() == y.bits(),
            "matrix {i}, value {at}: {x:?} in the batch, {y:?} alone"
        );
    }
}

fn call<F: Value>(model: &Handle, m: &[F], count: usize, wanted: &Wanted) -> Found<F> {
    let (n, k) = (model.n(), model.k());
    let [at_m, at_u, at_l, at_s, at_reports] = wanted.shifts;
    let edge = wanted.to_the_edge;
    let mut given = Guarded::new::<F>(m.len(), at_m, edge);
    given.fill(m);
    let mut u = Guarded::new::<F>(count * n * k, at_u, edge);
    let mut l = Guarded::new::<F>(count * n * n, at_l, edge);
    let mut s = Guarded::new::<F>(count * n * n, at_s, edge);
    let mut reports = Guarded::new::<denise_report>(count, at_reports, edge);
    let in_place = wanted.in_place && wanted.s;
    let or_null = |wanted: bool, pointer: *mut F| if wanted { pointer } else { ptr::null_mut() };
    let given_pointer = given.pointer::<F>();
    // SAFETY: every buffer holds as many values as the call takes or is null, and none overlap but m and s.
    let status = unsafe {
        F::decompose(
            model.get(),
            count,
            given_pointer,
            or_null(wanted.u, u.pointer()),
            or_null(wanted.l, l.pointer()),
            if in_place {
                given_pointer
            } else {
                or_null(wanted.s, s.pointer())
            },
            if wanted.reports {
                reports.pointer()
            } else {
                ptr::null_mut()
            },
        )
    };
    if !in_place {
        // M is the caller's.
        same(&given.values::<F>(), m, 0, m.len());
    }
    let out = |wanted: bool, buffer: &Guarded| {
        assert!(wanted || buffer.is_untouched());
        if wanted {
            buffer.values::<F>()
        } else {
            Vec::new()
        }
    };
    Found {
        status,
        u: out(wanted.u, &u),
        l: out(wanted.l, &l),
        s: if in_place {
            given.values()
        } else {
            out(wanted.s, &s)
        },
        reports: if wanted.reports {
            reports.values()
        } else {
            assert!(reports.is_untouched());
            Vec::new()
        },
    }
}

/// What the header promises of any call. NaN may be `missing`.
fn check<F: Value>(model: &Handle, missing: bool, m: &[F], count: usize, found: &Found<F>) {
    let (n, k) = (model.n(), model.k());
    let mut expected = DENISE_OK;
    for i in 0..count {
        fn part<T>(all: &[T], i: usize, len: usize) -> Option<&[T]> {
            all.get(i * len..(i + 1) * len)
        }
        let (u, l, s) = (
            part(&found.u, i, n * k),
            part(&found.l, i, n * n),
            part(&found.s, i, n * n),
        );
        let outputs = || [u, l, s].into_iter().flatten().flatten();
        let m = &m[i * n * n..(i + 1) * n * n];
        let bad = |x: f64| x.is_infinite() || (x.is_nan() && !missing);
        let lower = || (0..n * n).filter(|at| at % n <= at / n);
        let finite = lower().all(|at| !bad(m[at].get()));
        let holes = lower().filter(|&at| m[at].get().is_nan()).count();
        if finite {
            let complete = || [u, l].into_iter().flatten().flatten();
            assert!(complete().all(|x| x.get().is_finite()), "matrix {i}");
            if let Some(s) = s {
                let sound = |at: usize| match m[at].get().is_nan() {
                    true => s[at].get().is_nan(),
                    false => s[at].get().is_finite(),
                };
                assert!(lower().all(sound), "matrix {i}");
            }
            l.into_iter().chain(s).for_each(|x| is_symmetric(x, n));
            if let (Some(l), Some(s)) = (l, s) {
                adds_up(m, l, s, n);
            }
            if let (Some(u), Some(l)) = (u, l) {
                is_product(m, u, l, k);
            }
        } else {
            expected = DENISE_ERR_NOT_FINITE;
            assert!(outputs().all(|x| x.get().is_nan()), "matrix {i}");
        }
        if let Some(report) = found.reports.get(i) {
            let values = [
                report.l1,
                report.residual,
                report.sparsity,
                report.unsettled,
            ];
            if finite {
                assert_eq!(report.missing as usize, holes);
                assert_eq!(report.status, DENISE_OK);
                assert!(values.iter().all(|x| x.is_finite() && *x >= 0.0));
                assert!(report.sparsity <= 1.0);
                assert!(report.least_specific.is_finite() && report.least_specific <= 1.0);
                assert_eq!(report.first_bad, u32::MAX);
            } else {
                assert_eq!(report.status, DENISE_ERR_NOT_FINITE);
                assert!(values.iter().all(|x| x.is_nan()) && report.least_specific.is_nan());
                assert_eq!(report.missing, 0);
                let first = report.first_bad as usize;
                assert!(first % n <= first / n && bad(m[first].get()));
            }
        }
    }
    assert_eq!(found.status, expected);
}

pub(crate) fn is_symmetric<F: Value>(x: &[F], n: usize) {
    for i in 0..n {
        for j in 0..i {
            assert_eq!(x[i * n + j].bits(), x[j * n + i].bits(), "({i}, {j})");
        }
    }
}

/// L + S is M to one rounding, unless one of them was limited to the largest finite number.
pub(crate) fn adds_up<F: Value>(m: &[F], l: &[F], s: &[F], n: usize) {
    for i in 0..n {
        for j in 0..=i {
            let [m, l, s] = [m, l, s].map(|x| x[i * n + j].get());
            if l.abs() == F::MAX || s.abs() == F::MAX || m.is_nan() {
                continue;
            }
            // The rounding of S; and of the sum here, if F is f64. Halves, since the sum may overflow.
            let difference = (l / 2.0 + s / 2.0 - m / 2.0).abs();
            let most = F::EPSILON * (m.abs() / 2.0 + l.abs() / 2.0) + F::TINY;
            assert!(difference <= most, "({i}, {j}): {l:e} + {s:e} is not {m:e}");
        }
    }
}

/// L is UUᵀ, computed in any order, unless it was limited.
fn is_product<F: Value>(m: &[F], u: &[F], l: &[F], k: usize) {
    let n = u.len() / k;
    let largest = |x: &[F]| x.iter().fold(0.0, |most: f64, x| most.max(x.get().abs())); // without NaN
    // L may be computed in units of M, where what is below the normal numbers loses digits.
    let unit = largest(m).max(1.0) * F::TINY / F::EPSILON * 2.0 * (n * k) as f64;
    let largest = largest(u);
    // A power of two near the largest, so that squares are in range.
    let scale = 2_f64.powi(largest.log2().clamp(-1000.0, 1000.0) as i32);
    if largest == 0.0 || scale * scale * 4.0 * k as f64 >= F::MAX {
        return;
    }
    for i in 0..n {
        for j in 0..=i {
            // Each row in its own unit: it may be so much shorter than the longest that squares are lost.
            let unit_of = |i: usize| {
                let longest = (0..k).fold(0.0, |most: f64, a| most.max(u[i * k + a].get().abs()));
                2_f64.powi(longest.max(f64::MIN_POSITIVE).log2() as i32)
            };
            let (x, y) = (unit_of(i), unit_of(j));
            let row = |row: usize, unit: f64| (0..k).map(move |a| u[row * k + a].get() / unit);
            let sum: f64 = row(i, x).zip(row(j, y)).map(|(x, y)| x * y).sum();
            let square = |i, unit| row(i, unit).map(|x| x * x).sum::<f64>();
            let size = (square(i, x) * square(j, y)).sqrt();
            // The library may round U twice, which L does not see, and both sums round at each of their k steps. And it
            // turns U, in f64: a turn mixes the numbers of a row, of whose size the roundings are.
            let turns = if size_of::<F>() == 8 { 18 * k } else { 1 };
            let roundings = (2 * (k + 3) + turns) as f64;
            let most = F::EPSILON * roundings * size * x * y + unit;
            let difference = (l[i * n + j].get() - sum * x * y).abs();
            assert!(
                difference <= most,
                "({i}, {j}): L is {:?}, UUᵀ is {:e}",
                l[i * n + j],
                sum * x * y
            );
        }
    }
}

/// Calls that break the rules are refused before anything is written.
fn refuses_what_it_must<F: Value>(model: &Handle, bytes: &mut Bytes<'_>) {
    let (n, k) = (model.n(), model.k());
    let kind = bytes.byte();
    let mut a = Guarded::new::<F>(n * n, 0, true);
    let mut b = Guarded::new::<F>(n * n, 0, true);
    let huge = usize::MAX - usize::from(u16::from_le_bytes(bytes.array()));
    let (a_pointer, b_pointer) = (a.pointer::<F>(), b.pointer::<F>());
    let null = ptr::null_mut();
    // SAFETY: none of these calls may read or write anything, which is what is tested; all buffers are live.
    let (status, expected) = unsafe {
        match kind % 5 {
            0 => (
                F::decompose(
                    model.get(),
                    1,
                    ptr::null(),
                    null,
                    a_pointer,
                    null,
                    ptr::null_mut(),
                ),
                DENISE_ERR_NULL_POINTER,
            ),
            1 => (
                F::decompose(
                    ptr::null(),
                    1,
                    a_pointer,
                    null,
                    b_pointer,
                    null,
                    ptr::null_mut(),
                ),
                DENISE_ERR_NULL_POINTER,
            ),
            // Larger than any object.
            2 => (
                F::decompose(
                    model.get(),
                    huge,
                    a_pointer,
                    null,
                    b_pointer,
                    null,
                    ptr::null_mut(),
                ),
                DENISE_ERR_SHAPE,
            ),
            3 => (
                F::decompose(
                    model.get(),
                    usize::MAX / 2 / (n * n),
                    a_pointer,
                    null,
                    b_pointer,
                    null,
                    ptr::null_mut(),
                ),
                DENISE_ERR_SHAPE,
            ),
            // U inside of L.
            _ => (
                F::decompose(
                    model.get(),
                    1,
                    a_pointer,
                    b_pointer.add(n * n - n * k),
                    b_pointer,
                    null,
                    ptr::null_mut(),
                ),
                DENISE_ERR_ARGUMENT,
            ),
        }
    };
    assert_eq!(status, expected, "call {kind}");
    assert!(a.is_untouched() && b.is_untouched(), "call {kind}");
}
