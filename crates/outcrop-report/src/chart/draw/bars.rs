//! Bars that lie: names read straight, and a phone has room for them.
//!
//! Facets stand side by side over one division of the value axis, with the same groups in the same rows.

use super::legend::{Entry, Legend, Mark};
use super::marks::bar_shapes;
use super::{Frame, TEXT_PX, TICK_PX, colour, text_width_px, wrapped};
use crate::chart::palette;
use crate::chart::scale::AxisPlan;
use crate::chart::scene::{Anchor, Scene, Shape, Stroke};
use crate::chart::{Bar, BarChart, Facet, SeriesKind};

const BAR_PX: f64 = 11.0;
const BAR_GAP_PX: f64 = 2.0;
const GROUP_GAP_PX: f64 = 8.0;
const LABEL_ROW_PX: f64 = 15.0;
const TITLE_PX: f64 = 22.0;
const TICKS_PX: f64 = 20.0;
const AXIS_LABEL_PX: f64 = 24.0;
const FACET_GAP_PX: f64 = 34.0;
/// Narrowest facet; those that do not fit go below.
const LEAST_FACET_PX: f64 = 74.0;
const MARGIN_RIGHT_PX: f64 = 18.0;
/// Pixels that one tick takes.
const TICK_ROOM_PX: f64 = 42.0;

/// Draws the chart at the width of a frame, as high as its bars need.
pub(super) fn draw(chart: &BarChart, frame: Frame) -> Scene {
    let sheet = Sheet::lay_out(chart, frame);
    let mut scene = Scene::new(frame.width, sheet.height_px);
    sheet.legend.add_to(&mut scene);
    for (index, facet) in chart.facets.iter().enumerate() {
        sheet.add_facet(&mut scene, index, facet, chart);
    }
    let (left, right) = (
        sheet.labels_px,
        sheet.facet_left_px(sheet.columns - 1) + sheet.facet_px,
    );
    let under = ((left + right) / 2.0, sheet.height_px - 8.0);
    scene.add(Shape::text(under, &sheet.value.label, TEXT_PX, Anchor::Middle));
    scene
}

/// Where everything goes.
struct Sheet {
    legend: Legend,
    value: AxisPlan,
    ticks: Vec<f64>,
    rows: Vec<Row>,
    labels_px: f64,
    facet_px: f64,
    columns: usize,
    band_px: f64,
    titles_px: f64,
    height_px: f64,
}

/// One group of bars, on the same height in every facet.
struct Row {
    label: String,
    lines: Vec<String>,
    top_px: f64,
    height_px: f64,
}

impl Sheet {
    fn lay_out(chart: &BarChart, frame: Frame) -> Self {
        let labels = chart.labels();
        let widest = labels.iter().map(|label| text_width_px(label, TICK_PX));
        let labels_px = widest.fold(30.0, f64::max).min(frame.width * 0.32) + 14.0;
        let room = frame.width - labels_px - MARGIN_RIGHT_PX;
        let fitting = ((room + FACET_GAP_PX) / (LEAST_FACET_PX + FACET_GAP_PX)) as usize;
        let columns = chart.facets.len().min(fitting).max(1);
        let facet_px = (room - (columns - 1) as f64 * FACET_GAP_PX) / columns as f64;
        let value = AxisPlan::of_bars(
            &chart.value,
            chart.values(),
            ((facet_px / TICK_ROOM_PX) as usize).clamp(2, 6),
        );
        let rows = rows(chart, &labels, labels_px);
        let titles_px = if chart.facets.iter().any(|facet| !facet.title.is_empty()) {
            TITLE_PX
        } else {
            6.0
        };
        let rows_px = rows.last().map_or(0.0, |row| row.top_px + row.height_px);
        let band_px = titles_px + rows_px + TICKS_PX;
        let bands = chart.facets.len().div_ceil(columns);
        let legend = Legend::flow(entries(chart), frame.width);
        let height_px = legend.height_px() + bands as f64 * band_px + AXIS_LABEL_PX;
        Self {
            ticks: value.ticks(),
            legend,
            value,
            rows,
            labels_px,
            facet_px,
            columns,
            band_px,
            titles_px,
            height_px,
        }
    }

    fn facet_left_px(&self, column: usize) -> f64 {
        self.labels_px + column as f64 * (self.facet_px + FACET_GAP_PX)
    }

    fn add_facet(&self, scene: &mut Scene, index: usize, facet: &Facet, chart: &BarChart) {
        let (band, column) = (index / self.columns, index % self.columns);
        let left = self.facet_left_px(column);
        let top = self.legend.height_px() + band as f64 * self.band_px + self.titles_px;
        let bottom = top + self.band_px - self.titles_px - TICKS_PX;
        scene.add(Shape::text(
            (left, top - 8.0),
            &facet.title,
            TEXT_PX,
            Anchor::Start,
        ));
        self.add_ticks(scene, left, (top, bottom));
        for row in &self.rows {
            if column == 0 {
                self.add_label(scene, row, top);
            }
            let group = facet.groups.iter().find(|group| group.label == row.label);
            let bars = group.map_or(&[][..], |group| group.bars.as_slice());
            let used = bars.len() as f64 * (BAR_PX + BAR_GAP_PX) - BAR_GAP_PX;
            let first = top + row.top_px + (row.height_px - GROUP_GAP_PX - used) / 2.0;
            for (place, bar) in bars.iter().enumerate() {
                self.add_bar(
                    scene,
                    (left, first + place as f64 * (BAR_PX + BAR_GAP_PX)),
                    bar,
                    chart,
                );
            }
        }
        scene.add(Shape::line(
            (left, top),
            (left, bottom),
            Stroke::solid(palette::AXIS, 1.0),
        ));
    }

    fn add_label(&self, scene: &mut Scene, row: &Row, top: f64) {
        let middle = top + row.top_px + (row.height_px - GROUP_GAP_PX) / 2.0;
        let first = middle - (row.lines.len() as f64 - 1.0) * LABEL_ROW_PX / 2.0 + 4.0;
        for (index, words) in row.lines.iter().enumerate() {
            let at = (self.labels_px - 7.0, first + index as f64 * LABEL_ROW_PX);
            scene.add(Shape::text(at, words, TICK_PX, Anchor::End));
        }
    }

    /// Grid lines at the ticks, and those of their names that do not touch.
    fn add_ticks(&self, scene: &mut Scene, left: f64, (top, bottom): (f64, f64)) {
        let mut taken_until = f64::NEG_INFINITY;
        let place = |tick: &f64| left + self.value.fraction(*tick) * self.facet_px;
        let lines = self
            .ticks
            .iter()
            .map(|tick| vec![(place(tick), top), (place(tick), bottom)]);
        scene.add(Shape::lines(lines.collect(), Stroke::solid(palette::GRID, 1.0)));
        for tick in &self.ticks {
            let x = place(tick);
            let name = (self.value.spell)(*tick);
            let half = text_width_px(&name, TICK_PX) / 2.0;
            let middle = x.clamp(
                left + half - 6.0,
                (left + self.facet_px - half + 8.0).max(left + half - 6.0),
            );
            if !name.is_empty() && middle - half > taken_until + 3.0 {
                scene.add(Shape::text(
                    (middle, bottom + 15.0),
                    &name,
                    TICK_PX,
                    Anchor::Middle,
                ));
                taken_until = middle + half;
            }
        }
    }

    fn add_bar(&self, scene: &mut Scene, (left, y): (f64, f64), bar: &Bar, chart: &BarChart) {
        let at = |value: f64| left + self.value.fraction(value).clamp(0.0, 1.0) * self.facet_px;
        let mut shapes = Vec::new();
        let mut from = 0.0;
        let middle = y + BAR_PX / 2.0;
        for segment in &bar.segments {
            let hue = chart.parts.get(segment.part).map_or(0, |part| part.hue);
            let start = if from > 0.0 { at(from) } else { left };
            let end = at(from + segment.value).max(start);
            let size = (end - start, BAR_PX);
            shapes.extend(bar_shapes(
                (start, y),
                size,
                (colour(hue), hue),
                bar.kind_of(segment),
            ));
            if let Some((low, high)) = segment.interval {
                let ends = (at(from + low), at(from + high));
                let cap = |x: f64| vec![(x, middle - 3.0), (x, middle + 3.0)];
                let whisker = vec![vec![(ends.0, middle), (ends.1, middle)], cap(ends.0), cap(ends.1)];
                shapes.push(Shape::lines(whisker.clone(), Shape::halo(3.4)));
                shapes.push(Shape::lines(whisker, Stroke::solid(palette::TEXT, 1.2)));
            }
            from += segment.value;
        }
        if self.value.fraction(from) > 1.0 + 1e-9 {
            // A published bar that is longer than the axis of ours: an arrow says that it goes on.
            let tip = left + self.facet_px + 5.0;
            let arrow = vec![vec![
                (tip - 4.0, middle - 4.0),
                (tip, middle),
                (tip - 4.0, middle + 4.0),
            ]];
            shapes.push(Shape::lines(arrow, Stroke::solid(palette::TEXT, 1.4)));
        }
        let note = bar.note.clone();
        scene.add(Shape::Group { note, shapes });
    }
}

fn rows(chart: &BarChart, labels: &[String], labels_px: f64) -> Vec<Row> {
    let mut top_px = GROUP_GAP_PX / 2.0;
    labels
        .iter()
        .map(|label| {
            let bars = chart.facets.iter().flat_map(|facet| &facet.groups);
            let most = bars
                .filter(|group| group.label == *label)
                .map(|group| group.bars.len())
                .max();
            let lines = wrapped(label, TICK_PX, labels_px - 12.0);
            let bars_px = most.unwrap_or(0) as f64 * (BAR_PX + BAR_GAP_PX);
            let height_px = bars_px.max(lines.len() as f64 * LABEL_ROW_PX) + GROUP_GAP_PX;
            let row = Row {
                label: label.clone(),
                lines,
                top_px,
                height_px,
            };
            top_px += height_px;
            row
        })
        .collect()
}

/// What the colours mean, then what an outline without filling means.
fn entries(chart: &BarChart) -> Vec<Entry> {
    let parts = chart.parts.iter().map(|part| Entry {
        name: part.name.clone(),
        mark: Mark::Bar {
            hue: part.hue,
            kind: SeriesKind::Measured,
        },
    });
    let bars = || {
        chart
            .facets
            .iter()
            .flat_map(|facet| &facet.groups)
            .flat_map(|group| &group.bars)
    };
    let kinds = [
        (SeriesKind::Published, "published"),
        (SeriesKind::Modelled, "modelled"),
        (SeriesKind::Derived, "derived"),
    ];
    let used = kinds
        .into_iter()
        .filter(|(kind, _)| bars().any(|bar| bar.segments.iter().any(|one| bar.kind_of(one) == *kind)));
    parts
        .chain(used.map(|(kind, name)| Entry {
            name: name.to_owned(),
            mark: Mark::AnyBar { kind },
        }))
        .collect()
}
