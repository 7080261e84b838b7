//! The quality checks that a run failed: what its report says of its own figures, a comparison of them does not hide.

use outcrop_results::compare::Comparison;
use outcrop_results::{RunView, Side};
use serde::Serialize;
use serde_json::Value;

use super::text::{Detail, wrapped};
use crate::error::ReportError;
use crate::finding::{About, Verdict, as_clause};
use crate::number::counted;
use crate::report::Report;

/// A quality check that a side of a comparison failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedCheck {
    /// The side.
    pub side: Side,
    /// Layer measured.
    pub layer: String,
    /// The check (`bytes-are-the-kernels`).
    pub check: String,
    /// What is the case, as a sentence without its full stop.
    pub failure: String,
    /// Of how many: `30 of 30 trials`; empty where that is not counted.
    pub extent: String,
}

/// The quality checks that the report of a run says failed.
///
/// *Cost*: that of [`Report::of`].
pub fn failed_checks(side: Side, run: &RunView) -> Vec<FailedCheck> {
    let report = Report::of(run);
    let of_layer = report.layers.iter().flat_map(|section| {
        let failed = section
            .findings
            .iter()
            .filter(|finding| finding.about == About::Run && finding.verdict == Verdict::DoesNotHold);
        failed.map(move |finding| FailedCheck {
            side,
            layer: section.layer.clone(),
            check: finding.id.clone(),
            failure: finding.failure.to_owned(),
            extent: finding.extent.clone(),
        })
    });
    of_layer.collect()
}

impl Detail {
    /// The failed checks for a document in JSON; none where they were not examined.
    ///
    /// # Errors
    /// [`ReportError::Json`] if a value cannot be written, which none should be.
    pub fn checks_in_json(&self) -> Result<Option<Value>, ReportError> {
        let failed = self.failed_checks.as_ref();
        Ok(failed.map(serde_json::to_value).transpose()?)
    }

    /// The failed checks of each side, a paragraph for each in 80 columns.
    pub(super) fn checks_in_text(&self, comparison: &Comparison) -> String {
        let sentences = self.sentences(comparison).into_iter();
        sentences
            .map(|sentence| wrapped("checks:    ", &sentence))
            .collect()
    }

    /// The same as paragraphs in Markdown.
    pub(super) fn checks_in_markdown(&self, comparison: &Comparison) -> String {
        let sentences = self.sentences(comparison).into_iter();
        sentences.map(|sentence| format!("{sentence}\n\n")).collect()
    }

    /// A sentence for each side that failed some; none where no cell is compared.
    fn sentences(&self, comparison: &Comparison) -> Vec<String> {
        if comparison.comparable().next().is_none() {
            return Vec::new();
        }
        let sides = [Side::Baseline, Side::Candidate].into_iter();
        sides.filter_map(|side| self.checks_of(side)).collect()
    }

    /// `3 quality checks failed in the baseline: …`; none where none did.
    fn checks_of(&self, side: Side) -> Option<String> {
        let failed: Vec<&FailedCheck> = self
            .failed_checks
            .iter()
            .flatten()
            .filter(|check| check.side == side)
            .collect();
        let clause = |check: &&FailedCheck| match check.extent.as_str() {
            "" => as_clause(&check.failure),
            extent => format!("{} ({extent})", as_clause(&check.failure)),
        };
        let clauses: Vec<String> = failed.iter().map(clause).collect();
        (!failed.is_empty()).then(|| {
            format!(
                "{} failed in the {}: {}.",
                counted(failed.len(), "quality check"),
                side.name(),
                clauses.join("; ")
            )
        })
    }
}
