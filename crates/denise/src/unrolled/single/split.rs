//! L and S, panel by panel.

use super::{Single, panels};
use crate::simd::{Real, Vector};
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
        for (first, count) in panels(self.rows()) {
            let own = &u[first * k..(first + count) * k];
            let span = first * self.n..(first + count) * self.n;
            let (m, l, s) = (&m[span.clone()], &mut l[span.clone()], &mut s[span]);
            match count {
                3 => self.split_panel::<3>(k, scale, m, own, u, l, s),
                2 => self.split_panel::<2>(k, scale, m, own, u, l, s),
                _ => self.split_panel::<1>(k, scale, m, own, u, l, s),
            }
        }
    }
}

impl<V: Vector> Single<'_, V> {
    /// [`Split::split`] for a panel of `ROWS` vectors.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn split_panel<const ROWS: usize>(
        self,
        k: usize,
        scale: V,
        m: &[V::Array],
        own: &[V::Array],
        u: &[V::Array],
        l: &mut [V::Array],
        s: &mut [V::Array],
    ) {
        let vectors = self.vectors;
        let max = vectors.splat(V::Scalar::MAX);
        let min = -max;
        let m = m.as_chunks::<ROWS>().0.chunks(V::W);
        let l = l.as_chunks_mut::<ROWS>().0.chunks_mut(V::W);
        let s = s.as_chunks_mut::<ROWS>().0.chunks_mut(V::W);
        for (((m, l), s), other) in m.zip(l).zip(s).zip(u.chunks_exact(k)) {
            for (lane, ((m, l), s)) in m.iter().zip(l).zip(s).enumerate().take(V::W) {
                let mut x = [vectors.zero(); ROWS];
                for a in 0..k {
                    let other = vectors.splat(other[a][lane]);
                    for v in 0..ROWS {
                        x[v] = vectors.load(&own[v * k + a]).mul_add(other, x[v]);
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
