//! The network, ready to be called by many threads.

use super::engine::{Engine, kernel};
use super::forward::{MATRICES, Workspace};
use super::network::Network;
use super::stored::Format;
use crate::batch::Batch;
use crate::network;
use crate::options::Options;
use crate::simd::Isa;
use crate::status::{Error, Status};
use crate::team::Team;
use crate::workspaces::Workspaces;
use core::ffi::CStr;

/// Matrices of a batch that a thread takes alone, at least.
const SHARE: usize = 64;
/// Multiply-adds of a call for which helpers are woken: some thirty microseconds.
const WORTH_WAKING: usize = 500_000;

/// One engine serves both precisions: the layers run in `f32`.
pub(crate) struct Shared {
    isa: Isa,
    engine: Engine,
    workspaces: Workspaces<Workspace>,
    format: Format,
}

impl Shared {
    pub(crate) fn new(network: &Network, options: &Options) -> Result<Shared, Error> {
        let (isa, format) = (options.isa()?, format(options)?);
        let engine = Engine::new(network, format)?;
        let threads = options.helpers()? + 1;
        let calls = options.calls(engine.workspace(threads)?.bytes())?;
        Ok(Shared {
            isa,
            workspaces: Workspaces::new(calls, |_| engine.workspace(threads))?,
            engine,
            format,
        })
    }
}

/// The format that was asked for.
fn format(options: &Options) -> Result<Format, Error> {
    match (options.half_weights, options.byte_weights) {
        (false, false) => Ok(Format::Single),
        (true, false) => Ok(Format::Half),
        (false, true) => Ok(Format::Byte),
        (true, true) => Err(Error::new(
            Status::Argument,
            "weights have 16 bits or 8: ask for half_weights (DENISE_FLAG_F16) or for byte_weights \
             (DENISE_FLAG_INT8), not for both",
        )),
    }
}

impl network::Network for Shared {
    fn run_f32(&self, team: &Team<'_>, batch: Batch<'_, f32>) -> Result<(), Status> {
        let workspace = &mut self.workspaces.borrow();
        self.engine.decompose(self.isa, team, workspace, batch)
    }

    fn run_f64(&self, team: &Team<'_>, batch: Batch<'_, f64>) -> Result<(), Status> {
        let workspace = &mut self.workspaces.borrow();
        self.engine.decompose(self.isa, team, workspace, batch)
    }

    fn kernel(&self) -> &'static CStr {
        kernel(self.isa, self.format)
    }

    /// Every share reads all weights, which takes as long for 1 matrix as for 64.
    fn share(&self, count: usize, threads: usize) -> usize {
        count.div_ceil(threads).clamp(SHARE, MATRICES)
    }

    /// Few matrices take as long as reading all weights, of which each thread then reads its part.
    fn together(&self, count: usize, threads: usize) -> bool {
        count < SHARE * threads && self.engine.multiply_adds() * count >= WORTH_WAKING
    }
}
