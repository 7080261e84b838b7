//! Lines over two axes.

use kuva::backend::svg::SvgBackend;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, Scene, render_multiple};

use super::plane::Plane;
use super::{Frame, Words, colour, dashes, marker, with_own_root};
use crate::chart::legend::{Legend, Look, entries_of, marker_shape};
use crate::chart::scale::AxisPlan;
use crate::chart::{LineChart, Point, Series, SeriesKind};

/// Draws the chart into a frame. Equal input gives equal bytes.
pub(in crate::chart) fn draw(chart: &LineChart, frame: Frame, words: &Words<'_>) -> String {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let x = AxisPlan::over(&chart.x, points().map(|point| point.x), frame.x_ticks);
    let y = AxisPlan::over(&chart.y, points().flat_map(extent), frame.y_ticks);
    let legend = Legend::flow(entries_of(&chart.series), frame.width);
    let plane = Plane::new(frame, x, y, legend.height_px());
    let plots = chart
        .series
        .iter()
        .flat_map(|series| plots_of(series, &plane.x, &plane.y))
        .collect();
    let mut scene = render_multiple(plots, plane.layout());
    for series in chart.series.iter().filter(|series| series.kind.is_hollow()) {
        hollow_markers(series, &plane, &mut scene);
    }
    legend.add_to(&mut scene);
    scene.add(plane.y_label());
    with_own_root(&SvgBackend.render_scene(&scene), frame, words)
}

fn extent(point: &Point) -> impl Iterator<Item = f64> {
    let (low, high) = point.interval.unwrap_or((point.y, point.y));
    [low, point.y, high].into_iter()
}

fn plots_of(series: &Series, x: &AxisPlan, y: &AxisPlan) -> Vec<Plot> {
    let place = |point: &Point| (x.place(point.x), y.place(point.y));
    let line = LinePlot::new()
        .with_data(series.points.iter().map(place))
        .with_color(colour(series.hue))
        .with_stroke_width(2.0)
        .with_line_style(dashes(series.kind));
    let mut plots = vec![Plot::Line(with_intervals(line, series, y))];
    let has_markers = series.kind != SeriesKind::Dense || series.points.len() == 1;
    if has_markers && !series.kind.is_hollow() {
        let markers = ScatterPlot::new()
            .with_data(series.points.iter().map(place))
            .with_color(colour(series.hue))
            .with_marker(marker(series.hue))
            .with_size(4.0)
            .with_tooltip_labels(series.points.iter().map(|point| point.note.clone()));
        plots.push(Plot::Scatter(markers));
    }
    plots
}

/// Outlines at the points of what was not measured here.
fn hollow_markers(series: &Series, plane: &Plane, scene: &mut Scene) {
    for point in &series.points {
        scene.add(Primitive::GroupStart {
            transform: None,
            title: Some(point.note.clone()).filter(|note| !note.is_empty()),
            extra_attrs: None,
        });
        let at = plane.at(point.x, point.y);
        scene.add(marker_shape(
            marker(series.hue),
            at,
            colour(series.hue),
            Look::Hollow,
        ));
        scene.add(Primitive::GroupEnd);
    }
}

/// Intervals as a band around the line; a lone point gets a bar.
fn with_intervals(line: LinePlot, series: &Series, y: &AxisPlan) -> LinePlot {
    if series.points.iter().all(|point| point.interval.is_none()) {
        return line;
    }
    let ends: Vec<(f64, f64)> = series
        .points
        .iter()
        .map(|point| {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            (y.place(low).max(y.low), y.place(high).min(y.high))
        })
        .collect();
    if let ([(low, high)], [point]) = (ends.as_slice(), series.points.as_slice()) {
        let middle = y.place(point.y);
        return line.with_y_err_asymmetric([(middle - low, high - middle)]);
    }
    line.with_band(
        ends.iter().map(|(low, _)| *low),
        ends.iter().map(|(_, high)| *high),
    )
}
