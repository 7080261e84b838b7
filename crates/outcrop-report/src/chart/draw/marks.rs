//! Markers and bars: each hue has a shape and a hatching of its own, so that a reader who sees no colours tells series apart.

use super::dashes;
use crate::chart::SeriesKind;
use crate::chart::palette::Ink;
use crate::chart::scene::{Fill, Shape, Stroke};

/// Half the size of a marker.
const R: f64 = 4.0;
/// Distance of the lines of a hatching.
const HATCH_PX: f64 = 6.0;

/// How a marker is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Look {
    Solid,
    /// Measured, and beaten by others.
    Pale,
    /// An outline: not measured here.
    Hollow,
}

impl Look {
    pub(super) const fn of(kind: SeriesKind) -> Self {
        if kind.is_hollow() {
            Self::Hollow
        } else {
            Self::Solid
        }
    }
}

/// Corners of the marker of each hue, in units of its size; the first has none, it is a disc.
pub(crate) const CORNERS: [&[(f64, f64)]; 8] = [
    &[],
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.1), (1.1, 0.8), (-1.1, 0.8)],
    &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
    &[(0.0, 1.1), (1.1, -0.8), (-1.1, -0.8)],
    // A plus.
    &[
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
        (-1.2, -0.4),
        (-0.4, -0.4),
    ],
    // A cross.
    &[
        (0.0, -0.55),
        (0.7, -1.2),
        (1.2, -0.7),
        (0.55, 0.0),
        (1.2, 0.7),
        (0.7, 1.2),
        (0.0, 0.55),
        (-0.7, 1.2),
        (-1.2, 0.7),
        (-0.55, 0.0),
        (-1.2, -0.7),
        (-0.7, -1.2),
    ],
    // An hourglass.
    &[(-1.0, -1.1), (1.0, -1.1), (-1.0, 1.1), (1.0, 1.1)],
];

/// The marker of a hue.
pub(super) fn marker(hue: usize, (x, y): (f64, f64), ink: Ink, look: Look) -> Shape {
    let (fill, stroke) = match look {
        Look::Solid => (Some(Fill::solid(ink)), Some(Shape::halo(0.8))),
        Look::Pale => (Some(Fill { ink, opacity: 0.4 }), None),
        Look::Hollow => (None, Some(Stroke::solid(ink, 1.5))),
    };
    match CORNERS[hue % CORNERS.len()] {
        [] => Shape::Circle {
            centre: (x, y),
            radius: R,
            fill,
            stroke,
        },
        corners => Shape::area(
            corners.iter().map(|(dx, dy)| (x + dx * R, y + dy * R)).collect(),
            fill,
            stroke,
        ),
    }
}

/// A bar, or a part of one: filled where it was measured, pale with an outline otherwise; hatched as its hue is.
pub(super) fn bar_shapes(
    (left, top): (f64, f64),
    (width, height): (f64, f64),
    (ink, hue): (Ink, usize),
    kind: SeriesKind,
) -> Vec<Shape> {
    let opacity = match kind {
        SeriesKind::Measured | SeriesKind::Dense => 1.0,
        SeriesKind::Published => 0.22,
        SeriesKind::Modelled | SeriesKind::Derived => 0.08,
    };
    let is_filled = opacity == 1.0;
    // The outline lies inside, so that neighbours do not touch.
    let inset = if is_filled { 0.0 } else { 0.6 };
    let (left, top) = (left + inset, top + inset);
    let (right, bottom) = (left + (width - 2.0 * inset).max(0.0), top + height - 2.0 * inset);
    let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
    let outline = (!is_filled).then_some(Stroke {
        ink,
        width: 1.2,
        dashes: dashes(kind),
    });
    let mut shapes = vec![Shape::area(corners, Some(Fill { ink, opacity }), outline)];
    let lines = hatching(hue, (left, top, right, bottom));
    if !lines.is_empty() {
        let stroke = match is_filled {
            true => Shape::halo(1.3),
            false => Stroke::solid(ink, 0.8),
        };
        shapes.push(Shape::lines(lines, stroke));
    }
    shapes
}

/// Lines across an area: none for the first hue, then rising, falling, upright, lying, crossed, and sparser ones.
fn hatching(hue: usize, (left, top, right, bottom): (f64, f64, f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let height = bottom - top;
    let slanted = |step: f64, rises: bool| {
        let count = ((right - left + height) / step) as usize;
        let line = move |index: usize| {
            // The line through the lower edge at `foot`, cut to the area.
            let foot = left - height + (index + 1) as f64 * step;
            let (from, to) = (foot.max(left), (foot + height).min(right));
            let y = |x: f64| match rises {
                true => bottom - (x - foot),
                false => top + (x - foot),
            };
            (to - from > 0.5).then(|| vec![(from, y(from)), (to, y(to))])
        };
        (0..count).filter_map(line).collect::<Vec<_>>()
    };
    let upright = || {
        let count = ((right - left) / HATCH_PX) as usize;
        let line = |index: usize| left + (index + 1) as f64 * HATCH_PX;
        let inside = (0..count).map(line).filter(|x| right - x > 0.5);
        inside.map(|x| vec![(x, top), (x, bottom)]).collect::<Vec<_>>()
    };
    let middle = (top + bottom) / 2.0;
    match hue % 8 {
        0 => Vec::new(),
        1 => slanted(HATCH_PX, true),
        2 => slanted(HATCH_PX, false),
        3 => upright(),
        4 => vec![vec![(left, middle), (right, middle)]],
        5 => [slanted(HATCH_PX * 1.5, true), slanted(HATCH_PX * 1.5, false)].concat(),
        6 => slanted(HATCH_PX * 2.5, true),
        _ => slanted(HATCH_PX * 2.5, false),
    }
}
