//! Columns of the caller's row-major matrix, which threads write at the same time, each its own.

use core::marker::PhantomData;

/// An n×n matrix whose columns are divided among threads.
pub(super) struct Columns<'a, T> {
    start: *mut T,
    n: usize,
    matrix: PhantomData<&'a mut [T]>,
}

// SAFETY: threads write through it to columns that no other thread has, as `run` demands; so it is shared as parts of
// one `&mut [T]` would be.
unsafe impl<T: Send> Sync for Columns<'_, T> {}

impl<'a, T> Columns<'a, T> {
    pub(super) fn new(n: usize, matrix: &'a mut [T]) -> Columns<'a, T> {
        assert_eq!(matrix.len(), n * n);
        Columns {
            start: matrix.as_mut_ptr(),
            n,
            matrix: PhantomData,
        }
    }

    /// Columns `first` to `first + count` of a row.
    ///
    /// # Safety
    ///
    /// Nobody else has any of these columns, and what was given before is no longer used.
    #[inline(always)]
    #[allow(
        clippy::mut_from_ref,
        reason = "it is the caller who divides the columns"
    )]
    pub(super) unsafe fn run(&self, row: usize, first: usize, count: usize) -> &mut [T] {
        assert!(row < self.n && first <= self.n && count <= self.n - first);
        // SAFETY: within the matrix, by the line above; nobody else has it, as the caller has promised.
        unsafe { core::slice::from_raw_parts_mut(self.start.add(row * self.n + first), count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_write_columns_of_their_own() {
        const N: usize = 7;
        let mut matrix = vec![0; N * N];
        let columns = Columns::new(N, &mut matrix);
        std::thread::scope(|scope| {
            for (first, count) in [(0, 3), (3, 2), (5, 2)] {
                let columns = &columns;
                scope.spawn(move || {
                    for row in 0..N {
                        // SAFETY: these columns are this thread's, and one row is used after the other.
                        let run = unsafe { columns.run(row, first, count) };
                        for (at, x) in run.iter_mut().enumerate() {
                            *x += 100 * row + first + at;
                        }
                    }
                });
            }
        });
        for (at, x) in matrix.iter().enumerate() {
            assert_eq!(*x, 100 * (at / N) + at % N);
        }
    }

    #[test]
    fn nothing_beyond_the_matrix_is_given() {
        let mut matrix = [0; 9];
        let columns = Columns::new(3, &mut matrix);
        for (row, first, count) in [(3, 0, 1), (0, 2, 2), (0, 4, 0), (0, 1, usize::MAX)] {
            let run = std::panic::AssertUnwindSafe(|| {
                // SAFETY: no other run is used.
                unsafe { columns.run(row, first, count) }.len()
            });
            assert!(std::panic::catch_unwind(run).is_err());
        }
    }
}
