//! Points and lines between two axes.

use super::Picture;
use super::area::{Area, Segment};
use super::axes::{self, Axis, FRAME, PAGE, Range, Scale};
use super::labels::{self, Mark};
use super::legend::Legend;
use super::looks::{Look, PEN, RADIUS, SOLID};
use super::svg::Canvas;

/// Points that belong together.
pub(crate) struct Series<'a> {
    /// For the legend; a series without a name is not in it.
    pub(crate) name: &'a str,
    /// (x, y). A point that an axis does not have is not drawn and leaves a gap in the line.
    pub(crate) points: &'a [(f64, f64)],
    /// Written beside the points, in their order; may be empty or shorter.
    pub(crate) labels: &'a [&'a str],
    pub(crate) style: Style,
}

/// How a series is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Line,
    Markers,
    /// A line with a marker at every point.
    Both,
}

impl Style {
    pub(super) fn has_line(self) -> bool {
        self != Style::Markers
    }

    pub(super) fn has_markers(self) -> bool {
        self != Style::Line
    }

    /// Markers tell lines apart already, and lines without gaps read better.
    pub(super) fn dashes(self, look: &Look) -> &'static str {
        match self {
            Style::Line => look.dashes,
            Style::Markers | Style::Both => SOLID,
        }
    }
}

/// All series in one frame, with a legend where it hides none of them: in a free corner, or else right
/// of the frame. Labels overlap neither each other nor markers; one that has no room is left out.
pub(crate) fn chart(title: &str, x: Axis<'_>, y: Axis<'_>, series: &[Series<'_>]) -> Picture {
    let has = |point: &(f64, f64)| x.scale.has(point.0) && y.scale.has(point.1);
    let points = || {
        series
            .iter()
            .flat_map(|one| one.points)
            .filter(|at| has(at))
    };
    // Markers and labels need room to the frame.
    let margin = if series.iter().any(|one| !one.labels.is_empty()) {
        [0.10, 0.10]
    } else if series.iter().any(|one| one.style.has_markers()) {
        [0.04, 0.06]
    } else {
        [0.02, 0.05]
    };
    let ranges = (
        Range::over(x.scale, points().map(|at| at.0), margin[0]),
        Range::over(y.scale, points().map(|at| at.1), margin[1]),
    );
    let (Some(x_range), Some(y_range)) = ranges else {
        let mut canvas = Canvas::new(PAGE.0, PAGE.1);
        axes::titles(&mut canvas, title, x, y);
        let positive = x.scale == Scale::Log || y.scale == Scale::Log;
        axes::empty(
            &mut canvas,
            if positive {
                "no positive values"
            } else {
                "no values"
            },
        );
        return canvas.finish();
    };

    let drawn: Vec<Drawn> = series
        .iter()
        .map(|one| Drawn::of(one, has, |at| axes::place(&x_range, &y_range, at)))
        .collect();
    let segments: Vec<Segment> = drawn.iter().flat_map(Drawn::segments).collect();
    let markers: Vec<Area> = drawn.iter().flat_map(Drawn::areas).collect();
    let marks: Vec<Mark<'_>> = series
        .iter()
        .zip(&drawn)
        .flat_map(|(one, drawn)| {
            let named = one.labels.iter().zip(&drawn.places);
            named.filter_map(|(&text, &at)| Some(Mark { text, at: at? }))
        })
        .collect();
    let labels = labels::placed(&marks, &markers, &segments, &FRAME);
    let mut hidden = markers;
    hidden.extend(labels.iter().flatten().map(|label| label.area));
    let legend = Legend::of(series, |area| {
        hidden.iter().any(|other| area.overlaps(other))
            || segments.iter().any(|segment| area.meets(segment))
    });

    let (wide, high) = legend.page();
    let mut canvas = Canvas::new(wide, high);
    axes::titles(&mut canvas, title, x, y);
    axes::axes(&mut canvas, &x_range, &y_range);
    axes::frame(&mut canvas);
    for (at, one) in drawn.iter().enumerate() {
        one.lines(&mut canvas, &Look::of(at));
    }
    for (at, one) in drawn.iter().enumerate() {
        one.markers(&mut canvas, &Look::of(at));
    }
    labels::draw(&mut canvas, &marks, &labels);
    legend.draw(&mut canvas, series);
    canvas.finish()
}

/// A series in the units of the page.
struct Drawn {
    style: Style,
    /// Of every point; none if an axis does not have it.
    places: Vec<Option<(f64, f64)>>,
    /// Lines without gaps.
    runs: Vec<Vec<(f64, f64)>>,
}

impl Drawn {
    fn of(
        series: &Series<'_>,
        has: impl Fn(&(f64, f64)) -> bool,
        place: impl Fn((f64, f64)) -> (f64, f64),
    ) -> Drawn {
        let points = series.points.iter();
        let places: Vec<_> = points.map(|at| has(at).then(|| place(*at))).collect();
        let runs = if series.style.has_line() {
            places
                .split(Option::is_none)
                .filter(|run| !run.is_empty())
                .map(|run| thinned(&run.iter().copied().flatten().collect::<Vec<_>>()))
                .collect()
        } else {
            Vec::new()
        };
        Drawn {
            style: series.style,
            places,
            runs,
        }
    }

    fn segments(&self) -> impl Iterator<Item = Segment> {
        self.runs
            .iter()
            .flat_map(|run| run.windows(2).map(|pair| (pair[0], pair[1])))
    }

    /// What markers cover; the dot that a line of one point is counts as one.
    fn areas(&self) -> Vec<Area> {
        let around = |&at: &(f64, f64)| Area::around(at, 2.0 * RADIUS, 2.0 * RADIUS);
        if self.style.has_markers() {
            self.places.iter().flatten().map(around).collect()
        } else {
            let single = self.runs.iter().filter(|run| run.len() == 1);
            single.flatten().map(around).collect()
        }
    }

    fn lines(&self, canvas: &mut Canvas, look: &Look) {
        for run in &self.runs {
            canvas.polyline(run, look.colour, PEN, self.style.dashes(look));
        }
    }

    fn markers(&self, canvas: &mut Canvas, look: &Look) {
        if self.style.has_markers() {
            for &at in self.places.iter().flatten() {
                look.marker(canvas, at);
            }
        }
    }
}

/// Of the points that share a column of half a unit: the first, the lowest, the highest and the last.
/// The picture is the same, and its size does not grow with the number of points.
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

    const LINEAR: Axis<'_> = Axis {
        label: "x",
        scale: Scale::Linear,
    };
    const LOG: Axis<'_> = Axis {
        label: "y",
        scale: Scale::Log,
    };
    const STYLES: [Style; 3] = [Style::Line, Style::Markers, Style::Both];

    fn series<'a>(points: &'a [(f64, f64)], style: Style) -> Series<'a> {
        Series {
            name: "a",
            points,
            labels: &["one", "", "three"],
            style,
        }
    }

    #[test]
    fn any_points_on_any_axes() {
        let odd: [&[(f64, f64)]; 8] = [
            &[],
            &[(0.0, -1.0)],
            &[(3.0, 0.5)],
            &[(1.0, 1.0), (1.0, 1.0)],
            &[(5e-324, 5e-324), (f64::MAX, f64::MAX)],
            &[(f64::MIN, f64::MIN), (f64::MAX, f64::MAX)],
            &[(1e300, 1e-9), (f64::INFINITY, 1.0), (1.0, f64::NAN)],
            &[(1.0, 1.0), (1.0 + 1e-12, 1.0 - 1e-12)],
        ];
        for points in odd {
            for style in STYLES {
                for (x, y) in [(LINEAR, LINEAR), (LINEAR, LOG), (LOG, LINEAR), (LOG, LOG)] {
                    check(&chart("t", x, y, &[series(points, style)]));
                }
            }
        }
        check(&chart("", LINEAR, LOG, &[]));
        let names = ["a name much longer than the page is wide ".repeat(9)];
        let many: Vec<_> = (0..40)
            .map(|_| Series {
                name: &names[0],
                ..series(&[(1.0, 1.0)], Style::Both)
            })
            .collect();
        check(&chart("t", LINEAR, LOG, &many));
    }

    #[test]
    fn a_style_draws_what_it_says() {
        let points = [(1.0, 1.0), (2.0, 3.0), (3.0, -1.0), (4.0, 2.0), (5.0, 1.0)];
        let count = |style| {
            let nameless = Series {
                name: "",
                labels: &[],
                ..series(&points, style)
            };
            let picture = chart("t", LINEAR, LOG, &[nameless]);
            let scaled = format!("scale({RADIUS})");
            (
                picture.svg().matches("<polyline").count(),
                picture.svg().matches(&scaled).count(),
            )
        };
        assert_eq!(count(Style::Line), (2, 0));
        assert_eq!(count(Style::Markers), (0, 4));
        assert_eq!(count(Style::Both), (2, 4));
    }

    #[test]
    fn labels_follow_their_points_and_the_legend_moves_away() {
        let points = [(1.0, 1.0), (2.0, -1.0), (3.0, 100.0)];
        let picture = chart("t", LINEAR, LOG, &[series(&points, Style::Both)]);
        for title in ["t", "x", "y", "a", "one", "three"] {
            let title = format!("<title>{title}</title>");
            assert_eq!(picture.svg().matches(&title).count(), 1, "{title}");
        }
        // A cloud everywhere leaves no room inside: the page becomes wider.
        let cloud: Vec<_> = (0..400)
            .map(|at| (f64::from(at % 20), f64::from(at / 20 + 1)))
            .collect();
        let wide = |points| {
            let points = Series {
                labels: &[],
                ..series(points, Style::Markers)
            };
            check(&chart("t", LINEAR, LINEAR, &[points])).width()
        };
        assert!(wide(&cloud) > wide(&cloud[..1]));
    }

    #[test]
    fn thinned_lines_keep_their_extremes() {
        let mut points: Vec<(f64, f64)> =
            (0..9999).map(|at| (f64::from(at) / 400.0, 1.0)).collect();
        points[7777].1 = 100.0;
        let kept = thinned(&points);
        assert!(kept.contains(&points[7777]) && kept.len() < 200);
    }
}
