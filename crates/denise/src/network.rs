//! What a model asks of a network, whatever its kind.

use crate::batch::Batch;
use crate::simd::{Isa, Real};
use crate::status::{Error, Status};
use crate::unrolled::{Follower, Tick};
use core::ffi::CStr;

/// A network for one n and k, with working memory for as many calls at once as it was made for.
///
/// A model has one behind a pointer, so that a library that never makes a network of some kind has no code of it.
pub(crate) trait Network: Send + Sync {
    /// Splits a batch whose lengths have been checked.
    fn run_f32(&self, batch: Batch<'_, f32>) -> Result<(), Status>;
    /// The same in double precision.
    fn run_f64(&self, batch: Batch<'_, f64>) -> Result<(), Status>;
    /// Its kind, and the instruction set it runs on.
    fn kernel(&self) -> &'static CStr;
    /// How many matrices of a batch a thread should take at a time, if so many threads share it.
    fn share(&self, count: usize, threads: usize) -> usize;
    /// What a stream needs of it. Splits correlation matrices if that is asked for here, or was when it was made.
    fn followers(&self, _correlation: bool) -> Result<Followers, Error> {
        let message =
            "dense networks cannot follow a stream: take the built-in network, or one of its kind";
        Err(Error::new(Status::Unsupported, message))
    }
}

/// A network for a stream, in both precisions.
pub(crate) struct Followers {
    pub(crate) isa: Isa,
    /// Whether NaN in a caller's matrix is an entry that is not known.
    pub(crate) missing: bool,
    pub(crate) single: Follower<f32>,
    pub(crate) double: Follower<f64>,
}

/// What of a stream depends on the precision.
pub(crate) trait Follow: Real {
    fn follow(followers: &mut Followers, tick: Tick<'_, Self>);
}

impl Follow for f32 {
    fn follow(followers: &mut Followers, tick: Tick<'_, f32>) {
        let own = &mut followers.single;
        own.engine
            .follow(followers.isa, &mut own.workspace, &mut own.tables, tick);
    }
}

impl Follow for f64 {
    fn follow(followers: &mut Followers, tick: Tick<'_, f64>) {
        let own = &mut followers.double;
        own.engine
            .follow(followers.isa, &mut own.workspace, &mut own.tables, tick);
    }
}
