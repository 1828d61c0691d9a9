//! All that can split a matrix.

use clap::ValueEnum;
use denise::classical::{self, Solver};
use denise::{Model, Outputs};
use std::error::Error;

/// A way to split a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// The network.
    Denise,
    /// L = M: nothing is done.
    Identity,
    /// The k largest eigenvalues that are positive.
    Eigen,
    /// Principal component pursuit.
    Pcp,
    /// Inexact augmented Lagrange multipliers.
    Ialm,
    /// Fast principal component pursuit.
    Fpcp,
    /// Robust PCA by gradient descent.
    RpcaGd,
    /// Principal component pursuit where NaN is an entry that is not known.
    MaskedPcp,
}

impl Method {
    /// Those that tables compare unless told otherwise. Where all is known, masked PCP is PCP.
    pub const COMPARED: [Method; 7] = [
        Method::Denise,
        Method::Identity,
        Method::Eigen,
        Method::Pcp,
        Method::Ialm,
        Method::Fpcp,
        Method::RpcaGd,
    ];

    /// As the paper writes it.
    pub fn label(self) -> &'static str {
        match self {
            Method::Denise => "Denise",
            Method::Identity => "L = M",
            Method::Eigen => "eigen-truncation",
            Method::Pcp => "PCP",
            Method::Ialm => "IALM",
            Method::Fpcp => "FPCP",
            Method::RpcaGd => "RPCA-GD",
            Method::MaskedPcp => "masked PCP",
        }
    }

    /// The library's name for it; none for the network and for L = M.
    pub fn classical(self) -> Option<classical::Method> {
        Some(match self {
            Method::Denise | Method::Identity => return None,
            Method::Eigen => classical::Method::Eigen,
            Method::Pcp => classical::Method::Pcp,
            Method::Ialm => classical::Method::Ialm,
            Method::Fpcp => classical::Method::Fpcp,
            Method::RpcaGd => classical::Method::RpcaGd,
            Method::MaskedPcp => classical::Method::MaskedPcp,
        })
    }
}

/// A method that is ready to run.
pub enum Splitter<'a> {
    /// The network, in `f32` as it is meant to be used.
    Network(&'a Model),
    /// L = M.
    Identity,
    /// A classical method, in `f64`.
    Solver(Box<Solver>),
}

impl<'a> Splitter<'a> {
    /// For matrices of the size that `model` takes. `lambda` is of the classical methods; 0 is the paper's.
    pub fn new(
        method: Method,
        model: &'a Model,
        lambda: f64,
    ) -> Result<Splitter<'a>, denise::Error> {
        Ok(match method.classical() {
            Some(of) => Splitter::Solver(Box::new(Solver::new(of, model.n(), model.k(), lambda)?)),
            None if method == Method::Denise => Splitter::Network(model),
            None => Splitter::Identity,
        })
    }

    /// L and S of all matrices of `m`.
    pub fn split(&mut self, m: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
        let (mut l, mut s) = (vec![0.0; m.len()], vec![0.0; m.len()]);
        match self {
            Splitter::Network(model) => {
                let m: Vec<f32> = m.iter().map(|&x| x as f32).collect();
                let (mut l32, mut s32) = (vec![0.0; m.len()], vec![0.0; m.len()]);
                let out = Outputs {
                    l: Some(&mut l32),
                    s: Some(&mut s32),
                    ..Outputs::default()
                };
                model.decompose(&m, out)?;
                for (wide, narrow) in [(&mut l, l32), (&mut s, s32)] {
                    for (wide, narrow) in wide.iter_mut().zip(narrow) {
                        *wide = f64::from(narrow);
                    }
                }
            }
            Splitter::Identity => l.copy_from_slice(m),
            Splitter::Solver(solver) => solver.solve(m, Outputs::parts(&mut l, &mut s))?,
        }
        Ok((l, s))
    }
}
