//! L and S, panel by panel.

use super::{Single, panels};
use crate::simd::{Real, Vector};
use crate::unrolled::rank::by_one;
use crate::unrolled::shape::{Layout, Split};

impl<V: Vector> Split<V> for Single<V> {
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
        let (n, vectors) = (self.n, self.vectors);
        let max = vectors.splat(V::Scalar::MAX);
        let min = -max;
        for (first, count) in panels(self.rows()) {
            let own = &u[first * k..(first + count) * k];
            for j in 0..n {
                let other = &u[j / V::W * k..][..k];
                for v in 0..count {
                    let at = first * n + j * count + v;
                    let mut x = vectors.zero();
                    for a in 0..k {
                        let other = vectors.splat(other[a][j % V::W]);
                        x = vectors.load(&own[v * k + a]).mul_add(other, x);
                    }
                    let x = (x * scale).min(max).max(min);
                    x.store_array(&mut l[at]);
                    let rest = vectors.load(&m[at]) - x;
                    rest.min(max).max(min).store_array(&mut s[at]);
                }
            }
        }
    }
}
