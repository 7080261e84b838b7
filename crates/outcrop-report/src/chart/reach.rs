//! Published values in a chart: whether there are any, how far they stretch the axes, and what is said of those that lie beyond.

use super::{Chart, Figure, LineChart, Scale, Series, SeriesKind};

/// A published line may be so many times as high as ours, and on a logarithmic axis as low: beyond that, ours would lie flat.
const ROOM: f64 = 10.0;

/// The lowest and the highest value of some series.
type Range = (f64, f64);

impl Figure {
    /// Whether values that others published are drawn in it.
    pub fn has_published(&self) -> bool {
        let is_published = |kind: SeriesKind| kind == SeriesKind::Published;
        match &self.chart {
            Chart::Lines(chart) => chart.series.iter().any(|series| is_published(series.kind)),
            Chart::Points(chart) => chart.groups.iter().any(|group| is_published(group.kind)),
            Chart::Bars(chart) => {
                let groups = chart.facets.iter().flat_map(|facet| &facet.groups);
                groups
                    .flat_map(|group| &group.bars)
                    .any(|bar| is_published(bar.kind))
            }
        }
    }
}

impl LineChart {
    /// The series that decide how far the axes reach: published ones, which are other hardware, as far as ours can still be read next to
    /// them, and where there are no others.
    pub(super) fn setting_the_scale(&self) -> impl Iterator<Item = &Series> {
        let (own, scale) = (self.own_heights(), self.y.scale);
        let all = self.series.iter();
        all.filter(move |series| own.is_none_or(|own| sets_the_scale(series, own, scale)))
    }

    /// That published values lie beyond the axes, as a sentence with a blank before it: a line that is cut there looks as if it ended there.
    pub(super) fn beyond_the_axes(&self) -> Option<String> {
        let own = self.own_heights()?;
        let is_cut = |series: &&Series| !sets_the_scale(series, own, self.y.scale);
        let (low, high) = range_of(self.series.iter().filter(is_cut))?;
        let (verb, end, side) = match high > own.1 {
            true => ("reach", high, "above"),
            false => ("go down to", low, "below"),
        };
        let end = self.y.quantity.spell(end);
        Some(format!(
            " Published values {verb} {end}: those {side} the axis are not shown."
        ))
    }

    fn own_heights(&self) -> Option<Range> {
        let own = self.series.iter();
        range_of(own.filter(|series| series.kind != SeriesKind::Published))
    }
}

fn range_of<'s>(series: impl Iterator<Item = &'s Series>) -> Option<Range> {
    let heights = series.flat_map(|series| &series.points).map(|point| point.y);
    heights.fold(None, |range: Option<Range>, y| {
        let (low, high) = range.unwrap_or((y, y));
        Some((low.min(y), high.max(y)))
    })
}

fn sets_the_scale(series: &Series, (low, high): Range, scale: Scale) -> bool {
    let least = match scale {
        Scale::Log10 | Scale::Log2 => low / ROOM,
        Scale::Linear | Scale::Fitted => f64::NEG_INFINITY,
    };
    let within = least..=(high * ROOM);
    series.kind != SeriesKind::Published || series.points.iter().all(|point| within.contains(&point.y))
}
