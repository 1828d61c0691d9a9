//! What tells one series from another: colour, dashes and the shape of its markers, so that print
//! without colours and eyes that see few of them lose nothing.

use super::svg::{Canvas, Number};

pub(super) const PEN: f64 = 1.7;
/// The dashes of a line that has none.
pub(super) const SOLID: &str = "none";
/// Half the width of a marker, roughly.
pub(super) const RADIUS: f64 = 4.2;

/// Neighbours differ in lightness too.
const COLOURS: [&str; 8] = [
    "#1f5fa8", "#d9542b", "#008a6e", "#dc9a00", "#5b3a8c", "#3aa5d4", "#222222", "#b8437d",
];
/// Lengths of strokes and gaps, as SVG has them; the round ends of the pen make each stroke longer by its width.
const DASHES: [&str; 8] = [
    SOLID,
    "7 4.5",
    "0.1 4",
    "8 4.5 0.1 4.5",
    "3 4",
    "14 4.5",
    "8 4.5 0.1 4 0.1 4.5",
    "14 4.5 3 4.5",
];
/// Around the middle, for a radius of 1; and whether they are filled.
const SHAPES: [(&str, Fill); 8] = [
    ("M-1 0a1 1 0 1 1 2 0a1 1 0 1 1 -2 0z", Fill::Full),
    ("M-.9 -.9H.9V.9H-.9z", Fill::Full),
    ("M0 -1.15L1.1 .8H-1.1z", Fill::Full),
    ("M0 -1.25L1.1 0L0 1.25L-1.1 0z", Fill::Hollow),
    ("M-.95 -.95L.95 .95M.95 -.95L-.95 .95", Fill::None),
    (
        "M-.95 0a.95 .95 0 1 1 1.9 0a.95 .95 0 1 1 -1.9 0z",
        Fill::Hollow,
    ),
    ("M0 1.15L1.1 -.8H-1.1z", Fill::Full),
    ("M-1.15 0H1.15M0 -1.15V1.15", Fill::None),
];

enum Fill {
    Full,
    Hollow,
    None,
}

/// The look of one series.
pub(super) struct Look {
    pub(super) colour: &'static str,
    pub(super) dashes: &'static str,
    shape: &'static (&'static str, Fill),
}

impl Look {
    /// Of the series at this place, from 0. The first 64 differ in colour or in shape.
    pub(super) fn of(at: usize) -> Look {
        let count = COLOURS.len();
        let turned = (at + at / count) % count;
        Look {
            colour: COLOURS[at % count],
            dashes: DASHES[turned],
            shape: &SHAPES[turned],
        }
    }

    pub(super) fn marker(&self, canvas: &mut Canvas, (x, y): (f64, f64)) {
        let (path, fill) = self.shape;
        let colour = self.colour;
        // Full markers get a thin white edge, so that one upon another still shows.
        let (fill, edge, pen) = match fill {
            Fill::Full => (colour, "#ffffff", 0.7),
            Fill::Hollow => ("#ffffff", colour, 1.5),
            Fill::None => ("none", colour, 1.8),
        };
        let (x, y) = (Number(x), Number(y));
        canvas.raw(format_args!(
            "<path transform=\"translate({x} {y}) scale({RADIUS})\" d=\"{path}\" fill=\"{fill}\" stroke=\"{edge}\" \
             stroke-width=\"{:.3}\"/>",
            pen / RADIUS
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn eight_series_differ_in_every_way_and_more_in_some() {
        let count = |f: fn(&Look) -> &'static str| {
            let all: BTreeSet<_> = (0..8).map(|at| f(&Look::of(at))).collect();
            all.len()
        };
        assert_eq!(count(|look| look.colour), 8);
        assert_eq!(count(|look| look.dashes), 8);
        assert_eq!(count(|look| look.shape.0), 8);
        let all: BTreeSet<_> = (0..64)
            .map(|at| (Look::of(at).colour, Look::of(at).shape.0))
            .collect();
        assert_eq!(all.len(), 64);
    }

    #[test]
    fn neighbours_differ_in_grey() {
        let grey = |at: usize| -> f64 {
            let colour = COLOURS[at];
            let part = |from: usize| u8::from_str_radix(&colour[from..from + 2], 16).unwrap();
            0.3 * f64::from(part(1)) + 0.59 * f64::from(part(3)) + 0.11 * f64::from(part(5))
        };
        for at in 1..COLOURS.len() {
            assert!((grey(at) - grey(at - 1)).abs() > 20.0, "{at}");
        }
    }
}
