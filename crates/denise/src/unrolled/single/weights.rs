//! Where the weights of a layer are, and what they weigh.
//!
//! Both are symmetric, so each number is computed once, on or below the diagonal, and stored twice. The part of a panel
//! has first its columns up to the diagonal, as a matrix has them. Then, for every panel before it, it has the same
//! numbers transposed: columns that belong to the rows of that panel. So a part is written by whoever has the panel, and
//! whoever needs whole rows of a panel finds them in its own part and in those of the panels below.
//!
//! Where that does not pay, the weights are a matrix as any other.

use super::panels;
use crate::simd::{Fixed, Vector, Vectors};

/// What is written for a panel.
pub(super) struct Part<'a, V: Vector> {
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) w: &'a mut [V::Array],
    pub(super) c: &'a mut [V::Array],
    /// A number for each of its vector rows.
    pub(super) sums: &'a mut [V::Array],
    pub(super) trust: &'a mut [V::Array],
}

/// The panels of a matrix, whose rows are whole.
pub(super) fn whole_parts<'a, V: Vector>(
    n: usize,
    rows: usize,
    mut w: &'a mut [V::Array],
    mut c: &'a mut [V::Array],
    mut sums: &'a mut [V::Array],
    mut trust: &'a mut [V::Array],
) -> impl Iterator<Item = Part<'a, V>> + Send {
    panels(rows).map(move |(first, count)| Part {
        first,
        count,
        w: take(&mut w, count * n),
        c: take(&mut c, count * n),
        sums: take(&mut sums, count),
        trust: take(&mut trust, count),
    })
}

/// The parts of all panels, the last one first: it is the largest, and nobody should wait for it in the end.
pub(super) fn parts<'a, V: Vector>(
    rows: usize,
    mut w: &'a mut [V::Array],
    mut c: &'a mut [V::Array],
    mut sums: &'a mut [V::Array],
    mut trust: &'a mut [V::Array],
) -> impl Iterator<Item = Part<'a, V>> + Send {
    panels(rows).rev().map(move |(first, count)| Part {
        first,
        count,
        w: take_from(&mut w, start::<V>(first)),
        c: take_from(&mut c, start::<V>(first)),
        sums: take_from(&mut sums, first),
        trust: take_from(&mut trust, first),
    })
}

/// The values of a slice from `at` on; it keeps the others.
fn take_from<'a, T>(from: &mut &'a mut [T], at: usize) -> &'a mut [T] {
    let (head, tail) = core::mem::take(from).split_at_mut(at);
    *from = head;
    tail
}

/// The first values of a slice, which keeps the others.
pub(super) fn take<'a, T>(from: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (head, tail) = core::mem::take(from).split_at_mut(len);
    *from = tail;
    head
}

/// Where the part of the panel from vector row `first` on begins.
const fn start<V: Vector>(first: usize) -> usize {
    first * first * V::W
}

/// Vectors in the columns up to the diagonal.
pub(super) const fn own_len<V: Vector>(first: usize, count: usize) -> usize {
    count * (first + count) * V::W
}

/// The columns of a panel up to the diagonal, `ROWS` vectors each, of an n×n matrix.
#[inline(always)]
pub(super) fn own<const ROWS: usize, V: Vector>(
    n: usize,
    first: usize,
    weights: &[V::Array],
) -> &[[V::Array; ROWS]] {
    let part = &weights[start::<V>(first)..][..own_len::<V>(first, ROWS)];
    let columns = part.as_chunks::<ROWS>().0;
    &columns[..n.min(columns.len())]
}

/// Its columns that panel `below`, further down, has for it.
#[inline(always)]
pub(super) fn across<const ROWS: usize, V: Vector>(
    n: usize,
    first: usize,
    (below, count): (usize, usize),
    weights: &[V::Array],
) -> &[[V::Array; ROWS]] {
    let part = &weights[start::<V>(below) + own_len::<V>(below, count)..];
    let columns = part[first * count * V::W..].as_chunks::<ROWS>().0;
    &columns[..(count * V::W).min(n - below * V::W)]
}

/// Writes a square of `ROWS` vectors and W columns to the columns that the panel with these columns as its rows gets:
/// `stride` vectors each, of which this is number `at`.
#[inline(always)]
pub(super) fn transpose<const ROWS: usize, V: Vector>(
    vectors: Vectors<V>,
    square: &[[V::Array; ROWS]],
    to: &mut [V::Array],
    stride: usize,
    at: usize,
) {
    match stride {
        3 => transpose_to::<ROWS, 3, V>(vectors, square, to, at),
        _ => transpose_to::<ROWS, 2, V>(vectors, square, to, at),
    }
}

#[inline(always)]
fn transpose_to<const ROWS: usize, const STRIDE: usize, V: Vector>(
    vectors: Vectors<V>,
    square: &[[V::Array; ROWS]],
    to: &mut [V::Array],
    at: usize,
) {
    let (square, to) = (
        &square[..V::W],
        &mut to.as_chunks_mut::<STRIDE>().0[..ROWS * V::W],
    );
    assert!(at < STRIDE);
    for v in 0..ROWS {
        let mut columns = V::Square::filled(vectors.zero());
        for l in 0..V::W {
            columns[l] = vectors.load(&square[l][v]);
        }
        let turned = V::transpose(vectors.simd(), columns);
        for l in 0..V::W {
            turned[l].store_array(&mut to[v * V::W + l][at]);
        }
    }
}
