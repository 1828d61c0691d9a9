//! Classical methods, to check the network against. They run in `f64` on nalgebra, and allocate.

mod eigen;

use crate::batch::Batch;
use crate::model::check_size;
use crate::status::{Error, Status};
use nalgebra::DMatrix;

/// A method, and the sizes it is to work on.
pub(crate) struct Solver {
    n: usize,
    k: usize,
}

impl Solver {
    /// `method` is a number of the C ABI's DENISE_METHOD_ list.
    pub(crate) fn new(method: i32, n: usize, k: usize, lambda: f64) -> Result<Solver, Error> {
        match method {
            1 => {}
            2..=5 => {
                let message = "of the classical methods this version has DENISE_METHOD_EIGEN only";
                return Err(Error::new(Status::Unsupported, message));
            }
            _ => {
                let message = format!("method is {method}; it is one of the DENISE_METHOD_ values");
                return Err(Error::new(Status::Argument, message));
            }
        }
        if !lambda.is_finite() {
            return Err(Error::new(Status::Argument, "lambda is not finite"));
        }
        check_size(n, k)?;
        Ok(Solver { n, k })
    }

    pub(crate) fn run(&self, mut batch: Batch<'_, f64>) -> Result<(), Status> {
        let mut result = Ok(());
        while batch.count > 0 {
            let mut one = batch.take(1);
            let (n, source) = (self.n, one.source());
            let m = DMatrix::from_fn(n, n, |i, j| source[i.max(j) * n + i.min(j)]);
            let l = if m.iter().all(|x| x.is_finite()) {
                eigen::truncate(&m, self.k)
            } else {
                result = Err(Status::NotFinite);
                DMatrix::from_element(n, n, f64::NAN)
            };
            if let Some(out) = &mut one.out.l {
                out.copy_from_slice(l.as_slice());
            }
            if let Some(out) = &mut one.out.s {
                out.copy_from_slice((m - l).as_slice());
            }
        }
        result
    }
}
