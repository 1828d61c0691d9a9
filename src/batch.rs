//! A batch of matrices and where its results go.

use crate::simd::Real;
use crate::status::Status;

/// |S_ij| up to this share of tr(M)/n counts as zero in a report (the paper's epsilon).
pub(crate) const SPARSITY_EPSILON: f64 = 0.01;

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

impl<'a, F> Outputs<'a, F> {
    /// L and S, and nothing else.
    pub fn parts(l: &'a mut [F], s: &'a mut [F]) -> Outputs<'a, F> {
        Outputs {
            u: None,
            l: Some(l),
            s: Some(s),
            reports: None,
        }
    }
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

impl<F: Real> Batch<'_, F> {
    /// What matrix `i` gets if it has a NaN or an infinity.
    pub(crate) fn mark_not_finite(&mut self, i: usize) {
        let (n, k) = (self.n, self.k);
        let out = &mut self.out;
        for (values, len) in [
            (&mut out.u, n * k),
            (&mut out.l, n * n),
            (&mut out.s, n * n),
        ] {
            if let Some(values) = values {
                values[i * len..(i + 1) * len].fill(F::NAN);
            }
        }
        if let Some(reports) = &mut out.reports {
            reports[i] = Report {
                l1: f32::NAN,
                residual: f32::NAN,
                sparsity: f32::NAN,
                status: Status::NotFinite as i32,
            };
        }
    }
}

/// A report in the making, in units in which squares do not overflow.
#[derive(Default)]
pub(crate) struct Totals {
    /// max(tr(M), max |M_ij|) / n: tr(M)/n for a positive semidefinite M, and positive for any other but 0.
    scale: f64,
    count: f64,
    l1: f64,
    m_square: f64,
    s_square: f64,
    dense: f64,
}

impl Totals {
    /// For one matrix, of which the lower triangle counts.
    pub(crate) fn start<F: Copy + Into<f64>>(n: usize, m: &[F]) -> Totals {
        let (mut trace, mut largest) = (0.0, 0.0_f64);
        let share = 1.0 / n as f64;
        for (i, row) in m.chunks_exact(n).enumerate() {
            for &x in &row[..i + 1] {
                largest = largest.max((x.into() * share).abs());
            }
            trace += row[i].into() * share;
        }
        Totals {
            scale: trace.max(largest).clamp(f64::MIN_POSITIVE, f64::MAX),
            ..Totals::default()
        }
    }

    /// Counts an entry of M and of S `times` times.
    pub(crate) fn add(&mut self, m: f64, s: f64, times: f64) {
        let (m, s) = (m / self.scale, s / self.scale);
        self.count += times;
        self.l1 += times * s.abs();
        self.m_square += times * m * m;
        self.s_square += times * s * s;
        if s.abs() > SPARSITY_EPSILON {
            self.dense += times;
        }
    }

    pub(crate) fn report(&self) -> Report {
        let residual = (self.s_square / self.m_square.max(f64::MIN_POSITIVE)).sqrt();
        Report {
            l1: Real::to_f32(self.l1 * self.scale),
            residual: Real::to_f32(residual),
            sparsity: Real::to_f32(1.0 - self.dense / self.count),
            status: Status::Ok as i32,
        }
    }
}
