//! One matrix: lane l of vector v belongs to row v·W + l.
//!
//! The rows are cut into panels of up to three vectors. A matrix is stored panel by panel and, within a
//! panel, column by column; a factor is a row of k vectors for every vector of rows. Rows past n are
//! zero and stay so.
//!
//! - `pack`: from the caller's memory.
//! - `parts`: the panels that threads share, from both ends.
//! - `weigh`: the residual of a panel, its weights, and the products with them. `fused`: all of it in registers.
//! - `tile`: products of panels, a few sums at a time in registers.
//! - `sums`: sums over rows and entries, some of them across lanes. `split`: L and S, and to the caller's memory.

mod fused;
mod pack;
mod parts;
mod split;
mod sums;
mod tile;
mod weigh;

use super::shape::Layout;
use crate::simd::{Fixed, Real, Vector, Vectors};
use crate::team::Team;
use core::iter::repeat;
use parts::{Part, parts};

/// Vectors in a full panel: with three columns it makes nine sums, which 16 registers hold.
const PANEL: usize = 3;
/// Vector rows of tables that a thread takes at a time: those that take turns in `rows/solve.rs`.
const SHARE: usize = 4;

/// The shape, for an n×n matrix.
#[derive(Clone, Copy)]
pub(super) struct Single<'a, V: Vector> {
    pub(super) n: usize,
    pub(super) vectors: Vectors<V>,
    /// Who shares the panels.
    pub(super) team: &'a Team<'a>,
}

impl<V: Vector> Layout<V> for Single<'_, V> {
    #[inline(always)]
    fn vectors(self) -> Vectors<V> {
        self.vectors
    }

    #[inline(always)]
    fn n(self) -> usize {
        self.n
    }

    #[inline(always)]
    fn rows(self) -> usize {
        self.n.div_ceil(V::W)
    }

    #[inline(always)]
    fn matrix(self) -> usize {
        self.rows() * self.n
    }

    #[inline(always)]
    fn share_rows<const TABLES: usize>(
        self,
        tables: [(&mut [V::Array], usize); TABLES],
        work: impl Fn(usize, [&mut [V::Array]; TABLES]) + Sync,
    ) {
        if self.team.threads() == 1 {
            return work(0, tables.map(|(table, _)| table));
        }
        let rows = self.rows();
        let runs =
            (0..rows.div_ceil(SHARE)).map(|run| (SHARE * run, SHARE.min(rows - SHARE * run)));
        self.share_runs(runs, tables, &|((first, _), part)| work(first, part));
    }
}

impl<V: Vector> Single<'_, V> {
    /// Calls `work` for every panel and its part of some tables, which have so many vectors a row.
    #[inline(always)]
    fn each_panel<const TABLES: usize>(
        self,
        tables: [(&mut [V::Array], usize); TABLES],
        work: impl Fn((usize, usize), [&mut [V::Array]; TABLES]) + Sync,
    ) {
        let (rows, vectors) = (self.rows(), self.vectors);
        if cfg!(target_arch = "x86_64") && size_of::<V>() <= 16 {
            // On SSE2, two of everything would be a twentieth of the code, for machines older than AVX2.
            return parts(panels(rows), rows, tables).for_each(|(panel, part)| work(panel, part));
        }
        if rows <= PANEL {
            return work((0, rows), tables.map(|(table, _)| table));
        }
        self.share_runs(panels(rows), tables, &|(panel, part)| {
            vectors.vectorize(
                #[inline(always)]
                || work(panel, part),
            );
        });
    }

    /// Calls `work` for runs of rows and their parts of some tables, on whichever thread takes them. Not for small
    /// matrices, and so once for all kinds of work, or it would be a tenth of the code.
    #[inline(never)]
    fn share_runs<const TABLES: usize>(
        self,
        runs: impl DoubleEndedIterator<Item = (usize, usize)> + Send,
        tables: [(&mut [V::Array], usize); TABLES],
        work: &(dyn Fn(Part<'_, TABLES, V::Array>) + Sync),
    ) {
        self.team
            .share_in(repeat(()), parts(runs, self.rows(), tables), |(), part| {
                work(part)
            });
    }
}

/// The panels of so many vector rows.
#[inline(always)]
fn panels(rows: usize) -> Panels {
    Panels {
        rows,
        full: full(rows),
        next: 0,
    }
}

/// First row and number of rows of each, from `next` to `rows`. Three rows each, and two where three do not fit: sums of
/// one vector alone would wait for themselves.
#[derive(Clone)]
struct Panels {
    rows: usize,
    full: usize,
    next: usize,
}

impl Iterator for Panels {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        let first = self.next;
        let count = if first < self.full {
            PANEL.min(self.rows - first)
        } else {
            (self.rows - first).min(2)
        };
        self.next = first + count;
        (count > 0).then_some((first, count))
    }
}

impl DoubleEndedIterator for Panels {
    #[inline(always)]
    fn next_back(&mut self) -> Option<(usize, usize)> {
        let most = if self.rows > self.full { 2 } else { PANEL };
        let count = (self.rows - self.next).min(most);
        self.rows -= count;
        (count > 0).then_some((self.rows, count))
    }
}

/// Vector rows in panels of three.
const fn full(rows: usize) -> usize {
    match rows % PANEL {
        1 if rows > 1 => rows - 4,
        rest => rows - rest,
    }
}

/// The panel of a vector row: its first row, number of rows.
#[inline(always)]
fn panel_of(rows: usize, row: usize) -> (usize, usize) {
    let full = full(rows);
    if row < full {
        (row - row % PANEL, PANEL)
    } else if rows == 1 {
        (0, 1)
    } else {
        (row - (row - full) % 2, 2)
    }
}

/// 0, 1, 2, …
#[inline(always)]
fn lane_numbers<V: Vector>(vectors: Vectors<V>) -> V {
    let mut numbers = V::Array::filled(V::Scalar::ZERO);
    for l in 1..V::W {
        numbers[l] = numbers[l - 1] + V::Scalar::ONE;
    }
    vectors.load(&numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_cover_all_rows_in_order() {
        for rows in 1..40 {
            let mut next = 0;
            for (first, count) in panels(rows) {
                assert_eq!(first, next);
                assert!(count == 3 || count == 2 || rows == 1);
                for row in first..first + count {
                    assert_eq!(panel_of(rows, row), (first, count));
                }
                next += count;
            }
            assert_eq!(next, rows);
            let back: Vec<_> = panels(rows).rev().collect();
            assert!(panels(rows).eq(back.into_iter().rev()));
        }
    }
}
