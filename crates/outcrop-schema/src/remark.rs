//! What trials remark beside their figures: a code that programs know and a text for people.

use serde::{Deserialize, Serialize};

/// A kind of remark that trials of a layer may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemarkKind {
    /// Stable, `kebab-case`.
    pub code: &'static str,
    /// When it is made, in a clause.
    pub meaning: &'static str,
    /// The words that identify it in runs made before remarks had codes; empty where none do.
    pub formerly: &'static str,
}

impl RemarkKind {
    /// A kind of remark; see the fields.
    pub const fn new(code: &'static str, meaning: &'static str, formerly: &'static str) -> Self {
        Self {
            code,
            meaning,
            formerly,
        }
    }

    /// A remark of this kind.
    pub fn remark(&self, text: impl Into<String>) -> Remark {
        Remark {
            code: Some(self.code.to_owned()),
            text: text.into(),
        }
    }

    /// Whether a remark is of this kind.
    pub fn is_kind_of(&self, remark: &Remark) -> bool {
        match &remark.code {
            Some(code) => code == self.code,
            None => !self.formerly.is_empty() && remark.text.contains(self.formerly),
        }
    }
}

/// The machine or the plan is not what it was when the run began.
pub const RESUMED_ELSEWHERE: RemarkKind = RemarkKind::new(
    "resumed-elsewhere",
    "the run was resumed on a machine, or with a plan, that differs",
    "resumed after",
);

/// The bytes that may be written were used up.
pub const WRITE_LIMIT: RemarkKind = RemarkKind::new(
    "write-limit-reached",
    "the trial was stopped before it wrote more than allowed",
    "",
);

/// The trial has too many intervals for a line of the journal.
pub const LONGER_INTERVALS: RemarkKind = RemarkKind::new(
    "longer-intervals",
    "the trial's intervals are longer than asked for, since a line of the journal has at most 64 MiB",
    "",
);

/// What trials of every layer may remark.
pub const OF_EVERY_LAYER: &[RemarkKind] = &[RESUMED_ELSEWHERE, WRITE_LIMIT, LONGER_INTERVALS];

/// What a trial remarked.
///
/// In the journal it is an object of `code` and `text`; before remarks had codes it was the text alone, which is read as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Remark {
    /// The code of its kind; `None` in runs that were made before there were any.
    pub code: Option<String>,
    /// One sentence for people.
    pub text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Coded { code: String, text: String },
}

impl From<Written> for Remark {
    fn from(written: Written) -> Self {
        match written {
            Written::Text(text) => Self { code: None, text },
            Written::Coded { code, text } => Self {
                code: Some(code),
                text,
            },
        }
    }
}

impl From<Remark> for Written {
    fn from(remark: Remark) -> Self {
        match remark.code {
            None => Self::Text(remark.text),
            Some(code) => Self::Coded {
                code,
                text: remark.text,
            },
        }
    }
}
