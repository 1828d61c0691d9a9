//! Training through time, on small markets.

use super::*;
use crate::train::{Config, Keep, Learner, initial, initial_follow, run_course};
use denise::unrolled::{Curvature, Stages};

const SIZES: [(usize, usize); 2] = [(8, 2), (6, 1)];

fn learner() -> Unrolled {
    let layers = initial(6, 3);
    let mut follow = initial_follow(&layers, &[Curvature::Shared, Curvature::Own]);
    // Far too short.
    follow.iter_mut().for_each(|layer| layer.eta = 0.1);
    let stages = Stages {
        layers: &layers,
        follow: &follow,
        ..Stages::default()
    };
    Unrolled::following(stages, &SIZES, &Device::flex())
}

fn table() -> Table {
    let all = Returns::simulated(9, 2, 500, 5);
    let (learn, test) = all.split(400);
    let name = "table".to_owned();
    Table { name, learn, test }
}

fn sources(tables: &[Table]) -> Sources<'_> {
    Sources {
        sizes: &SIZES,
        tables,
        seed: 3,
    }
}

fn course<'a>(learner: &'a Unrolled, tables: &[Table]) -> Following<'a> {
    let make = |n: usize, k: usize| learner.model(&learner.initial(), n, k);
    let device = Device::flex().autodiff();
    Following::new(learner, &sources(tables), 150, &make, &device).unwrap()
}

fn config(steps: usize) -> Config {
    Config {
        steps,
        rate: 0.05,
        clip: 1.0,
        every: 5,
        patience: 100,
        keep: Keep::Best,
        identity: "test".into(),
    }
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("denise-follow-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// Stops at a step, as if the power had gone.
struct Crash<'a>(Following<'a>, usize);

impl Course for Crash<'_> {
    fn slope(&mut self, free: &[f64], step: usize) -> Result<(f64, Vec<f64>)> {
        if step == self.1 {
            return Err("crash".into());
        }
        self.0.slope(free, step)
    }

    fn score(&self, make: Make<'_>) -> Result<f64> {
        self.0.score(make)
    }

    fn memory(&mut self) -> &mut Vec<f64> {
        self.0.memory()
    }
}

#[test]
fn training_improves_and_a_resumed_run_equals_one_that_never_stopped() {
    let (learner, tables) = (learner(), [table()]);
    let (whole, parts) = (folder("whole"), folder("parts"));
    let straight = run_course(
        &config(15),
        &learner,
        &mut course(&learner, &tables),
        &whole,
    );
    let straight = straight.unwrap();
    let before = straight.scores[0].1;
    assert!(
        straight.score < 0.98 * before,
        "{} {before}",
        straight.score
    );
    let mut crash = Crash(course(&learner, &tables), 12);
    assert!(run_course(&config(15), &learner, &mut crash, &parts).is_err());
    let resumed = run_course(
        &config(15),
        &learner,
        &mut course(&learner, &tables),
        &parts,
    );
    let resumed = resumed.unwrap();
    assert_eq!(resumed.losses, straight.losses);
    assert_eq!(resumed.free, straight.free);
    for place in [whole, parts] {
        let _ = std::fs::remove_dir_all(place);
    }
}

/// Only the layers that follow have changed.
#[test]
fn the_other_stages_stay_what_they_are() {
    let learner = learner();
    let mut numbers = learner.initial();
    numbers.iter_mut().for_each(|x| *x += 0.01);
    let path = folder("file").with_extension("onnx");
    learner.write(&numbers, 8, 2, &path, &[]).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let file = denise::unrolled::File::read(&bytes).unwrap();
    assert_eq!(file.layers, initial(6, 3));
    assert_eq!(file.follow.len(), 2);
    assert!((file.follow[0].eta - 0.11).abs() < 1e-12);
}

/// A sequence takes up where it was, and U from scratch is that of the same tick.
#[test]
fn sequences_go_on_and_begin_again() {
    let (learner, tables) = (learner(), [table()]);
    let mut course = course(&learner, &tables);
    course.begin(0);
    let before = course.memory.clone();
    let ticks = course.ticks();
    let count: usize = ticks.iter().map(|x| x.state.u.dims()[0]).sum();
    let sequences: usize = course.groups.iter().map(|x| x.sequences.len()).sum();
    assert_eq!(count, sequences);
    // From scratch, the mean |R_ij| is that of the series.
    let group = &course.groups[0];
    let series = &group.series[group.sequences[0]];
    let mut scratch = vec![0.0; group.numbers() - 1];
    series.begin(before[0] as usize, &mut scratch);
    assert_eq!(before[1..group.numbers()], scratch);
    course.slope(&learner.initial(), 0).unwrap();
    assert_eq!(course.memory[0], before[0] + TICKS as f64);
    assert_ne!(course.memory[2..10], before[2..10]);
}

#[test]
fn trials_are_of_days_and_seeds_that_are_not_trained_on() {
    let tables = [table()];
    let sources = sources(&tables);
    let validation = sources.validation(150);
    let test = sources.test(150);
    let m = |trials: &[Trial]| trials.iter().map(|x| x.m.clone()).collect::<Vec<_>>();
    let training: Vec<f64> = sources.training(0).into_iter().flat_map(|x| x.0).collect();
    for trial in m(&validation).iter().chain(&m(&test)) {
        assert!(!training.windows(4).any(|x| *x == trial[1..5]));
    }
    for (a, b) in m(&validation).iter().zip(&m(&test)) {
        assert_ne!(a, b);
    }
}
