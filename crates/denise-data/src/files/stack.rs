//! Matrices, one after the other.

/// A stack of square matrices, row-major, one after the other, and at least one. All values that [`read`](super::read)
/// returns are finite. Of [`read_with_gaps`](super::read_with_gaps), and of
/// [`prices::windows`](super::prices::windows()) if gaps were allowed, some may be NaN: these are not known.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// Rows and columns of each matrix.
    pub n: usize,
    /// All entries.
    pub values: Vec<f64>,
}

impl Stack {
    /// How many matrices there are.
    pub fn count(&self) -> usize {
        self.iter().len()
    }

    /// The matrices, each as n·n entries.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, f64> {
        // A chunk must not be empty; n = 0 has no entries, hence no chunks.
        self.values.chunks_exact((self.n * self.n).max(1))
    }

    /// Of each matrix, how many entries of the lower triangle are not known.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        let n = self.n;
        self.iter().map(move |matrix| {
            let rows = matrix.chunks_exact(n).enumerate();
            rows.map(|(i, row)| row[..=i].iter().filter(|entry| entry.is_nan()).count())
                .sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_entries_are_counted_in_the_lower_triangle() {
        let nan = f64::NAN;
        let values = vec![1.0, nan, nan, nan, 1.0, 2.0, 2.0, 1.0];
        let stack = Stack { n: 2, values };
        assert_eq!(stack.missing().collect::<Vec<_>>(), [2, 0]);
        let values = vec![1.0, nan, 2.0, 1.0];
        let stack = Stack { n: 2, values };
        assert_eq!(stack.missing().collect::<Vec<_>>(), [0]);
    }
}
