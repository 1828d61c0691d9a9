//! U₀, where the layers start. `reference/start.rs` says what it computes.

use super::balance::clip;
use super::buffers::{Buffers, width};
use super::missing::Holes;
use super::rank::by_width;
use super::rows;
use super::shape::Shape;
use super::{Bounds, RMS_LIMIT, SPREAD};
use crate::simd::{Real, Vector, Vectors};

/// Writes U₀ to `buffers.u` and its squared row norms to `buffers.norms`. `table` has a column of ones and the columns
/// of Ω, for `Pack::spread`; `bounds` and `factor` are for [`clip`]. Assets that are not there, by `holes`, do not count.
#[inline(never)]
pub(super) fn start<V: Vector>(
    shape: impl Shape<V>,
    k: usize,
    table: &[V::Scalar],
    bounds: Bounds,
    factor: f64,
    holes: Option<Holes<V>>,
    buffers: &mut Buffers<'_, V>,
) {
    let vectors = shape.vectors();
    vectors.vectorize(
        #[inline(always)]
        || {
            let Buffers {
                m,
                w,
                u,
                v,
                room,
                g,
                small,
                sums,
                norms,
                known,
                ..
            } = buffers;
            clip(shape, bounds, factor, m, w);
            let m = &**w;
            let n = shape.n();
            let width = width(n, k);
            let (x, rest) = room.split_at_mut(shape.rows() * width);
            let (y, rest) = rest.split_at_mut(shape.rows() * width);
            let z = &mut rest[..shape.rows() * width];
            let there = holes.map(|holes| (holes, &**known));
            directions(shape, width, table, m, there, x, norms, sums);
            shape.multiply(width, m, x, y);
            orthonormalise(shape, width, y, small);
            shape.multiply(width, m, y, z);
            filter(shape, width, m, holes, [x, y, z], sums);
            // Twice, since the filter leaves columns nearly parallel.
            orthonormalise(shape, width, x, small);
            orthonormalise(shape, width, x, small);
            shape.multiply(width, m, x, y);
            shape.gram(width, x, y, g);
            shape.leading(width, k, g, small);
            rows::mix(vectors, k, width, y, (&small[width..], 2 * width), v);
            // An entry of the factor of a positive semidefinite matrix of trace n is at most √n.
            rows::unmix(vectors, k, n as f64, g, v);
            rows::squares(vectors, k, v, norms);
            let limit = vectors.number(RMS_LIMIT * RMS_LIMIT);
            let shrink = (limit / shape.mean(norms).max(limit)).sqrt();
            for (u, v) in u.iter_mut().zip(v.iter()) {
                (vectors.load(v) * shrink).store_array(u);
            }
            rows::squares(vectors, k, u, norms);
        },
    );
}

/// The first directions, to `x`: Chebyshev polynomials of the rows' sums, and a little of Ω. `ones` and `sums` are
/// scratch. `there` says what is known, if not all is.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn directions<V: Vector>(
    shape: impl Shape<V>,
    width: usize,
    table: &[V::Scalar],
    m: &[V::Array],
    there: Option<(Holes<V>, &[V::Array])>,
    x: &mut [V::Array],
    ones: &mut [V::Array],
    sums: &mut [V::Array],
) {
    let vectors = shape.vectors();
    let mut share = vectors.number(1.0 / shape.n() as f64);
    let (first, omega) = table.split_at(table.len() / (width + 1));
    shape.spread(1, first, ones);
    shape.spread(width, omega, x);
    if let Some((holes, known)) = there {
        share *= holes.stretch(shape);
        shape.row_sums(
            known,
            sums,
            #[inline(always)]
            |x| x,
        );
        for (one, count) in ones.iter_mut().zip(sums.iter()) {
            let some = vectors.load(count).min(vectors.one());
            some.store_array(one);
        }
    }
    shape.row_sums(
        m,
        sums,
        #[inline(always)]
        |x| x,
    );
    let mean = shape.sum(sums) * share;
    // Differences that may be roundings do not count.
    let rounding = shape.dot(1, (sums, 0), (sums, 0)) * share * vectors.number(1e-10);
    for (sum, one) in sums.iter_mut().zip(ones.iter()) {
        // Padding stays zero, and so do assets that are not there.
        let apart = (-mean).mul_add(vectors.load(one), vectors.load(sum));
        apart.store_array(sum);
    }
    let variance = shape.dot(1, (sums, 0), (sums, 0)) * share;
    let least = variance + rounding + vectors.splat(V::Scalar::TINY);
    for (x, sum) in x.chunks_exact_mut(width).zip(sums.iter()) {
        let apart = vectors.load(sum);
        let place = apart / apart.mul_add(apart, least).sqrt();
        let twice = place + place;
        let (mut now, mut next) = (vectors.one(), place);
        for x in x {
            (now + vectors.load(x)).store_array(x);
            (now, next) = (next, twice.mul_add(next, -now));
        }
    }
}

/// Modified Gram–Schmidt. A column that the others explain all but a rounding of stays short. `least` is scratch.
#[inline(never)]
fn orthonormalise<V: Vector>(
    shape: impl Shape<V>,
    width: usize,
    y: &mut [V::Array],
    least: &mut [V::Array],
) {
    let vectors = shape.vectors();
    by_width(
        vectors,
        width,
        #[inline(always)]
        |width| {
            let parallel = vectors.splat(V::Scalar::PARALLEL);
            let tiny = vectors.splat(V::Scalar::TINY);
            for (a, least) in least.iter_mut().enumerate().take(width) {
                let square = shape.dot(width, (y, a), (y, a));
                square.mul_add(parallel, tiny).store_array(least);
            }
            // Lengths are made one at the end: a column waits for one division, and not for a root, a division and
            // more products.
            for a in 0..width {
                let square = shape.dot(width, (y, a), (y, a)) + vectors.load(&least[a]);
                square.store_array(&mut least[a]);
                let inverse = vectors.one() / square;
                for c in a + 1..width {
                    let share = -(shape.dot(width, (y, a), (y, c)) * inverse);
                    for y in y.chunks_exact_mut(width) {
                        let rest = share.mul_add(vectors.load(&y[a]), vectors.load(&y[c]));
                        rest.store_array(&mut y[c]);
                    }
                }
            }
            for a in 0..width {
                let inverse = vectors.one() / vectors.load(&least[a]).sqrt();
                for y in y.chunks_exact_mut(width) {
                    (vectors.load(&y[a]) * inverse).store_array(&mut y[a]);
                }
            }
        },
    );
}

/// From Q in the second factor and M Q in the third to the Chebyshev polynomial of degree three of M, times Q, in the
/// first. `sums` is scratch.
#[inline(always)]
fn filter<V: Vector>(
    shape: impl Shape<V>,
    width: usize,
    m: &[V::Array],
    holes: Option<Holes<V>>,
    [x, y, z]: [&mut [V::Array]; 3],
    sums: &mut [V::Array],
) {
    let vectors = shape.vectors();
    let (half, centre) = interval(shape, width, m, holes, y, z, sums);
    let slope = vectors.one() / half;
    for (z, y) in z.iter_mut().zip(y.iter()) {
        let first = (-centre).mul_add(vectors.load(y), vectors.load(z)) * slope;
        first.store_array(z);
    }
    let recurrence = Recurrence {
        vectors,
        centre,
        slope: slope + slope,
    };
    shape.multiply(width, m, z, x);
    for (y, (x, z)) in y.iter_mut().zip(x.iter().zip(z.iter())) {
        recurrence.next(x, z, y).store_array(y);
    }
    shape.multiply(width, m, y, x);
    for (x, (y, z)) in x.iter_mut().zip(y.iter().zip(z.iter())) {
        recurrence.next(x, y, z).store_array(x);
    }
}

/// That of the Chebyshev polynomials of (M − `centre`) / half, with `slope` 2 / half.
struct Recurrence<V: Vector> {
    vectors: Vectors<V>,
    centre: V,
    slope: V,
}

impl<V: Vector> Recurrence<V> {
    /// `product` is M · `now`.
    #[inline(always)]
    fn next(&self, product: &V::Array, now: &V::Array, before: &V::Array) -> V {
        let shifted = (-self.centre).mul_add(self.vectors.load(now), self.vectors.load(product));
        shifted.mul_add(self.slope, -self.vectors.load(before))
    }
}

/// Half the length and the centre of where the eigenvalues are that Q has not found. `y` is M Q, `sums` scratch.
#[inline(always)]
fn interval<V: Vector>(
    shape: impl Shape<V>,
    width: usize,
    m: &[V::Array],
    holes: Option<Holes<V>>,
    q: &[V::Array],
    y: &[V::Array],
    sums: &mut [V::Array],
) -> (V, V) {
    let vectors = shape.vectors();
    let zero = vectors.zero();
    // Of how many there are beside those of Q.
    let left = |assets: f64| (assets - width as f64).max(1.0);
    let share = |assets: f64| 1.0 / left(assets);
    // A power of two, so the product is exact, and need not be fused: some systems have no good way to do that.
    let spread = |assets: f64| (SPREAD * (-5.0 / left(assets)) + SPREAD).max(0.0);
    let (share, spread) = match holes {
        None => {
            let n = shape.n() as f64;
            (vectors.number(share(n)), vectors.number(spread(n)))
        }
        Some(holes) => (
            holes.by_assets(vectors, share),
            holes.by_assets(vectors, spread),
        ),
    };
    for (row, sum) in sums.iter_mut().enumerate() {
        shape.diagonal(m, row).store_array(sum);
    }
    let trace = shape.sum(sums);
    let found = total(shape, width, q, y, sums);
    let found_square = total(shape, width, y, y, sums);
    let [square] = shape.sum_entries(
        sums,
        #[inline(always)]
        |at| {
            let x = vectors.load(&m[at]);
            [x * x]
        },
    );
    let mean = (trace - found) * share;
    let square = (square - found_square) * share;
    let deviation = (-mean).mul_add(mean, square).max(zero).sqrt();
    let spread = deviation * spread;
    // Not so small that powers of the largest eigenvalue would drown all others.
    let least = found_square.sqrt() * vectors.number(1.0 / 200.0);
    // Twice its reciprocal is finite.
    let tiny = vectors.splat(V::Scalar::TINY) * vectors.number(8.0);
    let top = (mean + spread).max(least) + tiny;
    let bottom = (mean - spread).min(zero);
    let half = vectors.number(0.5);
    ((top - bottom) * half, (top + bottom) * half)
}

/// Σ over all entries of two factors. `sums` is scratch.
#[inline(always)]
fn total<V: Vector>(
    shape: impl Shape<V>,
    width: usize,
    x: &[V::Array],
    y: &[V::Array],
    sums: &mut [V::Array],
) -> V {
    let vectors = shape.vectors();
    for (sum, (x, y)) in sums
        .iter_mut()
        .zip(x.chunks_exact(width).zip(y.chunks_exact(width)))
    {
        let mut row = vectors.zero();
        for (x, y) in x.iter().zip(y) {
            row = vectors.load(x).mul_add(vectors.load(y), row);
        }
        row.store_array(sum);
    }
    shape.sum(sums)
}
