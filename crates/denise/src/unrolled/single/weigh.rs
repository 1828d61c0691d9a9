//! The residual of a panel, block of columns by block, its weights, and what they add to A and b of its rows.

use super::fused::{self, Fused, Row, fits};
use super::parts::parts;
use super::tile::{BLOCK, add};
use super::{PANEL, Single, lane_numbers, panels};
use crate::simd::{Vector, Vectors};
use crate::unrolled::rank::{by_constant, by_rank};
use crate::unrolled::rows;
use crate::unrolled::shape::{Influence, Layout, Made, Summed, Sums, Terms, Weigh};
use crate::unrolled::triangle::triangle;
use fearless_simd::Select;

impl<V: Vector> Weigh<V> for Single<'_, V> {
    #[inline(always)]
    fn accumulate(
        self,
        k: usize,
        influence: Influence<V>,
        (m, variances): (&[V::Array], &[V::Array]),
        u: &[V::Array],
        p: Option<&mut [V::Array]>,
        terms: Terms<'_, V>,
        made: Made<'_, V>,
        step: &(impl Fn(usize, Summed<'_, V>, Made<'_, V>) + Sync),
    ) -> V {
        let Terms {
            w,
            c,
            a,
            b,
            sums,
            trust,
        } = terms;
        let (n, rows, vectors) = (self.n, self.rows(), self.vectors);
        let own = p.is_some();
        let weighing = Weighing {
            vectors,
            n,
            k,
            influence,
            m,
            variances,
            u,
            own,
        };
        let size = if own { triangle(k) } else { 0 };
        let p = p.unwrap_or_default();
        // By reference, here and below: what was put together a moment ago is slow to copy.
        if rows <= PANEL {
            if own {
                rows::products(vectors, k, u, p);
            }
            let mut part = Part {
                w,
                c,
                p,
                a,
                b,
                sums,
                trust,
            };
            weighing.panel((0, rows), &mut part);
            let Part {
                a, b, sums, trust, ..
            } = part;
            // Before the step, in whose shadow it is added up: the next layer waits for both.
            let sum = self.sum(sums);
            step(0, Summed { a, b, trust }, made);
            return sum;
        }
        // What is weighed is summed at once, and its rows take their step, on the thread that has it in its cache.
        let block = PANEL * n.min(BLOCK * V::W);
        // Each thread has u_j u_jᵀ of its own, too, if there is room: it takes longer to fetch than to compute.
        let all = rows * size;
        let apart = w.len() >= self.team.threads() * (block + all);
        if own && !apart {
            rows::products(vectors, k, u, p);
        }
        let rooms = w
            .chunks_exact_mut(block + if apart { all } else { 0 })
            .zip(c.chunks_exact_mut(block))
            .map(|(w, c)| (w, c, false));
        let p = &*p;
        let Made { u: next, norms } = made;
        let tables = [
            (a, size),
            (b, k),
            (&mut *sums, 1),
            (trust, 1),
            (next, k),
            (norms, 1),
        ];
        self.team.share_in(
            rooms,
            parts(panels(rows), rows, tables),
            #[inline(always)]
            |(w, c, ready), (panel, [a, b, sums, trust, next, norms])| {
                let (w, products) = w.split_at_mut(block);
                if own && apart && !*ready {
                    rows::products(vectors, k, u, products);
                    *ready = true;
                }
                let mut part = Part {
                    w,
                    c,
                    p: if apart { products } else { p },
                    a,
                    b,
                    sums,
                    trust,
                };
                weighing.panel(panel, &mut part);
                let Part { a, b, trust, .. } = part;
                vectors.vectorize(
                    #[inline(always)]
                    || step(panel.0, Summed { a, b, trust }, Made { u: next, norms }),
                );
            },
        );
        self.sum(sums)
    }
}

/// What is computed for the rows of a panel.
struct Part<'a, V: Vector> {
    /// Room for a block of weights.
    w: &'a mut [V::Array],
    /// Room for weights times R.
    c: &'a mut [V::Array],
    /// u_j u_jᵀ of every row.
    p: &'a [V::Array],
    /// See [`Terms`].
    a: &'a mut [V::Array],
    b: &'a mut [V::Array],
    sums: &'a mut [V::Array],
    trust: &'a mut [V::Array],
}

impl<V: Vector> Part<'_, V> {
    /// Writes the sums of a row, with A if `OWN`.
    #[inline(always)]
    fn put<const OWN: bool>(&mut self, k: usize, row: usize, sums: &fused::Sums<V>) {
        if OWN {
            let size = triangle(k);
            let a = &mut self.a[row * size..][..size];
            for e in 0..size {
                sums.a[e].store_array(&mut a[e]);
            }
        }
        let b = &mut self.b[row * k..][..k];
        for a in 0..k {
            sums.b[a].store_array(&mut b[a]);
        }
        sums.sum.store_array(&mut self.sums[row]);
        sums.total.store_array(&mut self.trust[row]);
    }
}

/// What it takes to weigh a panel.
struct Weighing<'a, V: Vector> {
    vectors: Vectors<V>,
    n: usize,
    k: usize,
    influence: Influence<V>,
    m: &'a [V::Array],
    variances: &'a [V::Array],
    u: &'a [V::Array],
    /// Whether A_i is wanted.
    own: bool,
}

impl<V: Vector> Weighing<'_, V> {
    #[inline(never)]
    fn panel(&self, (first, count): (usize, usize), part: &mut Part<'_, V>) {
        if size_of::<V>() > 32 {
            return by_rank(
                self.vectors,
                self.k,
                #[inline(always)]
                move |k| self.weigh_some(k, first, count, part),
            );
        }
        // The library without AVX-512 should have little code.
        by_constant::<1, 3, V>(
            self.vectors,
            self.k,
            #[inline(always)]
            move |k| self.weigh_some(k, first, count, part),
        );
    }

    /// [`Weighing::panel`], to be inlined where k is a constant.
    #[inline(always)]
    fn weigh_some(&self, k: usize, first: usize, count: usize, part: &mut Part<'_, V>) {
        match count {
            3 => self.weigh_panel::<3>(k, first, part),
            2 => self.weigh_panel::<2>(k, first, part),
            _ => self.weigh_panel::<1>(k, first, part),
        }
    }

    /// The same where registers hold all sums of a row.
    #[inline(always)]
    fn fuse<const ROWS: usize, const OWN: bool>(
        &self,
        k: usize,
        first: usize,
        part: &mut Part<'_, V>,
    ) {
        let (n, vectors, simd) = (self.n, self.vectors, self.vectors.simd());
        let fused = Fused::<ROWS, V> {
            k,
            m: self.m[first * n..][..ROWS * n].as_chunks::<ROWS>().0,
            u: self.u,
            p: part.p,
        };
        if ROWS == 2 && n - (first + 1) * V::W <= V::Tail::W {
            let row = self.row(vectors, self.influence, first, 0);
            let tail = Vectors::<V::Tail>::new(simd);
            let tail = self.row(tail, self.influence.of_tail(tail), first, 1);
            let (row, tail) = fused.last::<OWN>(&row, &tail);
            part.put::<OWN>(k, 0, &row);
            part.put::<OWN>(k, 1, &tail.widen(vectors));
            return;
        }
        for place in 0..ROWS {
            let row = self.row(vectors, self.influence, first, place);
            part.put::<OWN>(k, place, &fused.one::<OWN>(&row));
        }
    }

    #[inline(always)]
    fn row<N: Vector>(
        &self,
        vectors: Vectors<N>,
        influence: Influence<N>,
        first: usize,
        place: usize,
    ) -> Row<'_, V, N> {
        Row {
            vectors,
            influence,
            number: first + place,
            place,
            variance: &self.variances[first + place],
        }
    }

    /// [`Weighing::panel`] for a panel of `ROWS` vectors.
    #[inline(always)]
    fn weigh_panel<const ROWS: usize>(&self, k: usize, first: usize, part: &mut Part<'_, V>) {
        let (n, vectors, u) = (self.n, self.vectors, self.u);
        if fits::<V>(k) {
            if self.own {
                self.fuse::<ROWS, true>(k, first, part);
            } else {
                self.fuse::<ROWS, false>(k, first, part);
            }
            return;
        }
        let zero = vectors.zero();
        let mut panel = Panel::<ROWS, V> {
            vectors,
            k,
            own: &u[first * k..][..ROWS * k],
            variances: &self.variances[first..][..ROWS],
            influence: self.influence,
            sum: [zero; ROWS],
            total: [zero; ROWS],
        };
        let m = self.m[first * n..][..ROWS * n].as_chunks::<ROWS>().0;
        let w = part.w.as_chunks_mut::<ROWS>().0;
        let c = part.c.as_chunks_mut::<ROWS>().0;
        for (block, m) in m.chunks(BLOCK * V::W).enumerate() {
            let left = block * BLOCK;
            let (w, c) = (&mut w[..m.len()], &mut c[..m.len()]);
            // Squares of W columns, and the rows of U that belong to them.
            let squares = m.chunks(V::W).zip(u[left * k..].chunks_exact(k));
            let squares = squares.zip(w.chunks_mut(V::W).zip(c.chunks_mut(V::W)));
            for (square, ((m, u), (w, c))) in squares.enumerate() {
                match (left + square).wrapping_sub(first) {
                    0 => panel.columns::<0>(m, u, w, c),
                    1 if ROWS > 1 => panel.columns::<1>(m, u, w, c),
                    2 if ROWS > 2 => panel.columns::<2>(m, u, w, c),
                    _ if left + square < first => panel.square::<true>(m, u, w, c),
                    _ if m.len() == V::W => panel.square::<false>(m, u, w, c),
                    _ => panel.columns::<PANEL>(m, u, w, c),
                }
            }
            add::<ROWS, V>(vectors, k, left == 0, &(c, &u[left * k..]), part.b);
            if self.own {
                let size = triangle(k);
                let p = &part.p[left * size..];
                add::<ROWS, V>(vectors, size, left == 0, &(w, p), part.a);
            }
        }
        for v in 0..ROWS {
            panel.sum[v].store_array(&mut part.sums[v]);
            panel.total[v].store_array(&mut part.trust[v]);
        }
    }
}

/// A panel of rows that is being weighed.
struct Panel<'a, const ROWS: usize, V: Vector> {
    vectors: Vectors<V>,
    k: usize,
    /// The panel's own rows of U.
    own: &'a [V::Array],
    variances: &'a [V::Array],
    influence: Influence<V>,
    /// Σ |R_ij| over j < i.
    sum: [V; ROWS],
    /// Σ w_ij.
    total: [V; ROWS],
}

impl<const ROWS: usize, V: Vector> Panel<'_, ROWS, V> {
    /// W columns left, or right, of all rows of the panel, whose rows of U are `other`.
    #[inline(always)]
    fn square<const LEFT: bool>(
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
                    if LEFT {
                        sum[v] += x.abs();
                    }
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
            own_weights = self.weigh_own(DIAGONAL);
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

    /// The weights on the diagonal, in vector row `row` of the panel, all at once.
    #[inline(always)]
    fn weigh_own(&self, row: usize) -> V {
        let (vectors, k) = (self.vectors, self.k);
        let variance = vectors.load(&self.variances[row]);
        let mut x = variance;
        for u in &self.own[row * k..][..k] {
            let u = vectors.load(u);
            x = (-u).mul_add(u, x);
        }
        self.influence.of_diagonal(vectors, variance, x)
    }
}
