//! A digest of what the fastest instruction set gives: the same on every machine that multiplies and adds with one
//! rounding, and the same whether matrices come alone or together. `make neon` runs this on NEON, `make avx512` on
//! AVX-512, `make windows` on Windows.
//!
//! A change of the weights or of the order of additions changes the digests here, and belongs into the changelog.

use denise::{Element, InstructionSet, Model, Options, Outputs};
use denise_data::matrices::low_rank_plus_sparse;
use denise_data::random::Random;

/// FNV-1a.
fn digest(state: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(state, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Of L and S of several sizes, if the machine has the instruction set; and what the kernels are called.
fn digest_on<F: Element + Default + PartialEq + core::fmt::Debug>(
    instruction_set: InstructionSet,
    name: &str,
    from: fn(f64) -> F,
    bytes: fn(F) -> Vec<u8>,
) -> Option<(String, String)> {
    let mut kernel = String::new();
    let mut all = 0xcbf2_9ce4_8422_2325;
    for (n, k) in [(2, 1), (5, 2), (10, 2), (20, 3), (23, 4), (33, 5), (50, 7)] {
        let options = Options {
            n,
            k,
            instruction_set,
            ..Options::default()
        };
        let model = Model::builtin(&options).ok()?;
        kernel = model.kernel().to_str().unwrap().to_owned();
        let m: Vec<F> = (0..19)
            .flat_map(|seed| low_rank_plus_sparse(n, k, 0.1, &mut Random::new(seed)))
            .map(from)
            .collect();
        let (mut l, mut s) = (vec![F::default(); m.len()], vec![F::default(); m.len()]);
        model.decompose(&m, Outputs::parts(&mut l, &mut s)).unwrap();
        let size = n * n;
        let (mut one_l, mut one_s) = (vec![F::default(); size], vec![F::default(); size]);
        for (i, m) in m.chunks_exact(size).enumerate() {
            model
                .decompose(m, Outputs::parts(&mut one_l, &mut one_s))
                .unwrap();
            assert_eq!(one_l, l[i * size..][..size], "{name} n = {n}, k = {k}");
            assert_eq!(one_s, s[i * size..][..size], "{name} n = {n}, k = {k}");
        }
        all = digest(all, l.into_iter().chain(s).flat_map(bytes));
    }
    Some((format!("{all:016x}"), kernel))
}

fn check<F: Element + Default + PartialEq + core::fmt::Debug>(
    name: &str,
    from: fn(f64) -> F,
    bytes: fn(F) -> Vec<u8>,
    expected: &str,
) {
    let on = |set| digest_on(set, name, from, bytes);
    let (digest, kernel) = on(InstructionSet::Best).unwrap();
    println!("bits of {name}: {digest}");
    // Without fused operations there are other roundings.
    if kernel.ends_with("sse2") || kernel.ends_with("portable") {
        return;
    }
    assert_eq!(digest, expected, "{name}");
    for set in [InstructionSet::Avx2, InstructionSet::Avx512] {
        if let Some((digest, kernel)) = on(set) {
            assert_eq!(digest, expected, "{name} on {kernel}");
            println!("{kernel} has them, in {name}");
        }
    }
}

#[test]
fn matrices_alone_and_together_give_the_same_bits() {
    check::<f32>(
        "f32",
        |x| x as f32,
        |x| x.to_le_bytes().to_vec(),
        "bba64f64f846e71d",
    );
    check::<f64>(
        "f64",
        |x| x,
        |x| x.to_le_bytes().to_vec(),
        "c4f6a816e42ad18e",
    );
}
