//! Entries of M that are not known: the caller gives NaN for them. `reference.rs` says what is computed.
//!
//! They are zero in M̂, and have weight zero and residual zero in every layer. A layer here goes through the matrix a few
//! times, where one without holes goes through it once. So the hot loops need no second copy, and the arithmetic is that
//! of a layer without holes, in the same order: a matrix without holes, in a group with others, keeps its bits.

use super::buffers::Buffers;
use super::rows;
use super::shape::{Influence, Layout, Shape, Terms};
use super::triangle::triangle;
use crate::simd::{Real, Vector, Vectors};
use fearless_simd::Select;

/// How much is missing in each matrix of a group.
#[derive(Clone, Copy)]
pub(super) struct Holes<V> {
    /// Pairs j < i that are not known.
    pairs: V,
    /// Entries of the diagonal that are not known.
    variances: V,
    /// Assets of which something is known beside their own variance. The others are nothing to the network: it splits as
    /// if they were not there.
    live: V,
    /// Entries of the lower triangle between these that are not known.
    gaps: V,
}

impl<V: Vector> Holes<V> {
    /// Finds NaN in `buffers.raw`, for which `buffers.m` gets zeros, and writes `buffers.known`. `ones` is a column of
    /// ones, for `Pack::spread`.
    #[inline(never)]
    pub(super) fn find(
        shape: impl Shape<V>,
        ones: &[V::Scalar],
        buffers: &mut Buffers<'_, V>,
    ) -> Holes<V> {
        shape.vectors().vectorize(
            #[inline(always)]
            || Holes::find_there(shape, ones, buffers),
        )
    }

    /// [`Holes::find`], to be inlined where the instruction set is enabled.
    #[inline(always)]
    fn find_there(
        shape: impl Shape<V>,
        ones: &[V::Scalar],
        buffers: &mut Buffers<'_, V>,
    ) -> Holes<V> {
        let vectors = shape.vectors();
        let (zero, one) = (vectors.zero(), vectors.one());
        let Buffers {
            raw,
            m,
            known,
            sums,
            norms,
            ..
        } = buffers;
        for ((raw, m), known) in raw.iter().zip(m.iter_mut()).zip(known.iter_mut()) {
            let x = vectors.load(raw);
            or_zero(vectors, x).store_array(m);
            let there: V = x.simd_eq(x).select(one, zero);
            there.store_array(known);
        }
        // Not in padding.
        shape.spread(1, ones, norms);
        shape.scale_both(norms, known);
        let known = &**known;
        let n = shape.n() as f64;
        let pairs = shape.sum_pairs(
            sums,
            #[inline(always)]
            |at| vectors.load(&known[at]),
        );
        diagonal(shape, known, sums);
        let pairs = vectors.number(n * (n - 1.0) / 2.0) - pairs;
        let variances = vectors.number(n) - shape.sum(sums);
        Holes {
            pairs,
            variances,
            live: vectors.number(n),
            gaps: pairs + variances,
        }
    }

    /// Entries of the lower triangle that are not known.
    #[inline(always)]
    pub(super) fn count(self) -> V {
        self.pairs + self.variances
    }

    /// Entries of the whole matrix that are known, at least one.
    #[inline(always)]
    pub(super) fn known_entries(self, shape: impl Layout<V>) -> V {
        let vectors = shape.vectors();
        let all = vectors.number((shape.n() * shape.n()) as f64);
        (all - self.pairs - self.pairs - self.variances).max(vectors.one())
    }

    /// One by how many variances are known.
    #[inline(always)]
    pub(super) fn share_of_variances(self, shape: impl Layout<V>) -> V {
        let vectors = shape.vectors();
        let known = vectors.number(shape.n() as f64) - self.variances;
        vectors.one() / known.max(vectors.one())
    }

    /// What takes the mean over rows of a sum over j < i to the mean over known pairs.
    #[inline(always)]
    pub(super) fn share_of_pairs(self, shape: impl Layout<V>) -> V {
        let (vectors, n) = (shape.vectors(), shape.n() as f64);
        let known = vectors.number(n * (n - 1.0) / 2.0) - self.pairs;
        vectors.number(n) / known.max(vectors.one())
    }

    /// What takes a mean over all assets to the mean over those that are there: one if all are.
    #[inline(always)]
    pub(super) fn stretch(self, shape: impl Layout<V>) -> V {
        let vectors = shape.vectors();
        vectors.number(shape.n() as f64) / self.live.max(vectors.one())
    }

    /// A number that depends on how many assets are there.
    #[inline(always)]
    pub(super) fn by_assets(self, vectors: Vectors<V>, number: impl Fn(f64) -> f64) -> V {
        let mut each = self.live.to_array();
        for x in each.as_mut() {
            let assets: f64 = (*x).into();
            *x = V::Scalar::from_f64(number(assets));
        }
        vectors.load(&each)
    }

    /// `whole` in lanes whose matrix has no holes between assets that are there, else `holed`.
    #[inline(always)]
    pub(super) fn choose(self, vectors: Vectors<V>, whole: V, holed: V) -> V {
        self.gaps.simd_eq(vectors.zero()).select(whole, holed)
    }
}

/// Zero for NaN.
#[inline(always)]
pub(super) fn or_zero<V: Vector>(vectors: Vectors<V>, x: V) -> V {
    x.simd_eq(x).select(x, vectors.zero())
}

/// The diagonal of a matrix, a number for every row. Not inlined, since in the single shape it is much code.
#[inline(never)]
pub(super) fn diagonal<V: Vector>(
    shape: impl Shape<V>,
    matrix: &[V::Array],
    numbers: &mut [V::Array],
) {
    shape.vectors().vectorize(
        #[inline(always)]
        || {
            for row in 0..shape.rows() {
                shape.diagonal(matrix, row).store_array(&mut numbers[row]);
            }
        },
    );
}

/// Writes the diagonal of a matrix.
#[inline(never)]
fn set_diagonal<V: Vector>(shape: impl Shape<V>, matrix: &mut [V::Array], numbers: &[V::Array]) {
    let vectors = shape.vectors();
    vectors.vectorize(
        #[inline(always)]
        || {
            for row in 0..shape.rows() {
                shape.set_diagonal(matrix, row, vectors.load(&numbers[row]));
            }
        },
    );
}

/// An asset of which nothing is known but, perhaps, its variance is nothing to the network: M̂_ii becomes unknown, too.
/// Writes `buffers.shares`, and counts who is there.
#[inline(never)]
pub(super) fn leave_out<V: Vector>(
    shape: impl Shape<V>,
    ones: &[V::Scalar],
    holes: Holes<V>,
    buffers: &mut Buffers<'_, V>,
) -> Holes<V> {
    let vectors = shape.vectors();
    vectors.vectorize(
        #[inline(always)]
        || {
            let (zero, one) = (vectors.zero(), vectors.one());
            let Buffers {
                m,
                known,
                sums,
                norms,
                trust,
                sizes,
                shares,
                ..
            } = buffers;
            shape.spread(1, ones, norms);
            shape.row_sums(
                known,
                sums,
                #[inline(always)]
                |x| x,
            );
            let (own, variance) = (trust, sizes);
            diagonal(shape, known, own);
            diagonal(shape, m, variance);
            for row in 0..shape.rows() {
                let count = vectors.load(&sums[row]);
                (one / count.max(one)).store_array(&mut shares[row]);
                let there = vectors.load(&own[row]);
                let alone = count.simd_eq(there);
                let there: V = alone.select(zero, there);
                let x: V = alone.select(zero, vectors.load(&variance[row]));
                there.store_array(&mut own[row]);
                x.store_array(&mut variance[row]);
                // Not in padding.
                let here: V = alone.select(zero, vectors.load(&norms[row]));
                here.store_array(&mut sums[row]);
            }
            set_diagonal(shape, known, own);
            set_diagonal(shape, m, variance);
            let live = shape.sum(sums);
            let pairs_of = |assets: V| assets * (assets - one) * vectors.number(0.5);
            let away = pairs_of(vectors.number(shape.n() as f64)) - pairs_of(live);
            Holes {
                live,
                gaps: holes.pairs - away + (live - shape.sum(own)),
                ..holes
            }
        },
    )
}

/// A matrix with holes, as a layer sees it.
pub(super) struct Holed<'a, V: Vector> {
    pub(super) m: &'a [V::Array],
    pub(super) known: &'a [V::Array],
    /// The diagonals of both.
    pub(super) variances: &'a [V::Array],
    pub(super) variances_known: &'a [V::Array],
    /// See [`Holes::stretch`].
    pub(super) stretch: V,
}

/// What `Weigh::accumulate` computes, from known entries only.
#[inline(never)]
pub(super) fn accumulate<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    influence: Influence<V>,
    holed: Holed<'_, V>,
    u: &[V::Array],
    p: Option<&mut [V::Array]>,
    terms: Terms<'_, V>,
) {
    let vectors = shape.vectors();
    let own = p.map(
        #[inline(always)]
        |p| {
            rows::products(vectors, k, u, p);
            &*p
        },
    );
    let Holed {
        m,
        known,
        variances,
        variances_known,
        stretch,
    } = holed;
    vectors.vectorize(
        #[inline(always)]
        || {
            let Terms {
                w,
                c,
                a,
                b,
                sums,
                trust,
            } = terms;
            shape.residual(k, m, known, u, c);
            let r = &*c;
            shape.sum_pairs(
                sums,
                #[inline(always)]
                |at| vectors.load(&r[at]).abs(),
            );
            for ((w, c), known) in w.iter_mut().zip(c.iter_mut()).zip(known) {
                let x = vectors.load(c);
                let weight = influence.scale / x.mul_add(x, influence.scale);
                let weight = weight * vectors.load(known);
                weight.store_array(w);
                (weight * x).store_array(c);
            }
            // So far all are weighed as pairs. A and b, which are written last, have room for what the diagonal gets.
            let (weights, weighed) = (&mut a[..shape.rows()], &mut b[..shape.rows()]);
            for (row, u) in u.chunks_exact(k).enumerate() {
                let variance = vectors.load(&variances[row]);
                let there = vectors.load(&variances_known[row]);
                let mut x = variance;
                for u in u {
                    let u = vectors.load(u);
                    x = (-u).mul_add(u, x);
                }
                let x = x * there;
                let weight = influence.of_diagonal(vectors, variance, x) * there;
                weight.store_array(&mut weights[row]);
                (weight * x).store_array(&mut weighed[row]);
            }
            set_diagonal(shape, w, weights);
            set_diagonal(shape, c, weighed);
            shape.multiply(k, c, u, b);
            match own {
                Some(p) => shape.multiply(triangle(k), w, p, a),
                None => {
                    shape.row_sums(
                        w,
                        trust,
                        #[inline(always)]
                        |x| x,
                    );
                    // Rows without weights, padding among them, do not move, and something is divided by this.
                    for trust in trust.iter_mut() {
                        let sum = vectors.load(trust) * stretch;
                        let some: V = sum.simd_gt(vectors.zero()).select(sum, vectors.one());
                        some.store_array(trust);
                    }
                }
            }
        },
    );
}

/// Puts `other` where M is not known: NaN into S, zero into what is summed.
#[inline(never)]
pub(super) fn replace<V: Vector>(
    vectors: Vectors<V>,
    raw: &[V::Array],
    other: V::Scalar,
    s: &mut [V::Array],
) {
    vectors.vectorize(
        #[inline(always)]
        || {
            let other = vectors.splat(other);
            for (raw, s) in raw.iter().zip(s) {
                let (x, rest) = (vectors.load(raw), vectors.load(s));
                let rest: V = x.simd_eq(x).select(rest, other);
                rest.store_array(s);
            }
        },
    );
}
