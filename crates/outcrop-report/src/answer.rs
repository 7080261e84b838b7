//! The answer: what the subject can do, what to configure, and how sure that is.

mod caution;
mod doubtful;
mod reading;

use outcrop_measure::Interval;
use serde::Serialize;

pub(crate) use caution::Gravity;
pub use caution::{Caution, Severity};
pub(crate) use doubtful::Doubtful;
pub(crate) use reading::is_of_fio;
pub use reading::{Absence, Capability, Reading, ReadingOutcome};

use crate::command::More;
use crate::finding::as_sentence;
use crate::number::Number;
use crate::placement::{Kept, Verdict};

/// The only column of a table whose rows name a configuration each: on the first screen the word says nothing.
pub(crate) const CONFIGURATION_COLUMN: &str = "configuration";

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

/// A figure of the answer, for a reader who sees few of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headline<'a> {
    /// What it is (`Highest IOPS, Reads`).
    pub(crate) label: &'a str,
    pub(crate) column: &'a str,
    pub(crate) number: &'a Number,
    /// Where it was reached; may be empty.
    pub(crate) conditions: &'a str,
}

impl Headline<'_> {
    /// Row and column in words; the only column of a table adds nothing.
    pub(crate) fn name(&self) -> String {
        match self.column {
            "" | CONFIGURATION_COLUMN => self.label.to_owned(),
            column => format!("{}, {column}", self.label),
        }
    }
}

/// What to do in one sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instruction<'a> {
    /// The figures decide it.
    Do(&'a str),
    /// They do not: the topic, and what would decide it.
    Undecided(&'a Claim),
    /// Nothing was compared.
    None,
}

impl Answer {
    /// The first figures that were measured, each once: two wishes may have one answer.
    pub(crate) fn headlines(&self, most: usize) -> Vec<Headline<'_>> {
        let readings = self
            .capabilities
            .iter()
            .flat_map(|row| row.readings.iter().map(move |reading| (row, reading)));
        let all: Vec<Headline<'_>> = readings
            .filter_map(|(row, reading)| row.headline(reading))
            .collect();
        // What further down is not decided is no headline, unless nothing is: its name says so.
        let is_decided = |headline: &Headline<'_>| !headline.column.ends_with(UNDECIDED_COLUMN);
        let is_any = all.iter().any(is_decided);
        let measured = all.into_iter().filter(|headline| !is_any || is_decided(headline));
        let mut seen = Vec::new();
        let new = measured.filter(|headline| {
            let words = (headline.label, headline.number.to_string(), headline.conditions);
            let is_new = !seen.contains(&words);
            seen.push(words);
            is_new
        });
        new.take(most).collect()
    }

    /// Says in the subject and in each instruction that they are not about the user's data.
    pub(crate) fn is_of_other_data(&mut self, other: &str) {
        self.subject = format!(
            "{} · {other}, not your data, which are too small for this layer",
            self.subject
        );
        for action in self.advice.iter_mut().filter_map(|claim| claim.action.as_mut()) {
            *action = format!("For the {other}, not your data: {action}");
        }
    }

    /// How many of the figures that were measured are known too badly to decide anything.
    pub(crate) fn doubtful_figures(&self) -> Doubtful {
        let with_interval = self.numbers().filter(|number| number.interval.is_some());
        let (wide, of_one_trial) = (self.wide_numbers().count(), self.numbers_of_one_trial().count());
        Doubtful {
            wide,
            of_one_trial,
            all: with_interval.count() + of_one_trial,
        }
    }

    /// Those with an interval that are known too badly, and those of one trial.
    pub(crate) fn doubtful_numbers(&self) -> impl Iterator<Item = &Number> {
        self.wide_numbers().chain(self.numbers_of_one_trial())
    }

    fn wide_numbers(&self) -> impl Iterator<Item = &Number> {
        self.numbers().filter(|number| number.is_too_wide())
    }

    /// Those that were read off a clock once, where others were read several times: of a run of single trials that is said once for all.
    fn numbers_of_one_trial(&self) -> impl Iterator<Item = &Number> {
        let is_any_repeated = self.numbers().any(|number| number.interval.is_some());
        self.numbers()
            .filter(move |number| is_any_repeated && number.rests_on_one_trial())
    }

    /// The figures that were measured.
    fn numbers(&self) -> impl Iterator<Item = &Number> {
        let readings = self.capabilities.iter().flat_map(|row| &row.readings);
        readings.filter_map(|reading| match &reading.outcome {
            ReadingOutcome::Measured { number, .. } => Some(number),
            ReadingOutcome::Missing(_) => None,
        })
    }

    /// The first instruction; where no figures decide one, what is not decided.
    pub(crate) fn instruction(&self) -> Instruction<'_> {
        let action = self.advice.iter().find_map(|claim| claim.action.as_deref());
        match (action, self.advice.first()) {
            (Some(action), _) => Instruction::Do(action),
            (None, Some(claim)) => Instruction::Undecided(claim),
            (None, None) => Instruction::None,
        }
    }
}

/// What stands where no figures were compared.
pub(crate) const NO_ADVICE: &str = "No advice: the cells of this run do not decide a setting.";

/// What a column is called that has the figures of what a claim chooses: `of the smallest`, since a smallest speed is none of them.
pub(crate) fn column_of(topic: &str) -> String {
    format!("of the {}", topic.to_lowercase())
}

/// What a column is called besides, whose choice the figures do not decide.
const UNDECIDED_COLUMN: &str = ", undecided";

impl Answer {
    /// Says in the table of what was measured, too, which choices are not decided: a name in a column would contradict the advice.
    pub(crate) fn mark_undecided(&mut self) {
        let undecided = self.advice.iter().filter(|claim| !claim.is_decided());
        let topics: Vec<String> = undecided.map(|claim| column_of(&claim.topic)).collect();
        for reading in self.capabilities.iter_mut().flat_map(|row| &mut row.readings) {
            if topics.contains(&reading.column) {
                reading.column.push_str(UNDECIDED_COLUMN);
            }
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
    /// What to do, as an instruction for the first screen (`Use queue depth 8 for 4 KiB random reads: 98 k IOPS`); none where the
    /// claim states a fact, or its figures do not decide it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Why the figures do not decide it, and what would.
    #[serde(skip)]
    pub(crate) doubt: Option<Doubt>,
    /// What its figures decide although an interval of them is wide.
    #[serde(skip)]
    pub(crate) known_anyway: Option<String>,
    /// What limits say of its setting, where they say anything.
    #[serde(skip)]
    pub(crate) limits: Option<Limited>,
    /// The topic of the claim without which it is no advice: how to do something rests on whether to do it.
    #[serde(skip)]
    pub(crate) rests_on: Option<&'static str>,
    /// Whether its figures measure something else: more of them would not decide it.
    #[serde(skip)]
    pub(crate) is_void: bool,
    /// The whole of it, in sentences.
    pub text: String,
    /// What it rests on.
    pub numbers: Vec<Number>,
}

/// A setting that breaks a limit, or may.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limited {
    /// `rocksdb lz4 16KiB breaks the limit on the ratio (1.31 of at least 1.50)`.
    pub(crate) clause: String,
    /// Whether it is advised all the same: its figures keep the limit, but their intervals reach beyond it.
    pub(crate) is_advised: bool,
    /// Whether more trials would show whether it keeps the limit.
    pub(crate) is_open_by_interval: bool,
}

/// What withholds a claim.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Doubt {
    /// Why, without what to do about it: `not decided (IOPS, read: 261 k (120–400))`.
    pub(crate) why: String,
    /// The interval in it, where it has one.
    pub(crate) interval: Option<Interval>,
    /// What is likely to decide it: more repetitions, or a larger sample.
    pub(crate) more: More,
    /// Whether the number that leaves it open may be of a cell that lacks trials of the plan: resuming the run measures those.
    pub(crate) lacks_trials: bool,
}

/// How the brief of a claim begins that the figures do not decide.
pub(crate) const NOT_DECIDED: &str = "not decided";
/// How the last clause of a brief begins that says which of its figures is known badly.
pub(crate) const UNCERTAIN: &str = "uncertain: ";
/// How the last clause of a brief begins that says which limit its setting may break.
const NOT_CERTAIN: &str = "not certain: ";

impl Claim {
    /// Whether its figures decide it.
    pub fn is_decided(&self) -> bool {
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
            action: None,
            doubt: None,
            known_anyway: None,
            limits: None,
            rests_on: None,
            is_void: false,
            text: text.into(),
            numbers,
        }
    }

    /// The claim in a line, without how to decide it: a terminal says that once for all of them.
    pub(crate) fn in_a_line(&self) -> &str {
        self.doubt.as_ref().map_or(&self.brief, |doubt| &doubt.why)
    }

    /// Whether the last clause of that line limits what is said before it: where the line is cut, that clause is kept.
    pub(crate) fn ends_with_caveat(&self) -> bool {
        let last = self.in_a_line().rsplit_once("; ");
        last.is_some_and(|(_, last)| last.starts_with(UNCERTAIN) || last.starts_with(NOT_CERTAIN))
    }

    /// The same, with what to do.
    pub fn advising(self, action: impl Into<String>) -> Self {
        Self {
            action: Some(action.into()),
            ..self
        }
    }
}

impl Claim {
    /// The same under limits: what they say of its setting, which [`Claim::within_limits`] adds.
    #[must_use]
    pub(crate) fn under(self, setting: &str, verdict: &Verdict) -> Self {
        let limits = (verdict.kept != Kept::Keeps).then(|| Limited {
            clause: format!("{setting} {}", verdict.why),
            is_advised: verdict.is_kept(),
            is_open_by_interval: verdict.is_open_by_interval,
        });
        Self { limits, ..self }
    }

    /// The claim with what limits say of its setting. What breaks one, or may, is no instruction any more.
    #[must_use]
    pub(crate) fn within_limits(self) -> Self {
        let Some(limited) = self.limits.clone() else {
            return self;
        };
        let clause = &limited.clause;
        if !limited.is_advised {
            return self.not_within(&limited);
        }
        if self.doubt.is_some() {
            return self;
        }
        let action = self.action.as_ref();
        Self {
            brief: format!("{}; {NOT_CERTAIN}{clause}", self.brief),
            action: action.map(|action| format!("Not certain, as {clause}. {action}")),
            text: format!("{} Not certain: {clause}.", self.text),
            ..self
        }
    }

    /// The same without its instruction. What would decide the rest of it is said only where that shows, too, whether the limit is kept.
    fn not_within(self, limited: &Limited) -> Self {
        let clause = &limited.clause;
        let without = format!("{clause}; without limits, {}", self.in_a_line());
        let is_more = limited.is_open_by_interval;
        let (brief, text, doubt) = match &self.doubt {
            Some(doubt) if is_more => {
                let brief = format!("{clause}; without limits, {}", self.brief);
                let doubt = Doubt {
                    why: without,
                    ..doubt.clone()
                };
                (brief, self.text.clone(), Some(doubt))
            }
            Some(doubt) => (without, as_sentence(&doubt.why), None),
            None => (without, self.text.clone(), None),
        };
        Self {
            brief,
            text: match text.strip_prefix("Not decided") {
                Some(why) => format!("{clause}. Without limits, this is not decided{why}"),
                None => format!("{clause}. Without limits: {text}"),
            },
            action: None,
            doubt,
            ..self
        }
    }
}
