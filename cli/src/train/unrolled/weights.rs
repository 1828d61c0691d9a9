//! The weights as the optimiser sees them: free numbers, from which each weight gets its range.

use super::graph::WEIGHTS;
use denise::unrolled::{Curvature, Layer};

/// A logarithm for what must be positive, a logit for what lies between 0 and 1, and the number itself
/// for steps and momentum.
pub type Free = [f64; WEIGHTS];

/// The bounds of the library, with a margin for rounding in `f32`.
const POSITIVE: (f64, f64) = (1e-14, 50.0);

/// The free numbers of a layer.
pub fn free(layer: &Layer) -> Free {
    let log = |x: f64| x.clamp(POSITIVE.0, POSITIVE.1).ln();
    let sigma = layer.sigma.clamp(1e-6, 1.0 - 1e-6);
    [
        log(layer.alpha),
        log(layer.beta),
        log(layer.gamma),
        log(layer.delta),
        (sigma / (1.0 - sigma)).ln(),
        layer.eta,
        layer.mu,
        layer.nu,
    ]
}

/// Back within the ranges that the library accepts.
pub fn confine(free: &mut Free) {
    for x in &mut free[..4] {
        *x = x.clamp(POSITIVE.0.ln(), POSITIVE.1.ln());
    }
    free[4] = free[4].clamp(-12.0, 12.0);
    free[5] = free[5].clamp(-3.9, 3.9);
    free[6] = free[6].clamp(-0.89, 0.89);
    free[7] = free[7].clamp(-3.9, 3.9);
}

/// The layer that they stand for.
pub fn layer(curvature: Curvature, free: &Free) -> Layer {
    Layer {
        curvature,
        alpha: free[0].exp(),
        beta: free[1].exp(),
        gamma: free[2].exp(),
        delta: free[3].exp(),
        sigma: 1.0 / (1.0 + (-free[4]).exp()),
        eta: free[5],
        mu: free[6],
        nu: free[7],
    }
}

/// The gradient by the free numbers, from the one by the weights.
pub fn pull_back(layer: &Layer, gradient: &[f64; WEIGHTS]) -> Free {
    let x = layer.weights();
    let mut out = *gradient;
    for e in 0..4 {
        out[e] *= x[e];
    }
    out[4] *= x[4] * (1.0 - x[4]);
    // A layer that does without it costs less, and stays that way.
    if layer.nu == 0.0 {
        out[7] = 0.0;
    }
    out
}

/// Where training starts: the scale e of what counts as an outlier falls geometrically.
pub fn initial(layers: usize, shared: usize) -> Vec<Layer> {
    (0..layers)
        .map(|t| {
            let progress = t as f64 / (layers.max(2) - 1) as f64;
            let e = 0.3 * 0.01_f64.powf(progress);
            Layer {
                curvature: if t < shared {
                    Curvature::Shared
                } else {
                    Curvature::Own
                },
                alpha: 0.5,
                beta: e * e,
                gamma: 0.5,
                delta: e * e,
                sigma: 0.5,
                eta: if t == 0 { 0.7 } else { 1.0 },
                mu: 0.1,
                nu: 0.0,
            }
        })
        .collect()
}

/// The same layers, each of which takes back a part of its step within the span of U: nearly half of it, see `Layer`.
pub fn taking_back(layers: Vec<Layer>) -> Vec<Layer> {
    let each = |layer| Layer { nu: -0.4, ..layer };
    layers.into_iter().map(each).collect()
}

/// Where the training of mending layers starts: less falls, since the others follow.
pub fn initial_mend(layers: usize) -> Vec<Layer> {
    let each = |t: usize| {
        let e = 0.3 * 0.4_f64.powi(t as i32);
        Layer {
            curvature: Curvature::Own,
            beta: e * e,
            delta: e * e,
            eta: 1.0,
            ..initial(1, 0)[0]
        }
    };
    (0..layers).map(each).collect()
}

/// Where the training of layers that follow a stream starts: U of the tick before is about as good as that of a network
/// half way through its layers. So the weights are those around the place where shared curvatures end.
pub fn initial_follow(layers: &[Layer], curvatures: &[Curvature]) -> Vec<Layer> {
    let shared = |all: &mut dyn Iterator<Item = Curvature>| {
        all.take_while(|&x| x == Curvature::Shared).count()
    };
    let before = shared(&mut curvatures.iter().copied());
    let first = shared(&mut layers.iter().map(|x| x.curvature)).saturating_sub(before);
    let usual = initial(1, 0);
    let last = layers.last().unwrap_or(&usual[0]);
    let each = curvatures.iter().enumerate().map(|(t, &curvature)| Layer {
        curvature,
        ..*layers.get(first + t).unwrap_or(last)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn following_starts_from_the_middle_of_a_network() {
        use Curvature::{Own, Shared};
        let network = initial(6, 3);
        for (curvatures, from) in [
            (&[Shared, Own, Own][..], [2, 3, 4].as_slice()),
            (&[Own, Own], &[3, 4]),
            (&[Shared, Shared, Shared, Shared], &[0, 1, 2, 3]),
            (&[Own, Own, Own, Own, Own], &[3, 4, 5, 5, 5]),
        ] {
            let layers = initial_follow(&network, curvatures);
            assert_eq!(layers.len(), curvatures.len());
            for ((layer, &curvature), &from) in layers.iter().zip(curvatures).zip(from) {
                assert_eq!(layer.curvature, curvature);
                assert_eq!(layer.weights(), network[from].weights());
            }
        }
        assert_eq!(initial_follow(&[], &[Own]).len(), 1);
    }

    #[test]
    fn free_numbers_stand_for_their_layer_and_gradients_follow() {
        let original = taking_back(initial(5, 2))[3];
        let numbers = free(&original);
        let back = layer(original.curvature, &numbers);
        for (a, b) in original.weights().iter().zip(back.weights()) {
            assert!((a - b).abs() < 1e-12 * a.abs());
        }
        // Of f = Σ e·weight, by differences.
        let f = |numbers: &Free| -> f64 {
            let x = layer(original.curvature, numbers).weights();
            (0..WEIGHTS).map(|e| (e + 1) as f64 * x[e]).sum()
        };
        let by_weight = core::array::from_fn(|e| (e + 1) as f64);
        let gradient = pull_back(&original, &by_weight);
        for e in 0..WEIGHTS {
            let (mut up, mut down) = (numbers, numbers);
            up[e] += 1e-5;
            down[e] -= 1e-5;
            let slope = (f(&up) - f(&down)) / 2e-5;
            assert!(
                (slope - gradient[e]).abs() < 1e-6 * slope.abs().max(1e-3),
                "{e}"
            );
        }
        // Zero stays zero.
        let without = Layer {
            nu: 0.0,
            ..original
        };
        assert_eq!(pull_back(&without, &by_weight)[7], 0.0);
    }
}
