//! The network, ready to be called by many threads.

use super::engine::{Engine, kernel};
use super::forward::{MATRICES, Workspace};
use super::network::Network;
use crate::batch::Batch;
use crate::network;
use crate::options::Options;
use crate::simd::Isa;
use crate::status::{Error, Status};
use crate::workspaces::Workspaces;
use core::ffi::CStr;

/// One engine serves both precisions: the layers run in `f32`.
pub(crate) struct Shared {
    isa: Isa,
    engine: Engine,
    workspaces: Workspaces<Workspace>,
    half: bool,
}

impl Shared {
    pub(crate) fn new(network: &Network, options: &Options) -> Result<Shared, Error> {
        let (isa, half) = (options.isa()?, options.half_weights);
        let engine = Engine::new(network, half)?;
        let calls = options.calls(engine.workspace()?.bytes())?;
        Ok(Shared {
            isa,
            workspaces: Workspaces::new(calls, |_| engine.workspace())?,
            engine,
            half,
        })
    }
}

impl network::Network for Shared {
    fn run_f32(&self, batch: Batch<'_, f32>) -> Result<(), Status> {
        let workspace = &mut self.workspaces.borrow();
        self.engine.decompose(self.isa, workspace, batch)
    }

    fn run_f64(&self, batch: Batch<'_, f64>) -> Result<(), Status> {
        let workspace = &mut self.workspaces.borrow();
        self.engine.decompose(self.isa, workspace, batch)
    }

    fn kernel(&self) -> &'static CStr {
        kernel(self.isa, self.half)
    }

    /// Every share reads all weights, which takes as long for 1 matrix as for 64.
    fn share(&self, count: usize, threads: usize) -> usize {
        count.div_ceil(threads).clamp(64, MATRICES)
    }
}
