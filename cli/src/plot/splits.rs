//! A matrix and its two parts, side by side in the same colours: by one method or by several.

use super::Picture;
use super::area::Area;
use super::heatmap::{bar, has_grey, key, limit, panel};
use super::svg::{Anchor, Canvas, Text, wrapped};

/// The side of a panel if there is one row of them, and if there are more.
const LARGE: f64 = 200.0;
const SMALL: f64 = 160.0;
/// Between panels: room for a sign.
const GAP: f64 = 34.0;
const ROW_GAP: f64 = 16.0;
const MARGIN: f64 = 18.0;
const TOP: f64 = 44.0;
/// Left of the panels: the names of the rows, if they have any.
const NAMES: f64 = 26.0;
const NAME: f64 = 14.0;
/// Colour bar: from the last panel, and its width.
const BAR_GAP: f64 = 20.0;
const BAR: f64 = 12.0;
/// Right of the bar: its numbers.
const NUMBERS: f64 = 58.0;
const CAPTION: f64 = 12.5;
/// Below the panels: what grey cells mean, if there are any.
const KEY: f64 = 20.0;

/// M = L + S as three heat maps, white at zero, on one scale. Matrices are n × n, row-major; entries
/// that a matrix lacks or that are not finite are grey: they are not known.
pub(crate) fn decomposition(n: usize, m: &[f64], l: &[f64], s: &[f64], caption: &str) -> Picture {
    comparison(n, m, &[("", l, s)], caption)
}

/// The same matrix split by several methods: a row for each (its name, L, S). All panels are on one
/// scale, to the largest magnitude of all, whose bar is right of them.
pub(crate) fn comparison(
    n: usize,
    m: &[f64],
    splits: &[(&str, &[f64], &[f64])],
    caption: &str,
) -> Picture {
    let side = if splits.len() > 1 { SMALL } else { LARGE };
    let named = splits.iter().any(|(name, _, _)| !name.is_empty());
    let first = MARGIN + if named { NAMES } else { 0.0 };
    let end = first + 3.0 * side + 2.0 * GAP;
    let width = end + BAR_GAP + BAR + NUMBERS;
    let step = side + ROW_GAP;
    let bottom = TOP + step * splits.len().max(1) as f64 - ROW_GAP;
    let parts = || splits.iter().flat_map(|&(_, l, s)| [l, s]).chain([m]);
    let grey = !splits.is_empty() && parts().any(|values| has_grey(n, values));
    let under = bottom + if grey { KEY } else { 0.0 };
    let lines = wrapped(caption, CAPTION, width - 2.0 * MARGIN);
    let below = match lines.len() {
        0 => MARGIN,
        count => 18.0 + 1.5 * CAPTION * count as f64,
    };
    let mut canvas = Canvas::new(width, under + below);
    let limit = limit(parts().flatten());

    let left = |column: usize| first + column as f64 * (side + GAP);
    for (column, title) in ["M", "L", "S"].into_iter().enumerate() {
        let x = left(column) + side / 2.0;
        canvas.text(Text::new(x, TOP - 13.0, 19.0, Anchor::Middle, title));
    }
    for (row, &(name, l, s)) in splits.iter().enumerate() {
        let top = TOP + row as f64 * step;
        let middle = top + side / 2.0;
        for (column, values) in [m, l, s].into_iter().enumerate() {
            let area = Area {
                left: left(column),
                top,
                right: left(column) + side,
                bottom: top + side,
            };
            panel(&mut canvas, &area, n, values, limit);
            if let Some(sign) = ["=", "+"].get(column) {
                let x = area.right + GAP / 2.0;
                canvas.text(Text::new(x, middle + 5.4, 19.0, Anchor::Middle, sign));
            }
        }
        let beside = Text {
            upright: true,
            ..Text::new(MARGIN + NAME, middle, NAME, Anchor::Middle, name)
        };
        canvas.text(beside.within(side));
    }
    let scale = Area {
        left: end + BAR_GAP,
        top: TOP,
        right: end + BAR_GAP + BAR,
        bottom,
    };
    bar(&mut canvas, &scale, limit);
    if grey {
        key(&mut canvas, (first, bottom + 8.0));
    }
    for (at, line) in lines.iter().enumerate() {
        let y = under + 12.0 + 1.5 * CAPTION * (at as f64 + 0.8);
        let text = Text::new(width / 2.0, y, CAPTION, Anchor::Middle, line);
        canvas.text(text.within(width - 2.0 * MARGIN));
    }
    canvas.finish()
}

#[cfg(test)]
mod tests {
    use super::super::heatmap::{NEGATIVE, POSITIVE};
    use super::super::tests::check;
    use super::*;

    #[test]
    fn every_method_has_a_row_on_the_common_scale() {
        // The largest entry of all is in the second row only, and half of it in the first.
        let (m, zero) = ([0.5], [0.0]);
        let picture = comparison(
            1,
            &m,
            &[("a & b", &m, &zero), ("c", &[1.0], &[-1.0])],
            "both",
        );
        for title in ["a &amp; b", "c", "both", "M", "L", "S"] {
            let title = format!("<title>{title}</title>");
            assert_eq!(picture.svg().matches(&title).count(), 1, "{title}");
        }
        assert_eq!(picture.svg().matches("<linearGradient").count(), 1);
        let image = check(&picture);
        let at = |row: f64, column: f64| {
            let x = MARGIN + NAMES + column * (SMALL + GAP) + SMALL / 2.0;
            let y = TOP + row * (SMALL + ROW_GAP) + SMALL / 2.0;
            let scale = f64::from(super::super::PIXELS);
            let pixel = image.pixel((x * scale) as u32, (y * scale) as u32).unwrap();
            [pixel.red(), pixel.green(), pixel.blue()]
        };
        assert_eq!(at(0.0, 0.0), at(0.0, 1.0));
        assert_eq!(at(0.0, 0.0), at(1.0, 0.0));
        assert_eq!(at(0.0, 2.0), [255; 3]);
        assert_eq!(at(1.0, 1.0), POSITIVE[4]);
        assert_eq!(at(1.0, 2.0), NEGATIVE[4]);
    }

    #[test]
    fn any_number_of_methods() {
        let long = "a method with a name that is far too long for the side of its panels".repeat(3);
        for count in [0, 1, 2, 12] {
            let row: (&str, &[f64], &[f64]) = (&long, &[], &[f64::NAN]);
            check(&comparison(1, &[1.0], &vec![row; count], &long));
        }
    }

    #[test]
    fn signs_show_as_colours_at_their_places() {
        let (m, l, s) = ([0.0, -1.0, 1.0, f64::NAN], [0.0; 4], [0.0; 3]);
        let picture = decomposition(2, &m, &l, &s, "a < b");
        let known = "<title>not known</title>";
        assert_eq!(picture.svg().matches(known).count(), 1);
        assert!(!decomposition(2, &l, &l, &l, "").svg().contains(known));
        let image = check(&picture);
        // Beside the line across a grey cell.
        let at = |panel: f64, row: f64, column: f64| {
            let x = MARGIN + panel * (LARGE + GAP) + LARGE * (0.33 + column / 2.0);
            let y = TOP + LARGE * (0.25 + row / 2.0);
            let scale = f64::from(super::super::PIXELS);
            let pixel = image.pixel((x * scale) as u32, (y * scale) as u32).unwrap();
            [pixel.red(), pixel.green(), pixel.blue()]
        };
        assert_eq!(at(0.0, 0.0, 0.0), [255; 3]);
        assert_eq!(at(0.0, 0.0, 1.0), NEGATIVE[4]);
        assert_eq!(at(0.0, 1.0, 0.0), POSITIVE[4]);
        assert_eq!(at(0.0, 1.0, 1.0), [0x9a; 3]);
        assert_eq!(at(0.0, 1.0, 0.84), [255; 3]); // the line
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
