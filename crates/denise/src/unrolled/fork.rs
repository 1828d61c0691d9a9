//! Two starts, one from M̂ and one from a clipped M̂, become one after the first layers. `reference/fork.rs` says how.

use super::buffers::Buffers;
use super::rank::by_one;
use super::rows;
use super::shape::Shape;
use super::start::gram_schmidt;
use super::triangle::triangle;
use super::{BOUND, CUT, GATE};
use crate::simd::{Real, Vector, Vectors};

/// The usual size of an entry off the diagonal: the mean |M_ij|, in which none counts with more than twice the mean.
#[inline(never)]
pub(super) fn typical<V: Vector>(shape: impl Shape<V>, buffers: &mut Buffers<'_, V>) -> V {
    let vectors = shape.vectors();
    vectors.vectorize(
        #[inline(always)]
        || {
            let Buffers { m, sums, .. } = buffers;
            let n = shape.n() as f64;
            let share = vectors.number(2.0 / (n * (n - 1.0)));
            let mut most = vectors.splat(V::Scalar::MAX);
            let mut usual = vectors.zero();
            for _ in 0..5 {
                let sum = shape.sum_pairs(
                    sums,
                    #[inline(always)]
                    |at| vectors.load(&m[at]).abs().min(most),
                );
                usual = sum * share;
                most = usual * vectors.number(BOUND);
            }
            usual
        },
    )
}

/// Σ |R_ij| over j < i, where none counts with more than a share of a typical entry of M. w and c are overwritten.
#[inline(never)]
pub(super) fn unexplained<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    typical: V,
    buffers: &mut Buffers<'_, V>,
) -> V {
    let vectors = shape.vectors();
    vectors.vectorize(
        #[inline(always)]
        || {
            let Buffers {
                m, w, c, u, sums, ..
            } = buffers;
            let cut = typical * vectors.number(CUT);
            by_one::<3, V>(
                vectors,
                k,
                #[inline(always)]
                |k| shape.split(k, vectors.one(), m, u, w, c),
            );
            shape.sum_pairs(
                sums,
                #[inline(always)]
                |at| vectors.load(&c[at]).abs().min(cut),
            )
        },
    )
}

/// How much of the second start is taken, from 0 to 1, if the first leaves `cost` unexplained and the second `other`.
#[inline(always)]
pub(super) fn share<V: Vector>(shape: impl Shape<V>, cost: V, other: V) -> V {
    let vectors = shape.vectors();
    let (zero, one) = (vectors.zero(), vectors.one());
    let clear = cost.mul_add(vectors.number(GATE), vectors.splat(V::Scalar::TINY));
    let x = ((cost - other) / clear).max(zero).min(one);
    x * x * (-(x + x) + vectors.number(3.0))
}

/// Makes `u` a factor of nearly the best approximation of rank k to (1 − share) K Kᵀ + share U Uᵀ, where K is in
/// `kept`; the squared row norms follow. `table` has 2k rows of k numbers, where the iteration starts.
#[inline(always)]
pub(super) fn blend<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    table: &[V::Scalar],
    share: V,
    buffers: &mut Buffers<'_, V>,
) {
    let vectors = shape.vectors();
    let Buffers {
        u,
        kept,
        room,
        g,
        small,
        norms,
        ..
    } = buffers;
    let rest = vectors.one() - share;
    let (first, second) = (rest.sqrt(), share.sqrt());
    let both = &mut room[..shape.rows() * 2 * k];
    for ((row, kept), u) in both
        .chunks_exact_mut(2 * k)
        .zip(kept.chunks_exact(k))
        .zip(u.chunks_exact(k))
    {
        for a in 0..k {
            (vectors.load(&kept[a]) * first).store_array(&mut row[a]);
            (vectors.load(&u[a]) * second).store_array(&mut row[k + a]);
        }
    }
    shape.gram(2 * k, both, both, g);
    let (c, other) = small.split_at_mut(2 * k * k);
    let (next, least) = other.split_at_mut(2 * k * k);
    for (at, (c, &x)) in c.iter_mut().zip(table).enumerate() {
        let weight = if at < k * k { rest } else { share };
        (weight * vectors.splat(x)).store_array(c);
    }
    iterate(vectors, k, g, c, next, least);
    for a in 0..k {
        for e in 0..2 * k {
            next[a * 2 * k + e] = c[e * k + a];
        }
    }
    rows::mix(vectors, k, 2 * k, both, next, u);
    rows::squares(vectors, k, u, norms);
}

/// Three rounds of orthogonal iteration with the matrix `g` of order 2k, from `c` to `c`.
#[inline(never)]
fn iterate<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    g: &[V::Array],
    c: &mut [V::Array],
    next: &mut [V::Array],
    least: &mut [V::Array],
) {
    by_one::<3, V>(
        vectors,
        k,
        #[inline(always)]
        |k| {
            let g = &g[..triangle(2 * k)];
            let (c, next) = (&mut c[..2 * k * k], &mut next[..2 * k * k]);
            for _ in 0..3 {
                for i in 0..2 * k {
                    for a in 0..k {
                        let mut sum = vectors.zero();
                        for e in 0..2 * k {
                            let x = vectors.load(&g[triangle(i.max(e)) + i.min(e)]);
                            sum = x.mul_add(vectors.load(&c[e * k + a]), sum);
                        }
                        sum.store_array(&mut next[i * k + a]);
                    }
                }
                gram_schmidt(
                    vectors,
                    k,
                    next,
                    least,
                    #[inline(always)]
                    |y, a, c| {
                        let mut sum = vectors.zero();
                        for y in y.chunks_exact(k) {
                            sum = vectors.load(&y[a]).mul_add(vectors.load(&y[c]), sum);
                        }
                        sum
                    },
                );
                c.copy_from_slice(next);
            }
        },
    );
}
