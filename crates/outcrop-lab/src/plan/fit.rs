//! How much of the user's data fits into the time that a profile promises.

use std::collections::BTreeSet;
use std::time::Duration;

use outcrop_measure::units::TimeSpan;

use super::PlanSet;
use crate::cell::Cell;
use crate::layer::LayerRef;

/// Values left out that are named.
const NAMED: usize = 40;

/// A factor whose values came with the user's data: columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataFactor {
    pub(super) layer: LayerRef,
    pub(super) name: &'static str,
    /// The most important first.
    pub(super) values: Vec<String>,
    /// How those are measured that are left out.
    pub(super) otherwise: String,
}

impl PlanSet {
    /// Leaves out values of the data's factors until the run fits: the most important ones that fit stay. Where not one of them fits into
    /// all plans, one stays in the layer's first plan: without it the layer would measure nothing.
    pub(super) fn fit_data(&mut self, promised: TimeSpan, factors: &[DataFactor]) {
        for factor in factors {
            let total = self.estimate().total();
            if total <= promised.0 {
                return;
            }
            let costs = self.costs(factor, None);
            let room = promised
                .0
                .saturating_sub(total.saturating_sub(costs.iter().sum()));
            let mut kept = fitting(&factor.values, &costs, room);
            if kept.is_empty() {
                kept.extend(self.keep_one(factor, room, promised));
            }
            self.keep(factor, &kept);
            let out: Vec<&str> = factor
                .values
                .iter()
                .map(String::as_str)
                .filter(|value| !kept.contains(value))
                .collect();
            if !out.is_empty() {
                self.data_notes.push(in_words(factor, &out, promised));
            }
            self.recount();
        }
    }

    /// Takes the data's factor out of all plans of its layer but the first, and gives the value that is measured by that one: the
    /// most important that fits, else the cheapest.
    fn keep_one<'f>(
        &mut self,
        factor: &'f DataFactor,
        room: Duration,
        promised: TimeSpan,
    ) -> Option<&'f str> {
        let has_factor =
            |plan: &super::Plan| plan.layer == factor.layer && plan.factors.contains_key(factor.name);
        let first = self.plans.iter().find(|plan| has_factor(plan))?.name.clone();
        let costs = self.costs(factor, Some(&first));
        let mut dropped = Vec::new();
        self.plans.retain(|plan| {
            let stays = plan.name == first || !has_factor(plan);
            if !stays {
                dropped.push(plan.name.clone());
            }
            stays
        });
        if !dropped.is_empty() {
            self.data_notes.push(format!(
                "the {} layer leaves out {}: not one {} fits into {}",
                factor.layer.name(),
                dropped.join(", "),
                factor.name,
                in_seconds(promised)
            ));
        }
        let values = factor.values.iter().map(String::as_str);
        let mut by_value = values.zip(costs);
        let fits = by_value.clone().find(|(_, cost)| *cost <= room);
        let found = fits.or_else(|| by_value.by_ref().min_by_key(|(_, cost)| *cost));
        found.map(|(value, _)| value)
    }

    /// Time of all trials of each value, in one plan or in all.
    fn costs(&self, factor: &DataFactor, plan: Option<&String>) -> Vec<Duration> {
        let cost = |value: &String| {
            let is_of_value = |cell: &&Cell| {
                let setting = cell.factors.setting(factor.name);
                cell.layer == factor.layer
                    && setting.is_some_and(|setting| setting.spelling() == value)
                    && plan.is_none_or(|plan| cell.plans.contains(plan))
            };
            let cells = self.cells.iter().filter(is_of_value);
            cells
                .map(|cell| factor.layer.forecast_trial(cell).time * cell.trial.repetitions)
                .sum()
        };
        factor.values.iter().map(cost).collect()
    }

    fn keep(&mut self, factor: &DataFactor, kept: &BTreeSet<&str>) {
        for plan in self.plans.iter_mut().filter(|plan| plan.layer == factor.layer) {
            if let Some(values) = plan.factors.get_mut(factor.name) {
                values.retain(|value| kept.contains(value.spelling()));
            }
        }
    }
}

/// The values that fit, those before first.
fn fitting<'v>(values: &'v [String], costs: &[Duration], mut room: Duration) -> BTreeSet<&'v str> {
    let mut kept = BTreeSet::new();
    for (value, cost) in values.iter().zip(costs) {
        if *cost <= room {
            room -= *cost;
            kept.insert(value.as_str());
        }
    }
    kept
}

/// `90 s`, as the help says it.
fn in_seconds(promised: TimeSpan) -> String {
    match promised.0.as_secs() {
        seconds @ 1..=120 => format!("{seconds} s"),
        _ => promised.to_string(),
    }
}

/// `the column layer does not measure 3 of 9 columns within 90 s: a, b, c; …`
fn in_words(factor: &DataFactor, out: &[&str], promised: TimeSpan) -> String {
    let more = match out.len() {
        ..=NAMED => String::new(),
        count => format!(" and {} more", count - NAMED),
    };
    let promised = in_seconds(promised);
    format!(
        "the {} layer does not measure {} of {} {}s within {promised}: {}{more}; {}",
        factor.layer.name(),
        out.len(),
        factor.values.len(),
        factor.name,
        out[..out.len().min(NAMED)].join(", "),
        factor.otherwise
    )
}
