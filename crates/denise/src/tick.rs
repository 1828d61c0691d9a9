//! A tick of streams that lie side by side.

use crate::batch::Outputs;

/// Numbers of several streams, side by side: number e of stream l is at e·`width` + `first` + l.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a, T> {
    pub(crate) values: &'a [T],
    pub(crate) width: usize,
    pub(crate) first: usize,
}

impl<'a, T> Side<'a, T> {
    /// Number e of all streams from the first on.
    #[inline(always)]
    pub(crate) fn of(self, e: usize) -> &'a [T] {
        &self.values[e * self.width + self.first..(e + 1) * self.width]
    }
}

/// What streams keep from split to split, side by side: see [`Side`].
pub(crate) struct Track<'a> {
    /// n×k values for each: U in the units of the balanced matrix.
    pub(crate) u: &'a mut [f64],
    /// The mean |R_ij| that the last layer saw.
    pub(crate) mean: &'a mut [f64],
    /// Splits so far, since U was zero.
    pub(crate) splits: &'a mut [u64],
    pub(crate) width: usize,
    pub(crate) first: usize,
}

/// The matrices of a tick.
#[derive(Clone, Copy)]
pub(crate) enum Matrices<'a, F> {
    /// As the caller has them.
    Given(&'a [F]),
    /// Estimates, n×n, of which the lower triangle counts.
    Estimated(Side<'a, f64>),
}

/// A tick of streams that a shape takes at once.
pub(crate) struct Tick<'a, F> {
    pub(crate) matrices: Matrices<'a, F>,
    pub(crate) track: Track<'a>,
    /// Which of them are to be split; the outputs of the others are not touched.
    pub(crate) wanted: &'a mut [bool],
    /// Whether NaN is an entry that is not known.
    pub(crate) missing: bool,
    pub(crate) out: Outputs<'a, F>,
}
