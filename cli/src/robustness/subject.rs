//! Who is measured.

use crate::evaluate::Method;
use denise::classical::{self, Solver};
use denise::{Model, Options, Outputs};
use rayon::prelude::*;
use std::error::Error;

/// Opens the network for what the options say.
pub type Open<'a> = &'a dyn Fn(&Options) -> Result<Model, Box<dyn Error>>;

/// A way to split matrices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject {
    /// The network with these options.
    Network {
        /// `DENISE_FLAG_CAREFUL`.
        careful: bool,
        /// `DENISE_FLAG_CORRELATION`.
        correlation: bool,
    },
    /// The k largest eigenvalues that are positive.
    Eigen,
    /// Principal component pursuit with λ = 1/√n.
    Pcp,
    /// The same for entries that are not known, with λ so many times 1/√n.
    MaskedPcp(f64),
}

/// As it comes.
pub const PLAIN: Subject = Subject::Network {
    careful: false,
    correlation: false,
};
/// With the best of several starts.
pub(super) const CAREFUL: Subject = Subject::Network {
    careful: true,
    correlation: false,
};

impl Subject {
    pub fn label(self) -> String {
        match self {
            Subject::Network {
                careful,
                correlation,
            } => {
                let mut label = Method::Denise.label().to_owned();
                for (with, name) in [(careful, ", careful"), (correlation, ", correlation")] {
                    label += if with { name } else { "" };
                }
                label
            }
            Subject::Eigen => Method::Eigen.label().to_owned(),
            Subject::Pcp => format!("{}, λ = 1/√n", Method::Pcp.label()),
            Subject::MaskedPcp(1.0) => "masked PCP, λ = 1/√n".to_owned(),
            Subject::MaskedPcp(factor) => format!("masked PCP, λ = {factor}/√n"),
        }
    }

    /// Ready for matrices of size n and L of rank k.
    pub fn ready(self, open: Open<'_>, n: usize, k: usize) -> Result<Splitter, Box<dyn Error>> {
        let by = match self {
            Subject::Network {
                careful,
                correlation,
            } => By::Network(open(&Options {
                careful,
                correlation,
                // Where all is known it changes no bit.
                missing: true,
                ..Options::size(n, k)
            })?),
            Subject::Eigen => By::Classical(classical::Method::Eigen, 0.0),
            Subject::Pcp => By::Classical(classical::Method::Pcp, 1.0 / (n as f64).sqrt()),
            Subject::MaskedPcp(factor) => {
                By::Classical(classical::Method::MaskedPcp, factor / (n as f64).sqrt())
            }
        };
        Ok(Splitter { n, k, by })
    }
}

/// A subject that is ready to run.
pub struct Splitter {
    pub(super) n: usize,
    k: usize,
    by: By,
}

enum By {
    Network(Model),
    /// With its λ.
    Classical(classical::Method, f64),
}

/// Matrices that a core takes at a time.
const SHARE: usize = 16;

impl Splitter {
    /// L of all matrices of `m`, in `f64`, on all cores.
    pub fn low_rank(&self, m: &[f64]) -> Result<Vec<f64>, denise::Error> {
        let mut all = vec![0.0; m.len()];
        let share = SHARE * self.n * self.n;
        all.par_chunks_mut(share)
            .zip(m.par_chunks(share))
            .try_for_each(|(l, m)| {
                let out = Outputs {
                    l: Some(l),
                    ..Outputs::default()
                };
                match &self.by {
                    By::Network(model) => model.decompose(m, out),
                    By::Classical(method, lambda) => {
                        Solver::new(*method, self.n, self.k, *lambda)?.solve(m, out)
                    }
                }
            })?;
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_has_a_name_and_splits() {
        let m = [4.0, 1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0, 5.0].repeat(40);
        let open = |options: &Options| Ok(Model::builtin(options)?);
        let both = Subject::Network {
            careful: true,
            correlation: true,
        };
        let masked = Subject::MaskedPcp(1.0);
        let subjects = [PLAIN, CAREFUL, both, Subject::Eigen, Subject::Pcp, masked];
        let labels = subjects.map(Subject::label);
        assert_eq!(
            labels.join("; "),
            "Denise; Denise, careful; Denise, careful, correlation; eigen-truncation; PCP, λ = 1/√n; \
             masked PCP, λ = 1/√n"
        );
        for subject in subjects {
            let l = subject.ready(&open, 3, 1).unwrap().low_rank(&m).unwrap();
            assert_eq!(l.len(), m.len());
            assert!(
                l.chunks(9).all(|one| one == &l[..9] && one[0] > 0.0),
                "{subject:?}"
            );
        }
    }
}
