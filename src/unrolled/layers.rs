//! What a layer has learnt: seven scalars, the same for every n and k.

use crate::simd::Real;

/// The weights of one layer. See [`crate::unrolled::reference`] for what each does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer<F = f64> {
    /// Off the diagonal, e² = `alpha` m² + `beta`, where m is the mean |R_ij|.
    pub alpha: F,
    /// See `alpha`.
    pub beta: F,
    /// On the diagonal, e² = `gamma` m² + `delta`.
    pub gamma: F,
    /// See `gamma`.
    pub delta: F,
    /// Trust in the diagonal, in (0, 1).
    pub sigma: F,
    /// Length of the step.
    pub eta: F,
    /// Momentum.
    pub mu: F,
}

impl Layer<f64> {
    /// The same weights in another type.
    pub(crate) fn cast<F: Real>(&self) -> Layer<F> {
        Layer {
            alpha: F::from_f64(self.alpha),
            beta: F::from_f64(self.beta),
            gamma: F::from_f64(self.gamma),
            delta: F::from_f64(self.delta),
            sigma: F::from_f64(self.sigma),
            eta: F::from_f64(self.eta),
            mu: F::from_f64(self.mu),
        }
    }
}

/// The network built into the library: an annealing schedule set by hand. The scale e of what counts
/// as an outlier falls geometrically from 0.3 to 0.003, and follows the residual while that is large.
pub(crate) fn builtin() -> Vec<Layer> {
    const LAYERS: i32 = 10;
    (0..LAYERS)
        .map(|t| {
            let e = 0.3 * f64::powf(0.01, f64::from(t) / f64::from(LAYERS - 1));
            Layer {
                alpha: 0.5,
                beta: e * e,
                gamma: 0.5,
                delta: e * e,
                sigma: 0.5,
                eta: if t == 0 { 0.7 } else { 1.0 },
                mu: 0.1,
            }
        })
        .collect()
}
