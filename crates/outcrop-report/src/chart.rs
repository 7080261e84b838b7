//! Figures are data: a chart is a specification (series with their values, intervals and sample counts, axes with units), and a
//! drawing is one way to read it.
//!
//! Layers say *what* to show; sizes, ticks, colours and legends are decided here, once. `draw` turns a specification into shapes,
//! and `svg`, `raster` and `pdf` write shapes down. The page's script draws the same specification, which the page embeds.

mod bar_chart;
mod csv;
mod distribution;
mod draw;
mod export;
mod font;
mod palette;
mod pdf;
mod raster;
mod reach;
mod scale;
mod scatter_chart;
mod scene;
mod significant;
mod support;
mod svg;

pub(crate) use bar_chart::{Bar, BarChart, BarGroup, Facet, Part, Segment};
pub(crate) use distribution::{cdf_of_latencies, thinned};
pub(crate) use draw::MARKERS;
pub use export::{ExportError, FileFormat, Label};
pub(crate) use palette::{COLOURS, FRAME, SERIES, css};
pub(crate) use scatter_chart::{ScatterChart, ScatterGroup, ScatterPoint, pareto_front, unbeaten};
pub(crate) use support::Support;

use outcrop_measure::metric::{Metric, Provenance};
use serde::Serialize;

use crate::cell::Cell;
use crate::number::Number;
use crate::section::FigureSlot;

/// Width of the drawing in the page, in CSS pixels at scale 1: half of a desktop page, or half a sheet of paper. A phone without
/// scripts scales it to three quarters, which can still be read.
const PAGE_WIDTH_PX: f64 = 470.0;

/// One figure of the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Stable identifier; the file name without its ending (`depth-vs-iops`).
    pub id: String,
    /// Heading: what is shown.
    pub title: String,
    /// One or two sentences: what to see in it and which cells were held fixed.
    pub caption: String,
    /// What somebody who cannot see the drawing needs: extent and end points of every series.
    pub alt_text: String,
    /// What it is about, where that is not what the answer of its layer is about.
    #[serde(skip)]
    pub(crate) subject: Option<Box<str>>,
    /// Whether a page that would be too long leaves it to the folder of figures.
    #[serde(skip)]
    pub(crate) wait: Wait,
    /// Everything that is drawn.
    pub(crate) chart: Chart,
    /// Everything that there is, where only a part of it has room.
    #[serde(skip)]
    pub(crate) complete: Option<Box<Chart>>,
}

/// When a page that would be too long leaves a figure to the folder of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wait {
    Never,
    /// Left out second, where leaving out the others is not enough.
    Late,
    /// Left out first: another figure shows most of it.
    Early,
}

impl Figure {
    /// The same under another title.
    #[must_use]
    pub fn titled(&self, title: &str) -> Self {
        Self {
            title: title.to_owned(),
            ..self.clone()
        }
    }

    /// The same about something else than the answer of its layer.
    #[must_use]
    pub(crate) fn about(self, subject: String) -> Self {
        Self {
            subject: Some(subject.into()),
            ..self
        }
    }

    /// The same with a chart that has more than is drawn, for whoever takes the data.
    #[must_use]
    pub(crate) fn with_data_of(self, chart: BarChart) -> Self {
        Self {
            complete: Some(Box::new(Chart::Bars(chart))),
            ..self
        }
    }
}

/// The specification of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Chart {
    Lines(LineChart),
    Points(ScatterChart),
    Bars(BarChart),
}

/// A chart of lines over two axes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LineChart {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// What an axis shows and how it is divided.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) quantity: Quantity,
    /// Unit of the values in the specification and in CSV; empty for what is counted, a share or a ratio.
    pub(crate) unit: &'static str,
    pub(crate) scale: Scale,
}

/// The division of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scale {
    /// Even steps from zero.
    Linear,
    /// Even steps over the values' own range: for what lies around a value other than zero (a ratio of two codecs).
    Fitted,
    /// Doublings: access sizes and queue depths.
    Log2,
    /// Decades, with 2 and 5 between them where there is room.
    Log10,
}

/// How the numbers of an axis are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// Bytes of one access: `4 KiB`.
    AccessSize,
    /// Things in flight: `32`.
    QueueDepth,
    /// Bytes per second: `1.2 GB/s`.
    Bandwidth,
    /// Operations per second: `352 k`.
    Iops,
    /// Nanoseconds: `62.8 µs`.
    Latency,
    /// Seconds since the start.
    Seconds,
    /// A share of 1: `0.1 %`.
    Share,
    /// Percent as a plain number: `70 %`.
    Percent,
    /// A ratio: `2.31`.
    Ratio,
    /// Things that are counted, possibly many: `64 k`.
    Count,
    /// Entropy of a byte, 0 to 8: `4 bit`.
    Bits,
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// Which colour and marker; the same number means the same thing in every figure.
    pub(crate) hue: usize,
    pub(crate) kind: SeriesKind,
    pub(crate) points: Vec<Point>,
}

/// Where a series comes from and how dense it is; both decide how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SeriesKind {
    /// Measured in this run: solid, a marker per cell, intervals as a band.
    Measured,
    /// Taken from a publication: dashed and hollow. Its name says so, unless it has the name and hue of a measured
    /// series: then one legend entry says so for all.
    Published,
    /// Computed by a model, not measured: dashes and dots, hollow.
    Modelled,
    /// Computed from this run's measurements: dotted.
    Derived,
    /// Measured, many points: solid and without markers.
    Dense,
}

/// One point with its interval, where it has one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Point {
    #[serde(serialize_with = "significant::number")]
    pub(crate) x: f64,
    #[serde(serialize_with = "significant::number")]
    pub(crate) y: f64,
    /// Interval of `y`, in the unit of `y`.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "significant::ends")]
    pub(crate) interval: Option<(f64, f64)>,
    #[serde(flatten)]
    pub(crate) support: Support,
    /// Which cell it is (`4 KiB random, QD 8`); empty where series and place say it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) cell: String,
    /// Value and certainty in words, for drawings that show no values of their own.
    #[serde(skip)]
    pub(crate) note: String,
}

impl Point {
    /// A number at a place of the other axis, with the words of its cell.
    pub(crate) fn of(x: f64, number: &Number, cell: &str) -> Self {
        let words = if cell.is_empty() {
            String::new()
        } else {
            format!("{cell}: ")
        };
        Self {
            x,
            y: number.value,
            interval: number.ends(),
            support: Support::of(number),
            cell: cell.to_owned(),
            note: format!("{words}{number} ({})", number.certainty()),
        }
    }

    /// Its words, which say where it comes from if it was not measured.
    pub(crate) fn note(&self, kind: SeriesKind) -> String {
        match kind {
            SeriesKind::Published if !self.note.contains("published") => format!("{} (published)", self.note),
            _ => self.note.clone(),
        }
    }

    /// The points of cells that have both coordinates, from left to right.
    pub(crate) fn of_cells<'c, 'a: 'c>(
        cells: impl IntoIterator<Item = &'c Cell<'a>>,
        x: impl Fn(&Cell<'a>) -> Option<f64>,
        y: &Metric,
        words: impl Fn(&Cell<'a>) -> String,
    ) -> Vec<Self> {
        let point = |cell| Some(Self::of(x(cell)?, cell.number(y)?, &words(cell)));
        let mut points: Vec<Self> = cells.into_iter().filter_map(point).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        points
    }

    /// A point that has no interval.
    pub(crate) fn bare(x: f64, y: f64, note: impl Into<String>) -> Self {
        Self {
            x,
            y,
            note: note.into(),
            ..Self::default()
        }
    }
}

impl Series {
    /// A line of some kind.
    pub(crate) fn new(
        name: impl Into<String>,
        hue: usize,
        kind: SeriesKind,
        points: impl IntoIterator<Item = Point>,
    ) -> Self {
        Self {
            name: name.into(),
            hue,
            points: points.into_iter().collect(),
            kind,
        }
    }
}

/// What an axis shows, in a line.
pub(crate) fn axis(label: &str, quantity: Quantity, scale: Scale) -> Axis {
    Axis {
        label: label.to_owned(),
        quantity,
        unit: quantity.base_unit(),
        scale,
    }
}

impl Figure {
    /// A figure of a chart.
    fn of(id: &str, title: &str, caption: String, alt_text: String, chart: Chart) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            caption,
            alt_text,
            wait: Wait::Never,
            complete: None,
            subject: None,
            chart,
        }
    }

    /// The drawing for the page.
    pub fn to_page_svg(&self) -> String {
        let scene = draw::draw(&self.chart, PAGE_WIDTH_PX);
        svg::write(&scene, &self.words(), svg::Medium::Page)
    }

    fn words(&self) -> svg::Words<'_> {
        svg::Words {
            id: &self.id,
            title: &self.title,
            description: &self.alt_text,
        }
    }
}

impl LineChart {
    /// The chart as a slot of the page; one that comes out empty says which plan would fill it.
    pub(crate) fn slot(self, id: &str, title: &str, caption: impl Into<String>, plan: &str) -> FigureSlot {
        FigureSlot::of(self.draw(id, title, caption.into()), title, plan)
    }

    /// The same of a chart that is worth drawing only where a line leads from one place of the x axis to another: without such a line
    /// it says why, and which plan would give one.
    pub(crate) fn curves(
        self,
        id: &str,
        title: &str,
        caption: impl Into<String>,
        plan: &str,
        if_none: &str,
    ) -> FigureSlot {
        if self.series.iter().any(Series::is_curve) {
            self.slot(id, title, caption, plan)
        } else {
            FigureSlot::missing(title, if_none, plan)
        }
    }

    /// Draws the chart, or `None` if no series has a point that its axes can show.
    pub(crate) fn draw(mut self, id: &str, title: &str, mut caption: String) -> Option<Figure> {
        let (x_scale, y_scale) = (self.x.scale, self.y.scale);
        for series in &mut self.series {
            series
                .points
                .retain(|point| x_scale.can_show(point.x) && y_scale.can_show(point.y));
            let points = series.points.iter_mut();
            points.for_each(|point| point.support.within(series.kind));
        }
        self.series.retain(|series| !series.points.is_empty());
        if self.series.is_empty() {
            return None;
        }
        caption.extend(self.beyond_the_axes());
        let alt_text = self.alt_text(title);
        Some(Figure::of(id, title, caption, alt_text, Chart::Lines(self)))
    }

    fn alt_text(&self, title: &str) -> String {
        let mut text = format!("{title}. {} against {}.", self.y.label, self.x.label);
        for series in &self.series {
            let (Some(first), Some(last)) = (series.points.first(), series.points.last()) else {
                continue;
            };
            let at = |point: &Point| {
                format!(
                    "{} at {}",
                    self.y.quantity.spell(point.y),
                    self.x.quantity.spell(point.x)
                )
            };
            if series.points.len() == 1 {
                text.push_str(&format!(" {}: {}.", series.spoken_name(), at(first)));
            } else {
                text.push_str(&format!(
                    " {}: from {} to {}.",
                    series.spoken_name(),
                    at(first),
                    at(last)
                ));
            }
        }
        text
    }
}

impl Series {
    /// Whether it leads from one place of the x axis to another.
    pub(crate) fn is_curve(&self) -> bool {
        self.points.iter().any(|point| point.x != self.points[0].x)
    }

    /// The name, which says *published* where the drawing shows it by its dashes alone.
    fn spoken_name(&self) -> String {
        match self.kind {
            SeriesKind::Published if !self.name.contains("published") => format!("{} (published)", self.name),
            _ => self.name.clone(),
        }
    }
}

impl SeriesKind {
    /// Whether its markers are outlines: what was not measured here.
    pub(crate) const fn is_hollow(self) -> bool {
        matches!(self, Self::Published | Self::Modelled)
    }

    /// Where its values come from, unless they say otherwise themselves.
    const fn provenance(self) -> Provenance {
        match self {
            Self::Measured | Self::Dense => Provenance::Measured,
            Self::Published => Provenance::Published,
            Self::Modelled => Provenance::Modelled,
            Self::Derived => Provenance::Derived,
        }
    }
}

impl Scale {
    /// Whether a value has a place on this scale.
    pub(crate) fn can_show(self, value: f64) -> bool {
        value.is_finite() && (matches!(self, Self::Linear | Self::Fitted) || value > 0.0)
    }
}

#[cfg(test)]
mod tests;
