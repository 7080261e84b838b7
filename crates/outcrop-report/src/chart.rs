//! Figures and what they are drawn from: our own small vocabulary in front of the chart library.
//!
//! Only `draw` knows the library. Everything above says *what* to show (series, axes, units, intervals,
//! whether a series was measured or published); sizes, ticks, colours and legends are decided here, once.

mod bar_chart;
mod distribution;
mod draw;
mod legend;
mod palette;
mod scale;
mod scatter_chart;

pub(crate) use bar_chart::{Bar, BarChart, BarGroup, Facet, Part, Segment};
pub(crate) use distribution::{cdf_of_latencies, thinned};
pub(crate) use palette::{COLOURS, dark_mode_css};
pub(crate) use scatter_chart::{ScatterChart, ScatterGroup, ScatterPoint, pareto_front};

use outcrop_measure::metric::Metric;
use serde::Serialize;

use crate::cell::Cell;
use crate::number::Number;
use crate::section::FigureSlot;

/// One drawing of the report, ready to stand alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// Stable identifier; the file name without its ending (`depth-vs-iops`).
    pub id: String,
    /// Heading: what is shown.
    pub title: String,
    /// One or two sentences: what to see in it and which cells were held fixed.
    pub caption: String,
    /// What somebody who cannot see the drawing needs: extent and end points of every series.
    pub alt_text: String,
    /// The drawing at desktop width, a self-contained SVG document.
    #[serde(skip)]
    pub svg: String,
    /// The same drawing laid out for a phone, so that its text stays readable there.
    #[serde(skip)]
    pub narrow_svg: String,
}

/// A chart of lines over two axes.
#[derive(Clone, Debug)]
pub(crate) struct LineChart {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// What an axis shows and how it is divided.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) quantity: Quantity,
    pub(crate) scale: Scale,
}

/// The division of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// Which colour and marker; the same number means the same thing in every figure.
    pub(crate) hue: usize,
    pub(crate) points: Vec<Point>,
    pub(crate) kind: SeriesKind,
}

/// Where a series comes from and how dense it is; both decide how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Interval of `y`, in the unit of `y`.
    pub(crate) interval: Option<(f64, f64)>,
    /// Shown when the pointer rests on the point.
    pub(crate) note: String,
}

impl Point {
    /// A number at a place of the other axis, with the words of its cell.
    pub(crate) fn of(x: f64, number: &Number, words: &str) -> Self {
        let words = if words.is_empty() {
            String::new()
        } else {
            format!("{words}: ")
        };
        Self {
            x,
            y: number.value,
            interval: number.ends(),
            note: format!("{words}{number} ({})", number.certainty()),
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
            interval: None,
            note: note.into(),
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
        scale,
    }
}

impl Figure {
    /// The drawing as a file of its own, which follows a dark scheme like the page does.
    pub fn to_svg_file(&self) -> String {
        let style = format!("<style>{}</style>", palette::standalone_css());
        self.svg.replacen("</desc>", &format!("</desc>{style}"), 1)
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
    pub(crate) fn draw(mut self, id: &str, title: &str, caption: String) -> Option<Figure> {
        let (x_scale, y_scale) = (self.x.scale, self.y.scale);
        for series in &mut self.series {
            series
                .points
                .retain(|point| x_scale.can_show(point.x) && y_scale.can_show(point.y));
        }
        self.series.retain(|series| !series.points.is_empty());
        if self.series.is_empty() {
            return None;
        }
        let alt_text = self.alt_text(title);
        Some(Figure::of(id, title, caption, alt_text, |frame, words| {
            draw::draw_lines(&self, frame, words)
        }))
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
}

impl Scale {
    /// Whether a value has a place on this scale.
    pub(crate) fn can_show(self, value: f64) -> bool {
        value.is_finite() && (matches!(self, Self::Linear | Self::Fitted) || value > 0.0)
    }
}

#[cfg(test)]
mod tests;
