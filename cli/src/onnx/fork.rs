//! The two ways through the first layers, from M and from a clipped M: where they part, and where they become one.
//!
//! Between, the second axis has length 2, so that start and layers are the same nodes for both.

use super::body::{Body, Name};
use super::constants::TINY;
use super::functions::function;
use super::proto::{Function, Tensor};
use super::start::{columns, orthonormalise, orthonormalise_name};
use denise::unrolled::{BOUND, CUT, GATE, omega};

/// What parts and joins the two ways, besides what the start has.
pub(super) fn functions(n: usize, k: usize) -> Vec<Function> {
    let mut functions = vec![fork(n), unexplained(), blend(k), join()];
    if columns(n, k) != k {
        functions.push(orthonormalise(k));
    }
    functions
}

/// Every matrix twice, to be split; and once as it is and once clipped, to start from.
fn fork(n: usize) -> Function {
    let mut b = Body::default();
    let zero = b.number(0.0);
    let sizes = b.abs("N");
    let sizes = b.op("Where", &["diagonal", &zero, &sizes]);
    let share = 1.0 / (n * (n - 1)) as f64;
    let mean = |b: &mut Body, sizes: &str| {
        let total = b.sum(sizes, &[2, 3]);
        b.times(&total, share)
    };
    // The mean size of an entry, in which none counts with more than twice the mean.
    let mut usual = mean(&mut b, &sizes);
    for _ in 0..4 {
        let most = b.times(&usual, BOUND);
        let cut = b.min(&sizes, &most);
        usual = mean(&mut b, &cut);
    }
    let most = b.times(&usual, BOUND);
    let clipped = b.cut("N", &most);
    for (second, name) in [("N", "both"), (&clipped, "starts")] {
        let pair = b.concat(&["N", second], 1);
        b.give(&pair, name);
    }
    b.give(&usual, "usual");
    let doc = "both: every matrix of N twice. starts: every matrix, and the same with no entry above twice the usual \
               size of one off the diagonal.";
    let signature: (&[_], &[_], &[_]) = (&["N", "diagonal"], &["both", "starts", "usual"], &[]);
    function("Fork", doc, signature, b)
}

/// Σ |R_ij| over i ≠ j, where none counts with more than a share of a usual entry of N.
fn unexplained() -> Function {
    let mut b = Body::default();
    let across = b.transpose("U");
    let low = b.matmul("U", &across);
    let r = b.sub("N", &low);
    let sizes = b.abs(&r);
    let zero = b.number(0.0);
    let sizes = b.op("Where", &["diagonal", &zero, &sizes]);
    let cut = b.times("usual", CUT);
    let sizes = b.min(&sizes, &cut);
    let cost = b.sum(&sizes, &[2, 3]);
    b.give(&cost, "cost");
    let doc = "cost: the sum of |N - U U^T| off the diagonal, with entries cut at a share of a usual one of N.";
    let signature: (&[_], &[_], &[_]) = (&["N", "usual", "U", "diagonal"], &["cost"], &[]);
    function("Unexplained", doc, signature, b)
}

/// A factor of nearly the best approximation of rank k to (1 − share) U Uᵀ + share V Vᵀ.
fn blend(k: usize) -> Function {
    let mut b = Body::default();
    let one = b.number(1.0);
    let (share, rest) = ("share".to_owned(), b.sub(&one, "share"));
    // The columns of both, and where orthogonal iteration in them starts.
    let omega: Vec<f64> = omega(2 * k, k).collect();
    let halves = [("U", &rest, 0), ("V", &share, k * k)];
    let parts = halves.map(|(factor, weight, from)| {
        let values: Vec<f32> = (0..k * k)
            .map(|e| {
                let one = f64::from(u8::from(e / k == e % k));
                (one + omega[from + e] * 0.5 / k as f64) as f32
            })
            .collect();
        let root = b.sqrt(weight);
        let columns = b.mul(factor, &root);
        let values = b.tensor(Tensor::floats(&[k, k], &values));
        (columns, b.mul(&values, weight))
    });
    let [(u, first), (v, second)] = &parts;
    let both = b.concat(&[u, v], -1);
    let mut c: Name = b.concat(&[first, second], -2);
    let across = b.transpose(&both);
    let gram = b.matmul(&across, &both);
    for round in 1..=3 {
        let y = b.matmul(&gram, &c);
        c = format!("C{round}");
        b.call(&orthonormalise_name(k), &[&y], &[&c], Vec::new());
    }
    let w = b.matmul(&both, &c);
    b.give(&w, "W");
    let doc =
        "W: a factor of (1 - share) U U^T + share V V^T, or of nearly its best approximation.";
    function("Blend", doc, (&["U", "V", "share"], &["W"], &[]), b)
}

/// One factor and one mean for every matrix, from two.
fn join() -> Function {
    let mut b = Body::default();
    let (u, v) = b.split("U", 1, 1, 1);
    let (mean, other_mean) = b.split("m", 1, 1, 1);
    for (factor, cost) in [(&u, "cost"), (&v, "other")] {
        b.call(
            "Unexplained",
            &["N", "usual", factor, "diagonal"],
            &[cost],
            Vec::new(),
        );
    }
    // The second counts from where it is better, and alone where it is clearly so.
    let better = b.sub("cost", "other");
    let gate = b.times("cost", GATE);
    let gate = b.plus(&gate, TINY);
    let x = b.div(&better, &gate);
    let x = b.clip(&x, 0.0, 1.0);
    let square = b.square(&x);
    let slope = b.times(&x, -2.0);
    let slope = b.plus(&slope, 3.0);
    let share = b.mul(&square, &slope);
    let one = b.number(1.0);
    let rest = b.sub(&one, &share);
    let mean = b.mul(&rest, &mean);
    let other_mean = b.mul(&share, &other_mean);
    let mean = b.add(&mean, &other_mean);
    b.call("Blend", &[&u, &v, &share], &["W"], Vec::new());
    b.give(&mean, "mean");
    let doc = "W: the factor in U, of the two for each matrix, that explains N better; between them where both do \
               about as well. mean: the same of m.";
    let signature: (&[_], &[_], &[_]) =
        (&["N", "usual", "U", "m", "diagonal"], &["W", "mean"], &[]);
    function("Join", doc, signature, b)
}
