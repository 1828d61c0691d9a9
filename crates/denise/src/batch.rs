//! A batch of matrices and where its results go.

use crate::simd::Real;
use crate::status::{Error, Status};

/// |S_ij| up to this share of tr(M)/n counts as zero in a report (the paper's epsilon).
pub(crate) const SPARSITY_EPSILON: f64 = 0.01;

/// What is known of one decomposition. The C ABI's `denise_report`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Sum of |S_ij|.
    pub l1: f32,
    /// ‖M − L‖_F / ‖M‖_F; 0 for the zero matrix.
    pub residual: f32,
    /// Share of entries with |S_ij| <= 0.01 · tr(M)/n.
    pub sparsity: f32,
    /// 0, or 7 (`DENISE_ERR_NOT_FINITE`) if M has an infinity, or a NaN that does not mean a missing entry.
    pub status: i32,
    /// Size of the last step, ‖U_T − U_(T−1)‖_F / ‖U_T‖_F: small means that more layers would not change the answer.
    /// 0 if U is zero, and for a dense network, which takes no steps.
    pub unsettled: f32,
    /// The least S_ii / M_ii over all positive M_ii: negative means that L explains more than all of a variance. 0 if
    /// no M_ii is positive.
    pub least_specific: f32,
    /// Entries of the lower triangle that were NaN and counted as not known; 0 without [`crate::Options::missing`]. All
    /// other figures are then about the known entries.
    pub missing: u32,
    /// i·n + j of the first entry M_ij, row by row in the lower triangle, that made the status 7; [`Report::NONE`] if
    /// there is none.
    pub first_bad: u32,
}

impl Report {
    /// In the place of [`Report::first_bad`]: no entry.
    pub const NONE: u32 = u32::MAX;
}

impl Default for Report {
    /// That of the zero matrix.
    fn default() -> Report {
        Report {
            l1: 0.0,
            residual: 0.0,
            sparsity: 1.0,
            status: Status::Ok as i32,
            unsettled: 0.0,
            least_specific: 0.0,
            missing: 0,
            first_bad: Report::NONE,
        }
    }
}

/// Where the results of a batch go; whatever is `None` is not computed.
#[derive(Debug, Default)]
pub struct Outputs<'a, F> {
    /// `count` factors, n×k, row-major. Of an unrolled network the columns are orthogonal, the longest first, and the
    /// entry of largest size in each is positive.
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
    /// As many as there are in `m`; an error if some output has room for more or fewer.
    pub(crate) fn new(
        n: usize,
        k: usize,
        m: &'a [F],
        out: Outputs<'a, F>,
    ) -> Result<Batch<'a, F>, Error> {
        let batch = Batch {
            n,
            k,
            count: m.len() / (n * n),
            m: Some(m),
            out,
        };
        batch.check(m.len())
    }

    /// The same, where S takes the place of M.
    pub(crate) fn in_place(
        n: usize,
        k: usize,
        m: &'a mut [F],
        out: Outputs<'a, F>,
    ) -> Result<Batch<'a, F>, Error> {
        if out.s.is_some() {
            let message = "S takes the place of M: it cannot go elsewhere too";
            return Err(Error::new(Status::Argument, message));
        }
        let len = m.len();
        let batch = Batch {
            n,
            k,
            count: len / (n * n),
            m: None,
            out: Outputs { s: Some(m), ..out },
        };
        batch.check(len)
    }

    /// Whether every slice holds `count` matrices, if M has `len` values.
    fn check(self, len: usize) -> Result<Batch<'a, F>, Error> {
        let (n, k, count, out) = (self.n, self.k, self.count, &self.out);
        let fits = |len: Option<usize>, each: usize| len.is_none_or(|len| len == count * each);
        if len != count * n * n
            || !fits(out.u.as_ref().map(|x| x.len()), n * k)
            || !fits(out.l.as_ref().map(|x| x.len()), n * n)
            || !fits(out.s.as_ref().map(|x| x.len()), n * n)
            || !fits(out.reports.as_ref().map(|x| x.len()), 1)
        {
            let message = "the slices do not hold the same number of matrices";
            return Err(Error::new(Status::Shape, message));
        }
        Ok(self)
    }

    /// Outputs alone, for `count` matrices that are elsewhere.
    pub(crate) fn outputs(
        n: usize,
        k: usize,
        count: usize,
        out: Outputs<'a, F>,
    ) -> Result<Batch<'a, F>, Error> {
        let batch = Batch {
            n,
            k,
            count,
            m: None,
            out,
        };
        batch.check(count * n * n)
    }

    /// The matrices not yet overwritten.
    pub(crate) fn source(&self) -> &[F] {
        match (self.m, &self.out.s) {
            (Some(m), _) => m,
            (None, Some(s)) => s,
            (None, None) => &[],
        }
    }

    /// The first `count` matrices, or as many as there are.
    pub(crate) fn first(&self, count: usize) -> &[F] {
        &self.source()[..count.min(self.count) * self.n * self.n]
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
    /// Where matrix `i`, which must not be overwritten yet, has its first entry that is infinite, or NaN unless that may
    /// be `missing`.
    pub(crate) fn first_bad(&self, i: usize, missing: bool) -> u32 {
        let (n, size) = (self.n, self.n * self.n);
        let m = &self.source()[i * size..][..size];
        (0..size)
            .find(|&at| {
                let x: f64 = m[at].into();
                at % n <= at / n && !m[at].finite() && !(missing && x.is_nan())
            })
            .map_or(Report::NONE, |at| at as u32)
    }

    /// What matrix `i` gets if it has a NaN or an infinity, where [`Batch::first_bad`] says.
    pub(crate) fn mark_not_finite(&mut self, i: usize, first_bad: u32) {
        self.mark(i, Status::NotFinite, first_bad);
    }

    /// What matrix `i` gets if it is not split.
    pub(crate) fn mark(&mut self, i: usize, status: Status, first_bad: u32) {
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
                status: status as i32,
                unsettled: f32::NAN,
                least_specific: f32::NAN,
                missing: 0,
                first_bad,
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
    /// S_ii / M_ii.
    least_specific: Option<f64>,
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

    /// Looks at an entry of the diagonal, beside [`Totals::add`].
    pub(crate) fn add_diagonal(&mut self, m: f64, s: f64) {
        if m > 0.0 {
            let specific = s / m;
            let least = self.least_specific.unwrap_or(specific);
            self.least_specific = Some(least.min(specific));
        }
    }

    pub(crate) fn report(&self) -> Report {
        let residual = (self.s_square / self.m_square.max(f64::MIN_POSITIVE)).sqrt();
        Report {
            l1: Real::to_f32(self.l1 * self.scale),
            residual: Real::to_f32(residual),
            sparsity: Real::to_f32(1.0 - self.dense / self.count),
            least_specific: Real::to_f32(self.least_specific.unwrap_or(0.0)),
            ..Report::default()
        }
    }
}
