//! One group of matrices: to unit scale, through the network, and back to what was asked for.

use super::{Engine, WIDEST};
use crate::batch::{Batch, Outputs, Report};
use crate::simd::{Real, Vector};
use crate::unrolled::ahead::Ahead;
use crate::unrolled::buffers::Buffers;
use crate::unrolled::canonical::canonical;
use crate::unrolled::forward::{forward, forward_careful};
use crate::unrolled::missing::{self, Holes};
use crate::unrolled::rank::by_constant;
use crate::unrolled::report::report;
use crate::unrolled::scale::Scale;
use crate::unrolled::shape::Shape;
use crate::unrolled::units;

impl<F: Real> Engine<F> {
    /// Decomposes the matrices that the shape takes at once; whether all were finite. If there are matrices in `next`, it
    /// is worth while to ask for them, and for where results go, in time.
    #[inline(always)]
    pub(super) fn group<V: Vector<Scalar = F>>(
        &self,
        shape: impl Shape<V>,
        memory: &mut [V::Array],
        mut group: Batch<'_, F>,
        next: Option<&[F]>,
    ) -> bool {
        let mut buffers = Buffers::carve(memory, shape, self.k, self.missing);
        shape.pack(group.source(), buffers.raw);
        let ready = self.prepare(shape, self.missing, &mut buffers);
        let all_finite = ready.scale.finite(group.count);
        // Looked for before S takes the place of M.
        let first_bad = (!all_finite).then(|| find_bad(&group, self.missing));
        let mut weights = self.weights();
        if let Some(next) = next {
            let Outputs { l, s, .. } = &group.out;
            let [l, s] = [l, s].map(|out| out.as_deref().unwrap_or_default());
            weights.ahead = Some(Ahead {
                parts: [next, l, s],
            });
        }
        let unsettled = if self.careful {
            forward_careful(shape, weights, ready.holes, &mut buffers)
        } else {
            let told = group.out.reports.is_some();
            forward(shape, weights, ready.holes, told, &mut buffers)
        };
        self.finish(shape, &ready, unsettled, &mut buffers, &mut group.out);
        if let Some(u) = &mut group.out.u {
            for u in u.chunks_exact_mut(self.n * self.k) {
                canonical(self.k, u);
            }
        }
        if let Some(first_bad) = first_bad {
            mark_bad(&mut group, first_bad);
        }
        all_finite
    }

    /// From M in `buffers.raw` to what the network sees, in `buffers.m`. NaN is an entry that is not known, if they may
    /// be `missing`.
    #[inline(never)]
    pub(in crate::unrolled) fn prepare<V: Vector<Scalar = F>>(
        &self,
        shape: impl Shape<V>,
        missing: bool,
        buffers: &mut Buffers<'_, V>,
    ) -> Ready<V> {
        let vectors = shape.vectors();
        vectors.vectorize(
            #[inline(always)]
            || {
                let ones = self.weights().ones(shape);
                let mut scale = Scale::of(shape, buffers.raw, buffers.sums);
                let mut holes = None;
                if missing && !scale.finite(V::W) {
                    let found = Holes::find(shape, ones, buffers);
                    let share = found.share_of_variances(shape);
                    scale = Scale::of_known(shape, buffers.m, share, buffers.sums);
                    holes = Some(found);
                }
                normal(shape, scale, holes, buffers);
                if let Some(found) = holes {
                    holes = Some(missing::leave_out(shape, ones, found, buffers));
                } else {
                    let share = vectors.number(1.0 / self.n as f64);
                    for x in buffers.shares.iter_mut() {
                        share.store_array(x);
                    }
                }
                let mut unit = vectors.one();
                if self.correlation {
                    unit = units::standardise(shape, holes.is_some(), buffers);
                }
                Ready { scale, holes, unit }
            },
        )
    }

    /// From U of what the network saw, in `buffers.u`, to what is asked for. Columns of U are as the network has them.
    #[inline(never)]
    pub(in crate::unrolled) fn finish<V: Vector<Scalar = F>>(
        &self,
        shape: impl Shape<V>,
        ready: &Ready<V>,
        unsettled: V,
        buffers: &mut Buffers<'_, V>,
        out: &mut Outputs<'_, F>,
    ) {
        let vectors = shape.vectors();
        vectors.vectorize(
            #[inline(always)]
            || self.finish_there(shape, ready, unsettled, buffers, out),
        );
    }

    /// [`Engine::finish`], to be inlined where the instruction set is enabled.
    #[inline(always)]
    fn finish_there<V: Vector<Scalar = F>, S: Shape<V>>(
        &self,
        shape: S,
        ready: &Ready<V>,
        unsettled: V,
        buffers: &mut Buffers<'_, V>,
        out: &mut Outputs<'_, F>,
    ) {
        let (k, vectors) = (self.k, shape.vectors());
        let Ready { scale, holes, unit } = ready;
        if self.correlation {
            units::restore(shape, k, *unit, scale, holes.is_some(), buffers);
        }
        if let Some(u) = &mut out.u {
            let root = scale.s.sqrt();
            for (v, u) in buffers.v.iter_mut().zip(buffers.u.iter()) {
                (vectors.load(u) * root).store_array(v);
            }
            shape.unpack_rows(k, buffers.v, u);
        }
        let (l, s) = (&mut out.l, &mut out.s);
        let wanted = l.is_some() || s.is_some();
        if wanted && S::SPLIT_FIRST || out.reports.is_some() {
            let Buffers { raw, w, c, u, .. } = &mut *buffers;
            by_constant::<1, 3, V>(
                vectors,
                k,
                #[inline(always)]
                |k| shape.split(k, scale.s, raw, u, w, c),
            );
        }
        if let Some(reports) = &mut out.reports {
            if holes.is_some() {
                missing::replace(vectors, buffers.raw, F::ZERO, buffers.c);
            }
            report(shape, scale, unsettled, *holes, buffers, reports);
        }
        if wanted {
            let Buffers { raw, w, c, u, .. } = &mut *buffers;
            let [l, s] = [l, s].map(|out| out.as_deref_mut().unwrap_or_default());
            shape.deliver(k, scale.s, raw, u, (w, c), holes.is_some(), l, s);
        }
    }
}

/// A group whose matrices are ready for the network.
pub(in crate::unrolled) struct Ready<V> {
    pub(in crate::unrolled) scale: Scale<V>,
    pub(in crate::unrolled) holes: Option<Holes<V>>,
    /// The scale of the correlation matrices, if those are split.
    unit: V,
}

/// M̂ in `buffers.m`, from M.
#[inline(always)]
fn normal<V: Vector>(
    shape: impl Shape<V>,
    scale: Scale<V>,
    holes: Option<Holes<V>>,
    buffers: &mut Buffers<'_, V>,
) {
    match holes {
        None => scale.apply(shape, buffers.raw, buffers.m),
        Some(_) => scale.apply_known(shape, buffers.raw, buffers.m),
    }
}

/// Where each matrix has its first entry that is infinite, or NaN unless that may be `missing`.
#[cold]
#[inline(never)]
fn find_bad<F: Real>(group: &Batch<'_, F>, missing: bool) -> [u32; WIDEST] {
    core::array::from_fn(|i| {
        if i < group.count {
            group.first_bad(i, missing)
        } else {
            Report::NONE
        }
    })
}

#[cold]
#[inline(never)]
fn mark_bad<F: Real>(group: &mut Batch<'_, F>, first_bad: [u32; WIDEST]) {
    for (i, first_bad) in first_bad.into_iter().enumerate() {
        if first_bad != Report::NONE {
            group.mark_not_finite(i, first_bad);
        }
    }
}
