//! Weights that are summed as they are made: for so few columns of U that A and b of a row stay in registers.
//!
//! The last vector row has few rows in it if n is, say, 20. It goes with the one before, column by column, in vectors
//! that are no wider than need be: a division takes as long as its vector is wide.

use super::lane_numbers;
use crate::simd::{Fixed, Real, Vector, Vectors};
use crate::unrolled::shape::Influence;
use crate::unrolled::triangle::triangle;
use fearless_simd::Select;

/// The largest k.
const MOST: usize = 3;

/// Whether registers hold the sums of a row, and all that is needed for them: those of AVX-512, of which there are 32.
pub(super) const fn fits<V: Vector>(k: usize) -> bool {
    k <= MOST && size_of::<V>() > 32
}

/// What it takes to weigh vector rows of a panel of `ROWS`.
pub(super) struct Fused<'a, const ROWS: usize, V: Vector> {
    pub(super) k: usize,
    /// The columns of the panel.
    pub(super) m: &'a [[V::Array; ROWS]],
    pub(super) u: &'a [V::Array],
    /// u_j u_jᵀ of all rows, if A is wanted.
    pub(super) p: &'a [V::Array],
}

/// A vector row, in vectors `N` that hold the first lanes of it, or all.
pub(super) struct Row<'a, V: Vector, N: Vector> {
    pub(super) vectors: Vectors<N>,
    pub(super) influence: Influence<N>,
    /// Its number among all, and in its panel.
    pub(super) number: usize,
    pub(super) place: usize,
    /// Its diagonal entries.
    pub(super) variance: &'a V::Array,
}

/// The sums of a row: see [`crate::unrolled::shape::Terms`].
#[derive(Clone, Copy)]
pub(super) struct Sums<N> {
    pub(super) a: [N; triangle(MOST)],
    pub(super) b: [N; MOST],
    pub(super) sum: N,
    pub(super) total: N,
}

/// Where columns are, seen from a row.
const LEFT: usize = 0;
const DIAGONAL: usize = 1;
const RIGHT: usize = 2;

/// A column of R, for all rows: its place in its square, and what the square has of M, U and u_j u_jᵀ.
struct Column<'a, V: Vector, const ROWS: usize> {
    lane: usize,
    /// The same number.
    here: V::Scalar,
    m: &'a [V::Array; ROWS],
    u: &'a [V::Array],
    p: &'a [V::Array],
}

impl<const ROWS: usize, V: Vector> Fused<'_, ROWS, V> {
    /// The sums of a row: with A if `OWN`, else with the sum of the weights.
    #[inline(always)]
    pub(super) fn one<const OWN: bool>(&self, row: &Row<'_, V, V>) -> Sums<V> {
        let own = row.minus(self.k, self.u);
        let mut sums = row.nothing();
        for square in 0..self.squares() {
            if square < row.number {
                self.square::<LEFT, OWN>(square, row, &own, &mut sums);
            } else if square == row.number {
                self.square::<DIAGONAL, OWN>(square, row, &own, &mut sums);
            } else {
                self.square::<RIGHT, OWN>(square, row, &own, &mut sums);
            }
        }
        sums
    }

    /// Likewise of the last two.
    #[inline(always)]
    pub(super) fn last<const OWN: bool>(
        &self,
        row: &Row<'_, V, V>,
        tail: &Row<'_, V, V::Tail>,
    ) -> (Sums<V>, Sums<V::Tail>) {
        let own = (row.minus(self.k, self.u), tail.minus(self.k, self.u));
        let mut sums = (row.nothing(), tail.nothing());
        for square in 0..self.squares() {
            if square < row.number {
                self.two_squares::<LEFT, LEFT, OWN>(square, (row, tail), &own, &mut sums);
            } else if square == row.number {
                self.two_squares::<DIAGONAL, LEFT, OWN>(square, (row, tail), &own, &mut sums);
            } else {
                self.two_squares::<RIGHT, DIAGONAL, OWN>(square, (row, tail), &own, &mut sums);
            }
        }
        sums
    }

    #[inline(always)]
    fn squares(&self) -> usize {
        self.u.len() / self.k
    }

    /// Up to W columns.
    #[inline(always)]
    fn square<const WHERE: usize, const OWN: bool>(
        &self,
        square: usize,
        row: &Row<'_, V, V>,
        own: &[V; MOST],
        sums: &mut Sums<V>,
    ) {
        let diagonal = row.weigh_own::<WHERE>(own, self.rows_of_u(square));
        let mut all = *sums;
        for column in self.columns::<OWN>(square) {
            row.add::<WHERE, OWN, ROWS>(self.k, &column, own, diagonal, &mut all);
        }
        *sums = all;
    }

    #[inline(always)]
    fn two_squares<const WHERE: usize, const TAIL: usize, const OWN: bool>(
        &self,
        square: usize,
        (row, tail): (&Row<'_, V, V>, &Row<'_, V, V::Tail>),
        own: &([V; MOST], [V::Tail; MOST]),
        sums: &mut (Sums<V>, Sums<V::Tail>),
    ) {
        let u = self.rows_of_u(square);
        let diagonal = (
            row.weigh_own::<WHERE>(&own.0, u),
            tail.weigh_own::<TAIL>(&own.1, u),
        );
        let mut all = *sums;
        for column in self.columns::<OWN>(square) {
            row.add::<WHERE, OWN, ROWS>(self.k, &column, &own.0, diagonal.0, &mut all.0);
            tail.add::<TAIL, OWN, ROWS>(self.k, &column, &own.1, diagonal.1, &mut all.1);
        }
        *sums = all;
    }

    /// The rows of U that belong to the columns of a square.
    #[inline(always)]
    fn rows_of_u(&self, square: usize) -> &[V::Array] {
        &self.u[square * self.k..][..self.k]
    }

    #[inline(always)]
    fn columns<const OWN: bool>(&self, square: usize) -> impl Iterator<Item = Column<'_, V, ROWS>> {
        let size = if OWN { triangle(self.k) } else { 0 };
        let u = self.rows_of_u(square);
        let p = &self.p[square * size..][..size];
        let mut here = -V::Scalar::ONE;
        let m = self.m[square * V::W..].iter().take(V::W).enumerate();
        m.map(
            #[inline(always)]
            move |(lane, m)| {
                here += V::Scalar::ONE;
                Column {
                    lane,
                    here,
                    m,
                    u,
                    p,
                }
            },
        )
    }
}

impl<V: Vector, N: Vector<Scalar = V::Scalar>> Row<'_, V, N> {
    #[inline(always)]
    fn load(&self, x: &V::Array) -> N {
        self.vectors.load(&N::Array::chunks(x.as_ref())[0])
    }

    /// Its row of −U.
    #[inline(always)]
    fn minus(&self, k: usize, u: &[V::Array]) -> [N; MOST] {
        let mut own = [self.vectors.zero(); MOST];
        for a in 0..k {
            own[a] = -self.load(&u[self.number * k + a]);
        }
        own
    }

    #[inline(always)]
    fn nothing(&self) -> Sums<N> {
        let zero = self.vectors.zero();
        Sums {
            a: [zero; triangle(MOST)],
            b: [zero; MOST],
            sum: zero,
            total: zero,
        }
    }

    /// The weights of its diagonal entries, where they are in the square.
    #[inline(always)]
    fn weigh_own<const WHERE: usize>(&self, own: &[N; MOST], u: &[V::Array]) -> N {
        if WHERE != DIAGONAL {
            return self.vectors.zero();
        }
        let variance = self.load(self.variance);
        let mut x = variance;
        for (own, u) in own.iter().zip(u) {
            x = own.mul_add(self.load(u), x);
        }
        self.influence.of_diagonal(self.vectors, variance, x)
    }

    /// What a column adds to the sums of the row, whose rows of −U are `own`.
    #[inline(always)]
    fn add<const WHERE: usize, const OWN: bool, const ROWS: usize>(
        &self,
        k: usize,
        column: &Column<'_, V, ROWS>,
        own: &[N; MOST],
        diagonal: N,
        sums: &mut Sums<N>,
    ) {
        let vectors = self.vectors;
        let &Column {
            lane,
            here,
            m,
            u,
            p,
        } = column;
        let scale = self.influence.scale;
        let mut x = self.load(&m[self.place]);
        for a in 0..k {
            x = own[a].mul_add(vectors.splat(u[a][lane]), x);
        }
        let mut weight = scale / x.mul_add(x, scale);
        if WHERE == LEFT {
            sums.sum += x.abs();
        } else if WHERE == DIAGONAL {
            let (lanes, here) = (lane_numbers(vectors), vectors.splat(here));
            weight = lanes.simd_eq(here).select(diagonal, weight);
            let left: N = lanes.simd_gt(here).select(x.abs(), vectors.zero());
            sums.sum += left;
        }
        if !OWN {
            sums.total += weight;
        }
        let c = weight * x;
        for a in 0..k {
            sums.b[a] = c.mul_add(vectors.splat(u[a][lane]), sums.b[a]);
        }
        if OWN {
            for e in 0..triangle(k) {
                sums.a[e] = weight.mul_add(vectors.splat(p[e][lane]), sums.a[e]);
            }
        }
    }
}

impl<N: Vector> Sums<N> {
    /// In vectors of full width. Where there are no rows, A is such that it can be solved, and nothing is to be done.
    #[inline(always)]
    pub(super) fn widen<V>(self, vectors: Vectors<V>) -> Sums<V>
    where
        V: Vector<Tail = N, Scalar = N::Scalar>,
    {
        let (zero, one) = (N::Scalar::ZERO, N::Scalar::ONE);
        let wide = |x: N, rest| V::from_tail(vectors.simd(), x, rest);
        let mut sums = Sums {
            a: [vectors.zero(); triangle(MOST)],
            b: [vectors.zero(); MOST],
            sum: wide(self.sum, zero),
            total: wide(self.total, one),
        };
        for a in 0..MOST {
            sums.b[a] = wide(self.b[a], zero);
            for b in 0..=a {
                let e = triangle(a) + b;
                sums.a[e] = wide(self.a[e], if a == b { one } else { zero });
            }
        }
        sums
    }
}
