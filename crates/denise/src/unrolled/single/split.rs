//! L and S, panel by panel.

use super::{PANEL, Single, panels};
use crate::simd::{Real, Vector, Vectors};
use crate::unrolled::rank::by_one;
use crate::unrolled::shape::{Layout, Split};

impl<V: Vector> Split<V> for Single<'_, V> {
    #[inline(never)]
    fn residual(
        self,
        k: usize,
        m: &[V::Array],
        known: &[V::Array],
        u: &[V::Array],
        r: &mut [V::Array],
    ) {
        by_one::<3, V>(
            self.vectors,
            k,
            #[inline(always)]
            move |k| {
                let (n, vectors) = (self.n, self.vectors);
                for (first, count) in panels(self.rows()) {
                    let own = &u[first * k..(first + count) * k];
                    for j in 0..n {
                        let other = &u[j / V::W * k..][..k];
                        for v in 0..count {
                            let at = first * n + j * count + v;
                            let mut x = vectors.load(&m[at]);
                            for a in 0..k {
                                let other = vectors.splat(other[a][j % V::W]);
                                let own = -vectors.load(&own[v * k + a]);
                                x = own.mul_add(other, x);
                            }
                            (x * vectors.load(&known[at])).store_array(&mut r[at]);
                        }
                    }
                }
            },
        );
    }

    #[inline(always)]
    fn split(
        self,
        k: usize,
        scale: V,
        m: &[V::Array],
        u: &[V::Array],
        l: &mut [V::Array],
        s: &mut [V::Array],
    ) {
        let (n, rows) = (self.n, self.rows());
        let (l, s) = (&mut l[..rows * n], &mut s[..rows * n]);
        let work = Splitting {
            vectors: self.vectors,
            n,
            k,
            scale,
            m,
            u,
        };
        if rows == PANEL {
            return work.split_panel::<PANEL>(k, 0, l, s);
        }
        self.each_panel([(l, n), (s, n)], |panel, [l, s]| work.split(panel, l, s));
    }
}

/// What it takes to split a panel.
struct Splitting<'a, V: Vector> {
    vectors: Vectors<V>,
    n: usize,
    k: usize,
    scale: V,
    m: &'a [V::Array],
    u: &'a [V::Array],
}

impl<V: Vector> Splitting<'_, V> {
    #[inline(never)]
    fn split(&self, (first, count): (usize, usize), l: &mut [V::Array], s: &mut [V::Array]) {
        self.vectors.vectorize(
            #[inline(always)]
            || match count {
                3 => self.split_panel::<3>(self.k, first, l, s),
                2 => self.split_panel::<2>(self.k, first, l, s),
                _ => self.split_panel::<1>(self.k, first, l, s),
            },
        );
    }

    /// [`Split::split`] for a panel of `ROWS` vectors.
    #[inline(always)]
    fn split_panel<const ROWS: usize>(
        &self,
        k: usize,
        first: usize,
        l: &mut [V::Array],
        s: &mut [V::Array],
    ) {
        let (vectors, n, scale) = (self.vectors, self.n, self.scale);
        let max = vectors.splat(V::Scalar::MAX);
        let min = -max;
        let own: [&[V::Array]; ROWS] = core::array::from_fn(|v| &self.u[(first + v) * k..][..k]);
        let m = self.m[first * n..][..ROWS * n].as_chunks::<ROWS>().0;
        let (l, s) = (
            l.as_chunks_mut::<ROWS>().0.chunks_mut(V::W),
            s.as_chunks_mut::<ROWS>().0.chunks_mut(V::W),
        );
        for (((m, l), s), other) in m.chunks(V::W).zip(l).zip(s).zip(self.u.chunks_exact(k)) {
            for (lane, ((m, l), s)) in m.iter().zip(l).zip(s).enumerate().take(V::W) {
                let mut x = [vectors.zero(); ROWS];
                for a in 0..k {
                    let other = vectors.splat(other[a][lane]);
                    for v in 0..ROWS {
                        x[v] = vectors.load(&own[v][a]).mul_add(other, x[v]);
                    }
                }
                for v in 0..ROWS {
                    let x = (x[v] * scale).min(max).max(min);
                    x.store_array(&mut l[v]);
                    let rest = vectors.load(&m[v]) - x;
                    rest.min(max).max(min).store_array(&mut s[v]);
                }
            }
        }
    }
}
