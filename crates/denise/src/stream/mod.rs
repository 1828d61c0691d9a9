//! Streams: returns in, a split that moves as little as it must.
//!
//! - `estimate`: the covariance, from returns. `state` and `bytes`: a stream as bytes. `options`: what a stream is made for.
//! - What follows U from tick to tick is the network's: `unrolled/follow.rs`.

mod bytes;
mod estimate;
mod options;
mod state;

pub use options::StreamOptions;

use crate::batch::{Batch, Outputs, Report};
use crate::covariance;
use crate::memory::filled;
use crate::model::{Element, Model};
use crate::network::Follower;
use crate::simd::Real;
use crate::status::{Error, Status};
use crate::tick::{Matrices, Side, Tick, Track};
use core::cell::Cell;
use estimate::Estimate;
use options::Settled;

/// Streams of returns, each of which has its covariance and its split. Made by [`Model::stream`]; it does not need the
/// model any longer.
///
/// ```
/// use denise::{Model, Options, Outputs, StreamOptions};
///
/// let model = Model::builtin(&Options { n: 4, k: 1, ..Options::default() })?;
/// let mut stream = model.stream(&StreamOptions { window: 8, warm_up: 4, ..StreamOptions::default() })?;
/// let mut l = [0.0_f32; 16];
/// for tick in 0..10 {
///     let market = [0.01, -0.02, 0.015, 0.0, -0.005][tick % 5];
///     let returns = [market, 0.5 * market, 2.0 * market, market];
///     stream.push(&returns, Outputs { l: Some(&mut l), ..Outputs::default() })?;
///     assert_eq!(l[0].is_nan(), tick < 3, "no split before the fourth tick");
/// }
/// // The third asset moves twice as much as the first.
/// assert!((l[2 * 4] / l[0] - 2.0).abs() < 1e-3);
/// # Ok::<(), denise::Error>(())
/// ```
pub struct Stream {
    settled: Settled,
    follower: Box<dyn Follower>,
    groups: Vec<Group>,
    /// The covariances of one group, side by side.
    m: Vec<f64>,
}

/// Streams that lie side by side.
struct Group {
    count: usize,
    width: usize,
    estimate: Estimate,
    /// See [`Track`].
    u: Vec<f64>,
    mean: Vec<f64>,
    splits: Vec<u64>,
    /// Which of them are split in this tick, and which had returns that are no numbers.
    wanted: Vec<bool>,
    sound: Vec<bool>,
}

/// Streams that lie side by side on machines with wider vectors, if there are no more.
const FEW: usize = 8;

impl Model {
    /// Streams that this network splits. Not for dense networks, nor with [`crate::Options::careful`].
    pub fn stream(&self, options: &StreamOptions) -> Result<Stream, Error> {
        let n = self.n();
        let settled = options.settle(n, self.k())?;
        let follower = self.follower(options.correlation)?;
        let width = follower.side_by_side();
        // Asked for at once: a system that promises more than it has would give it piece by piece, and end the process
        // when it is used.
        let enough = settled.streams.saturating_mul(settled.bytes_of_one());
        Vec::<u8>::new().try_reserve_exact(enough)?;
        let mut groups = Vec::new();
        // As many as there can be.
        groups.try_reserve_exact(settled.streams.div_ceil(width) + width)?;
        let mut rest = settled.streams;
        while rest > 0 {
            // Few of them need no more than the vectors of AVX2, and very few are better off alone.
            let width = if rest <= FEW { width.min(FEW) } else { width };
            let width = if 2 * rest < width { 1 } else { width };
            let group = Group::new(&settled, width, rest.min(width))?;
            rest -= group.count;
            groups.push(group);
        }
        Ok(Stream {
            settled,
            follower,
            groups,
            m: filled(n * n * width, 0.0)?,
        })
    }
}

impl Stream {
    /// Assets.
    pub fn n(&self) -> usize {
        self.settled.plan.n
    }

    /// Largest rank of L.
    pub fn k(&self) -> usize {
        self.settled.k
    }

    /// How many streams there are.
    pub fn streams(&self) -> usize {
        self.settled.streams
    }

    /// A tick: `returns` has n values for every stream, one stream after another. Never allocates.
    ///
    /// NaN is a return that is not known. An infinite one, or one above 1e100, makes none of its stream's count: that
    /// stream gets NaN in its outputs and [`Status::NotFinite`], also here, and for its estimate nothing is known. Before a
    /// stream has seen enough ticks its outputs are NaN and its report says [`Status::NotReady`]; that is no error here.
    ///
    /// U is given as it is followed: it moves continuously, and its columns need not be orthogonal.
    pub fn push<F: Element>(&mut self, returns: &[F], out: Outputs<'_, F>) -> Result<(), Error> {
        let (n, count) = (self.n(), self.streams());
        if returns.len() != count * n {
            return Err(wrong_length("returns", returns.len(), count * n));
        }
        let mut rest = Batch::outputs(n, self.k(), count, out)?;
        let isa = self.follower.isa();
        let (mut first, mut all) = (0, Ok(()));
        for group in &mut self.groups {
            let returns = &returns[first * n..][..group.count * n];
            first += group.count;
            group
                .estimate
                .push(isa, returns, &mut group.sound, &mut self.m);
            for l in 0..group.count {
                group.wanted[l] = group.sound[l] && group.estimate.ready(l);
            }
            let mut own = rest.take(group.count);
            if group.wanted.contains(&true) {
                let m = Side {
                    values: &self.m,
                    width: group.width,
                    first: 0,
                };
                let out = again(&mut own.out);
                let matrices = Matrices::Estimated(m);
                let track = Track {
                    u: &mut group.u,
                    mean: &mut group.mean,
                    splits: &mut group.splits,
                    width: group.width,
                    first: 0,
                };
                let tick = Tick {
                    matrices,
                    track,
                    wanted: &mut group.wanted,
                    missing: true,
                    out,
                };
                F::follow(&mut *self.follower, tick);
            }
            for l in (0..group.count).filter(|&l| !group.wanted[l]) {
                if !group.sound[l] {
                    let returns = &returns[l * n..][..n];
                    own.mark_not_finite(l, first_infinite(returns));
                    all = Err(Status::NotFinite);
                } else if !group.estimate.ready(l) {
                    own.mark(l, Status::NotReady, Report::NONE);
                } else {
                    // Too large for the precision.
                    own.mark_not_finite(l, Report::NONE);
                    all = Err(Status::NotFinite);
                }
            }
        }
        all.map_err(Error::from)
    }

    /// A tick of the caller's own covariances, n×n each, of which the lower triangle is read. The estimate stays as it
    /// is, and there is no warm-up. NaN is an error, or an entry that is not known if the model was made with
    /// [`crate::Options::missing`]. A stream whose matrix is not finite stays where it was.
    pub fn push_matrices<F: Element>(&mut self, m: &[F], out: Outputs<'_, F>) -> Result<(), Error> {
        let (n, missing) = (self.n(), self.follower.missing());
        if m.len() != self.streams() * n * n {
            return Err(wrong_length("m", m.len(), self.streams() * n * n));
        }
        let mut rest = Batch::new(n, self.k(), m, out)?;
        let mut all = Ok(());
        for group in &mut self.groups {
            let mut own = rest.take(group.count);
            group.wanted.fill(true);
            let given = own.m.unwrap_or(&[]);
            let tick = Tick {
                matrices: Matrices::Given(given),
                track: Track {
                    u: &mut group.u,
                    mean: &mut group.mean,
                    splits: &mut group.splits,
                    width: group.width,
                    first: 0,
                },
                wanted: &mut group.wanted,
                missing,
                out: again(&mut own.out),
            };
            F::follow(&mut *self.follower, tick);
            for l in (0..group.count).filter(|&l| !group.wanted[l]) {
                let first_bad = own.first_bad(l, missing);
                own.mark_not_finite(l, first_bad);
                all = Err(Status::NotFinite);
            }
        }
        all.map_err(Error::from)
    }

    /// The covariances that have been estimated, n×n for every stream; NaN where nothing is known yet.
    pub fn covariance(&self, m: &mut [f64]) -> Result<(), Error> {
        let n = self.n();
        if m.len() != self.streams() * n * n {
            return Err(wrong_length("m", m.len(), self.streams() * n * n));
        }
        let mut matrices = m.chunks_exact_mut(n * n);
        for group in &self.groups {
            for (l, m) in (0..group.count).zip(&mut matrices) {
                group.estimate.covariance(l, m);
            }
        }
        Ok(())
    }

    /// A covariance that can be inverted, for every stream: Σ = UUᵀ + diag(d), from the U that [`Stream::push`] gave at
    /// this tick and the variances that have been estimated from returns. As [`covariance::from_u`]; never allocates.
    /// A stream that was not split at this tick has no U, and gets NaN.
    pub fn sigma<F: Element>(
        &self,
        u: &[F],
        floor: f64,
        out: covariance::Outputs<'_, F>,
    ) -> Result<(), Error> {
        let (n, k, count) = (self.n(), self.k(), self.streams());
        // Streams come in order, and so do those of a group: the last group is nearly always the right one.
        let place = Cell::new((0, 0));
        let variance = |stream: usize, i: usize| {
            let (mut group, mut first) = place.get();
            while stream >= first + self.groups[group].count {
                first += self.groups[group].count;
                group += 1;
                place.set((group, first));
            }
            self.groups[group].estimate.variance(stream - first, i)
        };
        covariance::from_variances(n, k, count, &variance, u, floor, out, &mut |_, _| {})
    }

    /// Forgets everything: as if it were new.
    pub fn reset(&mut self) {
        for group in &mut self.groups {
            for l in 0..group.count {
                group.reset(l);
            }
        }
    }

    /// The same for one stream.
    pub fn reset_one(&mut self, stream: usize) -> Result<(), Error> {
        let (group, l) = self.find(stream)?;
        self.groups[group].reset(l);
        Ok(())
    }

    /// The group and the place of a stream.
    fn find(&self, stream: usize) -> Result<(usize, usize), Error> {
        let mut rest = stream;
        for (at, group) in self.groups.iter().enumerate() {
            if rest < group.count {
                return Ok((at, rest));
            }
            rest -= group.count;
        }
        let message = "there is no such stream: they are counted from 0";
        Err(Error::new(Status::Argument, message))
    }
}

impl Group {
    fn new(settled: &Settled, width: usize, count: usize) -> Result<Group, Error> {
        let size = settled.plan.n * settled.k;
        Ok(Group {
            count,
            width,
            estimate: Estimate::new(settled.plan, width)?,
            u: filled(size * width, 0.0)?,
            mean: filled(width, 0.0)?,
            splits: filled(width, 0)?,
            wanted: filled(count, false)?,
            sound: filled(count, false)?,
        })
    }

    fn reset(&mut self, l: usize) {
        self.estimate.reset(l);
        for x in self.u.iter_mut().skip(l).step_by(self.width) {
            *x = 0.0;
        }
        self.mean[l] = 0.0;
        self.splits[l] = 0;
    }
}

/// The same outputs, for a shorter time.
fn again<'a, F>(out: &'a mut Outputs<'_, F>) -> Outputs<'a, F> {
    Outputs {
        u: out.u.as_deref_mut(),
        l: out.l.as_deref_mut(),
        s: out.s.as_deref_mut(),
        reports: out.reports.as_deref_mut(),
    }
}

/// Which asset's return is infinite, or as good as that.
fn first_infinite<F: Real>(returns: &[F]) -> u32 {
    let bad = returns.iter().position(|&x| {
        let x: f64 = x.into();
        !x.is_nan() && x.abs() > estimate::MOST
    });
    bad.map_or(Report::NONE, |i| i as u32)
}

fn wrong_length(what: &str, len: usize, right: usize) -> Error {
    let message = format_args!("{what} has {len} values; it must have {right}");
    Error::format(Status::Shape, message)
}

#[cfg(test)]
mod tests;
