//! What the nodes of the file mean: its functions, spelt in standard operators.
//!
//! They follow `denise::unrolled::reference` step by step, for a whole batch at once. Values have three axes: the batch,
//! rows and columns. k×k systems are solved by elimination, unrolled over k: every step takes the first row and column
//! off and updates the rest.

use super::body::{Body, DOMAIN, Name};
use super::constants::{LEAST, TINY};
use super::proto::{Attribute, Function, OperatorSet};
use super::{balance, start};
use denise::unrolled::{Curvature, LEAST_THRESHOLD, Layer, RIDGE, RMS_LIMIT};

/// The weights of a layer, attributes of its node. The last one is left out if no layer of its kind has it.
const WEIGHTS: [&str; 8] = [
    "alpha", "beta", "gamma", "delta", "sigma", "eta", "mu", "nu",
];

/// The function that a layer calls.
pub(super) fn layer_name(curvature: Curvature) -> &'static str {
    match curvature {
        Curvature::Shared => "SharedLayer",
        Curvature::Own => "OwnLayer",
    }
}

/// The versions of operators that graph and functions use.
pub(super) fn operator_sets() -> Vec<OperatorSet> {
    [("", 17), (DOMAIN, 1)]
        .map(|(domain, version)| OperatorSet {
            domain: domain.to_owned(),
            version,
        })
        .to_vec()
}

/// Names of the weights that layers of a curvature have.
pub(super) fn weights(layers: &[Layer], curvature: Curvature) -> &'static [&'static str] {
    let within = |layer: &Layer| layer.curvature == curvature && layer.nu != 0.0;
    let count = WEIGHTS.len() - usize::from(!layers.iter().any(within));
    &WEIGHTS[..count]
}

/// All functions of a file, for the layers that it has.
pub(super) fn all(n: usize, k: usize, layers: &[Layer]) -> Vec<Function> {
    let mut functions = vec![normalise(n), balance::balance(n, k), finish()];
    functions.extend(start::functions(n, k));
    functions.push(solve(k));
    for curvature in [Curvature::Shared, Curvature::Own] {
        if layers.iter().any(|layer| layer.curvature == curvature) {
            functions.push(layer(n, k, curvature, weights(layers, curvature)));
        }
    }
    functions
}

pub(super) fn function(
    name: &str,
    doc: &str,
    (input, output, attribute): (&[&str], &[&str], &[&str]),
    body: Body,
) -> Function {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Function {
        name: name.to_owned(),
        input: owned(input),
        output: owned(output),
        attribute: owned(attribute),
        node: body.into_nodes(),
        doc_string: doc.to_owned(),
        opset_import: operator_sets(),
        domain: DOMAIN.to_owned(),
    }
}

/// M from the lower triangle of X, its scale s, and M / s.
fn normalise(n: usize) -> Function {
    let mut b = Body::default();
    let mirrored = b.transpose("X");
    let m = b.op("Where", &["lower", "X", &mirrored]);
    // Divided before it is summed: the trace of a finite matrix may overflow.
    let shares = b.times(&m, 1.0 / n as f64);
    let zero = b.number(0.0);
    let diagonal = b.op("Where", &["diagonal", &shares, &zero]);
    let trace = b.sum(&diagonal, &[1, 2]);
    let sizes = b.op("Abs", &[&shares]);
    let largest = b.op_with(
        "ReduceMax",
        &[&sizes],
        vec![Attribute::ints("axes", &[1, 2])],
    );
    let s = b.op("Max", &[&trace, &largest]);
    let most = b.number(f64::from(f32::MAX));
    let s = b.op("Min", &[&s, &most]);
    // M may be zero.
    let tiny = b.number(TINY);
    let divisor = b.op("Max", &[&s, &tiny]);
    let normal = b.div(&m, &divisor);
    b.give(&m, "M");
    b.give(&normal, "N");
    b.give(&s, "s");
    let signature: (&[_], &[_], &[_]) = (&["X", "lower", "diagonal"], &["M", "N", "s"], &[]);
    let doc = "M is the lower triangle of X, mirrored. s = max(tr M, max |M_ij|) / n. N = M / s.";
    function("Normalise", doc, signature, b)
}

/// The mean |u_i|² over the rows.
pub(super) fn mean_square(b: &mut Body, u: &str, n: usize) -> Name {
    let squares = b.mul(u, u);
    let sum = b.sum(&squares, &[1, 2]);
    b.times(&sum, 1.0 / n as f64)
}

/// D with (A_i + ridge·tr(A_i)·I) d_i = b_i for every row, by elimination.
fn solve(k: usize) -> Function {
    let mut b = Body::default();
    let identity = b.identity(k);
    let diagonal = b.mul("A", &identity);
    let trace = b.sum(&diagonal, &[2, 3]);
    let (ridge, least) = (b.number(RIDGE), b.number(LEAST * RIDGE));
    let ridge = b.times_plus_tiny(&trace, &ridge);
    let least = b.times_plus_tiny(&trace, &least);
    let ridge = b.mul(&identity, &ridge);

    // What is left of A and of the right-hand side, a column for every row.
    let mut a = b.add("A", &ridge);
    let mut rest = b.unsqueeze("B", -1);
    // For every step the quotient of right-hand side and pivot, and the multipliers of the rows below.
    let mut steps: Vec<(Name, Option<Name>)> = Vec::new();
    for left in (1..=k).rev() {
        if left == 1 {
            let pivot = b.op("Max", &[&a, &least]);
            steps.push((b.div(&rest, &pivot), None));
            break;
        }
        let (top, below) = b.split_first(&a, -2, left);
        let (pivot, row) = b.split_first(&top, -1, left);
        let (column, block) = b.split_first(&below, -1, left);
        let (known, next) = b.split_first(&rest, -2, left);
        let pivot = b.op("Max", &[&pivot, &least]);
        let multipliers = b.div(&column, &pivot);
        let product = b.mul(&multipliers, &row);
        a = b.sub(&block, &product);
        let product = b.mul(&multipliers, &known);
        rest = b.sub(&next, &product);
        steps.push((b.div(&known, &pivot), Some(multipliers)));
    }
    let mut d: Option<Name> = None;
    for (quotient, multipliers) in steps.into_iter().rev() {
        d = Some(match (d, multipliers) {
            (Some(d), Some(multipliers)) => {
                let product = b.mul(&multipliers, &d);
                let sum = b.sum(&product, &[2]);
                let x = b.sub(&quotient, &sum);
                b.concat(&[&x, &d], -2)
            }
            _ => quotient,
        });
    }
    let axis = b.list(&[-1]);
    let d = b.op("Squeeze", &[&d.unwrap_or_default(), &axis]);
    b.give(&d, "D");
    let signature: (&[_], &[_], &[_]) = (&["A", "B"], &["D"], &[]);
    let doc = "Solves (A_i + 1e-4 tr(A_i) I) d_i = b_i for the rows d_i of D and b_i of B; A has one \
               matrix for all rows, or one for each.";
    function("Solve", doc, signature, b)
}

/// One layer: a damped step of iteratively reweighted least squares, row by row.
fn layer(n: usize, k: usize, curvature: Curvature, weights: &[&str]) -> Function {
    let mut b = Body::default();
    let [alpha, beta, gamma, delta, sigma, eta, mu] =
        core::array::from_fn(|e| b.attribute(weights[e]));
    let within = weights.get(7).map(|name| b.attribute(name));
    let across = b.transpose("U");
    let low = b.matmul("U", &across);
    let r = b.sub("N", &low);

    // The weights w, and w R. Thresholds are relative to the size of L, and not to N, which outliers may dominate.
    let size = mean_square(&mut b, "U", n);
    let squares = [b.square("m"), b.square(&size)];
    let scale = threshold(&mut b, &squares, [&alpha, &beta]);
    let diagonal_scale = threshold(&mut b, &squares, [&gamma, &delta]);
    let scales = b.op("Where", &["diagonal", &diagonal_scale, &scale]);
    let one = b.number(1.0);
    let trust = b.op("Where", &["diagonal", &sigma, &one]);
    let r_square = b.mul(&r, &r);
    let sum = b.add(&scales, &r_square);
    let most = b.mul(&trust, &scales);
    // L that explains more than all of a variance is never right: then the weight rises to one.
    let zero = b.number(0.0);
    let negative = b.min(&r, &zero);
    let variance = b.positive("N");
    let negative = b.mul(&negative, &variance);
    let beyond = b.square(&negative);
    let beyond = b.op("Where", &["diagonal", &beyond, &zero]);
    let most = b.add(&most, &beyond);
    let w = b.div(&most, &sum);
    let c = b.mul(&w, &r);
    let right = b.matmul(&c, "U");

    // The step d of every row.
    let mut gram = String::new();
    if curvature == Curvature::Shared || within.is_some() {
        gram = b.matmul(&across, "U");
        gram = b.unsqueeze(&gram, -3);
    }
    match curvature {
        Curvature::Shared => {
            // The row's mean weight is a factor of its whole system. It may be zero, and then b_i is too.
            let total = b.sum(&w, &[2]);
            let mean = b.times(&total, 1.0 / n as f64);
            let tiny = b.number(TINY);
            let mean = b.max(&mean, &tiny);
            let right = b.div(&right, &mean);
            b.call("Solve", &[&gram, &right], &["D"], Vec::new());
        }
        Curvature::Own => {
            let (down, along) = (b.unsqueeze("U", -1), b.unsqueeze("U", -2));
            let products = b.mul(&down, &along);
            let products = b.reshape(&products, 1, &[n, k * k]);
            let a = b.matmul(&w, &products);
            let a = b.reshape(&a, 1, &[n, k, k]);
            b.call("Solve", &[&a, &right], &["D"], Vec::new());
        }
    }

    // A long step is shortened smoothly.
    let most = b.number(RMS_LIMIT.powi(2));
    let limit = b.op("Min", &[&size, &most]);
    let factor = b.number(16.0);
    let limit = b.times_plus_tiny(&limit, &factor);
    let d_square = b.square("D");
    let length = b.sum(&d_square, &[2]);
    let length = b.add(&limit, &length);
    let damping = b.div(&limit, &length);
    let d = b.mul(&damping, "D");
    let mut step = b.mul(&eta, &d);
    if let Some(nu) = within {
        // Its part within the span of U's columns.
        let d_across = b.transpose(&d);
        let within = b.matmul(&d_across, "U");
        b.call("Solve", &[&gram, &within], &["C"], Vec::new());
        let c_across = b.transpose("C");
        let within = b.matmul("U", &c_across);
        let within = b.mul(&nu, &within);
        step = b.add(&step, &within);
    }
    let moved = b.add("U", &step);
    let momentum = b.sub("U", "V");
    let momentum = b.mul(&mu, &momentum);
    let next = b.add(&moved, &momentum);

    let sizes = b.op("Abs", &[&r]);
    let sizes = b.op("Where", &["diagonal", &zero, &sizes]);
    let total = b.sum(&sizes, &[1, 2]);
    let mean = b.times(&total, 1.0 / (n * (n - 1)) as f64);
    b.give(&next, "W");
    b.give(&mean, "mean");
    let signature: (&[_], &[_], &[_]) =
        (&["N", "U", "V", "m", "diagonal"], &["W", "mean"], weights);
    let doc = match curvature {
        Curvature::Shared => {
            "A step from U to W for N = U U^T + S, with one curvature for all rows. V is the U of the \
             layer before, m its mean |R_ij|."
        }
        Curvature::Own => {
            "A step from U to W for N = U U^T + S, with a curvature for each row. V is the U of the \
             layer before, m its mean |R_ij|."
        }
    };
    function(layer_name(curvature), doc, signature, b)
}

/// The sum of two values, each times its weight, which is positive even if both are zero.
fn threshold(b: &mut Body, values: &[Name; 2], weights: [&str; 2]) -> Name {
    let of_mean = b.mul(weights[0], &values[0]);
    let of_size = b.mul(&values[1], weights[1]);
    let of_size = b.plus(&of_size, LEAST_THRESHOLD);
    b.add(&of_mean, &of_size)
}

/// U, L = U Uᵀ and S = M − L in the units of M. L is symmetric to the bit, whatever the order in which a runtime adds.
fn finish() -> Function {
    let mut b = Body::default();
    // NaN if an entry of M is not finite, and then so is every result, as in the library.
    let poison = b.times("M", 0.0);
    let poison = b.sum(&poison, &[1, 2]);
    let f = b.mul("F", "r");
    let root = b.op("Sqrt", &["s"]);
    let factor = b.mul(&f, &root);
    let u = b.add(&factor, &poison);
    let across = b.transpose(&f);
    let low = b.matmul(&f, &across);
    let low = b.mul(&low, "s");
    let mirrored = b.transpose(&low);
    let low = b.op("Where", &["lower", &low, &mirrored]);
    let most = f64::from(f32::MAX);
    let low = b.clip(&low, -most, most);
    let sparse = b.sub("M", &low);
    let sparse = b.clip(&sparse, -most, most);
    let l = b.add(&low, &poison);
    let s = b.add(&sparse, &poison);
    for (value, name) in [(u, "U"), (l, "L"), (s, "S")] {
        b.give(&value, name);
    }
    let signature: (&[_], &[_], &[_]) = (&["M", "s", "r", "F", "lower"], &["U", "L", "S"], &[]);
    let doc = "U = sqrt(s) F with row i times r_i, L = U U^T, S = M - L.";
    function("Finish", doc, signature, b)
}
