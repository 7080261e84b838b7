//! Where the numbers come from: the machine, the run, its trials and its plan.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::environment::Fact;
use crate::report::Report;

pub(super) fn section(report: &Report) -> Markup {
    html! {
        section id="environment" aria-labelledby="environment-heading" {
            h2 id="environment-heading" { "Environment" }
            @for (section, facts) in by_section(&report.environment) {
                h3 { (section) }
                dl.pairs { @for fact in facts { dt { (fact.name) } dd { (fact.value) } } }
            }
        }
        section id="run" aria-labelledby="run-heading" {
            h2 id="run-heading" { "The run" }
            (run(report))
        }
    }
}

/// Facts by section, sections in the order of their first fact.
fn by_section(facts: &[Fact]) -> Vec<(&str, Vec<&Fact>)> {
    let mut order = Vec::new();
    let mut sections: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        if !sections.contains_key(fact.section.as_str()) {
            order.push(fact.section.as_str());
        }
        sections.entry(&fact.section).or_default().push(fact);
    }
    order
        .into_iter()
        .filter_map(|section| sections.remove(section).map(|facts| (section, facts)))
        .collect()
}

fn run(report: &Report) -> Markup {
    let not_stated = || "not stated in the plan".to_owned();
    html! {
        dl.pairs {
            dt { "run" } dd { (report.run.name) }
            dt { "started" } dd { @if report.run.started_at.is_empty() { "no trial was started" } @else { (report.run.started_at) } }
            dt { "seed" } dd { (report.run.seed.clone().unwrap_or_else(not_stated)) }
            dt { "effort" } dd { (report.run.effort.clone().unwrap_or_else(not_stated)) }
            dt { "software" } dd { "outcrop " (report.run.software) }
            dt { "trials" } dd { (report.trials.sentence()) }
            dt { "files" } dd { "plan.toml, environment.json and trials.ndjson hold everything; records.parquet opens in "
                "DuckDB, pandas and Polars; figures/ has every figure of this page." }
        }
        @if !report.trials.failures.is_empty() {
            h3 { "Why trials failed" }
            ul { @for failure in &report.trials.failures { li { (failure) } } }
        }
        details {
            summary { "The plan, every default written out (running it again repeats the run)" }
            pre { code { (report.run.plan) } }
        }
    }
}
