//! Training of the layers that follow a stream, through time.
//!
//! - `returns`: simulated ones, and those of a table of prices. `estimates`: correlations from them, tick by tick.
//! - `series`: those as the network sees them. `trial`: how well a network follows them.
//!
//! Many sequences run side by side, each through a series, from where the step before left it. A step goes through a
//! few ticks of each, and gradients flow back through these.

mod estimates;
mod returns;
mod series;
mod trial;

pub use returns::{Table, tables};
pub use trial::{Trial, measure};

use super::learner::Result;
use super::run::{Course, Make};
use super::unrolled::{State, Ticks, Unrolled};
use burn::tensor::{Device, Tensor, TensorData};
use denise::Model;
use estimates::ESTIMATES;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use returns::Returns;
use series::Series;

/// Ticks of a step.
const TICKS: usize = 8;
/// An entry of R counts with this power of its size: less than one, so that many entries of S become zero, and not so
/// little that the rest does not matter.
const POWER: f64 = 0.7;
/// Added to the square of an entry, relative to what is usual: keeps slopes finite.
const SOFTEN: f64 = 1e-6;
/// The chance of a sequence to begin anew at a step. A stream begins anew too.
const AGAIN: f64 = 0.01;
/// Ticks of a simulated series.
const LENGTH: usize = 1500;
/// Of the days of a table to learn from, so many parts in ten are learnt from, and the rest chooses the weights.
const LEARN: usize = 9;
/// Sequences that are computed together.
const PART: usize = 20;
/// The first seeds of simulated series for training, validation and the result are so far apart.
const APART: u64 = 1 << 32;

/// How many simulated series there are of a size, and how many sequences go through each, simulated or of a table.
struct Counts {
    simulated: usize,
    through_simulated: usize,
    through_table: usize,
}

/// Of the first size, and of all others.
const FIRST: Counts = Counts {
    simulated: 20,
    through_simulated: 2,
    through_table: 4,
};
const OTHERS: Counts = Counts {
    simulated: 5,
    through_simulated: 1,
    through_table: 1,
};

/// What there is to learn from.
pub struct Sources<'a> {
    /// The sizes n and ranks k, the most important first.
    pub sizes: &'a [(usize, usize)],
    /// Tables of real returns; those of fewer assets than a size has are left out there.
    pub tables: &'a [Table],
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Sources<'_> {
    /// A generator for each use.
    fn random(&self, size: usize, part: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(part * APART + ((size as u64) << 16));
        rng
    }

    /// Correlation matrices to train on, in groups of one size, each with how many sequences go through it.
    fn training(&self, size: usize) -> Vec<(Vec<f64>, usize)> {
        let (n, k) = self.sizes[size];
        let counts = if size == 0 { FIRST } else { OTHERS };
        let mut rng = self.random(size, 0);
        let mut all = Vec::new();
        for (i, seed) in seeds(&mut rng, counts.simulated).into_iter().enumerate() {
            let returns = Returns::simulated(n, k, LENGTH, seed);
            all.push((returns, i, counts.through_simulated));
        }
        for table in self.tables.iter().filter(|x| x.learn.n >= n) {
            for i in 0..ESTIMATES.len() {
                // Other assets for every estimate.
                let some = table.learn.some(n, &mut rng);
                let (learn, _) = some.split(LEARN * some.days() / 10);
                all.push((learn, i, counts.through_table));
            }
        }
        all.into_par_iter()
            .map(|(returns, i, sequences)| {
                let m = ESTIMATES[i % ESTIMATES.len()].correlations(&returns);
                (m, sequences)
            })
            .collect()
    }

    /// What chooses the weights: other simulated series, of so many ticks, and days of tables after those to train on.
    pub fn validation(&self, ticks: usize) -> Vec<Trial> {
        self.trials(1, ticks, |table| {
            let learn = &table.learn;
            learn.split(LEARN * learn.days() / 10).1
        })
    }

    /// What the result is measured on: once more others, and days of tables that nothing else sees.
    pub fn test(&self, ticks: usize) -> Vec<Trial> {
        self.trials(2, ticks, |table| table.test.clone())
    }

    fn trials(&self, part: u64, ticks: usize, days: impl Fn(&Table) -> Returns) -> Vec<Trial> {
        let mut all = Vec::new();
        for (size, &(n, k)) in self.sizes.iter().enumerate() {
            let mut rng = self.random(size, part);
            for (estimate, seed) in ESTIMATES.iter().zip(seeds(&mut rng, ESTIMATES.len())) {
                let returns = Returns::simulated(n, k, ticks, seed);
                all.push((n, k, "simulated".to_owned(), estimate, returns));
            }
            for table in self.tables.iter().filter(|x| x.learn.n >= n) {
                for estimate in &ESTIMATES {
                    let returns = days(table).some(n, &mut rng);
                    all.push((n, k, table.name.clone(), estimate, returns));
                }
            }
        }
        let trials = all.into_par_iter().map(|(n, k, name, estimate, returns)| {
            let m = estimate.correlations(&returns);
            let name = format!("{name}, {estimate}");
            Trial { name, n, k, m }
        });
        // A table may be too short for a window.
        trials.filter(|x| x.ticks() > 1).collect()
    }
}

fn seeds(rng: &mut ChaCha8Rng, count: usize) -> Vec<u64> {
    (0..count).map(|_| rng.random()).collect()
}

/// Series of one size, and the sequences that run through them.
struct Group {
    n: usize,
    k: usize,
    series: Vec<Series>,
    /// The series of each sequence.
    sequences: Vec<usize>,
}

impl Group {
    /// Numbers that a sequence keeps: the tick it is at, the mean |R_ij|, and U.
    fn numbers(&self) -> usize {
        2 + self.n * self.k
    }
}

/// Sequences to learn from, and trials to choose the weights by.
pub struct Following<'a> {
    learner: &'a Unrolled,
    groups: Vec<Group>,
    validation: Vec<Trial>,
    seed: u64,
    device: Device,
    /// What all sequences keep, group by group.
    memory: Vec<f64>,
}

impl<'a> Following<'a> {
    /// `scratch` makes the network whose split a sequence starts from. The learner's sizes are those of the sources.
    pub fn new(
        learner: &'a Unrolled,
        sources: &Sources<'_>,
        validation: usize,
        scratch: Make<'_>,
        device: &Device,
    ) -> Result<Following<'a>> {
        let mut groups = Vec::new();
        let mut memory = Vec::new();
        for (size, &(n, k)) in sources.sizes.iter().enumerate() {
            let model: Model = scratch(n, k)?;
            let mut group = Group {
                n,
                k,
                series: Vec::new(),
                sequences: Vec::new(),
            };
            for (m, sequences) in sources.training(size) {
                let series = Series::new(&model, &m)?;
                if series.ticks() <= TICKS {
                    continue;
                }
                let at = group.series.len();
                group.sequences.extend(core::iter::repeat_n(at, sequences));
                group.series.push(series);
            }
            for _ in &group.sequences {
                // Beyond the end: it begins at the first step.
                memory.push(f64::MAX);
                memory.resize(memory.len() + group.numbers() - 1, 0.0);
            }
            groups.push(group);
        }
        Ok(Following {
            learner,
            groups,
            validation: sources.validation(validation),
            seed: sources.seed,
            device: device.clone(),
            memory,
        })
    }

    /// Sequences begin, at any tick, where they are at an end, and some of them anywhere.
    fn begin(&mut self, step: usize) {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(3 * APART + step as u64);
        let mut rest = &mut self.memory[..];
        for group in &self.groups {
            for &at in &group.sequences {
                let kept;
                (kept, rest) = rest.split_at_mut(group.numbers());
                let series = &group.series[at];
                let last = series.ticks() - TICKS - 1;
                if kept[0] > last as f64 || rng.random_bool(AGAIN) {
                    let tick = rng.random_range(0..=last);
                    kept[0] = tick as f64;
                    series.begin(tick, &mut kept[1..]);
                }
            }
        }
    }

    /// The next ticks of all sequences, in parts.
    fn ticks(&self) -> Vec<Ticks> {
        let mut parts = Vec::new();
        let mut first = 0;
        for (size, group) in self.groups.iter().enumerate() {
            let (n, k, numbers) = (group.n, group.k, group.numbers());
            for sequences in group.sequences.chunks(PART) {
                let count = sequences.len();
                let kept: Vec<&[f64]> = self.memory[first..][..count * numbers]
                    .chunks_exact(numbers)
                    .collect();
                first += count * numbers;
                // The tick that a sequence is at is done.
                let of = |tick: usize| {
                    let places = sequences.iter().zip(&kept);
                    places.map(move |(&at, kept)| (&group.series[at], kept[0] as usize + 1 + tick))
                };
                let m = |tick: usize| of(tick).flat_map(|(x, at)| x.balanced(at)).copied();
                let usual = |tick: usize| of(tick).map(|(x, at)| x.usual(at));
                let keep = |range: core::ops::Range<usize>| {
                    let each = kept.iter().flat_map(move |x| &x[range.clone()]);
                    each.map(|&x| x as f32)
                };
                parts.push(Ticks {
                    size,
                    m: (0..TICKS)
                        .map(|t| self.tensor(m(t), [count, n, n]))
                        .collect(),
                    usual: (0..TICKS)
                        .map(|t| self.tensor(usual(t), [count, 1, 1]))
                        .collect(),
                    state: State {
                        mean: self.tensor(keep(1..2), [count, 1, 1]),
                        u: self.tensor(keep(2..numbers), [count, k, n]),
                    },
                });
            }
        }
        parts
    }

    /// Keeps where sequences have arrived.
    fn keep(&mut self, states: Vec<State>) -> Result<()> {
        let mut rest = &mut self.memory[..];
        let mut states = states.into_iter();
        for group in &self.groups {
            let size = group.n * group.k;
            for _ in group.sequences.chunks(PART) {
                let state = states.next().ok_or("a part of the sequences is lost")?;
                let u: Vec<f32> = state.u.into_data().try_into_vec()?;
                let mean: Vec<f32> = state.mean.into_data().try_into_vec()?;
                for (u, &mean) in u.chunks_exact(size).zip(&mean) {
                    let kept;
                    (kept, rest) = rest.split_at_mut(group.numbers());
                    kept[0] += TICKS as f64;
                    kept[1] = f64::from(mean);
                    for (kept, &x) in kept[2..].iter_mut().zip(u) {
                        *kept = f64::from(x);
                    }
                }
            }
        }
        Ok(())
    }

    fn tensor(&self, values: impl Iterator<Item = f32>, shape: [usize; 3]) -> Tensor<3> {
        Tensor::from_data(TensorData::new(values.collect(), shape), &self.device)
    }
}

/// The mean of |R_ij|^p, where R is relative to what is usual.
fn loss(r: Tensor<3>) -> Tensor<1> {
    let squares = (r.clone() * r).add_scalar(SOFTEN);
    squares.powf_scalar(0.5 * POWER).mean()
}

impl Course for Following<'_> {
    fn slope(&mut self, free: &[f64], step: usize) -> Result<(f64, Vec<f64>)> {
        self.begin(step);
        let slope = self.learner.through_time(free, self.ticks(), &loss)?;
        self.keep(slope.states)?;
        Ok((slope.loss, slope.gradient))
    }

    fn score(&self, make: Make<'_>) -> Result<f64> {
        let results = measure(make, &self.validation)?;
        let losses: f64 = results.iter().map(|x| x.loss).sum();
        Ok(losses / results.len().max(1) as f64)
    }

    fn memory(&mut self) -> &mut Vec<f64> {
        &mut self.memory
    }
}

#[cfg(test)]
mod tests;
