//! Numbers of a run that no machine gives, one at a time: each is refused or reported, and none decides how much memory and time a report takes.

use std::collections::BTreeSet;
use std::path::Path;

use outcrop_report::Report;
use outcrop_results::{RunView, TrialEntry};
use serde_json::Value;

use crate::fixture::RunBuilder;

/// What every number is replaced by.
const IMPOSSIBLE: [&str; 11] = [
    "1000000",
    "99999999",
    "1000000000",
    "4294967295",
    "1000000000000000",
    "18446744073709551615",
    "1e-300",
    "1e29",
    "1e308",
    "-1",
    "0",
];

/// The run of four layers that is kept.
fn kept() -> RunView {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/run-of-records-1");
    RunView::load(&kept).expect("it can be read")
}

/// Pointers to all numbers of a document, and to texts that are numbers.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    match value {
        Value::Number(_) => found.push(at.to_owned()),
        Value::String(text) if is_number(text) => found.push(at.to_owned()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                numbers(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                numbers(field, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// A trial with a number in another's place, if a journal may have it.
fn with(trial: &Value, pointer: &str, number: &str) -> Option<TrialEntry> {
    let mut changed = trial.clone();
    let place = changed.pointer_mut(pointer).expect("it leads to a number");
    *place = match place {
        Value::String(_) => number.into(),
        _ => serde_json::from_str(number).expect("it is a number"),
    };
    let entry: TrialEntry = serde_json::from_value(changed).ok()?;
    entry.check().is_ok().then_some(entry)
}

/// The report of a run, written in full.
fn report(run: &RunView, what: &str) {
    let report = Report::of(run);
    assert!(!report.screen(80, false).is_empty(), "{what}");
    for figure in report.figures() {
        let rows = figure.to_csv().map_or(0, |csv| csv.lines().count());
        assert!(rows < 20_000, "{what}: {} has {rows} rows", figure.id);
    }
}

#[test]
fn a_number_that_no_machine_gives_is_refused_or_reported_whichever_of_a_journal_it_is() {
    let run = kept();
    let (mut seen, mut refused, mut reported) = (BTreeSet::new(), 0, 0);
    for (index, trial) in run.trials.iter().enumerate() {
        let written = serde_json::to_value(trial).expect("a trial is JSON");
        let mut pointers = Vec::new();
        numbers(&written, "", &mut pointers);
        for pointer in pointers {
            // One of each kind: the figure of a metric, a factor, the time of an interval.
            let parts = pointer.split('/').map(|part| match part.parse::<u32>() {
                Ok(_) => "",
                Err(_) => part,
            });
            let kind: Vec<&str> = parts.collect();
            if !seen.insert((trial.layer.clone(), kind.join("/"))) {
                continue;
            }
            for number in IMPOSSIBLE {
                let Some(entry) = with(&written, &pointer, number) else {
                    refused += 1;
                    continue;
                };
                let mut changed = run.clone();
                changed.trials[index] = entry;
                changed.trials.retain(|other| other.layer == trial.layer);
                report(&changed, &format!("{pointer} {number}"));
                reported += 1;
            }
        }
    }
    assert!(
        refused > 50 && reported > 50,
        "{refused} refused, {reported} reported"
    );
}

#[test]
fn a_number_of_the_environment_that_no_machine_gives_is_reported() {
    let mut run = kept();
    run.trials.retain(|trial| trial.layer == "device");
    let mut pointers = Vec::new();
    numbers(&run.environment, "", &mut pointers);
    assert!(pointers.len() > 20, "{pointers:?}");
    for pointer in pointers {
        for number in ["18446744073709551615", "1e308", "-1"] {
            let mut changed = run.clone();
            let place = changed
                .environment
                .pointer_mut(&pointer)
                .expect("it leads to a number");
            *place = serde_json::from_str(number).expect("it is a number");
            report(&changed, &format!("{pointer} {number}"));
        }
    }
}

/// No journal may have them; that a report stays small does not depend on that.
#[test]
fn intervals_that_are_far_apart_leave_a_gap_that_takes_no_memory() {
    let run = RunBuilder::new(2).cells(&[4 << 10], &[32], &[100, 0]).build();
    report(&run, "as it is");
    for (start_s, length_s) in [
        (1e3, None),
        (1e9, None),
        (1e15, None),
        (1e300, None),
        (7.0, Some(1e-9)),
    ] {
        let mut changed = run.clone();
        for trial in &mut changed.trials {
            let last = trial.histograms.last_mut().expect("it has intervals");
            last.start_s = start_s;
            for entry in &mut trial.histograms {
                entry.duration_s = length_s.unwrap_or(entry.duration_s);
            }
        }
        report(&changed, &format!("{start_s} {length_s:?}"));
    }
}
