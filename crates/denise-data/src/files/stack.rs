//! Matrices, one after the other.

/// A stack of square matrices, row-major, one after the other. All values that [`read`](super::read) and
/// [`prices::windows`](super::prices::windows()) return are finite, and there is at least one matrix.
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
}
