//! The residual of one panel after the other and its weights; then the products with them.

use super::{PANEL, Single, lane_numbers, panels};
use crate::simd::{Vector, Vectors};
use crate::unrolled::rank::by_rank_to;
use crate::unrolled::shape::{Influence, Layout, Multiply, Terms, Weigh};
use crate::unrolled::triangle::triangle;
use fearless_simd::Select;

impl<V: Vector> Weigh<V> for Single<V> {
    #[inline(always)]
    fn accumulate(
        self,
        k: usize,
        influence: Influence<V>,
        m: &[V::Array],
        u: &[V::Array],
        own: Option<&[V::Array]>,
        mut terms: Terms<'_, V>,
    ) {
        self.weigh(k, own.is_some(), influence, m, u, &mut terms);
        self.multiply(k, terms.c, u, terms.b);
        if let Some(p) = own {
            self.multiply(triangle(k), terms.w, p, terms.a);
        }
    }
}

impl<V: Vector> Single<V> {
    /// For all rows w R, Σ |R_ij|, and w if that is to be stored, else Σ w_ij.
    #[inline(never)]
    fn weigh(
        self,
        k: usize,
        stored: bool,
        influence: Influence<V>,
        m: &[V::Array],
        u: &[V::Array],
        terms: &mut Terms<'_, V>,
    ) {
        by_rank_to::<3, V>(
            self.vectors,
            k,
            #[inline(always)]
            move |k| {
                for (first, count) in panels(self.rows()) {
                    match count {
                        3 => self.weigh_panel::<3>(k, first, stored, influence, m, u, terms),
                        _ => self.weigh_panel::<1>(k, first, stored, influence, m, u, terms),
                    }
                }
            },
        );
    }

    /// [`Single::weigh`] for a panel of `ROWS` vectors.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn weigh_panel<const ROWS: usize>(
        self,
        k: usize,
        first: usize,
        stored: bool,
        influence: Influence<V>,
        m: &[V::Array],
        u: &[V::Array],
        terms: &mut Terms<'_, V>,
    ) {
        let span = first * self.n..(first + ROWS) * self.n;
        let zero = self.vectors.zero();
        let mut panel = Panel::<ROWS, V> {
            vectors: self.vectors,
            k,
            stored,
            own: &u[first * k..][..ROWS * k],
            influence,
            sum: [zero; ROWS],
            total: [zero; ROWS],
        };
        let m = m[span.clone()].as_chunks::<ROWS>().0;
        let w = terms.w[span.clone()].as_chunks_mut::<ROWS>().0;
        let c = terms.c[span].as_chunks_mut::<ROWS>().0;
        let squares = m.chunks(V::W).zip(u.chunks_exact(k));
        let out = w.chunks_mut(V::W).zip(c.chunks_mut(V::W));
        for (square, ((m, other), (w, c))) in squares.zip(out).enumerate() {
            match square.wrapping_sub(first) {
                0 => panel.columns::<0>(m, other, w, c),
                1 if ROWS > 1 => panel.columns::<1>(m, other, w, c),
                2 if ROWS > 2 => panel.columns::<2>(m, other, w, c),
                _ if square < first => panel.columns::<-1>(m, other, w, c),
                _ => panel.columns::<{ PANEL as isize }>(m, other, w, c),
            }
        }
        for v in 0..ROWS {
            panel.sum[v].store_array(&mut terms.sums[first + v]);
            panel.total[v].store_array(&mut terms.trust[first + v]);
        }
    }
}

/// A panel of rows that is being weighed.
struct Panel<'a, const ROWS: usize, V: Vector> {
    vectors: Vectors<V>,
    k: usize,
    /// Whether w is stored, for A_i, or summed.
    stored: bool,
    /// The panel's own rows of U.
    own: &'a [V::Array],
    influence: Influence<V>,
    /// Σ |R_ij| over j < i.
    sum: [V; ROWS],
    /// Σ w_ij.
    total: [V; ROWS],
}

impl<const ROWS: usize, V: Vector> Panel<'_, ROWS, V> {
    /// Up to W columns, whose rows of U are `other`. Vector row `DIAGONAL` of the panel has them on the
    /// diagonal; the rows above have them on the right of it, those below on the left.
    #[inline(always)]
    fn columns<const DIAGONAL: isize>(
        &mut self,
        m: &[[V::Array; ROWS]],
        other: &[V::Array],
        w: &mut [[V::Array; ROWS]],
        c: &mut [[V::Array; ROWS]],
    ) {
        let (vectors, k) = (self.vectors, self.k);
        let zero = vectors.zero();
        let lanes = lane_numbers(vectors);
        let influence = self.influence;
        let mut lane = zero;
        for (l, ((m, w), c)) in m.iter().zip(w).zip(c).enumerate().take(V::W) {
            let mut x = [zero; ROWS];
            for v in 0..ROWS {
                x[v] = vectors.load(&m[v]);
            }
            for a in 0..k {
                let other = vectors.splat(other[a][l]);
                for v in 0..ROWS {
                    let own = -vectors.load(&self.own[v * k + a]);
                    x[v] = own.mul_add(other, x[v]);
                }
            }
            for v in 0..ROWS {
                let mut weight = influence.scale / x[v].mul_add(x[v], influence.scale);
                if (v as isize) > DIAGONAL {
                    self.sum[v] += x[v].abs();
                } else if v as isize == DIAGONAL {
                    let own = influence.of_diagonal(vectors, vectors.load(&m[v]), x[v]);
                    weight = lanes.simd_eq(lane).select(own, weight);
                    let left: V = lanes.simd_gt(lane).select(x[v].abs(), zero);
                    self.sum[v] += left;
                }
                (weight * x[v]).store_array(&mut c[v]);
                if self.stored {
                    weight.store_array(&mut w[v]);
                } else {
                    self.total[v] += weight;
                }
            }
            lane += vectors.one();
        }
    }
}
