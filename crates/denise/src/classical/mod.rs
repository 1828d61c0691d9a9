//! Classical methods, to check the network against, in `f64`. `docs/CLASSICAL.md` says which, with what
//! parameters, and how near they are to the LRS library.
//!
//! - One file per method: `truncate` (of the eigenvalues), `pcp` (also masked), `ialm`, `fpcp`, `rpca_gd`. `alternate`
//!   is what PCP and IALM share.
//! - The eigensolver is in `eigen`.
//! - [`Solver`] holds all memory: iterations do not allocate.

mod alternate;
mod fpcp;
mod ialm;
mod pcp;
mod rpca_gd;
mod truncate;

use crate::batch::{Batch, Outputs};
use crate::eigen::{Memory, Spectrum};
use crate::size::check_size;
use crate::status::{Error, Status};
use alternate::Iterate;
use rpca_gd::Factors;

/// A classical method. The numbers are those of the C ABI's DENISE_METHOD_ list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Method {
    /// The k largest eigenvalues that are positive.
    Eigen = 1,
    /// Principal component pursuit by alternating directions.
    Pcp = 2,
    /// Inexact augmented Lagrange multipliers.
    Ialm = 3,
    /// Fast principal component pursuit.
    Fpcp = 4,
    /// Robust PCA by gradient descent.
    RpcaGd = 5,
    /// PCP of the entries that are known; NaN is an entry that is not.
    MaskedPcp = 6,
}

impl Method {
    /// All methods, in order.
    pub const ALL: [Method; 6] = [
        Method::Eigen,
        Method::Pcp,
        Method::Ialm,
        Method::Fpcp,
        Method::RpcaGd,
        Method::MaskedPcp,
    ];

    /// From the number in the C ABI.
    pub fn from_code(code: i32) -> Option<Method> {
        Method::ALL
            .into_iter()
            .find(|&method| method as i32 == code)
    }

    /// As the paper writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Eigen => "Eigen",
            Method::Pcp => "PCP",
            Method::Ialm => "IALM",
            Method::Fpcp => "FPCP",
            Method::RpcaGd => "RPCA-GD",
            Method::MaskedPcp => "masked PCP",
        }
    }

    /// Whether it takes the rank k; the rank that the others find follows from λ.
    pub const fn takes_rank(self) -> bool {
        !matches!(self, Method::Pcp | Method::Ialm | Method::MaskedPcp)
    }

    /// Whether NaN is an entry that is not known, and no error.
    pub const fn takes_missing(self) -> bool {
        matches!(self, Method::MaskedPcp)
    }

    /// The Denise paper's λ. For [`Method::RpcaGd`] it is the largest share of outliers in a row; [`Method::Eigen`] has
    /// no use for it.
    pub fn default_lambda(self, n: usize) -> f64 {
        match self {
            // The paper's value for synthetic matrices; for its stocks it takes 0.64.
            Method::Pcp | Method::Ialm | Method::MaskedPcp => 0.56 / (n as f64).sqrt(),
            Method::Eigen | Method::Fpcp => 1.0 / (n as f64).sqrt(),
            Method::RpcaGd => 0.1,
        }
    }
}

/// A method with all the memory that it needs for matrices of one size.
pub struct Solver {
    method: Method,
    n: usize,
    k: usize,
    lambda: f64,
    spectrum: Spectrum,
    factors: Option<Factors>,
    /// Entries of M that are not known, in both triangles; only for a method that takes them.
    holes: Vec<usize>,
    /// M as it came but 0 in the holes, M in units of `scale`, L and S.
    given: Vec<f64>,
    m: Vec<f64>,
    l: Vec<f64>,
    s: Vec<f64>,
    scratch: [Vec<f64>; 2],
}

impl Solver {
    /// For matrices of size n and the rank k, which methods without [`Method::takes_rank`] do not look at.
    /// `lambda` <= 0: [`Method::default_lambda`].
    pub fn new(method: Method, n: usize, k: usize, lambda: f64) -> Result<Solver, Error> {
        let k = if method.takes_rank() { k } else { 1 };
        check_size(n, k)?;
        if !lambda.is_finite() {
            return Err(Error::new(Status::Argument, "lambda is not finite"));
        }
        let lambda = if lambda > 0.0 {
            lambda
        } else {
            method.default_lambda(n)
        };
        if method == Method::RpcaGd && lambda >= 1.0 {
            // Without its value: printing numbers like it takes 20 KB of code.
            let message =
                "lambda is the share of outliers in a row for RPCA-GD, and must be less than 1";
            return Err(Error::new(Status::Argument, message));
        }
        let mut memory = Memory::new();
        let size = n * n;
        let solver = Solver {
            method,
            n,
            k,
            lambda,
            spectrum: Spectrum::new(n, &mut memory),
            factors: (method == Method::RpcaGd).then(|| Factors::new(n, k, lambda, &mut memory)),
            holes: memory.room(if method.takes_missing() { size } else { 0 }),
            given: memory.zeros(size),
            m: memory.zeros(size),
            l: memory.zeros(size),
            s: memory.zeros(size),
            scratch: [memory.zeros(size), memory.zeros(size)],
        };
        memory.check(solver)
    }

    /// Size of the matrices.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The rank asked for; 1 where it has no meaning.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Splits every matrix of `m` (n×n each, row-major, lower triangle read) into L and S. U and reports are not
    /// among the outputs of these methods.
    ///
    /// An error about lengths leaves the outputs as they were; [`Status::NotFinite`] means that some matrix had a
    /// NaN or an infinity, and that its outputs are NaN while all others are valid. If the method
    /// [takes missing entries](Method::takes_missing), NaN is no error: L is complete, and S is NaN where M is. Does
    /// not allocate.
    pub fn solve(&mut self, m: &[f64], out: Outputs<'_, f64>) -> Result<(), Error> {
        self.run(Batch::new(self.n, self.k, m, out)?)
    }

    /// The same, but S takes the place of M; `out.s` must be `None`.
    pub fn solve_in_place(&mut self, m: &mut [f64], out: Outputs<'_, f64>) -> Result<(), Error> {
        self.run(Batch::in_place(self.n, self.k, m, out)?)
    }

    /// Runs a batch whose lengths have been checked.
    fn run(&mut self, mut batch: Batch<'_, f64>) -> Result<(), Error> {
        if batch.out.u.is_some() || batch.out.reports.is_some() {
            let message = "classical methods give neither U nor reports";
            return Err(Error::new(Status::Unsupported, message));
        }
        let mut result = Ok(());
        while batch.count > 0 {
            let mut one = batch.take(1);
            result = result.and(self.split(one.source()));
            if let Some(out) = &mut one.out.l {
                out.copy_from_slice(&self.l);
            }
            if let Some(out) = &mut one.out.s {
                out.copy_from_slice(&self.s);
            }
        }
        result.map_err(Error::from)
    }

    /// L and S of one matrix, in `self`.
    fn split(&mut self, source: &[f64]) -> Result<(), Status> {
        let Some(most) = self.read(source) else {
            self.l.fill(f64::NAN);
            self.s.fill(f64::NAN);
            return Err(Status::NotFinite);
        };
        if most == 0.0 {
            self.l.fill(0.0);
            self.s.fill(0.0);
        } else {
            self.compute(most);
        }
        for &at in &self.holes {
            self.s[at] = f64::NAN;
        }
        Ok(())
    }

    /// Both triangles and the holes of one matrix; returns the largest magnitude, if all is finite that is known.
    fn read(&mut self, source: &[f64]) -> Option<f64> {
        let n = self.n;
        let mut most = 0.0_f64;
        self.holes.clear();
        for i in 0..n {
            for j in 0..=i {
                let mut x = source[i * n + j];
                if x.is_nan() && self.method.takes_missing() {
                    x = 0.0;
                    self.holes.push(i * n + j);
                    if i != j {
                        self.holes.push(j * n + i);
                    }
                }
                self.given[i * n + j] = x;
                self.given[j * n + i] = x;
                most = if x.abs() <= most { most } else { x.abs() };
                if !most.is_finite() {
                    return None;
                }
            }
        }
        Some(most)
    }

    /// L and S of the matrix in `given`, whose largest magnitude is `most`.
    fn compute(&mut self, most: f64) {
        // To unit scale, where squares neither overflow nor vanish. A power of two: nothing is rounded.
        let scale = power_of_two_below(most);
        for (m, given) in self.m.iter_mut().zip(&self.given) {
            *m = given / scale;
        }
        self.spectrum.forget();
        self.iterate(most, scale);
        let own_s = matches!(self.method, Method::Pcp | Method::Ialm | Method::MaskedPcp);
        for ((l, s), given) in self.l.iter_mut().zip(&mut self.s).zip(&self.given) {
            *l = finite(*l * scale);
            *s = finite(if own_s { *s * scale } else { given - *l });
        }
    }

    /// L of the matrix in `m`, and S for the methods that have one of their own.
    fn iterate(&mut self, most: f64, scale: f64) {
        let (lambda, k) = (self.lambda, self.k);
        let spectrum = &mut self.spectrum;
        let (m, l, [x, y]) = (&self.m[..], &mut self.l[..], &mut self.scratch);
        let iterate = Iterate {
            m,
            holes: &self.holes,
            l,
            s: &mut self.s,
            x,
            y,
        };
        match self.method {
            Method::Eigen => truncate::solve(m, k, spectrum, iterate.l),
            Method::Pcp | Method::MaskedPcp => {
                // In the units of M, and not more than its largest entry: else small matrices would
                // count as converged from the start.
                let one = most.min(1.0) / scale;
                pcp::solve(iterate, lambda, one, spectrum);
            }
            Method::Ialm => ialm::solve(iterate, lambda, spectrum),
            Method::Fpcp => fpcp::solve(m, k, lambda / scale, spectrum, iterate.y, iterate.l),
            Method::RpcaGd => {
                if let Some(factors) = &mut self.factors {
                    factors.solve(m, k, spectrum, iterate.y, iterate.l);
                }
            }
        }
    }
}

/// The largest power of two that is not larger than `x`, which is positive.
fn power_of_two_below(x: f64) -> f64 {
    let bits = x.to_bits();
    // Below the normal numbers the highest bit of the fraction plays the part of the exponent.
    f64::from_bits(match x >= f64::MIN_POSITIVE {
        true => bits & f64::INFINITY.to_bits(),
        false => 1 << bits.ilog2(),
    })
}

/// The largest finite number in place of infinity.
fn finite(x: f64) -> f64 {
    if x.abs() > f64::MAX {
        f64::MAX.copysign(x)
    } else {
        x
    }
}
