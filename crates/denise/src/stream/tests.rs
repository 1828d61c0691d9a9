//! The estimate against a recomputation.

use super::estimate::{Estimate, Memory, Plan};
use crate::simd::Isa;
use denise_data::random::Random;

/// Σ w r_i r_j / Σ w over the ticks at which both are known, less the product of the means if those are subtracted.
fn recomputed(plan: &Plan, ticks: &[Vec<f64>], i: usize, j: usize) -> f64 {
    let both = ticks
        .iter()
        .filter(|tick| !tick[i].is_nan() && !tick[j].is_nan());
    let known: Vec<&Vec<f64>> = match plan.memory {
        Memory::Decay(_) => both.collect(),
        Memory::Window(window) => {
            let from = ticks.len().saturating_sub(window);
            let last = ticks[from..].iter();
            last.filter(|tick| !tick[i].is_nan() && !tick[j].is_nan())
                .collect()
        }
    };
    if (known.len() as u64) < plan.warm_up {
        return f64::NAN;
    }
    let decay = match plan.memory {
        Memory::Decay(decay) => decay,
        Memory::Window(_) => 1.0,
    };
    let (mut weight, mut sum, mut own, mut other) = (0.0, 0.0, 0.0, 0.0);
    let mut w = 1.0;
    // From the latest on: those that hardly count come last.
    for tick in known.iter().rev() {
        weight += w;
        sum += w * tick[i] * tick[j];
        own += w * tick[i];
        other += w * tick[j];
        w *= decay;
        if w < 1e-40 {
            break;
        }
    }
    let mean = if plan.demean {
        own / weight * (other / weight)
    } else {
        0.0
    };
    sum / weight - mean
}

/// The largest difference, relative to the assets' own sizes; and that the same entries are known.
fn difference(plan: &Plan, estimate: &Estimate, l: usize, ticks: &[Vec<f64>]) -> f64 {
    let n = plan.n;
    let mut m = vec![0.0; n * n];
    estimate.covariance(l, &mut m);
    let mut most = 0.0_f64;
    for i in 0..n {
        for j in 0..=i {
            let right = recomputed(plan, ticks, i, j);
            let found = m[i * n + j];
            assert_eq!(right.is_nan(), found.is_nan(), "({i}, {j}) {right} {found}");
            if !right.is_nan() {
                let size = (recomputed(plan, ticks, i, i) * recomputed(plan, ticks, j, j)).sqrt();
                most = most.max((right - found).abs() / size.max(f64::MIN_POSITIVE));
            }
        }
    }
    most
}

fn plans() -> Vec<Plan> {
    let mut all = Vec::new();
    for memory in [
        Memory::Decay(0.97),
        Memory::Decay(0.999),
        Memory::Window(7),
        Memory::Window(50),
    ] {
        for demean in [false, true] {
            all.push(Plan {
                n: 5,
                memory,
                demean,
                warm_up: 3,
            });
        }
    }
    all
}

/// Streams that lie side by side with the widest vectors.
fn most() -> usize {
    if Isa::avx512().is_some() { 16 } else { 8 }
}

/// Returns with gaps, late arrivals and an early end, in streams side by side.
#[test]
fn estimates_are_those_of_a_recomputation() {
    let most = most();
    for plan in plans() {
        for (width, gaps) in [
            (1, false),
            (most, false),
            (1, true),
            (most, true),
            (8, true),
            (4, true),
        ] {
            let mut random = Random::new(7);
            let mut estimate = Estimate::new(plan, width).unwrap();
            let mut past = vec![Vec::new(); width];
            let (mut sound, mut m) = (vec![true; width], vec![0.0; 25 * width]);
            for tick in 0..160 {
                let mut returns: Vec<f64> = Vec::new();
                for past in &mut past {
                    let market = random.normal();
                    let row: Vec<f64> = (0..5)
                        .map(|i| {
                            let x = 0.01 * (market + random.normal()) + 0.002;
                            let late = i == 1 && tick < 40;
                            let gone = i == 2 && tick > 100;
                            let here_and_there = random.uniform() < 0.1;
                            if gaps && (late || gone || here_and_there) {
                                f64::NAN
                            } else {
                                x
                            }
                        })
                        .collect();
                    returns.extend(&row);
                    past.push(row);
                }
                estimate.push(Isa::best(), &returns, &mut sound, &mut m);
                if tick % 9 == 0 || tick > 150 {
                    for (l, past) in past.iter().enumerate() {
                        let most = difference(&plan, &estimate, l, past);
                        assert!(
                            most < 1e-12,
                            "{plan:?} {width} {gaps} tick {tick}: {most:e}"
                        );
                    }
                }
            }
            assert_eq!(estimate.even, !gaps);
        }
    }
}

/// Ten million ticks, among them some that are a million times larger than the others.
#[test]
fn errors_of_rounding_do_not_add_up() {
    const TICKS: usize = 10_000_000;
    for memory in [Memory::Decay(0.99), Memory::Window(100)] {
        for demean in [false, true] {
            let plan = Plan {
                n: 3,
                memory,
                demean,
                warm_up: 3,
            };
            let mut random = Random::new(11);
            let mut estimate = Estimate::new(plan, 1).unwrap();
            let (mut sound, mut m) = ([true], [0.0; 9]);
            let mut last = Vec::new();
            // Cheap returns: a table, walked through with another step each time.
            let table: Vec<f64> = (0..4096).map(|_| 0.01 * random.normal() + 0.001).collect();
            for tick in 0..TICKS {
                let at = tick.wrapping_mul(2_654_435_761) >> 7;
                let mut row = [0.0; 3];
                for (i, x) in row.iter_mut().enumerate() {
                    *x = table[(at + 1021 * i) % 4096];
                }
                // None near the end, where it would still count.
                if tick % 100_003 == 0 && tick < TICKS - 20_000 {
                    row[1] *= 1e6;
                }
                if tick >= TICKS - 5000 {
                    last.push(row.to_vec());
                }
                estimate.push(Isa::best(), &row, &mut sound, &mut m);
            }
            let most = difference(&plan, &estimate, 0, &last);
            assert!(most < 1e-12, "{plan:?}: {most:e}");
        }
    }
}

/// What a stream gives does not depend on how many lie beside it, nor on whether those have gaps.
#[test]
fn neighbours_do_not_matter() {
    let width = most();
    for plan in plans() {
        let mut random = Random::new(3);
        let mut wide = Estimate::new(plan, width).unwrap();
        let mut alone = Estimate::new(plan, 1).unwrap();
        let (mut sound, mut m) = (vec![true; width], vec![0.0; 25 * width]);
        let (mut sound_alone, mut m_alone) = ([true], [0.0; 25]);
        for tick in 0..120 {
            let mut returns: Vec<f64> = (0..5 * width).map(|_| random.normal()).collect();
            if tick == 60 {
                returns[7 * 5 + 2] = f64::NAN;
            }
            if tick == 80 {
                returns[6 * 5] = f64::INFINITY;
            }
            wide.push(Isa::best(), &returns, &mut sound, &mut m);
            assert_eq!(sound[6], tick != 80);
            alone.push(
                Isa::best(),
                &returns[10..15],
                &mut sound_alone,
                &mut m_alone,
            );
            for i in 0..5 {
                for j in 0..=i {
                    let (beside, alone) = (m[(i * 5 + j) * width + 2], m_alone[i * 5 + j]);
                    // Before a pair is known, nobody looks.
                    if tick >= 3 {
                        assert_eq!(beside.to_bits(), alone.to_bits(), "{plan:?} {tick}");
                    }
                }
            }
        }
        assert!(!wide.even && alone.even);
    }
}
