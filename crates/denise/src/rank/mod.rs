//! Which k: how many factors there are in a covariance matrix.
//!
//! Every rank j is fitted to the correlations off the diagonal, robustly (`fit`), and the one with the least Bayesian
//! information criterion is suggested. `docs/RANK.md` says why this one, and how often it and others are right.

mod fit;

use crate::eigen::Memory;
use crate::logarithm::ln;
use crate::size::{MAX_K, MAX_N};
use crate::status::{Error, Status};
use fit::Fit;

/// Ranks that are tried if nobody says how many.
pub const DEFAULT_MOST: usize = 10;

/// A correlation is never taken to be known better than this. It is the error of one from ten thousand observations.
const FLOOR: f64 = 0.01;
/// Residuals beyond so many standard deviations count as that many: they belong to S.
const CLIP: f64 = 3.0;
/// With fewer assets there is nothing to choose from.
const FEWEST: usize = 3;

/// Suggests a rank for every matrix of `m` (n×n each, lower triangle read), from 0, which means that no common factor
/// was found, to `most` (0: [`DEFAULT_MOST`]).
///
/// `observations` is how many observations a matrix was estimated from; 0 if that is not known. Neither units nor order
/// of the assets matter. An asset whose variance is not positive does not count, and NaN is an entry that is not known.
/// n assets tell at most as many factors apart as there are parameters for half of their pairs: 5 for n = 20.
///
/// Allocates, once. [`Status::NotFinite`]: some matrix had an infinity, and gets 0.
///
/// ```
/// // Six assets that move as one.
/// let mut k = [9];
/// denise::rank::suggest(6, 0, 0.0, &[1.0; 36], &mut k)?;
/// assert_eq!(k, [1]);
/// # Ok::<(), denise::Error>(())
/// ```
pub fn suggest(
    n: usize,
    most: usize,
    observations: f64,
    m: &[f64],
    k: &mut [u32],
) -> Result<(), Error> {
    check(n, most, observations)?;
    if m.len() != k.len() * n * n {
        let message = "the slices do not hold the same number of matrices";
        return Err(Error::new(Status::Shape, message));
    }
    let most = if most == 0 { DEFAULT_MOST } else { most };
    let mut memory = Memory::new();
    let fit = Fit::new(n, most.min(n), &mut memory);
    let mut fit = memory.check(fit)?;
    let mut all = Ok(());
    for (m, k) in m.chunks_exact(n * n).zip(k) {
        *k = 0;
        if m.iter()
            .enumerate()
            .any(|(at, x)| at % n <= at / n && x.is_infinite())
        {
            all = Err(Error::from(Status::NotFinite));
            continue;
        }
        *k = best(&mut fit, m, most, observations) as u32;
    }
    all
}

/// Whether ranks can be suggested for such matrices.
pub fn check(n: usize, most: usize, observations: f64) -> Result<(), Error> {
    if n > MAX_N || most > MAX_K {
        let message = format_args!(
            "n = {n}, most = {most}: at most n = {MAX_N} and most = {MAX_K} are supported"
        );
        return Err(Error::format(Status::Unsupported, message));
    }
    if n < 2 {
        let message = format_args!("n = {n}: two assets are the fewest");
        return Err(Error::format(Status::Argument, message));
    }
    if !(0.0..=1e15).contains(&observations) {
        let message = "observations is a number of observations, or 0 if that is not known";
        return Err(Error::new(Status::Argument, message));
    }
    Ok(())
}

/// The rank with the least criterion: N ln(variance of a residual) + P ln N, where N is the number of pairs and P that
/// of parameters.
fn best(fit: &mut Fit, m: &[f64], most: usize, observations: f64) -> usize {
    fit.read(m);
    let (assets, pairs) = (fit.assets(), fit.pairs() as f64);
    if assets < FEWEST || fit.pairs() == 0 {
        return 0;
    }
    let parameters = |j: usize| (assets * j) as f64 - (j * j.saturating_sub(1)) as f64 / 2.0;
    let known = observations > 1.0;
    // A scale that comes from a median is fitted away by half as many parameters as there are pairs. Where nothing else
    // says how large the noise is, only half of the pairs count.
    let share = if known { 1.0 } else { 2.0 };
    let (mut least, mut k) = (f64::INFINITY, 0);
    let mut scale = fit.scale();
    for j in 0..=most {
        // More parameters than half of the pairs; one factor is always tried.
        if j > 1 && 2.0 * parameters(j) > pairs {
            break;
        }
        if j > 0 {
            // Not even a perfect fit of this rank, or of a higher one, would win.
            let perfect = 2.0 * pairs * ln(FLOOR) + parameters(j) * ln(pairs);
            if perfect >= least || !fit.grow(CLIP * scale) {
                break;
            }
            scale = fit.scale();
        }
        let mut noise = FLOOR * FLOOR;
        if known {
            let sampling = fit.median_specific().powi(2) / (observations - 1.0);
            noise = noise.max(sampling);
        }
        let left = (pairs - share * parameters(j)).max(1.0);
        let variance = fit.mean_square(CLIP * scale) * pairs / left + noise;
        let criterion = pairs * ln(variance) + parameters(j) * ln(pairs);
        if criterion < least {
            (least, k) = (criterion, j);
        }
        if scale < fit::SMALL {
            break;
        }
    }
    k
}

#[cfg(test)]
mod tests;
