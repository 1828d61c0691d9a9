//! A table of ratios in colours: blue where the ratio is above one, red where it is below.

use super::Picture;
use super::heatmap::colour;
use super::svg::{Anchor, Canvas, INK, Text};

/// A cell.
const WIDE: f64 = 46.0;
const HIGH: f64 = 19.0;
const NUMBER: f64 = 11.0;
const NAME: f64 = 12.0;
const TITLE: f64 = 15.0;
const MARGIN: f64 = 16.0;
/// Between the rows of one group and those of the next.
const GAP: f64 = 6.0;
/// Ratios of this and more, or of its inverse and less, have the last colour.
const MOST: f64 = 100.0;
/// The share of the scale of colours that is used: numbers must stay readable upon them.
const SHADE: f64 = 0.5;
/// For cells whose ratio means nothing.
const PALE: &str = "#e9e9e2";
/// Ratios below this have a frame.
const LOSS: f64 = 1.0 / 1.1;
/// Cells of the scale below: from the best to the worst for the reader.
const SCALE: [f64; 7] = [100.0, 10.0, 3.0, 1.0, 0.33, 0.1, 0.01];

/// A row of ratios.
pub(crate) struct Ratios<'a> {
    pub(crate) name: &'a str,
    /// Rows of one group stand together.
    pub(crate) group: usize,
    /// None where there is no ratio.
    pub(crate) cells: Vec<Option<RatioCell>>,
}

/// A cell of it.
#[derive(Clone)]
pub(crate) struct RatioCell {
    /// What is written into it.
    pub(crate) text: String,
    pub(crate) ratio: f64,
    /// Whether it has a colour: some ratios mean nothing.
    pub(crate) counts: bool,
}

/// The table, with the names of the columns above it; below it a scale with a word at either end, what a cell without
/// colour means, and where all of it comes from.
pub(crate) fn ratios(
    title: &str,
    columns: &[&str],
    rows: &[Ratios<'_>],
    (above, below): (&str, &str),
    (pale, origin): (&str, &str),
) -> Picture {
    let size = |text: &str| Text::new(0.0, 0.0, NAME, Anchor::Start, text).width();
    let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
    let left = MARGIN + widest(&mut rows.iter().map(|row| size(row.name))) + 10.0;
    let top = MARGIN + TITLE + 16.0 + widest(&mut columns.iter().map(|name| size(name))) + 8.0;
    let mut places = Vec::new();
    let mut y = top;
    for (at, row) in rows.iter().enumerate() {
        if at > 0 && rows[at - 1].group != row.group {
            y += GAP;
        }
        places.push(y);
        y += HIGH;
    }
    let width = left + WIDE * columns.len() as f64 + MARGIN;
    let words = [above, below, pale].map(size);
    let scale = WIDE * (SCALE.len() + 1) as f64 + words.iter().sum::<f64>() + 48.0;
    let width = width.max(scale + 2.0 * MARGIN);
    let mut canvas = Canvas::new(width, y + 22.0 + HIGH + 24.0 + MARGIN);
    let heading = Text::new(width / 2.0, MARGIN + TITLE, TITLE, Anchor::Middle, title);
    canvas.text(heading.within(width - 2.0 * MARGIN));
    for (at, name) in columns.iter().enumerate() {
        let x = left + WIDE * (at as f64 + 0.5) + 4.0;
        canvas.text(Text {
            upright: true,
            ..Text::new(x, top - 8.0, NAME, Anchor::Start, name)
        });
    }
    for (row, &y) in rows.iter().zip(&places) {
        let baseline = y + HIGH / 2.0 + 4.4;
        let name = Text::new(left - 8.0, baseline, NAME, Anchor::End, row.name);
        canvas.text(name);
        for (at, value) in row.cells.iter().enumerate() {
            if let Some(value) = value {
                cell(&mut canvas, (left + WIDE * at as f64, y), value);
            }
        }
    }
    // The scale, in the middle below.
    let (x, y) = ((width - scale) / 2.0, y + 22.0);
    let first = x + words[0] + 10.0;
    let end = first + WIDE * SCALE.len() as f64;
    let baseline = y + HIGH / 2.0 + 4.4;
    canvas.text(Text::new(first - 10.0, baseline, NAME, Anchor::End, above));
    for (at, ratio) in SCALE.into_iter().enumerate() {
        let text = match at {
            0 => format!("≥ {ratio}"),
            at if at + 1 == SCALE.len() => format!("≤ {ratio}"),
            _ => ratio.to_string(),
        };
        let x = first + WIDE * at as f64;
        let counts = true;
        cell(
            &mut canvas,
            (x, y),
            &RatioCell {
                text,
                ratio,
                counts,
            },
        );
    }
    canvas.text(Text::new(end + 10.0, baseline, NAME, Anchor::Start, below));
    let last = end + 10.0 + words[1] + 18.0;
    canvas.rect(last, y, WIDE, HIGH, PALE, Some("#ffffff"));
    let beside = last + WIDE + 10.0;
    canvas.text(Text::new(beside, baseline, NAME, Anchor::Start, pale));
    let place = (width / 2.0, y + HIGH + 22.0);
    let origin = Text::new(place.0, place.1, NUMBER, Anchor::Middle, origin);
    canvas.text(origin.within(width - 2.0 * MARGIN));
    canvas.finish()
}

fn cell(canvas: &mut Canvas, (x, y): (f64, f64), cell: &RatioCell) {
    let fill = match cell.counts {
        true => shade(cell.ratio),
        false => PALE.to_owned(),
    };
    canvas.rect(x, y, WIDE, HIGH, &fill, Some("#ffffff"));
    let (middle, baseline) = (x + WIDE / 2.0, y + HIGH / 2.0 + 4.0);
    let text = Text::new(middle, baseline, NUMBER, Anchor::Middle, &cell.text);
    canvas.text(text.within(WIDE - 6.0));
    // Print without colours shows losses, too.
    if cell.counts && cell.ratio < LOSS {
        let (wide, high) = (WIDE - 3.0, HIGH - 3.0);
        canvas.rect(x + 1.5, y + 1.5, wide, high, "none", Some(INK));
    }
}

/// Blue above one, red below.
fn shade(ratio: f64) -> String {
    let place = (ratio.ln() / MOST.ln()).clamp(-1.0, 1.0);
    if place.is_nan() {
        return PALE.to_owned();
    }
    colour(-SHADE * place)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn blue_is_above_one_and_red_below() {
        let parts = |ratio: f64| {
            let colour = shade(ratio);
            [1, 3, 5].map(|at| u8::from_str_radix(&colour[at..at + 2], 16).unwrap())
        };
        assert_eq!(parts(1.0), [255; 3]);
        let [[r, _, b], [red, _, blue]] = [parts(50.0), parts(0.02)];
        assert!(b > r && red > blue);
        assert_eq!(parts(1e9), parts(MOST));
        assert_eq!(shade(f64::NAN), PALE);
    }

    #[test]
    fn any_table_can_be_drawn() {
        let row = |name, cells| Ratios {
            name,
            group: 0,
            cells,
        };
        let cell = |text: &str, ratio, counts| {
            let text = text.to_owned();
            Some(RatioCell {
                text,
                ratio,
                counts,
            })
        };
        let some = vec![cell("8.4", 8.4, true), None, cell("0", 0.0, false)];
        let picture = ratios(
            "title",
            &["a", "long <name>", "c"],
            &[row("first", some), row("", Vec::new())],
            ("better", "worse"),
            ("even", "from here"),
        );
        check(&picture);
        assert!(picture.svg().contains("<title>8.4</title>"));
        check(&ratios("", &[], &[], ("", ""), ("", "")));
    }
}
