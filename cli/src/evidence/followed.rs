//! L as a stream has it, day by day.

use super::windows::WINDOW;
use crate::robustness::{Open, distance};
use denise::{Options, Outputs, Report, StreamOptions};
use std::error::Error;

/// ‖ΔL‖_F / ‖ΔM‖_F of a stream over the returns of n assets, from the window that begins at each of `days` to the next.
/// Both are correlations.
pub fn moves(
    open: Open<'_>,
    (n, k): (usize, usize),
    returns: &[f64],
    days: &[usize],
) -> Result<Vec<f64>, Box<dyn Error>> {
    let model = open(&Options {
        missing: true,
        ..Options::size(n, k)
    })?;
    let mut stream = model.stream(&StreamOptions {
        window: WINDOW,
        demean: true,
        correlation: true,
        // As many common days as make an entry of a window known.
        warm_up: WINDOW / 3,
        ..StreamOptions::default()
    })?;
    let mut all = Vec::new();
    let mut before: Option<(Vec<f64>, Vec<f64>)> = None;
    for (tick, returns) in returns.chunks_exact(n).enumerate() {
        let (mut l, mut m) = (vec![0.0; n * n], vec![0.0; n * n]);
        let mut report = [Report::default()];
        let out = Outputs {
            l: Some(&mut l),
            reports: Some(&mut report),
            ..Outputs::default()
        };
        stream.push(returns, out)?;
        let mut now = None;
        if report[0].status == 0 {
            stream.covariance(&mut m)?;
            let unit: Vec<f64> = (0..n).map(|i| m[i * n + i].sqrt().recip()).collect();
            for at in 0..n * n {
                let both = unit[at / n] * unit[at % n];
                m[at] *= both;
                l[at] *= both;
            }
            now = Some((m, l));
        }
        // The window that begins at a day ends so many ticks later; the next one a tick after that.
        let day = (tick + 1).checked_sub(WINDOW + 1);
        if let (Some(day), Some((m, l)), Some((m0, l0))) = (day, &now, &before) {
            let ratio = distance(l, l0) / distance(m, m0);
            if days.binary_search(&day).is_ok() && ratio.is_finite() {
                all.push(ratio);
            }
        }
        before = now;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise::Model;
    use denise_data::random::Random;

    /// Returns of two factors and nothing else: L is M, and moves as M does.
    #[test]
    fn where_l_is_m_both_move_alike() {
        let open: Open<'_> = &|options| Ok(Model::builtin(options)?);
        let mut random = Random::new(4);
        let n = 10;
        let loadings: Vec<f64> = (0..2 * n).map(|_| random.signed()).collect();
        let returns: Vec<f64> = (0..150)
            .flat_map(|_| {
                let (a, b) = (random.signed(), random.signed());
                let assets = loadings.chunks_exact(2);
                let all: Vec<f64> = assets.map(|x| a * x[0] + b * x[1]).collect();
                all
            })
            .collect();
        // Window 49 ends with the return before the last; there is no window 1000.
        let moves = moves(open, (n, 2), &returns, &[0, 7, 49, 1000]).unwrap();
        assert_eq!(moves.len(), 3);
        // Three layers a day do not follow to the last digit.
        assert!(moves.iter().all(|x| (x - 1.0).abs() < 0.5), "{moves:?}");
    }
}
