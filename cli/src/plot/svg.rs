//! The few shapes that pictures here are made of.

use super::Picture;
use super::glyphs::{EM, PEN, glyph, width};
use std::fmt::{self, Write};

/// The colour of text and frames.
pub(super) const INK: &str = "#222222";

/// An SVG document in the making.
pub(super) struct Canvas {
    body: String,
    width: f64,
    height: f64,
}

/// A line of text. Its anchor is at (x, y) on the baseline.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) text: &'a str,
    /// Set smaller and higher after the text.
    pub(super) exponent: &'a str,
    /// Reads upwards.
    pub(super) upright: bool,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl<'a> Text<'a> {
    pub(super) fn new(x: f64, y: f64, size: f64, anchor: Anchor, text: &'a str) -> Text<'a> {
        Text {
            x,
            y,
            size,
            anchor,
            text,
            exponent: "",
            upright: false,
        }
    }

    /// How far it reaches.
    pub(super) fn width(&self) -> f64 {
        (width(self.text) + width(self.exponent) * SMALLER) * self.size
    }

    /// Smaller, if it would be wider than `limit`.
    pub(super) fn within(self, limit: f64) -> Text<'a> {
        Text {
            size: self.size * (limit / self.width().max(f64::MIN_POSITIVE)).min(1.0),
            ..self
        }
    }
}

/// Exponents are this much smaller.
const SMALLER: f64 = 0.72;

impl Canvas {
    /// A white page.
    pub(super) fn new(width: f64, height: f64) -> Canvas {
        let mut canvas = Canvas {
            body: String::new(),
            width,
            height,
        };
        canvas.rect(0.0, 0.0, width, height, "#ffffff", None);
        canvas
    }

    pub(super) fn finish(self) -> Picture {
        let (width, height) = (Number(self.width), Number(self.height));
        Picture {
            svg: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
                 viewBox=\"0 0 {width} {height}\">\n{}</svg>\n",
                self.body
            ),
        }
    }

    /// Appends SVG as it is.
    pub(super) fn raw(&mut self, arguments: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.body.write_fmt(arguments);
        self.body.push('\n');
    }

    pub(super) fn rect(
        &mut self,
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        fill: &str,
        frame: Option<&str>,
    ) {
        let (x, y, width, height) = (Number(x), Number(y), Number(width), Number(height));
        let frame = frame.unwrap_or("none");
        self.raw(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" stroke=\"{frame}\" \
             stroke-width=\"0.8\"/>"
        ));
    }

    pub(super) fn line(
        &mut self,
        (x0, y0): (f64, f64),
        (x1, y1): (f64, f64),
        colour: &str,
        pen: f64,
    ) {
        let (x0, y0, x1, y1) = (Number(x0), Number(y0), Number(x1), Number(y1));
        self.raw(format_args!(
            "<path d=\"M{x0} {y0}L{x1} {y1}\" stroke=\"{colour}\" stroke-width=\"{pen}\" fill=\"none\"/>"
        ));
    }

    /// A line through the points, with the lengths of its strokes and gaps; a dot, if there is one point.
    pub(super) fn polyline(&mut self, points: &[(f64, f64)], colour: &str, pen: f64, dashes: &str) {
        if let [(x, y)] = *points {
            let (x, y) = (Number(x), Number(y));
            return self.raw(format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\" fill=\"{colour}\"/>",
                1.3 * pen
            ));
        }
        let list: String = points
            .iter()
            .map(|&(x, y)| format!("{},{} ", Number(x), Number(y)))
            .collect();
        let list = list.trim_end();
        self.raw(format_args!(
            "<polyline points=\"{list}\" stroke=\"{colour}\" stroke-width=\"{pen}\" fill=\"none\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\" stroke-dasharray=\"{dashes}\"/>"
        ));
    }

    /// Text as strokes. The words are kept as a title, for search and for those who listen.
    pub(super) fn text(&mut self, text: Text<'_>) {
        let scale = text.size / EM;
        let full = width(text.text) * text.size;
        let shift = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -text.width() / 2.0,
            Anchor::End => -text.width(),
        };
        let (x, y) = (Number(text.x), Number(text.y));
        let turn = if text.upright { " rotate(-90)" } else { "" };
        let title = escaped(&if text.exponent.is_empty() {
            text.text.to_owned()
        } else {
            format!("{}^{}", text.text, text.exponent)
        });
        self.raw(format_args!(
            "<g transform=\"translate({x} {y}){turn}\" stroke=\"{INK}\" stroke-width=\"{PEN}\" fill=\"none\" \
             stroke-linecap=\"round\" stroke-linejoin=\"round\"><title>{title}</title>"
        ));
        self.glyphs(text.text, shift, 0.0, scale);
        self.glyphs(
            text.exponent,
            shift + full,
            -0.36 * text.size,
            scale * SMALLER,
        );
        self.raw(format_args!("</g>"));
    }

    fn glyphs(&mut self, text: &str, mut x: f64, y: f64, scale: f64) {
        for c in text.chars() {
            let (advance, strokes) = glyph(c);
            if !strokes.is_empty() {
                self.raw(format_args!(
                    "<path transform=\"translate({} {}) scale({scale:.4})\" d=\"{strokes}\"/>",
                    Number(x),
                    Number(y)
                ));
            }
            x += advance * scale;
        }
    }
}

/// A coordinate: two decimals are finer than any printer.
pub(super) struct Number(pub(super) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        let short = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if short == "-0" { "0" } else { short })
    }
}

fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '&' => "&amp;".into(),
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            // XML has no way to write most control characters.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => " ".into(),
            c => String::from(c),
        })
        .collect()
}

/// Breaks a text between words into lines no wider than `limit`, where words allow.
pub(super) fn wrapped(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}")) * size <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let all = [1.0, -0.001, 2.5, 0.126, 100.0].map(|x| Number(x).to_string());
        assert_eq!(all, ["1", "0", "2.5", "0.13", "100"]);
    }

    #[test]
    fn long_texts_wrap_and_words_stay_whole() {
        let lines = wrapped("one two  three", 10.0, width("one two") * 10.0 + 1e-9);
        assert_eq!(lines, ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 10.0, 1.0).len(), 1);
        assert!(wrapped(" ", 10.0, 1.0).is_empty());
    }

    #[test]
    fn any_text_is_good_xml() {
        let mut canvas = Canvas::new(50.0, 20.0);
        let text = "a<b & \"c\">\u{0}\u{7}\u{fffe}é]]>";
        canvas.text(Text::new(1.0, 15.0, 12.0, Anchor::Start, text));
        super::super::tests::check(&canvas.finish());
    }
}
