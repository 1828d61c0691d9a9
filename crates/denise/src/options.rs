//! What a network is loaded for.

use crate::simd::Isa;
use crate::status::{Error, Status};
use crate::thread;

/// Working memory is reserved for every call that may run at once; this many is more than any machine needs.
const MAX_CONCURRENCY: usize = 4096;
/// Threads of one model.
const MAX_THREADS: usize = 256;
/// Bytes that are reserved for calls at once if the user does not say how many there may be. On a machine with many
/// CPUs it would be gigabytes for large n and k.
const MOST_BY_DEFAULT: usize = 64 << 20;
/// Bytes that are touched if the user does not say how many calls there may be at once: a page takes a microsecond or
/// two, and loading should not take long for calls that are perhaps never made.
const TOUCHED_BY_DEFAULT: usize = 256 << 10;

/// Which instruction set to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstructionSet {
    /// The fastest that the machine has.
    #[default]
    Best,
    /// What every machine of the architecture has: SSE2, or NEON.
    Portable,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512, as much of it as Ice Lake and Zen 4 have. Only in a library with the feature `avx512`.
    Avx512,
}

/// What a network is loaded for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Size of the matrices; 0 for the network's own, which is 20 for the built-in one. A dense network has
    /// no other.
    pub n: usize,
    /// Largest rank of L; 0 for the network's own, which is 3 for the built-in one. A dense network has
    /// no other.
    pub k: usize,
    /// Calls that may run at once without waiting for each other; each reserves its working memory. 0 for the number of
    /// CPUs, or as many calls as have their memory in 64 MB, whichever is less; the memory of the first is then touched
    /// while loading, that of the others when they are first needed.
    pub max_concurrency: usize,
    /// Threads that one call may use for a large batch, for a matrix with n of 200 or more, or for any batch of a dense
    /// network, the calling one included. 0 or 1: the calling thread only.
    /// The others are started when the model is made, and joined when it is dropped.
    /// Calls with few matrices go without them where that is found to be faster, as it is where cores are far apart.
    pub threads: usize,
    /// The instruction set to use.
    pub instruction_set: InstructionSet,
    /// Split the correlation matrix D^(−1/2) M D^(−1/2), D = diag M, and scale back: L does not depend on the unit of
    /// any asset. An asset whose variance is not positive gets zeros. Not for dense networks.
    pub correlation: bool,
    /// Several starts, each of which runs through all layers; the result that leaves the least unexplained is kept.
    /// About three times the time, and smaller errors where outliers are large or many. A choice between candidates, so
    /// L is not continuous in M. Not for dense networks.
    pub careful: bool,
    /// NaN in the lower triangle of M means that an entry is not known: L is complete all the same, and S is NaN there.
    /// An asset of which nothing is known off the diagonal gets zeros. Infinities stay errors. Not for dense networks.
    pub missing: bool,
    /// Keep the weights of a dense network as 16-bit floating-point numbers: half the memory and, for
    /// calls of one matrix, less than half of the time, at eleven significant bits a weight.
    pub half_weights: bool,
    /// Keep the weights of a dense network as 8-bit whole numbers, with a scale for each output: a quarter of the memory
    /// and, for calls of one matrix, less than a quarter of the time, at errors of up to 1/254 of the largest weight of
    /// an output. Not together with [`Options::half_weights`].
    pub byte_weights: bool,
}

impl Options {
    /// For n×n matrices and L of rank at most k; all else as by default.
    pub fn size(n: usize, k: usize) -> Options {
        Options {
            n,
            k,
            ..Options::default()
        }
    }

    /// The instruction set, if the machine has it.
    pub(crate) fn isa(&self) -> Result<Isa, Error> {
        let wanted = self.instruction_set;
        match wanted {
            InstructionSet::Best => Some(Isa::best()),
            InstructionSet::Portable => Some(Isa::portable()),
            InstructionSet::Avx2 => Isa::avx2(),
            InstructionSet::Avx512 => Isa::avx512(),
        }
        .ok_or_else(|| {
            let lacks = if wanted == InstructionSet::Avx512 && !cfg!(feature = "avx512") {
                "library was built without kernels for"
            } else {
                "machine does not have"
            };
            Error::format(Status::Unsupported, format_args!("this {lacks} {wanted:?}"))
        })
    }

    /// Threads that help the calling one.
    pub(crate) fn helpers(&self) -> Result<usize, Error> {
        if self.threads > MAX_THREADS {
            let message = format_args!("threads is {}; the most is {MAX_THREADS}", self.threads);
            return Err(Error::format(Status::Argument, message));
        }
        Ok(self.threads.saturating_sub(1))
    }

    /// How many calls may run at once, each with so many bytes of its own. A helper's share of a call counts as one.
    pub(crate) fn calls(&self, bytes: usize) -> Result<usize, Error> {
        let calls = match self.max_concurrency {
            0 => calls_by_default(thread::cpus(), bytes),
            calls => calls,
        };
        if calls > MAX_CONCURRENCY {
            let message = format_args!("max_concurrency is {calls}; the most is {MAX_CONCURRENCY}");
            return Err(Error::format(Status::Argument, message));
        }
        Ok(calls + self.helpers()?)
    }

    /// How many of these calls find their memory touched, so that not even the first of them waits for pages. All of
    /// them, if the user says how many there will be.
    pub(crate) fn ready(&self, bytes: usize) -> Result<usize, Error> {
        match self.max_concurrency {
            0 => Ok(ready_by_default(self.helpers()?, bytes)),
            _ => Ok(usize::MAX),
        }
    }
}

fn ready_by_default(helpers: usize, bytes: usize) -> usize {
    (TOUCHED_BY_DEFAULT / bytes.max(1)).max(1 + helpers)
}

fn calls_by_default(cpus: usize, bytes: usize) -> usize {
    cpus.min(MOST_BY_DEFAULT / bytes.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_call_and_all_that_are_announced_are_ready() {
        assert_eq!(ready_by_default(0, 50 << 10), 5);
        assert_eq!(ready_by_default(0, 10 << 20), 1);
        assert_eq!(ready_by_default(3, 10 << 20), 4);
        let announced = Options {
            max_concurrency: 7,
            ..Options::default()
        };
        assert!(announced.ready(10 << 20).unwrap() >= announced.calls(10 << 20).unwrap());
    }

    #[test]
    fn default_concurrency_is_bounded_by_memory() {
        // What most users have: every CPU can be inside of a call.
        assert_eq!(calls_by_default(128, 100 << 10), 128);
        assert_eq!(calls_by_default(128, 10 << 20), 6);
        assert_eq!(calls_by_default(4, 1 << 40), 1);
        assert_eq!(calls_by_default(1, 0), 1);
    }
}
