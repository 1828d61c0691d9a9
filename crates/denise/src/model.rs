//! A loaded network: what it takes, and what it gives.

use crate::batch::{Batch, Outputs};
use crate::dense;
use crate::options::Options;
use crate::pool::Pool;
use crate::simd::{Isa, Real};
use crate::size::{DEFAULT_K, DEFAULT_N, check_size};
use crate::status::{Error, Status};
use crate::unrolled::{self, Engine, Layer, Workspace};
use crate::workspaces::Workspaces;
use core::ffi::CStr;
use std::sync::{Mutex, PoisonError};

/// A value type of matrices: `f32` or `f64`.
#[allow(private_bounds, reason = "sealed: no other crate can implement it")]
pub trait Element: Precision {}
impl Element for f32 {}
impl Element for f64 {}

/// What depends on the precision. Not generic, so that the kernels are compiled in this crate and nowhere else.
pub(crate) trait Precision: Real {
    fn run(model: &Model, batch: Batch<'_, Self>) -> Result<(), Status>;
}

impl Precision for f32 {
    fn run(model: &Model, batch: Batch<'_, f32>) -> Result<(), Status> {
        model.run(|unrolled| &unrolled.single, batch)
    }
}

impl Precision for f64 {
    fn run(model: &Model, batch: Batch<'_, f64>) -> Result<(), Status> {
        model.run(|unrolled| &unrolled.double, batch)
    }
}

/// An unrolled network in both precisions.
struct Unrolled {
    single: InPrecision<f32>,
    double: InPrecision<f64>,
}

/// A network in one precision, with its working memory.
struct InPrecision<F> {
    engine: Engine<F>,
    workspaces: Workspaces<Workspace<F>>,
}

impl<F: Real> InPrecision<F> {
    fn new(engine: Engine<F>, isa: Isa, workspaces: usize) -> Result<InPrecision<F>, Error> {
        let workspaces = Workspaces::new(workspaces, || engine.workspace(isa))?;
        Ok(InPrecision { engine, workspaces })
    }
}

/// What runs.
enum Kind {
    Unrolled(Unrolled),
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
    pool: Option<Pool>,
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
        let n = if options.n == 0 { DEFAULT_N } else { options.n };
        let k = if options.k == 0 { DEFAULT_K } else { options.k };
        check_size(n, k)?;
        if let Some(t) = layers.iter().position(|layer| !layer.is_sound()) {
            let message = format_args!("layer {t} has a weight that is not finite or out of range");
            return Err(Error::format(Status::Argument, message));
        }
        if options.half_weights {
            return Err(Error::new(
                Status::Unsupported,
                "16-bit weights are for dense networks; an unrolled one has a hundred weights: leave \
                 half_weights (DENISE_FLAG_F16) out",
            ));
        }
        let (isa, helpers) = (options.isa()?, options.helpers()?);
        let (single, double) = (Engine::new(n, k, layers)?, Engine::new(n, k, layers)?);
        let workspaces = options.calls(bytes_of_call(&single, &double, isa))? + helpers;
        Ok(Model {
            n,
            k,
            isa,
            kind: Kind::Unrolled(Unrolled {
                single: InPrecision::new(single, isa, workspaces)?,
                double: InPrecision::new(double, isa, workspaces)?,
            }),
            pool: pool(helpers)?,
        })
    }

    /// A stack of dense layers.
    pub fn dense(network: &dense::Network, options: &Options) -> Result<Model, Error> {
        let (n, k, half) = (network.n, network.k, options.half_weights);
        if ![0, n].contains(&options.n) || ![0, k].contains(&options.k) {
            let message = format_args!(
                "n = {}, k = {}: this dense network is for n = {n}, k = {k} only; ask for these or for 0",
                options.n, options.k
            );
            return Err(Error::format(Status::Shape, message));
        }
        let (isa, helpers) = (options.isa()?, options.helpers()?);
        let engine = dense::Engine::new(network, half)?;
        let count = options.calls(engine.workspace()?.bytes())? + helpers;
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
            pool: pool(helpers)?,
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
            Kind::Unrolled(_) => unrolled::kernel(self.isa),
            Kind::Dense { half, .. } => dense::kernel(self.isa, half),
        }
    }

    /// Splits every matrix of `m` (n×n each, row-major, lower triangle read) into L + S.
    ///
    /// Never allocates. An error about lengths leaves the outputs as they were;
    /// [`Status::NotFinite`] means that some matrix had a NaN or an infinity, and that its outputs are
    /// NaN while all others are valid. A dense network computes U in `f32` whatever F is, and L and S in F.
    pub fn decompose<F: Element>(&self, m: &[F], out: Outputs<'_, F>) -> Result<(), Error> {
        let batch = Batch::new(self.n, self.k, m, out)?;
        F::run(self, batch).map_err(Error::from)
    }

    /// The same, but S takes the place of M; `out.s` must be `None`.
    pub fn decompose_in_place<F: Element>(
        &self,
        m: &mut [F],
        out: Outputs<'_, F>,
    ) -> Result<(), Error> {
        let batch = Batch::in_place(self.n, self.k, m, out)?;
        F::run(self, batch).map_err(Error::from)
    }

    /// Runs a batch: alone, or in shares that threads take as they come.
    #[inline(always)]
    fn run<F: Real>(
        &self,
        precision: impl Fn(&Unrolled) -> &InPrecision<F> + Sync,
        batch: Batch<'_, F>,
    ) -> Result<(), Status> {
        let run = |batch: Batch<'_, F>| match &self.kind {
            Kind::Unrolled(unrolled) => {
                let InPrecision { engine, workspaces } = precision(unrolled);
                engine.decompose(self.isa, &mut workspaces.borrow(), batch)
            }
            Kind::Dense {
                engine, workspaces, ..
            } => engine.decompose(self.isa, &mut workspaces.borrow(), batch),
        };
        let count = batch.count;
        let pool = self
            .pool
            .as_ref()
            .map(|pool| (pool, self.share(count, pool.threads())));
        let Some((pool, share)) = pool.filter(|(_, share)| count > *share) else {
            return run(batch);
        };
        let rest = Mutex::new((batch, Ok(())));
        let lock = || rest.lock().unwrap_or_else(PoisonError::into_inner);
        pool.run(&|| {
            loop {
                let mut state = lock();
                let count = share.min(state.0.count);
                if count == 0 {
                    return;
                }
                let next = state.0.take(count);
                drop(state);
                let outcome = run(next);
                if outcome.is_err() {
                    lock().1 = outcome;
                }
            }
        });
        rest.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }

    /// How many matrices of a batch a thread should take at a time, if so many threads share it.
    fn share(&self, count: usize, threads: usize) -> usize {
        match self.kind {
            // Long enough to hide the hand-over, short enough that no thread waits long for the last one.
            // A multiple of every vector width.
            Kind::Unrolled(_) => 64,
            // Every share reads all weights, which takes as long for 1 matrix as for 64.
            Kind::Dense { .. } => count.div_ceil(threads).clamp(64, dense::MATRICES),
        }
    }
}

/// So many threads, or none.
fn pool(helpers: usize) -> Result<Option<Pool>, Error> {
    match helpers {
        0 => Ok(None),
        _ => Pool::new(helpers).map(Some),
    }
}

/// Memory of an unrolled network that is reserved for one call, which may be in either precision.
fn bytes_of_call(single: &Engine<f32>, double: &Engine<f64>, isa: Isa) -> usize {
    single.workspace_len(isa) * size_of::<f32>() + double.workspace_len(isa) * size_of::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::{MAX_K, MAX_N};

    #[test]
    fn default_concurrency_is_bounded_by_memory() {
        let bytes = |n, k| {
            let (single, double) = (Engine::new(n, k, &[]), Engine::new(n, k, &[]));
            bytes_of_call(&single.unwrap(), &double.unwrap(), Isa::best())
        };
        let calls = Options::default().calls(bytes(MAX_N, MAX_K)).unwrap();
        assert!(
            calls == 1 || calls * bytes(MAX_N, MAX_K) <= 64 << 20,
            "{calls}"
        );
        // What most users have: every CPU of a large machine can be inside of a call.
        assert!(128 * bytes(20, 3) <= 64 << 20);
    }

    /// Shares of the batch go to whoever is free, and nothing depends on it.
    #[test]
    fn threads_change_no_bit_and_in_place_neither() {
        let (n, count) = (5, 300);
        let mut m: Vec<f32> = (0..count * n * n)
            .map(|at| {
                ((at * 7919 % 1009) as f32 / 1009.0 - 0.5)
                    + if at % (n * n) % (n + 1) == 0 {
                        3.0
                    } else {
                        0.0
                    }
            })
            .collect();
        m[17 * n * n] = f32::NAN;
        let split = |threads| {
            let model = Model::builtin(&Options {
                threads,
                ..Options::size(n, 2)
            })
            .unwrap();
            let (mut l, mut s) = (vec![0.0; m.len()], m.clone());
            let out = Outputs {
                l: Some(&mut l),
                ..Outputs::default()
            };
            let status = model.decompose_in_place(&mut s, out).unwrap_err().status;
            assert_eq!(status, Status::NotFinite);
            let bits = |x: &f32| x.to_bits();
            (
                l.iter().map(bits).collect::<Vec<_>>(),
                s.iter().map(bits).collect::<Vec<_>>(),
            )
        };
        let alone = split(1);
        assert_eq!(alone, split(2));
        assert_eq!(alone, split(4));
    }

    #[test]
    fn more_threads_than_allowed_are_refused() {
        let options = Options {
            threads: 257,
            ..Options::default()
        };
        let error = Model::builtin(&options).err().unwrap();
        assert_eq!(error.status, Status::Argument);
        assert!(error.message.contains("threads is 257"), "{error}");
    }
}
