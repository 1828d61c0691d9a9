//! Points and lines between two axes.

use super::Picture;
use super::area::{Area, Segment};
use super::axes::{self, Axis, PAGE, Range, Scale};
use super::drawn::Drawn;
use super::legend::Legend;
use super::looks::{Look, SOLID};
use super::svg::Canvas;

/// Points that belong together.
pub(crate) struct Series<'a> {
    /// For the legend; a series without a name is not in it.
    pub(crate) name: &'a str,
    /// (x, y). A point that an axis does not have is not drawn and leaves a gap in the line.
    pub(crate) points: &'a [(f64, f64)],
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
/// of the frame.
pub(crate) fn chart(title: &str, x: Axis<'_>, y: Axis<'_>, series: &[Series<'_>]) -> Picture {
    let has = |point: &(f64, f64)| x.scale.has(point.0) && y.scale.has(point.1);
    let points = || {
        series
            .iter()
            .flat_map(|one| one.points)
            .filter(|at| has(at))
    };
    // Markers need room to the frame.
    let margin = if series.iter().any(|one| one.style.has_markers()) {
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
    let legend = Legend::of(series, |area| {
        markers.iter().any(|marker| area.overlaps(marker))
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
    legend.draw(&mut canvas, series);
    canvas.finish()
}

#[cfg(test)]
mod tests {
    use super::super::looks::RADIUS;
    use super::super::tests::{check, parsed};
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
                    parsed(&chart("t", x, y, &[series(points, style)]));
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
    fn names_are_written_once_and_the_legend_moves_away() {
        let points = [(1.0, 1.0), (2.0, -1.0), (3.0, 100.0)];
        let picture = chart("t", LINEAR, LOG, &[series(&points, Style::Both)]);
        for title in ["t", "x", "y", "a"] {
            let title = format!("<title>{title}</title>");
            assert_eq!(picture.svg().matches(&title).count(), 1, "{title}");
        }
        // A cloud everywhere leaves no room inside: the page becomes wider.
        let cloud: Vec<_> = (0..400)
            .map(|at| (f64::from(at % 20), f64::from(at / 20 + 1)))
            .collect();
        let wide = |points| {
            let points = series(points, Style::Markers);
            check(&chart("t", LINEAR, LINEAR, &[points])).width()
        };
        assert!(wide(&cloud) > wide(&cloud[..1]));
    }
}
