//! How sure the answer is: what a careful reader must know before relying on it.

use serde::Serialize;

/// Something that limits how far the answer can be relied on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Caution {
    /// How much it matters.
    pub severity: Severity,
    /// One sentence.
    pub text: String,
    /// What it leaves of the figures.
    #[serde(skip)]
    pub(crate) gravity: Gravity,
    /// The same in some words, of what is shown where there is little room.
    #[serde(skip)]
    brief: Option<String>,
    /// The same without the command that it ends with, for a screen that has the command elsewhere; none of one without a command.
    #[serde(skip)]
    without_command: Option<String>,
    /// Whether a note is on the page for print, which has all warnings that fit.
    #[serde(skip)]
    pub(crate) is_in_print: bool,
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

/// What a warning leaves of the figures, the least grave first: where there is no room for all, the gravest are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gravity {
    /// The figures hold, and are known within wide intervals only, which the table shows.
    Width,
    /// Some figures hold under a condition.
    Doubt,
    /// Latencies include the delay of the generator.
    Late,
    /// Trials in which others used the device, or something stood still.
    Contaminated,
    /// The figures describe something else than the subject.
    Void,
}

impl Caution {
    fn new(severity: Severity, text: impl Into<String>) -> Self {
        Self {
            severity,
            text: text.into(),
            gravity: Gravity::Doubt,
            brief: None,
            without_command: None,
            is_in_print: false,
        }
    }

    /// Good to know.
    pub fn note(text: impl Into<String>) -> Self {
        Self::new(Severity::Note, text)
    }

    /// The answer may be wrong because of it.
    pub fn warning(text: impl Into<String>) -> Self {
        Self::new(Severity::Warning, text)
    }

    /// A warning where it is one, else a note.
    pub fn warning_if(is_warning: bool, text: impl Into<String>) -> Self {
        if is_warning {
            Self::warning(text)
        } else {
            Self::note(text)
        }
    }

    /// A warning that the figures are not of the subject at all; in brief for a row of a table.
    pub(crate) fn void(brief: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            brief: Some(brief.into()),
            ..Self::warning(text).graded(Gravity::Void)
        }
    }

    /// The same with a command and what it does, as a last sentence; nothing more of none.
    #[must_use]
    pub(crate) fn ending_with(self, command: Option<&str>, does: &str) -> Self {
        let Some(command) = command else {
            return self;
        };
        Self {
            text: format!("{} `{command}` {does}.", self.text),
            without_command: Some(self.text),
            ..self
        }
    }

    /// The same, before what is less grave.
    #[must_use]
    pub(crate) fn graded(self, gravity: Gravity) -> Self {
        Self { gravity, ..self }
    }

    /// The same, shown in these words also where there is little room.
    #[must_use]
    pub(crate) fn briefly(self, brief: impl Into<String>) -> Self {
        Self {
            brief: Some(brief.into()),
            ..self
        }
    }

    /// The same, said on the page for print too: without it a reader takes the figures for others.
    #[must_use]
    pub(crate) fn in_print(self) -> Self {
        Self {
            is_in_print: true,
            ..self
        }
    }

    /// Whether the answer may be wrong because of it.
    pub(crate) fn is_warning(&self) -> bool {
        self.severity == Severity::Warning
    }

    /// Its text without the command that it ends with.
    pub(crate) fn without_command(&self) -> &str {
        self.without_command.as_deref().unwrap_or(&self.text)
    }

    /// In brief, what is shown of it where there is little room; none for a caution that waits for the report.
    pub(crate) fn in_brief(&self) -> Option<&str> {
        self.brief.as_deref()
    }

    /// In brief, that the figures are not of the subject; none for a caution that leaves them their meaning.
    pub(crate) fn void_in_brief(&self) -> Option<&str> {
        self.brief.as_deref().filter(|_| self.gravity == Gravity::Void)
    }
}
