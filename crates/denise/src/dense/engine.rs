//! Walks through a batch: reads M, runs the layers, and writes what was asked for.
//!
//! The layers run in `f32`. A batch of `f64` is rounded for them; L, S and the reports are then computed in
//! `f64`, so that L + S is M to one rounding there too.

use super::forward::{MATRICES, Workspace, forward};
use super::network::Network;
use super::packed::{BLOCK, Packed, Weights};
use super::stored::Format;
use crate::batch::{Batch, Totals};
use crate::simd::{Isa, Real};
use crate::status::{Error, Status};
use crate::team::Team;
use core::ffi::CStr;

/// The network, packed. Its working memory and its kernels serve both precisions.
pub(crate) struct Engine {
    n: usize,
    k: usize,
    layers: Vec<Packed>,
    weights: Weights,
    /// U is cut at ±this, so that no product of its rows overflows.
    limit: f32,
}

impl Engine {
    pub(crate) fn new(network: &Network, format: Format) -> Result<Engine, Error> {
        network.check()?;
        let (weights, layers) = Weights::pack(&network.layers, format)?;
        Ok(Engine {
            n: network.n,
            k: network.k,
            layers,
            weights,
            limit: (0.99 * f32::MAX / network.k as f32).sqrt(),
        })
    }

    /// For one matrix.
    pub(crate) fn multiply_adds(&self) -> usize {
        let each = self.layers.iter().map(|layer| layer.inputs * layer.outputs);
        each.sum()
    }

    /// Working memory for a call that so many threads may share.
    pub(crate) fn workspace(&self, threads: usize) -> Result<Workspace, Error> {
        Workspace::new(&self.layers, self.n * self.k, threads)
    }

    /// Decomposes every matrix of the batch; `Err` if some were not finite.
    pub(crate) fn decompose<F: Real>(
        &self,
        isa: Isa,
        team: &Team<'_>,
        workspace: &mut Workspace,
        mut batch: Batch<'_, F>,
    ) -> Result<(), Status> {
        let mut result = Ok(());
        while batch.count > 0 {
            let mut group = batch.take(MATRICES.min(batch.count));
            self.read(group.source(), group.count, workspace);
            let Engine {
                layers,
                weights,
                limit,
                ..
            } = self;
            forward(isa, team, layers, weights, *limit, workspace, group.count);
            for i in 0..group.count {
                if workspace.finite[i] {
                    self.collect(workspace, group.count, i);
                    self.write(&workspace.u, &mut group, i);
                } else {
                    group.mark_not_finite(i, group.first_bad(i, false));
                    result = Err(Status::NotFinite);
                }
            }
        }
        result
    }

    /// The lower triangles become the inputs of the first layer. A matrix that is not finite becomes zero.
    #[inline(never)]
    fn read<F: Real>(&self, m: &[F], count: usize, workspace: &mut Workspace) {
        let n = self.n;
        let limit = self.layers[0].limit;
        for (i, m) in m.chunks_exact(n * n).enumerate() {
            let lower = || {
                m.chunks_exact(n)
                    .zip(1..)
                    .flat_map(|(row, len)| &row[..len])
            };
            let finite = lower().all(|x| x.finite());
            workspace.finite[i] = finite;
            for (p, &x) in lower().enumerate() {
                let x = if finite {
                    x.to_f32().min(limit).max(-limit)
                } else {
                    0.0
                };
                workspace.values[0][p / BLOCK * count + i].0[p % BLOCK] = x;
            }
        }
    }

    /// Copies U of matrix `i` out of the blocks.
    fn collect(&self, workspace: &mut Workspace, count: usize, i: usize) {
        let values = &workspace.values[self.layers.len() % 2];
        for (b, u) in workspace.u.chunks_mut(BLOCK).enumerate() {
            u.copy_from_slice(&values[b * count + i].0[..u.len()]);
        }
    }

    #[inline(never)]
    fn write<F: Real>(&self, u: &[f32], group: &mut Batch<'_, F>, i: usize) {
        let (n, k) = (self.n, self.k);
        if let Some(all) = &mut group.out.u {
            for (out, &u) in all[i * n * k..][..n * k].iter_mut().zip(u) {
                *out = F::from(u);
            }
        }
        if group.out.l.is_none() && group.out.s.is_none() && group.out.reports.is_none() {
            return;
        }
        let size = n * n;
        let mut totals = Totals::default();
        if group.out.reports.is_some() {
            totals = Totals::start(n, &group.source()[i * size..][..size]);
        }
        for (row, own) in u.chunks_exact(k).enumerate() {
            for (column, other) in u.chunks_exact(k).enumerate().take(row + 1) {
                let mut l = F::ZERO;
                for (&a, &b) in own.iter().zip(other) {
                    l += F::from(a) * F::from(b);
                }
                let (lower, upper) = (i * size + row * n + column, i * size + column * n + row);
                // Before S takes the place of M.
                let m = group.source()[lower];
                let s = clamp(m - l);
                if let Some(out) = &mut group.out.l {
                    (out[lower], out[upper]) = (l, l);
                }
                if let Some(out) = &mut group.out.s {
                    (out[lower], out[upper]) = (s, s);
                }
                totals.add(m.into(), s.into(), if row == column { 1.0 } else { 2.0 });
                if row == column {
                    totals.add_diagonal(m.into(), s.into());
                }
            }
        }
        if let Some(reports) = &mut group.out.reports {
            reports[i] = totals.report();
        }
    }
}

/// What the kernels for an instruction set are called, with weights in a format.
pub(crate) fn kernel(isa: Isa, format: Format) -> &'static CStr {
    let [single, half, byte] = match isa {
        Isa::Portable(_) if cfg!(target_arch = "x86_64") => {
            [c"dense sse2", c"dense sse2 f16", c"dense sse2 int8"]
        }
        Isa::Portable(_) if cfg!(target_arch = "aarch64") => {
            [c"dense neon", c"dense neon f16", c"dense neon int8"]
        }
        Isa::Portable(_) => [
            c"dense portable",
            c"dense portable f16",
            c"dense portable int8",
        ],
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(_) => [c"dense avx2", c"dense avx2 f16", c"dense avx2 int8"],
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        Isa::Avx512(_) => [c"dense avx512", c"dense avx512 f16", c"dense avx512 int8"],
    };
    match format {
        Format::Single => single,
        Format::Half => half,
        Format::Byte => byte,
    }
}

/// No larger than the largest finite value.
fn clamp<F: Real>(x: F) -> F {
    let least = F::ZERO - F::MAX;
    if x > F::MAX {
        F::MAX
    } else if x < least {
        least
    } else {
        x
    }
}

#[cfg(test)]
mod tests;
