//! The step that [`pcp`](super::pcp) and [`ialm`](super::ialm) share: minimise the augmented Lagrangian of
//! ‖L‖_* + λ‖S‖₁ subject to L + S = M over S, then over L.
//!
//! With the multiplier Y, the penalty μ = 1/τ and X = M + τY: S ← shrink(X − L, λτ), L ← singular value
//! thresholding of X − S at τ, and the multiplier's step Y ← Y + μ(M − L − S) makes X − S − L of τY.

use crate::eigen::Spectrum;
use crate::eigen::rows::{shrink, square_distance};

/// The matrices of the iteration.
pub(super) struct Iterate<'a> {
    pub(super) m: &'a [f64],
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
    }

    /// ‖M − L − S‖_F².
    pub(super) fn gap(&mut self) -> f64 {
        let parts = self.l.iter().zip(self.s.iter());
        for (y, (&l, &s)) in self.y.iter_mut().zip(parts) {
            *y = l + s;
        }
        square_distance(self.m, self.y)
    }
}
