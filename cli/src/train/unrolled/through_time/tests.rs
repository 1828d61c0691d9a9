//! Ticks and their slopes against the specification.

use super::super::graph::WEIGHTS;
use super::super::weights::{free, initial, layer, taking_back};
use super::*;
use crate::train::Learner;
use burn::tensor::Device;
use denise::unrolled::reference::{self, Track};
use denise::unrolled::{Layer, Stages};
use denise_data::matrices::covariance;
use denise_data::random::Random;
use nalgebra::DMatrix;

const TICKS: usize = 3;
const STREAMS: usize = 4;

/// Sizes n and k, and how many of three layers are shared.
const CASES: [(usize, usize, usize); 4] = [(20, 3, 1), (9, 2, 0), (12, 5, 3), (8, 1, 1)];

/// The covariances of streams that move slowly: for each, one tick more than are followed.
fn streams(n: usize, k: usize) -> Vec<Vec<DMatrix<f64>>> {
    let each = |stream: usize| {
        let ends = [1, 2].map(|end| {
            let values = covariance(n, k, 0.5, &mut Random::new(10 * stream as u64 + end));
            DMatrix::from_row_slice(n, n, &values)
        });
        let at = |tick: usize| {
            let share = 0.1 * tick as f64;
            (1.0 - share) * &ends[0] + share * &ends[1]
        };
        (0..=TICKS).map(at).collect()
    };
    (0..STREAMS).map(each).collect()
}

/// Of a matrix: the balanced one, and what U's rows are multiplied by in the end.
fn balance(m: &DMatrix<f64>, k: usize) -> (DMatrix<f64>, DMatrix<f64>) {
    let scale = reference::scale(m);
    let normal = m / scale;
    let sizes = reference::row_sizes(&normal, &reference::known(m), k);
    let units = DMatrix::from_diagonal(&(scale.sqrt() * &sizes));
    (reference::balanced(&normal, &sizes), units)
}

fn tensor<'a>(values: impl Iterator<Item = &'a f64>, shape: [usize; 3]) -> Tensor<3> {
    let values: Vec<f32> = values.map(|&x| x as f32).collect();
    let device = Device::flex().autodiff();
    Tensor::from_data(TensorData::new(values, shape), &device)
}

/// The same ticks for the graph, and where they start in the specification.
fn ticks(n: usize, k: usize, layers: &[Layer], from: usize, count: usize) -> (Ticks, Vec<Track>) {
    let streams = &streams(n, k)[from..from + count];
    let network = reference::Network {
        layers,
        ..reference::Network::default()
    };
    let tracks: Vec<Track> = streams.iter().map(|m| network.begin(&m[0], k).1).collect();
    let of = |tick: usize| {
        let m: Vec<DMatrix<f64>> = streams.iter().map(|m| balance(&m[tick], k).0).collect();
        tensor(m.iter().flat_map(|m| m.iter()), [count, n, n])
    };
    let ones = vec![1.0; count];
    let ticks = Ticks {
        size: 0,
        m: (1..=TICKS).map(of).collect(),
        usual: vec![tensor(ones.iter(), [count, 1, 1]); TICKS],
        state: State {
            u: tensor(tracks.iter().flat_map(|x| x.u.iter()), [count, k, n]),
            mean: tensor(tracks.iter().map(|x| &x.mean), [count, 1, 1]),
        },
    };
    (ticks, tracks)
}

fn squares(r: Tensor<3>) -> Tensor<1> {
    (r.clone() * r).mean()
}

/// The tracks at the end, and the mean square of all entries of R.
fn specified(n: usize, k: usize, follow: &[Layer], mut tracks: Vec<Track>) -> (f64, Vec<Track>) {
    let network = reference::Network {
        follow,
        ..reference::Network::default()
    };
    let mut sum = 0.0;
    for (m, track) in streams(n, k).iter().zip(&mut tracks) {
        for m in &m[1..] {
            *track = network.follow(m, k, track).1;
            let r = balance(m, k).0 - &track.u * track.u.transpose();
            sum += r.norm_squared() / (n * n * TICKS * STREAMS) as f64;
        }
    }
    (sum, tracks)
}

fn learner(n: usize, k: usize, layers: &[Layer], follow: &[Layer]) -> Unrolled {
    let stages = Stages {
        layers,
        follow,
        ..Stages::default()
    };
    Unrolled::following(stages, &[(n, k)], &Device::flex())
}

#[test]
fn ticks_are_those_that_are_specified() {
    for (n, k, shared) in CASES {
        let (layers, follow) = (initial(6, 3), taking_back(initial(3, shared)));
        let learner = learner(n, k, &layers, &follow);
        let (ticks, tracks) = ticks(n, k, &layers, 0, STREAMS);
        let slope = learner.through_time(&learner.initial(), vec![ticks], &squares);
        let slope = slope.unwrap();
        let (loss, tracks) = specified(n, k, &follow, tracks);
        assert!((slope.loss / loss - 1.0).abs() < 1e-3);
        let numbers = |x: &Tensor<3>| -> Vec<f32> { x.clone().into_data().try_into_vec().unwrap() };
        let (u, mean) = (&slope.states[0].u, &slope.states[0].mean);
        for (got, want) in numbers(u).chunks(n * k).zip(&tracks) {
            for (got, want) in got.iter().zip(&want.u) {
                assert!((f64::from(*got) - want).abs() < 1e-4, "n = {n}, k = {k}");
            }
        }
        for (got, want) in numbers(mean).iter().zip(&tracks) {
            assert!((f64::from(*got) - want.mean).abs() < 1e-5);
        }
    }
}

/// Also where streams are in two parts.
#[test]
fn slopes_through_time_are_those_of_what_is_specified() {
    for (n, k, shared) in CASES {
        let (layers, follow) = (initial(6, 3), taking_back(initial(3, shared)));
        let learner = learner(n, k, &layers, &follow);
        let tracks = ticks(n, k, &layers, 0, STREAMS).1;
        let parts = [(0, 1), (1, STREAMS - 1)];
        let parts = parts.map(|(from, count)| ticks(n, k, &layers, from, count).0);
        let slope = learner.through_time(&learner.initial(), parts.into(), &squares);
        let slopes = slope.unwrap().gradient;
        let largest = slopes.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(largest > 0.0);
        for (place, &slope) in slopes.iter().enumerate() {
            let (t, e) = (place / WEIGHTS, place % WEIGHTS);
            let at = |h: f64| {
                let mut follow = follow.clone();
                let mut numbers = free(&follow[t]);
                numbers[e] += h;
                follow[t] = layer(follow[t].curvature, &numbers);
                specified(n, k, &follow, tracks.clone()).0
            };
            let want = (at(1e-4) - at(-1e-4)) / 2e-4;
            let error = (slope - want).abs() / largest;
            assert!(
                error < 2e-3,
                "n = {n}, k = {k}, layer {t}, number {e}: {slope} {want}"
            );
        }
    }
}
