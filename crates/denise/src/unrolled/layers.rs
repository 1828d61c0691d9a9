//! What a layer has learnt: eight scalars, the same for every n and k; and how it solves for its step.

use crate::simd::Real;

/// Which matrix stands for the curvature of a row's least-squares problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// A_i = w̄_i UᵀU, where w̄_i is the mean weight of the row. One factorisation for all rows, at half
    /// the cost of a layer: enough while the weights are still vague.
    Shared,
    /// A_i = Σ_j w_ij u_j u_jᵀ, the row's own.
    Own,
}

/// The weights of one layer. See [`crate::unrolled::reference`] for what each does.
///
/// `alpha` and `gamma` lie in [0, 100], `beta` and `delta` in [1e-20, 100], `sigma` in [0, 1], `eta` in
/// [-4, 4], `mu` in [-0.9, 0.9] and `nu` in [-4, 4], which bounds every step; others are refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer<F = f64> {
    /// How the step is found.
    pub curvature: Curvature,
    /// Off the diagonal, e² = `alpha` m² + `beta`, where m is the mean |R_ij| before the last layer's step.
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
    /// How much is added of the part of the step that only changes U within the span of its columns. That part alone
    /// moves L twice as far as it should, so this is negative; 0 does without.
    pub nu: F,
}

impl Layer<f64> {
    /// The weights in the order of the fields.
    pub fn weights(&self) -> [f64; 8] {
        let Layer {
            curvature: _,
            alpha,
            beta,
            gamma,
            delta,
            sigma,
            eta,
            mu,
            nu,
        } = *self;
        [alpha, beta, gamma, delta, sigma, eta, mu, nu]
    }

    /// Whether every weight is in its range.
    pub(crate) fn is_sound(&self) -> bool {
        (0.0..=100.0).contains(&self.alpha)
            && (1e-20..=100.0).contains(&self.beta)
            && (0.0..=100.0).contains(&self.gamma)
            && (1e-20..=100.0).contains(&self.delta)
            && (0.0..=1.0).contains(&self.sigma)
            && (-4.0..=4.0).contains(&self.eta)
            && (-0.9..=0.9).contains(&self.mu)
            && (-4.0..=4.0).contains(&self.nu)
    }

    /// The same weights in another type.
    pub(crate) fn cast<F: Real>(&self) -> Layer<F> {
        Layer {
            curvature: self.curvature,
            alpha: F::from_f64(self.alpha),
            beta: F::from_f64(self.beta),
            gamma: F::from_f64(self.gamma),
            delta: F::from_f64(self.delta),
            sigma: F::from_f64(self.sigma),
            eta: F::from_f64(self.eta),
            mu: F::from_f64(self.mu),
            nu: F::from_f64(self.nu),
        }
    }
}

/// The layers of a network, by what they are for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stages<'a> {
    /// From the start to the result.
    pub layers: &'a [Layer],
    /// Those that come first where entries are missing; may be none.
    pub mend: &'a [Layer],
    /// Those that follow U from one tick of a stream to the next; without any there are no streams.
    pub follow: &'a [Layer],
}

impl<'a> Stages<'a> {
    /// Without what only missing entries and streams need.
    pub fn only(layers: &'a [Layer]) -> Stages<'a> {
        Stages {
            layers,
            ..Stages::default()
        }
    }
}

#[cfg(test)]
pub(crate) fn builtin() -> Vec<Layer> {
    super::File::builtin().unwrap().layers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_that_could_blow_up_are_refused() {
        let good = builtin()[0];
        assert!(builtin().iter().all(Layer::is_sound));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e9, 1e9] {
            assert!(!Layer { alpha: bad, ..good }.is_sound());
            assert!(!Layer { beta: bad, ..good }.is_sound());
            assert!(!Layer { gamma: bad, ..good }.is_sound());
            assert!(!Layer { delta: bad, ..good }.is_sound());
            assert!(!Layer { sigma: bad, ..good }.is_sound());
            assert!(!Layer { eta: bad, ..good }.is_sound());
            assert!(!Layer { mu: bad, ..good }.is_sound());
            assert!(!Layer { nu: bad, ..good }.is_sound());
        }
        assert!(
            !Layer { beta: 0.0, ..good }.is_sound(),
            "0/0 where R is zero"
        );
    }

    /// docs/NUMERICS.md says that L exceeds M by less than a factor of a million.
    #[test]
    fn rows_of_u_stay_bounded_with_the_builtin_weights() {
        let limit = 2.0 * super::super::RMS_LIMIT;
        // What rows of U are multiplied by in the end, for the largest k, relative to the largest √|M_ij|.
        let size = super::super::TYPICAL * super::super::bounds(crate::size::MAX_K).own;
        let rows = 512.0_f64.sqrt();
        for (name, most) in [("default", 1e6), ("fast", 1e8)] {
            let (mut step, mut length) = (0.0, super::super::RMS_LIMIT * rows);
            // With those that come first where entries are missing; without them it is less.
            let file = super::super::File::named(name).unwrap().unwrap();
            for layer in file.mend.iter().chain(&file.layers) {
                // A row of the steps' part within the span of U can be as long as all steps together.
                let own = layer.eta.abs() + layer.nu.abs() * rows;
                step = own * limit + layer.mu.abs() * step;
                length += step;
            }
            assert!(length * length * size < most, "{name}: {length} {size}");
        }
    }
}
