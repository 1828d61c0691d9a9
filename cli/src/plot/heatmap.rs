//! Matrices as coloured cells, white at zero.

use super::area::Area;
use super::svg::{Anchor, Canvas, INK, Number, Text};
use super::ticks;
use std::collections::BTreeMap;
use std::fmt::Write;

/// More cells than this on a side would be smaller than pixels.
const MOST_CELLS: usize = 400;
/// Steps of colour on each side of zero.
const LEVELS: f64 = 127.0;

/// Colours from zero outwards, evenly spaced.
pub(super) const NEGATIVE: [[u8; 3]; 5] = [
    [255, 255, 255],
    [186, 212, 236],
    [96, 156, 208],
    [34, 98, 170],
    [10, 44, 100],
];
pub(super) const POSITIVE: [[u8; 3]; 5] = [
    [255, 255, 255],
    [248, 200, 182],
    [228, 124, 102],
    [190, 44, 54],
    [108, 12, 34],
];
/// For entries that are not numbers, with a line across each cell, so that print without colours tells them apart.
const GREY: &str = "#9a9a9a";
/// More cells than this on a side would have lines too thin to see.
const MOST_LINES: usize = 100;
/// In cells.
const LINE: f64 = 0.1;
/// The square and the words that explain grey cells.
const KEY: f64 = 11.0;
const WORDS: f64 = 12.0;

/// The largest magnitude of all values that are numbers: where the scale of colours ends.
pub(super) fn limit<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    values
        .filter(|value| value.is_finite())
        .fold(0.0_f64, |most, value| most.max(value.abs()))
}

/// Whether a matrix has entries that would be grey.
pub(super) fn has_grey(n: usize, values: &[f64]) -> bool {
    values.len() < n * n || values.iter().any(|value| !value.is_finite())
}

/// What grey cells mean: a cell and words, with its corner at (x, y).
pub(super) fn key(canvas: &mut Canvas, (x, y): (f64, f64)) {
    let area = Area {
        left: x,
        top: y,
        right: x + KEY,
        bottom: y + KEY,
    };
    panel(canvas, &area, 1, &[f64::NAN], 1.0);
    let (x, y) = (x + 1.6 * KEY, y + KEY - 1.2);
    canvas.text(Text::new(x, y, WORDS, Anchor::Start, "not known"));
}

/// A matrix as a square of coloured cells. Entries that it lacks or that are not finite are grey. Of a
/// matrix too large to show, each cell shows the largest of the entries that it covers, so that a sparse
/// part does not fade.
pub(super) fn panel(canvas: &mut Canvas, area: &Area, n: usize, values: &[f64], limit: f64) {
    let cells = n.min(MOST_CELLS);
    // Cells of one colour are one path, and neighbours in a row one rectangle: files stay small.
    let mut paths: BTreeMap<Option<i32>, String> = BTreeMap::new();
    let mut lines = String::new();
    for row in 0..cells {
        let mut column = 0;
        while column < cells {
            let colour = level(largest(values, n, cells, row, column), limit);
            let start = column;
            while column < cells && level(largest(values, n, cells, row, column), limit) == colour {
                column += 1;
            }
            // The panel is white already.
            if colour != Some(0) {
                let run = column - start;
                let _ = write!(
                    paths.entry(colour).or_default(),
                    "M{start} {row}h{run}v1h-{run}z"
                );
            }
            if colour.is_none() && cells <= MOST_LINES {
                let below = row + 1;
                for start in start..column {
                    let _ = write!(lines, "M{start} {below}l1 -1");
                }
            }
        }
    }
    if cells > 0 {
        // Without blurred edges, which would show as seams between the cells.
        canvas.raw(format_args!(
            "<g transform=\"translate({} {}) scale({})\" shape-rendering=\"crispEdges\">",
            Number(area.left),
            Number(area.top),
            area.wide() / cells as f64
        ));
        for (level, path) in &paths {
            let fill = level.map_or(GREY.into(), |level| colour(f64::from(level) / LEVELS));
            canvas.raw(format_args!("<path fill=\"{fill}\" d=\"{path}\"/>"));
        }
        if !lines.is_empty() {
            canvas.raw(format_args!(
                "<path fill=\"none\" stroke=\"#ffffff\" stroke-width=\"{LINE}\" shape-rendering=\"auto\" \
                 d=\"{lines}\"/>"
            ));
        }
        canvas.raw(format_args!("</g>"));
    }
    framed(canvas, area, "none");
}

/// The largest entry, by magnitude, that a cell covers; NaN if one of them is not a number.
fn largest(values: &[f64], n: usize, cells: usize, row: usize, column: usize) -> f64 {
    let span = |cell: usize| cell * n / cells..(cell + 1) * n / cells;
    let mut most = 0.0_f64;
    for i in span(row) {
        for j in span(column) {
            match values.get(i * n + j) {
                Some(value) if value.is_finite() => {
                    if value.abs() > most.abs() {
                        most = *value;
                    }
                }
                _ => return f64::NAN,
            }
        }
    }
    most
}

/// The step of colour of a value; none if it is not a number.
fn level(value: f64, limit: f64) -> Option<i32> {
    if value == 0.0 {
        return Some(0);
    }
    let level = (value / limit * LEVELS).round();
    level.is_finite().then_some(level as i32)
}

/// The colour of a place on the scale from −1 to 1.
pub(super) fn colour(place: f64) -> String {
    let side = if place < 0.0 { &NEGATIVE } else { &POSITIVE };
    let last = side.len() - 1;
    let place = place.abs().min(1.0) * last as f64;
    let below = (place as usize).min(last - 1);
    let share = place - below as f64;
    let [r, g, b] = std::array::from_fn(|c| {
        let (from, to) = (f64::from(side[below][c]), f64::from(side[below + 1][c]));
        (from + share * (to - from)).round() as u8
    });
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// The scale from −`limit` to `limit`, with numbers right of it. A page has one.
pub(super) fn bar(canvas: &mut Canvas, area: &Area, limit: f64) {
    canvas.raw(format_args!(
        "<linearGradient id=\"scale\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">"
    ));
    for at in 0..=8 {
        let place = f64::from(at) / 8.0;
        let colour = colour(1.0 - 2.0 * place);
        canvas.raw(format_args!(
            "<stop offset=\"{place}\" stop-color=\"{colour}\"/>"
        ));
    }
    canvas.raw(format_args!("</linearGradient>"));
    framed(canvas, area, "url(#scale)");
    // A longer bar has more numbers.
    let wanted = (area.high() / 45.0).clamp(2.0, 10.0);
    let (mut marks, left_out) = ticks::linear(-limit, limit, wanted);
    if marks.is_empty() {
        // Nothing but zeros.
        marks.push(ticks::Tick {
            value: 0.0,
            label: "0".into(),
            exponent: String::new(),
        });
    }
    for tick in &marks {
        let part = if limit > 0.0 { tick.value / limit } else { 0.0 };
        let y = area.top + area.high() / 2.0 * (1.0 - part);
        let edge = area.right;
        canvas.line((edge, y), (edge + 4.0, y), INK, 0.8);
        canvas.text(Text::new(
            edge + 8.0,
            y + 4.2,
            11.5,
            Anchor::Start,
            &tick.label,
        ));
    }
    if left_out != 0 {
        let exponent = ticks::signed(&left_out.to_string());
        canvas.text(Text {
            exponent: &exponent,
            ..Text::new(area.left, area.top - 10.0, 11.5, Anchor::Start, "×10")
        });
    }
}

fn framed(canvas: &mut Canvas, area: &Area, fill: &str) {
    let (wide, high) = (area.wide(), area.high());
    canvas.rect(area.left, area.top, wide, high, fill, Some(INK));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_run_from_blue_through_white_to_red() {
        assert_eq!(colour(0.0), "#ffffff");
        assert_eq!(colour(-1.0), "#0a2c64");
        assert_eq!(colour(1.0), "#6c0c22");
        assert_eq!(colour(7.0), "#6c0c22");
    }
}
