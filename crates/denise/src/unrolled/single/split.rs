//! L and S: panel by panel for the network, row by row for the caller.

use super::parts::parts;
use super::{PANEL, Single, panels};
use crate::simd::{Fixed, Real, Vector, Vectors};
use crate::unrolled::rank::by_one;
use crate::unrolled::shape::{Layout, Split};
use core::iter::repeat;
use fearless_simd::Select;

/// Rows that a thread delivers at a time.
const ROWS: usize = 32;

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

    const SPLIT_FIRST: bool = false;

    /// Row by row, so that memory is written in order. A row of a symmetric matrix is a column, which panels have.
    #[inline(always)]
    fn deliver(
        self,
        k: usize,
        scale: V,
        m: &[V::Array],
        u: &[V::Array],
        _: (&[V::Array], &mut [V::Array]),
        holes: bool,
        l: &mut [V::Scalar],
        s: &mut [V::Scalar],
    ) {
        let n = self.n;
        let work = Delivery {
            vectors: self.vectors,
            n,
            k,
            scale,
            m,
            u,
            holes,
        };
        if self.team.threads() == 1 {
            return work.rows(0, l, s);
        }
        let runs = (0..n.div_ceil(ROWS)).map(|run| (ROWS * run, ROWS.min(n - ROWS * run)));
        let width = |out: &[V::Scalar]| if out.is_empty() { 0 } else { n };
        let widths = (width(l), width(s));
        let tables = [(l, widths.0), (s, widths.1)];
        self.team.share_in(
            repeat(()),
            parts(runs, n, tables),
            |(), ((first, _), [l, s])| work.rows(first, l, s),
        );
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

/// What it takes to deliver rows.
struct Delivery<'a, V: Vector> {
    vectors: Vectors<V>,
    n: usize,
    k: usize,
    scale: V,
    m: &'a [V::Array],
    u: &'a [V::Array],
    holes: bool,
}

impl<V: Vector> Delivery<'_, V> {
    /// Rows from `first` on, as many as there is room for.
    #[inline(never)]
    fn rows(&self, first: usize, l: &mut [V::Scalar], s: &mut [V::Scalar]) {
        let (n, vectors) = (self.n, self.vectors);
        let count = l.len().max(s.len()) / n;
        if size_of::<V>() > 32 {
            return by_one::<3, V>(
                vectors,
                self.k,
                #[inline(always)]
                |k| {
                    let rows = n.div_ceil(V::W);
                    for row in 0..count {
                        let (l, s) = (rest(l, row * n), rest(s, row * n));
                        match rows {
                            3 => self.run::<3>(k, first + row, 0, l, s),
                            2 => self.run::<2>(k, first + row, 0, l, s),
                            _ => self.row(k, first + row, l, s),
                        }
                    }
                },
            );
        }
        // The library without AVX-512 should have little code, so only the usual size has its own.
        if size_of::<V>() > 16 && n.div_ceil(V::W) == PANEL && self.k == 3 {
            return vectors.vectorize(
                #[inline(always)]
                || {
                    for row in 0..count {
                        let (l, s) = (rest(l, row * n), rest(s, row * n));
                        self.run::<PANEL>(3, first + row, 0, l, s);
                    }
                },
            );
        }
        vectors.vectorize(
            #[inline(always)]
            || {
                for row in 0..count {
                    self.row(self.k, first + row, rest(l, row * n), rest(s, row * n));
                }
            },
        );
    }

    /// A row, panel by panel.
    #[inline(always)]
    fn row(&self, k: usize, j: usize, l: &mut [V::Scalar], s: &mut [V::Scalar]) {
        for (top, count) in panels(self.n.div_ceil(V::W)) {
            let (l, s) = (rest(l, top * V::W), rest(s, top * V::W));
            match count {
                3 => self.run::<3>(k, j, top, l, s),
                2 => self.run::<2>(k, j, top, l, s),
                _ => self.run::<1>(k, j, top, l, s),
            }
        }
    }

    /// The entries of row `j` that the panel of `COUNT` vectors from `top` on has. What is beyond the last one is the
    /// beginning of the next row, which comes later.
    #[inline(always)]
    fn run<const COUNT: usize>(
        &self,
        k: usize,
        j: usize,
        top: usize,
        l: &mut [V::Scalar],
        s: &mut [V::Scalar],
    ) {
        let (vectors, scale) = (self.vectors, self.scale);
        let max = vectors.splat(V::Scalar::MAX);
        let min = -max;
        let own = &self.u[j / V::W * k..][..k];
        let other = &self.u[top * k..][..COUNT * k];
        let mut x = [vectors.zero(); COUNT];
        for a in 0..k {
            let own = vectors.splat(own[a][j % V::W]);
            for v in 0..COUNT {
                x[v] = vectors.load(&other[v * k + a]).mul_add(own, x[v]);
            }
        }
        for v in 0..COUNT {
            x[v] = (x[v] * scale).min(max).max(min);
        }
        store_runs(&x, l);
        if s.is_empty() {
            return;
        }
        let m = &self.m[top * self.n + j * COUNT..][..COUNT];
        for v in 0..COUNT {
            let m = vectors.load(&m[v]);
            x[v] = (m - x[v]).min(max).max(min);
            if self.holes {
                x[v] = m.simd_eq(m).select(x[v], vectors.splat(V::Scalar::NAN));
            }
        }
        store_runs(&x, s);
    }
}

/// What follows the first values of an output, if that is wanted.
#[inline(always)]
fn rest<T>(out: &mut [T], at: usize) -> &mut [T] {
    out.get_mut(at..).unwrap_or_default()
}

/// Stores vectors one after the other, as far as there is room.
#[inline(always)]
fn store_runs<const COUNT: usize, V: Vector>(values: &[V; COUNT], run: &mut [V::Scalar]) {
    if run.len() >= COUNT * V::W {
        let runs = V::Array::chunks_mut(&mut run[..COUNT * V::W]);
        for v in 0..COUNT {
            values[v].store_array(&mut runs[v]);
        }
        return;
    }
    // The end of the output.
    let mut all = [V::Array::filled(V::Scalar::ZERO); COUNT];
    for v in 0..COUNT {
        values[v].store_array(&mut all[v]);
    }
    let all = V::Array::values_mut(&mut all);
    run.copy_from_slice(&all[..run.len()]);
}
