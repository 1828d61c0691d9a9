//! Words beside points, where they can be read.

use super::area::{Area, Segment, cross};
use super::glyphs::width;
use super::looks::RADIUS;
use super::svg::{Anchor, Canvas, Text};
use std::f64::consts::TAU;

const SIZE: f64 = 11.5;
/// Between a label and the frame, markers and other labels; and beside another label, so that two do not
/// read as one.
const AIR: f64 = 2.0;
const SPACE: f64 = 7.0;
/// From the middle of a marker to its label, nearest first.
const DISTANCES: [f64; 6] = [7.5, 13.0, 20.0, 29.0, 40.0, 54.0];
/// From here on a thin line leads to the label.
const FAR: f64 = 10.0;
/// Directions in turns, clockwise from the right, the best to read first.
const DIRECTIONS: [f64; 16] = [
    0.0, 0.5, 0.75, 0.25, 0.875, 0.125, 0.625, 0.375, 0.9375, 0.0625, 0.5625, 0.4375, 0.8125,
    0.1875, 0.6875, 0.3125,
];
/// What is wrong with a place: a label or marker under the label is worse than everything else.
const HIDDEN: f64 = 1e6;
const ON_A_LINE: f64 = 40.0;
const LEADER_ACROSS: f64 = 90.0;

/// A point with its label.
pub(super) struct Mark<'a> {
    pub(super) text: &'a str,
    pub(super) at: (f64, f64),
}

/// Where a label is, and the line that leads to it, if it is far.
#[derive(Clone, Copy)]
pub(super) struct Label {
    pub(super) area: Area,
    leader: Option<Segment>,
    cost: f64,
}

/// A place for every label inside the frame; none for those that would hide another or a marker.
pub(super) fn placed(
    marks: &[Mark<'_>],
    markers: &[Area],
    lines: &[Segment],
    frame: &Area,
) -> Vec<Option<Label>> {
    // What does not depend on other labels is weighed once.
    let choices: Vec<Vec<Label>> = marks
        .iter()
        .map(|mark| choices(mark, markers, lines, frame))
        .collect();
    // A poor first choice can block better ones, so several orders are tried, if there are few labels.
    let count = marks.len();
    let tries = (40_000 / (count * count).max(1)).clamp(1, 40);
    let best = (0..tries)
        .map(|seed| settled(&choices, &order(count, seed)))
        .min_by(|a, b| total(a).total_cmp(&total(b)));
    let mut labels = best.unwrap_or_default();
    for at in 0..labels.len() {
        if let Some(label) = labels[at].take()
            && cost(&label, &labels) < HIDDEN
        {
            labels[at] = Some(label);
        }
    }
    labels
}

/// Numbers below `count`: as they are for seed 0, otherwise shuffled, the same way every time.
fn order(count: usize, seed: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    let mut state = seed as u64;
    if seed > 0 {
        for at in (1..count).rev() {
            // Constants of Knuth's MMIX generator.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            all.swap(at, (state >> 33) as usize % (at + 1));
        }
    }
    all
}

/// Each label in turn takes the best place that the others leave; later rounds let early ones move on.
fn settled(choices: &[Vec<Label>], order: &[usize]) -> Vec<Option<Label>> {
    let mut labels: Vec<Option<Label>> = vec![None; choices.len()];
    for _ in 0..5 {
        for &at in order {
            labels[at] = None;
            labels[at] = choices[at]
                .iter()
                .map(|choice| (cost(choice, &labels), choice))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map(|(_, choice)| *choice);
        }
    }
    labels
}

/// What is wrong with all places together.
fn total(labels: &[Option<Label>]) -> f64 {
    (0..labels.len())
        .filter_map(|at| Some(cost(labels[at].as_ref()?, &labels[..at])))
        .sum()
}

fn choices(mark: &Mark<'_>, markers: &[Area], lines: &[Segment], frame: &Area) -> Vec<Label> {
    let (wide, high) = (width(mark.text) * SIZE, SIZE);
    if mark.text.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (ring, distance) in DISTANCES.into_iter().enumerate() {
        for (rank, turn) in DIRECTIONS.into_iter().enumerate() {
            let (sin, cos) = (turn * TAU).sin_cos();
            // The side or corner of the label that faces the point is at the distance.
            let middle = (
                mark.at.0 + distance * cos + (2.0 * cos).clamp(-1.0, 1.0) * wide / 2.0,
                mark.at.1 + distance * sin + (2.0 * sin).clamp(-1.0, 1.0) * high / 2.0,
            );
            let area = Area::around(middle, wide, high);
            let airy = area.grown(AIR);
            if !frame.holds(&airy) {
                continue;
            }
            let leader = (distance > FAR).then(|| {
                let end = area.grown(1.0).nearest(mark.at);
                let away = (end.0 - mark.at.0).hypot(end.1 - mark.at.1);
                let start = RADIUS / away.max(RADIUS);
                let from = (
                    mark.at.0 + start * (end.0 - mark.at.0),
                    mark.at.1 + start * (end.1 - mark.at.1),
                );
                (from, end)
            });
            let mut cost = 10.0 * ring as f64 + 0.5 * rank as f64;
            cost += HIDDEN * count(markers, |marker| airy.overlaps(marker));
            cost += ON_A_LINE * count(lines, |line| area.meets(line)).min(2.0);
            if let Some(leader) = &leader {
                let own = Area::around(mark.at, RADIUS, RADIUS);
                let others = |marker: &Area| !marker.overlaps(&own) && marker.meets(leader);
                cost += LEADER_ACROSS * count(markers, others);
                cost += ON_A_LINE * count(lines, |line| cross(line, leader)).min(2.0);
            }
            all.push(Label { area, leader, cost });
        }
    }
    all
}

/// What is wrong with a place, given the other labels.
fn cost(label: &Label, others: &[Option<Label>]) -> f64 {
    let area = &label.area;
    let (wide, high) = (area.wide() + 2.0 * SPACE, area.high() + 2.0 * AIR);
    let airy = Area::around(area.middle(), wide, high);
    let mut cost = label.cost;
    for other in others.iter().flatten() {
        if airy.overlaps(&other.area) {
            cost += HIDDEN;
        }
        let across = |a: &Label, b: &Label| a.leader.is_some_and(|leader| b.area.meets(&leader));
        let crossed = matches!((&label.leader, &other.leader), (Some(a), Some(b)) if cross(a, b));
        if crossed || across(label, other) || across(other, label) {
            cost += LEADER_ACROSS;
        }
    }
    cost
}

fn count<T>(all: &[T], test: impl Fn(&T) -> bool) -> f64 {
    all.iter().filter(|one| test(one)).count() as f64
}

pub(super) fn draw(canvas: &mut Canvas, marks: &[Mark<'_>], labels: &[Option<Label>]) {
    for (from, to) in labels.iter().flatten().filter_map(|label| label.leader) {
        canvas.line(from, to, "#888888", 0.7);
    }
    for (mark, label) in marks.iter().zip(labels) {
        if let Some(Label { area, .. }) = label {
            // Capitals are in the middle of the area.
            let (x, y) = (area.left, area.middle().1 + 0.36 * SIZE);
            canvas.text(Text::new(x, y, SIZE, Anchor::Start, mark.text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Area = Area {
        left: 0.0,
        top: 0.0,
        right: 460.0,
        bottom: 276.0,
    };

    fn check(points: &[(f64, f64)]) -> usize {
        let marks: Vec<Mark<'_>> = points
            .iter()
            .map(|&at| Mark {
                text: "principal",
                at,
            })
            .collect();
        let markers: Vec<Area> = points
            .iter()
            .map(|&at| Area::around(at, 2.0 * RADIUS, 2.0 * RADIUS))
            .collect();
        let labels: Vec<Area> = placed(&marks, &markers, &[], &FRAME)
            .iter()
            .flatten()
            .map(|label| label.area)
            .collect();
        for (at, label) in labels.iter().enumerate() {
            assert!(FRAME.holds(label));
            assert!(labels[..at].iter().all(|other| !label.overlaps(other)));
            assert!(markers.iter().all(|marker| !label.overlaps(marker)));
        }
        labels.len()
    }

    #[test]
    fn labels_overlap_nothing() {
        // A cluster, a column, and the corners of the frame.
        let cluster: Vec<_> = (0..8)
            .map(|at| (200.0 + 9.0 * f64::from(at % 3), 100.0 + 7.0 * f64::from(at)))
            .collect();
        assert_eq!(check(&cluster), 8);
        let column: Vec<_> = (0..12)
            .map(|at| (30.0, 20.0 + 12.0 * f64::from(at)))
            .collect();
        assert_eq!(check(&column), 12);
        assert_eq!(
            check(&[(5.0, 5.0), (455.0, 5.0), (5.0, 271.0), (455.0, 271.0)]),
            4
        );
    }

    #[test]
    fn labels_without_room_are_left_out() {
        let crowd = vec![(230.0, 130.0); 300];
        let shown = check(&crowd);
        assert!((10..300).contains(&shown), "{shown}");
    }

    #[test]
    fn a_lone_label_is_right_of_its_point_and_near() {
        let mark = Mark {
            text: "a",
            at: (100.0, 100.0),
        };
        let labels = placed(&[mark], &[], &[], &FRAME);
        let label = labels[0].unwrap();
        assert!(label.area.left > 100.0 && label.area.left < 110.0);
        assert!(label.leader.is_none());
    }
}
