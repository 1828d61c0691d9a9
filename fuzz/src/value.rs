//! The two precisions of the ABI.

use denise::{
    denise_decompose_batch, denise_decompose_batch_f64, denise_model, denise_report, denise_status,
};

/// `f32` or `f64`.
pub(crate) trait Value: Copy + PartialEq + std::fmt::Debug {
    const EPSILON: f64;
    /// The smallest positive number.
    const TINY: f64;
    const MAX: f64;

    fn new(x: f64) -> Self;
    /// From any eight bytes.
    fn from_bytes(bytes: [u8; 8]) -> Self;
    fn get(self) -> f64;
    fn bits(self) -> u64;

    /// # Safety
    /// As for `denise_decompose_batch`.
    unsafe fn decompose(
        model: *const denise_model,
        count: usize,
        m: *const Self,
        u: *mut Self,
        l: *mut Self,
        s: *mut Self,
        reports: *mut denise_report,
    ) -> denise_status;
}

impl Value for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    const TINY: f64 = 1e-45;
    const MAX: f64 = f32::MAX as f64;

    fn new(x: f64) -> f32 {
        x as f32
    }

    fn from_bytes([a, b, c, d, ..]: [u8; 8]) -> f32 {
        f32::from_le_bytes([a, b, c, d])
    }

    fn get(self) -> f64 {
        self.into()
    }

    fn bits(self) -> u64 {
        self.to_bits().into()
    }

    unsafe fn decompose(
        model: *const denise_model,
        count: usize,
        m: *const f32,
        u: *mut f32,
        l: *mut f32,
        s: *mut f32,
        reports: *mut denise_report,
    ) -> denise_status {
        // SAFETY: the caller's contract is that of this function.
        unsafe { denise_decompose_batch(model, count, m, u, l, s, reports) }
    }
}

impl Value for f64 {
    const EPSILON: f64 = f64::EPSILON;
    const TINY: f64 = 5e-324;
    const MAX: f64 = f64::MAX;

    fn new(x: f64) -> f64 {
        x
    }

    fn from_bytes(bytes: [u8; 8]) -> f64 {
        f64::from_le_bytes(bytes)
    }

    fn get(self) -> f64 {
        self
    }

    fn bits(self) -> u64 {
        self.to_bits()
    }

    unsafe fn decompose(
        model: *const denise_model,
        count: usize,
        m: *const f64,
        u: *mut f64,
        l: *mut f64,
        s: *mut f64,
        reports: *mut denise_report,
    ) -> denise_status {
        // SAFETY: the caller's contract is that of this function.
        unsafe { denise_decompose_batch_f64(model, count, m, u, l, s, reports) }
    }
}
