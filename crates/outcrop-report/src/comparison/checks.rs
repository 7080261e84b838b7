//! The quality checks that a run failed: what its report says of its own figures, a comparison of them does not hide.

use outcrop_results::compare::Comparison;
use outcrop_results::{RunView, Side};
use serde::Serialize;
use serde_json::Value;

use super::text::Detail;
use crate::answer::Gravity;
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

/// A warning of a side's report that its figures are not of the subject alone, or include what is not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraveWarning {
    /// The side.
    pub side: Side,
    /// Layer measured.
    pub layer: String,
    /// The warning, in sentences.
    pub text: String,
}

/// What the reports of the sides say against their figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examined {
    /// The quality checks that failed.
    pub failed_checks: Vec<FailedCheck>,
    /// The gravest warnings.
    pub warnings: Vec<GraveWarning>,
}

impl Extend<Self> for Examined {
    fn extend<T: IntoIterator<Item = Self>>(&mut self, others: T) {
        for other in others {
            self.failed_checks.extend(other.failed_checks);
            self.warnings.extend(other.warnings);
        }
    }
}

/// What the report of a run says against its figures.
///
/// *Cost*: that of [`Report::of`].
pub fn examined(side: Side, run: &RunView) -> Examined {
    let report = Report::of(run);
    let of_layer = report.layers.iter().flat_map(|section| {
        let cautions = section.answer.cautions.iter();
        let grave = cautions.filter(|caution| caution.is_warning() && caution.gravity >= Gravity::Late);
        grave.map(move |caution| GraveWarning {
            side,
            layer: section.layer.clone(),
            text: caution.text.clone(),
        })
    });
    Examined {
        warnings: of_layer.collect(),
        failed_checks: failed_in(side, &report),
    }
}

/// The quality checks that the report of a run says failed.
fn failed_in(side: Side, report: &Report) -> Vec<FailedCheck> {
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

    /// The gravest warnings for a document in JSON; none where the runs were not examined.
    ///
    /// # Errors
    /// [`ReportError::Json`] if a value cannot be written, which none should be.
    pub fn warnings_in_json(&self) -> Result<Option<Value>, ReportError> {
        let examined = self.failed_checks.as_ref();
        Ok(examined
            .map(|_| serde_json::to_value(&self.warnings))
            .transpose()?)
    }

    /// What is said against the figures of each side, a paragraph for each with its head; none where no cell is compared.
    pub(super) fn against_figures(&self, comparison: &Comparison) -> Vec<(&'static str, String)> {
        if comparison.comparable().next().is_none() {
            return Vec::new();
        }
        let sides = [Side::Baseline, Side::Candidate].into_iter();
        let checks = sides.filter_map(|side| Some(("checks:    ", self.checks_of(side)?)));
        let warnings = self.warnings.iter().map(|warning| {
            let GraveWarning { side, text, .. } = warning;
            ("warning:   ", format!("in the {}: {text}", side.name()))
        });
        checks.chain(warnings).collect()
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
