//! The conditions of `--fail-if`, and how a command ends that checks them.

use outcrop_results::{FailIf, FailIfReport, ResultsError};
use serde_json::{Value, json};

use super::fail_if::{beyond, finding};
use crate::exit::{Ending, bad_input};
use crate::output::note;

/// What makes a command end with a failure: its conditions, and whether they have to be decided.
#[derive(Debug, clap::Args)]
pub(crate) struct Gate {
    /// Exit with code 1 when this condition is met, by a ratio such as 'p99 > +5%', 'iops < -3%' or 'read_latency_p99 > 1.05x', or by a figure of the candidate such as 'p99 > 1ms' or 'iops < 5000'
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// Exit with code 2 when no condition of --fail-if is met, but a cell is undecided or not checked: such cells pass otherwise
    #[arg(long, requires = "fail_if")]
    strict: bool,
}

impl Gate {
    /// The conditions as they were written.
    pub(crate) fn texts(&self) -> &[String] {
        &self.fail_if
    }

    /// The conditions, read.
    pub(crate) fn conditions(&self) -> anyhow::Result<Vec<FailIf>> {
        let conditions = self.fail_if.iter().map(|text| text.parse());
        conditions.collect::<Result<Vec<FailIf>, _>>().map_err(bad_input)
    }

    /// Says what each condition found, and how the command ends. One that cannot be checked hides no other that is met.
    pub(crate) fn announce(
        &self,
        reports: Vec<Result<FailIfReport<'_>, ResultsError>>,
    ) -> anyhow::Result<Ending> {
        let is_met =
            |report: &Result<FailIfReport<'_>, _>| report.as_ref().is_ok_and(|found| found.met() > 0);
        let is_any_met = reports.iter().any(is_met);
        let mut unchecked: Option<anyhow::Error> = None;
        let mut cannot = |error: anyhow::Error| {
            if is_any_met {
                note(&format!("warning: {error}"));
            } else if let Some(earlier) = unchecked.replace(error) {
                note(&format!("error: {earlier}"));
            }
        };
        for (report, text) in reports.into_iter().zip(&self.fail_if) {
            match report {
                Ok(found) => {
                    note(&finding(text, &found, self.strict));
                    for cell in &found.beyond {
                        note(&beyond(cell));
                    }
                    if let Some(why) = self.not_passed(&found) {
                        cannot(anyhow::anyhow!("--fail-if '{text}': {why}"));
                    }
                }
                Err(error) => cannot(anyhow::anyhow!("--fail-if '{text}': {error}")),
            }
        }
        match unchecked {
            Some(error) => Err(bad_input(error)),
            None if is_any_met => Ok(Ending::ConditionMet),
            None => Ok(Ending::Done),
        }
    }

    /// What each condition found, for a document in JSON: the outcome, how many cells are which, and what is said of it on stderr.
    pub(crate) fn in_json(&self, reports: &[Result<FailIfReport<'_>, ResultsError>]) -> Value {
        let each = self
            .fail_if
            .iter()
            .zip(reports)
            .map(|(text, report)| match report {
                Ok(found) => {
                    let not_passed = self.not_passed(found);
                    let outcome = match (found.met(), &not_passed) {
                        (1.., _) => "met",
                        (0, None) => "not-met",
                        (0, Some(_)) if found.passed_over().is_none() && is_undecided(found) => "undecided",
                        (0, Some(_)) => "not-checked",
                    };
                    json!({
                        "condition": text,
                        "outcome": outcome,
                        "cells": found.checked,
                        "met": found.met(),
                        "undecided": found.all_undecided(),
                        "without_submission": found.from_submission_end,
                        "unchecked": found.unchecked,
                        "missing": found.missing,
                        "beyond": found.beyond,
                        "finding": finding(text, found, self.strict),
                        "not_checked": not_passed,
                    })
                }
                Err(error) => json!({
                    "condition": text,
                    "outcome": "not-checked",
                    "not_checked": error.to_string(),
                }),
            });
        Value::Array(each.collect())
    }

    /// Why a condition does not pass although no cell meets it, or what it passed over where one does; none where it checked all that it has to.
    fn not_passed(&self, found: &FailIfReport<'_>) -> Option<String> {
        let is_open = is_undecided(found) || found.unchecked + found.missing > 0;
        let strictly = "not every cell was checked and decided, which --strict asks for";
        let is_strict = self.strict && found.met() == 0;
        found
            .passed_over()
            .or_else(|| (is_strict && is_open).then(|| strictly.to_owned()))
    }
}

/// Whether a cell may meet the condition or not.
fn is_undecided(found: &FailIfReport<'_>) -> bool {
    found.all_undecided() + found.from_submission_end > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strict_gate_passes_only_what_is_decided_in_every_cell() {
        type Report = FailIfReport<'static>;
        type Change = fn(&mut Report);
        let outcome = |strict: bool, change: Change| {
            let found = || {
                let mut report = Report {
                    checked: 3,
                    ..Report::default()
                };
                change(&mut report);
                report
            };
            let gate = Gate {
                fail_if: vec!["iops < 1".to_owned()],
                strict,
            };
            let outcome = gate.in_json(&[Ok(found())])[0]["outcome"].clone();
            let ending = gate.announce(vec![Ok(found())]);
            assert_eq!(outcome == "not-met", ending.is_ok(), "{outcome}");
            outcome
        };
        let open: [(Change, &str); 8] = [
            (|found| found.undecided = 1, "undecided"),
            (|found| found.under_load = 1, "undecided"),
            (|found| found.by_definition = 1, "undecided"),
            (|found| found.within_drift.rows = 1, "undecided"),
            (
                |found| found.without_ratio = [("a 0".to_owned(), 1)].into(),
                "undecided",
            ),
            (|found| found.from_submission_end = 1, "undecided"),
            (|found| found.unchecked = 2, "not-checked"),
            (|found| found.missing = 1, "not-checked"),
        ];
        for (change, strictly) in open {
            assert_eq!(outcome(false, change), "not-met");
            assert_eq!(outcome(true, change), strictly);
        }
        assert_eq!(outcome(true, |_| {}), "not-met");
        let cells = FailIfReport {
            checked: 3,
            undecided: 1,
            unchecked: 1,
            ..FailIfReport::default()
        };
        let said = finding("iops < 1", &cells, true);
        assert!(!said.contains("pass"), "{said}");
    }
}
