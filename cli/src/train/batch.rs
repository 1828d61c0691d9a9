//! What a step of training is made from: matrices of unit scale, and where the network starts on them.

use burn::tensor::{Device, Tensor, TensorData};
use denise::unrolled::reference::{balanced, clipped, known, row_sizes, scale, start, there};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// Matrices of one size, ready for the graph.
pub struct Batch {
    /// Which of the task's sizes.
    pub size: usize,
    /// M̂.
    pub m: Tensor<3>,
    /// M̂ with rows of about the same size.
    pub balanced: Tensor<3>,
    /// What the rows of M̂ were divided by for that, B×1×n.
    pub sizes: Tensor<3>,
    /// Û₀ of the balanced M̂, B×k×n.
    pub start: Tensor<3>,
    /// What each matrix was divided by, B×1×1.
    pub scale: Tensor<3>,
    /// L₀ in the same units, where it is known.
    pub l: Option<Tensor<3>>,
    /// 1 where M̂ is known, 0 where it is not; nothing if all of it is.
    pub known: Option<Tensor<3>>,
}

impl Batch {
    /// Some of its matrices.
    pub fn part(&self, begin: usize, count: usize) -> Batch {
        let some = |x: &Tensor<3>| x.clone().narrow(0, begin, count);
        Batch {
            size: self.size,
            m: some(&self.m),
            balanced: some(&self.balanced),
            sizes: some(&self.sizes),
            start: some(&self.start),
            scale: some(&self.scale),
            l: self.l.as_ref().map(some),
            known: self.known.as_ref().map(some),
        }
    }
}

/// Makes batches of one size.
pub struct Batches {
    n: usize,
    k: usize,
    device: Device,
}

/// What is known of a matrix before any weight is.
struct Prepared {
    m: DMatrix<f64>,
    known: DMatrix<f64>,
    scale: f64,
    balanced: DMatrix<f64>,
    sizes: DVector<f64>,
    start: DMatrix<f64>,
}

impl Batches {
    /// For matrices of one size.
    pub fn new(n: usize, k: usize, device: &Device) -> Batches {
        let device = device.clone();
        Batches { n, k, device }
    }

    /// From matrices, with NaN where they are not known, and, if known, their low-rank parts.
    pub fn make(&self, m: &[f64], l: Option<&[f64]>) -> Batch {
        let (n, k) = (self.n, self.k);
        let all: Vec<Prepared> = m
            .par_chunks_exact(n * n)
            .map(|m| Prepared::new(n, k, m))
            .collect();
        let count = all.len();
        let each = |of: fn(&Prepared) -> &DMatrix<f64>| all.iter().flat_map(of);
        let l = l.map(|l| {
            let rows = l.chunks_exact(n * n).zip(&all);
            rows.flat_map(|(l, x)| l.iter().map(|l| l / x.scale))
        });
        // nalgebra goes column by column: that is k×n in rows.
        Batch {
            size: 0,
            m: self.tensor(each(|x| &x.m), [count, n, n]),
            balanced: self.tensor(each(|x| &x.balanced), [count, n, n]),
            sizes: self.tensor(all.iter().flat_map(|x| x.sizes.iter()), [count, 1, n]),
            start: self.tensor(each(|x| &x.start), [count, k, n]),
            scale: self.tensor(all.iter().map(|x| &x.scale), [count, 1, 1]),
            l: l.map(|l| self.tensor(l, [count, n, n])),
            known: all
                .iter()
                .any(|x| x.known.sum() < (n * n) as f64)
                .then(|| self.tensor(each(|x| &x.known), [count, n, n])),
        }
    }

    fn tensor(
        &self,
        values: impl Iterator<Item: std::borrow::Borrow<f64>>,
        shape: [usize; 3],
    ) -> Tensor<3> {
        use std::borrow::Borrow as _;
        let values: Vec<f32> = values.map(|x| *x.borrow() as f32).collect();
        Tensor::from_data(TensorData::new(values, shape), &self.device)
    }
}

impl Prepared {
    fn new(n: usize, k: usize, m: &[f64]) -> Prepared {
        // The lower triangle, as the library reads it.
        let m = DMatrix::from_fn(n, n, |i, j| m[i.max(j) * n + i.min(j)]);
        let scale = scale(&m).max(f64::MIN_POSITIVE);
        let known = known(&m);
        let m = m.zip_map(&known, |m, known| if known > 0.0 { m / scale } else { 0.0 });
        let sizes = row_sizes(&m, &known, k);
        let balanced = balanced(&m, &sizes);
        Prepared {
            scale,
            start: start(&clipped(&balanced, k, 1.0), k, &there(&known)),
            balanced,
            sizes,
            m,
            known,
        }
    }
}
