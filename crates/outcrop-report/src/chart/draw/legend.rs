//! The legend of a figure: entries in rows above the plot, in the order of the series.

use super::marks::{Look, bar_shapes, marker};
use super::{TEXT_PX, colour, dashes, text_width_px, wrapped};
use crate::chart::palette::{self, Ink};
use crate::chart::scene::{Anchor, Scene, Shape, Stroke};
use crate::chart::{Series, SeriesKind};

const ROW_PX: f64 = 20.0;
const LINE_PX: f64 = 26.0;
const LEFT_PX: f64 = 8.0;

/// One thing that a drawing shows, and its name.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) mark: Mark,
}

/// How an entry is drawn in the plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mark {
    /// A line with markers where its kind has them.
    Line { hue: usize, kind: SeriesKind },
    /// Any published line, whatever its colour.
    AnyPublishedLine,
    /// A marker alone.
    Marker { hue: usize, kind: SeriesKind },
    /// A thin line of the text's colour: the Pareto front.
    Front,
    /// A bar, or a part of one.
    Bar { hue: usize, kind: SeriesKind },
    /// Any bar of that kind, whatever its colour.
    AnyBar { kind: SeriesKind },
}

/// The entries of a line chart. A published series that has the name and the colour of a measured one needs no
/// entry of its own: one for all says how published ones are drawn.
pub(super) fn entries_of(series: &[Series]) -> Vec<Entry> {
    let is_beside_ours = |candidate: &Series| {
        candidate.kind == SeriesKind::Published
            && series.iter().any(|other| {
                other.kind != SeriesKind::Published
                    && (&other.name, other.hue) == (&candidate.name, candidate.hue)
            })
    };
    let own = series.iter().filter(|one| !is_beside_ours(one));
    let mut entries: Vec<Entry> = own
        .map(|one| Entry {
            name: one.name.clone(),
            mark: Mark::Line {
                hue: one.hue,
                kind: one.kind,
            },
        })
        .collect();
    if series.iter().any(is_beside_ours) {
        entries.push(Entry {
            name: "published".to_owned(),
            mark: Mark::AnyPublishedLine,
        });
    }
    entries
}

/// The legend: entries flowing in rows above the plot, in their order.
pub(super) struct Legend {
    entries: Vec<Placed>,
    rows: usize,
}

struct Placed {
    mark: Mark,
    lines: Vec<String>,
    left_px: f64,
    row: usize,
}

impl Legend {
    /// Places entries in rows of that width; a name that is too long for a row of its own is wrapped.
    pub(super) fn flow(entries: Vec<Entry>, width_px: f64) -> Self {
        let (mut left_px, mut row) = (LEFT_PX, 0);
        let mut placed = Vec::new();
        let room_px = width_px - LEFT_PX - LINE_PX - 12.0;
        for Entry { name, mark } in entries {
            let entry_px = LINE_PX + 6.0 + text_width_px(&name, TEXT_PX) + 16.0;
            if left_px + entry_px > width_px && left_px > LEFT_PX {
                (left_px, row) = (LEFT_PX, row + 1);
            }
            let lines = wrapped(&name, TEXT_PX, room_px);
            let more_rows = lines.len().saturating_sub(1);
            placed.push(Placed {
                mark,
                lines,
                left_px,
                row,
            });
            row += more_rows;
            left_px += if more_rows == 0 { entry_px } else { width_px };
        }
        Self {
            rows: if placed.is_empty() { 0 } else { row + 1 },
            entries: placed,
        }
    }

    pub(super) fn height_px(&self) -> f64 {
        self.rows as f64 * ROW_PX + 4.0
    }

    pub(super) fn add_to(&self, scene: &mut Scene) {
        for entry in &self.entries {
            let y = entry.row as f64 * ROW_PX + 14.0;
            for shape in entry.mark.shapes(entry.left_px, y) {
                scene.add(shape);
            }
            for (index, line) in entry.lines.iter().enumerate() {
                let at = (entry.left_px + LINE_PX + 6.0, y + 4.5 + index as f64 * ROW_PX);
                scene.add(Shape::text(at, line, TEXT_PX, Anchor::Start));
            }
        }
    }
}

impl Mark {
    fn shapes(self, left_px: f64, y: f64) -> Vec<Shape> {
        let middle = (left_px + LINE_PX / 2.0, y);
        let line = |ink: Ink, kind: SeriesKind, width: f64| {
            let stroke = Stroke {
                ink,
                width,
                dashes: dashes(kind),
            };
            Shape::line((left_px, y), (left_px + LINE_PX, y), stroke)
        };
        let bar_place = ((left_px + 6.0, y - 6.0), (16.0, 12.0));
        match self {
            Self::Line { hue, kind } => vec![
                line(colour(hue), kind, 2.0),
                marker(hue, middle, colour(hue), Look::of(kind)),
            ],
            Self::AnyPublishedLine => vec![
                line(palette::TEXT, SeriesKind::Published, 2.0),
                marker(0, middle, palette::TEXT, Look::Hollow),
            ],
            Self::Marker { hue, kind } => vec![marker(hue, middle, colour(hue), Look::of(kind))],
            Self::Front => vec![line(palette::AXIS, SeriesKind::Measured, 1.2)],
            Self::Bar { hue, kind } => bar_shapes(bar_place.0, bar_place.1, (colour(hue), hue), kind),
            Self::AnyBar { kind } => bar_shapes(bar_place.0, bar_place.1, (palette::TEXT, 0), kind),
        }
    }
}
