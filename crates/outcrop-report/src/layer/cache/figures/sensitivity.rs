//! What one factor changes while all others stay where they are: small multiples over the baseline.

use crate::chart::{Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, Segment, SeriesKind, axis};
use crate::layer::cache::cell::Cell;
use crate::section::FigureSlot;

const PLAN: &str = "cache-sensitivity";

/// What the multiples show, each over the baseline's.
const METRICS: [(&str, &str); 4] = [
    ("hit_ratio", "hit ratio"),
    ("server_cpu_per_request", "server CPU"),
    ("throughput", "throughput"),
    ("latency_p99", "p99 latency"),
];

/// The cell of the sensitivity plan that differs least from all others.
fn baseline<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<&'c Cell<'a>> {
    let of_plan = || cells.iter().filter(|cell| cell.is_asked_by(PLAN));
    of_plan().min_by_key(|cell| {
        of_plan()
            .map(|other| cell.differences(other).len())
            .sum::<usize>()
    })
}

/// One panel per metric, one row per value of a factor: the value over the baseline's.
pub(super) fn multiples(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Sensitivity to one factor at a time";
    let Some(baseline) = baseline(cells) else {
        return FigureSlot::missing(TITLE, "no factor was varied alone.", PLAN);
    };
    let varied: Vec<(&str, &Cell<'_>)> = cells
        .iter()
        .filter(|cell| cell.is_asked_by(PLAN))
        .filter_map(|cell| match cell.differences(baseline).as_slice() {
            [one] => Some((*one, cell)),
            _ => None,
        })
        .collect();
    let facet = |(part, (metric, name)): (usize, &(&str, &str))| Facet {
        title: (*name).to_owned(),
        groups: varied
            .iter()
            .filter_map(|(factor, cell)| row(part, metric, factor, cell, baseline))
            .collect(),
    };
    let chart = BarChart {
        value: axis("over the baseline's", Quantity::Ratio, Scale::Linear),
        parts: METRICS
            .iter()
            .enumerate()
            .map(|(hue, (_, name))| Part {
                name: (*name).to_owned(),
                hue,
            })
            .collect(),
        facets: METRICS.iter().enumerate().map(facet).collect(),
    };
    let caption = format!(
        "1 is the baseline: {}. Each row changes one factor and leaves the rest; closed loop. How factors act on each other it \
         does not show.",
        baseline.words()
    );
    FigureSlot::of(chart.draw("cache-sensitivity", TITLE, caption), TITLE, PLAN)
}

fn row(part: usize, metric: &str, factor: &str, cell: &Cell<'_>, baseline: &Cell<'_>) -> Option<BarGroup> {
    let (number, base) = (cell.number(metric)?, baseline.value(metric)?);
    let over = |value: f64| value / base;
    let segment = Segment {
        part,
        value: over(number.value),
        interval: number
            .interval
            .map(|interval| (over(interval.low), over(interval.high))),
    };
    let note = format!("{}: {number}; {}", cell.words(), number.certainty());
    Some(BarGroup {
        label: format!("{} {}", factor.replace('_', " "), cell.factor(factor)),
        bars: vec![Bar::single(SeriesKind::Derived, segment, note)],
    })
}
