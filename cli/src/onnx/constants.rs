//! Numbers that the graph needs besides those of [`denise::unrolled`].

/// Least pivot after a ridge, relative to the ridge.
pub(super) const LEAST: f64 = 0.1;
/// Added where a sum may be zero. Graphs work in `f32`.
pub(super) const TINY: f64 = f32::MIN_POSITIVE as f64;
