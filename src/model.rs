//! A loaded network: what it takes, and what it gives.

use crate::batch::{Batch, Outputs};
use crate::dense;
use crate::load::{File, read_file};
use crate::memory;
use crate::simd::{Isa, Real};
use crate::status::{Error, Status};
use crate::thread;
use crate::unrolled::{self, Engine, Layer, Scratch};
use crate::workspaces::Workspaces;
use core::ffi::CStr;
use std::path::Path;

/// Largest n.
pub const MAX_N: usize = 512;
/// Largest k.
pub const MAX_K: usize = 32;
pub(crate) const DEFAULT_N: usize = 20;
pub(crate) const DEFAULT_K: usize = 3;
/// Working memory is reserved for every call that may run at once; this many is more than any machine needs.
const MAX_CONCURRENCY: usize = 4096;

/// Bytes that are reserved for calls at once if the user does not say how many there may be. On a machine with many CPUs
/// it would be gigabytes for large n and k.
const MOST_BY_DEFAULT: usize = 64 << 20;

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
    /// CPUs, or as many calls as have their memory in 64 MB, whichever is less.
    pub max_concurrency: usize,
    /// The instruction set to use.
    pub instruction_set: InstructionSet,
    /// Keep the weights of a dense network as 16-bit floating-point numbers: half the memory and, for
    /// calls of one matrix, less than half of the time, at eleven significant bits a weight.
    pub half_weights: bool,
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
}

/// A value type of matrices: `f32` or `f64`.
#[allow(private_bounds, reason = "sealed: no other crate can implement it")]
pub trait Element: Precision {}
impl Element for f32 {}
impl Element for f64 {}

/// Finds the part of an unrolled network that works in this precision.
pub(crate) trait Precision: Real {
    fn part(parts: &Parts) -> &Part<Self>;
}

impl Precision for f32 {
    fn part(parts: &Parts) -> &Part<f32> {
        &parts.f32
    }
}

impl Precision for f64 {
    fn part(parts: &Parts) -> &Part<f64> {
        &parts.f64
    }
}

/// An unrolled network.
pub(crate) struct Parts {
    f32: Part<f32>,
    f64: Part<f64>,
}

/// A network in one precision, with its working memory.
pub(crate) struct Part<F> {
    engine: Engine<F>,
    workspaces: Workspaces<Scratch<F>>,
}

impl<F: Real> Part<F> {
    fn new(engine: Engine<F>, isa: Isa, workspaces: usize) -> Result<Part<F>, Error> {
        let workspaces = Workspaces::new(workspaces, || engine.scratch(isa))?;
        Ok(Part { engine, workspaces })
    }
}

/// What runs.
enum Kind {
    Unrolled(Parts),
    Dense {
        engine: dense::Engine,
        workspaces: Workspaces<dense::Workspace>,
        half: bool,
    },
}

/// A network for one n and k. Immutable: any number of threads may use it at once.
pub struct Model {
    n: usize,
    k: usize,
    isa: Isa,
    kind: Kind,
}

impl Model {
    /// The network built into the library.
    ///
    /// ```
    /// use denise::{Model, Options, Outputs};
    ///
    /// let model = Model::builtin(&Options { n: 4, k: 1, ..Options::default() })?;
    /// let m = [4.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0_f32];
    /// let mut l = [0.0; 16];
    /// model.decompose(&m, Outputs { l: Some(&mut l), ..Outputs::default() })?;
    /// assert!(l.iter().zip(&m).all(|(l, m)| (l - m).abs() < 1e-4));
    /// # Ok::<(), denise::Error>(())
    /// ```
    pub fn builtin(options: &Options) -> Result<Model, Error> {
        Model::unrolled(&unrolled::File::builtin()?.layers, options)
    }

    /// An unrolled network with weights of your own. [`Layer`] says what they may be.
    pub fn unrolled(layers: &[Layer], options: &Options) -> Result<Model, Error> {
        Model::unrolled_for(layers, options, 0)
    }

    /// A stack of dense layers.
    pub fn dense(network: &dense::Network, options: &Options) -> Result<Model, Error> {
        Model::dense_for(network, options, 0)
    }

    /// A network from an ONNX file; [`File::read`](crate::File::read) says which.
    pub fn load(path: impl AsRef<Path>, options: &Options) -> Result<Model, Error> {
        Model::with_helpers(&read_file(path.as_ref())?, options, 0)
    }

    /// A network from the bytes of a file.
    pub fn from_bytes(bytes: &[u8], options: &Options) -> Result<Model, Error> {
        Model::with_helpers(&File::read(bytes)?, options, 0)
    }

    /// With working memory for `helpers` threads that work on parts of a call beside the one that makes it.
    pub(crate) fn with_helpers(
        loaded: &File,
        options: &Options,
        helpers: usize,
    ) -> Result<Model, Error> {
        match loaded {
            File::Unrolled(file) => {
                // Any size will do; the file's own is what it was trained for.
                let or = |size: usize, own: usize| if size == 0 { own } else { size };
                let options = Options {
                    n: or(options.n, file.n),
                    k: or(options.k, file.k),
                    ..*options
                };
                Model::unrolled_for(&file.layers, &options, helpers)
            }
            File::Dense(network) => Model::dense_for(network, options, helpers),
        }
    }

    fn unrolled_for(layers: &[Layer], options: &Options, helpers: usize) -> Result<Model, Error> {
        let n = if options.n == 0 { DEFAULT_N } else { options.n };
        let k = if options.k == 0 { DEFAULT_K } else { options.k };
        check_size(n, k)?;
        if let Some(t) = layers.iter().position(|layer| !layer.is_sound()) {
            let message = format_args!("layer {t} has a weight that is not finite or out of range");
            return Err(memory::error(Status::Argument, message));
        }
        if options.half_weights {
            return Err(Error::new(
                Status::Unsupported,
                "16-bit weights are for dense networks; an unrolled one has a hundred weights: leave \
                 half_weights (DENISE_FLAG_F16) out",
            ));
        }
        let isa = choose(options.instruction_set)?;
        let (single, double) = (Engine::new(n, k, layers)?, Engine::new(n, k, layers)?);
        let workspaces = workspaces(options, helpers, bytes_of_call(&single, &double, isa))?;
        Ok(Model {
            n,
            k,
            isa,
            kind: Kind::Unrolled(Parts {
                f32: Part::new(single, isa, workspaces)?,
                f64: Part::new(double, isa, workspaces)?,
            }),
        })
    }

    fn dense_for(
        network: &dense::Network,
        options: &Options,
        helpers: usize,
    ) -> Result<Model, Error> {
        let (n, k, half) = (network.n, network.k, options.half_weights);
        if ![0, n].contains(&options.n) || ![0, k].contains(&options.k) {
            let message = format_args!(
                "n = {}, k = {}: this dense network is for n = {n}, k = {k} only; ask for these or for 0",
                options.n, options.k
            );
            return Err(memory::error(Status::Shape, message));
        }
        let isa = choose(options.instruction_set)?;
        let engine = dense::Engine::new(network, half)?;
        let count = workspaces(options, helpers, engine.workspace()?.bytes())?;
        let workspaces = Workspaces::new(count, || engine.workspace())?;
        Ok(Model {
            n,
            k,
            isa,
            kind: Kind::Dense {
                engine,
                workspaces,
                half,
            },
        })
    }

    /// Size of the matrices.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Largest rank of L.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The network and the instruction set it runs on, such as "unrolled avx2" or "dense avx2 f16".
    pub fn kernel(&self) -> &'static CStr {
        match self.kind {
            Kind::Unrolled(_) => self.isa.unrolled_name(),
            Kind::Dense { half, .. } => self.isa.dense_name(half),
        }
    }

    /// Splits every matrix of `m` (n×n each, row-major, lower triangle read) into L + S.
    ///
    /// Never allocates. An error about lengths leaves the outputs as they were;
    /// [`Status::NotFinite`] means that some matrix had a NaN or an infinity, and that its outputs are
    /// NaN while all others are valid. A dense network computes U in `f32` whatever F is, and L and S in F.
    pub fn decompose<F: Element>(&self, m: &[F], out: Outputs<'_, F>) -> Result<(), Error> {
        let size = self.n * self.n;
        let count = m.len() / size;
        let fits = |len: Option<usize>, each: usize| len.is_none_or(|len| len == count * each);
        if !m.len().is_multiple_of(size)
            || !fits(out.u.as_ref().map(|x| x.len()), self.n * self.k)
            || !fits(out.l.as_ref().map(|x| x.len()), size)
            || !fits(out.s.as_ref().map(|x| x.len()), size)
            || !fits(out.reports.as_ref().map(|x| x.len()), 1)
        {
            return Err(Error::new(
                Status::Shape,
                "the slices do not hold the same number of matrices",
            ));
        }
        self.run(Batch {
            n: self.n,
            k: self.k,
            count,
            m: Some(m),
            out,
        })
        .map_err(Error::from)
    }

    /// How many matrices of a batch a thread should take at a time, if so many threads share it.
    pub(crate) fn part(&self, count: usize, threads: usize) -> usize {
        match self.kind {
            // Long enough to hide the hand-over, short enough that no thread waits long for the last one.
            // A multiple of every vector width.
            Kind::Unrolled(_) => 64,
            // Every part reads all weights, which takes as long for 1 matrix as for 64.
            Kind::Dense { .. } => count.div_ceil(threads).clamp(64, dense::MATRICES),
        }
    }

    /// Runs a batch whose lengths have been checked.
    pub(crate) fn run<F: Element>(&self, batch: Batch<'_, F>) -> Result<(), Status> {
        match &self.kind {
            Kind::Unrolled(parts) => {
                let part = F::part(parts);
                let mut scratch = part.workspaces.borrow();
                part.engine.decompose(self.isa, &mut scratch, batch)
            }
            Kind::Dense {
                engine, workspaces, ..
            } => engine.decompose(self.isa, &mut workspaces.borrow(), batch),
        }
    }
}

/// How many calls, and parts of calls, may run at once, if each needs so many bytes.
fn workspaces(options: &Options, helpers: usize, bytes: usize) -> Result<usize, Error> {
    let calls = match options.max_concurrency {
        0 => calls_by_default(thread::cpus(), bytes),
        calls => calls,
    };
    if calls > MAX_CONCURRENCY {
        let message = format_args!("max_concurrency is {calls}; the most is {MAX_CONCURRENCY}");
        return Err(memory::error(Status::Argument, message));
    }
    Ok(calls + helpers)
}

/// Memory of an unrolled network that is reserved for one call, which may be in either precision.
fn bytes_of_call(single: &Engine<f32>, double: &Engine<f64>, isa: Isa) -> usize {
    single.scratch_len(isa) * size_of::<f32>() + double.scratch_len(isa) * size_of::<f64>()
}

fn calls_by_default(cpus: usize, bytes: usize) -> usize {
    cpus.min(MOST_BY_DEFAULT / bytes.max(1)).max(1)
}

pub(crate) fn check_size(n: usize, k: usize) -> Result<(), Error> {
    if n > MAX_N || k > MAX_K {
        let message =
            format_args!("n = {n}, k = {k}: at most n = {MAX_N} and k = {MAX_K} are supported");
        return Err(memory::error(Status::Unsupported, message));
    }
    if k == 0 || k >= n {
        let message =
            format_args!("n = {n}, k = {k}: the rank k must be at least 1 and less than n");
        return Err(memory::error(Status::Argument, message));
    }
    Ok(())
}

fn choose(wanted: InstructionSet) -> Result<Isa, Error> {
    match wanted {
        InstructionSet::Best => Some(Isa::best()),
        InstructionSet::Portable => Some(Isa::portable()),
        InstructionSet::Avx2 => Isa::avx2(),
    }
    .ok_or_else(|| {
        memory::error(
            Status::Unsupported,
            format_args!("this machine does not have {wanted:?}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_concurrency_is_bounded_by_memory() {
        let bytes = |n, k| {
            let (single, double) = (Engine::new(n, k, &[]), Engine::new(n, k, &[]));
            bytes_of_call(&single.unwrap(), &double.unwrap(), Isa::best())
        };
        // What most users have: every CPU can be inside of a call.
        assert_eq!(calls_by_default(128, bytes(20, 3)), 128);
        let calls = calls_by_default(128, bytes(MAX_N, MAX_K));
        assert!(
            calls >= 1 && (calls == 1 || calls * bytes(MAX_N, MAX_K) <= 64 << 20),
            "{calls}"
        );
        assert_eq!(calls_by_default(4, 1 << 40), 1);
        assert_eq!(calls_by_default(1, 0), 1);
    }
}
