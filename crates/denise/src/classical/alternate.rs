//! The step that [`pcp`](super::pcp) and [`ialm`](super::ialm) share: minimise the augmented Lagrangian of
//! ‖L‖_* + λ‖S‖₁ subject to L + S = M over S, then over L.
//!
//! With the multiplier Y, the penalty μ = 1/τ and X = M + τY: S ← shrink(X − L, λτ), L ← singular value
//! thresholding of X − S at τ, and the multiplier's step Y ← Y + μ(M − L − S) makes X − S − L of τY.
//!
//! Holes are entries of M that are not known: S costs nothing there, so that L is free. S takes all of X − L, and L is
//! made of X − S = L. That is as if X were L and S zero, which is how it is computed.

use crate::eigen::Spectrum;
use crate::eigen::rows::{shrink, square_distance};

/// The matrices of the iteration.
pub(super) struct Iterate<'a> {
    /// Zero in the holes.
    pub(super) m: &'a [f64],
    /// Where the holes are, in both triangles.
    pub(super) holes: &'a [usize],
    pub(super) l: &'a mut [f64],
    pub(super) s: &'a mut [f64],
    /// X before a step, the old L after it.
    pub(super) x: &'a mut [f64],
    /// After a step X − S.
    pub(super) y: &'a mut [f64],
}

impl Iterate<'_> {
    /// New S and L; returns the square of how far they moved.
    pub(super) fn step(&mut self, lambda: f64, tau: f64, spectrum: &mut Spectrum) -> f64 {
        let Iterate { l, s, x, y, .. } = self;
        for ((y, &x), &l) in y.iter_mut().zip(x.iter()).zip(l.iter()) {
            *y = shrink(x - l, lambda * tau);
        }
        let moved = square_distance(y, s);
        s.copy_from_slice(y);
        for (y, &x) in y.iter_mut().zip(x.iter()) {
            *y = x - *y;
        }
        spectrum.beyond(y, tau);
        x.copy_from_slice(l);
        spectrum.sum(|a| shrink(a, tau), l);
        moved + square_distance(l, x)
    }

    /// The multiplier's step, which makes the next X. `ratio` is the next τ over this one.
    pub(super) fn multiply(&mut self, ratio: f64) {
        let terms = self.y.iter().zip(self.l.iter()).zip(self.m);
        for (x, ((&y, &l), &m)) in self.x.iter_mut().zip(terms) {
            *x = ratio * (y - l) + m;
        }
        for &at in self.holes {
            self.x[at] = self.l[at];
        }
    }

    /// ‖M − L − S‖_F² without the holes.
    pub(super) fn gap(&mut self) -> f64 {
        let parts = self.l.iter().zip(self.s.iter());
        for (y, (&l, &s)) in self.y.iter_mut().zip(parts) {
            *y = l + s;
        }
        for &at in self.holes {
            self.y[at] = self.m[at];
        }
        square_distance(self.m, self.y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::Memory;
    use denise_data::matrices::symmetric;
    use denise_data::random::Random;

    /// Steps with holes against steps that know none: S costs λ or nothing, and takes up whatever it is told to.
    #[test]
    fn a_hole_is_where_s_costs_nothing() {
        let (n, lambda, tau) = (6, 0.3, 0.8);
        let mut random = Random::new(1);
        let holes = [1, n, 3 * n + 5, 5 * n + 3, 4 * n + 4];
        let mut m = symmetric(n, |_, _| 4.0 * random.signed());
        for at in holes {
            m[at] = 0.0;
        }
        let zeros = vec![0.0; n * n];
        let (mut l, mut s, mut x, mut y) = (zeros.clone(), zeros.clone(), m.clone(), zeros.clone());
        let mut iterate = Iterate {
            m: &m,
            holes: &holes,
            l: &mut l,
            s: &mut s,
            x: &mut x,
            y: &mut y,
        };
        let mut spectrum = Spectrum::new(n, &mut Memory::new());
        let mut plain = Spectrum::new(n, &mut Memory::new());
        // L, S and τY.
        let (mut plain_l, mut plain_s, mut multiplier) = (zeros.clone(), zeros.clone(), zeros);
        for _ in 0..20 {
            iterate.step(lambda, tau, &mut spectrum);
            iterate.multiply(1.0);
            for at in 0..n * n {
                let cost = if holes.contains(&at) { 0.0 } else { lambda };
                plain_s[at] = shrink(m[at] + multiplier[at] - plain_l[at], cost * tau);
            }
            let rest = |at: usize| m[at] + multiplier[at] - plain_s[at];
            let target: Vec<f64> = (0..n * n).map(rest).collect();
            plain.beyond(&target, tau);
            plain.sum(|a| shrink(a, tau), &mut plain_l);
            for at in 0..n * n {
                multiplier[at] = target[at] - plain_l[at];
            }
            assert!(square_distance(iterate.l, &plain_l) < 1e-24);
            assert!(
                square_distance(iterate.l, &m) > 1e-2,
                "something is left to do"
            );
        }
        for at in holes {
            plain_s[at] = 0.0;
        }
        assert!(square_distance(iterate.s, &plain_s) < 1e-24);
        let apart = |at: usize| (m[at] - iterate.l[at] - iterate.s[at]).powi(2);
        let known = (0..n * n).filter(|at| !holes.contains(at));
        let expected: f64 = known.map(apart).sum();
        assert!((iterate.gap() - expected).abs() < 1e-12);
    }
}
