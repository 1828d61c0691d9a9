//! `denise rank`.

use super::source::Source;
use denise::rank::{self, DEFAULT_MOST};
use rayon::prelude::*;
use std::error::Error;

/// Options of `denise rank`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    source: Source,
    /// Largest rank to suggest, at most 32.
    #[arg(long, default_value_t = DEFAULT_MOST, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=32))]
    most: usize,
    /// Observations behind each matrix; without it, the days of a window, or not known for matrices of a file.
    #[arg(long, value_name = "COUNT")]
    observations: Option<usize>,
    /// Print one number for each matrix, and nothing else.
    #[arg(long, conflicts_with = "json")]
    list: bool,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// Suggests a rank for every matrix.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let stack = args.source.load()?.stack;
    let (n, size) = (stack.n, stack.n * stack.n);
    let observations = args.observations.or(args.source.observations());
    let mut ranks = vec![0; stack.count()];
    stack
        .values
        .par_chunks(size)
        .zip(ranks.par_chunks_mut(1))
        .try_for_each(|(m, k)| {
            rank::suggest(n, args.most, observations.unwrap_or(0) as f64, m, k)
        })?;
    let counts = counts(&ranks, args.most);
    let last = ranks.last().copied();
    let usual = usual(&ranks);
    if args.list {
        for k in &ranks {
            println!("{k}");
        }
    } else if args.json {
        let result = serde_json::json!({
            "matrices": ranks.len(),
            "n": n,
            "observations": observations,
            "suggested": usual,
            "last": last,
            "counts": counts,
            "ranks": ranks,
        });
        println!("{}", serde_json::to_string_pretty(&result)?);
    } else if let (Some(usual), Some(last)) = (usual, last) {
        println!(
            "suggested       k = {usual}, the median of {} matrices of {n}×{n}",
            ranks.len()
        );
        println!("of the last     k = {last}");
        for (k, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let share = 100.0 * count as f64 / ranks.len() as f64;
            println!("k = {k:<12}{count:>6} matrices, {share:.0} %");
        }
        if usual == 0 {
            println!(
                "k = 0 means that no common factor was found: what is there is sparse, or noise"
            );
        }
    }
    Ok(())
}

/// How often each rank was suggested, from 0 on.
fn counts(ranks: &[u32], most: usize) -> Vec<usize> {
    let mut counts = vec![0; most + 1];
    for &k in ranks {
        counts[k as usize] += 1;
    }
    counts
}

/// The median.
fn usual(ranks: &[u32]) -> Option<u32> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_counts() {
        assert_eq!(usual(&[]), None);
        assert_eq!(usual(&[5, 1, 1]), Some(1));
        assert_eq!(counts(&[0, 2, 2], 3), [1, 0, 2, 0]);
    }
}
