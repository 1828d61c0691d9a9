//! The figures: each is saved as PNG and as SVG.

use super::{Args, Results, origin, recoverable};
use crate::commands::input::stock_windows;
use crate::commands::streams::PAIR;
use crate::evaluate::{Matrices, Method, Row, contenders, time};
use crate::plot::{Axis, Picture, Scale, Series, Style, chart, comparison};
use crate::streams::{NAMES, Path as OfPair};
use denise_data::generator::samples;
use std::error::Error;
use std::path::Path;

/// Sizes for the figure of costs, at k = 3.
const COSTS: [usize; 6] = [10, 20, 40, 80, 160, 320];

/// When the windows of tests/data/sp500 end.
const FIRST: f64 = 1990.4;
const LAST: f64 = 2023.0;
/// What is drawn of them: all, and two crises.
const YEARS: [(&str, f64, f64); 3] = [
    ("stream", FIRST, LAST),
    ("stream_2008", 2008.0, 2009.5),
    ("stream_2020", 2019.75, 2021.25),
];

/// A name, and the points that go with it.
type Points<'a> = (&'a str, Vec<(f64, f64)>);

/// All of them.
pub(super) fn draw(
    args: &Args,
    model: &denise::Model,
    results: &Results,
    followed: &OfPair,
    figures: &Path,
) -> Result<(), Box<dyn Error>> {
    let save = |picture: &Picture, name: &str| -> Result<(), Box<dyn Error>> {
        for ending in ["png", "svg"] {
            picture.save(&figures.join(name).with_extension(ending))?;
        }
        Ok(())
    };
    save(&heat_maps(args, model)?, "windows")?;
    save(&accuracy_against_time(&results.normal), "accuracy")?;
    save(&distribution(&results.normal), "distribution")?;
    save(&results.evidence.picture(&origin(args)), "heatmap")?;
    for (name, from, to) in YEARS {
        save(&one_pair(followed, from, to), name)?;
    }
    save(&costs(args)?, "cost")
}

/// L of one pair in some years. A line is drawn through every day: where it jumps, it looks like a band.
fn one_pair(followed: &OfPair, from: f64, to: f64) -> Picture {
    let count = followed.l[0].len().max(2) as f64;
    let all: Vec<Points<'_>> = NAMES
        .iter()
        .zip(&followed.l)
        .map(|(&name, l)| {
            let year = |day: usize| FIRST + day as f64 * (LAST - FIRST) / (count - 1.0);
            let points = l.iter().enumerate().map(|(day, &l)| (year(day), l));
            let shown = points.filter(|&(year, _)| from <= year && year <= to);
            (name, shown.collect())
        })
        .collect();
    let [a, b] = PAIR;
    // The most restless first, so that it does not hide the others.
    let reversed: Vec<Points<'_>> = all.into_iter().rev().collect();
    chart(
        &format!("L of {a} and {b}, windows of 100 days, k = 3"),
        axis("year", Scale::Linear),
        axis("correlation", Scale::Linear),
        &series(&reversed, Style::Line),
    )
}

/// M, L and S of one window, by every method.
fn heat_maps(args: &Args, model: &denise::Model) -> Result<Picture, Box<dyn Error>> {
    let stack = stock_windows(&args.prices)?;
    let size = stack.n * stack.n;
    let m = &stack.values[stack.values.len() - size..][..size];
    let all = contenders(&Method::COMPARED, model, Matrices::Stocks, None);
    let splits: Vec<(String, Vec<f64>, Vec<f64>)> = all
        .iter()
        .filter(|contender| contender.works())
        .map(|contender| {
            let (l, s) = contender.splitter()?.split(m)?;
            Ok((contender.label.clone(), l, s))
        })
        .collect::<Result<_, Box<dyn Error>>>()?;
    let splits: Vec<(&str, &[f64], &[f64])> = splits
        .iter()
        .map(|(label, l, s)| (label.as_str(), &l[..], &s[..]))
        .collect();
    Ok(comparison(
        stack.n,
        m,
        &splits,
        "The last window of 100 days",
    ))
}

/// Time against error, a point for each method and sparsity.
fn accuracy_against_time(rows: &[Row]) -> Picture {
    let mut all: Vec<Points<'_>> = Vec::new();
    for row in rows {
        let Some(seconds) = row.seconds.filter(|x| x.batch > 0.0) else {
            continue;
        };
        let point = (seconds.batch * 1e6, row.error_l.mean);
        match all.iter_mut().find(|(name, _)| *name == row.method) {
            Some((_, points)) => points.push(point),
            None => all.push((&row.method, vec![point])),
        }
    }
    chart(
        "Error of L against time, s(S₀) from .60 to .95",
        axis("microseconds per matrix, one core, batch", Scale::Log),
        axis("mean ‖L − L₀‖ / ‖L₀‖", Scale::Log),
        &series(&all, Style::Both),
    )
}

/// Which share of matrices has at most which error, by sparsity.
fn distribution(rows: &[Row]) -> Picture {
    let own = rows.iter().filter(|x| x.method == Method::Denise.label());
    let (names, points): (Vec<String>, Vec<_>) = own
        .map(|row| {
            let count = row.errors.len();
            let point = |i: usize| (row.errors[i].max(1e-9), (i + 1) as f64 / count as f64);
            // More points than the picture is wide would not show.
            let points: Vec<_> = (0..count)
                .step_by(count.div_ceil(400).max(1))
                .map(point)
                .collect();
            (format!("s(S₀) = {:.2}", row.sparsity), points)
        })
        .unzip();
    let all: Vec<Points<'_>> = names.iter().map(String::as_str).zip(points).collect();
    chart(
        "Denise: share of matrices with at most this error",
        axis("‖L − L₀‖ / ‖L₀‖", Scale::Log),
        axis("share of matrices", Scale::Linear),
        &series(&all, Style::Line),
    )
}

/// Time against n.
fn costs(args: &Args) -> Result<Picture, Box<dyn Error>> {
    let mut all: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for &n in &COSTS[..args.pace().of(COSTS.len(), 3)] {
        let model = args.model.open(Some(n), Some(3))?;
        let m = samples(n, 3, &[recoverable(args)], args.seed, 0, 64).m;
        let mut contenders = contenders(&Method::COMPARED, &model, Matrices::Synthetic, None);
        // One λ is enough here.
        contenders.dedup_by_key(|x| x.method);
        for contender in contenders.iter().filter(|x| x.works()) {
            let times = time(&mut contender.splitter()?, &m, n * n, args.pace())?;
            let point = (n as f64, times.batch * 1e6);
            match all.iter_mut().find(|(name, _)| *name == contender.label) {
                Some((_, points)) => points.push(point),
                None => all.push((contender.label.clone(), vec![point])),
            }
        }
    }
    let all: Vec<Points<'_>> = all
        .iter()
        .map(|(label, points)| (label.as_str(), points.clone()))
        .collect();
    Ok(chart(
        "Time against the size of the matrix, k = 3",
        axis("n", Scale::Log),
        axis("microseconds per matrix, one core", Scale::Log),
        &series(&all, Style::Both),
    ))
}

fn series<'a>(all: &'a [Points<'a>], style: Style) -> Vec<Series<'a>> {
    let one = |(name, points): &'a Points<'a>| Series {
        name,
        points,
        style,
    };
    all.iter().map(one).collect()
}

fn axis(label: &str, scale: Scale) -> Axis<'_> {
    Axis { label, scale }
}
