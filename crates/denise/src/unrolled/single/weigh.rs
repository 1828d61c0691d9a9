//! The residual of one panel after the other and its weights; then the products with them.

use super::tile::{BLOCK, add, multiply_panel, multiply_rows};
use super::weights::{Part, across, own, own_len, parts, take, transpose, whole_parts};
use super::{PANEL, Single, lane_numbers, panel_of, panels, panels_from};
use crate::simd::{Real, Vector, Vectors};
use crate::unrolled::rank::by_constant;
use crate::unrolled::shape::{Influence, Layout, Terms, Weigh};
use crate::unrolled::triangle::triangle;
use fearless_simd::Select;

impl<V: Vector> Weigh<V> for Single<'_, V> {
    #[inline(always)]
    fn accumulate(
        self,
        k: usize,
        influence: Influence<V>,
        m: &[V::Array],
        u: &[V::Array],
        own: Option<&[V::Array]>,
        terms: Terms<'_, V>,
    ) {
        let weighing = Weighing {
            vectors: self.vectors,
            n: self.n,
            k,
            whole: self.team.threads() > 1,
            influence,
            m,
            u,
        };
        if weighing.whole || whole(k) {
            self.accumulate_whole(&weighing, own, terms);
        } else {
            self.accumulate_panels(&weighing, own, terms);
        }
    }
}

/// Whether all weights of a row are computed where they are needed: for a few columns of U, that takes less time than to
/// transpose those of other rows.
const fn whole(k: usize) -> bool {
    k < 5
}

impl<V: Vector> Single<'_, V> {
    /// [`Weigh::accumulate`], one panel after the other. What is weighed is summed at once, by the thread that has it in
    /// its cache: to fetch it from another core would take longer than to weigh it again.
    #[inline(always)]
    fn accumulate_whole(
        self,
        weighing: &Weighing<'_, V>,
        own: Option<&[V::Array]>,
        terms: Terms<'_, V>,
    ) {
        let Terms {
            w,
            c,
            mut a,
            mut b,
            sums,
            trust,
        } = terms;
        let (n, k) = (self.n, weighing.k);
        let size = own.map_or(0, |_| triangle(k));
        let items = whole_parts(n, self.rows(), w, c, sums, trust).map(move |part| {
            let count = part.count;
            (part, take(&mut a, count * size), take(&mut b, count * k))
        });
        // Inlined: an item that was put together a moment ago is slow to copy.
        self.team.share(
            items,
            #[inline(always)]
            |(mut part, a, b)| {
                weighing.weigh(&mut part);
                let (vectors, count) = (weighing.vectors, part.count);
                multiply_rows(vectors, k, count, part.c, weighing.u, b);
                if let Some(p) = own {
                    multiply_rows(vectors, triangle(k), count, part.w, p, a);
                }
            },
        );
    }

    /// [`Weigh::accumulate`] in two passes, of which the first weighs each pair once.
    #[inline(never)]
    fn accumulate_panels(
        self,
        weighing: &Weighing<'_, V>,
        own: Option<&[V::Array]>,
        terms: Terms<'_, V>,
    ) {
        let Terms {
            w,
            c,
            mut a,
            mut b,
            sums,
            mut trust,
        } = terms;
        let (rows, k) = (self.rows(), weighing.k);
        let parts = parts(rows, &mut *w, &mut *c, sums, &mut *trust);
        self.team.share(parts, |mut part| weighing.weigh(&mut part));
        let systems = Systems {
            vectors: self.vectors,
            n: self.n,
            k,
            w,
            c,
            u: weighing.u,
            p: own,
        };
        let size = own.map_or(0, |_| triangle(k));
        let items = panels(rows).map(move |panel| {
            let (_, count) = panel;
            let a = take(&mut a, count * size);
            (panel, a, take(&mut b, count * k), take(&mut trust, count))
        });
        self.team.share(items, |(panel, a, b, trust)| {
            systems.sum(panel, a, b, trust)
        });
    }
}

/// What it takes to weigh a panel.
struct Weighing<'a, V: Vector> {
    vectors: Vectors<V>,
    n: usize,
    k: usize,
    /// Whether rows are weighed whole, whatever k is.
    whole: bool,
    influence: Influence<V>,
    m: &'a [V::Array],
    u: &'a [V::Array],
}

impl<V: Vector> Weighing<'_, V> {
    /// For the rows of a panel w, w R, Σ |R_ij|, and the sum of the weights; all of it up to the diagonal only, unless
    /// rows are weighed `whole`.
    #[inline(never)]
    fn weigh(&self, part: &mut Part<'_, V>) {
        by_constant::<1, 3, V>(
            self.vectors,
            self.k,
            #[inline(always)]
            move |k| match part.count {
                3 if whole(k) || self.whole => self.weigh_panel::<3, true>(k, part),
                2 if whole(k) || self.whole => self.weigh_panel::<2, true>(k, part),
                3 => self.weigh_panel::<3, false>(k, part),
                2 => self.weigh_panel::<2, false>(k, part),
                _ => self.weigh_panel::<1, true>(k, part),
            },
        );
    }

    /// [`Weighing::weigh`] for a panel of `ROWS` vectors; of `WHOLE` rows, or up to the diagonal.
    #[inline(always)]
    fn weigh_panel<const ROWS: usize, const WHOLE: bool>(&self, k: usize, part: &mut Part<'_, V>) {
        let (n, vectors, u) = (self.n, self.vectors, self.u);
        let first = part.first;
        let zero = vectors.zero();
        let mut panel = Panel::<ROWS, V> {
            vectors,
            k,
            own: &u[first * k..][..ROWS * k],
            influence: self.influence,
            sum: [zero; ROWS],
            total: [zero; ROWS],
        };
        let m = self.m[first * n..][..ROWS * n].as_chunks::<ROWS>().0;
        let own_len = if WHOLE {
            part.w.len()
        } else {
            own_len::<V>(first, ROWS)
        };
        let (w, w_across) = part.w.split_at_mut(own_len);
        let (c, c_across) = part.c.split_at_mut(own_len);
        let w = w.as_chunks_mut::<ROWS>().0;
        let c = c.as_chunks_mut::<ROWS>().0;
        // Squares of W columns, and the rows of U that belong to them.
        let squares = m.chunks(V::W).zip(u.chunks_exact(k));
        let squares = squares.zip(w.chunks_mut(V::W).zip(c.chunks_mut(V::W)));
        for (square, ((m, u), (w, c))) in squares.enumerate() {
            match square.wrapping_sub(first) {
                0 => panel.columns::<0>(m, u, w, c),
                1 if ROWS > 1 => panel.columns::<1>(m, u, w, c),
                2 if ROWS > 2 => panel.columns::<2>(m, u, w, c),
                _ if square < first => {
                    panel.left(m, u, w, c);
                    if !WHOLE {
                        let (start, count) = panel_of(n.div_ceil(V::W), square);
                        let (from, at) = (start * ROWS * V::W, square - start);
                        transpose::<ROWS, V>(vectors, w, &mut w_across[from..], count, at);
                        transpose::<ROWS, V>(vectors, c, &mut c_across[from..], count, at);
                    }
                }
                _ if WHOLE => panel.columns::<PANEL>(m, u, w, c),
                _ => break,
            }
        }
        for v in 0..ROWS {
            panel.sum[v].store_array(&mut part.sums[v]);
            panel.total[v].store_array(&mut part.trust[v]);
        }
    }
}

/// What it takes to sum what the rows' steps need.
struct Systems<'a, V: Vector> {
    vectors: Vectors<V>,
    n: usize,
    k: usize,
    w: &'a [V::Array],
    c: &'a [V::Array],
    u: &'a [V::Array],
    /// u_j u_jᵀ, if A_i is wanted.
    p: Option<&'a [V::Array]>,
}

impl<V: Vector> Systems<'_, V> {
    /// For all rows of a panel b, and A if that is wanted, else the rest of the sum of the weights.
    #[inline(always)]
    fn sum(
        &self,
        panel: (usize, usize),
        a: &mut [V::Array],
        b: &mut [V::Array],
        trust: &mut [V::Array],
    ) {
        match panel.1 {
            3 => self.sum_panel::<3>(panel.0, a, b, trust),
            2 => self.sum_panel::<2>(panel.0, a, b, trust),
            _ => self.sum_panel::<1>(panel.0, a, b, trust),
        }
    }

    #[inline(always)]
    fn sum_panel<const ROWS: usize>(
        &self,
        first: usize,
        a: &mut [V::Array],
        b: &mut [V::Array],
        trust: &mut [V::Array],
    ) {
        self.multiply::<ROWS>(first, self.k, self.c, self.u, b);
        match self.p {
            Some(p) => self.multiply::<ROWS>(first, triangle(self.k), self.w, p, a),
            None => self.add_trust::<ROWS>(first, trust),
        }
    }

    /// Adds the weights beyond the diagonal to `trust`.
    #[inline(always)]
    fn add_trust<const ROWS: usize>(&self, first: usize, trust: &mut [V::Array]) {
        let (n, vectors) = (self.n, self.vectors);
        vectors.vectorize(
            #[inline(always)]
            || {
                let mut total = [vectors.zero(); ROWS];
                for v in 0..ROWS {
                    total[v] = vectors.load(&trust[v]);
                }
                for below in panels_from(n.div_ceil(V::W), first + ROWS) {
                    for w in across::<ROWS, V>(n, first, below, self.w) {
                        for v in 0..ROWS {
                            total[v] += vectors.load(&w[v]);
                        }
                    }
                }
                for v in 0..ROWS {
                    total[v].store_array(&mut trust[v]);
                }
            },
        );
    }

    /// Rows of weights, times a table of `columns` vectors a row.
    #[inline(always)]
    fn multiply<const ROWS: usize>(
        &self,
        first: usize,
        columns: usize,
        weights: &[V::Array],
        x: &[V::Array],
        out: &mut [V::Array],
    ) {
        let (n, vectors) = (self.n, self.vectors);
        let panel = own::<ROWS, V>(n, first, weights);
        multiply_panel::<ROWS, V>(vectors, columns, panel, x, out);
        // A few panels at a time, as many columns as `multiply_panel` takes.
        let mut segments = [(&[][..], &[][..]); BLOCK / PANEL];
        let mut count = 0;
        for below in panels_from(n.div_ceil(V::W), first + ROWS) {
            let panel = across::<ROWS, V>(n, first, below, weights);
            segments[count] = (panel, &x[below.0 * columns..]);
            count += 1;
            if count == segments.len() {
                add::<ROWS, V>(vectors, columns, false, &segments, out);
                count = 0;
            }
        }
        if count > 0 {
            add::<ROWS, V>(vectors, columns, false, &segments[..count], out);
        }
    }
}

/// A panel of rows that is being weighed.
struct Panel<'a, const ROWS: usize, V: Vector> {
    vectors: Vectors<V>,
    k: usize,
    /// The panel's own rows of U.
    own: &'a [V::Array],
    influence: Influence<V>,
    /// Σ |R_ij| over j < i.
    sum: [V; ROWS],
    /// Σ w_ij.
    total: [V; ROWS],
}

impl<const ROWS: usize, V: Vector> Panel<'_, ROWS, V> {
    /// W columns left of all rows of the panel, whose rows of U are `other`.
    #[inline(always)]
    fn left(
        &mut self,
        m: &[[V::Array; ROWS]],
        other: &[V::Array],
        w: &mut [[V::Array; ROWS]],
        c: &mut [[V::Array; ROWS]],
    ) {
        let (vectors, k) = (self.vectors, self.k);
        let other = &other[..k];
        let own: [&[V::Array]; ROWS] = core::array::from_fn(|v| &self.own[v * k..][..k]);
        let (m, w, c) = (&m[..V::W], &mut w[..V::W], &mut c[..V::W]);
        let (mut sum, mut total) = (self.sum, self.total);
        // Two at a time: rows of U that are loaded once serve both.
        for l in (0..V::W).step_by(2) {
            let mut x = [[vectors.zero(); ROWS]; 2];
            for e in 0..2 {
                for v in 0..ROWS {
                    x[e][v] = vectors.load(&m[l + e][v]);
                }
            }
            for a in 0..k {
                let pair = [0, 1].map(|e| vectors.splat(other[a][l + e]));
                for v in 0..ROWS {
                    let own = -vectors.load(&own[v][a]);
                    for e in 0..2 {
                        x[e][v] = own.mul_add(pair[e], x[e][v]);
                    }
                }
            }
            for e in 0..2 {
                for v in 0..ROWS {
                    let x = x[e][v];
                    let weight = self.influence.scale / x.mul_add(x, self.influence.scale);
                    sum[v] += x.abs();
                    total[v] += weight;
                    weight.store_array(&mut w[l + e][v]);
                    (weight * x).store_array(&mut c[l + e][v]);
                }
            }
        }
        (self.sum, self.total) = (sum, total);
    }

    /// Up to W columns, whose rows of U are `other`. Vector row `DIAGONAL` of the panel has them on the
    /// diagonal; the rows above have them on the right of it, those below on the left.
    #[inline(always)]
    fn columns<const DIAGONAL: usize>(
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
        let mut own_weights = zero;
        if DIAGONAL < ROWS {
            own_weights = self.weigh_own(DIAGONAL, m);
        }
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
                if v > DIAGONAL {
                    self.sum[v] += x[v].abs();
                } else if v == DIAGONAL {
                    weight = lanes.simd_eq(lane).select(own_weights, weight);
                    let left: V = lanes.simd_gt(lane).select(x[v].abs(), zero);
                    self.sum[v] += left;
                }
                (weight * x[v]).store_array(&mut c[v]);
                weight.store_array(&mut w[v]);
                self.total[v] += weight;
            }
            lane += vectors.one();
        }
    }

    /// The weights on the diagonal, in vector row `row` of the panel, all at once; `m` has the columns of these rows.
    #[inline(always)]
    fn weigh_own(&self, row: usize, m: &[[V::Array; ROWS]]) -> V {
        let (vectors, k) = (self.vectors, self.k);
        let m = V::from_fn(
            vectors.simd(),
            #[inline(always)]
            |l| m.get(l).map_or(V::Scalar::ZERO, |m| m[row][l]),
        );
        let mut x = m;
        for u in &self.own[row * k..][..k] {
            let u = vectors.load(u);
            x = (-u).mul_add(u, x);
        }
        self.influence.of_diagonal(vectors, m, x)
    }
}
