//! What a model asks of a network, whatever its kind.

use crate::batch::Batch;
use crate::simd::{Isa, Real};
use crate::status::{Error, Status};
use crate::team::Team;
use crate::tick::Tick;
use core::ffi::CStr;

/// A network for one n and k, with working memory for as many calls at once as it was made for.
///
/// A model has one behind a pointer, so that a library that never makes a network of some kind has no code of it.
pub(crate) trait Network: Send + Sync {
    /// Splits a batch whose lengths have been checked. The team is the calling thread, and others if the work on
    /// a matrix can be shared.
    fn run_f32(&self, team: &Team<'_>, batch: Batch<'_, f32>) -> Result<(), Status>;
    /// The same in double precision.
    fn run_f64(&self, team: &Team<'_>, batch: Batch<'_, f64>) -> Result<(), Status>;
    /// Its kind, and the instruction set it runs on.
    fn kernel(&self) -> &'static CStr;
    /// How many matrices of a batch a thread should take at a time, if so many threads share it.
    fn share(&self, count: usize, threads: usize) -> usize;
    /// Whether so many threads should work together on all of so many matrices, rather than each on some of them.
    fn together(&self, _count: usize, _threads: usize) -> bool {
        false
    }
    /// What a stream needs of it. Splits correlation matrices if that is asked for here, or was when it was made.
    fn follower(&self, _correlation: bool) -> Result<Box<dyn Follower>, Error> {
        let message =
            "dense networks cannot follow a stream: take the built-in network, or one of its kind";
        Err(Error::new(Status::Unsupported, message))
    }
}

/// A network for a stream, in both precisions, with working memory of its own.
pub(crate) trait Follower: Send + Sync {
    /// The instruction set it runs on.
    fn isa(&self) -> Isa;
    /// Whether NaN in a caller's matrix is an entry that is not known.
    fn missing(&self) -> bool;
    /// How many streams are best kept side by side.
    fn side_by_side(&self) -> usize;
    /// A number that tells networks apart.
    fn fingerprint(&self) -> u64;
    /// A tick.
    fn follow_f32(&mut self, tick: Tick<'_, f32>);
    /// The same in double precision.
    fn follow_f64(&mut self, tick: Tick<'_, f64>);
}

/// What of a stream depends on the precision.
pub(crate) trait Follow: Real {
    fn follow(follower: &mut dyn Follower, tick: Tick<'_, Self>);
}

impl Follow for f32 {
    fn follow(follower: &mut dyn Follower, tick: Tick<'_, f32>) {
        follower.follow_f32(tick);
    }
}

impl Follow for f64 {
    fn follow(follower: &mut dyn Follower, tick: Tick<'_, f64>) {
        follower.follow_f64(tick);
    }
}
