//! The answer: what the subject can do, what to configure, and how sure that is.

use serde::Serialize;

use crate::number::Number;

/// What the reader came for, in the order in which it is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// What was measured, in a line.
    pub subject: String,
    /// What the subject can do, as rows of a small table.
    pub capabilities: Vec<Capability>,
    /// What to configure, and why.
    pub advice: Vec<Claim>,
    /// How sure it is: what a careful reader must know before relying on it.
    pub cautions: Vec<Caution>,
}

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
    Missing {
        /// Why, and which plan would measure it.
        reason: String,
    },
}

impl Reading {
    /// A reading of the cell in which a number was reached; of none, why there is none.
    pub fn of(column: &str, found: Option<(Number, String)>, if_missing: impl FnOnce() -> String) -> Self {
        let outcome = match found {
            Some((number, conditions)) => ReadingOutcome::Measured { number, conditions },
            None => ReadingOutcome::Missing { reason: if_missing() },
        };
        Self {
            column: column.to_owned(),
            outcome,
        }
    }
}

/// A recommendation or a statement, with the numbers it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Two to four words (`Depth for read latency`).
    pub topic: String,
    /// The same in a line, for a terminal.
    pub brief: String,
    /// A sentence that an engineer can act on.
    pub text: String,
    /// What it rests on.
    pub numbers: Vec<Number>,
}

/// How the brief of a claim begins that the figures do not decide.
pub(crate) const NOT_DECIDED: &str = "not decided";

impl Claim {
    /// Whether its figures decide it.
    pub(crate) fn is_decided(&self) -> bool {
        !self.brief.starts_with(NOT_DECIDED)
    }

    /// A claim; see the fields.
    pub fn new(
        topic: impl Into<String>,
        brief: impl Into<String>,
        text: impl Into<String>,
        numbers: Vec<Number>,
    ) -> Self {
        Self {
            topic: topic.into(),
            brief: brief.into(),
            text: text.into(),
            numbers,
        }
    }
}

impl Caution {
    /// Good to know.
    pub fn note(text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Note,
            text: text.into(),
        }
    }

    /// The answer may be wrong because of it.
    pub fn warning(text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            text: text.into(),
        }
    }

    /// A warning where it is one, else a note.
    pub fn warning_if(is_warning: bool, text: impl Into<String>) -> Self {
        if is_warning {
            Self::warning(text)
        } else {
            Self::note(text)
        }
    }
}

/// Something that limits how far the answer can be relied on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Caution {
    /// How much it matters.
    pub severity: Severity,
    /// One sentence.
    pub text: String,
}

/// How much a caution matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know, or reassuring.
    Note,
    /// The answer may be wrong because of it.
    Warning,
}
