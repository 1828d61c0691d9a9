//! The forward pass, written once for both kernel shapes. `reference.rs` says what it computes.

use super::layers::{Curvature, Layer};
use super::rows::{self, Guard, Step, packed};
use super::{PARTIAL_SUMS, RMS_LIMIT, ROUNDS};
use crate::simd::{Real, Vector};
use core::marker::PhantomData;
use fearless_simd::Simd;

/// How matrices lie in vectors: a matrix in each lane, or a row in each lane.
pub(super) trait Shape<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>: Copy {
    fn n(self) -> usize;
    /// Vector rows of an n×k factor.
    fn rows(self) -> usize;
    /// Vectors in a symmetric n×n matrix.
    fn matrix(self) -> usize;
    /// Reads the lower triangles of row-major matrices; lanes without a matrix repeat the last one.
    fn pack(self, simd: S, matrices: &[F], raw: &mut [[F; W]]);
    /// Writes the rows of factors as row-major n×k tables.
    fn unpack_rows(self, k: usize, rows: &[[F; W]], tables: &mut [F]);
    /// L = `scale` U Uᵀ and S = M − L, both saturating at the largest finite value.
    #[allow(clippy::too_many_arguments)]
    fn split(
        self,
        simd: S,
        k: usize,
        scale: V,
        m: &[[F; W]],
        u: &[[F; W]],
        l: &mut [[F; W]],
        s: &mut [[F; W]],
    );
    /// Writes symmetric matrices row-major.
    fn unpack(self, simd: S, matrix: &[[F; W]], matrices: &mut [F]);
    /// The diagonal entries of one vector row.
    fn diagonal(self, simd: S, matrix: &[[F; W]], row: usize) -> V;
    /// The largest |M_ij|, and the sum of 0·M_ij, which is not zero if an entry is not finite.
    fn extremes(self, simd: S, raw: &[[F; W]]) -> (V, V);
    /// Σ over all entries of a symmetric function of them; `term` takes the entry's place in a matrix
    /// and gives 0 for an entry of 0. `sums` is scratch.
    fn sum_entries(self, simd: S, sums: &mut [[F; W]], term: impl Fn(usize) -> V) -> V;
    /// Spreads a table over vector rows. It has k columns, one after the other, with zeros past n.
    fn spread(self, k: usize, table: &[F], rows: &mut [[F; W]]);
    /// Σ over the rows of a number for each, in every lane that needs it. Rows past n are zero.
    fn sum(self, simd: S, numbers: &[[F; W]]) -> V;
    /// `g` = the lower triangle of xᵀ y, likewise, for two n×k factors.
    fn gram(self, simd: S, k: usize, x: &[[F; W]], y: &[[F; W]], g: &mut [[F; W]]);
    /// `out` = `matrix` · `x`, both n×k.
    fn multiply(self, simd: S, k: usize, matrix: &[[F; W]], x: &[[F; W]], out: &mut [[F; W]]);
    /// From R = M̂ − U Uᵀ the weights w, and from them what the rows' steps need: see [`Terms`]. `own` is
    /// u_j u_jᵀ of every row if A_i is wanted.
    #[allow(clippy::too_many_arguments)]
    fn accumulate(
        self,
        simd: S,
        k: usize,
        influence: Influence<V>,
        m: &[[F; W]],
        u: &[[F; W]],
        own: Option<&[[F; W]]>,
        terms: Terms<'_, F, W>,
    );
}

/// What [`Shape::accumulate`] computes for every row.
pub(super) struct Terms<'a, F, const W: usize> {
    /// Room for w, if A_i is wanted.
    pub(super) w: &'a mut [[F; W]],
    /// Room for w R.
    pub(super) c: &'a mut [[F; W]],
    /// A_i = Σ_j w_ij u_j u_jᵀ, if wanted.
    pub(super) a: &'a mut [[F; W]],
    /// b_i = Σ_j w_ij R_ij u_j.
    pub(super) b: &'a mut [[F; W]],
    /// Σ |R_ij| over j < i.
    pub(super) sums: &'a mut [[F; W]],
    /// Σ w_ij over all j, unless A_i is wanted; not zero for padding.
    pub(super) trust: &'a mut [[F; W]],
}

/// The weight function of a layer: w = `scale` / (`scale` + R²) off the diagonal, and on it
/// w = `diagonal_trust` / (`diagonal_scale` + R²).
#[derive(Clone, Copy)]
pub(super) struct Influence<V> {
    pub(super) scale: V,
    pub(super) diagonal_scale: V,
    pub(super) diagonal_trust: V,
}

/// Working memory, in vectors. Contents on entry do not matter.
pub(super) struct Buffers<'a, F, const W: usize> {
    /// M as it was given.
    pub(super) raw: &'a mut [[F; W]],
    /// M̂ = M / s.
    pub(super) m: &'a mut [[F; W]],
    pub(super) w: &'a mut [[F; W]],
    /// w R.
    pub(super) c: &'a mut [[F; W]],
    pub(super) u: &'a mut [[F; W]],
    /// U of the layer before, then of the layer after.
    pub(super) v: &'a mut [[F; W]],
    /// u_j u_jᵀ.
    pub(super) p: &'a mut [[F; W]],
    /// A_i.
    pub(super) a: &'a mut [[F; W]],
    /// Right-hand sides, then steps.
    pub(super) b: &'a mut [[F; W]],
    /// A number for every row.
    pub(super) sums: &'a mut [[F; W]],
    /// Σ_j w_ij.
    pub(super) trust: &'a mut [[F; W]],
    /// |u_i|².
    pub(super) norms: &'a mut [[F; W]],
    /// A k×k matrix.
    pub(super) g: &'a mut [[F; W]],
}

impl<'a, F: Real, const W: usize> Buffers<'a, F, W> {
    /// How many vectors are needed for matrices of `matrix` vectors and factors of `rows` rows.
    pub(super) const fn len(matrix: usize, rows: usize, k: usize) -> usize {
        4 * matrix + rows * (3 * k + 2 * packed(k) + 3) + packed(k)
    }

    pub(super) fn carve(
        memory: &'a mut [[F; W]],
        matrix: usize,
        rows: usize,
        k: usize,
    ) -> Buffers<'a, F, W> {
        let mut rest = memory;
        let mut take = |len| {
            let (head, tail) = core::mem::take(&mut rest).split_at_mut(len);
            rest = tail;
            head
        };
        Buffers {
            m: take(matrix),
            w: take(matrix),
            c: take(matrix),
            u: take(rows * k),
            v: take(rows * k),
            p: take(rows * packed(k)),
            a: take(rows * packed(k)),
            b: take(rows * k),
            sums: take(rows),
            trust: take(rows),
            norms: take(rows),
            g: take(packed(k)),
            raw: take(matrix),
        }
    }
}

/// A network for matrices of one size.
#[derive(Clone, Copy)]
pub(super) struct Network<'a, F> {
    pub(super) k: usize,
    /// Ω for [`Shape::spread`].
    pub(super) omega: &'a [F],
    pub(super) layers: &'a [Layer<F>],
}

impl<F: Real> Network<'_, F> {
    /// From M̂ in `buffers.m` to U, in units of √s, in `buffers.u`.
    #[inline(always)]
    pub(super) fn forward<S, V, const W: usize, Sh>(
        self,
        simd: S,
        shape: Sh,
        buffers: &mut Buffers<'_, F, W>,
    ) where
        S: Simd,
        V: Vector<S, F, W>,
        Sh: Shape<S, F, V, W>,
    {
        let pass = Pass::<S, F, V, Sh, W> {
            simd,
            shape,
            k: self.k,
            vector: PhantomData,
        };
        pass.start(self.omega, buffers);
        // No momentum yet.
        buffers.v.copy_from_slice(buffers.u);
        let mut mean = pass.splat(0.0);
        for layer in self.layers {
            mean = pass.layer(layer, mean, buffers);
        }
    }
}

/// What every step of a forward pass needs to know.
#[derive(Clone, Copy)]
struct Pass<S, F, V, Sh, const W: usize> {
    simd: S,
    shape: Sh,
    k: usize,
    vector: PhantomData<(F, V)>,
}

impl<S, F, V, Sh, const W: usize> Pass<S, F, V, Sh, W>
where
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
    Sh: Shape<S, F, V, W>,
{
    #[inline(always)]
    fn load(self, x: &[F; W]) -> V {
        V::load_array_ref(self.simd, x)
    }

    #[inline(always)]
    fn splat(self, x: f64) -> V {
        V::splat(self.simd, F::from_f64(x))
    }

    /// U₀: orthogonal iteration from Ω, then the Nyström factor.
    #[inline(always)]
    fn start(self, omega: &[F], buffers: &mut Buffers<'_, F, W>) {
        let Pass { simd, shape, k, .. } = self;
        let Buffers {
            m, u, v, g, norms, ..
        } = buffers;
        shape.spread(k, omega, u);
        for _ in 0..ROUNDS {
            shape.multiply(simd, k, m, u, v);
            shape.gram(simd, k, v, v, g);
            // An entry of an orthonormal matrix is at most 1.
            rows::unmix::<S, F, V, W>(simd, k, Guard::Ridge, shape.n() as f64, g, v);
            core::mem::swap(u, v);
        }
        shape.multiply(simd, k, m, u, v);
        shape.gram(simd, k, u, v, g);
        // An entry of the factor of a positive semidefinite matrix of trace n is at most √n.
        rows::unmix::<S, F, V, W>(simd, k, Guard::Pivot, shape.n() as f64, g, v);
        self.squares(v, norms);
        let limit = self.splat(RMS_LIMIT * RMS_LIMIT);
        let shrink = (limit / self.mean(norms).max(limit)).sqrt();
        for (u, v) in u.iter_mut().zip(v.iter()) {
            (self.load(v) * shrink).store_array(u);
        }
        self.squares(u, norms);
    }

    /// |u_i|² of every row.
    #[inline(always)]
    fn squares(self, u: &[[F; W]], norms: &mut [[F; W]]) {
        for (u, norm) in u.chunks_exact(self.k).zip(norms) {
            let mut square = self.splat(0.0);
            for x in u {
                let x = self.load(x);
                square = x.mul_add(x, square);
            }
            square.store_array(norm);
        }
    }

    /// The mean of a number over the rows.
    #[inline(always)]
    fn mean(self, numbers: &[[F; W]]) -> V {
        self.shape.sum(self.simd, numbers) * self.splat(1.0 / self.shape.n() as f64)
    }

    /// One layer. Takes the mean |R_ij| that the layer before saw, and gives the one that this layer saw.
    #[inline(always)]
    fn layer(self, layer: &Layer<F>, mean: V, buffers: &mut Buffers<'_, F, W>) -> V {
        let Pass { simd, shape, k, .. } = self;
        let Buffers {
            m,
            w,
            c,
            u,
            v,
            p,
            a,
            b,
            sums,
            trust,
            norms,
            g,
            ..
        } = buffers;
        let splat = |x: F| V::splat(simd, x);
        let square = mean * mean;
        let diagonal_scale = splat(layer.gamma).mul_add(square, splat(layer.delta));
        let influence = Influence {
            scale: splat(layer.alpha).mul_add(square, splat(layer.beta)),
            diagonal_scale,
            diagonal_trust: splat(layer.sigma) * diagonal_scale,
        };
        let limit = self.mean(norms).min(self.splat(RMS_LIMIT * RMS_LIMIT));
        let step = Step {
            eta: splat(layer.eta),
            mu: splat(layer.mu),
            limit: limit.mul_add(self.splat(16.0), V::splat(simd, F::TINY)),
        };
        let mut own = None;
        if layer.curvature == Curvature::Own {
            rows::products::<S, F, V, W>(simd, k, u, p);
            own = Some(&**p);
        } else {
            shape.gram(simd, k, u, u, g);
        }
        let terms = Terms {
            w,
            c,
            a,
            b,
            sums,
            trust,
        };
        shape.accumulate(simd, k, influence, m, u, own, terms);
        // The sum over pairs j < i, divided by n and by the rest of n (n − 1) / 2.
        let mean = self.mean(sums) * self.splat(2.0 / (shape.n() as f64 - 1.0));
        if own.is_some() {
            rows::step_own::<S, F, V, W>(simd, k, step, a, b, u, v, norms);
        } else {
            rows::step_shared::<S, F, V, W>(simd, k, shape.n(), step, g, trust, b, u, v, norms);
        }
        core::mem::swap(u, v);
        mean
    }
}

/// Folds the partial sums of rows in halves.
#[inline(always)]
pub(super) fn fold<S: Simd, F: Real, V: Vector<S, F, W>, const W: usize>(
    mut partial: [V; PARTIAL_SUMS],
    count: usize,
) -> V {
    let mut half = count / 2;
    while half > 0 {
        for g in 0..half {
            partial[g] += partial[g + half];
        }
        half /= 2;
    }
    partial[0]
}
