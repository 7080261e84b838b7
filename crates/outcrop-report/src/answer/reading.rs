//! The table of what was measured: a number under its conditions, or why there is none.

use outcrop_results::{NONE_COMPLETED, is_of_some_trials, lacks_operations};
use serde::Serialize;

use super::Headline;
use crate::number::Number;

/// One row of what the subject can do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capability {
    /// What is shown (`Highest IOPS`).
    pub label: String,
    /// One reading per column, in the order of columns (`read`, `write`).
    pub readings: Vec<Reading>,
}

/// One cell of that table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// The column it belongs to.
    pub column: String,
    /// The number and where it was reached, or why there is none.
    #[serde(flatten)]
    pub outcome: ReadingOutcome,
}

/// A number under its conditions, or the reason for its absence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadingOutcome {
    /// It was measured.
    Measured {
        /// The number.
        number: Number,
        /// The cell it was reached in (`4 KiB random, QD 256`).
        conditions: String,
    },
    /// It was not.
    Missing(Absence),
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Absence {
    /// Why, and which plan would measure it.
    pub reason: String,
    /// What that is.
    #[serde(skip)]
    kind: AbsenceKind,
}

/// What the lack of a number is, in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AbsenceKind {
    /// Nothing was measured.
    NotMeasured,
    /// It was measured, but with too few operations for the figure.
    TooFew,
    /// It was measured, but nothing completed.
    NoneCompleted,
    /// It was measured, but not every trial has the figure.
    SomeTrials,
    /// It was measured by fio, whose result does not have the figure.
    NotOfFio,
    /// It was measured, but under more memory than the limit.
    OfMoreMemory,
}

/// Whether a reason is what fio's result does not have.
pub(crate) fn is_of_fio(reason: &str) -> bool {
    reason.starts_with("fio ")
}

impl Absence {
    /// The reason that records of a cell give. Theirs alone can be that of a measurement: all others say what was not measured.
    pub(crate) fn recorded(reason: &str) -> Self {
        Self {
            reason: reason.to_owned(),
            kind: match reason {
                NONE_COMPLETED => AbsenceKind::NoneCompleted,
                reason if lacks_operations(reason) => AbsenceKind::TooFew,
                reason if is_of_some_trials(reason) => AbsenceKind::SomeTrials,
                reason if is_of_fio(reason) => AbsenceKind::NotOfFio,
                _ => AbsenceKind::NotMeasured,
            },
        }
    }

    /// The same where there is one, and else why nothing was measured.
    pub(crate) fn recorded_or<A: Into<Self>>(reason: Option<&str>, otherwise: impl FnOnce() -> A) -> Self {
        reason.map_or_else(|| otherwise().into(), Self::recorded)
    }

    /// Why a figure is none of its memory limit, which the server does not keep.
    pub(crate) fn of_more_memory(reason: String) -> Self {
        let kind = AbsenceKind::OfMoreMemory;
        Self { reason, kind }
    }

    /// Whether nothing was measured.
    pub(crate) fn is_of_nothing(&self) -> bool {
        self.kind == AbsenceKind::NotMeasured
    }

    /// Why there is no number, where there is room for some words.
    pub(crate) fn in_short(&self) -> &'static str {
        match self.kind {
            AbsenceKind::TooFew => "too few operations",
            AbsenceKind::NoneCompleted => NONE_COMPLETED,
            AbsenceKind::SomeTrials => "only in some trials",
            AbsenceKind::NotOfFio => "not in fio's result",
            AbsenceKind::OfMoreMemory => "not that of the limit",
            AbsenceKind::NotMeasured => "not measured",
        }
    }
}

impl From<String> for Absence {
    /// Why nothing was measured.
    fn from(reason: String) -> Self {
        Self {
            reason,
            kind: AbsenceKind::NotMeasured,
        }
    }
}

impl Capability {
    /// One of its readings as a figure of its own; none that was not measured.
    pub(super) fn headline<'a>(&'a self, reading: &'a Reading) -> Option<Headline<'a>> {
        match &reading.outcome {
            ReadingOutcome::Measured { number, conditions } => Some(Headline {
                label: &self.label,
                column: &reading.column,
                number,
                conditions,
            }),
            ReadingOutcome::Missing(_) => None,
        }
    }
}

impl Reading {
    /// A reading of the cell in which a number was reached; of none, why there is none.
    pub fn of<A: Into<Absence>>(
        column: &str,
        found: Option<(Number, String)>,
        if_missing: impl FnOnce() -> A,
    ) -> Self {
        let outcome = match found {
            Some((number, conditions)) => ReadingOutcome::Measured { number, conditions },
            None => ReadingOutcome::Missing(if_missing().into()),
        };
        Self {
            column: column.to_owned(),
            outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_measured_is_not_said_to_lack_operations() {
        let hint = Absence::from("only open loops were run".to_owned());
        assert_eq!(hint.in_short(), "not measured");
        let few = [
            "too few operations (980 of at least 1000) for a p99",
            "only 3 of 9 trials had enough operations for a p99.9 (the rest had 980 of at least 10,000)",
        ];
        for reason in few {
            assert_eq!(Absence::recorded(reason).in_short(), "too few operations");
        }
        let of_fio = "fio reports the time of fsync and fdatasync separately from that of the writes";
        assert_eq!(Absence::recorded(of_fio).in_short(), "not in fio's result");
        let none = "no operation completed";
        assert_eq!(Absence::recorded(none).in_short(), none);
        let some = [
            "only 1 of 2 trials have it: no operation completed",
            "only 3 of 9 trials have it: no read completed",
        ];
        for reason in some {
            assert_eq!(Absence::recorded(reason).in_short(), "only in some trials");
        }
        let none = "no energy source";
        assert_eq!(Absence::recorded(none).in_short(), "not measured");
    }
}
