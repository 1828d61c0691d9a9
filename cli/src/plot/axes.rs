//! The frame of a chart: its two axes with marks, numbers, labels and a grid.

use super::area::Area;
use super::svg::{Anchor, Canvas, INK, Text};
use super::ticks::{self, Tick};

const HEIGHT: f64 = 380.0;
const WIDTH: f64 = 560.0;
/// The size of a chart, unless its legend needs more.
pub(super) const PAGE: (f64, f64) = (WIDTH, HEIGHT);
/// The inside of the axes.
pub(super) const FRAME: Area = Area {
    left: 78.0,
    top: 46.0,
    right: WIDTH - 24.0,
    bottom: HEIGHT - 58.0,
};

const SMALL: f64 = 12.0;
const LABEL: f64 = 13.5;
const TITLE: f64 = 15.5;
const GRID: &str = "#e4e4e4";
/// The x of the label beside the y axis, and between the numbers of that axis and the frame.
const BESIDE: f64 = 22.0;
const OFF: f64 = 9.0;

/// What an axis measures, and how.
#[derive(Clone, Copy)]
pub(crate) struct Axis<'a> {
    pub(crate) label: &'a str,
    pub(crate) scale: Scale,
}

/// How values become places.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    /// Only positive values have a place.
    Log,
}

/// The part of an axis that a chart shows. Its ends are logarithms if the scale is.
pub(super) struct Range {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Scale {
    /// Whether an axis with this scale has the value.
    pub(super) fn has(self, value: f64) -> bool {
        value.is_finite() && (self == Scale::Linear || value > 0.0)
    }

    fn place(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }
}

impl Range {
    /// Over all values that the scale has, and a share of their span on both sides; none if there are
    /// no such values.
    pub(super) fn over(
        scale: Scale,
        values: impl Iterator<Item = f64>,
        margin: f64,
    ) -> Option<Range> {
        let (low, high) = values
            .filter(|&value| scale.has(value))
            .map(|value| (scale.place(value), scale.place(value)))
            .reduce(|(low, high), (value, _)| (low.min(value), high.max(value)))?;
        let span = high - low;
        let wider = if span > 1e-6 * low.abs().max(high.abs()) {
            margin * span
        } else {
            // One value: in the middle.
            (0.05 * high.abs()).max(0.5)
        };
        Some(Range {
            scale,
            low: low - wider,
            high: high + wider,
        })
    }

    /// 0 at the low end, 1 at the high end.
    pub(super) fn part(&self, value: f64) -> f64 {
        self.part_of_place(self.scale.place(value))
    }

    fn part_of_place(&self, place: f64) -> f64 {
        // Halves, since the span of two finite numbers need not be finite.
        let part = (place / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        if part.is_finite() { part } else { 0.5 }
    }

    /// Marks with numbers, marks without, and the power of ten that the numbers leave out.
    fn marks(&self) -> (Vec<Tick>, Vec<f64>, i32) {
        match self.scale {
            Scale::Linear => {
                let (ticks, left_out) = ticks::linear(self.low, self.high, 5.0);
                (ticks, Vec::new(), left_out)
            }
            Scale::Log => {
                let (ticks, minor) = ticks::logarithmic(self.low, self.high);
                (ticks, minor, 0)
            }
        }
    }
}

/// Where a chart shows a point.
pub(super) fn place(x: &Range, y: &Range, point: (f64, f64)) -> (f64, f64) {
    (
        FRAME.left + x.part(point.0) * FRAME.wide(),
        FRAME.bottom - y.part(point.1) * FRAME.high(),
    )
}

/// The title and the labels of both axes.
pub(super) fn titles(canvas: &mut Canvas, title: &str, x: Axis<'_>, y: Axis<'_>) {
    let (across, down) = FRAME.middle();
    let centred = |y: f64, size: f64, text| Text::new(across, y, size, Anchor::Middle, text);
    canvas.text(centred(FRAME.top - 18.0, TITLE, title).within(FRAME.wide()));
    canvas.text(centred(HEIGHT - 14.0, LABEL, x.label).within(0.8 * FRAME.wide()));
    let beside = Text {
        x: BESIDE,
        upright: true,
        ..centred(down, LABEL, y.label)
    };
    canvas.text(beside.within(FRAME.high()));
}

/// An empty frame with a word inside.
pub(super) fn empty(canvas: &mut Canvas, why: &str) {
    frame(canvas);
    let (x, y) = FRAME.middle();
    canvas.text(Text::new(x, y, LABEL, Anchor::Middle, why));
}

pub(super) fn frame(canvas: &mut Canvas) {
    let Area { left, top, .. } = FRAME;
    canvas.rect(left, top, FRAME.wide(), FRAME.high(), "none", Some(INK));
}

/// Marks, numbers and the grid of both axes.
pub(super) fn axes(canvas: &mut Canvas, x: &Range, y: &Range) {
    let Area {
        left,
        top,
        right,
        bottom,
    } = FRAME;
    let across = |at: f64| left + x.part_of_place(at) * FRAME.wide();
    let down = |at: f64| bottom - y.part_of_place(at) * FRAME.high();

    let (marks, minor, left_out) = x.marks();
    for at in minor.into_iter().map(across) {
        canvas.line((at, bottom), (at, bottom + 3.0), INK, 0.6);
    }
    let places: Vec<f64> = marks.iter().map(|tick| across(tick.value)).collect();
    let numbers: Vec<Text<'_>> = marks
        .iter()
        .zip(&places)
        .map(|(tick, &at)| Text {
            exponent: &tick.exponent,
            ..Text::new(at, bottom + 19.0, SMALL, Anchor::Middle, &tick.label)
        })
        .filter(|text| text.x + text.width() / 2.0 < WIDTH - 3.0)
        .collect();
    for &at in &places {
        canvas.line((at, top), (at, bottom), GRID, 0.8);
        canvas.line((at, bottom), (at, bottom + 5.0), INK, 0.8);
    }
    for text in numbers.iter().step_by(stride(&numbers)) {
        canvas.text(*text);
    }
    power(canvas, left_out, (right, bottom + 36.0));

    let (marks, minor, left_out) = y.marks();
    for at in minor.into_iter().map(down) {
        canvas.line((left - 3.0, at), (left, at), INK, 0.6);
    }
    for tick in &marks {
        let at = down(tick.value);
        canvas.line((left, at), (right, at), GRID, 0.8);
        canvas.line((left - 5.0, at), (left, at), INK, 0.8);
        let text = Text {
            exponent: &tick.exponent,
            ..Text::new(left - OFF, at + 4.4, SMALL, Anchor::End, &tick.label)
        };
        canvas.text(text.within(left - OFF - BESIDE - 6.0));
    }
    power(canvas, left_out, (left - OFF, top - 9.0));
}

/// Every how manieth number fits beside the others.
fn stride(numbers: &[Text<'_>]) -> usize {
    let fits = |pair: &[&Text<'_>]| {
        let room = (pair[0].width() + pair[1].width()) / 2.0 + 5.0;
        pair[1].x - pair[0].x >= room
    };
    (1..=numbers.len())
        .find(|&stride| {
            let kept: Vec<&Text<'_>> = numbers.iter().step_by(stride).collect();
            kept.windows(2).all(fits)
        })
        .unwrap_or(1)
}

/// The power of ten that all numbers of an axis leave out.
fn power(canvas: &mut Canvas, left_out: i32, (x, y): (f64, f64)) {
    if left_out != 0 {
        let exponent = ticks::signed(&left_out.to_string());
        canvas.text(Text {
            exponent: &exponent,
            ..Text::new(x, y, SMALL, Anchor::End, "×10")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_would_touch_are_left_out_evenly() {
        let row = |step: f64| -> Vec<Text<'static>> {
            (0..7)
                .map(|at| Text::new(f64::from(at) * step, 0.0, 12.0, Anchor::Middle, "0.0001"))
                .collect()
        };
        let wide = row(0.0)[0].width();
        assert_eq!(stride(&row(wide + 6.0)), 1);
        assert_eq!(stride(&row(wide + 4.0)), 2);
        assert_eq!(stride(&row(0.0)), 7);
        assert_eq!(stride(&[]), 1);
    }

    #[test]
    fn scales_take_what_they_can_show() {
        let values = || [-1.0, 0.0, 1.0, 100.0, f64::NAN, f64::INFINITY].into_iter();
        let log = Range::over(Scale::Log, values(), 0.0).unwrap();
        assert_eq!((log.low, log.high, log.part(10.0)), (0.0, 2.0, 0.5));
        let linear = Range::over(Scale::Linear, values(), 0.0).unwrap();
        assert_eq!((linear.low, linear.high), (-1.0, 100.0));
        assert!(Range::over(Scale::Log, [-1.0, 0.0].into_iter(), 0.0).is_none());
    }
}
