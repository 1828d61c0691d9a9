//! Runs of vector rows, each with its part of some tables, from both ends: a thread that comes from one end finds the
//! same rows in every layer, and in its own cache.

/// `runs` cover `rows` vector rows in order, as first row and number of rows; `tables` have so many values a row.
#[inline(always)]
pub(super) fn parts<'a, const TABLES: usize, T, I>(
    runs: I,
    rows: usize,
    tables: [(&'a mut [T], usize); TABLES],
) -> Parts<'a, TABLES, T, I> {
    // What is taken from the end must belong to the last row.
    let tables = tables.map(
        #[inline(always)]
        |(table, each)| (&mut table[..rows * each], each),
    );
    Parts { runs, tables }
}

/// See [`parts`].
pub(super) struct Parts<'a, const TABLES: usize, T, I> {
    runs: I,
    tables: [(&'a mut [T], usize); TABLES],
}

/// A run and its part of each table.
pub(super) type Part<'a, const TABLES: usize, T> = ((usize, usize), [&'a mut [T]; TABLES]);

impl<'a, const TABLES: usize, T, I> Iterator for Parts<'a, TABLES, T, I>
where
    I: Iterator<Item = (usize, usize)>,
{
    type Item = Part<'a, TABLES, T>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (first, count) = self.runs.next()?;
        let part = self.tables.each_mut().map(
            #[inline(always)]
            |(table, each)| take(table, count * *each),
        );
        Some(((first, count), part))
    }
}

impl<const TABLES: usize, T, I> DoubleEndedIterator for Parts<'_, TABLES, T, I>
where
    I: DoubleEndedIterator<Item = (usize, usize)>,
{
    #[inline(always)]
    fn next_back(&mut self) -> Option<Self::Item> {
        let (first, count) = self.runs.next_back()?;
        let part = self.tables.each_mut().map(
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
    use super::super::panels;
    use super::*;

    #[test]
    fn both_ends_give_every_row_its_own_values_once() {
        for rows in 1..40_usize {
            for turn in 1..5 {
                let mut by_two: Vec<usize> = (0..2 * rows).map(|at| at / 2).collect();
                let mut by_three: Vec<usize> = (0..3 * rows + 1).map(|at| at / 3).collect();
                let tables = [(&mut by_two[..], 2), (&mut by_three[..], 3)];
                let mut all = parts(panels(rows), rows, tables);
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
