//! Which look belongs to which name.

use super::area::Area;
use super::axes::{FRAME, PAGE};
use super::chart::Series;
use super::glyphs::width;
use super::looks::{Look, PEN};
use super::svg::{Anchor, Canvas, Number, Text};

const SIZE: f64 = 12.0;
const ROW: f64 = 19.0;
/// How wide a piece of line or a lone marker is, and how far it is from the name and the sides.
const LINE: f64 = 34.0;
const MARKER: f64 = 10.0;
const PAD: f64 = 9.0;
/// From the frame, and from everything that must stay visible.
const OFF: f64 = 9.0;
const AIR: f64 = 5.0;

/// A legend with its place; none if no series has a name.
pub(super) struct Legend {
    area: Option<Area>,
}

impl Legend {
    /// In the first place along the frame that hides nothing, or else right of the frame.
    pub(super) fn of(series: &[Series<'_>], hides: impl Fn(&Area) -> bool) -> Legend {
        let names = || {
            series
                .iter()
                .map(|one| one.name)
                .filter(|name| !name.is_empty())
        };
        let rows = names().count();
        if rows == 0 {
            return Legend { area: None };
        }
        let widest = names().fold(0.0_f64, |most, name| most.max(width(name) * SIZE));
        let wide = 3.0 * PAD + sample(series) + widest.min(FRAME.wide() - 100.0);
        let high = ROW * rows as f64 + 9.0;
        let inside = FRAME.grown(-OFF);
        let across = |share: f64| inside.left + share * (inside.wide() - wide);
        let down = |share: f64| inside.top + share * (inside.high() - high);
        let at = |left: f64, top: f64| Area {
            left,
            top,
            right: left + wide,
            bottom: top + high,
        };
        // Corners, then the middles of the sides.
        let places = [
            (1.0, 0.0),
            (0.0, 0.0),
            (1.0, 1.0),
            (0.0, 1.0),
            (1.0, 0.5),
            (0.0, 0.5),
            (0.5, 0.0),
            (0.5, 1.0),
        ];
        let area = places
            .into_iter()
            .map(|(x, y)| at(across(x), down(y)))
            .find(|area| inside.grown(0.01).holds(area) && !hides(&area.grown(AIR)))
            .unwrap_or_else(|| at(FRAME.right + 14.0, FRAME.top));
        Legend { area: Some(area) }
    }

    /// The size of a page that holds the frame and the legend.
    pub(super) fn page(&self) -> (f64, f64) {
        self.area.map_or(PAGE, |area| {
            (
                PAGE.0.max(area.right + 14.0),
                PAGE.1.max(area.bottom + 14.0),
            )
        })
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, series: &[Series<'_>]) {
        let Some(area) = &self.area else { return };
        let (left, top) = (area.left, area.top);
        canvas.rect(
            left,
            top,
            area.wide(),
            area.high(),
            "#ffffff",
            Some("#cccccc"),
        );
        let named = series
            .iter()
            .enumerate()
            .filter(|(_, one)| !one.name.is_empty());
        for (row, (at, one)) in named.enumerate() {
            let look = Look::of(at);
            let y = top + 14.0 + ROW * row as f64;
            let (from, to) = (left + PAD, left + PAD + sample(series));
            if one.style.has_line() {
                let dashes = one.style.dashes(&look);
                canvas.raw(format_args!(
                    "<path d=\"M{} {}H{}\" stroke=\"{}\" stroke-width=\"{PEN}\" stroke-linecap=\"round\" \
                     stroke-dasharray=\"{dashes}\"/>",
                    Number(from),
                    Number(y),
                    Number(to),
                    look.colour
                ));
            }
            if one.style.has_markers() {
                look.marker(canvas, ((from + to) / 2.0, y));
            }
            let text = Text::new(to + PAD, y + 4.2, SIZE, Anchor::Start, one.name);
            canvas.text(text.within(area.right - PAD - to - PAD));
        }
    }
}

fn sample(series: &[Series<'_>]) -> f64 {
    if series.iter().any(|one| one.style.has_line()) {
        LINE
    } else {
        MARKER
    }
}
