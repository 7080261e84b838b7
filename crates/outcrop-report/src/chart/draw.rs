//! Drawing: this module and `legend` are the only ones that know the chart library (kuva).
//!
//! It hands over positions and fixed margins, adds the legend above the plot, and rewrites the root element
//! so that a drawing scales with its page, speaks to screen readers and follows a dark scheme.

use kuva::backend::svg::SvgBackend;
use kuva::plot::{LinePlot, LineStyle, MarkerShape, ScatterPlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, TextAnchor, render_multiple};
use kuva::{AxisLabelOverlap, Theme};

use super::legend::Legend;
use super::scale::AxisPlan;
use super::{LineChart, Point, Series, SeriesKind, palette};

/// Outer size of a drawing in CSS pixels at scale 1.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    width: f64,
    height: f64,
    x_ticks: usize,
    y_ticks: usize,
}

impl Frame {
    /// Half of a desktop page, a whole tablet, half a sheet of paper.
    pub(super) const WIDE: Self = Self {
        width: 560.0,
        height: 360.0,
        x_ticks: 7,
        y_ticks: 6,
    };
    /// A phone of 375 px with its margins.
    pub(super) const NARROW: Self = Self {
        width: 340.0,
        height: 320.0,
        x_ticks: 5,
        y_ticks: 6,
    };
}

/// The words that belong to a drawing: its identifier, and what a screen reader says.
pub(super) struct Words<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) description: &'a str,
}

pub(super) const TEXT_PX: u32 = 13;
const TICK_PX: u32 = 12;
const MARGIN_RIGHT_PX: f64 = 22.0;
/// Room for the name of the vertical axis, which stands upright above it.
const Y_LABEL_PX: f64 = 18.0;
const MARGIN_BOTTOM_PX: f64 = 44.0;
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
/// What the library adds for drawings with tooltips; a pointer that promises a click would mislead.
const TOOLTIP_STYLE: &str = "<style>g.tt{cursor:pointer;}g.tt:hover>*{opacity:0.75;}</style>";
const MARKERS: [MarkerShape; 5] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Triangle,
    MarkerShape::Diamond,
    MarkerShape::TriangleDown,
];

/// Draws the chart into a frame. Equal input gives equal bytes.
pub(super) fn draw(chart: &LineChart, frame: Frame, words: &Words<'_>) -> String {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let x = AxisPlan::over(&chart.x, points().map(|point| point.x), frame.x_ticks);
    let y = AxisPlan::over(&chart.y, points().flat_map(extent), frame.y_ticks);
    let legend = Legend::flow(&chart.series, frame.width);
    let margin_top = legend.height_px() + Y_LABEL_PX + 12.0;
    let margin_left = 18.0 + widest_tick_px(&y);

    let mut layout = Layout::new((x.low, x.high), (y.low, y.high))
        .with_width(frame.width)
        .with_height(frame.height)
        .with_x_axis_min(x.low)
        .with_x_axis_max(x.high)
        .with_y_axis_min(y.low)
        .with_y_axis_max(y.high)
        .with_x_label(x.label.clone())
        .with_label_size(TEXT_PX)
        .with_tick_size(TICK_PX)
        .with_x_label_overlap(AxisLabelOverlap::Thin)
        .with_x_tick_format(TickFormat::Custom(x.spell.clone()))
        .with_y_tick_format(TickFormat::Custom(y.spell.clone()))
        .with_force_margins(margin_left, MARGIN_RIGHT_PX)
        .with_force_margins_y(margin_top, MARGIN_BOTTOM_PX)
        .with_theme(theme());
    layout.show_legend = false;
    layout = match x.step {
        Some(step) => layout.with_x_tick_step(step),
        None if x.is_log10() => layout.with_log_x(),
        None => layout,
    };
    layout = match y.step {
        Some(step) => layout.with_y_tick_step(step),
        None if y.is_log10() => layout.with_log_y(),
        None => layout,
    };

    let plots = chart
        .series
        .iter()
        .flat_map(|series| plots_of(series, &x, &y))
        .collect();
    let mut scene = render_multiple(plots, layout);
    legend.add_to(&mut scene);
    scene.add(y_label(&y.label, margin_top));
    with_own_root(&SvgBackend.render_scene(&scene), frame, words)
}

/// The name of the vertical axis, left-aligned above the plot: nobody has to tilt their head.
fn y_label(label: &str, plot_top_px: f64) -> Primitive {
    Primitive::Text {
        x: 8.0,
        y: plot_top_px - 10.0,
        content: label.to_owned(),
        size: TEXT_PX,
        anchor: TextAnchor::Start,
        rotate: None,
        bold: false,
        color: None,
    }
}

fn extent(point: &Point) -> impl Iterator<Item = f64> {
    let (low, high) = point.interval.unwrap_or((point.y, point.y));
    [low, point.y, high].into_iter()
}

fn theme() -> Theme {
    Theme {
        background: "none".into(),
        axis_color: palette::AXIS.light.into(),
        grid_color: palette::GRID.light.into(),
        tick_color: palette::AXIS.light.into(),
        text_color: palette::TEXT.light.into(),
        font_family: Some(FONT.into()),
        ..Theme::light()
    }
}

pub(super) fn colour(index: usize) -> &'static str {
    palette::SERIES[index % palette::SERIES.len()].light
}

pub(super) fn marker(index: usize) -> MarkerShape {
    MARKERS[index % MARKERS.len()]
}

pub(super) fn dashes(kind: SeriesKind) -> LineStyle {
    match kind {
        SeriesKind::Measured | SeriesKind::Dense => LineStyle::Solid,
        SeriesKind::Published => LineStyle::Custom("7 4".into()),
        SeriesKind::Derived => LineStyle::Custom("2 4".into()),
    }
}

fn plots_of(series: &Series, x: &AxisPlan, y: &AxisPlan) -> Vec<Plot> {
    let place = |point: &Point| (x.place(point.x), y.place(point.y));
    let line = LinePlot::new()
        .with_data(series.points.iter().map(place))
        .with_color(colour(series.hue))
        .with_stroke_width(2.0)
        .with_line_style(dashes(series.kind));
    let mut plots = vec![Plot::Line(with_intervals(line, series, y))];
    if series.kind != SeriesKind::Dense || series.points.len() == 1 {
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

/// Width that the widest tick label of the vertical axis may take, from a cautious width per character.
fn widest_tick_px(y: &AxisPlan) -> f64 {
    let ticks: Vec<f64> = match y.step {
        Some(step) => {
            let count = ((y.high - y.low) / step) as usize;
            (0..=count).map(|index| y.low + index as f64 * step).collect()
        }
        None => kuva::render::render_utils::generate_ticks_log(y.low, y.high),
    };
    ticks
        .iter()
        .map(|tick| text_width_px(&(y.spell)(*tick), TICK_PX))
        .fold(20.0, f64::max)
}

pub(super) fn text_width_px(text: &str, size_px: u32) -> f64 {
    text.chars().count() as f64 * f64::from(size_px) * 0.58
}

/// Replaces the library's root element: ours scales, is labelled for screen readers and carries the class
/// that style rules hang on. Identifiers become unique, because several drawings share one page.
fn with_own_root(svg: &str, frame: Frame, words: &Words<'_>) -> String {
    let body_at = svg.find('>').map_or(0, |at| at + 1);
    let Frame { width, height, .. } = frame;
    let prefix = format!("{}-{width}", words.id);
    let body = svg
        .get(body_at..)
        .unwrap_or_default()
        .replace("<rect width=\"100%\" height=\"100%\" fill=\"none\" />", "")
        .replace(TOOLTIP_STYLE, "");
    let body = with_own_clip(&body, &format!("{prefix}-clip"));
    let text = palette::TEXT.light;
    let (title, description) = (escape(words.title), escape(words.description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"{prefix}-title {prefix}-desc\" fill=\"{text}\" \
         font-family=\"{FONT}\">\
         <title id=\"{prefix}-title\">{title}</title>\
         <desc id=\"{prefix}-desc\">{description}</desc>{body}"
    )
}

/// Renames the clip path. The library numbers them through the whole process, so that equal charts would
/// differ; a chart has one.
fn with_own_clip(body: &str, name: &str) -> String {
    let mut pieces = body.split("kuva-clip-");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let rest = piece.trim_start_matches(|letter: char| letter.is_ascii_digit());
        text + name + rest
    })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
