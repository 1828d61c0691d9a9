//! What a step of training is made from: matrices of unit scale, and where the network starts on them.

use burn::tensor::{Device, Tensor, TensorData};
use denise::{Model, Options, Outputs};

/// Matrices of one size, ready for the graph.
pub struct Batch {
    /// Which of the task's sizes.
    pub size: usize,
    /// M̂.
    pub m: Tensor<3>,
    /// Û₀.
    pub start: Tensor<3>,
    /// What each matrix was divided by, B×1×1.
    pub scale: Tensor<3>,
    /// L₀ in the same units, where it is known.
    pub l: Option<Tensor<3>>,
}

/// Makes batches; holds the network without layers, which is its start.
pub struct Batches {
    n: usize,
    k: usize,
    start: Model,
    device: Device,
}

impl Batches {
    /// For matrices of one size.
    pub fn new(n: usize, k: usize, device: &Device) -> Result<Batches, denise::Error> {
        let options = Options {
            n,
            k,
            ..Options::default()
        };
        Ok(Batches {
            n,
            k,
            start: Model::unrolled(&[], &options)?,
            device: device.clone(),
        })
    }

    /// From matrices and, if known, their low-rank parts.
    pub fn make(&self, m: &[f64], l: Option<&[f64]>) -> Result<Batch, denise::Error> {
        let (n, k) = (self.n, self.k);
        let count = m.len() / (n * n);
        let mut u = vec![0.0; count * n * k];
        let out = Outputs {
            u: Some(&mut u),
            ..Outputs::default()
        };
        self.start.decompose(m, out)?;
        let scales: Vec<f64> = m.chunks_exact(n * n).map(|m| scale(n, m)).collect();
        let divide = |values: &[f64], each: usize, power: f64| -> Vec<f64> {
            let rows = values.chunks_exact(each).zip(&scales);
            rows.flat_map(|(x, s)| x.iter().map(move |x| x / s.powf(power)))
                .collect()
        };
        let device = &self.device;
        Ok(Batch {
            size: 0,
            m: tensor(&divide(m, n * n, 1.0), [count, n, n], device),
            start: tensor(&divide(&u, n * k, 0.5), [count, n, k], device),
            scale: tensor(&scales, [count, 1, 1], device),
            l: l.map(|l| tensor(&divide(l, n * n, 1.0), [count, n, n], device)),
        })
    }
}

fn tensor(values: &[f64], shape: [usize; 3], device: &Device) -> Tensor<3> {
    let values: Vec<f32> = values.iter().map(|&x| x as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// What the library divides a matrix by.
fn scale(n: usize, m: &[f64]) -> f64 {
    let trace: f64 = (0..n).map(|i| m[i * n + i]).sum();
    let largest = m.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    (trace.max(largest) / n as f64).max(f64::MIN_POSITIVE)
}
