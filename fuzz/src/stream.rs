//! Streams on any returns, matrices and states.

use crate::bytes::Bytes;
use denise_rust::{Model, Options, Outputs, Report, Status, Stream, StreamOptions};

/// Makes streams of the fuzzer's choice and does with them what the bytes say.
///
/// Panics if finite estimates do not give finite, symmetric L, if what is not ready or not finite gives numbers, if a
/// stream that was restored goes another way than the one that was saved, or if a state that was changed is taken.
pub fn stream(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let n = 2 + bytes.below(11);
    let k = 1 + bytes.below(n - 1);
    let choice = bytes.byte();
    let options = StreamOptions {
        streams: 1 + bytes.below(18),
        window: match choice % 4 {
            0 => 0,
            1 => 1 + bytes.below(12),
            _ => 2 + bytes.below(40),
        },
        half_life: match choice % 4 {
            0 if choice < 64 => f64::from_le_bytes(bytes.array()),
            0 => [0.0, 0.5, 3.0, 60.0][bytes.below(4)],
            _ => 0.0,
        },
        correlation: choice & 16 != 0,
        demean: choice & 32 != 0,
        warm_up: bytes.below(16),
    };
    let of_model = Options {
        missing: choice & 8 != 0,
        ..Options::size(n, k)
    };
    let model = Model::builtin(&of_model).expect("a good size");
    let mut live = match model.stream(&options) {
        Ok(live) => live,
        Err(error) => {
            assert_eq!(error.status, Status::Argument, "{error}");
            return;
        }
    };
    let mut other: Option<Stream> = None;
    let mut state = vec![0; live.state_size()];
    for _ in 0..48 {
        if bytes.rest().is_empty() {
            return;
        }
        match bytes.below(16) {
            0 => {
                live.save(&mut state).expect("there is room");
                let mut again = model.stream(&options).expect("the same options");
                again.restore(&state).expect("a good state");
                other = Some(again);
            }
            1 => {
                live.save(&mut state).expect("there is room");
                let at = usize::from(u16::from_le_bytes(bytes.array())) % state.len();
                let change = bytes.byte();
                state[at] ^= change;
                assert_eq!(live.restore(&state).is_ok(), change == 0);
            }
            2 => {
                let any = bytes.rest();
                assert!(live.restore(&any[..any.len().min(4096)]).is_err());
            }
            3 => {
                let which = bytes.below(20);
                assert_eq!(live.reset_one(which).is_ok(), which < options.streams);
                if let Some(other) = &mut other {
                    let _ = other.reset_one(which);
                }
            }
            4 => tick(&mut live, &mut other, n * n, &mut bytes, true, |x| x as f32),
            5 => tick(&mut live, &mut other, n * n, &mut bytes, true, |x| x),
            6..11 => tick(&mut live, &mut other, n, &mut bytes, false, |x| x as f32),
            _ => tick(&mut live, &mut other, n, &mut bytes, false, |x| x),
        }
    }
}

/// A tick of both streams, which must give the same.
fn tick<F: denise_rust::Element + Into<f64> + Default>(
    live: &mut Stream,
    other: &mut Option<Stream>,
    each: usize,
    bytes: &mut Bytes<'_>,
    matrices: bool,
    cast: impl Fn(f64) -> F,
) {
    let (n, k, count) = (live.n(), live.k(), live.streams());
    let mut numbers = [0.0; 5];
    for x in &mut numbers {
        *x = match bytes.byte() {
            0 => f64::from_le_bytes(bytes.array()),
            1 => f64::NAN,
            2 => 0.0,
            3 => f64::INFINITY,
            any => (f64::from(any) - 128.0) / 4096.0,
        };
    }
    let step = 1 + bytes.below(7);
    let values: Vec<F> = (0..count * each)
        .map(|at| cast(numbers[(at * step + at / 5) % 5] * (1.0 + (at % 3) as f64)))
        .collect();
    let go = |stream: &mut Stream| {
        let mut u = vec![F::default(); count * n * k];
        let mut l = vec![F::default(); count * n * n];
        let mut s = vec![F::default(); count * n * n];
        let mut reports = vec![Report::default(); count];
        let out = Outputs {
            u: Some(&mut u),
            l: Some(&mut l),
            s: Some(&mut s),
            reports: Some(&mut reports),
        };
        let result = match matrices {
            true => stream.push_matrices(&values, out),
            false => stream.push(&values, out),
        };
        let bad = reports
            .iter()
            .any(|report| report.status == Status::NotFinite as i32);
        assert_eq!(result.is_err(), bad, "{result:?}");
        let numbers = |x: Vec<F>| -> Vec<f64> { x.into_iter().map(Into::into).collect() };
        (numbers(u), numbers(l), numbers(s), reports)
    };
    let (u, l, s, reports) = go(live);
    for (i, report) in reports.iter().enumerate() {
        let l = &l[i * n * n..(i + 1) * n * n];
        let u = &u[i * n * k..(i + 1) * n * k];
        if report.status != Status::Ok as i32 {
            assert!(l.iter().chain(u).all(|x| x.is_nan()), "{report:?}");
            continue;
        }
        assert!(l.iter().chain(u).all(|x| x.is_finite()), "{report:?}");
        for at in 0..n * n {
            assert_eq!(l[at].to_bits(), l[at % n * n + at / n].to_bits());
        }
        let unknown = s[i * n * n..(i + 1) * n * n].iter().filter(|x| x.is_nan());
        assert_eq!(unknown.count() == 0, report.missing == 0, "{report:?}");
    }
    if let Some(other) = other {
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let (u_too, l_too, s_too, _) = go(other);
        assert_eq!(bits(&l), bits(&l_too), "restored, and went another way");
        assert_eq!(bits(&u), bits(&u_too));
        assert_eq!(bits(&s), bits(&s_too));
    }
}
