//! One table for a person: speed through the C ABI next to what the machine could do at best.
//!
//! Every figure is measured in this run. Timings of one comparison are interleaved, and medians are shown.

mod matrices;
mod measure;

use denise::ffi::{
    DENISE_OK, denise_decompose_batch, denise_free, denise_kernel, denise_load, denise_model,
    denise_options, denise_options_init,
};
use denise::unrolled::{Curvature, File};
use denise::{Model, Options, Outputs};
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
        let mut options = MaybeUninit::<denise_options>::uninit();
        let mut model = null_mut();
        // SAFETY: options is initialised by the first call; the pointers are valid for both.
        let status = unsafe {
            denise_options_init(options.as_mut_ptr());
            let mut options = options.assume_init();
            (options.n, options.k, options.threads) = (n as u32, k as u32, threads);
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

/// The multiply-adds that the built-in network cannot do without: three products with M̂ at the start; in
/// every layer R once for each pair, and b_i; A_i in the layers that have their own; and L at the end.
fn fused_multiply_adds(n: f64, k: f64) -> f64 {
    let pairs = n * (n + 1.0) / 2.0;
    let layers = File::builtin().expect("memory").layers;
    let own = layers.iter().filter(|x| x.curvature == Curvature::Own);
    let own = own.count() as f64 * n * n * k * (k + 1.0) / 2.0;
    3.0 * n * n * k + layers.len() as f64 * (pairs * k + n * n * k) + own + pairs * k
}

/// A network of ten of the built-in layers, in the middle; gives the seconds that a batch takes.
fn ten_layers(n: usize, k: usize) -> impl FnMut(&[f32], &mut [f32], &mut [f32]) -> f64 {
    let layers = File::builtin().expect("memory").layers;
    let first = (layers.len() - 10) / 2;
    let options = Options {
        n,
        k,
        ..Options::default()
    };
    let model = Model::unrolled(&layers[first..first + 10], &options).expect("sound weights");
    move |m, l, s| {
        let start = Instant::now();
        let out = Outputs {
            l: Some(l),
            s: Some(s),
            ..Outputs::default()
        };
        model.decompose(m, out).expect("finite matrices");
        start.elapsed().as_secs_f64()
    }
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

    let mut ten = ten_layers(n, k);
    let (mut peaks, mut times, mut times_of_ten) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..101 {
        peaks.push(fma_peak());
        times.push(large.time() / 1024.0);
        times_of_ten.push(ten(&large.m, &mut large.l, &mut large.s) / 1024.0);
    }
    let (peak, time) = (median(peaks), median(times));
    let bound = 2.0 * fused_multiply_adds(n as f64, k as f64) / (peak * 1e9);
    println!("| n = 20, k = 3 | measured | goal, for ten layers |");
    println!("|---|---|---|");
    println!("| FMA peak | {peak:.1} GFLOP/s | |");
    println!(
        "| batch 1024, per matrix | {:.2} µs | 1.50 µs |",
        time * 1e6
    );
    println!(
        "| the same, ten of the layers (5 shared, 5 own) | {:.2} µs | 1.50 µs |",
        median(times_of_ten) * 1e6
    );
    println!("| the kernel's FMA bound | {:.2} µs | |", bound * 1e6);
    println!(
        "| share of it reached | {:.0} % | 55 % |",
        100.0 * bound / time
    );

    let mut small = Case::new(n, k, 16, 1);
    // What a pair of clock readings takes is not the library's time.
    let clock = median((0..10_001).map(|_| small.time_of(1, 0)).collect());
    let mut calls: Vec<f64> = (0..100_000)
        .map(|_| (small.time_of(1, 1) - clock) * 1e6)
        .collect();
    calls.sort_by(f64::total_cmp);
    let at = |share: f64| calls[(share * (calls.len() - 1) as f64) as usize];
    println!(
        "| reading the clock, subtracted below | {:.2} µs | |",
        clock * 1e6
    );
    println!("| batch 1, p50 | {:.2} µs | 3.50 µs |", at(0.5));
    println!("| batch 1, p99 | {:.2} µs | |", at(0.99));
    println!("| batch 1, p99.9 | {:.2} µs | |", at(0.999));

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

    println!(
        "\nCost by size, per matrix; the last column should vary little down each column of k.\n"
    );
    println!("| n | k | time | per n²k² |");
    println!("|---|---|---|---|");
    for n in [10, 20, 50, 100, 200] {
        for k in [1, 2, 3, 5, 10] {
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
}
