//! What one factor changes while all others stay where they are: a figure for every layer whose plans vary factors alone.

use outcrop_measure::metric::Metric;
use outcrop_results::{CellView, RunView};

use crate::cell::Cell;
use crate::chart::{Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, SeriesKind, axis};
use crate::section::FigureSlot;

const TITLE: &str = "Sensitivity to one factor at a time";

/// One panel per metric, one row per value of a factor: the value over the baseline's. The figure has the name of the plan that
/// would fill it.
pub(super) fn sensitivity(
    run: &RunView,
    cells: &[Cell<'_>],
    plan: &str,
    panels: &[(&str, Metric)],
    words: fn(&Cell<'_>) -> String,
) -> FigureSlot {
    let varied = varied_alone(run, cells);
    // The baseline is what differs least from all others.
    let distance = |cell: &&&Cell<'_>| {
        let differences = varied.iter().map(|other| cell.differences(other).len());
        differences.sum::<usize>()
    };
    let Some(baseline) = varied.iter().min_by_key(distance) else {
        return FigureSlot::missing(TITLE, "no factor was varied on its own.", plan);
    };
    let row = |part, metric: &Metric, cell: &Cell<'_>| {
        let [factor] = cell.differences(baseline)[..] else {
            return None;
        };
        let value = cell.factors().setting(factor)?.spelling();
        let (number, base) = (cell.number(metric)?, baseline.value(metric)?);
        let bar = Bar::of(SeriesKind::Derived, part, number, &words(cell));
        Some(BarGroup {
            label: format!("{} {value}", factor.replace('_', " ")),
            bars: vec![bar.over(base)],
        })
    };
    let facet = |(part, (name, metric)): (usize, &(&str, Metric))| Facet {
        title: (*name).to_owned(),
        groups: varied.iter().filter_map(|cell| row(part, metric, cell)).collect(),
    };
    let chart = BarChart {
        value: axis("over the baseline's", Quantity::Ratio, Scale::Linear),
        parts: Part::all(panels.iter().map(|(name, _)| *name)),
        facets: panels.iter().enumerate().map(facet).collect(),
    };
    let caption = format!(
        "1 is the baseline: {}. Each row changes one factor. Interactions between factors are not shown.",
        words(baseline)
    );
    chart.slot(plan, TITLE, caption, plan)
}

/// The cells of one subject that plans asked for which vary one factor at a time; the expanded plan has their designs.
fn varied_alone<'c, 'a>(run: &RunView, cells: &'c [Cell<'a>]) -> Vec<&'c Cell<'a>> {
    let expanded: toml::Table = run.plan.parse().unwrap_or_default();
    let plans = expanded.get("plan").and_then(toml::Value::as_array);
    let text = |plan: &'_ toml::Value, key| Some(plan.get(key)?.as_str()?.to_owned());
    let is_meant = |plan: &&toml::Value| text(plan, "design").as_deref() == Some("one-at-a-time");
    let meant = plans.into_iter().flatten().filter(is_meant);
    let names: Vec<String> = meant.filter_map(|plan| text(plan, "name")).collect();
    let is_asked = |view: &CellView<'_>| names.iter().any(|name| view.plans.contains(name.as_str()));
    let mut asked: Vec<&Cell<'_>> = cells
        .iter()
        .filter(|cell| cell.view().is_some_and(is_asked))
        .collect();
    if let Some(first) = asked.first().copied() {
        asked.retain(|cell| cell.subject() == first.subject());
    }
    asked
}
