//! A batch of matrices and where its results go.

/// What is known of one decomposition. The C ABI's `denise_report`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Sum of |S_ij|.
    pub l1: f32,
    /// ‖M − L‖_F / ‖M‖_F; 0 for the zero matrix.
    pub residual: f32,
    /// Share of entries with |S_ij| <= 0.01 · tr(M)/n.
    pub sparsity: f32,
    /// 0, or 7 (`DENISE_ERR_NOT_FINITE`) if M has a NaN or an infinity.
    pub status: i32,
}

/// Where the results of a batch go; whatever is `None` is not computed.
#[derive(Debug, Default)]
pub struct Outputs<'a, F> {
    /// `count` factors, n×k, row-major.
    pub u: Option<&'a mut [F]>,
    /// `count` low-rank parts, n×n.
    pub l: Option<&'a mut [F]>,
    /// `count` sparse parts, n×n.
    pub s: Option<&'a mut [F]>,
    /// `count` reports.
    pub reports: Option<&'a mut [Report]>,
}

/// Matrices of one size, and their outputs. Lengths have been checked.
pub(crate) struct Batch<'a, F> {
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) count: usize,
    /// The matrices; `None` if they stand in `out.s` and are to be overwritten.
    pub(crate) m: Option<&'a [F]>,
    pub(crate) out: Outputs<'a, F>,
}

impl<'a, F> Batch<'a, F> {
    /// The matrices not yet overwritten.
    pub(crate) fn source(&self) -> &[F] {
        match (self.m, &self.out.s) {
            (Some(m), _) => m,
            (None, Some(s)) => s,
            (None, None) => &[],
        }
    }

    /// Takes the first `count` matrices off.
    pub(crate) fn take(&mut self, count: usize) -> Batch<'a, F> {
        fn cut<'a, T>(rest: &mut Option<&'a mut [T]>, len: usize) -> Option<&'a mut [T]> {
            let (head, tail) = rest.take()?.split_at_mut(len);
            *rest = Some(tail);
            Some(head)
        }
        let (n, k) = (self.n, self.k);
        let m = self.m.map(|m| {
            let (head, tail) = m.split_at(count * n * n);
            self.m = Some(tail);
            head
        });
        self.count -= count;
        Batch {
            n,
            k,
            count,
            m,
            out: Outputs {
                u: cut(&mut self.out.u, count * n * k),
                l: cut(&mut self.out.l, count * n * n),
                s: cut(&mut self.out.s, count * n * n),
                reports: cut(&mut self.out.reports, count),
            },
        }
    }
}
