//! The symmetric eigensolver, in `f64`: some eigenpairs of a matrix, or all of them.
//!
//! - `spectrum` is what others use. It reduces the matrix to tridiagonal form (`tridiagonal`), then finds either a
//!   few eigenpairs (`isolate`, `twisted`) or all of them (`rotations`).
//! - `rows`: sums and products of rows of numbers. `memory`: memory that may not be there.

mod isolate;
mod memory;
mod rotations;
pub(crate) mod rows;
mod spectrum;
#[cfg(test)]
mod tests;
mod tridiagonal;
mod twisted;

pub(crate) use isolate::End;
pub(crate) use memory::Memory;
pub(crate) use spectrum::Spectrum;
