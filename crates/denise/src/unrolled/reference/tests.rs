//! What the specification promises of streams.

use super::*;
use crate::unrolled::{CHECK, File};
use crate::{Model, Options, Outputs, StreamOptions};
use denise_data::matrices::covariance;
use denise_data::random::Random;

fn matrix(n: usize, seed: u64) -> DMatrix<f64> {
    DMatrix::from_row_slice(n, n, &covariance(n, 2, 0.1, &mut Random::new(seed)))
}

fn network(file: &File) -> Network<'_> {
    Network {
        layers: &file.layers,
        mend: &file.mend,
        follow: &file.follow,
        ..Network::default()
    }
}

#[test]
fn the_first_tick_is_the_split_and_no_layers_keep_u() {
    let file = File::builtin().unwrap();
    for correlation in [false, true] {
        let network = Network {
            correlation,
            follow: &[],
            ..network(&file)
        };
        let m = matrix(9, 1);
        let (first, track) = network.begin(&m, 2);
        let alone = network.decompose(&m, 2);
        assert!((&first.l - alone.l).amax() < 1e-12);
        assert!(track.mean > 0.0);
        // The same matrix again, in other units: so is U.
        let again = network.follow(&(4.0 * &m), 2, &track).0;
        assert!((again.l - 4.0 * first.l).amax() < 1e-10);
    }
}

#[test]
fn following_a_matrix_that_does_not_change_settles() {
    let file = File::builtin().unwrap();
    let network = network(&file);
    let m = matrix(12, 3);
    let (mut split, mut track) = network.begin(&m, 2);
    let mut moved = f64::INFINITY;
    for _ in 0..60 {
        let next = network.follow(&m, 2, &track);
        moved = (&next.0.l - &split.l).norm() / split.l.norm();
        (split, track) = next;
    }
    assert!(moved < 1e-3, "{moved}");
    assert!(split.s.abs().sum() < 0.1 * m.abs().sum());
}

/// The thresholds of the first layer are those that the mean of the tick before gives.
#[test]
fn the_mean_of_the_tick_before_counts() {
    let file = File::builtin().unwrap();
    let network = network(&file);
    let m = matrix(9, 5);
    let track = network.begin(&m, 2).1;
    let other = Track {
        mean: 0.0,
        ..track.clone()
    };
    let with = network.follow(&matrix(9, 6), 2, &track).0;
    let without = network.follow(&matrix(9, 6), 2, &other).0;
    assert!((with.l - without.l).amax() > 1e-9);
}

#[test]
fn an_asset_of_which_nothing_is_known_any_more_is_forgotten() {
    let file = File::builtin().unwrap();
    let network = network(&file);
    let m = matrix(8, 7);
    let track = network.begin(&m, 2).1;
    let mut hidden = m;
    for i in 0..8 {
        (hidden[(3, i)], hidden[(i, 3)]) = (f64::NAN, f64::NAN);
    }
    let (split, track) = network.follow(&hidden, 2, &track);
    assert_eq!(split.l.row(3).amax(), 0.0);
    assert_eq!(track.u.row(3).amax(), 0.0);
    assert!(split.l.iter().all(|x| x.is_finite()));
}

#[test]
fn nothing_but_zeros_gives_zeros() {
    let file = File::builtin().unwrap();
    let network = network(&file);
    let zeros = DMatrix::zeros(6, 6);
    assert_eq!(network.decompose(&zeros, 2).l.amax(), 0.0);
    let track = network.begin(&matrix(6, 9), 2).1;
    let (split, track) = network.follow(&zeros, 2, &track);
    assert_eq!(split.l.amax(), 0.0);
    assert!(track.u.iter().all(|x| x.is_finite()));
}

/// Up to the tick at which a stream of the library starts from scratch as well.
#[test]
fn streams_of_the_library_do_what_is_specified() {
    let file = File::builtin().unwrap();
    let (n, k) = (9, 2);
    let size = Options {
        n,
        k,
        ..Options::default()
    };
    let model = Model::builtin(&size).unwrap();
    let ends = [matrix(n, 11), matrix(n, 12)];
    for correlation in [false, true] {
        let network = Network {
            correlation,
            ..network(&file)
        };
        let options = StreamOptions {
            correlation,
            ..StreamOptions::default()
        };
        let mut stream = model.stream(&options).unwrap();
        let (mut want, mut track) = network.begin(&ends[0], k);
        for tick in 0..CHECK {
            let share = tick as f64 / CHECK as f64;
            let m = (1.0 - share) * &ends[0] + share * &ends[1];
            if tick > 0 {
                (want, track) = network.follow(&m, k, &track);
            }
            let mut l = vec![0.0; n * n];
            let out = Outputs {
                l: Some(&mut l),
                ..Outputs::default()
            };
            stream.push_matrices(m.as_slice(), out).unwrap();
            let error = (DMatrix::from_row_slice(n, n, &l) - &want.l).amax() / want.l.amax();
            assert!(error < 1e-9, "tick {tick}: {error:e}");
        }
    }
}
