//! The residual of one block after the other, its weights, and what they add to A and b of its rows and columns.

use super::tile::add_row;
use super::{ENTRIES, Lanes, SIDE};
use crate::simd::{Fixed, Real, Vector, Vectors};
use crate::unrolled::rank::by_many_ranks;
use crate::unrolled::rows;
use crate::unrolled::shape::{Influence, Made, Summed, Sums, Terms, Weigh};
use crate::unrolled::triangle::triangle;

/// Columns of U that are kept in registers while a block is weighed.
const HELD: usize = 4;

impl<V: Vector> Weigh<V> for Lanes<V> {
    #[inline(always)]
    fn accumulate(
        self,
        k: usize,
        influence: Influence<V>,
        (m, _): (&[V::Array], &[V::Array]),
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
        let terms = Terms {
            w,
            c,
            a: &mut *a,
            b: &mut *b,
            sums: &mut *sums,
            trust: &mut *trust,
        };
        self.accumulate_all(k, influence, m, u, p, terms);
        let sum = self.sum(sums);
        step(0, Summed { a, b, trust }, made);
        sum
    }
}

impl<V: Vector> Lanes<V> {
    #[inline(never)]
    fn accumulate_all(
        self,
        k: usize,
        influence: Influence<V>,
        m: &[V::Array],
        u: &[V::Array],
        p: Option<&mut [V::Array]>,
        terms: Terms<'_, V>,
    ) {
        let own = p.map(
            #[inline(always)]
            |p| {
                rows::products(self.vectors, k, u, p);
                &*p
            },
        );
        by_many_ranks(
            self.vectors,
            k,
            #[inline(always)]
            move |k| match own {
                Some(p) => self.accumulate_blocks::<true>(k, influence, m, u, p, terms),
                None => self.accumulate_blocks::<false>(k, influence, m, u, &[], terms),
            },
        );
    }

    #[inline(always)]
    fn accumulate_blocks<const OWN: bool>(
        self,
        k: usize,
        influence: Influence<V>,
        m: &[V::Array],
        u: &[V::Array],
        p: &[V::Array],
        terms: Terms<'_, V>,
    ) {
        let (n, vectors) = (self.n, self.vectors);
        let Terms {
            w,
            c,
            a,
            b,
            sums,
            trust,
        } = terms;
        let zero = V::Array::filled(V::Scalar::ZERO);
        sums.fill(zero);
        if !OWN {
            trust.fill(zero);
            // No weight belongs to padding, and something will be divided by their sum.
            trust[n..].fill(V::Array::filled(V::Scalar::ONE));
        }
        let blocks = m.as_chunks::<ENTRIES>().0;
        // Only one row of blocks of w and c is alive at a time.
        let (w, c) = (
            w.as_chunks_mut::<ENTRIES>().0,
            c.as_chunks_mut::<ENTRIES>().0,
        );
        for i in 0..n.div_ceil(SIDE) {
            let size = SIDE.min(n - i * SIDE);
            for j in 0..=i {
                let mut block = Block::<OWN, V> {
                    vectors,
                    k,
                    u_i: &u[i * SIDE * k..][..SIDE * k],
                    u_j: &u[j * SIDE * k..][..SIDE * k],
                    m: &blocks[triangle(i) + j],
                    w: &mut w[j],
                    c: &mut c[j],
                };
                let sums = &mut sums[i * SIDE..][..SIDE];
                let (above, of_i) = trust.split_at_mut(i * SIDE);
                let of_i = &mut of_i[..SIDE];
                if j < i {
                    let of_j = &mut above[j * SIDE..][..SIDE];
                    block.weigh(influence, size, sums, of_i, of_j);
                } else {
                    block.weigh_diagonal(influence, size, sums, of_i);
                }
            }
            add_row(vectors, k, &c[..=i], u, b);
            if OWN {
                add_row(vectors, triangle(k), &w[..=i], p, a);
            }
        }
    }
}

/// The weights of one block, and the weights times R. Where rows have systems of their own, nobody asks for
/// the sums of their weights.
struct Block<'a, const OWN: bool, V: Vector> {
    vectors: Vectors<V>,
    k: usize,
    /// The rows of U that belong to the rows of the block, and to its columns.
    u_i: &'a [V::Array],
    u_j: &'a [V::Array],
    m: &'a [V::Array; ENTRIES],
    w: &'a mut [V::Array; ENTRIES],
    c: &'a mut [V::Array; ENTRIES],
}

impl<const OWN: bool, V: Vector> Block<'_, OWN, V> {
    /// A block left of the diagonal, of which `size` rows are not padding; `trust_j` belongs to the rows
    /// that mirror its columns.
    #[inline(always)]
    fn weigh(
        &mut self,
        influence: Influence<V>,
        size: usize,
        sums: &mut [V::Array],
        trust_i: &mut [V::Array],
        trust_j: &mut [V::Array],
    ) {
        let vectors = self.vectors;
        let mut of_j = self.load_trust(trust_j);
        for row in 0..size {
            let (mut sum, mut total) = (vectors.load(&sums[row]), vectors.load(&trust_i[row]));
            let own = self.own(row);
            for column in 0..SIDE {
                let x = self.residual(&own, row, column);
                let weight = influence.scale / x.mul_add(x, influence.scale);
                self.store(row, column, weight, x);
                sum += x.abs();
                if !OWN {
                    total += weight;
                    of_j[column] += weight;
                }
            }
            sum.store_array(&mut sums[row]);
            if !OWN {
                total.store_array(&mut trust_i[row]);
            }
        }
        self.pad(size);
        self.store_trust(of_j, trust_j);
    }

    /// A block on the diagonal.
    #[inline(always)]
    fn weigh_diagonal(
        &mut self,
        influence: Influence<V>,
        size: usize,
        sums: &mut [V::Array],
        trust: &mut [V::Array],
    ) {
        let vectors = self.vectors;
        // Padded columns too: what an earlier group left there need not be finite.
        if size < SIDE {
            self.pad(0);
        }
        let mut total = self.load_trust(trust);
        for row in 0..SIDE {
            if row == size {
                break;
            }
            let mut sum = vectors.load(&sums[row]);
            let own = self.own(row);
            for column in 0..row {
                let x = self.residual(&own, row, column);
                let weight = influence.scale / x.mul_add(x, influence.scale);
                self.store(row, column, weight, x);
                self.store(column, row, weight, x);
                sum += x.abs();
                total[row] += weight;
                total[column] += weight;
            }
            let x = self.residual(&own, row, row);
            let m = vectors.load(&self.m[row * SIDE + row]);
            let weight = influence.of_diagonal(vectors, m, x);
            self.store(row, row, weight, x);
            total[row] += weight;
            sum.store_array(&mut sums[row]);
        }
        self.store_trust(total, trust);
    }

    /// The sums of weights so far of four rows; zeros where nobody asks for them.
    #[inline(always)]
    fn load_trust(&self, trust: &[V::Array]) -> [V; SIDE] {
        let mut sums = [self.vectors.zero(); SIDE];
        if !OWN {
            for row in 0..SIDE {
                sums[row] = self.vectors.load(&trust[row]);
            }
        }
        sums
    }

    #[inline(always)]
    fn store_trust(&self, sums: [V; SIDE], trust: &mut [V::Array]) {
        if !OWN {
            for row in 0..SIDE {
                sums[row].store_array(&mut trust[row]);
            }
        }
    }

    /// Padding has no weight.
    #[inline(always)]
    fn pad(&mut self, size: usize) {
        let zero = V::Array::filled(V::Scalar::ZERO);
        if OWN {
            self.w[size * SIDE..].fill(zero);
        }
        self.c[size * SIDE..].fill(zero);
    }

    /// −u_i, as much of it as fits in registers: the compiler cannot know that storing w leaves U alone.
    #[inline(always)]
    fn own(&self, row: usize) -> [V; HELD] {
        let mut own = [self.vectors.zero(); HELD];
        for a in 0..self.k.min(HELD) {
            own[a] = -self.vectors.load(&self.u_i[row * self.k + a]);
        }
        own
    }

    /// R_ij = M̂_ij − u_i · u_j.
    #[inline(always)]
    fn residual(&self, own: &[V; HELD], row: usize, column: usize) -> V {
        let (vectors, k) = (self.vectors, self.k);
        let other = &self.u_j[column * k..][..k];
        let mut x = vectors.load(&self.m[row * SIDE + column]);
        for a in 0..k.min(HELD) {
            x = own[a].mul_add(vectors.load(&other[a]), x);
        }
        for a in HELD..k {
            let own = -vectors.load(&self.u_i[row * k + a]);
            x = own.mul_add(vectors.load(&other[a]), x);
        }
        x
    }

    #[inline(always)]
    fn store(&mut self, row: usize, column: usize, weight: V, x: V) {
        if OWN {
            weight.store_array(&mut self.w[row * SIDE + column]);
        }
        (weight * x).store_array(&mut self.c[row * SIDE + column]);
    }
}
