//! One series of a chart: where its points are on the page, and its lines and markers.

use super::area::{Area, Segment};
use super::chart::{Series, Style};
use super::looks::{Look, PEN, RADIUS};
use super::svg::Canvas;

/// A series in the units of the page.
pub(super) struct Drawn {
    style: Style,
    /// Of every point; none if an axis does not have it.
    places: Vec<Option<(f64, f64)>>,
    /// Lines without gaps.
    runs: Vec<Vec<(f64, f64)>>,
}

impl Drawn {
    pub(super) fn of(
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

    pub(super) fn segments(&self) -> impl Iterator<Item = Segment> {
        self.runs
            .iter()
            .flat_map(|run| run.windows(2).map(|pair| (pair[0], pair[1])))
    }

    /// What markers cover; the dot that a line of one point is counts as one.
    pub(super) fn areas(&self) -> Vec<Area> {
        let around = |&at: &(f64, f64)| Area::around(at, 2.0 * RADIUS, 2.0 * RADIUS);
        if self.style.has_markers() {
            self.places.iter().flatten().map(around).collect()
        } else {
            let single = self.runs.iter().filter(|run| run.len() == 1);
            single.flatten().map(around).collect()
        }
    }

    pub(super) fn lines(&self, canvas: &mut Canvas, look: &Look) {
        for run in &self.runs {
            canvas.polyline(run, look.colour, PEN, self.style.dashes(look));
        }
    }

    pub(super) fn markers(&self, canvas: &mut Canvas, look: &Look) {
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
    use super::*;

    #[test]
    fn thinned_lines_keep_their_extremes() {
        let mut points: Vec<(f64, f64)> =
            (0..9999).map(|at| (f64::from(at) / 400.0, 1.0)).collect();
        points[7777].1 = 100.0;
        let kept = thinned(&points);
        assert!(kept.contains(&points[7777]) && kept.len() < 200);
    }
}
