//! Decomposing allocates nothing, on any path; loading does, which shows that the counter counts.

use denise::dense::{Activation, Layer, Network};
use denise::{Model, Options, Outputs, Report};
use denise_data::random::Random;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: hands everything on to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations and releases that `body` makes on this thread.
fn count(body: impl FnOnce()) -> usize {
    let before = COUNT.with(Cell::get);
    body();
    COUNT.with(Cell::get) - before
}

#[test]
fn decompose_never_allocates() {
    for (n, k) in [(20, 3), (7, 2), (50, 5), (100, 10), (40, 32)] {
        let options = Options {
            n,
            k,
            ..Options::default()
        };
        check(n, k, || Model::builtin(&options).ok());
    }
}

#[test]
fn a_dense_network_never_allocates_either() {
    let (n, k) = (7, 2);
    let mut random = Random::new(1);
    let mut layer = |inputs, outputs, activation| Layer {
        inputs,
        outputs,
        weights: (0..inputs * outputs)
            .map(|_| random.uniform() as f32 - 0.5)
            .collect(),
        bias: vec![0.1; outputs],
        activation,
    };
    let network = Network {
        n,
        k,
        layers: vec![
            layer(28, 130, Activation::Relu),
            layer(130, 14, Activation::Tanh),
        ],
    };
    for bits in [32, 16, 8] {
        for threads in [1, 2] {
            let options = Options {
                half_weights: bits == 16,
                byte_weights: bits == 8,
                threads,
                ..Options::default()
            };
            check(n, k, || Model::dense(&network, &options).ok());
        }
    }
}

fn check(n: usize, k: usize, load: impl FnOnce() -> Option<Model>) {
    let mut model = None;
    let loading = count(|| model = load());
    assert!(loading > 0);
    let model = model.expect("supported");
    for batch in [1, 7, 8, 9, 33] {
        let mut random = Random::new(2);
        let mut m: Vec<f32> = (0..batch * n * n)
            .map(|_| random.uniform() as f32)
            .collect();
        let (mut u, mut l, mut s) = (
            vec![0.0; batch * n * k],
            vec![0.0; batch * n * n],
            vec![0.0; batch * n * n],
        );
        let mut reports = vec![Report::default(); batch];
        let mut call = |m: &[f32]| {
            count(|| {
                let out = Outputs {
                    u: Some(&mut u[..]),
                    l: Some(&mut l[..]),
                    s: Some(&mut s[..]),
                    reports: Some(&mut reports[..]),
                };
                let _ = model.decompose(m, out);
            })
        };
        assert_eq!(call(&m), 0, "first call, n = {n}, k = {k}, batch = {batch}");
        m[n] = f32::NAN;
        assert_eq!(call(&m), 0, "not finite");
        assert_eq!(call(&m[1..]), 0, "wrong length");
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let m = vec![1.0_f64; n * n];
            let mut l = vec![0.0; n * n];
            let calls = count(|| {
                let out = Outputs {
                    l: Some(&mut l[..]),
                    ..Outputs::default()
                };
                model.decompose(&m, out).expect("finite");
            });
            assert_eq!(calls, 0, "fresh thread, f64");
        });
    });
}
