//! What a report says is missing is in the plan that it names, from the effort on that it names: for every shipped plan at every effort,
//! with values that were made up for all of its cells.

use std::collections::BTreeMap;

use outcrop_lab::{Cell, Effort, PlanOptions, PlanSet, ShippedPlan, shipped_plans};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_report::Report;
use outcrop_report::section::{FigureSlot, LeastEffort, Missing};
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, RunView, TrialEntry, Value};
use outcrop_schema::Vocabulary;

/// Intervals of a trial, as plans have them.
const INTERVALS: u32 = 5;

/// What one run lacks: the layer and what the page says.
type Lacking = Vec<(String, Missing)>;

fn histograms() -> Vec<HistogramEntry> {
    let mut histogram = LatencyHistogram::new();
    histogram.record_many(100_000, 19_000);
    histogram.record_many(300_000, 1_000);
    let entry = |operation: &str, index: u32| {
        let (start_s, length_s) = (f64::from(index) * 0.1, 0.1);
        HistogramEntry::new(
            operation,
            HistogramKind::Latency,
            index,
            start_s,
            length_s,
            &histogram,
        )
    };
    let of_operation = |operation| (0..INTERVALS).map(move |index| (operation, index));
    let all = ["read", "write"].into_iter().flat_map(of_operation);
    all.map(|(operation, index)| entry(operation, index)).collect()
}

/// A trial that has a value of every metric of its layer, but for a closed loop what was offered; no two cells have the same.
fn trial(cell: &Cell, number: u32, repetition: u32, histograms: &[HistogramEntry]) -> TrialEntry {
    let value = 1.0 + f64::from(number) * 0.01 + f64::from(repetition) * 0.001;
    let schema = Vocabulary::default().layer(cell.layer.name()).unwrap();
    let factors = cell.factors.spellings();
    let is_closed = factors.get("arrival").is_none_or(|arrival| arrival == "closed");
    TrialEntry {
        trial: number * 3 + repetition,
        cell: cell.id.clone(),
        layer: schema.name.to_owned(),
        subject: cell.subject.label.clone(),
        plans: cell.plans.clone(),
        repetition,
        seed: 0,
        factors,
        data: None,
        variant: None,
        started_at: "2026-11-21T02:00:00.123456Z".to_owned(),
        duration_s: 0.5,
        took_s: None,
        others_cpu_share: None,
        outcome: Outcome::Completed,
        values: schema
            .all_metrics()
            .filter(|metric| !(is_closed && metric.name.starts_with("offered")))
            .map(|metric| Value::measured(metric, value))
            .collect(),
        histograms: histograms.to_vec(),
        notes: Vec::new(),
    }
}

/// What the report of a run of this plan lacks.
fn lacking(plan: &ShippedPlan, effort: Effort, histograms: &[HistogramEntry]) -> Lacking {
    let options = PlanOptions {
        effort: Some(effort),
        ..PlanOptions::default()
    };
    let set = PlanSet::from_sources(&[plan.source()], &options).unwrap();
    let trials_of = |(number, cell): (usize, &Cell)| -> Vec<TrialEntry> {
        let of = |repetition| trial(cell, number as u32, repetition, histograms);
        (0..3).map(of).collect()
    };
    let run = RunView {
        dir: "runs/made-up".into(),
        name: plan.name.to_owned(),
        plan: set.to_toml(),
        environment: serde_json::Value::Null,
        trials: set.cells().iter().enumerate().flat_map(trials_of).collect(),
        torn_bytes: 0,
        vocabulary: Vocabulary::default(),
    };
    let mut lacking = Lacking::new();
    for section in Report::of(&run).layers {
        let of_figures = section.figures.into_iter().filter_map(|slot| match slot {
            FigureSlot::Missing(missing) => Some(missing),
            FigureSlot::Drawn(_) => None,
        });
        let all = of_figures.chain(section.missing_matrices);
        lacking.extend(all.map(|missing| (section.layer.clone(), missing)));
    }
    lacking
}

/// What is missing, each by its own name: several of one plan stand together under one heading.
fn titles(missing: &Missing) -> Vec<&str> {
    match missing.title.ends_with(&format!(" figures of {}", missing.plan)) {
        true => missing.reason.trim_end_matches('.').split("; ").collect(),
        false => vec![&missing.title],
    }
}

fn lacks(lacking: &[(String, Missing)], layer: &str, title: &str) -> bool {
    let mut of_layer = lacking.iter().filter(|(other, _)| other == layer);
    of_layer.any(|(_, missing)| titles(missing).contains(&title))
}

fn effort_of(least: LeastEffort) -> Effort {
    least.name().parse().unwrap()
}

#[test]
fn what_a_report_lacks_is_in_the_plan_that_it_names_from_the_effort_on_that_it_names() {
    let histograms = histograms();
    let mut runs: BTreeMap<(&str, &str), Lacking> = BTreeMap::new();
    for plan in shipped_plans() {
        for effort in Effort::ALL {
            runs.insert((plan.name, effort.name()), lacking(plan, effort, &histograms));
        }
    }
    let place = |effort: Effort| Effort::ALL.iter().position(|other| *other == effort).unwrap();
    let (mut hints, mut wrong) = (0, Vec::new());
    for ((plan, effort), missing) in &runs {
        for (layer, missing) in missing {
            let least = effort_of(missing.effort);
            let own: Effort = effort.parse().unwrap();
            let named = Effort::ALL[place(own).max(place(least))];
            for title in titles(missing) {
                hints += 1;
                let filled = |effort: Effort| {
                    let run = runs.get(&(missing.plan.as_str(), effort.name()));
                    run.is_some_and(|run| !lacks(run, layer, title))
                };
                if !filled(named) {
                    wrong.push(format!(
                        "{plan} {effort}: {title} is not in {} {named}",
                        missing.plan
                    ));
                }
                let mut shorter = Effort::ALL[..place(least)].iter();
                if let Some(shorter) = shorter.find(|shorter| filled(**shorter)) {
                    wrong.push(format!("{title} is in {} {shorter} already", missing.plan));
                }
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(hints > 100, "{hints} hints");
    let matrix = &runs[&("ssd-matrix", "quick")];
    let mixed = matrix
        .iter()
        .find(|(_, missing)| missing.title.starts_with("70:30"));
    assert_eq!(mixed.unwrap().1.effort, LeastEffort::Default);
}
