//! Panels, each with its part of some tables, from both ends: a thread that comes from one end finds the same panels in
//! every layer, and in its own cache.

use super::{Panels, panels};

/// Tables of which a vector row has so many values.
pub(super) struct Parts<'a, const TABLES: usize, T> {
    tables: [(&'a mut [T], usize); TABLES],
}

impl<'a, const TABLES: usize, T> Parts<'a, TABLES, T> {
    #[inline(always)]
    pub(super) fn of(tables: [(&'a mut [T], usize); TABLES]) -> Parts<'a, TABLES, T> {
        Parts { tables }
    }
}

/// The panels of so many vector rows.
#[inline(always)]
pub(super) fn parts<'a, const TABLES: usize, T: Send>(
    rows: usize,
    mut parts: Parts<'a, TABLES, T>,
) -> PanelParts<'a, TABLES, T> {
    // What is taken from the end must belong to the last row.
    for (table, each) in &mut parts.tables {
        *table = &mut core::mem::take(table)[..rows * *each];
    }
    PanelParts {
        panels: panels(rows),
        parts,
    }
}

/// First row and number of rows of each panel, and its parts.
pub(super) struct PanelParts<'a, const TABLES: usize, T> {
    panels: Panels,
    parts: Parts<'a, TABLES, T>,
}

/// A panel and its part of each table.
pub(super) type PanelPart<'a, const TABLES: usize, T> = ((usize, usize), [&'a mut [T]; TABLES]);

impl<'a, const TABLES: usize, T> Iterator for PanelParts<'a, TABLES, T> {
    type Item = PanelPart<'a, TABLES, T>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (first, count) = self.panels.next()?;
        let part = self.parts.tables.each_mut().map(
            #[inline(always)]
            |(table, each)| take(table, count * *each),
        );
        Some(((first, count), part))
    }
}

impl<const TABLES: usize, T> DoubleEndedIterator for PanelParts<'_, TABLES, T> {
    #[inline(always)]
    fn next_back(&mut self) -> Option<Self::Item> {
        let (first, count) = self.panels.next_back()?;
        let part = self.parts.tables.each_mut().map(
            #[inline(always)]
            |(table, each)| {
                let at = table.len() - count * *each;
                let rest = take(table, at);
                core::mem::replace(table, rest)
            },
        );
        Some(((first, count), part))
    }
}

/// The first values of a slice, which keeps the others.
#[inline(always)]
fn take<'a, T>(from: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (head, tail) = core::mem::take(from).split_at_mut(len);
    *from = tail;
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_give_every_row_its_own_values_once() {
        for rows in 1..40_usize {
            for turn in 1..5 {
                let mut by_two: Vec<usize> = (0..2 * rows).map(|at| at / 2).collect();
                let mut by_three: Vec<usize> = (0..3 * rows + 1).map(|at| at / 3).collect();
                let tables = Parts::of([(&mut by_two[..], 2), (&mut by_three[..], 3)]);
                let mut all = parts(rows, tables);
                let mut seen = vec![0; rows];
                for step in 0.. {
                    let next = if step % turn == 0 {
                        all.next_back()
                    } else {
                        all.next()
                    };
                    let Some(((first, count), [two, three])) = next else {
                        break;
                    };
                    assert_eq!((two.len(), three.len()), (2 * count, 3 * count));
                    for row in first..first + count {
                        seen[row] += 1;
                        assert_eq!(two[2 * (row - first)], row);
                        assert_eq!(three[3 * (row - first) + 2], row);
                    }
                }
                assert!(seen.iter().all(|&times| times == 1), "{rows} {turn}");
            }
        }
    }
}
