//! Streams beside calls that start from scratch, on the same covariances, in one run.

use crate::measure::median;
use denise::{
    DENISE_OK, denise_decompose_batch, denise_free, denise_load, denise_model, denise_options,
    denise_options_init, denise_stream, denise_stream_covariance_f64, denise_stream_free,
    denise_stream_new, denise_stream_options, denise_stream_options_init, denise_stream_push,
};
use denise_rust::Report;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::time::Instant;

/// Ticks of returns, which come again and again.
const TICKS: usize = 64;

/// A model and streams of it, called as a C program would.
struct Case {
    model: *mut denise_model,
    stream: *mut denise_stream,
    n: usize,
    streams: usize,
    returns: Vec<f32>,
    tick: usize,
    m: Vec<f32>,
    l: Vec<f32>,
    s: Vec<f32>,
    reports: Vec<Report>,
}

impl Case {
    fn new(n: usize, k: usize, streams: usize, window: u32) -> Case {
        let mut model = null_mut();
        let mut stream = null_mut();
        // SAFETY: both options are initialised before they are read; all pointers are valid.
        unsafe {
            let mut options = MaybeUninit::<denise_options>::uninit();
            denise_options_init(options.as_mut_ptr(), size_of::<denise_options>());
            let mut options = options.assume_init();
            (options.n, options.k) = (n as u32, k as u32);
            assert_eq!(
                denise_load(null(), &raw const options, &raw mut model),
                DENISE_OK
            );
            let mut of_stream = MaybeUninit::<denise_stream_options>::uninit();
            let size = size_of::<denise_stream_options>();
            denise_stream_options_init(of_stream.as_mut_ptr(), size);
            let mut of_stream = of_stream.assume_init();
            (of_stream.streams, of_stream.window) = (streams as u32, window);
            let status = denise_stream_new(model, &raw const of_stream, &raw mut stream);
            assert_eq!(status, DENISE_OK);
        }
        let size = streams * n * n;
        let mut case = Case {
            model,
            stream,
            n,
            streams,
            returns: returns(n, streams),
            tick: 0,
            m: vec![0.0; size],
            l: vec![0.0; size],
            s: vec![0.0; size],
            reports: vec![Report::default(); streams],
        };
        for _ in 0..2 * TICKS {
            case.push();
        }
        case
    }

    /// Returns in; L, S and reports out. Seconds.
    fn push(&mut self) -> f64 {
        let each = self.streams * self.n;
        let returns = &self.returns[self.tick % TICKS * each..][..each];
        self.tick += 1;
        let start = Instant::now();
        // SAFETY: a live handle, and buffers of its size.
        let status = unsafe {
            denise_stream_push(
                self.stream,
                returns.as_ptr(),
                null_mut(),
                self.l.as_mut_ptr(),
                self.s.as_mut_ptr(),
                self.reports.as_mut_ptr().cast(),
            )
        };
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(status, DENISE_OK);
        seconds
    }

    /// The covariances as they are now, from scratch. Seconds.
    fn full(&mut self) -> f64 {
        let start = Instant::now();
        // SAFETY: a live handle, and buffers of its size.
        let status = unsafe {
            denise_decompose_batch(
                self.model,
                self.streams,
                self.m.as_ptr(),
                null_mut(),
                self.l.as_mut_ptr(),
                self.s.as_mut_ptr(),
                self.reports.as_mut_ptr().cast(),
            )
        };
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(status, DENISE_OK);
        seconds
    }

    fn take_covariances(&mut self) {
        let mut m = vec![0.0; self.m.len()];
        // SAFETY: a live handle, and a buffer of its size.
        let status = unsafe { denise_stream_covariance_f64(self.stream, m.as_mut_ptr()) };
        assert_eq!(status, DENISE_OK);
        for (to, from) in self.m.iter_mut().zip(m) {
            *to = from as f32;
        }
    }

    /// Means over 20 ticks, in which every stream starts from scratch once: a tick, and a call, in seconds for each
    /// stream.
    fn twenty(&mut self) -> (f64, f64) {
        self.take_covariances();
        let (mut ticks, mut calls) = (0.0, 0.0);
        for _ in 0..20 {
            ticks += self.push();
            calls += self.full();
        }
        let each = 20.0 * self.streams as f64;
        (ticks / each, calls / each)
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        // SAFETY: made once, freed once; nobody uses them any more.
        unsafe {
            denise_stream_free(self.stream);
            denise_free(self.model);
        }
    }
}

/// Three factors, and noise.
fn returns(n: usize, streams: usize) -> Vec<f32> {
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let u: Vec<f32> = (0..streams * n * 3).map(|_| random()).collect();
    let mut all = Vec::new();
    for _ in 0..TICKS {
        for u in u.chunks_exact(n * 3) {
            let factors = [random(), random(), random()];
            for u in u.chunks_exact(3) {
                let common: f32 = u.iter().zip(factors).map(|(u, f)| u * f).sum();
                all.push(0.01 * (common + 0.3 * random()));
            }
        }
    }
    all
}

/// Rows about time, and a table over n and k.
pub(crate) fn print() {
    println!(
        "\nStreams, f32, one core: from returns to L, S and report, mean over 20 ticks, of which one also"
    );
    println!(
        "starts from scratch; beside denise_decompose_batch on the same covariances, interleaved.\n"
    );
    println!("| streams | n | k | estimate | a tick | a full call | ratio | goal |");
    println!("|---|---|---|---|---|---|---|---|");
    for (streams, n, k, window, goal) in [
        (1024, 20, 3, 0, "0.30, 0.6 µs"),
        (1024, 20, 3, 100, "0.30, 0.6 µs"),
        (1, 20, 3, 0, "0.30, 1.4 µs"),
        (1, 20, 3, 100, "0.30, 1.4 µs"),
        (256, 20, 1, 0, ""),
        (256, 20, 5, 0, ""),
        (64, 50, 3, 0, ""),
        (64, 50, 5, 0, ""),
        (16, 100, 5, 0, ""),
        (4, 200, 5, 0, ""),
        (1, 450, 10, 0, ""),
    ] {
        let mut case = Case::new(n, k, streams, window);
        let rounds = if streams * n * n > 100_000 { 9 } else { 101 };
        let times: Vec<(f64, f64)> = (0..rounds).map(|_| case.twenty()).collect();
        let tick = median(times.iter().map(|x| x.0).collect());
        let call = median(times.iter().map(|x| x.1).collect());
        let ratio = median(times.iter().map(|x| x.0 / x.1).collect());
        let estimate = match window {
            0 => "half-life 60".to_owned(),
            window => format!("window {window}"),
        };
        println!(
            "| {streams} | {n} | {k} | {estimate} | {:.2} µs | {:.2} µs | {ratio:.2} | {goal} |",
            tick * 1e6,
            call * 1e6
        );
    }
    let mut case = Case::new(20, 3, 1, 0);
    let mut all: Vec<f64> = (0..1_000_000).map(|_| case.push()).collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all[(share * (all.len() - 1) as f64) as usize] * 1e6;
    println!(
        "\nOne stream, a million ticks, with the clock's own time: p50 {:.2} µs, p99 {:.2} µs,",
        at(0.5),
        at(0.99)
    );
    println!("p99.9 {:.2} µs, largest {:.0} µs.", at(0.999), at(1.0));
}
