//! A matrix and its two parts, side by side in the same colours.

use super::Picture;
use super::svg::{Anchor, Canvas, INK, Number, Text, wrapped};
use super::ticks;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The side of a panel.
const PANEL: f64 = 200.0;
/// Between panels: room for a sign.
const GAP: f64 = 34.0;
const MARGIN: f64 = 18.0;
const TOP: f64 = 44.0;
/// Colour bar: from the last panel, and its width.
const BAR_GAP: f64 = 20.0;
const BAR: f64 = 12.0;
/// Right of the bar: its labels.
const LABELS: f64 = 58.0;
const CAPTION: f64 = 12.5;

/// More cells than this on a side would be smaller than pixels.
const MOST_CELLS: usize = 400;
/// Steps of colour on each side of zero.
const LEVELS: f64 = 127.0;

/// Colours from zero outwards, evenly spaced.
const NEGATIVE: [[u8; 3]; 5] = [
    [255, 255, 255],
    [186, 212, 236],
    [96, 156, 208],
    [34, 98, 170],
    [10, 44, 100],
];
const POSITIVE: [[u8; 3]; 5] = [
    [255, 255, 255],
    [248, 200, 182],
    [228, 124, 102],
    [190, 44, 54],
    [108, 12, 34],
];
/// For entries that are not numbers.
const GREY: &str = "#9a9a9a";

/// M = L + S as three heat maps, white at zero, on one scale. Matrices are n × n, row-major; entries
/// that a matrix lacks or that are not finite are grey. Of matrices too large to show, each cell shows
/// the largest of the entries that it covers, so that a sparse part does not fade.
pub(crate) fn decomposition(n: usize, m: &[f64], l: &[f64], s: &[f64], caption: &str) -> Picture {
    let width = MARGIN + 3.0 * PANEL + 2.0 * GAP + BAR_GAP + BAR + LABELS;
    let bottom = TOP + PANEL;
    let lines = wrapped(caption, CAPTION, width - 2.0 * MARGIN);
    let below = match lines.len() {
        0 => MARGIN,
        count => 18.0 + 1.5 * CAPTION * count as f64,
    };
    let mut canvas = Canvas::new(width, bottom + below);
    let limit = [m, l, s]
        .into_iter()
        .flatten()
        .filter(|value| value.is_finite())
        .fold(0.0_f64, |most, value| most.max(value.abs()));

    for (at, (title, values)) in [("M", m), ("L", l), ("S", s)].into_iter().enumerate() {
        let x = MARGIN + at as f64 * (PANEL + GAP);
        canvas.text(Text::new(
            x + PANEL / 2.0,
            TOP - 13.0,
            19.0,
            Anchor::Middle,
            title,
        ));
        panel(&mut canvas, x, n, values, limit);
        if let Some(sign) = ["=", "+"].get(at) {
            let (x, y) = (x + PANEL + GAP / 2.0, TOP + PANEL / 2.0 + 5.4);
            canvas.text(Text::new(x, y, 19.0, Anchor::Middle, sign));
        }
    }
    bar(&mut canvas, width - LABELS - BAR, limit);
    for (at, line) in lines.iter().enumerate() {
        let y = bottom + 12.0 + 1.5 * CAPTION * (at as f64 + 0.8);
        let text = Text::new(width / 2.0, y, CAPTION, Anchor::Middle, line);
        canvas.text(text.within(width - 2.0 * MARGIN));
    }
    canvas.finish()
}

fn panel(canvas: &mut Canvas, x: f64, n: usize, values: &[f64], limit: f64) {
    let cells = n.min(MOST_CELLS);
    // Cells of one colour are one path, and neighbours in a row one rectangle: files stay small.
    let mut paths: BTreeMap<Option<i32>, String> = BTreeMap::new();
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
        }
    }
    if cells > 0 {
        // Without blurred edges, which would show as seams between the cells.
        canvas.raw(format_args!(
            "<g transform=\"translate({} {}) scale({})\" shape-rendering=\"crispEdges\">",
            Number(x),
            Number(TOP),
            PANEL / cells as f64
        ));
        for (level, path) in &paths {
            let fill = level.map_or(GREY.into(), |level| colour(f64::from(level) / LEVELS));
            canvas.raw(format_args!("<path fill=\"{fill}\" d=\"{path}\"/>"));
        }
        canvas.raw(format_args!("</g>"));
    }
    canvas.rect(x, TOP, PANEL, PANEL, "none", Some(INK));
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
fn colour(place: f64) -> String {
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

fn bar(canvas: &mut Canvas, x: f64, limit: f64) {
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
    canvas.rect(x, TOP, BAR, PANEL, "url(#scale)", Some(INK));
    let (mut marks, left_out) = ticks::linear(-limit, limit, 4.5);
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
        let y = TOP + PANEL / 2.0 * (1.0 - part);
        let edge = x + BAR;
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
            ..Text::new(x, TOP - 10.0, 11.5, Anchor::Start, "×10")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn colours_run_from_blue_through_white_to_red() {
        assert_eq!(colour(0.0), "#ffffff");
        assert_eq!(colour(-1.0), "#0a2c64");
        assert_eq!(colour(1.0), "#6c0c22");
        assert_eq!(colour(7.0), "#6c0c22");
    }

    #[test]
    fn signs_show_as_colours_at_their_places() {
        let (m, l, s) = ([0.0, -1.0, 1.0, f64::NAN], [0.0; 4], [0.0; 3]);
        let image = check(&decomposition(2, &m, &l, &s, "a < b"));
        let at = |panel: f64, row: f64, column: f64| {
            let x = MARGIN + panel * (PANEL + GAP) + PANEL * (0.25 + column / 2.0);
            let y = TOP + PANEL * (0.25 + row / 2.0);
            let scale = f64::from(super::super::PIXELS);
            let pixel = image.pixel((x * scale) as u32, (y * scale) as u32).unwrap();
            [pixel.red(), pixel.green(), pixel.blue()]
        };
        assert_eq!(at(0.0, 0.0, 0.0), [255; 3]);
        assert_eq!(at(0.0, 0.0, 1.0), NEGATIVE[4]);
        assert_eq!(at(0.0, 1.0, 0.0), POSITIVE[4]);
        assert_eq!(at(0.0, 1.0, 1.0), [0x9a; 3]);
        assert_eq!(at(1.0, 1.0, 1.0), [255; 3]);
        assert_eq!(at(2.0, 1.0, 1.0), [0x9a; 3]); // s is one entry short
    }

    #[test]
    fn any_size_and_any_numbers() {
        check(&decomposition(0, &[], &[], &[], ""));
        for value in [
            0.0,
            5e-324,
            1e-310,
            1e-7,
            1e7,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
        ] {
            check(&decomposition(1, &[value], &[-value], &[0.0], "one"));
        }
        let n = 1000;
        let mut s = vec![0.0; n * n];
        s[n + 1] = 1.0;
        let picture = decomposition(n, &s, &s, &s, "large");
        check(&picture);
        // The single entry is still there, and the file is not large.
        assert!(
            picture
                .svg()
                .contains("<path fill=\"#6c0c22\" d=\"M0 0h1v1h-1z\"/>")
        );
        assert!(picture.svg().len() < 50_000);
    }
}
