//! How many figures of an answer are known too badly, in words.

use crate::number::{WIDEST_PERCENT, is_or_are};

/// How many figures are known too badly to decide anything, and of how many.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Doubtful {
    /// Their intervals are wide.
    pub(crate) wide: usize,
    /// They rest on one trial, and others do not.
    pub(crate) of_one_trial: usize,
    /// With those that are known better.
    pub(crate) all: usize,
}

impl Doubtful {
    pub(crate) const fn count(self) -> usize {
        self.wide + self.of_one_trial
    }

    /// The same of both together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            wide: self.wide + other.wide,
            of_one_trial: self.of_one_trial + other.of_one_trial,
            all: self.all + other.all,
        }
    }

    /// `2 of 12`.
    pub(crate) fn in_numbers(self) -> String {
        format!("{} of {}", self.count(), self.all)
    }

    /// `2 of 12 figures are uncertain by more than ± 30 % or rest on one trial`, where they are called figures.
    pub(crate) fn in_words(self, figures: &str) -> String {
        let verb = is_or_are(self.count());
        let wide = format!("{verb} uncertain by more than ± {WIDEST_PERCENT:.0} %");
        let rest = if self.count() == 1 { "rests" } else { "rest" };
        let why = match (self.wide, self.of_one_trial) {
            (_, 0) => wide,
            (0, _) => format!("{rest} on one trial"),
            _ => format!("{wide} or {rest} on one trial"),
        };
        format!("{} {figures} {why}", self.in_numbers())
    }
}
