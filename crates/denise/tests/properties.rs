//! What the network guarantees, over random, indefinite, rank-deficient, zero, tiny, huge and
//! adversarial matrices.

use denise::unrolled::{File, reference};
use denise::{Element, InstructionSet, Model, Options, Outputs, Report, Status};
use denise_data::matrices;
use denise_data::random::Random;
use nalgebra::{DMatrix, SymmetricEigen};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// U Uᵀ plus a few large entries: what the network is for.
    LowRankPlusSparse,
    Covariance,
    Indefinite,
    RankOne,
    Zero,
    /// One entry only, on or off the diagonal.
    Spike,
    /// Negative definite.
    Negative,
    /// Blocks of very different scales.
    Graded,
    /// All entries equal, up to sign.
    Signs,
    /// A trace of zero.
    Traceless,
}

const KINDS: [Kind; 10] = [
    Kind::LowRankPlusSparse,
    Kind::Covariance,
    Kind::Indefinite,
    Kind::RankOne,
    Kind::Zero,
    Kind::Spike,
    Kind::Negative,
    Kind::Graded,
    Kind::Signs,
    Kind::Traceless,
];

fn symmetric(n: usize, entry: impl FnMut(usize, usize) -> f64) -> DMatrix<f64> {
    DMatrix::from_vec(n, n, matrices::symmetric(n, entry))
}

fn low_rank_plus_sparse(n: usize, k: usize, share: f64, random: &mut Random) -> DMatrix<f64> {
    DMatrix::from_vec(n, n, matrices::covariance(n, k, share, random))
}

fn matrix(kind: Kind, n: usize, k: usize, seed: u64) -> DMatrix<f64> {
    let random = &mut Random::new(seed);
    match kind {
        Kind::LowRankPlusSparse => low_rank_plus_sparse(n, k, 0.1, random),
        Kind::Covariance => {
            let x = DMatrix::from_fn(n, n + 3, |_, _| random.normal());
            &x * x.transpose()
        }
        Kind::Indefinite => symmetric(n, |_, _| random.normal()),
        Kind::RankOne => {
            let x = DMatrix::from_fn(n, 1, |_, _| random.normal());
            &x * x.transpose()
        }
        Kind::Zero => DMatrix::zeros(n, n),
        Kind::Spike => {
            let (i, j) = (
                (random.uniform() * n as f64) as usize,
                (random.uniform() * n as f64) as usize,
            );
            let x = random.normal();
            symmetric(n, |a, b| {
                if (a, b) == (i.max(j), i.min(j)) {
                    x
                } else {
                    0.0
                }
            })
        }
        Kind::Negative => {
            let x = DMatrix::from_fn(n, n, |_, _| random.normal());
            -(&x * x.transpose())
        }
        Kind::Graded => {
            let scale: Vec<f64> = (0..n).map(|i| 10_f64.powi(-((i % 7) as i32))).collect();
            symmetric(n, |i, j| {
                scale[i] * scale[j] * (random.normal() + f64::from(u8::from(i == j)) * 4.0)
            })
        }
        Kind::Signs => symmetric(n, |_, _| if random.uniform() < 0.5 { -1.0 } else { 1.0 }),
        Kind::Traceless => symmetric(n, |i, j| if i == j { 0.0 } else { random.normal() }),
    }
}

/// A type of matrix entries, for tests that run in both.
trait Value: Element {
    fn new(x: f64) -> Self;
    fn get(self) -> f64;
    const EPSILON: f64;
}

impl Value for f32 {
    fn new(x: f64) -> f32 {
        x as f32
    }
    fn get(self) -> f64 {
        f64::from(self)
    }
    const EPSILON: f64 = f32::EPSILON as f64;
}

impl Value for f64 {
    fn new(x: f64) -> f64 {
        x
    }
    fn get(self) -> f64 {
        self
    }
    const EPSILON: f64 = f64::EPSILON;
}

struct Split {
    m: DMatrix<f64>,
    u: DMatrix<f64>,
    l: DMatrix<f64>,
    s: DMatrix<f64>,
    report: Report,
}

/// Splits `m`, rounded to F first, on its own and as the last of nine copies: both kernel shapes must agree.
fn split<F: Value>(instruction_set: InstructionSet, m: &DMatrix<f64>, k: usize) -> Split {
    let n = m.nrows();
    let options = Options {
        n,
        k,
        max_concurrency: 1,
        instruction_set,
        ..Options::default()
    };
    let model = Model::builtin(&options).expect("supported");
    let one: Vec<F> = m.as_slice().iter().map(|&x| F::new(x)).collect();
    let (mut u, mut l, mut s) = (
        vec![F::new(0.0); n * k],
        vec![F::new(0.0); n * n],
        vec![F::new(0.0); n * n],
    );
    let mut reports = [Report::default()];
    let out = Outputs {
        u: Some(&mut u[..]),
        l: Some(&mut l[..]),
        s: Some(&mut s[..]),
        reports: Some(&mut reports[..]),
    };
    model.decompose(&one, out).expect("finite");
    let nine = one.repeat(9);
    let mut l_nine = vec![F::new(0.0); nine.len()];
    model
        .decompose(
            &nine,
            Outputs {
                l: Some(&mut l_nine[..]),
                ..Outputs::default()
            },
        )
        .expect("finite");
    for copy in l_nine.chunks(n * n) {
        assert!(
            copy.iter()
                .zip(&l)
                .all(|(a, b)| a.get().to_bits() == b.get().to_bits())
        );
    }
    let matrix = |rows, columns, x: &[F]| {
        DMatrix::from_row_iterator(rows, columns, x.iter().map(|x| x.get()))
    };
    Split {
        m: matrix(n, n, &one),
        u: matrix(n, k, &u),
        l: matrix(n, n, &l),
        s: matrix(n, n, &s),
        report: reports[0],
    }
}

/// Columns are orthogonal, the longest first, and the entry of largest size in each is positive.
fn is_canonical<F: Value>(u: &DMatrix<f64>, case: &str) {
    let unit = u.amax();
    if unit == 0.0 {
        return;
    }
    let u = u / unit;
    let gram = u.transpose() * &u;
    // Each entry of U is rounded to F, and its columns are told apart to a rounding of the longest.
    let slack = 100.0 * F::EPSILON * gram.amax();
    for a in 0..gram.nrows() {
        for b in 0..a {
            assert!(gram[(a, b)].abs() <= slack, "{case}: {}", gram[(a, b)]);
            assert!(gram[(b, b)] >= gram[(a, a)] - slack, "{case}: {a} {b}");
        }
        let column = u.column(a);
        assert!(column.max() >= -column.min(), "{case}: column {a}");
    }
}

fn check_guarantees<F: Value>(
    set: InstructionSet,
    kind: Kind,
    n: usize,
    k: usize,
    seed: u64,
    scale: f64,
) {
    let given = matrix(kind, n, k, seed) * scale;
    let Split { m, u, l, s, report } = split::<F>(set, &given, k);
    let case = format!("{kind:?} n = {n}, k = {k}, seed = {seed}, scale = {scale:e}, {set:?}");
    assert!(
        u.iter()
            .chain(l.iter())
            .chain(s.iter())
            .all(|x| x.is_finite()),
        "{case}"
    );
    assert!(
        [
            report.l1,
            report.residual,
            report.sparsity,
            report.unsettled,
            report.least_specific
        ]
        .iter()
        .all(|x| x.is_finite()),
        "{case} {report:?}"
    );
    assert_eq!(
        (report.missing, report.first_bad),
        (0, Report::NONE),
        "{case}"
    );
    assert!(report.unsettled >= 0.0, "{case} {report:?}");
    // S is known to a rounding of M and L, and so is its share of a variance.
    let mut least = (f64::MAX, 0.0);
    for i in (0..n).filter(|&i| m[(i, i)] > 0.0) {
        let slack = F::EPSILON * (1.0 + l[(i, i)] / m[(i, i)]) * 1e3;
        let specific = s[(i, i)] / m[(i, i)];
        if specific < least.0 {
            least = (specific, slack);
        }
    }
    let (least, slack) = if least.0 == f64::MAX {
        (0.0, 0.0)
    } else {
        least
    };
    let least = least.max(-f64::from(f32::MAX));
    let error = (f64::from(report.least_specific) - least).abs();
    assert!(
        error <= slack + 1e-6 * least.abs(),
        "{case} {report:?} {least}"
    );
    is_canonical::<F>(&u, &case);
    assert_eq!(l, l.transpose(), "{case}");
    assert_eq!(s, s.transpose(), "{case}");
    for ((m, l), s) in m.iter().zip(l.iter()).zip(s.iter()) {
        let slack = F::EPSILON * (m.abs() + l.abs()).max(f64::MIN_POSITIVE);
        assert!(
            (l + s - m).abs() <= slack.max(1e-44),
            "{case}: {l} + {s} is not {m}"
        );
    }
    // The largest entry of a positive semidefinite matrix is on its diagonal.
    let size = l.amax();
    if size > 0.0 {
        let eigen = SymmetricEigen::new(&l / size).eigenvalues;
        let mut values: Vec<f64> = eigen.iter().copied().collect();
        values.sort_by(f64::total_cmp);
        let slack = 16.0 * n as f64 * F::EPSILON;
        assert!(values[0] > -slack, "{case}: eigenvalue {}", values[0]);
        assert!(
            values[n - k - 1] < slack,
            "{case}: rank above k: {}",
            values[n - k - 1]
        );
        let product = (&u / size.sqrt()) * (&u / size.sqrt()).transpose();
        assert!(
            (product - &l / size).amax() < slack,
            "{case}: L is not U Uᵀ"
        );
    }
}

/// The sets that this machine has.
fn sets() -> Vec<InstructionSet> {
    let all = [
        InstructionSet::Portable,
        InstructionSet::Avx2,
        InstructionSet::Avx512,
    ];
    let here = |set: &InstructionSet| {
        let options = Options {
            instruction_set: *set,
            ..Options::default()
        };
        match Model::builtin(&options) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.status, Status::Unsupported);
                false
            }
        }
    };
    all.into_iter().filter(here).collect()
}

fn sizes() -> impl Strategy<Value = (usize, usize)> {
    (2_usize..40).prop_flat_map(|n| (Just(n), 1..n.min(33)))
}

/// Fewer in an emulator, which takes its time.
fn cases() -> u32 {
    let few = std::env::var("DENISE_CASES").ok();
    few.map_or(300, |cases| cases.parse().expect("a number"))
}

proptest! {
    // The same cases every time; another seed or more cases explore others.
    #![proptest_config(Config { cases: cases(), failure_persistence: None, rng_seed: RngSeed::Fixed(20), ..Config::default() })]

    #[test]
    fn guarantees_hold((n, k) in sizes(), kind in 0..KINDS.len(), seed in any::<u64>(), exponent in 0_usize..6) {
        // The last is as far as the header promises that nothing is cut.
        let largest = matrix(KINDS[kind], n, k, seed).amax().max(1.0);
        let scale = [1.0, 1e-30, 1e30, 1e-6, 1e6, 1e-5 * f64::from(f32::MAX) / largest][exponent];
        for set in sets() {
            check_guarantees::<f32>(set, KINDS[kind], n, k, seed, scale);
            let scale = if exponent == 5 { 1e-5 * f64::MAX / largest } else { scale };
            check_guarantees::<f64>(set, KINDS[kind], n, k, seed, scale);
        }
    }

    #[test]
    fn finite_in_finite_out_whatever_the_entries(
        (n, k) in sizes(),
        entries in proptest::collection::vec(any::<f32>().prop_filter("finite", |x| x.is_finite()), 780),
    ) {
        // Bit patterns, so mostly of wildly different exponents, up to the largest finite numbers.
        let m: Vec<f32> = (0..n * n).map(|at| entries[at % entries.len()]).collect();
        let model = Model::builtin(&Options { n, k, max_concurrency: 1, ..Options::default() }).unwrap();
        let (mut l, mut s) = (vec![0.0; n * n], vec![0.0; n * n]);
        let mut reports = [Report::default()];
        let out = Outputs { l: Some(&mut l[..]), s: Some(&mut s[..]), reports: Some(&mut reports[..]), u: None };
        model.decompose(&m, out).unwrap();
        prop_assert!(l.iter().chain(&s).all(|x| x.is_finite()));
        let report = reports[0];
        prop_assert!([report.l1, report.residual, report.sparsity, report.unsettled, report.least_specific].iter().all(|x| x.is_finite()), "{report:?}");
    }

    #[test]
    fn powers_of_two_scale_exactly((n, k) in sizes(), kind in 0..KINDS.len(), seed in any::<u64>(), power in -60_i32..60) {
        let m = matrix(KINDS[kind], n, k, seed).map(|x| f64::from(x as f32));
        let factor = 2_f64.powi(power);
        for set in sets() {
            let (one, other) = (split::<f32>(set, &m, k), split::<f32>(set, &(&m * factor), k));
            // Entries far below the largest may leave the normal range; all others are exact.
            let normal = |x: f64| x == 0.0 || (x * factor).abs() > 1e-37 && x.abs() > 1e-37;
            for (a, b) in one.l.iter().zip(other.l.iter()).chain(one.s.iter().zip(other.s.iter())) {
                if normal(*a) {
                    prop_assert_eq!(a * factor, *b);
                }
            }
            prop_assert_eq!(one.report.residual, other.report.residual);
            prop_assert_eq!(one.report.sparsity, other.report.sparsity);
            prop_assert_eq!(one.report.unsettled, other.report.unsettled);
            prop_assert_eq!(one.report.least_specific, other.report.least_specific);
        }
    }

    /// Ω breaks ties, so a permuted matrix starts elsewhere: where L is determined, both arrive at it.
    #[test]
    fn permuting_m_permutes_l(seed in any::<u64>(), n in 16_usize..32, shift in 1_usize..15) {
        let random = &mut Random::new(seed);
        let m = low_rank_plus_sparse(n, 2, 0.02, random);
        let order: Vec<usize> = (0..n).map(|i| (i + shift) % n).collect();
        let permuted = DMatrix::from_fn(n, n, |i, j| m[(order[i], order[j])]);
        let l = split::<f64>(InstructionSet::Best, &m, 2).l;
        let of_permuted = split::<f64>(InstructionSet::Best, &permuted, 2).l;
        let back = DMatrix::from_fn(n, n, |i, j| l[(order[i], order[j])]);
        let error = (back - of_permuted).norm() / l.norm();
        prop_assert!(error < 1e-5, "{}", error);
    }

    /// The network is continuous: the change of L is bounded by the change of M times a moderate number.
    #[test]
    fn small_changes_of_m_make_small_changes_of_l(seed in any::<u64>(), n in 8_usize..32, k in 1_usize..5) {
        let random = &mut Random::new(seed);
        let m = low_rank_plus_sparse(n, k, 0.05, random);
        let e = symmetric(n, |_, _| random.normal()) * (1e-6 * m.norm() / n as f64);
        let one = split::<f64>(InstructionSet::Best, &m, k).l;
        let other = split::<f64>(InstructionSet::Best, &(&m + &e), k).l;
        let ratio = (one - other).norm() / e.norm();
        prop_assert!(ratio < 100.0, "{}", ratio);
    }

    #[test]
    fn f64_agrees_with_the_reference((n, k) in sizes(), seed in any::<u64>()) {
        let m = matrix(Kind::LowRankPlusSparse, n, k, seed);
        let want = reference::decompose(&m, k, &File::builtin().unwrap().layers).l;
        for set in sets() {
            let got = split::<f64>(set, &m, k).l;
            let error = (&got - &want).amax() / want.amax();
            prop_assert!(error < 1e-8, "{:?}: {}", set, error);
        }
    }
}

#[test]
fn sets_include_the_one_that_is_tested_for_speed() {
    // On a machine with AVX2, a test run that skipped it would prove little.
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        assert!(sets().contains(&InstructionSet::Avx2));
    }
}

#[test]
fn an_instruction_set_that_is_not_there_is_refused_by_name() {
    for set in [InstructionSet::Avx2, InstructionSet::Avx512] {
        let options = Options {
            instruction_set: set,
            ..Options::default()
        };
        match Model::builtin(&options) {
            Ok(model) => {
                let name = format!("{set:?}").to_lowercase();
                let kernel = model.kernel().to_str().unwrap();
                assert!(kernel.ends_with(&name), "{kernel}");
            }
            Err(error) => {
                assert_eq!(error.status, Status::Unsupported);
                assert!(error.to_string().contains(&format!("{set:?}")), "{error}");
            }
        }
    }
}

#[test]
fn instruction_sets_agree() {
    let random = &mut Random::new(3);
    let mut worst = [0.0_f64; 2];
    for _ in 0..200 {
        let m = low_rank_plus_sparse(20, 3, 0.05, random);
        let portable = (
            split::<f32>(InstructionSet::Portable, &m, 3).l,
            split::<f64>(InstructionSet::Portable, &m, 3).l,
        );
        for set in sets() {
            let (l32, l64) = (split::<f32>(set, &m, 3).l, split::<f64>(set, &m, 3).l);
            worst[0] = worst[0].max((&l32 - &portable.0).amax() / portable.0.amax());
            worst[1] = worst[1].max((&l64 - &portable.1).amax() / portable.1.amax());
        }
    }
    // docs/KERNELS.md quotes these bounds.
    assert!(worst[0] < 1e-4, "f32: {}", worst[0]);
    assert!(worst[1] < 1e-12, "f64: {}", worst[1]);
}

#[test]
fn large_sizes_work() {
    let random = &mut Random::new(5);
    for (n, k) in [(512, 1), (512, 4), (200, 32), (129, 10)] {
        let m = low_rank_plus_sparse(n, k, 0.01, random);
        let l = split::<f64>(InstructionSet::Best, &m, k).l;
        let lone = split::<f32>(InstructionSet::Best, &m, k).l;
        assert!((l - lone).norm() / m.norm() < 1e-3);
    }
}

/// Correlations of sixty days of a market with three factors and much noise: nothing determines L here.
fn sample_correlation(n: usize, random: &mut Random) -> DMatrix<f64> {
    let mut normal = |rows, columns| DMatrix::from_fn(rows, columns, |_, _| random.normal());
    let mut loadings = normal(n, 3);
    loadings.column_mut(0).add_scalar_mut(1.5);
    let days = normal(60, 3) * loadings.transpose() + normal(60, n) * 1.5;
    let covariance = days.transpose() * &days;
    let size = covariance.diagonal().map(f64::sqrt);
    symmetric(n, |i, j| covariance[(i, j)] / (size[i] * size[j]))
}

#[test]
fn the_order_of_the_assets_does_not_matter() {
    for n in [20, 50] {
        let mut errors: Vec<f64> = (0..60)
            .map(|seed| {
                let m = sample_correlation(n, &mut Random::new(seed));
                let order: Vec<usize> = (0..n).map(|i| (7 * i + seed as usize) % n).collect();
                let permuted = DMatrix::from_fn(n, n, |i, j| m[(order[i], order[j])]);
                let l = split::<f64>(InstructionSet::Best, &m, 3).l;
                let of_permuted = split::<f64>(InstructionSet::Best, &permuted, 3).l;
                let back = DMatrix::from_fn(n, n, |i, j| l[(order[i], order[j])]);
                (back - of_permuted).norm() / l.norm()
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        println!(
            "n = {n}: median {:.1e}, 95 % {:.1e}",
            errors[30], errors[56]
        );
        assert!(
            errors[30] < 1e-3 && errors[56] < 1e-2,
            "n = {n}: {errors:?}"
        );
    }
}

/// Entries of S₀ that are far larger than those of L₀ do not own the split.
#[test]
fn large_outliers_are_separated() {
    let (n, k) = (20, 3);
    for amplitude in [10.0, 100.0] {
        let mut errors: Vec<f64> = (0..100)
            .map(|seed| {
                let random = &mut Random::new(seed);
                let u = DMatrix::from_fn(n, k, |_, _| random.normal());
                let low = &u * u.transpose();
                let mut m = low.clone();
                for _ in 0..8 {
                    let (i, j) = (random.below(n), random.below(n));
                    let x = amplitude * random.normal();
                    // A variance grows: one that is less than L has is no outlier.
                    m[(i, j)] += if i == j { x.abs() } else { x };
                    m[(j, i)] = m[(i, j)];
                }
                (split::<f64>(InstructionSet::Best, &m, k).l - &low).norm() / low.norm()
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        assert!(
            errors[50] < 1e-3 && errors[90] < 0.05,
            "{amplitude}: {errors:?}"
        );
    }
}
