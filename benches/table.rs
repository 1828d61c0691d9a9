//! One table for a person: speed through the C ABI next to what the machine could do at best.
//!
//! Every figure is measured in this run. Timings of one comparison are interleaved, and medians are shown.

mod matrices;
mod measure;
mod streams;

use denise::{
    DENISE_FLAG_MISSING, DENISE_OK, denise_decompose_batch, denise_free, denise_kernel,
    denise_load, denise_model, denise_options, denise_options_init,
};
use denise_rust::unrolled::{Curvature, EXTRA, File, Layer, Stages};
use denise_rust::{Model, Options, Outputs};
use matrices::matrices;
use measure::{fma_peak, median};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::time::Instant;

/// A handle and a batch, called as a C program would.
struct Case {
    model: *mut denise_model,
    m: Vec<f32>,
    l: Vec<f32>,
    s: Vec<f32>,
    size: usize,
    batch: usize,
}

impl Case {
    fn new(n: usize, k: usize, batch: usize, threads: u32) -> Case {
        Case::with_flags(n, k, batch, threads, 0)
    }

    fn with_flags(n: usize, k: usize, batch: usize, threads: u32, flags: u32) -> Case {
        let mut options = MaybeUninit::<denise_options>::uninit();
        let mut model = null_mut();
        // SAFETY: options is initialised by the first call; the pointers are valid for both.
        let status = unsafe {
            denise_options_init(options.as_mut_ptr(), size_of::<denise_options>());
            let mut options = options.assume_init();
            (options.n, options.k, options.threads) = (n as u32, k as u32, threads);
            options.flags = flags;
            denise_load(null(), &raw const options, &raw mut model)
        };
        assert_eq!(status, DENISE_OK);
        let m = matrices(n, k, batch);
        Case {
            model,
            l: m.clone(),
            s: m.clone(),
            m,
            size: n * n,
            batch,
        }
    }

    /// One call on the first `count` matrices.
    fn call(&mut self, count: usize) {
        assert!(count * self.size <= self.m.len());
        // SAFETY: the buffers hold that many matrices and do not overlap; the model is live.
        let status = unsafe {
            let (l, s) = (self.l.as_mut_ptr(), self.s.as_mut_ptr());
            denise_decompose_batch(
                self.model,
                count,
                self.m.as_ptr(),
                null_mut(),
                l,
                s,
                null_mut(),
            )
        };
        assert_eq!(status, DENISE_OK);
    }

    /// Seconds for one call of the whole batch.
    fn time(&mut self) -> f64 {
        self.time_of(self.batch, 1)
    }

    /// Seconds for `calls` calls of `count` matrices.
    fn time_of(&mut self, count: usize, calls: usize) -> f64 {
        let start = Instant::now();
        for _ in 0..calls {
            self.call(count);
        }
        start.elapsed().as_secs_f64()
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        // SAFETY: made by denise_load and freed once.
        unsafe { denise_free(self.model) }
    }
}

/// What `DENISE_FLAG_MISSING` costs, as multiples of the time without it, in turns.
fn missing(n: usize, k: usize, batch: usize) {
    let mut plain = Case::new(n, k, batch, 1);
    let mut flag = Case::with_flags(n, k, batch, 1, DENISE_FLAG_MISSING);
    let mut holed = Case::with_flags(n, k, batch, 1, DENISE_FLAG_MISSING);
    // One pair in ten, and at least one in every matrix.
    for (at, x) in holed.m.iter_mut().enumerate() {
        let (i, j) = (at / n % n, at % n);
        if j < i && (at * 7 % 10 == 0 || (i, j) == (1, 0)) {
            *x = f32::NAN;
        }
    }
    let calls = (20_000 / (batch * n * n)).max(1);
    let mut ratios = (Vec::new(), Vec::new());
    for _ in 0..101 {
        let time = plain.time_of(batch, calls);
        ratios.0.push(flag.time_of(batch, calls) / time);
        ratios.1.push(holed.time_of(batch, calls) / time);
    }
    println!(
        "| n = {n}, k = {k}, batch {batch}: DENISE_FLAG_MISSING, nothing missing | {:.2} | at most 1.10 |",
        median(ratios.0)
    );
    println!(
        "| the same, a tenth of the pairs missing | {:.2} | |",
        median(ratios.1)
    );
}

/// What the layers do to a matrix, in multiplications, most of them fused with an addition.
struct Work {
    /// Products of matrices: with M̂ at the start; in every layer R once for each pair, and b_i; A_i in the
    /// layers that have their own; and L at the end.
    products: f64,
    /// Those and all others: weights, Gram matrices, row systems, steps, scaling.
    all: f64,
}

impl Work {
    fn of(layers: &[Layer], n: usize, k: usize) -> Work {
        let width = (k + EXTRA).min(n) as f64;
        let (n, k) = (n as f64, k as f64);
        let (pairs, triangle) = (n * (n + 1.0) / 2.0, k * (k + 1.0) / 2.0);
        let count = layers.len() as f64;
        let own = layers.iter().filter(|x| x.curvature == Curvature::Own);
        let own = own.count() as f64;
        let shared = count - own;
        // The start multiplies M̂ five times, and three times to sum rows.
        let products = (5.0 * width + 3.0) * n * n
            + count * (pairs * k + n * n * k)
            + own * n * n * triangle
            + pairs * k;
        let weights = 2.0 * pairs;
        let gram = n * triangle;
        let factor = k * (k * k - 1.0) / 6.0 + k * (k - 1.0) / 2.0 + 2.0;
        let (resolve, advance) = (k * k, 4.0 * k + 1.0);
        let all = products
            // Gram–Schmidt three times, the core, and the directions found.
            + n * width * (3.5 * width + k)
            + count * (weights + n * (resolve + advance))
            + own * n * (triangle + factor)
            + shared * (gram + factor + n * k)
            + 3.0 * pairs;
        Work { products, all }
    }
}

/// Ten of the built-in layers, in the middle.
fn middle_ten() -> Vec<Layer> {
    let layers = File::builtin().expect("memory").layers;
    let first = (layers.len() - 10) / 2;
    layers[first..first + 10].to_vec()
}

/// A network of these layers; gives the seconds that a batch takes.
fn network(
    layers: &[Layer],
    n: usize,
    k: usize,
) -> impl FnMut(&[f32], &mut [f32], &mut [f32]) -> f64 {
    let options = Options {
        n,
        k,
        ..Options::default()
    };
    let model = Model::unrolled(Stages::only(layers), &options).expect("sound weights");
    move |m, l, s| {
        let start = Instant::now();
        let out = Outputs::parts(l, s);
        model.decompose(m, out).expect("finite matrices");
        start.elapsed().as_secs_f64()
    }
}

/// Prints percentiles of calls, given in seconds, without the time that reading the clock takes.
fn percentiles(name: &str, goal: &str, clock: f64, calls: impl Iterator<Item = f64>) {
    let mut calls: Vec<f64> = calls.map(|time| (time - clock) * 1e6).collect();
    calls.sort_by(f64::total_cmp);
    let at = |share: f64| calls[(share * (calls.len() - 1) as f64) as usize];
    println!("| {name}, p50 | {:.2} µs | {goal} |", at(0.5));
    println!("| {name}, p99 | {:.2} µs | |", at(0.99));
    println!("| {name}, p99.9 | {:.2} µs | |", at(0.999));
}

fn main() {
    let (n, k) = (20, 3);
    let mut large = Case::new(n, k, 1024, 1);
    // SAFETY: a live handle; the string is static.
    let kernel = unsafe { CStr::from_ptr(denise_kernel(large.model)) };
    println!(
        "kernel: {}; {} layers, f32, L and S written, one core unless said\n",
        kernel.to_string_lossy(),
        File::builtin().expect("memory").layers.len()
    );

    let ten_layers = middle_ten();
    let mut ten = network(&ten_layers, n, k);
    let (mut peaks, mut times, mut times_of_ten) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..101 {
        peaks.push(fma_peak());
        times.push(large.time() / 1024.0);
        times_of_ten.push(ten(&large.m, &mut large.l, &mut large.s) / 1024.0);
    }
    let (peak, time) = (median(peaks), median(times_of_ten));
    println!("| n = 20, k = 3 | measured | goal |");
    println!("|---|---|---|");
    println!("| FMA peak | {peak:.1} GFLOP/s | |");
    println!(
        "| batch 1024, per matrix | {:.2} µs | |",
        median(times) * 1e6
    );
    println!(
        "| the same, ten of the layers (5 shared, 5 own) | {:.2} µs | 1.50 µs |",
        time * 1e6
    );
    let work = Work::of(&ten_layers, n, k);
    let bounds = [
        ("the products", work.products),
        ("every multiplication", work.all),
    ];
    for (name, count) in bounds {
        let bound = 2.0 * count / (peak * 1e9);
        println!(
            "| FMA bound of {name} of ten layers | {:.2} µs | |",
            bound * 1e6
        );
        println!(
            "| share of it reached | {:.0} % | 55 % |",
            100.0 * bound / time
        );
    }

    let mut small = Case::new(n, k, 16, 1);
    // What a pair of clock readings takes is not the library's time.
    let clock = median((0..10_001).map(|_| small.time_of(1, 0)).collect());
    println!(
        "| reading the clock, subtracted below | {:.2} µs | |",
        clock * 1e6
    );
    let one = n * n;
    percentiles(
        "batch 1",
        "",
        clock,
        (0..100_000).map(|_| small.time_of(1, 1)),
    );
    percentiles(
        "batch 1, ten of the layers",
        "3.50 µs",
        clock,
        (0..100_000).map(|_| ten(&large.m[..one], &mut large.l[..one], &mut large.s[..one])),
    );

    let empty = median((0..301).map(|_| small.time_of(0, 1000)).collect());
    println!(
        "| an empty call: checks, floating-point modes there and back | {:.0} ns | |",
        empty * 1e6
    );

    let mut ratios = (Vec::new(), Vec::new());
    for _ in 0..501 {
        ratios.0.push(small.time_of(9, 4) / small.time_of(16, 4));
        ratios.1.push(small.time_of(7, 4) / small.time_of(1, 28));
    }
    println!(
        "| batch 9 / batch 16 | {:.2} | at most 1 |",
        median(ratios.0)
    );
    println!(
        "| one call of 7 / seven calls of 1 | {:.2} | at most 1 |",
        median(ratios.1)
    );

    let (mut one, mut two) = (Case::new(n, k, 10_000, 1), Case::new(n, k, 10_000, 2));
    let ratio = median((0..21).map(|_| one.time() / two.time()).collect());
    println!("| batch 10,000, two threads against one | {ratio:.2} × | 1.80 × |");

    for (n, k, batch) in [(20, 3, 1024), (20, 3, 1), (50, 5, 128), (200, 5, 4)] {
        missing(n, k, batch);
    }

    println!(
        "\nCost by size, per matrix. It is about a + b k + c k² for each of the n² entries: the last column falls with k as long \
         as a and b count, and should not vary much with n.\n"
    );
    println!("| n | k | time | per n²k² |");
    println!("|---|---|---|---|");
    for n in [10, 20, 50, 100, 200] {
        for k in [1, 2, 3, 4, 5, 6, 10] {
            if k >= n {
                continue;
            }
            let batch = (400_000 / (n * n * k)).clamp(4, 256);
            let mut case = Case::new(n, k, batch, 1);
            let time = median((0..11).map(|_| case.time()).collect()) / batch as f64;
            println!(
                "| {n} | {k} | {:.2} µs | {:.2} ns |",
                time * 1e6,
                time * 1e9 / (n * n * k * k) as f64
            );
        }
    }
    streams::print();
}
