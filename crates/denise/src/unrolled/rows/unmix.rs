//! Columns made independent of each other, by the Cholesky factor of a k×k matrix that may not be positive definite.

use crate::simd::{Real, Vector, Vectors};
use crate::unrolled::NYSTROM_PIVOT;
use crate::unrolled::rank::by_one;
use crate::unrolled::triangle::triangle;

/// Makes the columns of `y` those of y·chol(g)⁻ᵀ; `g` is overwritten. Pivots below a small multiple of the diagonal's
/// size are raised to it.
#[inline(never)]
pub(crate) fn unmix<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    most: f64,
    g: &mut [V::Array],
    y: &mut [V::Array],
) {
    by_one::<3, V>(
        vectors,
        k,
        #[inline(always)]
        move |k| {
            cholesky(vectors, k, g);
            substitute(vectors, k, g, most, y);
        },
    );
}

/// The Cholesky factor of the matrix `g`, in place, with the diagonal inverted.
#[inline(always)]
fn cholesky<V: Vector>(vectors: Vectors<V>, k: usize, g: &mut [V::Array]) {
    let (zero, one) = (vectors.zero(), vectors.one());
    let mut size = vectors.load(&g[0]).abs();
    for i in 1..k {
        size += vectors.load(&g[triangle(i) + i]).abs();
    }
    let least = vectors.number(NYSTROM_PIVOT);
    let least = size.mul_add(least, vectors.splat(V::Scalar::TINY));
    for i in 0..k {
        let (above, row) = g.split_at_mut(triangle(i));
        let mut pivot = vectors.load(&row[i]);
        for j in 0..i {
            let upper = &above[triangle(j)..];
            let mut x = vectors.load(&row[j]);
            for e in 0..j {
                x = (-vectors.load(&row[e])).mul_add(vectors.load(&upper[e]), x);
            }
            // No more than is left of the diagonal: nothing changes for a positive semidefinite
            // matrix, and for any other the factor stays bounded.
            let most = pivot.max(zero).sqrt();
            let x = (x * vectors.load(&upper[j])).min(most).max(-most);
            pivot = (-x).mul_add(x, pivot);
            x.store_array(&mut row[j]);
        }
        (one / pivot.max(least).sqrt()).store_array(&mut row[i]);
    }
}

/// Replaces every row y of `y` by the row q with `factor` q = y, for a factor from [`cholesky`]. Numbers
/// are cut at ±`most`, which those of a positive semidefinite matrix do not reach.
#[inline(always)]
fn substitute<V: Vector>(
    vectors: Vectors<V>,
    k: usize,
    factor: &[V::Array],
    most: f64,
    y: &mut [V::Array],
) {
    let most = vectors.number(most);
    for at in 0..y.len() / k {
        let y = &mut y[at * k..][..k];
        for i in 0..k {
            let row = &factor[triangle(i)..];
            let mut x = vectors.load(&y[i]);
            for j in 0..i {
                x = (-vectors.load(&row[j])).mul_add(vectors.load(&y[j]), x);
            }
            let x = x * vectors.load(&row[i]);
            x.min(most).max(-most).store_array(&mut y[i]);
        }
    }
}
