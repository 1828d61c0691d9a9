//! The graph and its slopes against the specification.

use super::super::Unrolled;
use super::super::weights::{free, initial, layer, taking_back};
use super::*;
use crate::train::Learner;
use crate::train::batch::Batches;
use denise::unrolled::{Stages, reference};
use denise_data::generator::{Amplitude, Cell, Kind, samples};
use nalgebra::DMatrix;

/// Sizes n and k, layers, and shared ones among them; without a layer, too.
const CASES: [(usize, usize, usize, usize); 6] = [
    (20, 3, 12, 6),
    (9, 2, 5, 0),
    (7, 1, 4, 4),
    (12, 5, 6, 3),
    (8, 2, 1, 0),
    (6, 2, 0, 0),
];

/// Matrices of which some have outliers that own the leading eigenvectors.
fn matrices(n: usize, k: usize, count: usize) -> Vec<f64> {
    let cells = [1.0, 2.0, 4.0, 10.0].map(|amplitude| Cell {
        amplitude: Amplitude::Fixed(amplitude),
        ..Cell::default()
    });
    samples(n, k, &cells, 1, 0, count).m
}

/// L of the reference in the units of the batch.
fn specified(n: usize, k: usize, m: &[f64], layers: &[Layer]) -> Vec<DMatrix<f64>> {
    let split = |m: &[f64]| {
        let m = DMatrix::from_row_slice(n, n, m);
        let scale = m.trace().max(m.amax()) / n as f64;
        reference::decompose(&m, k, layers).l / scale
    };
    m.chunks_exact(n * n).map(split).collect()
}

fn numbers(layers: &[Layer], device: &Device) -> Tensor<2> {
    let weights: Vec<f32> = layers
        .iter()
        .flat_map(Layer::weights)
        .map(|x| x as f32)
        .collect();
    let weights = TensorData::new(weights, [layers.len(), WEIGHTS]);
    Tensor::from_data(weights, device)
}

#[test]
fn the_graph_computes_what_is_specified() {
    let device = Device::flex().autodiff();
    for (n, k, layers, shared) in CASES {
        let layers = taking_back(initial(layers, shared));
        let m = matrices(n, k, 40);
        let batch = Batches::new(n, k, &device).make(&m, None);
        let graph = Graph::new(n, k, &layers, &device);
        let u = graph.forward(&batch, &numbers(&layers, &device)) * batch.sizes;
        let l = u.clone().swap_dims(1, 2).matmul(u);
        let got: Vec<f32> = l.into_data().try_into_vec().unwrap();
        let want = specified(n, k, &m, &layers);
        for (i, (got, want)) in got.chunks(n * n).zip(want).enumerate() {
            for (got, want) in got.iter().zip(&want) {
                let error = (f64::from(*got) - want).abs();
                assert!(error < 1e-4, "n = {n}, k = {k}, matrix {i}: {error}");
            }
        }
    }
}

/// With holes: mending layers that learn, then others that do not.
#[test]
fn the_graph_computes_what_is_specified_where_entries_are_missing() {
    let device = Device::flex().autodiff();
    let kinds = [
        "normal 0.80 authors missing 0.20",
        "normal 0.90 authors missing variances 0.50",
        "normal 0.90 authors missing rows 2:0",
        "normal 0.90 authors missing groups 6",
    ];
    let kinds = kinds.map(|kind| kind.parse::<Kind>().unwrap());
    for (n, k) in [(20, 3), (9, 2), (12, 4)] {
        let (mend, layers) = (initial(3, 0), taking_back(initial(6, 3)));
        let m = samples(n, k, &kinds, 1, 0, 40).m;
        let batch = Batches::new(n, k, &device).make(&m, None);
        let graph = Graph::new(n, k, &mend, &device).with_fixed(&layers, &device);
        let u = graph.forward(&batch, &numbers(&mend, &device)) * batch.sizes;
        let l = u.clone().swap_dims(1, 2).matmul(u);
        let got: Vec<f32> = l.into_data().try_into_vec().unwrap();
        let network = reference::Network {
            layers: &layers,
            mend: &mend,
            ..reference::Network::default()
        };
        for (i, got) in got.chunks(n * n).enumerate() {
            let m = DMatrix::from_row_slice(n, n, &m[i * n * n..][..n * n]);
            let want = network.decompose(&m, k).l / reference::scale(&m);
            let largest = want.amax();
            for (got, want) in got.iter().zip(&want) {
                let error = (f64::from(*got) - want).abs() / largest;
                assert!(error < 1e-3, "n = {n}, k = {k}, matrix {i}: {error}");
            }
        }
    }
}

/// Of the mean L², by all free numbers of mending layers; nothing is known of some rows.
#[test]
fn its_slopes_are_those_of_what_is_specified_where_entries_are_missing() {
    let device = Device::flex().autodiff();
    let kinds = ["normal 0.90 missing rows 2:0", "normal 0.80 missing 0.20"];
    let kinds = kinds.map(|kind| kind.parse::<Kind>().unwrap());
    let (n, k) = (12, 3);
    let (mend, layers) = (taking_back(initial(2, 0)), initial(4, 2));
    let m = samples(n, k, &kinds, 1, 0, 40).m;
    let batch = Batches::new(n, k, &device).make(&m, None);
    let learner = Unrolled::mending(
        Stages {
            layers: &layers,
            mend: &mend,
            ..Stages::default()
        },
        &[(n, k)],
        &Device::flex(),
    );
    let mut squares = |l: Tensor<3>| Ok((l.clone() * l).mean());
    let slopes = learner.gradient(&learner.initial(), &batch, &mut squares);
    let slopes = slopes.unwrap().1;
    let loss = |mend: &[Layer]| {
        let network = reference::Network {
            layers: &layers,
            mend,
            ..reference::Network::default()
        };
        let each = m.chunks_exact(n * n).map(|m| {
            let m = DMatrix::from_row_slice(n, n, m);
            (network.decompose(&m, k).l / reference::scale(&m)).norm_squared()
        });
        each.sum::<f64>() / m.len() as f64
    };
    let largest = slopes.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!(largest > 0.0);
    for (place, &slope) in slopes.iter().enumerate() {
        let (t, e) = (place / WEIGHTS, place % WEIGHTS);
        let at = |h: f64| {
            let mut mend = mend.clone();
            let mut numbers = free(&mend[t]);
            numbers[e] += h;
            mend[t] = layer(mend[t].curvature, &numbers);
            loss(&mend)
        };
        let want = (at(1e-4) - at(-1e-4)) / 2e-4;
        let error = (slope - want).abs() / largest;
        assert!(error < 1e-3, "layer {t}, number {e}: {slope} {want}");
    }
}

/// Of the mean (L − M)², by all free numbers of all layers.
#[test]
fn its_slopes_are_those_of_what_is_specified() {
    let device = Device::flex().autodiff();
    for (n, k, layers, shared) in [(12, 3, 5, 3), (8, 2, 2, 1)] {
        let layers = taking_back(initial(layers, shared));
        let m = matrices(n, k, 40);
        let batch = Batches::new(n, k, &device).make(&m, None);
        let learner = Unrolled::new(Stages::only(&layers), &[(n, k)], &Device::flex());
        let mut squares = |l: Tensor<3>| {
            let s = l - batch.m.clone();
            Ok((s.clone() * s).mean())
        };
        let slopes = learner.gradient(&learner.initial(), &batch, &mut squares);
        let slopes = slopes.unwrap().1;
        let scaled: Vec<f32> = batch.m.clone().into_data().try_into_vec().unwrap();
        let loss = |layers: &[Layer]| {
            let all = specified(n, k, &m, layers);
            let l = all.iter().flat_map(|l| l.iter());
            let squares = l.zip(&scaled).map(|(l, &m)| (l - f64::from(m)).powi(2));
            squares.sum::<f64>() / m.len() as f64
        };
        let largest = slopes.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (place, &slope) in slopes.iter().enumerate() {
            let (t, e) = (place / WEIGHTS, place % WEIGHTS);
            let at = |h: f64| {
                let mut layers = layers.clone();
                let mut numbers = free(&layers[t]);
                numbers[e] += h;
                layers[t] = layer(layers[t].curvature, &numbers);
                loss(&layers)
            };
            let want = (at(1e-4) - at(-1e-4)) / 2e-4;
            let error = (slope - want).abs() / largest;
            assert!(error < 5e-4, "layer {t}, number {e}: {slope} {want}");
        }
    }
}
