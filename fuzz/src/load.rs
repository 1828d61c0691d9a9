//! Model files.

use crate::abi::{default_options, open};
use crate::bytes::Bytes;
use crate::memory::peak;
use crate::value::Value;
use denise::{
    DENISE_ERR_ARGUMENT, DENISE_ERR_FORMAT, DENISE_ERR_SHAPE, DENISE_ERR_UNSUPPORTED,
    DENISE_FLAG_AVX512, DENISE_FLAG_INT8, DENISE_OK, denise_options,
};
use std::ptr;

/// Bytes of options before the file.
const OPTIONS: usize = 6;
/// The largest size that is also run: what takes seconds is of no use here.
const MOST_WORK: usize = 1 << 20;
/// Memory that any file may take, and that it may take for each of its bytes: the limits of tests/onnx_memory.rs.
const FLOOR: usize = 8 << 20;
const SHARE: usize = 12;

/// Loads the bytes as a model file with the default options, and what follows the first six of them with the options
/// that these say. What can be loaded is run.
///
/// Panics if a file is refused with a status that does not put the blame on the file, as MEMORY and INTERNAL, or takes
/// more memory than its size allows, or if the outputs of a loaded model are not finite.
pub fn load(data: &[u8]) {
    try_file(data, default_options());
    if data.len() > OPTIONS {
        let mut bytes = Bytes::new(data);
        let options = denise_options {
            n: u32::from(u16::from_le_bytes(bytes.array())) % 600,
            k: u32::from(bytes.byte()) % 40,
            max_concurrency: u32::from(bytes.byte()) % 4,
            threads: u32::from(bytes.byte()) % 4,
            flags: flags(bytes.byte()),
            ..default_options()
        };
        try_file(bytes.rest(), options);
    }
}

/// Instruction sets, 16-bit or 8-bit weights, correlations; what is not allowed together must be refused.
fn flags(byte: u8) -> u32 {
    (u32::from(byte) % 9) | (u32::from(byte) & (DENISE_FLAG_INT8 | DENISE_FLAG_AVX512))
}

fn try_file(file: &[u8], options: denise_options) {
    let most = allowed(file, &options);
    let (result, peak) = peak(|| open(Some(file), options));
    assert!(
        peak <= most,
        "{peak} bytes of memory for a file of {}; the most is {most}",
        file.len()
    );
    match result {
        Ok(model) => {
            let (n, k) = (model.n(), model.k());
            if n * n * k * k <= MOST_WORK {
                run::<f32>(&model, n, k);
                run::<f64>(&model, n, k);
            }
        }
        Err((status, message)) => {
            let blames_the_caller = [
                DENISE_ERR_ARGUMENT,
                DENISE_ERR_FORMAT,
                DENISE_ERR_UNSUPPORTED,
                DENISE_ERR_SHAPE,
            ];
            assert!(
                blames_the_caller.contains(&status),
                "status {status}: {message}"
            );
        }
    }
}

/// The most memory that a file may take. An unrolled network has few weights and runs at any size, so its working
/// memory follows from n and k, which are limited, and not from the size of the file.
fn allowed(file: &[u8], options: &denise_options) -> usize {
    let mut most = FLOOR + SHARE * file.len();
    if let Ok(found) = denise_rust::unrolled::File::read(file) {
        let values = |n: usize, k: usize| n * n + n * k * k;
        let calls = options.max_concurrency.max(2) + options.threads;
        // While the graph is compared; then for each call that may run at once, in both precisions and many lanes.
        most += values(found.n, found.k) * 160;
        let n = [options.n as usize, found.n][usize::from(options.n == 0)];
        let k = [options.k as usize, found.k][usize::from(options.k == 0)];
        most += values(n.min(512), k.min(32)) * 12 * 16 * 4 * calls as usize;
    }
    most
}

/// One call with two matrices, as simple as can be: the target `decompose` does the rest.
fn run<F: Value>(model: &crate::abi::Handle, n: usize, k: usize) {
    let entry = |at: usize| 1.0 / (1 + (at / n % n).abs_diff(at % n)) as f64;
    let m: Vec<F> = (0..2 * n * n).map(|at| F::new(entry(at))).collect();
    let mut u = vec![F::new(0.0); 2 * n * k];
    let (mut l, mut s) = (vec![F::new(0.0); 2 * n * n], vec![F::new(0.0); 2 * n * n]);
    // SAFETY: the buffers hold two matrices of the model's size.
    let status = unsafe {
        F::decompose(
            model.get(),
            2,
            m.as_ptr(),
            u.as_mut_ptr(),
            l.as_mut_ptr(),
            s.as_mut_ptr(),
            ptr::null_mut(),
        )
    };
    assert_eq!(status, DENISE_OK);
    assert!(u.iter().chain(&l).chain(&s).all(|x| x.get().is_finite()));
}
