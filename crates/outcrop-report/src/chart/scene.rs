//! What a drawing is made of: polygons, circles and texts in pixels, whatever they are written as afterwards.

use super::palette::{Ink, PAGE};

/// A drawing.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
}

/// One thing on it; later ones lie above earlier ones.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Corners joined by straight lines.
    Path(Path),
    /// A disc or a ring.
    Circle {
        centre: (f64, f64),
        radius: f64,
        fill: Option<Fill>,
        stroke: Option<Stroke>,
    },
    /// A line of text.
    Text(Text),
    /// Shapes that belong to one value. The note is shown where a pointer rests on them, in a file of its own.
    Group { note: String, shapes: Vec<Shape> },
}

/// Corners joined by straight lines, in one piece or several.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) pieces: Vec<Vec<(f64, f64)>>,
    pub(crate) is_closed: bool,
    pub(crate) fill: Option<Fill>,
    pub(crate) stroke: Option<Stroke>,
}

/// How an area is filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) ink: Ink,
    pub(crate) opacity: f64,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stroke {
    pub(crate) ink: Ink,
    pub(crate) width: f64,
    /// Lengths of dashes and gaps; none for a solid line.
    pub(crate) dashes: &'static [f64],
}

/// A line of text; `y` is that of its base line.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) at: (f64, f64),
    pub(crate) words: String,
    pub(crate) size_px: u32,
    pub(crate) anchor: Anchor,
    pub(crate) is_bold: bool,
}

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Fill {
    pub(crate) const fn solid(ink: Ink) -> Self {
        Self { ink, opacity: 1.0 }
    }
}

impl Stroke {
    pub(crate) const fn solid(ink: Ink, width: f64) -> Self {
        Self {
            ink,
            width,
            dashes: &[],
        }
    }
}

impl Scene {
    pub(crate) const fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            shapes: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, shape: Shape) {
        self.shapes.push(shape);
    }
}

impl Shape {
    /// A straight line.
    pub(crate) fn line(from: (f64, f64), to: (f64, f64), stroke: Stroke) -> Self {
        Self::lines(vec![vec![from, to]], stroke)
    }

    /// Lines of one stroke.
    pub(crate) const fn lines(pieces: Vec<Vec<(f64, f64)>>, stroke: Stroke) -> Self {
        Self::Path(Path {
            pieces,
            is_closed: false,
            fill: None,
            stroke: Some(stroke),
        })
    }

    /// A closed area.
    pub(crate) fn area(corners: Vec<(f64, f64)>, fill: Option<Fill>, stroke: Option<Stroke>) -> Self {
        Self::Path(Path {
            pieces: vec![corners],
            is_closed: true,
            fill,
            stroke,
        })
    }

    /// Regular text.
    pub(crate) fn text(at: (f64, f64), words: &str, size_px: u32, anchor: Anchor) -> Self {
        Self::Text(Text {
            at,
            words: words.to_owned(),
            size_px,
            anchor,
            is_bold: false,
        })
    }

    /// A frame in the page's colour: what lies below a mark must not shine through it.
    pub(crate) const fn halo(width: f64) -> Stroke {
        Stroke::solid(PAGE, width)
    }
}

/// The part of a line through those points that lies within an area (left, top, right, bottom), in pieces.
pub(crate) fn clipped(points: &[(f64, f64)], area: (f64, f64, f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    for pair in points.windows(2) {
        let Some((from, to)) = clipped_segment(pair[0], pair[1], area) else {
            continue;
        };
        match pieces.last_mut() {
            Some(piece) if piece.last() == Some(&from) => piece.push(to),
            _ => pieces.push(vec![from, to]),
        }
    }
    pieces
}

/// A straight line cut to an area (Liang and Barsky's algorithm).
fn clipped_segment(
    from: (f64, f64),
    to: (f64, f64),
    (left, top, right, bottom): (f64, f64, f64, f64),
) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
    let edges = [
        (-dx, from.0 - left),
        (dx, right - from.0),
        (-dy, from.1 - top),
        (dy, bottom - from.1),
    ];
    for (direction, distance) in edges {
        if direction == 0.0 {
            if distance < 0.0 {
                return None;
            }
        } else if direction < 0.0 {
            enters = enters.max(distance / direction);
        } else {
            leaves = leaves.min(distance / direction);
        }
    }
    if enters > leaves {
        return None;
    }
    let at = |share: f64| match share {
        0.0 => from,
        1.0 => to,
        _ => (from.0 + share * dx, from.1 + share * dy),
    };
    Some((at(enters), at(leaves)))
}
