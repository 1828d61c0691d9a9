//! Rows of about the same size, and what the start sees of them.

use super::body::{Body, Name};
use super::functions::function;
use super::proto::Function;
use denise::unrolled::{LEAST_SIZE, TYPICAL, bounds};

/// What row i of N is divided by, and column i; the matrix that this gives; and that matrix without large entries.
pub(super) fn balance(n: usize, k: usize) -> Function {
    let mut b = Body::default();
    let bounds = bounds(k);
    let sizes = b.abs("N");
    let roots = b.sqrt(&sizes);
    let total = b.sum(&roots, &[2]);
    let mean = b.times(&total, 1.0 / n as f64);
    let least = b.number(LEAST_SIZE);
    let first = b.max(&mean, &least);
    let once = divide(&mut b, "N", &first);

    let sizes = b.abs(&once);
    let most = b.number(TYPICAL);
    let sizes = b.min(&sizes, &most);
    let total = b.sum(&sizes, &[2]);
    let mean = b.times(&total, bounds.own / n as f64);
    let root = b.sqrt(&mean);
    let second = b.max(&root, &least);
    let twice = divide(&mut b, &once, &second);

    let pair = bounds.pair / bounds.own;
    let pairs = b.clip(&twice, -pair, pair);
    let own = b.clip(&twice, -1.0, 1.0);
    let clipped = b.op("Where", &["diagonal", &own, &pairs]);
    let size = b.mul(&first, &second);
    b.give(&twice, "B");
    b.give(&size, "r");
    b.give(&clipped, "A");
    let doc = "B_ij = N_ij / (r_i r_j), with r_i the size of row i of N: a mean of roots, times a mean of what that \
               leaves, in which large entries count less. A is B without large entries.";
    let signature: (&[_], &[_], &[_]) = (&["N", "diagonal"], &["B", "r", "A"], &[]);
    function("Balance", doc, signature, b)
}

/// Rows and columns divided by the same numbers. One after the other: a product of two small numbers may be zero.
fn divide(b: &mut Body, matrix: &str, sizes: &str) -> Name {
    let rows = b.div(matrix, sizes);
    let across = b.transpose(sizes);
    b.div(&rows, &across)
}
