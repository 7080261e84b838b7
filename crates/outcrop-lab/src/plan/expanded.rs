//! The expanded form: `[run]` and `[[plan]]` with every default written out.

use std::fmt::Write as _;

use super::doubt::{BudgetUse, RunLimits};
use super::stop::WHEN_STEADY;
use super::{Plan, PlanSet};
use outcrop_schema::Settings;

/// Renders plans so that reading them again gives the same run.
pub(super) fn to_toml(set: &PlanSet) -> String {
    let mut out = String::from(
        "# The expanded plan of a run, every default written out. `outcrop run` repeats the run from it.\n\n[run]\n",
    );
    entry(&mut out, "seed", &quoted(&set.seed.to_string()));
    entry(&mut out, "effort", &quoted(set.effort.name()));
    entry(&mut out, "version", &quoted(&set.version));
    entry(&mut out, "directory", &quoted(&set.directory.to_string_lossy()));
    if let Some(data) = &set.data {
        entry(&mut out, "data", &quoted(data));
    }
    // A resume keeps the limit.
    if let Some(limit) = &set.max_written {
        entry(&mut out, RunLimits::MAX_WRITTEN, &quoted(&limit.to_string()));
    }
    if let Some(doubt) = &set.doubt {
        entry(&mut out, RunLimits::BUDGET, &quoted(&doubt.budget.to_string()));
    }
    for (name, value) in set.constraints.by_name() {
        entry(&mut out, name, &quoted(&value.to_string()));
    }
    if let Some(prices) = &set.prices {
        out.push_str("\n[run.prices]\n");
        for (name, value) in prices.by_name() {
            entry(&mut out, name, &quoted(&value));
        }
    }
    for plan in &set.plans {
        let of_plan = set.cells.iter().filter(|cell| cell.plans.contains(&plan.name));
        write_plan(&mut out, plan, of_plan.count());
    }
    out
}

fn write_plan(out: &mut String, plan: &Plan, cells: usize) {
    out.push_str("\n[[plan]]\n");
    entry(out, "name", &quoted(&plan.name));
    entry(out, "question", &quoted(&plan.question));
    entry(out, "layer", &quoted(plan.layer.name()));
    entry(out, "design", &quoted(plan.design.name()));
    // Who reads the run learns from it whether it came to all of them.
    entry(out, "cells", &cells.to_string());
    if plan.budget != BudgetUse::default() {
        entry(out, "budget", &quoted(plan.budget.name()));
    }
    if let Some(variant) = plan.variant {
        entry(out, "variant", &quoted(variant.name()));
    }
    settings(out, "subject", &plan.subject.settings);
    settings(out, "workload", &plan.workload);
    out.push_str("\n[plan.factors]\n");
    for (name, values) in &plan.factors {
        let list: Vec<_> = values.iter().map(|value| scalar(value.spelling())).collect();
        entry(out, name, &format!("[{}]", list.join(", ")));
    }
    out.push_str("\n[plan.trial]\n");
    entry(out, "repetitions", &plan.trial.repetitions.to_string());
    for (name, span) in [
        ("warm_up", plan.trial.warm_up),
        ("duration", plan.trial.duration),
        ("interval", plan.trial.interval),
    ] {
        entry(out, name, &quoted(&span.to_string()));
    }
    if plan.trial.stops_when_steady {
        entry(out, "stop", &quoted(WHEN_STEADY));
    }
}

fn settings(out: &mut String, section: &str, settings: &Settings) {
    // Writing to a String cannot fail, here and below.
    let _ = write!(out, "\n[plan.{section}]\n");
    for (name, value) in settings.iter() {
        entry(out, name, &scalar(value.spelling()));
    }
}

fn entry(out: &mut String, name: &str, value: &str) {
    let _ = writeln!(out, "{name} = {value}");
}

/// Whole numbers bare, as people write them, everything else quoted.
fn scalar(value: &str) -> String {
    let is_bare = value.len() <= 18
        && !value.is_empty()
        && value.bytes().all(|byte| byte.is_ascii_digit())
        && (value == "0" || !value.starts_with('0'));
    if is_bare { value.to_owned() } else { quoted(value) }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
