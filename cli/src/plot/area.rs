//! Rectangles, and what they hide.

/// A rectangle with its sides along the axes; y points down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// A straight line between two points.
pub(super) type Segment = ((f64, f64), (f64, f64));

impl Area {
    pub(super) fn around((x, y): (f64, f64), wide: f64, high: f64) -> Area {
        Area {
            left: x - wide / 2.0,
            top: y - high / 2.0,
            right: x + wide / 2.0,
            bottom: y + high / 2.0,
        }
    }

    pub(super) fn wide(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn high(&self) -> f64 {
        self.bottom - self.top
    }

    pub(super) fn middle(&self) -> (f64, f64) {
        (
            (self.left + self.right) / 2.0,
            (self.top + self.bottom) / 2.0,
        )
    }

    /// Larger by `by` on every side.
    pub(super) fn grown(&self, by: f64) -> Area {
        Area::around(
            self.middle(),
            self.wide() + 2.0 * by,
            self.high() + 2.0 * by,
        )
    }

    pub(super) fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    pub(super) fn holds(&self, other: &Area) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    /// Whether a part of the segment is inside.
    pub(super) fn meets(&self, &((x0, y0), (x1, y1)): &Segment) -> bool {
        // The shares of the segment that are inside the vertical and the horizontal strip.
        let (mut first, mut last) = (0.0_f64, 1.0_f64);
        for (from, to, low, high) in [
            (x0, x1, self.left, self.right),
            (y0, y1, self.top, self.bottom),
        ] {
            let step = to - from;
            if step == 0.0 {
                if from <= low || from >= high {
                    return false;
                }
                continue;
            }
            let (a, b) = ((low - from) / step, (high - from) / step);
            first = first.max(a.min(b));
            last = last.min(a.max(b));
        }
        first < last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_meet_an_area_only_inside() {
        let area = Area::around((5.0, 5.0), 4.0, 2.0);
        for segment in [
            ((0.0, 5.0), (10.0, 5.0)),
            ((5.0, 0.0), (5.0, 10.0)),
            ((0.0, 0.0), (10.0, 10.0)),
            ((5.0, 5.0), (5.1, 5.0)),
        ] {
            assert!(area.meets(&segment), "{segment:?}");
        }
        for segment in [
            ((0.0, 3.0), (10.0, 3.0)),
            ((0.0, 5.0), (2.9, 5.0)),
            ((0.0, 5.0), (5.0, 0.0)),
            ((0.0, 6.0), (10.0, 6.0)),
        ] {
            assert!(!area.meets(&segment), "{segment:?}");
        }
    }

    #[test]
    fn neighbours_that_touch_do_not_overlap() {
        let area = Area::around((0.0, 0.0), 2.0, 2.0);
        assert!(!area.overlaps(&Area::around((2.0, 0.0), 2.0, 2.0)));
        assert!(area.overlaps(&Area::around((1.9, 0.0), 2.0, 2.0)));
        assert!(area.grown(0.5).holds(&area) && !area.holds(&area.grown(0.5)));
    }
}
