//! How matrices lie in vectors, and what the forward pass asks of that.
//!
//! There are two shapes: `lanes` puts a matrix in each lane, `single` a row. Each of their files implements one
//! of the traits below, so `lanes/weigh.rs` and `single/weigh.rs` say the same in two ways. Both add in the same
//! order, so they agree to the bit.
//!
//! What a shape marks as not inlined is a hot loop: in the midst of the whole network the compiler runs out of
//! registers.

use crate::simd::{Vector, Vectors};
use crate::tick::Side;
use fearless_simd::Select;

/// A shape, with everything that the network needs of it.
pub(super) trait Shape<V: Vector>:
    Pack<V> + Sums<V> + Multiply<V> + Weigh<V> + Split<V>
{
}

impl<V: Vector, T: Pack<V> + Sums<V> + Multiply<V> + Weigh<V> + Split<V>> Shape<V> for T {}

/// How large things are.
pub(super) trait Layout<V: Vector>: Copy {
    fn vectors(self) -> Vectors<V>;
    fn n(self) -> usize;
    /// Vector rows of an n×k factor.
    fn rows(self) -> usize;
    /// Vectors in a symmetric n×n matrix.
    fn matrix(self) -> usize;
    /// Calls `work` with rows of tables, which have so many vectors a row, and the number of the first one: with all at
    /// once, or with some on each thread.
    fn share_rows<const TABLES: usize>(
        self,
        tables: [(&mut [V::Array], usize); TABLES],
        work: impl Fn(usize, [&mut [V::Array]; TABLES]) + Sync,
    );
}

/// Between tables of numbers and vectors.
pub(super) trait Pack<V: Vector>: Layout<V> {
    /// Reads the lower triangles of row-major matrices; lanes without a matrix repeat the last one.
    fn pack(self, matrices: &[V::Scalar], raw: &mut [V::Array]);
    /// Writes the rows of factors as row-major n×k tables.
    fn unpack_rows(self, k: usize, rows: &[V::Array], tables: &mut [V::Scalar]);
    /// Spreads a table over vector rows. It has k columns, one after the other, with zeros past n.
    fn spread(self, k: usize, table: &[V::Scalar], rows: &mut [V::Array]);
    /// Matrices at once.
    fn matrices(self) -> usize;
    /// A number for every matrix, where sums over its rows have theirs.
    fn each(self, number: impl Fn(usize) -> V::Scalar) -> V;
    /// Takes estimates in; `staging` has room for a matrix.
    fn pack_estimates(self, m: Side<'_, f64>, staging: &mut [V::Scalar], raw: &mut [V::Array]);
    /// Reads factors, of which value e is entry e of a row-major n×k table.
    fn pack_rows(self, k: usize, values: Side<'_, f64>, rows: &mut [V::Array]);
    /// Writes factors, of which `value` gives an entry by its place in a row-major n×k table and its matrix.
    fn put_rows(self, k: usize, rows: &mut [V::Array], value: impl Fn(usize, usize) -> V::Scalar);
    /// Gives every entry of factors to `take`: its place in a row-major n×k table, the matrix, and the entry.
    fn take_rows(self, k: usize, rows: &[V::Array], take: impl FnMut(usize, usize, V::Scalar));
}

/// Sums over rows and over entries.
pub(super) trait Sums<V: Vector>: Layout<V> {
    /// Σ over the rows of a number for each, in every lane that needs it. Rows past n are zero.
    fn sum(self, numbers: &[V::Array]) -> V;
    /// `g` = the lower triangle of xᵀ y, likewise, for two n×k factors.
    fn gram(self, k: usize, x: &[V::Array], y: &[V::Array], g: &mut [V::Array]);
    /// `c` = yᵀ x, likewise, row by row.
    fn cross(self, k: usize, x: &[V::Array], y: &[V::Array], c: &mut [V::Array]);
    /// [`rows::leading`](super::rows::leading), of which the first k rows of `g` and the first k directions count.
    fn leading(self, width: usize, k: usize, g: &mut [V::Array], room: &mut [V::Array]);
    /// Σ over the rows of x_ia y_ib, likewise, for factors with k columns.
    fn dot(self, k: usize, x: (&[V::Array], usize), y: (&[V::Array], usize)) -> V;
    /// Σ over all j of a function of the entries of each row; `term` gives 0 for an entry of 0.
    fn row_sums(self, matrix: &[V::Array], sums: &mut [V::Array], term: impl Fn(V) -> V + Sync);
    /// Σ over all pairs j < i of a function of an entry: `term` takes the entry's place in a matrix and gives 0 for an
    /// entry of 0. `sums` is scratch.
    fn sum_pairs(self, sums: &mut [V::Array], term: impl Fn(usize) -> V) -> V;
    /// Σ over all entries of symmetric functions of them; `terms` takes the entry's place in a matrix
    /// and gives 0 for an entry of 0. `sums` is scratch, a row of them for every function.
    fn sum_entries<const T: usize>(
        self,
        sums: &mut [V::Array],
        terms: impl Fn(usize) -> [V; T] + Sync,
    ) -> [V; T];
    /// The diagonal entries of one vector row.
    fn diagonal(self, matrix: &[V::Array], row: usize) -> V;
    /// Writes the diagonal entries of one vector row.
    fn set_diagonal(self, matrix: &mut [V::Array], row: usize, values: V);
    /// Entries cut at ±`pair` off the diagonal and at ±`own` on it.
    fn clip(self, pair: V, own: V, matrix: &[V::Array], out: &mut [V::Array]);
    /// Diagonal entry `i` of the matrix in `lane`, of those that are there.
    fn variance(self, matrix: &[V::Array], lane: usize, i: usize) -> V::Scalar;
    /// The largest |M_ij|, and the sum of 0·M_ij, which is not zero if an entry is not finite. `room` is scratch.
    fn extremes(self, raw: &[V::Array], room: &mut [V::Array]) -> (V, V);
    /// Writes a function of every entry.
    fn map(self, from: &[V::Array], to: &mut [V::Array], function: impl Fn(V) -> V + Sync);

    /// The mean of a number over the rows.
    #[inline(always)]
    fn mean(self, numbers: &[V::Array]) -> V {
        self.sum(numbers) * self.vectors().number(1.0 / self.n() as f64)
    }
}

/// Products with a symmetric matrix.
pub(super) trait Multiply<V: Vector>: Layout<V> {
    /// `matrix`_ij · (x_i x_j), for a number x_i for every row.
    fn scale_both(self, x: &[V::Array], matrix: &mut [V::Array]);
    /// `out` = `matrix` · `x`, both n×k.
    fn multiply(self, k: usize, matrix: &[V::Array], x: &[V::Array], out: &mut [V::Array]);
}

/// The weights of a layer, and the sums that they weigh.
pub(super) trait Weigh<V: Vector>: Layout<V> {
    /// From R = M̂ − U Uᵀ the weights w, and from them what the rows' steps need: see [`Terms`]. `m` is M̂ and its
    /// diagonal, `p` has room for u_j u_jᵀ of every row if A_i is wanted.
    ///
    /// `step` gets rows whose sums are there, with the number of the first one, and what it makes of them: all at once,
    /// or some on each thread while other rows are still being weighed.
    ///
    /// Gives Σ |R_ij| over all pairs j < i.
    #[allow(clippy::too_many_arguments)]
    fn accumulate(
        self,
        k: usize,
        influence: Influence<V>,
        m: (&[V::Array], &[V::Array]),
        u: &[V::Array],
        p: Option<&mut [V::Array]>,
        terms: Terms<'_, V>,
        made: Made<'_, V>,
        step: &(impl Fn(usize, Summed<'_, V>, Made<'_, V>) + Sync),
    ) -> V;
}

/// What [`Weigh::accumulate`] has summed for some rows.
pub(super) struct Summed<'a, V: Vector> {
    pub(super) a: &'a mut [V::Array],
    pub(super) b: &'a mut [V::Array],
    pub(super) trust: &'a [V::Array],
}

/// What a step makes of rows.
pub(super) struct Made<'a, V: Vector> {
    /// U before, then after.
    pub(super) u: &'a mut [V::Array],
    /// |u_i|² after.
    pub(super) norms: &'a mut [V::Array],
}

/// What [`Weigh::accumulate`] computes for every row.
pub(super) struct Terms<'a, V: Vector> {
    /// Room for w, as for a matrix.
    pub(super) w: &'a mut [V::Array],
    /// Room for w R, likewise.
    pub(super) c: &'a mut [V::Array],
    /// A_i = Σ_j w_ij u_j u_jᵀ, if wanted.
    pub(super) a: &'a mut [V::Array],
    /// b_i = Σ_j w_ij R_ij u_j.
    pub(super) b: &'a mut [V::Array],
    /// Σ |R_ij| over j < i.
    pub(super) sums: &'a mut [V::Array],
    /// Σ w_ij over all j, unless A_i is wanted; not zero for padding.
    pub(super) trust: &'a mut [V::Array],
}

/// The weight function of a layer: w = `scale` / (`scale` + R²) off the diagonal, and on it
/// w = (`diagonal_trust` + min(R, 0)²) / (`diagonal_scale` + R²), where min(R, 0)² counts only if M_ii is positive.
#[derive(Clone, Copy)]
pub(super) struct Influence<V> {
    pub(super) scale: V,
    pub(super) diagonal_scale: V,
    pub(super) diagonal_trust: V,
}

impl<V: Vector> Influence<V> {
    /// The same in narrower vectors, where all lanes are alike.
    #[inline(always)]
    pub(super) fn of_tail(self, vectors: Vectors<V::Tail>) -> Influence<V::Tail> {
        let first = |x: V| vectors.splat(x.to_array()[0]);
        Influence {
            scale: first(self.scale),
            diagonal_scale: first(self.diagonal_scale),
            diagonal_trust: first(self.diagonal_trust),
        }
    }

    /// The weight of a diagonal entry `x` of R, where M has `m`.
    #[inline(always)]
    pub(super) fn of_diagonal(self, vectors: Vectors<V>, m: V, x: V) -> V {
        let zero = vectors.zero();
        let beyond: V = m.simd_gt(zero).select(x.min(zero), zero);
        beyond.mul_add(beyond, self.diagonal_trust) / x.mul_add(x, self.diagonal_scale)
    }
}

/// The result.
pub(super) trait Split<V: Vector>: Layout<V> {
    /// `known` (M̂ − U Uᵀ), entry by entry, rounded as [`Weigh::accumulate`] does.
    fn residual(
        self,
        k: usize,
        m: &[V::Array],
        known: &[V::Array],
        u: &[V::Array],
        r: &mut [V::Array],
    );
    /// L = `scale` U Uᵀ and S = M − L, both saturating at the largest finite value.
    fn split(
        self,
        k: usize,
        scale: V,
        m: &[V::Array],
        u: &[V::Array],
        l: &mut [V::Array],
        s: &mut [V::Array],
    );
    /// Whether [`Split::deliver`] takes what [`Split::split`] has written.
    const SPLIT_FIRST: bool;
    /// The same L and S to the caller, row-major; an empty one is not wanted. `split` is what [`Split::split`] has
    /// written, if it has. S is NaN where M is, if there are `holes`.
    #[allow(clippy::too_many_arguments)]
    fn deliver(
        self,
        k: usize,
        scale: V,
        m: &[V::Array],
        u: &[V::Array],
        split: (&[V::Array], &mut [V::Array]),
        holes: bool,
        l: &mut [V::Scalar],
        s: &mut [V::Scalar],
    );
}
