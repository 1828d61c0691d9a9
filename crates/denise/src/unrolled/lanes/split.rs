//! L and S, block by block.

use super::{ENTRIES, Lanes, SIDE};
use crate::simd::{Real, Vector};
use crate::unrolled::missing;
use crate::unrolled::rank::by_one;
use crate::unrolled::shape::Split;
use crate::unrolled::triangle::triangle;

impl<V: Vector> Split<V> for Lanes<V> {
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
                let vectors = self.vectors;
                let (m, r) = (m.as_chunks::<ENTRIES>().0, r.as_chunks_mut::<ENTRIES>().0);
                let known = known.as_chunks::<ENTRIES>().0;
                for (i, rows) in u.chunks_exact(SIDE * k).enumerate() {
                    for (j, columns) in u.chunks_exact(SIDE * k).take(i + 1).enumerate() {
                        let (m, r) = (&m[triangle(i) + j], &mut r[triangle(i) + j]);
                        let known = &known[triangle(i) + j];
                        for at in 0..ENTRIES {
                            let (own, other) = (at / SIDE * k, at % SIDE * k);
                            let mut x = vectors.load(&m[at]);
                            for a in 0..k {
                                let own = -vectors.load(&rows[own + a]);
                                x = own.mul_add(vectors.load(&columns[other + a]), x);
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
        let vectors = self.vectors;
        let max = vectors.splat(V::Scalar::MAX);
        let min = -max;
        for (i, rows) in u.chunks_exact(SIDE * k).enumerate() {
            for (j, columns) in u.chunks_exact(SIDE * k).take(i + 1).enumerate() {
                let block = (triangle(i) + j) * ENTRIES..(triangle(i) + j + 1) * ENTRIES;
                let m = &m[block.clone()];
                let (l, s) = (&mut l[block.clone()], &mut s[block]);
                for at in 0..ENTRIES {
                    let (own, other) = (&rows[at / SIDE * k..], &columns[at % SIDE * k..]);
                    let mut x = vectors.zero();
                    for a in 0..k {
                        x = vectors.load(&own[a]).mul_add(vectors.load(&other[a]), x);
                    }
                    let x = (x * scale).min(max).max(min);
                    x.store_array(&mut l[at]);
                    let rest = vectors.load(&m[at]) - x;
                    rest.min(max).max(min).store_array(&mut s[at]);
                }
            }
        }
    }

    const SPLIT_FIRST: bool = true;

    #[inline(always)]
    fn deliver(
        self,
        _: usize,
        _: V,
        m: &[V::Array],
        _: &[V::Array],
        (l, s): (&[V::Array], &mut [V::Array]),
        holes: bool,
        l_out: &mut [V::Scalar],
        s_out: &mut [V::Scalar],
    ) {
        if !l_out.is_empty() {
            self.unpack(l, l_out);
        }
        if !s_out.is_empty() {
            if holes {
                missing::replace(self.vectors, m, V::Scalar::NAN, s);
            }
            self.unpack(s, s_out);
        }
    }
}
