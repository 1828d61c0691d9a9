//! The network in both precisions, ready to be called by many threads.

use super::buffers::Workspace;
use super::engine::{Engine, kernel};
use super::layers::Stages;
use crate::batch::Batch;
use crate::memory::{boxed, filled};
use crate::network;
use crate::options::Options;
use crate::simd::{Isa, Real};
use crate::status::{Error, Status};
use crate::team::Team;
use crate::tick::Tick;
use crate::workspaces::Workspaces;
use core::ffi::CStr;

pub(crate) struct Network {
    isa: Isa,
    single: Engine<f32>,
    double: Engine<f64>,
    /// Each is large enough for a call in either precision.
    workspaces: Workspaces<Workspace>,
}

impl Network {
    /// For sizes and layers that have been checked.
    pub(crate) fn new(
        n: usize,
        k: usize,
        stages: Stages<'_>,
        options: &Options,
    ) -> Result<Network, Error> {
        let isa = options.isa()?;
        let mut single = Engine::new(n, k, stages)?;
        let mut double = Engine::new(n, k, stages)?;
        (single.correlation, double.correlation) = (options.correlation, options.correlation);
        (single.careful, double.careful) = (options.careful, options.careful);
        (single.missing, double.missing) = (options.missing, options.missing);
        let bytes = bytes_of_call(&single, &double, isa);
        let (calls, ready) = (options.calls(bytes)?, options.ready(bytes)?);
        let workspaces = Workspaces::new(calls, |at| Workspace::new(bytes, at < ready))?;
        single.warm_up(isa, stages, &mut workspaces.borrow())?;
        double.warm_up(isa, stages, &mut workspaces.borrow())?;
        Ok(Network {
            isa,
            single,
            double,
            workspaces,
        })
    }
}

/// The network in both precisions, with working memory of its own, for a stream.
struct Follower {
    isa: Isa,
    missing: bool,
    single: Following<f32>,
    double: Following<f64>,
}

struct Following<F> {
    engine: Engine<F>,
    workspace: Workspace,
    tables: Vec<F>,
}

impl<F: Real> Following<F> {
    fn new(engine: &Engine<F>, isa: Isa, correlation: bool) -> Result<Following<F>, Error> {
        let engine = engine.for_streams(correlation)?;
        Ok(Following {
            workspace: engine.workspace(isa)?,
            tables: filled(engine.tables_len(), F::ZERO)?,
            engine,
        })
    }

    fn follow(&mut self, isa: Isa, tick: Tick<'_, F>) {
        self.engine
            .follow(isa, &mut self.workspace, &mut self.tables, tick);
    }
}

impl network::Follower for Follower {
    fn isa(&self) -> Isa {
        self.isa
    }

    fn missing(&self) -> bool {
        self.missing
    }

    fn side_by_side(&self) -> usize {
        self.single.engine.side_by_side(self.isa)
    }

    fn fingerprint(&self) -> u64 {
        self.double.engine.fingerprint()
    }

    fn follow_f32(&mut self, tick: Tick<'_, f32>) {
        self.single.follow(self.isa, tick);
    }

    fn follow_f64(&mut self, tick: Tick<'_, f64>) {
        self.double.follow(self.isa, tick);
    }
}

impl network::Network for Network {
    fn follower(&self, correlation: bool) -> Result<Box<dyn network::Follower>, Error> {
        let (single, double) = (&self.single, &self.double);
        if !single.follows() {
            let message = "the model has no layers for streams (denise.follow): write its file again with this version \
                           of the program denise";
            return Err(Error::new(Status::Unsupported, message));
        }
        if single.careful {
            let message =
                "a stream follows one path: load its model without careful (DENISE_FLAG_CAREFUL)";
            return Err(Error::new(Status::Unsupported, message));
        }
        let follower = Follower {
            isa: self.isa,
            missing: single.missing,
            single: Following::new(single, self.isa, correlation)?,
            double: Following::new(double, self.isa, correlation)?,
        };
        Ok(boxed(follower)?)
    }

    fn run_f32(&self, team: &Team<'_>, batch: Batch<'_, f32>) -> Result<(), Status> {
        self.single
            .decompose(self.isa, team, &mut self.workspaces.borrow(), batch)
    }

    fn run_f64(&self, team: &Team<'_>, batch: Batch<'_, f64>) -> Result<(), Status> {
        self.double
            .decompose(self.isa, team, &mut self.workspaces.borrow(), batch)
    }

    fn kernel(&self) -> &'static CStr {
        kernel(self.isa)
    }

    /// Long enough to hide the hand-over, short enough that no thread waits long for the last one. A multiple of every
    /// vector width, as long as matrices share vectors.
    fn share(&self, _: usize, _: usize) -> usize {
        if self.large() { 1 } else { 64 }
    }

    /// A few large matrices, one after the other; two for each thread keep them busy without that.
    fn together(&self, count: usize, threads: usize) -> bool {
        self.large() && count < 2 * threads && self.single.n() >= DIVISIBLE
    }
}

/// From this n on, sharing a matrix takes less time than it saves.
const DIVISIBLE: usize = 200;

impl Network {
    /// Whether every matrix has its vectors to itself.
    fn large(&self) -> bool {
        self.single.side_by_side(self.isa) == 1
    }
}

/// Memory that is reserved for one call, which may be in either precision.
fn bytes_of_call(single: &Engine<f32>, double: &Engine<f64>, isa: Isa) -> usize {
    single.workspace_bytes(isa).max(double.workspace_bytes(isa))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::{MAX_K, MAX_N};

    #[test]
    fn default_concurrency_is_bounded_by_memory() {
        let bytes = |n, k| {
            let (single, double) = (
                Engine::new(n, k, Stages::default()),
                Engine::new(n, k, Stages::default()),
            );
            bytes_of_call(&single.unwrap(), &double.unwrap(), Isa::best())
        };
        let calls = Options::default().calls(bytes(MAX_N, MAX_K)).unwrap();
        let most = 64 << 20;
        assert!(calls == 1 || calls * bytes(MAX_N, MAX_K) <= most, "{calls}");
        // What most users have: every CPU of a large machine can be inside of a call.
        assert!(128 * bytes(20, 3) <= most);
    }
}
