//! Lines over two axes.

use super::legend::{Legend, entries_of};
use super::marks::{Look, marker};
use super::plane::Plane;
use super::{Frame, colour, dashes};
use crate::chart::palette::Ink;
use crate::chart::scale::AxisPlan;
use crate::chart::scene::{Fill, Scene, Shape, Stroke, clipped};
use crate::chart::{LineChart, Point, Series, SeriesKind};

/// Markers on a line of many points: enough to tell it by them, few enough to see the line.
const MARKERS_OF_DENSE: usize = 7;

/// Draws the chart into a frame.
pub(super) fn draw(chart: &LineChart, frame: Frame) -> Scene {
    let points = || chart.setting_the_scale().flat_map(|series| &series.points);
    let x = AxisPlan::over(&chart.x, points().map(|point| point.x), frame.x_ticks);
    let y = AxisPlan::over(&chart.y, points().flat_map(extent), frame.y_ticks);
    let legend = Legend::flow(entries_of(&chart.series), frame.width);
    let plane = Plane::new(frame, x, y, legend.height_px());
    let mut scene = plane.scene();
    for series in &chart.series {
        add_intervals(series, &plane, &mut scene);
    }
    for series in &chart.series {
        add_series(series, &plane, &mut scene);
    }
    legend.add_to(&mut scene);
    scene
}

fn extent(point: &Point) -> impl Iterator<Item = f64> {
    let (low, high) = point.interval.unwrap_or((point.y, point.y));
    [low, point.y, high].into_iter()
}

fn add_series(series: &Series, plane: &Plane, scene: &mut Scene) {
    let at: Vec<_> = series
        .points
        .iter()
        .map(|point| plane.at(point.x, point.y))
        .collect();
    let stroke = Stroke {
        ink: colour(series.hue),
        width: 2.0,
        dashes: dashes(series.kind),
    };
    let pieces = clipped(&at, plane.area());
    if !pieces.is_empty() {
        scene.add(Shape::lines(pieces, stroke));
    }
    let stride = match series.kind {
        SeriesKind::Dense => at.len().div_ceil(MARKERS_OF_DENSE).max(1),
        _ => 1,
    };
    // Lines that run together have their markers at different places.
    let first = (series.hue * stride / 4) % stride;
    let marked = series.points.iter().zip(&at).skip(first).step_by(stride);
    for (point, at) in marked.filter(|(_, at)| plane.holds(**at)) {
        let shapes = vec![marker(series.hue, *at, colour(series.hue), Look::of(series.kind))];
        let note = point.note(series.kind);
        scene.add(Shape::Group { note, shapes });
    }
}

/// Intervals as bands around the line. A value without one interrupts them: a band that narrows to a point there would say that it is exact.
fn add_intervals(series: &Series, plane: &Plane, scene: &mut Scene) {
    let ends = |point: &Point| {
        let inside = |y: f64| plane.inside(plane.at(point.x, y));
        point.interval.map(|(low, high)| [inside(low), inside(high)])
    };
    let all: Vec<Option<_>> = series.points.iter().map(ends).collect();
    for neighbours in all.split(Option::is_none) {
        let neighbours: Vec<_> = neighbours.iter().flatten().copied().collect();
        add_band(&neighbours, colour(series.hue), scene);
    }
}

/// A band between the ends of neighbouring intervals; one that has no neighbour gets a bar.
fn add_band(ends: &[[(f64, f64); 2]], ink: Ink, scene: &mut Scene) {
    if ends.is_empty() {
        return;
    }
    if let [[low, high]] = *ends {
        let cap = |(x, y): (f64, f64)| vec![(x - 4.0, y), (x + 4.0, y)];
        let pieces = vec![vec![low, high], cap(low), cap(high)];
        scene.add(Shape::lines(pieces, Stroke::solid(ink, 1.5)));
        return;
    }
    let (lows, mut highs): (Vec<_>, Vec<_>) = ends.iter().map(|[low, high]| (*low, *high)).unzip();
    highs.reverse();
    let corners = [lows, highs].concat();
    scene.add(Shape::area(corners, Some(Fill { ink, opacity: 0.18 }), None));
}
