//! Where the numbers come from: the machine, the run, its trials and its plan.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::answer::prose;
use crate::environment::Fact;
use crate::report::Report;

/// `has_plan` where the text of the plan is part of the page.
pub(super) fn section(report: &Report, has_plan: bool) -> Markup {
    html! {
        section id="environment" aria-labelledby="environment-heading" {
            h2 id="environment-heading" { "Environment" }
            @for (section, facts) in by_section(&report.environment) {
                details open[section == FIRST_SECTION] {
                    summary { (section) }
                    dl.pairs { @for (name, value) in condensed(&facts) { dt { (name) } dd { (prose(&value)) } } }
                }
            }
        }
        section id="run" aria-labelledby="run-heading" {
            h2 id="run-heading" { "The run" }
            (run(report, has_plan))
        }
    }
}

/// The section that a reader of storage figures looks at first.
const FIRST_SECTION: &str = "storage";

/// Facts by section: the storage, then the others in the order of their first fact.
fn by_section(facts: &[Fact]) -> Vec<(&str, Vec<&Fact>)> {
    let mut order: Vec<&str> = Vec::new();
    let mut sections: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        if !sections.contains_key(fact.section.as_str()) {
            order.push(&fact.section);
        }
        sections.entry(&fact.section).or_default().push(fact);
    }
    order.sort_by_key(|section| *section != FIRST_SECTION);
    let take = |section: &str| sections.remove(section);
    order
        .iter()
        .copied()
        .zip(order.iter().copied().filter_map(take))
        .collect()
}

/// Facts as name and value; those that only say "Not affected" share one line.
fn condensed(facts: &[&Fact]) -> Vec<(String, String)> {
    const UNAFFECTED: &str = "Not affected";
    let (unaffected, told): (Vec<&Fact>, Vec<&Fact>) =
        facts.iter().partition(|fact| fact.value == UNAFFECTED);
    let mut pairs: Vec<(String, String)> = told
        .iter()
        .map(|fact| (fact.name.clone(), fact.value.clone()))
        .collect();
    if !unaffected.is_empty() {
        let names: Vec<&str> = unaffected
            .iter()
            .map(|fact| fact.name.trim_start_matches("vulnerabilities "))
            .collect();
        pairs.push(("not affected by".to_owned(), names.join(", ")));
    }
    pairs
}

fn run(report: &Report, has_plan: bool) -> Markup {
    let not_stated = || "not stated in the plan".to_owned();
    html! {
        dl.pairs {
            dt { "run" } dd { (report.run.name) }
            dt { "started" } dd { @if report.run.started_at.is_empty() { "no trial was started" } @else { (report.run.started_at) } }
            dt { "seed" } dd { (report.run.seed.clone().unwrap_or_else(not_stated)) }
            dt { "effort" } dd { (report.run.effort.clone().unwrap_or_else(not_stated)) }
            dt { "software" } dd { "outcrop " (report.run.software) }
            dt { "trials" } dd { (report.trials.sentence()) }
            dt { "files" } dd { "plan.toml, environment.json and trials.ndjson are the complete data; records.parquet opens in "
                "DuckDB, pandas and Polars; figures/ has every figure of this page." }
        }
        @if !report.trials.failures.is_empty() {
            h3 { "Why trials failed" }
            ul { @for failure in &report.trials.failures { li { (prose(failure)) } } }
        }
        @if has_plan {
            details {
                summary { "The plan with all defaults (run it again to repeat the run)" }
                pre { code { (report.run.plan) } }
            }
        } @else {
            p.soft { "The plan with all defaults is in plan.toml: it would make this page too long." }
        }
    }
}
