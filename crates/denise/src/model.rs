//! A loaded network: what it takes, and what it gives.

use crate::batch::{Batch, Outputs, Report};
use crate::covariance;
use crate::dense;
use crate::memory::boxed;
use crate::network::{Follow, Follower, Network};
use crate::options::Options;
use crate::pool::Pool;
use crate::size::{DEFAULT_K, DEFAULT_N, check_size};
use crate::status::{Error, Status};
use crate::team::Team;
use crate::unrolled::{self, Stages};
use crate::worth::{Kind, Worth};
use core::ffi::CStr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A value type of matrices: `f32` or `f64`.
#[allow(private_bounds, reason = "sealed: no other crate can implement it")]
pub trait Element: Precision {}
impl Element for f32 {}
impl Element for f64 {}

/// What depends on the precision.
pub(crate) trait Precision: Follow {
    fn run(network: &dyn Network, team: &Team<'_>, batch: Batch<'_, Self>) -> Result<(), Status>;
}

impl Precision for f32 {
    fn run(network: &dyn Network, team: &Team<'_>, batch: Batch<'_, f32>) -> Result<(), Status> {
        network.run_f32(team, batch)
    }
}

impl Precision for f64 {
    fn run(network: &dyn Network, team: &Team<'_>, batch: Batch<'_, f64>) -> Result<(), Status> {
        network.run_f64(team, batch)
    }
}

/// A network for one n and k. Immutable: any number of threads may use it at once.
pub struct Model {
    n: usize,
    k: usize,
    network: Box<dyn Network>,
    pool: Option<Pool>,
    worth: Box<Worth>,
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
        let file = unrolled::File::builtin()?;
        Model::unrolled(file.stages(), options)
    }

    /// An unrolled network with weights of your own; [`unrolled::Layer`] says what they may be.
    pub fn unrolled(stages: Stages<'_>, options: &Options) -> Result<Model, Error> {
        let n = if options.n == 0 { DEFAULT_N } else { options.n };
        let k = if options.k == 0 { DEFAULT_K } else { options.k };
        check_size(n, k)?;
        for (kind, layers) in [
            ("layer", stages.layers),
            ("mending layer", stages.mend),
            ("following layer", stages.follow),
        ] {
            if let Some(t) = layers.iter().position(|layer| !layer.is_sound()) {
                let message =
                    format_args!("{kind} {t} has a weight that is not finite or out of range");
                return Err(Error::format(Status::Argument, message));
            }
        }
        let rounded = [
            (options.half_weights, "16", "half_weights (DENISE_FLAG_F16)"),
            (options.byte_weights, "8", "byte_weights (DENISE_FLAG_INT8)"),
        ];
        if let Some((_, bits, option)) = rounded.iter().find(|(wanted, ..)| *wanted) {
            let message = format_args!(
                "{bits}-bit weights are for dense networks; an unrolled one has a hundred weights: leave {option} out"
            );
            return Err(Error::format(Status::Unsupported, message));
        }
        let network = unrolled::Network::new(n, k, stages, options)?;
        Model::of(n, k, boxed(network)?, options)
    }

    /// A stack of dense layers.
    pub fn dense(network: &dense::Network, options: &Options) -> Result<Model, Error> {
        let (n, k) = (network.n, network.k);
        if ![0, n].contains(&options.n) || ![0, k].contains(&options.k) {
            let message = format_args!(
                "n = {}, k = {}: this dense network is for n = {n}, k = {k} only; ask for these or for 0",
                options.n, options.k
            );
            return Err(Error::format(Status::Shape, message));
        }
        if options.correlation {
            let message = "dense networks split M as it is: leave correlation (DENISE_FLAG_CORRELATION) out, and give \
                           them correlation matrices";
            return Err(Error::new(Status::Unsupported, message));
        }
        if options.careful {
            let message = "dense networks have no starts to choose from: leave careful (DENISE_FLAG_CAREFUL) out";
            return Err(Error::new(Status::Unsupported, message));
        }
        if options.missing {
            let message =
                "dense networks need every entry of M: leave missing (DENISE_FLAG_MISSING) out";
            return Err(Error::new(Status::Unsupported, message));
        }
        let network = dense::Shared::new(network, options)?;
        Model::of(n, k, boxed(network)?, options)
    }

    /// With its threads.
    fn of(
        n: usize,
        k: usize,
        network: Box<dyn Network>,
        options: &Options,
    ) -> Result<Model, Error> {
        let pool = match options.helpers()? {
            0 => None,
            helpers => Some(Pool::new(helpers)?),
        };
        let model = Model {
            n,
            k,
            network,
            pool,
            worth: boxed(Worth::new())?,
        };
        // A network runs its kernels while it is made. This runs the way to them, so that the first call waits for no
        // page of code.
        model.decompose::<f32>(&[], Outputs::default())?;
        model.decompose::<f64>(&[], Outputs::default())?;
        Ok(model)
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
        self.network.kernel()
    }

    /// What a stream needs of the network.
    pub(crate) fn follower(&self, correlation: bool) -> Result<Box<dyn Follower>, Error> {
        self.network.follower(correlation)
    }

    /// Splits every matrix of `m` (n×n each, row-major, lower triangle read) into L + S.
    ///
    /// Never allocates. An error about lengths leaves the outputs as they were;
    /// [`Status::NotFinite`] means that some matrix had a NaN or an infinity, and that its outputs are
    /// NaN while all others are valid. A dense network computes U in `f32` whatever F is, and L and S in F.
    pub fn decompose<F: Element>(&self, m: &[F], out: Outputs<'_, F>) -> Result<(), Error> {
        let batch = Batch::new(self.n, self.k, m, out)?;
        self.run(batch).map_err(Error::from)
    }

    /// The same, but S takes the place of M; `out.s` must be `None`.
    pub fn decompose_in_place<F: Element>(
        &self,
        m: &mut [F],
        out: Outputs<'_, F>,
    ) -> Result<(), Error> {
        let batch = Batch::in_place(self.n, self.k, m, out)?;
        self.run(batch).map_err(Error::from)
    }

    /// Splits every matrix of `m`, and makes of it a covariance that can be inverted: Σ = UUᵀ + diag(d) with
    /// d_i = max(S_ii, floor · M_ii). `u` gets the factors, n×k each; [`covariance::from_u`] says the rest.
    ///
    /// Never allocates. [`Status::NotFinite`] and [`Status::Singular`] are about some matrices, whose outputs are NaN
    /// and whose reports say so.
    ///
    /// ```
    /// use denise::{Model, Options, covariance};
    ///
    /// let model = Model::builtin(&Options::size(3, 1))?;
    /// let m = [2.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0_f64];
    /// let (mut u, mut d) = ([0.0; 3], [0.0; 3]);
    /// let out = covariance::Outputs { d: Some(&mut d), ..covariance::Outputs::default() };
    /// model.covariance(&m, 0.0, &mut u, out, None)?;
    /// // The portfolio of the least variance: weights in proportion to Σ⁻¹1.
    /// let mut weights = [1.0; 3];
    /// covariance::solve(3, 1, &u, &d, 1, &mut weights)?;
    /// assert!(weights.iter().all(|w| (w / weights[0] - 1.0).abs() < 1e-6));
    /// # Ok::<(), denise::Error>(())
    /// ```
    pub fn covariance<F: Element>(
        &self,
        m: &[F],
        floor: f64,
        u: &mut [F],
        out: covariance::Outputs<'_, F>,
        mut reports: Option<&mut [Report]>,
    ) -> Result<(), Error> {
        let (n, k) = (self.n, self.k);
        // What is wrong with the arguments is found before anything is written.
        covariance::check(n, k, m.len() / (n * n), u.len(), floor, &out)?;
        let split = Outputs {
            u: Some(&mut *u),
            reports: reports.as_deref_mut(),
            ..Outputs::default()
        };
        match self.decompose(m, split) {
            Err(error) if error.status != Status::NotFinite => return Err(error),
            _ => {}
        }
        let variance = |at: usize, i: usize| m[at * n * n + i * (n + 1)].into();
        let count = m.len() / (n * n);
        let mut failed = |at: usize, status: Status| {
            if let Some(reports) = &mut reports {
                reports[at].status = status as i32;
            }
        };
        covariance::from_variances(n, k, count, &variance, u, floor, out, &mut failed)
    }

    /// Runs a batch: alone, together with the threads, or in shares that they take as they come.
    fn run<F: Element>(&self, batch: Batch<'_, F>) -> Result<(), Status> {
        let (network, count) = (&*self.network, batch.count);
        if let Some(pool) = &self.pool
            && network.together(count, pool.threads())
        {
            return self.run_together(pool, batch);
        }
        let pool = self
            .pool
            .as_ref()
            .map(|pool| (pool, network.share(count, pool.threads())))
            .filter(|(_, share)| count > *share);
        let Some((pool, share)) = pool else {
            return F::run(network, &Team::alone(), batch);
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
                let outcome = F::run(network, &Team::alone(), next);
                if outcome.is_err() {
                    lock().1 = outcome;
                }
            }
        });
        rest.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Runs a batch of a few matrices that all threads share, if that is worth their while.
    fn run_together<F: Element>(&self, pool: &Pool, batch: Batch<'_, F>) -> Result<(), Status> {
        let network = &*self.network;
        let kind = self.worth.of(size_of::<F>(), batch.count);
        let alone = kind.is_some_and(Kind::alone);
        let start = Instant::now();
        let outcome = if alone {
            F::run(network, &Team::alone(), batch)
        } else {
            pool.lead(|team| F::run(network, team, batch))
        };
        // What is wrong with a matrix may be found sooner.
        if let (Some(kind), Ok(())) = (kind, &outcome) {
            kind.note(alone, start.elapsed());
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use denise_data::matrices::covariance;
    use denise_data::random::Random;
    use std::time::Duration;

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

    /// Takes 3 ms one way and no time the other; notes which way calls went.
    struct Slow {
        slow_alone: bool,
        wrong: bool,
        alone: AtomicUsize,
    }

    impl Slow {
        fn run(&self, team: &Team<'_>) -> Result<(), Status> {
            let alone = team.threads() == 1;
            self.alone.fetch_add(usize::from(alone), Ordering::Relaxed);
            if alone == self.slow_alone {
                std::thread::sleep(Duration::from_millis(3));
            }
            if self.wrong {
                Err(Status::NotFinite)
            } else {
                Ok(())
            }
        }
    }

    impl Network for &'static Slow {
        fn run_f32(&self, team: &Team<'_>, batch: Batch<'_, f32>) -> Result<(), Status> {
            if batch.count == 0 {
                Ok(())
            } else {
                self.run(team)
            }
        }
        fn run_f64(&self, team: &Team<'_>, batch: Batch<'_, f64>) -> Result<(), Status> {
            if batch.count == 0 {
                Ok(())
            } else {
                self.run(team)
            }
        }
        fn kernel(&self) -> &'static CStr {
            c"slow"
        }
        fn share(&self, _: usize, _: usize) -> usize {
            1
        }
        fn together(&self, count: usize, _: usize) -> bool {
            count > 0
        }
    }

    /// Of 60 calls, how many a model makes on the calling thread alone.
    fn calls_alone(slow_alone: bool, wrong: bool) -> usize {
        let network: &'static Slow = Box::leak(Box::new(Slow {
            slow_alone,
            wrong,
            alone: AtomicUsize::new(0),
        }));
        let options = Options {
            threads: 2,
            ..Options::size(2, 1)
        };
        let model = Model::of(2, 1, Box::new(network), &options).unwrap();
        for _ in 0..60 {
            let outcome = model.decompose(&[1.0_f32; 4], Outputs::default());
            assert_eq!(outcome.is_err(), wrong);
        }
        network.alone.load(Ordering::Relaxed)
    }

    #[test]
    fn calls_go_without_threads_where_that_is_faster() {
        // Four to learn; else all but the first four and three tries.
        let near = calls_alone(true, false);
        assert_eq!(near, 4);
        let far = calls_alone(false, false);
        assert!((40..60).contains(&far), "{far}");
        // What fails says nothing about time.
        assert_eq!(calls_alone(false, true), 0);
    }

    /// Threads share the panels of a large matrix, or take one matrix each, and nothing depends on it.
    #[test]
    fn threads_share_a_large_matrix_and_change_no_bit() {
        fn bits<F: Element>(n: usize, count: usize, holes: bool, threads: usize) -> Vec<u64> {
            let random = &mut Random::new(7);
            let all = (0..count).flat_map(|_| covariance(n, 5, 0.1, random));
            let mut m: Vec<F> = all.map(F::from_f64).collect();
            if holes {
                m[7 * n + 2] = F::NAN;
            }
            let (mut u, mut l, mut s) = (
                vec![F::ZERO; count * n * 5],
                vec![F::ZERO; m.len()],
                vec![F::ZERO; m.len()],
            );
            let mut reports = vec![Report::default(); count];
            let options = Options {
                threads,
                missing: holes,
                ..Options::size(n, 5)
            };
            let out = Outputs {
                u: Some(&mut u),
                l: Some(&mut l),
                s: Some(&mut s),
                reports: Some(&mut reports),
            };
            let model = Model::builtin(&options).unwrap();
            model.decompose(&m, out).unwrap();
            let values = u.iter().chain(&l).chain(&s);
            let values = values.map(|&x| Into::<f64>::into(x).to_bits());
            let reports = reports
                .iter()
                .flat_map(|report| [report.l1, report.unsettled]);
            values
                .chain(reports.map(|x| u64::from(x.to_bits())))
                .collect()
        }
        for (n, count, holes) in [
            (200, 1, false),
            (203, 3, false),
            (210, 1, true),
            (201, 5, false),
        ] {
            let (single, double) = (
                bits::<f32>(n, count, holes, 1),
                bits::<f64>(n, count, holes, 1),
            );
            for threads in [2, 3] {
                assert!(single == bits::<f32>(n, count, holes, threads), "n = {n}");
                assert!(double == bits::<f64>(n, count, holes, threads), "n = {n}");
            }
        }
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
