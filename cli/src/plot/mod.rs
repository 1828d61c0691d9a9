//! Pictures: each is described once, as SVG, and saved as SVG or PNG.

mod area;
mod axes;
mod chart;
mod curve;
mod drawn;
mod glyphs;
mod heatmap;
mod legend;
mod looks;
mod ratios;
mod splits;
mod svg;
mod ticks;

pub(crate) use axes::{Axis, Scale};
pub(crate) use chart::{Series, Style, chart};
pub(crate) use curve::curve;
pub(crate) use ratios::{RatioCell, Ratios, ratios};
pub(crate) use splits::{comparison, decomposition};

use denise_data::files::{FileError, replace};
use resvg::{tiny_skia, usvg};
use std::path::Path;

/// Pixels of a PNG per unit of its SVG: enough for print at the width of a page.
const PIXELS: f32 = 3.0;

/// A finished picture.
pub(crate) struct Picture {
    svg: String,
}

impl Picture {
    /// The picture as an SVG document.
    pub(crate) fn svg(&self) -> &str {
        &self.svg
    }

    /// Writes the picture as SVG or PNG, as the name ends in `.svg` or `.png`.
    pub(crate) fn save(&self, path: &Path) -> Result<(), FileError> {
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        match ending.to_str() {
            Some("svg") => replace(path, |out| out.write_all(self.svg().as_bytes())),
            Some("png") => {
                let png = self.png().ok_or_else(|| {
                    FileError::new(path, "the picture cannot be drawn; save it as .svg instead")
                })?;
                replace(path, |out| out.write_all(&png))
            }
            _ => Err(FileError::new(
                path,
                "the name of a picture must end in .svg or .png",
            )),
        }
    }

    fn png(&self) -> Option<Vec<u8>> {
        let tree = usvg::Tree::from_str(self.svg(), &usvg::Options::default()).ok()?;
        let pixels = tree.size().to_int_size().scale_by(PIXELS)?;
        let mut image = tiny_skia::Pixmap::new(pixels.width(), pixels.height())?;
        let scale = tiny_skia::Transform::from_scale(PIXELS, PIXELS);
        resvg::render(&tree, scale, &mut image.as_mut());
        image.encode_png().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture must be well-formed and have no bad coordinates.
    pub(super) fn parsed(picture: &Picture) -> usvg::Tree {
        let svg = picture.svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf ") && !svg.contains("inf\""));
        usvg::Tree::from_str(svg, &usvg::Options::default()).unwrap()
    }

    /// It must also be drawable.
    pub(super) fn check(picture: &Picture) -> tiny_skia::Pixmap {
        parsed(picture);
        tiny_skia::Pixmap::decode_png(&picture.png().unwrap()).unwrap()
    }

    #[test]
    fn the_name_decides_the_format() {
        let picture = curve("Loss", "step", "loss", &[("a", &[(0.0, 1.0), (1.0, 0.1)])]);
        let path = |ending: &str| {
            std::env::temp_dir().join(format!("denise-plot-{}{ending}", std::process::id()))
        };
        for (ending, magic) in [(".svg", &b"<svg "[..]), (".PNG", b"\x89PNG")] {
            picture.save(&path(ending)).unwrap();
            let bytes = std::fs::read(path(ending)).unwrap();
            std::fs::remove_file(path(ending)).unwrap();
            assert!(bytes.starts_with(magic));
        }
        assert!(picture.save(&path(".pdf")).is_err());
        assert!(picture.save(&path("")).is_err());
    }
}
