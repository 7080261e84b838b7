//! Findings: sentences checked against records.

mod side;

use std::collections::BTreeSet;

use serde::Serialize;

pub(crate) use side::Side;

use crate::number::Number;

/// A sentence that was tested, the numbers it was tested on, and how it came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Stable identifier (`littles-law`).
    pub id: String,
    /// What it is about.
    pub about: About,
    /// The statement under test, true or not.
    pub sentence: String,
    /// How it came out.
    pub verdict: Verdict,
    /// What was computed on which cells, with the tolerance.
    pub tested: String,
    /// What it means for the reader; empty where the verdict says it all.
    pub meaning: String,
    /// The numbers behind the verdict.
    pub numbers: Vec<Number>,
    /// What is the case where a check of the run does not hold, as a sentence without its full stop.
    #[serde(skip)]
    pub failure: &'static str,
    /// Of how many that is the case, and of which most: `2 of 6 cells, most: …`; empty where that is not counted.
    #[serde(skip)]
    pub extent: String,
    /// What to do where a check of the run does not hold, as a sentence; empty where nothing is to be done about it here.
    #[serde(skip)]
    pub remedy: &'static str,
    /// Whether the whole interval of each number was held against the limit: then a wide one decides as well.
    #[serde(skip)]
    pub is_by_intervals: bool,
}

/// What a finding is about: only the first kind says something about what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// What was measured.
    #[default]
    Subject,
    /// The run: whether its figures can be relied on.
    Run,
    /// A publication, or how this run relates to one.
    Publication,
}

/// How a finding came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", content = "reason", rename_all = "kebab-case")]
pub enum Verdict {
    /// The records support the sentence.
    Holds,
    /// The records contradict the sentence.
    DoesNotHold,
    /// The records cannot decide it, for this reason.
    NotTestable(String),
}

impl Verdict {
    /// `Holds` or `DoesNotHold`.
    pub fn from_test(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::DoesNotHold }
    }

    /// The verdict in words, without a reason.
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Holds => "Holds",
            Self::DoesNotHold => "Does not hold",
            Self::NotTestable(_) => "Not testable",
        }
    }
}

/// A clause with a capital letter and a full stop. Names of devices and programs (`loop0`, `io_uring`, `p99`) keep their letters.
pub(crate) fn as_sentence(clause: &str) -> String {
    let word = clause.split(' ').next().unwrap_or_default();
    if word
        .chars()
        .any(|letter| letter.is_ascii_digit() || letter == '_' || letter == '`')
    {
        return format!("{}.", clause.trim_end_matches('.'));
    }
    let mut letters = clause.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string())
        .unwrap_or_default();
    let rest = letters.as_str().trim_end_matches('.');
    format!("{first}{rest}.")
}

/// A sentence as a clause behind a semicolon: without its capital, unless its first word is a name (`IOPS`, `O_DIRECT`, `Little's`).
pub(crate) fn as_clause(sentence: &str) -> String {
    let word = sentence.split(' ').next().unwrap_or_default();
    let has_more_capitals = word
        .chars()
        .skip(1)
        .any(|letter| letter.is_uppercase() || letter == '_');
    let is_name = has_more_capitals || word.ends_with("'s");
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) if !is_name => format!("{}{}", first.to_lowercase(), letters.as_str()),
        _ => sentence.to_owned(),
    }
}

/// How many checks of a run failed, and in which ways, each once as a clause: what is the case, and not the statement that it contradicts.
pub(crate) fn failed_checks<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> (usize, Vec<String>) {
    let is_failed =
        |finding: &&Finding| finding.about == About::Run && finding.verdict == Verdict::DoesNotHold;
    let checks: Vec<&Finding> = findings.into_iter().filter(is_failed).collect();
    // Several checks may fail in the same way.
    let mut said = BTreeSet::new();
    let ways = checks.iter().filter(|check| said.insert(check.failure));
    let clauses = ways.map(|check| as_clause(check.failure)).collect();
    (checks.len(), clauses)
}

impl Finding {
    /// A finding that was tested: what was computed, and whether it supports the sentence.
    pub fn tested(id: &str, sentence: impl Into<String>, holds: bool, tested: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            about: About::default(),
            sentence: sentence.into(),
            verdict: Verdict::from_test(holds),
            tested: tested.into(),
            meaning: String::new(),
            numbers: Vec::new(),
            failure: "",
            extent: String::new(),
            remedy: "",
            is_by_intervals: false,
        }
    }

    /// The same with a verdict of three: intervals may leave the sentence open.
    pub(crate) fn judged(
        id: &str,
        sentence: impl Into<String>,
        verdict: Verdict,
        tested: impl Into<String>,
    ) -> Self {
        Self {
            verdict,
            ..Self::tested(id, sentence, true, tested)
        }
    }

    /// Says what it is about, if it is not what was measured.
    #[must_use]
    pub fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    /// A check of the run: whether its figures can be relied on. `failure` is what a reader is told where it does not hold.
    #[must_use]
    pub fn of_run(self, failure: &'static str) -> Self {
        Self {
            about: About::Run,
            failure,
            ..self
        }
    }

    /// Says of how many a check does not hold, and of which most.
    #[must_use]
    pub fn extent(self, extent: impl Into<String>) -> Self {
        Self {
            extent: extent.into(),
            ..self
        }
    }

    /// Says what to do where a check does not hold.
    #[must_use]
    pub fn remedy(self, remedy: &'static str) -> Self {
        Self { remedy, ..self }
    }

    /// Says that whole intervals decided it, and not the values in them.
    #[must_use]
    pub fn by_intervals(self) -> Self {
        Self {
            is_by_intervals: true,
            ..self
        }
    }

    /// Says what it means for the reader.
    #[must_use]
    pub fn meaning(self, meaning: impl Into<String>) -> Self {
        Self {
            meaning: meaning.into(),
            ..self
        }
    }

    /// Says what it means where the sentence does not hold.
    #[must_use]
    pub fn otherwise(self, meaning: impl Into<String>) -> Self {
        if self.verdict == Verdict::DoesNotHold {
            self.meaning(meaning)
        } else {
            self
        }
    }

    /// Gives the numbers behind it.
    #[must_use]
    pub fn numbers(self, numbers: impl IntoIterator<Item = Number>) -> Self {
        Self {
            numbers: numbers.into_iter().collect(),
            ..self
        }
    }

    /// A finding that these records cannot decide.
    pub fn not_testable(id: &str, sentence: &str, reason: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            about: About::default(),
            sentence: sentence.to_owned(),
            verdict: Verdict::NotTestable(as_sentence(&reason.into())),
            tested: String::new(),
            meaning: String::new(),
            numbers: Vec::new(),
            failure: "",
            extent: String::new(),
            remedy: "",
            is_by_intervals: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{as_clause, as_sentence};

    #[test]
    fn names_keep_their_letters_at_both_ends_of_a_sentence() {
        for (clause, sentence) in [
            ("loop0 is a virtual device", "loop0 is a virtual device."),
            ("io_uring is disabled", "io_uring is disabled."),
            ("the device was busy", "The device was busy."),
        ] {
            assert_eq!(as_sentence(clause), sentence);
        }
        for (sentence, clause) in [
            ("The device was busy", "the device was busy"),
            ("IOPS changed", "IOPS changed"),
            ("Little's law holds", "Little's law holds"),
            ("A finding", "a finding"),
        ] {
            assert_eq!(as_clause(sentence), clause);
        }
    }
}
