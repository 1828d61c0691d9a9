//! Curves on a logarithmic scale, as of losses.

use super::Picture;
use super::axes::{Axis, Scale};
use super::chart::{Series, Style, chart};

/// Curves through points (x, y) with a logarithmic y axis and a legend. Points that such an axis does
/// not have, with y ≤ 0 or not finite, leave a gap.
pub(crate) fn curve(
    title: &str,
    x_label: &str,
    y_label: &str,
    series: &[(&str, &[(f64, f64)])],
) -> Picture {
    let axis = |label, scale| Axis { label, scale };
    let series: Vec<Series<'_>> = series
        .iter()
        .map(|&(name, points)| Series {
            name,
            points,
            style: Style::Line,
        })
        .collect();
    chart(
        title,
        axis(x_label, Scale::Linear),
        axis(y_label, Scale::Log),
        &series,
    )
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
    }
}
