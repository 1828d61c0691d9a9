//! Numbers that the graph needs besides those of [`denise::unrolled`].

/// Least pivot after a ridge, relative to the ridge.
pub(super) const LEAST: f64 = 0.1;
/// Added where a sum may be zero. Graphs work in `f32`.
pub(super) const TINY: f64 = f32::MIN_POSITIVE as f64;
/// A column of which less than the root of this is left counts as parallel to those before it.
pub(super) const PARALLEL: f64 = (64.0 * f32::EPSILON as f64) * (64.0 * f32::EPSILON as f64);
/// What every file of such a network says about itself. That of version 0.1 was `unrolled`: another start, and
/// thresholds that were not relative to the size of L.
pub(super) const TOPOLOGY: &str = "unrolled 2";
