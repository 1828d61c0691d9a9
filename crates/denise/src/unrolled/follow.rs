//! One tick of a group of streams: U of the tick before goes through the layers that follow, on the new M.
//!
//! Every [`CHECK`] ticks the network starts from scratch as well, on the same M, and takes over if what it leaves
//! unexplained is clearly less. So a stream that has lost its way is back within that time, whatever happened.

use super::align::align;
use super::balance::{balance, restore};
use super::buffers::{Buffers, Workspace};
use super::canonical::canonical;
use super::engine::{Engine, Ready, WIDEST, worthwhile};
use super::forward::{note_variances, run, run_layers};
use super::missing::Holes;
use super::report::last_step;
use super::rows;
use super::shape::Shape;
use crate::batch::Batch;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
use crate::simd::narrow;
use crate::simd::{Isa, Real, Vector, Vectors};
use crate::team::Team;
use crate::tick::{Matrices, Side, Tick, Track};
use fearless_simd::Select;

/// A start from scratch competes at every so manyth split.
pub const CHECK: u64 = 20;
/// It wins if Σ|S_ij| is less than this share of what the stream leaves.
pub const CLEARLY: f64 = 0.96;

/// Room for matrices and factors that are not in vectors.
pub(crate) struct Tables<'a, F> {
    /// A matrix.
    pub(crate) matrix: &'a mut [F],
    /// Two factors for each stream of a group.
    pub(crate) factors: &'a mut [F],
}

impl<F: Real> Engine<F> {
    /// Values that [`Tables`] need.
    pub(crate) fn tables_len(&self) -> usize {
        self.n() * (self.n() + 2 * WIDEST * self.k())
    }

    /// Moves streams that are side by side on by a tick: see [`Tick`].
    pub(crate) fn follow(
        &self,
        isa: Isa,
        workspace: &mut Workspace,
        tables: &mut [F],
        tick: Tick<'_, F>,
    ) {
        match isa {
            Isa::Portable(simd) => {
                self.follow_on(Vectors::<F::Portable>::new(simd), workspace, tables, tick);
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd) => {
                self.follow_on(Vectors::<F::Avx2>::new(simd), workspace, tables, tick);
            }
            #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
            Isa::Avx512(simd) => {
                if tick.track.width > 1 && tick.wanted.len() <= F::Avx512::W / 2 {
                    let vectors = Vectors::<F::Avx2>::new(narrow(simd));
                    self.follow_on(vectors, workspace, tables, tick);
                } else {
                    self.follow_on(Vectors::<F::Avx512>::new(simd), workspace, tables, tick);
                }
            }
        }
    }

    #[inline(always)]
    fn follow_on<V: Vector<Scalar = F>>(
        &self,
        vectors: Vectors<V>,
        workspace: &mut Workspace,
        tables: &mut [F],
        tick: Tick<'_, F>,
    ) {
        let Tick {
            matrices,
            track,
            wanted,
            missing,
            out,
        } = tick;
        let lanes = track.width > 1 && self.lanes_fit(vectors);
        let (given, estimated) = match matrices {
            Matrices::Given(m) => (Some(m), None),
            Matrices::Estimated(m) => (None, Some(m)),
        };
        let mut rest = Batch {
            n: self.n(),
            k: self.k(),
            count: wanted.len(),
            m: given,
            out,
        };
        let (matrix, factors) = tables.split_at_mut(self.n() * self.n());
        let mut first = track.first;
        for wanted in wanted.chunks_mut(if lanes { V::W } else { 1 }) {
            let group = rest.take(wanted.len());
            let at = Side {
                values: &[][..],
                width: track.width,
                first,
            };
            let tick = Tick {
                matrices: match estimated {
                    Some(m) => Matrices::Estimated(Side {
                        values: m.values,
                        ..at
                    }),
                    None => Matrices::Given(group.m.unwrap_or(&[])),
                },
                track: Track {
                    u: &mut *track.u,
                    mean: &mut *track.mean,
                    splits: &mut *track.splits,
                    width: track.width,
                    first,
                },
                wanted,
                missing,
                out: group.out,
            };
            let tables = Tables {
                matrix: &mut *matrix,
                factors: &mut *factors,
            };
            let memory = workspace.vectors::<V>();
            first += tick.wanted.len();
            if worthwhile::<V>() && lanes {
                vectors.vectorize(
                    #[inline(always)]
                    || self.follow_group(self.lanes(vectors), memory, tables, tick),
                );
            } else {
                vectors.vectorize(
                    #[inline(always)]
                    || {
                        self.follow_group(
                            self.single(vectors, &Team::alone()),
                            memory,
                            tables,
                            tick,
                        )
                    },
                );
            }
        }
    }

    /// Moves the streams of a group on by a tick, and writes what is asked for. A stream whose matrix is not finite stays
    /// where it is, and is no longer `wanted`.
    #[inline(always)]
    pub(super) fn follow_group<V: Vector<Scalar = F>>(
        &self,
        shape: impl Shape<V>,
        memory: &mut [V::Array],
        tables: Tables<'_, F>,
        mut tick: Tick<'_, F>,
    ) {
        let (k, vectors) = (self.k(), shape.vectors());
        let weights = self.weights();
        let mut buffers = Buffers::carve(memory, shape, k, true);
        match tick.matrices {
            Matrices::Given(m) => shape.pack(m, buffers.raw),
            Matrices::Estimated(m) => shape.pack_estimates(m, tables.matrix, buffers.raw),
        }
        let ready = self.prepare(shape, tick.missing, &mut buffers);
        for (l, wanted) in tick.wanted.iter_mut().enumerate() {
            *wanted &= ready.scale.finite_at(l);
        }
        let told = tick.out.reports.is_some();
        let (mean, unsettled) = vectors.vectorize(
            #[inline(always)]
            || {
                let buffers = &mut buffers;
                balance(shape, weights.bounds, buffers);
                note_variances(shape, ready.holes, buffers);
                let track = &tick.track;
                let state = Side {
                    values: &*track.u,
                    width: track.width,
                    first: track.first,
                };
                shape.pack_rows(k, state, buffers.u);
                let mean = shape.each(|l| F::from_f64(track.mean[track.first + l]));
                rows::squares(vectors, k, buffers.u, buffers.norms);
                let mean = run_layers(shape, weights, weights.follow, mean, ready.holes, buffers);
                let unsettled = if told {
                    last_step(shape, k, buffers)
                } else {
                    vectors.zero()
                };
                (mean, unsettled)
            },
        );
        let due = |l: usize| tick.track.splits[tick.track.first + l].is_multiple_of(CHECK);
        let wanted = &*tick.wanted;
        let (mean, unsettled) = if (0..wanted.len()).any(|l| wanted[l] && due(l)) {
            let followed = Followed { mean, unsettled };
            let turns = Turns {
                wanted,
                splits: &tick.track.splits[tick.track.first..],
                factors: tables.factors,
            };
            self.compete(shape, &ready, followed, turns, &mut buffers)
        } else {
            (mean, unsettled)
        };
        if ready.holes.is_some() {
            forget_unknown(shape, k, &mut buffers);
        }
        self.keep(shape, mean, &mut tick, &buffers);
        restore(vectors, k, buffers.sizes, buffers.u);
        self.finish(shape, &ready, unsettled, &mut buffers, &mut tick.out);
    }

    /// Keeps U, in `buffers.u`, and the rest of what the next tick needs. Where U is zero, `buffers.norms` is, and there
    /// is nothing to follow: the next tick starts from scratch.
    #[inline(always)]
    fn keep<V: Vector<Scalar = F>>(
        &self,
        shape: impl Shape<V>,
        mean: V,
        tick: &mut Tick<'_, F>,
        buffers: &Buffers<'_, V>,
    ) {
        let u = &*buffers.u;
        let size = shape.sum(buffers.norms).to_array();
        let Track {
            u: state,
            mean: means,
            splits,
            width,
            first,
        } = &mut tick.track;
        let wanted = &*tick.wanted;
        let mean = mean.to_array();
        let all = wanted.len() == shape.matrices() && wanted.iter().all(|&wanted| wanted);
        if all {
            shape.take_rows(
                self.k(),
                u,
                #[inline(always)]
                |e, l, x| state[e * *width + *first + l] = x.into(),
            );
        } else {
            shape.take_rows(
                self.k(),
                u,
                #[inline(always)]
                |e, l, x| {
                    if wanted.get(l) == Some(&true) {
                        state[e * *width + *first + l] = x.into();
                    }
                },
            );
        }
        for (l, &wanted) in wanted.iter().enumerate() {
            if wanted {
                means[*first + l] = mean[l].into();
                let splits = &mut splits[*first + l];
                *splits = if size[l] > F::ZERO { *splits + 1 } else { 0 };
            }
        }
    }

    /// Starts from scratch as well, and chooses. Gives what [`Followed`] has, of those that were chosen.
    #[cold]
    #[inline(never)]
    fn compete<V: Vector<Scalar = F>>(
        &self,
        shape: impl Shape<V>,
        ready: &Ready<V>,
        followed: Followed<V>,
        turns: Turns<'_, F>,
        buffers: &mut Buffers<'_, V>,
    ) -> (V, V) {
        let vectors = shape.vectors();
        vectors.vectorize(
            #[inline(always)]
            || {
                let k = self.k();
                let left = objective(shape, k, ready.holes, buffers);
                buffers.kept.copy_from_slice(buffers.u);
                let mean = run(shape, self.weights(), ready.holes, 1.0, buffers);
                let unsettled = last_step(shape, k, buffers);
                let again = objective(shape, k, ready.holes, buffers);
                let clearly = vectors.number(CLEARLY);
                let better: V = again
                    .simd_lt(left * clearly)
                    .select(vectors.one(), vectors.zero());
                let better = better.to_array();
                let Turns {
                    wanted,
                    splits,
                    factors,
                } = turns;
                let wins = |l: usize| match splits[l] {
                    _ if l >= wanted.len() || !wanted[l] => false,
                    0 => true,
                    splits => splits.is_multiple_of(CHECK) && better[l] == F::ONE,
                };
                let fresh = |l: usize| splits[l] == 0;
                turn(shape, k, &wins, &fresh, factors, buffers);
                let number = |yes: bool| if yes { F::ONE } else { F::ZERO };
                let chosen = shape.each(|l| number(wins(l))).simd_gt(vectors.zero());
                for (u, kept) in buffers.u.iter_mut().zip(buffers.kept.iter()) {
                    let u_t: V = chosen.select(vectors.load(u), vectors.load(kept));
                    u_t.store_array(u);
                }
                rows::squares(vectors, k, buffers.u, buffers.norms);
                (
                    chosen.select(mean, followed.mean),
                    chosen.select(unsettled, followed.unsettled),
                )
            },
        )
    }
}

/// What is known of U beside it, after the layers.
struct Followed<V> {
    mean: V,
    unsettled: V,
}

/// Who may start again.
struct Turns<'a, F> {
    wanted: &'a [bool],
    splits: &'a [u64],
    /// As in [`Tables`].
    factors: &'a mut [F],
}

/// Turns new factors, in `buffers.u`, of streams that take them: to the old ones in `buffers.kept`, or to canonical form
/// if there are none.
#[inline(always)]
fn turn<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    wins: &impl Fn(usize) -> bool,
    fresh: &impl Fn(usize) -> bool,
    factors: &mut [V::Scalar],
    buffers: &mut Buffers<'_, V>,
) {
    let count = shape.matrices();
    if !(0..count).any(wins) {
        return;
    }
    let vectors = shape.vectors();
    let size = shape.n() * k;
    let (new, old) = factors.split_at_mut(count * size);
    let Buffers {
        u, b, kept, sizes, ..
    } = buffers;
    for (from, to) in [(&*u, &mut *new), (&*kept, &mut old[..count * size])] {
        b.copy_from_slice(from);
        restore(vectors, k, sizes, b);
        shape.take_rows(k, b, |e, l, x| to[l * size + e] = x);
    }
    for l in (0..count).filter(|&l| wins(l)) {
        let place = l * size..(l + 1) * size;
        if fresh(l) {
            canonical(k, &mut new[place]);
        } else {
            align(k, &mut new[place.clone()], &old[place]);
        }
    }
    shape.put_rows(k, u, |e, l| new[l * size + e]);
    for (u, size) in u.chunks_exact_mut(k).zip(sizes.iter()) {
        let inverse = vectors.one() / vectors.load(size);
        for x in u {
            (vectors.load(x) * inverse).store_array(x);
        }
    }
}

/// Σ |S_ij| over what is known, in the units of M̂. w and c are overwritten.
#[inline(always)]
fn objective<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    holes: Option<Holes<V>>,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let vectors = shape.vectors();
    let Buffers {
        m,
        w,
        c,
        u,
        sums,
        sizes,
        known,
        ..
    } = buffers;
    shape.split(k, vectors.one(), m, u, w, c);
    if holes.is_some() {
        for (c, known) in c.iter_mut().zip(known.iter()) {
            (vectors.load(c) * vectors.load(known)).store_array(c);
        }
    }
    shape.scale_both(sizes, c);
    let c = &**c;
    let [sum] = shape.sum_entries(
        sums,
        #[inline(always)]
        |at| [vectors.load(&c[at]).abs()],
    );
    sum
}

/// A row of U of which nothing is known any more becomes zero.
#[cold]
#[inline(never)]
fn forget_unknown<V: Vector>(shape: impl Shape<V>, k: usize, buffers: &mut Buffers<'_, V>) {
    let vectors: Vectors<V> = shape.vectors();
    vectors.vectorize(
        #[inline(always)]
        || {
            let Buffers {
                known,
                norms,
                sums,
                u,
                ..
            } = buffers;
            shape.row_sums(
                known,
                sums,
                #[inline(always)]
                |x| x,
            );
            for (u, count) in u.chunks_exact_mut(k).zip(sums.iter()) {
                let some = vectors.load(count).min(vectors.one());
                for x in u {
                    (vectors.load(x) * some).store_array(x);
                }
            }
            rows::squares(vectors, k, u, norms);
        },
    );
}
