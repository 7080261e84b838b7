//! Bars: groups of them in rows, facets side by side.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Axis, Chart, Figure, Point, Scale, SeriesKind, Support};
use crate::number::Number;
use crate::section::FigureSlot;

/// Bars along one axis of values; stacked where a bar has several segments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct BarChart {
    /// Along which the bars run. On [`Scale::Log10`] a bar has one segment: parts of a sum have no length there.
    pub(crate) value: Axis,
    /// What the colours mean.
    pub(crate) parts: Vec<Part>,
    /// Side by side, over the same division of the axis.
    pub(crate) facets: Vec<Facet>,
}

/// A colour of a bar chart and its meaning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) hue: usize,
}

/// One panel of a bar chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Facet {
    /// What the panel holds fixed (`4 KiB`); empty where there is one panel.
    pub(crate) title: String,
    /// Groups of the same label stand in the same row of every facet.
    pub(crate) groups: Vec<BarGroup>,
}

/// Bars that belong together, under one name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct BarGroup {
    pub(crate) label: String,
    pub(crate) bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Bar {
    /// Filled where it was measured; pale with an outline where it was published or modelled.
    pub(crate) kind: SeriesKind,
    /// One, or several that are stacked in this order.
    pub(crate) segments: Vec<Segment>,
    /// Value and certainty in words, for drawings that show no values of their own.
    #[serde(skip)]
    pub(crate) note: String,
}

/// One part of a bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Segment {
    /// Index into [`BarChart::parts`]; not written where it is the first, which most are.
    #[serde(skip_serializing_if = "is_first")]
    pub(crate) part: usize,
    /// Where it is not that of the bar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<SeriesKind>,
    #[serde(serialize_with = "super::significant::number")]
    pub(crate) value: f64,
    /// Interval of the value, in its unit.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "super::significant::ends"
    )]
    pub(crate) interval: Option<(f64, f64)>,
    #[serde(flatten)]
    pub(crate) support: Support,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_first(part: &usize) -> bool {
    *part == 0
}

impl Segment {
    /// A number.
    pub(crate) fn of(part: usize, number: &Number) -> Self {
        Self {
            part,
            kind: None,
            value: number.value,
            interval: number.ends(),
            support: Support::of(number),
        }
    }

    /// A value that has no interval.
    pub(crate) fn bare(part: usize, value: f64) -> Self {
        Self {
            part,
            kind: None,
            value,
            interval: None,
            support: Support::default(),
        }
    }

    /// A value computed from others, the one with the fewest samples having so many.
    pub(crate) fn derived(part: usize, value: f64, n: Option<usize>) -> Self {
        Self {
            support: Support::derived(n),
            ..Self::bare(part, value)
        }
    }

    /// The same where it is of another kind than the bar.
    pub(crate) fn of_kind(self, kind: SeriesKind) -> Self {
        Self {
            kind: Some(kind),
            ..self
        }
    }
}

impl Part {
    /// Colours of these names, in their order.
    pub(crate) fn all<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<Self> {
        let part = |(hue, name): (usize, &str)| Self {
            name: name.to_owned(),
            hue,
        };
        names.into_iter().enumerate().map(part).collect()
    }
}

impl Bar {
    /// A bar of a number, with the words of its cell.
    pub(crate) fn of(kind: SeriesKind, part: usize, number: &Number, words: &str) -> Self {
        let segment = Segment::of(part, number);
        let note = Point::of(0.0, number, words).note;
        Self::single(kind, segment, note)
    }

    /// The same as a multiple of a base; its note keeps the number.
    pub(crate) fn over(mut self, base: f64) -> Self {
        for segment in &mut self.segments {
            segment.value /= base;
            let ends = segment.interval;
            segment.interval = ends.map(|(low, high)| (low / base, high / base));
        }
        self
    }

    /// The kind of one of its segments.
    pub(crate) fn kind_of(&self, segment: &Segment) -> SeriesKind {
        segment.kind.unwrap_or(self.kind)
    }

    /// Leaves out of its segments what it says of all of them.
    fn say_provenance_once(&mut self) {
        for segment in &mut self.segments {
            segment.support.within(segment.kind.unwrap_or(self.kind));
        }
    }

    /// A bar of one segment.
    pub(crate) fn single(kind: SeriesKind, segment: Segment, note: String) -> Self {
        Self {
            kind,
            segments: vec![segment],
            note,
        }
    }
}

impl BarChart {
    /// The chart as a slot of the page; one that comes out empty says which plan would fill it.
    pub(crate) fn slot(self, id: &str, title: &str, caption: impl Into<String>, plan: &str) -> FigureSlot {
        FigureSlot::of(self.draw(id, title, caption.into()), title, plan)
    }

    /// Draws the chart, or `None` if no bar has a length that its axis can show.
    pub(crate) fn draw(mut self, id: &str, title: &str, caption: String) -> Option<Figure> {
        let scale = self.value.scale;
        let is_shown = |bar: &Bar| match scale {
            Scale::Log10 => matches!(bar.segments.as_slice(), [one] if scale.can_show(one.value)),
            _ => {
                let parts = || bar.segments.iter().map(|segment| segment.value);
                parts().all(|value| value.is_finite() && value >= 0.0) && parts().any(|value| value > 0.0)
            }
        };
        for facet in &mut self.facets {
            for group in &mut facet.groups {
                group.bars.retain(is_shown);
                group.bars.iter_mut().for_each(Bar::say_provenance_once);
            }
            facet.groups.retain(|group| !group.bars.is_empty());
        }
        self.facets.retain(|facet| !facet.groups.is_empty());
        if self.facets.is_empty() {
            return None;
        }
        self.keep_used_parts();
        let alt_text = self.alt_text(title);
        Some(Figure::of(id, title, caption, alt_text, Chart::Bars(self)))
    }

    /// Leaves out the colours that no bar has: a legend names nothing that is not drawn.
    fn keep_used_parts(&mut self) {
        let groups = self.facets.iter_mut().flat_map(|facet| &mut facet.groups);
        let bars = groups.flat_map(|group| &mut group.bars);
        let mut segments: Vec<&mut Segment> = bars.flat_map(|bar| &mut bar.segments).collect();
        let used: BTreeSet<usize> = segments.iter().map(|segment| segment.part).collect();
        for segment in &mut segments {
            segment.part = used.range(..segment.part).count();
        }
        let parts = std::mem::take(&mut self.parts).into_iter().enumerate();
        self.parts = parts
            .filter(|(place, _)| used.contains(place))
            .map(|(_, part)| part)
            .collect();
    }

    /// Every label once, in the order of first appearance.
    pub(super) fn labels(&self) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        for group in self.facets.iter().flat_map(|facet| &facet.groups) {
            if !labels.contains(&group.label) {
                labels.push(group.label.clone());
            }
        }
        labels
    }

    /// The lengths that the axis has to hold: not published ones, which are other hardware, unless there are no others.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        let bars = || {
            let groups = self.facets.iter().flat_map(|facet| &facet.groups);
            groups.flat_map(|group| &group.bars)
        };
        let has_own = bars().any(|bar| bar.kind != SeriesKind::Published);
        let is_own = move |bar: &&Bar| !has_own || bar.kind != SeriesKind::Published;
        bars().filter(is_own).flat_map(|bar| {
            let mut end = 0.0;
            let mut ends = Vec::new();
            for segment in &bar.segments {
                ends.extend(segment.interval.map(|(_, high)| end + high));
                end += segment.value;
            }
            // What lies within a stack is shorter than all of it.
            ends.retain(|high| *high > end);
            if let [
                Segment {
                    interval: Some((low, _)),
                    ..
                },
            ] = bar.segments.as_slice()
            {
                ends.push(*low);
            }
            [end].into_iter().chain(ends)
        })
    }

    fn alt_text(&self, title: &str) -> String {
        let mut text = format!("{title}. Bars of {}.", self.value.label);
        for facet in &self.facets {
            for group in &facet.groups {
                let bars: Vec<String> = group.bars.iter().map(|bar| self.bar_in_words(bar)).collect();
                let place = [facet.title.as_str(), group.label.as_str()]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(", ");
                text.push_str(&format!(" {place}: {}.", bars.join("; ")));
            }
        }
        text
    }

    fn bar_in_words(&self, bar: &Bar) -> String {
        let segments = bar.segments.iter().map(|segment| {
            let name = self.parts.get(segment.part).map_or("", |part| &part.name);
            let value = self.value.quantity.spell(segment.value);
            match segment.kind {
                Some(SeriesKind::Derived) => format!("{name} {value} (derived)"),
                _ => format!("{name} {value}"),
            }
        });
        let text = segments.collect::<Vec<_>>().join(", ");
        match bar.kind {
            SeriesKind::Measured | SeriesKind::Dense => text,
            SeriesKind::Published => format!("published {text}"),
            SeriesKind::Modelled => format!("modelled {text}"),
            SeriesKind::Derived => format!("derived {text}"),
        }
    }
}
