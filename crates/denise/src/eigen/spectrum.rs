//! Eigenvalues of symmetric matrices, and the eigenvectors that are asked for, with one working memory for many
//! matrices.
//!
//! The singular values of a symmetric matrix are the magnitudes of its eigenvalues, and its singular
//! vectors the eigenvectors up to sign, so this is all that the methods here need of an SVD.
//!
//! Few eigenpairs are found one by one, from guesses that come from the last matrix or from bisection. Where
//! that does not work (many, or too near each other) the whole spectrum is computed.

use super::isolate::{Bracket, End, above, isolate};
use super::memory::Memory;
use super::rotations::Rotations;
use super::rows::{largest, sum_of_squares};
use super::tridiagonal::Tridiagonal;
use super::twisted::Twisted;

/// Of the norm: what the residual of an eigenpair may be, and how near eigenvalues may be to each other that are
/// found one by one. Their vectors are then orthogonal to about 1e-12.
const RESIDUAL: f64 = 16.0 * f64::EPSILON;
const APART: f64 = 1e-3;
/// The whole spectrum costs less than one in `FEW` of its eigenpairs one by one.
const FEW: usize = 3;

/// The eigensolver, and the eigenpairs it found last.
pub(crate) struct Spectrum {
    n: usize,
    tridiagonal: Tridiagonal,
    rotations: Rotations,
    twisted: Twisted,
    brackets: Vec<Bracket>,
    /// The eigenvalues that were asked for. They are the guesses for the next matrix.
    values: Vec<f64>,
    /// Where they stand among all.
    places: Vec<usize>,
    /// Their vectors, one a row.
    vectors: Vec<f64>,
    /// Four vectors side by side.
    four: Vec<[f64; 4]>,
}

impl Spectrum {
    pub(crate) fn new(n: usize, memory: &mut Memory) -> Spectrum {
        Spectrum {
            n,
            tridiagonal: Tridiagonal::new(n, memory),
            rotations: Rotations::new(n, memory),
            twisted: Twisted::new(n, memory),
            brackets: memory.room(n + 1),
            values: memory.room(n),
            places: memory.room(n),
            vectors: memory.zeros(n * n),
            four: memory.zeros(n),
        }
    }

    /// The next matrix has nothing to do with the last one.
    pub(crate) fn forget(&mut self) {
        self.values.clear();
    }

    /// Finds the eigenpairs with |a| > tau of a symmetric matrix whose entries are of unit scale.
    pub(crate) fn beyond(&mut self, matrix: &[f64], tau: f64) {
        self.tridiagonal.reduce(matrix);
        let [positive, not_negative] = above(&self.tridiagonal.d, &self.tridiagonal.e, tau);
        let count = positive + (self.n - not_negative);
        if (count == self.values.len() && self.refine(tau, false))
            || self.one_by_one(count, End::Both, tau)
        {
            return;
        }
        self.diagonalise();
        self.values.clear();
        self.places.clear();
        for (place, &a) in self.tridiagonal.d.iter().enumerate() {
            if a.abs() > tau {
                self.values.push(a);
                self.places.push(place);
            }
        }
        self.play_back();
    }

    /// Finds the `count` largest eigenpairs at that end, or as many as there are, largest first.
    pub(crate) fn largest(&mut self, matrix: &[f64], count: usize, end: End) {
        self.tridiagonal.reduce(matrix);
        if self.one_by_one(count, end, 0.0) {
            return;
        }
        self.diagonalise();
        let size = |a: f64| if end == End::Both { a.abs() } else { a };
        self.values.clear();
        self.places.clear();
        for _ in 0..count {
            let (mut best, mut at) = (0.0, 0);
            for (place, &a) in self.tridiagonal.d.iter().enumerate() {
                if size(a) > size(best) && !self.places.contains(&place) {
                    (best, at) = (a, place);
                }
            }
            if size(best) > 0.0 {
                self.values.push(best);
                self.places.push(at);
            }
        }
        self.play_back();
    }

    /// The eigenvalues found.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The vectors √|f(a)| v of the eigenpairs found, one a row. They take the place of the v: once only.
    pub(crate) fn factors(&mut self, f: impl Fn(f64) -> f64) -> &[f64] {
        for (row, &a) in self.vectors.chunks_exact_mut(self.n).zip(&self.values) {
            let root = f(a).abs().sqrt();
            for x in row {
                *x *= root;
            }
        }
        &self.vectors[..self.values.len() * self.n]
    }

    /// L = Σ f(a) v vᵀ over the eigenpairs found, where f(a) has the sign of a. Once only.
    pub(crate) fn sum(&mut self, f: impl Fn(f64) -> f64, l: &mut [f64]) {
        self.factors(f);
        sum_of_squares(&self.vectors, &self.values, self.n, l);
    }

    fn one_by_one(&mut self, count: usize, end: End, tau: f64) -> bool {
        let Tridiagonal { d, e, .. } = &self.tridiagonal;
        if count * FEW > self.n || !isolate(d, e, count, end, &mut self.brackets) {
            return false;
        }
        self.values.clear();
        self.values
            .extend(self.brackets.iter().map(Bracket::middle));
        self.refine(tau, true)
    }

    /// Makes eigenpairs of the guesses in `values`. True if they are that many different ones beyond ±tau, each in
    /// its bracket if they are `bracketed`.
    fn refine(&mut self, tau: f64, bracketed: bool) -> bool {
        let Tridiagonal { d, e, .. } = &self.tridiagonal;
        let norm = largest(d).max(largest(e));
        let rows = self.vectors.chunks_exact_mut(self.n);
        for (i, row) in (0..self.values.len()).zip(rows) {
            let Some(a) = self.twisted.refine(d, e, self.values[i], RESIDUAL * norm) else {
                return false;
            };
            let apart = self.values[..i]
                .iter()
                .all(|other| (other - a).abs() > APART * norm);
            if !apart || a.abs() <= tau || (bracketed && !self.brackets[i].holds(a)) {
                return false;
            }
            self.values[i] = a;
            row.copy_from_slice(&self.twisted.z);
        }
        let vectors = &mut self.vectors[..self.values.len() * self.n];
        for rows in vectors.chunks_mut(4 * self.n) {
            for (lane, row) in rows.chunks_exact(self.n).enumerate() {
                for (four, &x) in self.four.iter_mut().zip(row) {
                    four[lane] = x;
                }
            }
            self.tridiagonal.restore(&mut self.four);
            unpack(&self.four, rows);
        }
        true
    }

    fn diagonalise(&mut self) {
        let t = &mut self.tridiagonal;
        self.rotations.diagonalise(&mut t.d, &mut t.e);
    }

    /// The vectors of the eigenvalues in `places`.
    fn play_back(&mut self) {
        let vectors = &mut self.vectors[..self.places.len() * self.n];
        for (places, rows) in self.places.chunks(4).zip(vectors.chunks_mut(4 * self.n)) {
            self.four.fill([0.0; 4]);
            for (lane, &place) in places.iter().enumerate() {
                self.four[place][lane] = 1.0;
            }
            self.rotations.play_back(&mut self.four);
            self.tridiagonal.restore(&mut self.four);
            unpack(&self.four, rows);
        }
    }
}

/// From vectors side by side, numbered as in the tridiagonal matrix, to one after the other.
fn unpack(four: &[[f64; 4]], rows: &mut [f64]) {
    for (lane, row) in rows.chunks_exact_mut(four.len()).enumerate() {
        for (x, four) in row.iter_mut().zip(four.iter().rev()) {
            *x = four[lane];
        }
    }
}
