//! U₀: a factor in the span of nearly the leading eigenvectors.

use super::body::{Body, Name};
use super::constants::{PARALLEL, TINY};
use super::functions::{function, mean_square};
use super::proto::{Function, Tensor};
use denise::unrolled::{DIRECTION, EXTRA, NYSTROM_PIVOT, RMS_LIMIT, SPREAD, SWEEPS, omega};

/// Columns of the start.
fn columns(n: usize, k: usize) -> usize {
    (k + EXTRA).min(n)
}

/// What the start needs.
pub(super) fn functions(n: usize, k: usize) -> Vec<Function> {
    let width = columns(n, k);
    vec![
        directions(n, width),
        orthonormalise(width),
        filter(n, width),
        rotate(),
        leading(k, width),
        nystrom(n, k),
        start(n, k, width),
    ]
}

/// Chebyshev polynomials of what sets the rows of A apart, their sums, and a little of Ω.
fn directions(n: usize, width: usize) -> Function {
    let mut b = Body::default();
    let share = 1.0 / n as f64;
    let sums = b.sum("A", &[2]);
    // Differences that may be roundings do not count.
    let squares = b.square(&sums);
    let total = b.sum(&squares, &[1]);
    let rounding = b.times(&total, 1e-10 * share);
    let total = b.sum(&sums, &[1]);
    let mean = b.times(&total, share);
    let apart = b.sub(&sums, &mean);
    let squares = b.square(&apart);
    let total = b.sum(&squares, &[1]);
    let variance = b.times(&total, share);
    let spread = b.add(&variance, &rounding);
    let spread = b.plus(&spread, TINY);
    let length = b.add(&squares, &spread);
    let length = b.sqrt(&length);
    let place = b.div(&apart, &length);

    // Ones, for as many matrices as the batch has.
    let zeros = b.times(&place, 0.0);
    let mut polynomials = vec![b.plus(&zeros, 1.0), place.clone()];
    let twice = b.times(&place, 2.0);
    for a in 2..width {
        let product = b.mul(&twice, &polynomials[a - 1]);
        let next = b.sub(&product, &polynomials[a - 2]);
        polynomials.push(next);
    }
    let polynomials = b.concat(&names(&polynomials), -1);
    let omega: Vec<f32> = omega(n, width).map(|x| (DIRECTION * x) as f32).collect();
    let omega = b.tensor(Tensor::floats(&[n, width], &omega));
    let d = b.add(&polynomials, &omega);
    b.give(&d, "D");
    let doc = "D: polynomials of the sums of A's rows, and a little of fixed numbers.";
    function("Directions", doc, (&["A"], &["D"], &[]), b)
}

fn names(values: &[Name]) -> Vec<&str> {
    values.iter().map(String::as_str).collect()
}

/// The function that makes so many columns orthonormal.
fn orthonormalise_name(width: usize) -> String {
    format!("Orthonormalise{width}")
}

/// Modified Gram–Schmidt, column by column.
fn orthonormalise(width: usize) -> Function {
    let mut b = Body::default();
    let squares = b.square("Y");
    let squares = b.sum(&squares, &[1]);
    let parallel = b.number(PARALLEL);
    // What is left of Y, and the least square lengths of its columns.
    let mut least = b.times_plus_tiny(&squares, &parallel);
    let mut y = "Y".to_owned();
    let mut columns: Vec<Name> = Vec::new();
    for left in (1..=width).rev() {
        let (column, next_y) = b.first(&y, -1, left);
        let (short, next_least) = b.first(&least, -1, left);
        // Its products with itself and with the others.
        let across = b.transpose(&column);
        let products = b.matmul(&across, &y);
        let (square, shares) = b.first(&products, -1, left);
        let square = b.add(&square, &short);
        let length = b.sqrt(&square);
        let direction = b.div(&column, &length);
        if left > 1 {
            let shares = b.div(&shares, &length);
            let known = b.mul(&direction, &shares);
            y = b.sub(&next_y, &known);
            least = next_least;
        }
        columns.push(direction);
    }
    let q = b.concat(&names(&columns), -1);
    b.give(&q, "Q");
    let doc = "Q: the columns of Y, orthonormal. One that those before it explain stays short.";
    function(&orthonormalise_name(width), doc, (&["Y"], &["Q"], &[]), b)
}

/// The Chebyshev polynomial of degree three of A, times Q; Y is A Q.
fn filter(n: usize, width: usize) -> Function {
    let mut b = Body::default();
    let left = (n - width).max(1) as f64;
    let zero = b.number(0.0);
    // Mean and standard deviation of the eigenvalues that are left.
    let diagonal = b.op("Where", &["diagonal", "A", &zero]);
    let trace = b.sum(&diagonal, &[1, 2]);
    let found = b.mul("Q", "Y");
    let found = b.sum(&found, &[1, 2]);
    let mean = b.sub(&trace, &found);
    let mean = b.times(&mean, 1.0 / left);
    let [whole, seen] = ["A", "Y"].map(|x| {
        let squares = b.square(x);
        b.sum(&squares, &[1, 2])
    });
    let square = b.sub(&whole, &seen);
    let square = b.times(&square, 1.0 / left);
    let mean_square = b.square(&mean);
    let variance = b.sub(&square, &mean_square);
    let variance = b.max(&variance, &zero);
    let deviation = b.sqrt(&variance);
    let spread = b.times(&deviation, (SPREAD - SPREAD * 5.0 / left).max(0.0));
    // Not so small that powers of the largest eigenvalue would drown all others.
    let norm = b.sqrt(&seen);
    let norm = b.times(&norm, 1.0 / 200.0);
    let top = b.add(&mean, &spread);
    let top = b.max(&top, &norm);
    let bottom = b.sub(&mean, &spread);
    let bottom = b.min(&bottom, &zero);
    let width = b.sub(&top, &bottom);
    let half = b.times(&width, 0.5);
    // A may be zero. Half of the least normal number, some runtimes take for zero.
    let half = b.plus(&half, TINY);
    let sum = b.add(&top, &bottom);
    let centre = b.times(&sum, 0.5);

    let moved = b.mul("Q", &centre);
    let moved = b.sub("Y", &moved);
    let first = b.div(&moved, &half);
    // Divided before it is doubled: two over the least number overflows.
    let mut next = |of: &str, before: &str| {
        let product = b.matmul("A", of);
        let moved = b.mul(of, &centre);
        let moved = b.sub(&product, &moved);
        let moved = b.div(&moved, &half);
        let twice = b.add(&moved, &moved);
        b.sub(&twice, before)
    };
    let second = next(&first, "Q");
    let third = next(&second, &first);
    b.give(&third, "P");
    let doc = "P: a polynomial of A, times Q, that is small where the eigenvalues are that Q has not found. \
               Y is A Q.";
    let signature: (&[_], &[_], &[_]) = (&["A", "Q", "Y", "diagonal"], &["P"], &[]);
    function("Filter", doc, signature, b)
}

/// Jacobi's rotations of pairs of columns, all at once.
///
/// `partner` says for each column which one it is rotated with; `sign` is 1 for the first of a pair, −1 for the second
/// and 0 for a column that stays. The matrix that is turned is Tᵀ Z, where Z is its start times T: so only columns
/// change, and of the matrix only its diagonal and one entry for each pair are computed.
fn rotate() -> Function {
    let mut b = Body::default();
    let [z_partner, t_partner] = ["Z", "T"].map(|x| b.gather(x, "partner", -1));
    let own = b.mul("Z", "T");
    let own = b.sum(&own, &[1]);
    let other = b.gather(&own, "partner", -1);
    let apart = b.sub(&own, &other);
    let apart = b.mul(&apart, "sign");
    // Twice the entry, from both sides: both columns of a pair see the same number.
    let entry = b.mul("Z", &t_partner);
    let entry = b.sum(&entry, &[1]);
    let mirrored = b.gather(&entry, "partner", -1);
    let twice = b.add(&entry, &mirrored);
    let size = b.mul(&twice, "sign");
    let size = b.abs(&size);

    let [apart_square, square] = [&apart, &size].map(|x| b.square(x));
    let root = b.add(&apart_square, &square);
    let root = b.sqrt(&root);
    let distance = b.abs(&apart);
    let sum = b.add(&distance, &root);
    let sum = b.plus(&sum, TINY);
    let tangent = b.div(&size, &sum);
    let square = b.square(&tangent);
    let square = b.plus(&square, 1.0);
    let secant = b.sqrt(&square);
    let one = b.number(1.0);
    let large = b.div(&one, &secant);
    let small = b.mul(&tangent, &large);

    // The larger value goes to the first of a pair.
    let ordered = b.not_negative(&apart);
    let swapped = b.sub(&one, &ordered);
    let mut choose = |first: &str, second: &str| {
        let first = b.mul(&ordered, first);
        let second = b.mul(&swapped, second);
        b.add(&first, &second)
    };
    let cosine = choose(&large, &small);
    let sine = choose(&small, &large);
    let positive = b.not_negative(&twice);
    let direction = b.times(&positive, 2.0);
    let direction = b.plus(&direction, -1.0);
    let direction = b.mul(&direction, "sign");
    let sine = b.mul(&sine, &direction);
    for (x, partner, name) in [("Z", z_partner, "Y"), ("T", t_partner, "V")] {
        let kept = b.mul(x, &cosine);
        let added = b.mul(&partner, &sine);
        let turned = b.add(&kept, &added);
        b.give(&turned, name);
    }
    let doc = "Y and V: the columns of Z and T, rotated in pairs, so that the matrix T^T Z becomes zero at each pair, \
               and the larger value of its diagonal comes first.";
    let signature: (&[_], &[_], &[_]) = (&["Z", "T", "partner", "sign"], &["Y", "V"], &[]);
    function("Rotate", doc, signature, b)
}

/// The rotations in groups of pairs that have no column in common.
///
/// A sweep over all pairs, then over those between the first k and the rest, each row by row. All pairs (a, c)
/// with the same a + c can go at once: of two that share a column, the one with the smaller sum comes first row by
/// row too.
pub(super) fn groups(k: usize, width: usize) -> Vec<Vec<(usize, usize)>> {
    let mut groups = Vec::new();
    for sweep in 0..SWEEPS {
        for sum in 1..2 * width {
            let pairs: Vec<(usize, usize)> = (0..width)
                .filter_map(|a| Some((a, sum.checked_sub(a)?)))
                .filter(|&(a, c)| a < c && c < width)
                .filter(|&(a, c)| sweep == 0 || (a < k && k <= c))
                .collect();
            if !pairs.is_empty() {
                groups.push(pairs);
            }
        }
    }
    groups
}

/// The first k columns of T that turn K so that its leading directions come first, and K in these.
fn leading(k: usize, width: usize) -> Function {
    let mut b = Body::default();
    let mut identity = vec![0.0; width * width];
    identity
        .iter_mut()
        .step_by(width + 1)
        .for_each(|x| *x = 1.0);
    let mut t = b.tensor(Tensor::floats(&[1, width, width], &identity));
    let mut z = "K".to_owned();
    for (step, pairs) in groups(k, width).into_iter().enumerate() {
        let mut partner: Vec<i64> = (0..width as i64).collect();
        let mut sign = vec![0.0; width];
        for (a, c) in pairs {
            partner.swap(a, c);
            (sign[a], sign[c]) = (1.0, -1.0);
        }
        let partner = b.list(&partner);
        let sign = b.tensor(Tensor::floats(&[width], &sign));
        let (next_z, next_t) = (format!("Z{step}"), format!("T{step}"));
        b.call(
            "Rotate",
            &[&z, &t, &partner, &sign],
            &[&next_z, &next_t],
            Vec::new(),
        );
        (z, t) = (next_z, next_t);
    }
    if k < width {
        (z, _) = b.split(&z, -1, k, width - k);
        (t, _) = b.split(&t, -1, k, width - k);
    }
    let across = b.transpose(&t);
    let core = b.matmul(&across, &z);
    b.give(&t, "T");
    b.give(&core, "C");
    let doc = "T: orthonormal columns, nearly the leading eigenvectors of K. C = T^T K T.";
    function("Leading", doc, (&["K"], &["T", "C"], &[]), b)
}

/// Y C⁻ᵀ, where C is the Cholesky factor of G, column by column.
///
/// G may be indefinite. What is left of its diagonal bounds the entries of C, which changes nothing for
/// a positive semidefinite matrix; and no entry of the result exceeds n.
fn nystrom(n: usize, k: usize) -> Function {
    let mut b = Body::default();
    let identity = b.identity(k);
    let diagonal = b.mul("G", &identity);
    let diagonal = b.sum(&diagonal, &[2]);
    let size = b.abs(&diagonal);
    let size = b.sum(&size, &[1, 2]);
    let least = b.number(NYSTROM_PIVOT);
    let least = b.times_plus_tiny(&size, &least);
    let zero = b.number(0.0);

    // What is left of G, of its diagonal, and of Y.
    let mut g = "G".to_owned();
    let mut pivots = diagonal;
    let mut y = "Y".to_owned();
    let mut columns: Vec<Name> = Vec::new();
    for left in (1..=k).rev() {
        let (pivot, next_pivots) = b.first(&pivots, -2, left);
        let (column, next_y) = b.first(&y, -1, left);
        let pivot = b.max(&pivot, &least);
        let root = b.sqrt(&pivot);
        let q = b.div(&column, &root);
        let q = b.clip(&q, -(n as f64), n as f64);
        if left > 1 {
            let (_, below) = b.split_first(&g, -2, left);
            let (column, block) = b.split_first(&below, -1, left);
            let x = b.div(&column, &root);
            let most = b.max(&next_pivots, &zero);
            let most = b.sqrt(&most);
            let x = b.cut(&x, &most);
            let across = b.transpose(&x);
            let product = b.mul(&x, &across);
            g = b.sub(&block, &product);
            let square = b.square(&x);
            pivots = b.sub(&next_pivots, &square);
            let product = b.mul(&q, &across);
            y = b.sub(&next_y, &product);
        }
        columns.push(q);
    }
    let q = b.concat(&names(&columns), -1);
    b.give(&q, "U");
    let doc = "U = Y C^-T, where C is the lower Cholesky factor of G, with pivots of at least a thousandth of the sum \
               of |G_ii|.";
    function("Nystrom", doc, (&["G", "Y"], &["U"], &[]), b)
}

/// U₀ for a symmetric matrix A.
fn start(n: usize, k: usize, width: usize) -> Function {
    let mut b = Body::default();
    let orthonormalise = orthonormalise_name(width);
    b.call("Directions", &["A"], &["D"], Vec::new());
    let y = b.matmul("A", "D");
    b.call(&orthonormalise, &[&y], &["Q1"], Vec::new());
    let y = b.matmul("A", "Q1");
    b.call("Filter", &["A", "Q1", &y, "diagonal"], &["P"], Vec::new());
    // Twice, since the filter leaves columns nearly parallel.
    b.call(&orthonormalise, &["P"], &["Q2"], Vec::new());
    b.call(&orthonormalise, &["Q2"], &["Q3"], Vec::new());
    let y = b.matmul("A", "Q3");
    let across = b.transpose("Q3");
    let core = b.matmul(&across, &y);
    b.call("Leading", &[&core], &["T", "C"], Vec::new());
    let y = b.matmul(&y, "T");
    b.call("Nystrom", &["C", &y], &["F"], Vec::new());
    // An indefinite matrix can make U₀ large.
    let limit = b.number(RMS_LIMIT.powi(2));
    let size = mean_square(&mut b, "F", n);
    let size = b.max(&size, &limit);
    let shrink = b.div(&limit, &size);
    let shrink = b.sqrt(&shrink);
    let u = b.mul("F", &shrink);
    b.give(&u, "U");
    let doc = format!("U: a first factor of rank {k} of A = U U^T + S.");
    function("Start", &doc, (&["A", "diagonal"], &["U"], &[]), b)
}
