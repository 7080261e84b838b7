//! The legend of a figure: entries in rows above the plot, in the order of the series.
//!
//! The chart library's own legend takes a column beside the plot, which a phone has no room for.

use kuva::plot::MarkerShape;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

use super::draw::{TEXT_PX, colour, dashes, marker, text_width_px};
use super::{Series, SeriesKind};

const LEGEND_ROW_PX: f64 = 20.0;
const LEGEND_LINE_PX: f64 = 26.0;

/// The legend: entries flowing in rows above the plot, in the order of the series.
pub(super) struct Legend<'a> {
    entries: Vec<Entry<'a>>,
    rows: usize,
}

struct Entry<'a> {
    series: &'a Series,
    left_px: f64,
    row: usize,
}

impl<'a> Legend<'a> {
    pub(super) fn flow(series: &'a [Series], width_px: f64) -> Self {
        let (mut left_px, mut row) = (8.0, 0);
        let mut entries = Vec::new();
        for series in series {
            let entry_px = LEGEND_LINE_PX + 6.0 + text_width_px(&series.name, TEXT_PX) + 16.0;
            if left_px + entry_px > width_px && left_px > 8.0 {
                (left_px, row) = (8.0, row + 1);
            }
            entries.push(Entry { series, left_px, row });
            left_px += entry_px;
        }
        Self {
            entries,
            rows: row + 1,
        }
    }

    pub(super) fn height_px(&self) -> f64 {
        self.rows as f64 * LEGEND_ROW_PX + 4.0
    }

    pub(super) fn add_to(&self, scene: &mut Scene) {
        for entry in &self.entries {
            let y = entry.row as f64 * LEGEND_ROW_PX + 14.0;
            let middle = entry.left_px + LEGEND_LINE_PX / 2.0;
            scene.add(Primitive::Line {
                x1: entry.left_px,
                y1: y,
                x2: entry.left_px + LEGEND_LINE_PX,
                y2: y,
                stroke: colour(entry.series.hue).into(),
                stroke_width: 2.0,
                stroke_dasharray: dashes(entry.series.kind).dasharray(),
            });
            if entry.series.kind != SeriesKind::Dense {
                scene.add(marker_shape(
                    marker(entry.series.hue),
                    (middle, y),
                    colour(entry.series.hue),
                ));
            }
            scene.add(Primitive::Text {
                x: entry.left_px + LEGEND_LINE_PX + 6.0,
                y: y + 4.5,
                content: entry.series.name.clone(),
                size: TEXT_PX,
                anchor: TextAnchor::Start,
                rotate: None,
                bold: false,
                color: None,
            });
        }
    }
}

/// The marker that the library draws for a series, at the place of its legend entry.
fn marker_shape(shape: MarkerShape, (x, y): (f64, f64), fill: &str) -> Primitive {
    const R: f64 = 4.0;
    let corners: &[(f64, f64)] = match shape {
        MarkerShape::Square => &[(-R, -R), (R, -R), (R, R), (-R, R)],
        MarkerShape::Triangle => &[(0.0, -R), (R, 0.7 * R), (-R, 0.7 * R)],
        MarkerShape::TriangleDown => &[(0.0, R), (R, -0.7 * R), (-R, -0.7 * R)],
        MarkerShape::Diamond => &[(0.0, -1.3 * R), (1.3 * R, 0.0), (0.0, 1.3 * R), (-1.3 * R, 0.0)],
        _ => {
            return Primitive::Circle {
                cx: x,
                cy: y,
                r: R,
                fill: fill.into(),
                fill_opacity: None,
                stroke: None,
                stroke_width: None,
            };
        }
    };
    let corner = |&(dx, dy): &(f64, f64)| format!("{:.1},{:.1}", x + dx, y + dy);
    let path = corners.iter().map(corner).collect::<Vec<_>>().join(" L");
    Primitive::Path(Box::new(PathData {
        d: format!("M{path} Z"),
        fill: Some(fill.into()),
        stroke: fill.into(),
        stroke_width: 0.5,
        opacity: None,
        stroke_dasharray: None,
    }))
}
