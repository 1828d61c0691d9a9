//! The caller's buffers: whether they can be used at all, and how.

use crate::report::denise_report;
use denise_rust::{Error, Outputs, Report, Status};

/// The buffers of a batch.
pub(crate) struct Buffers<F> {
    pub(crate) m: *const F,
    pub(crate) u: *mut F,
    pub(crate) l: *mut F,
    pub(crate) s: *mut F,
    pub(crate) reports: *mut denise_report,
    /// Bytes of a report in the caller's header.
    pub(crate) report_size: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) count: usize,
}

/// Where the matrices are.
pub(crate) enum Matrices<'a, F> {
    Apart(&'a [F]),
    /// S takes their place.
    InPlace(&'a mut [F]),
}

impl<F: Copy> Buffers<F> {
    /// That every buffer's size fits in memory, and that none overlaps another.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.count == 0 {
            return Ok(());
        }
        if self.m.is_null() {
            return Err(Error::new(Status::NullPointer, "m is NULL"));
        }
        let matrices = self.bytes(self.n * self.n * size_of::<F>())?;
        let factors = self.bytes(self.n * self.k * size_of::<F>())?;
        let reports = self.bytes(self.report_size)?;
        const OVERLAPS: [[&str; 4]; 4] = [
            [
                "m and u overlap",
                "m and l overlap",
                "m and s overlap but are not the same",
                "m and reports overlap",
            ],
            [
                "",
                "u and l overlap",
                "u and s overlap",
                "u and reports overlap",
            ],
            ["", "", "l and s overlap", "l and reports overlap"],
            ["", "", "", "s and reports overlap"],
        ];
        let buffers = [
            (self.m as usize, matrices),
            (self.u as usize, factors),
            (self.l as usize, matrices),
            (self.s as usize, matrices),
            (self.reports as usize, reports),
        ];
        for (i, &(start, length)) in buffers.iter().enumerate() {
            if start == 0 {
                continue;
            }
            let end = start.checked_add(length).ok_or_else(|| {
                Error::new(Status::Shape, "a buffer reaches past the address space")
            })?;
            for (j, &(other, other_length)) in buffers.iter().enumerate().skip(i + 1) {
                let in_place = i == 0 && other == start && other == self.s as usize;
                let apart = other == 0
                    || in_place
                    || end <= other
                    || other.saturating_add(other_length) <= start;
                if !apart {
                    return Err(Error::new(Status::Argument, OVERLAPS[i][j - 1]));
                }
            }
        }
        Ok(())
    }

    /// Of a buffer with `each` for every matrix.
    fn bytes(&self, each: usize) -> Result<usize, Error> {
        let bytes = self.count.checked_mul(each);
        bytes
            .filter(|&bytes| bytes <= isize::MAX as usize)
            .ok_or_else(|| {
                let message = "count is too large: no memory can hold that many matrices";
                Error::new(Status::Shape, message)
            })
    }

    /// Whether [`Buffers::whole`] may be used.
    pub(crate) fn fit(&self) -> bool {
        self.m.is_aligned()
            && self.u.is_aligned()
            && self.l.is_aligned()
            && self.s.is_aligned()
            && (self.reports.is_null()
                || self.reports.is_aligned() && self.report_size == size_of::<Report>())
    }

    /// Runs `body` on all matrices at once, in the caller's own memory.
    ///
    /// # Safety
    /// The buffers passed [`Buffers::check`], they [`fit`](Buffers::fit), and while this runs they are valid and
    /// nobody else uses them.
    pub(crate) unsafe fn whole(
        &self,
        body: impl FnOnce(Matrices<'_, F>, Outputs<'_, F>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        /// # Safety
        /// `start` is null, or there are so many values.
        unsafe fn all<'a, T>(start: *mut T, len: usize) -> Option<&'a mut [T]> {
            // SAFETY: as the caller promises.
            (!start.is_null()).then(|| unsafe { core::slice::from_raw_parts_mut(start, len) })
        }
        if self.count == 0 {
            return Ok(());
        }
        let (size, in_place) = (self.n * self.n, self.m == self.s.cast_const());
        // SAFETY: aligned, as long as they were checked to be, and apart: m is left out where s stands in for it.
        unsafe {
            let s = all(self.s, self.count * size);
            let out = Outputs {
                u: all(self.u, self.count * self.n * self.k),
                l: all(self.l, self.count * size),
                s: None,
                reports: all(self.reports.cast(), self.count),
            };
            match s {
                Some(m) if in_place => body(Matrices::InPlace(m), out),
                s => {
                    let m = core::slice::from_raw_parts(self.m, self.count * size);
                    body(Matrices::Apart(m), Outputs { s, ..out })
                }
            }
        }
    }

    /// Values that [`Buffers::one_by_one`] needs.
    pub(crate) fn staging_len(n: usize, k: usize) -> usize {
        n * (2 * n + k)
    }

    /// Runs `body` on one matrix after another, each copied to and from memory that is aligned and laid out as the
    /// library has it. `body` puts S in the place of M.
    ///
    /// # Safety
    /// As for [`Buffers::whole`], but they need not fit.
    pub(crate) unsafe fn one_by_one(
        &self,
        staging: &mut [F],
        mut body: impl FnMut(&mut [F], Outputs<'_, F>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (n, k) = (self.n, self.k);
        let (s, rest) = staging.split_at_mut(n * n);
        let (l, rest) = rest.split_at_mut(n * n);
        let u = &mut rest[..n * k];
        let mut result = Ok(());
        for i in 0..self.count {
            let mut report = [Report::default()];
            // SAFETY: matrix i is inside the caller's buffer; bytes may lie anywhere.
            unsafe {
                let from = self.m.cast::<u8>().add(i * size_of_val(s));
                core::ptr::copy_nonoverlapping(from, s.as_mut_ptr().cast::<u8>(), size_of_val(s));
            }
            let out = Outputs {
                u: (!self.u.is_null()).then_some(&mut *u),
                l: Some(&mut *l),
                s: None,
                reports: (!self.reports.is_null()).then_some(&mut report[..]),
            };
            result = result.and(body(s, out));
            // SAFETY: place i is inside the caller's buffers, which do not overlap the staging. A report in the
            // caller's header is no longer than ours.
            unsafe {
                copy_out(u, size_of_val(u), self.u, i);
                copy_out(l, size_of_val(l), self.l, i);
                copy_out(s, size_of_val(s), self.s, i);
                copy_out(&report, self.report_size, self.reports, i);
            }
        }
        result
    }
}

/// The first `bytes` bytes, to place `i` of such.
///
/// # Safety
/// `from` has that many, and `to` is null or has room there.
unsafe fn copy_out<T, U>(from: &[T], bytes: usize, to: *mut U, i: usize) {
    if !to.is_null() {
        // SAFETY: bytes may lie anywhere; the ranges are inside both and do not overlap.
        unsafe {
            let to = to.cast::<u8>().add(i * bytes);
            core::ptr::copy_nonoverlapping(from.as_ptr().cast::<u8>(), to, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::null_mut;

    /// A caller whose header has reports of 16 bytes gets the first 16 of each, one after another.
    #[test]
    fn reports_are_as_long_as_in_the_callers_header() {
        const OLD: usize = 16;
        let m = [1.0_f32, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0];
        let mut bytes = [0xaa_u8; 3 * OLD];
        let buffers = Buffers {
            m: m.as_ptr(),
            u: null_mut(),
            l: null_mut(),
            s: null_mut(),
            reports: bytes.as_mut_ptr().cast(),
            report_size: OLD,
            n: 2,
            k: 1,
            count: 2,
        };
        buffers.check().unwrap();
        assert!(!buffers.fit());
        let mut staging = vec![0.0; Buffers::<f32>::staging_len(2, 1)];
        // SAFETY: checked, and valid.
        let outcome = unsafe {
            buffers.one_by_one(&mut staging, |m, out| {
                let reports = out.reports.expect("asked for");
                reports[0].l1 = m[0];
                reports[0].residual = -m[0];
                Ok(())
            })
        };
        assert_eq!(outcome, Ok(()));
        let float = |at: usize| f32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(
            [float(0), float(4), float(OLD), float(OLD + 4)],
            [1.0, -1.0, 2.0, -2.0]
        );
        assert!(bytes[2 * OLD..].iter().all(|&x| x == 0xaa));
    }
}
