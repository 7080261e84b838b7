//! Points over two axes, of which some are on the front that no other point beats on both.

use outcrop_measure::metric::Better;

use serde::Serialize;

use super::{Axis, Chart, Figure, SeriesKind, Support};
use crate::number::Number;

/// A chart of named points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ScatterChart {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Which direction of the horizontal axis is the better one: it decides how the front's stairs turn.
    #[serde(serialize_with = "better")]
    pub(crate) x_better: Better,
    pub(crate) groups: Vec<ScatterGroup>,
    /// What the legend calls the front; none where there is none to draw.
    pub(crate) front_name: Option<String>,
}

/// Points of one colour and marker.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ScatterGroup {
    /// Groups of the same name share one legend entry.
    pub(crate) name: String,
    pub(crate) hue: usize,
    /// Hollow where it was not measured here.
    pub(crate) kind: SeriesKind,
    /// Whether the chart has a front that this group has no point on: its points are then drawn pale.
    pub(crate) is_beside_front: bool,
    pub(crate) points: Vec<ScatterPoint>,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ScatterPoint {
    #[serde(serialize_with = "super::significant::number")]
    pub(crate) x: f64,
    #[serde(serialize_with = "super::significant::number")]
    pub(crate) y: f64,
    /// Interval of `x`, in its unit.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "super::significant::ends"
    )]
    pub(crate) x_interval: Option<(f64, f64)>,
    /// Interval of `y`, where it has one: that of a sample, most often.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "super::significant::ends"
    )]
    pub(crate) y_interval: Option<(f64, f64)>,
    /// Confidence of that.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "super::significant::option"
    )]
    pub(crate) y_confidence: Option<f64>,
    #[serde(flatten)]
    pub(crate) support: Support,
    /// Which cell it is.
    pub(crate) cell: String,
    /// Written beside the point where there is room; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) label: String,
    /// Whether no other point is better on both axes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) on_front: bool,
    /// Value and certainty in words, for drawings that show no values of their own.
    #[serde(skip)]
    pub(crate) note: String,
}

impl ScatterPoint {
    /// A number on the horizontal axis, with its place on the other.
    pub(crate) fn of(x: &Number, y: f64, cell: &str) -> Self {
        Self {
            x: x.value,
            y,
            x_interval: x.ends(),
            y_interval: None,
            y_confidence: None,
            support: Support::of(x),
            cell: cell.to_owned(),
            label: String::new(),
            on_front: false,
            note: String::new(),
        }
    }

    /// The same with the interval of its place on the vertical axis.
    #[must_use]
    pub(crate) fn with_y(self, y: &Number) -> Self {
        let ends = y.ends().filter(|(low, high)| low < high);
        Self {
            y_interval: ends,
            y_confidence: ends.and(y.interval).map(|interval| interval.confidence),
            ..self
        }
    }
}

fn better<S: serde::Serializer>(better: &Better, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    })
}

impl ScatterChart {
    /// Draws the chart, or `None` if it has no point that its axes can show.
    pub(crate) fn draw(mut self, id: &str, title: &str, caption: String) -> Option<Figure> {
        let (x_scale, y_scale) = (self.x.scale, self.y.scale);
        for group in &mut self.groups {
            group
                .points
                .retain(|point| x_scale.can_show(point.x) && y_scale.can_show(point.y));
            let points = group.points.iter_mut();
            points.for_each(|point| point.support.within(group.kind));
        }
        self.groups.retain(|group| !group.points.is_empty());
        if self.groups.is_empty() {
            return None;
        }
        let alt_text = self.alt_text(title);
        Some(Figure::of(id, title, caption, alt_text, Chart::Points(self)))
    }

    /// The points on the front.
    pub(super) fn front(&self) -> impl Iterator<Item = &ScatterPoint> {
        let points = self.groups.iter().flat_map(|group| &group.points);
        points.filter(|point| point.on_front)
    }

    /// Whether the places on the vertical axis have intervals.
    pub(super) fn has_y_intervals(&self) -> bool {
        self.y_confidences().next().is_some()
    }

    /// The confidence of each interval on the vertical axis.
    pub(super) fn y_confidences(&self) -> impl Iterator<Item = f64> {
        let points = self.groups.iter().flat_map(|group| &group.points);
        points.filter_map(|point| point.y_confidence)
    }

    fn alt_text(&self, title: &str) -> String {
        let mut text = format!("{title}. {} against {}.", self.y.label, self.x.label);
        for group in &self.groups {
            for point in &group.points {
                // A point without a name in the drawing has that of its cell.
                let name = match point.label.as_str() {
                    "" => &point.cell,
                    label => label,
                };
                text.push_str(&format!(
                    " {} {name}: {} at {}{}.",
                    group.name,
                    self.y.quantity.spell(point.y),
                    self.x.quantity.spell(point.x),
                    if point.on_front { ", on the front" } else { "" }
                ));
            }
        }
        text
    }
}

/// Which points no other point beats: at least as good on both axes and better on one. Equal points are all in.
///
/// *Cost*: quadratic; a report has hundreds of points at most.
pub(crate) fn pareto_front(points: &[(f64, f64)], x_better: Better, y_better: Better) -> Vec<bool> {
    let oriented: Vec<Vec<f64>> = points
        .iter()
        .map(|&(x, y)| vec![towards(x, x_better), towards(y, y_better)])
        .collect();
    unbeaten(&oriented)
}

/// Which rows no other row beats, by nothing lower and something higher; a row with what is not a finite number is not one of them.
pub(crate) fn unbeaten(rows: &[Vec<f64>]) -> Vec<bool> {
    let beats = |one: &Vec<f64>, other: &Vec<f64>| {
        let pairs = || one.iter().zip(other);
        pairs().all(|(one, other)| one >= other) && pairs().any(|(one, other)| one > other)
    };
    rows.iter()
        .map(|row| row.iter().all(|figure| figure.is_finite()) && !rows.iter().any(|other| beats(other, row)))
        .collect()
}

fn towards(value: f64, better: Better) -> f64 {
    match better {
        Better::Higher => value,
        Better::Lower => -value,
    }
}
