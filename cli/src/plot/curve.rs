//! Curves on a logarithmic scale, as of losses.

use super::Picture;
use super::glyphs::width;
use super::svg::{Anchor, Canvas, INK, Text};
use super::ticks;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 380.0;
/// The inside of the axes.
const LEFT: f64 = 78.0;
const RIGHT: f64 = WIDTH - 22.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = HEIGHT - 58.0;

const SMALL: f64 = 12.0;
const LABEL: f64 = 13.5;
const TITLE: f64 = 15.5;
const PEN: f64 = 1.7;
const GRID: &str = "#e4e4e4";
const COLOURS: [&str; 4] = ["#2262aa", "#d0552f", "#3b8f5a", "#7a5ba6"];

/// Curves through points (x, y) with a logarithmic y axis and a legend. Points that such an axis does
/// not have, with y ≤ 0 or not finite, leave a gap.
pub(crate) fn curve(
    title: &str,
    x_label: &str,
    y_label: &str,
    series: &[(&str, &[(f64, f64)])],
) -> Picture {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let middle = (LEFT + RIGHT) / 2.0;
    let (across, down) = (RIGHT - LEFT, BOTTOM - TOP);
    let centred = |y: f64, size: f64, text| Text::new(middle, y, size, Anchor::Middle, text);
    canvas.text(centred(TOP - 18.0, TITLE, title).within(across));
    canvas.text(centred(HEIGHT - 14.0, LABEL, x_label).within(0.8 * across));
    let beside = Text {
        x: 22.0,
        upright: true,
        ..centred((TOP + BOTTOM) / 2.0, LABEL, y_label)
    };
    canvas.text(beside.within(down));

    let points = || series.iter().flat_map(|(_, points)| points.iter());
    let drawn = || points().filter(|point| is_drawn(point));
    let x = Axis::over(drawn().map(|point| point.0), 0.02);
    let y = Axis::over(drawn().map(|point| point.1.log10()), 0.05);
    let (Some(x), Some(y)) = (x, y) else {
        canvas.rect(LEFT, TOP, across, down, "none", Some(INK));
        canvas.text(centred((TOP + BOTTOM) / 2.0, LABEL, "no positive values"));
        return canvas.finish();
    };
    axes(&mut canvas, &x, &y);
    for ((_, points), colour) in series.iter().zip(COLOURS.iter().cycle()) {
        for run in points.split(|point| !is_drawn(point)) {
            let run: Vec<(f64, f64)> = run
                .iter()
                .map(|&(at, value)| {
                    (
                        LEFT + x.part(at) * across,
                        BOTTOM - y.part(value.log10()) * down,
                    )
                })
                .collect();
            if !run.is_empty() {
                canvas.polyline(&thinned(&run), colour, PEN);
            }
        }
    }
    canvas.rect(LEFT, TOP, across, down, "none", Some(INK));
    legend(&mut canvas, series);
    canvas.finish()
}

fn is_drawn(&(x, y): &(f64, f64)) -> bool {
    x.is_finite() && y.is_finite() && y > 0.0
}

/// The range of an axis.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// Over all values, and a share of their span on both sides; none if there are no values.
    fn over(values: impl Iterator<Item = f64>, margin: f64) -> Option<Axis> {
        let (low, high) = values
            .map(|value| (value, value))
            .reduce(|(low, high), (value, _)| (low.min(value), high.max(value)))?;
        let span = high - low;
        let wider = if span > 1e-6 * low.abs().max(high.abs()) {
            margin * span
        } else {
            // One value: in the middle.
            (0.05 * high.abs()).max(0.5)
        };
        Some(Axis {
            low: low - wider,
            high: high + wider,
        })
    }

    /// 0 at the low end, 1 at the high end.
    fn part(&self, value: f64) -> f64 {
        // Halves, since the span of two finite numbers need not be finite.
        let part = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        if part.is_finite() { part } else { 0.5 }
    }
}

fn axes(canvas: &mut Canvas, x: &Axis, y: &Axis) {
    let (marks, left_out) = ticks::linear(x.low, x.high, 5.0);
    for tick in &marks {
        let at = LEFT + x.part(tick.value) * (RIGHT - LEFT);
        canvas.line((at, BOTTOM), (at, BOTTOM + 5.0), INK, 0.8);
        canvas.text(Text::new(
            at,
            BOTTOM + 19.0,
            SMALL,
            Anchor::Middle,
            &tick.label,
        ));
    }
    if left_out != 0 {
        let exponent = ticks::signed(&left_out.to_string());
        canvas.text(Text {
            exponent: &exponent,
            ..Text::new(RIGHT, BOTTOM + 36.0, SMALL, Anchor::End, "×10")
        });
    }
    let (marks, minor) = ticks::logarithmic(y.low, y.high);
    let down = |value: f64| BOTTOM - y.part(value) * (BOTTOM - TOP);
    for value in minor {
        let at = down(value);
        canvas.line((LEFT - 3.0, at), (LEFT, at), INK, 0.6);
    }
    for tick in &marks {
        let at = down(tick.value);
        canvas.line((LEFT, at), (RIGHT, at), GRID, 0.8);
        canvas.line((LEFT - 5.0, at), (LEFT, at), INK, 0.8);
        canvas.text(Text {
            exponent: &tick.exponent,
            ..Text::new(LEFT - 9.0, at + 4.4, SMALL, Anchor::End, &tick.label)
        });
    }
}

/// In the top right corner: losses fall, so there is room.
fn legend(canvas: &mut Canvas, series: &[(&str, &[(f64, f64)])]) {
    let widest = series
        .iter()
        .fold(0.0_f64, |most, (name, _)| most.max(width(name)));
    let names = (widest * SMALL).min(RIGHT - LEFT - 80.0);
    let (wide, high) = (names + 50.0, 19.0 * series.len() as f64 + 9.0);
    let (left, top) = (RIGHT - wide - 9.0, TOP + 9.0);
    canvas.raw(format_args!("<g fill-opacity=\"0.85\">"));
    canvas.rect(left, top, wide, high, "#ffffff", Some("#cccccc"));
    canvas.raw(format_args!("</g>"));
    let rows = series.iter().zip(COLOURS.iter().cycle());
    for (at, ((name, _), colour)) in rows.enumerate() {
        let y = top + 14.0 + 19.0 * at as f64;
        canvas.line((left + 10.0, y), (left + 34.0, y), colour, PEN);
        let text = Text::new(left + 42.0, y + 4.2, SMALL, Anchor::Start, name);
        canvas.text(text.within(names));
    }
}

/// Of the points that share a column of half a unit: the first, the lowest, the highest and the last.
/// The picture is the same, and its size does not grow with the length of training.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let column = |point: &(f64, f64)| (point.0 * 2.0).floor();
    points
        .chunk_by(|a, b| column(a) == column(b))
        .flat_map(|chunk| {
            let by_y = |a: &usize, b: &usize| chunk[*a].1.total_cmp(&chunk[*b].1);
            let all = 0..chunk.len();
            let mut kept = vec![0, chunk.len() - 1];
            kept.extend(all.clone().min_by(by_y));
            kept.extend(all.max_by(by_y));
            kept.sort_unstable();
            kept.dedup();
            kept.into_iter().map(|at| chunk[at])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn any_points() {
        check(&curve("", "", "", &[]));
        let picture = curve("t", "x", "y", &[("none", &[(1.0, 0.0), (2.0, f64::NAN)])]);
        assert!(picture.svg().contains("<title>no positive values</title>"));
        check(&picture);
        let odd: [&[(f64, f64)]; 5] = [
            &[(3.0, 0.5)],
            &[(0.0, 1.0), (1.0, 1.0)],
            &[(0.0, 5e-324), (1.0, f64::MAX)],
            &[(f64::MIN, 1.0), (f64::MAX, 2.0)],
            &[(1e300, 1e-9), (1e300, 1e-9), (f64::INFINITY, 1.0)],
        ];
        for points in odd {
            check(&curve("t", "x", "y", &[("a", points), ("b", &[])]));
        }
    }

    #[test]
    fn a_point_that_cannot_be_drawn_leaves_a_gap() {
        let points = [(0.0, 1.0), (1.0, 0.5), (2.0, 0.0), (3.0, 0.2), (4.0, 0.1)];
        let picture = curve("t", "x", "y", &[("a", &points)]);
        assert_eq!(picture.svg().matches("<polyline").count(), 2);
    }

    #[test]
    fn long_curves_stay_small_and_keep_their_extremes() {
        let mut points: Vec<(f64, f64)> = (0..200_000).map(|at| (f64::from(at), 1.0)).collect();
        points[77_777].1 = 100.0;
        let picture = curve("t", "x", "y", &[("a", &points)]);
        assert!(picture.svg().len() < 100_000);
        let across: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x / 400.0, y)).collect();
        assert!(thinned(&across).contains(&across[77_777]));
    }
}
