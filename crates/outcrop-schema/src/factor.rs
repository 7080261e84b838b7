//! A factor: one thing that a plan may say about a subject or a workload, defined once for all who need it.

use std::fmt;
use std::ops::Deref;

use crate::settings::Setting;
use crate::value::{Column, Value};

/// What a factor is to those who compare cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What is asked of the subject; it names a cell.
    Workload,
    /// Under which circumstances figures hold; it names no cell, but figures under others are not comparable.
    Condition,
    /// What does the work; it names a cell among runs, and publications may do it otherwise.
    Implementation,
    /// Which data are worked on; it names a cell.
    Data,
}

impl Role {
    /// The word in reference tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Workload => "workload",
            Self::Condition => "condition",
            Self::Implementation => "implementation",
            Self::Data => "data",
        }
    }
}

/// Said of what the workload decides where a plan says nothing: a value that has the workload's name is its own.
pub const OF_WORKLOAD: &str = "the workload's";

/// How a factor's value stands in the label of a cell; `{}` is the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Not at all.
    Hidden,
    /// Always.
    Always(&'static str),
    /// Where it is not the default.
    Unusual(&'static str),
}

/// What is known of a factor without its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Its key in plans and its name in records.
    pub name: &'static str,
    /// One line for flags and tables, without a full stop.
    pub help: &'static str,
    /// What is accepted, in Markdown for tables.
    pub accepted: &'static str,
    /// The value when a plan gives none; `None` where the layer decides by the subject.
    pub default: Option<&'static str>,
    /// What the layer decides, in Markdown, where there is no default.
    pub decided: &'static str,
    /// How labels say it.
    pub label: Label,
    /// What it is to those who compare.
    pub role: Role,
    /// Its flag where that is not its name.
    pub flag: Option<&'static str>,
    /// What holds where a run or a publication does not say.
    pub assumed: Option<&'static str>,
    /// Whether publications have values of it that plans do not accept.
    pub is_open: bool,
}

/// A factor whose values have the type `T`.
///
/// It is a constant that serves as a key: [`crate::Settings::get`] answers with a `T`.
pub struct Factor<T> {
    about: About,
    parse: fn(&str) -> Result<T, String>,
}

impl<T: Value> Factor<T> {
    /// A factor of a workload that has no default and stands in no label.
    pub const fn new(name: &'static str, help: &'static str, parse: fn(&str) -> Result<T, String>) -> Self {
        let about = About {
            name,
            help,
            accepted: "",
            default: None,
            decided: "",
            label: Label::Hidden,
            role: Role::Workload,
            flag: None,
            assumed: None,
            is_open: false,
        };
        Self { about, parse }
    }

    /// Says what is accepted, in Markdown.
    #[must_use]
    pub const fn accepts(self, accepted: &'static str) -> Self {
        let about = About {
            accepted,
            ..self.about
        };
        Self { about, ..self }
    }

    /// Gives it a default, in its canonical spelling.
    #[must_use]
    pub const fn default(self, default: &'static str) -> Self {
        let about = About {
            default: Some(default),
            ..self.about
        };
        Self { about, ..self }
    }

    /// Says what the layer decides where a plan says nothing, in Markdown.
    #[must_use]
    pub const fn decided(self, decided: &'static str) -> Self {
        let about = About {
            decided,
            ..self.about
        };
        Self { about, ..self }
    }

    /// Puts it into labels.
    #[must_use]
    pub const fn label(self, label: Label) -> Self {
        let about = About { label, ..self.about };
        Self { about, ..self }
    }

    /// Gives it another role than *workload*.
    #[must_use]
    pub const fn role(self, role: Role) -> Self {
        let about = About { role, ..self.about };
        Self { about, ..self }
    }

    /// Gives it a flag that is not its name.
    #[must_use]
    pub const fn flag(self, flag: &'static str) -> Self {
        let about = About {
            flag: Some(flag),
            ..self.about
        };
        Self { about, ..self }
    }

    /// Says what holds where neither a run nor a publication says anything.
    #[must_use]
    pub const fn assumed(self, assumed: &'static str) -> Self {
        let about = About {
            assumed: Some(assumed),
            ..self.about
        };
        Self { about, ..self }
    }

    /// Lets publications have values of it that plans do not accept.
    #[must_use]
    pub const fn open(self) -> Self {
        let about = About {
            is_open: true,
            ..self.about
        };
        Self { about, ..self }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// A sentence with the text seen and what is accepted.
    pub fn parse(&self, text: &str) -> Result<T, String> {
        (self.parse)(text)
    }
}

impl<T> Deref for Factor<T> {
    type Target = About;

    fn deref(&self) -> &About {
        &self.about
    }
}

impl<T> Clone for Factor<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Factor<T> {}

impl<T> fmt::Debug for Factor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Factor({})", self.about.name)
    }
}

/// A factor of any type, as tables and checks see it.
pub trait AnyFactor: Sync + fmt::Debug {
    /// What is known of it.
    fn about(&self) -> &About;

    /// Reads a value.
    ///
    /// # Errors
    /// A sentence with the text seen and what is accepted.
    fn read(&self, text: &str) -> Result<Setting, String>;

    /// Its column in tables.
    fn column(&self) -> Column;

    /// Whether a bare number is one of bytes.
    fn is_size(&self) -> bool;
}

impl<T: Value> AnyFactor for Factor<T> {
    fn about(&self) -> &About {
        &self.about
    }

    fn read(&self, text: &str) -> Result<Setting, String> {
        self.parse(text).map(Setting::of)
    }

    fn column(&self) -> Column {
        T::COLUMN
    }

    fn is_size(&self) -> bool {
        T::IS_SIZE
    }
}

/// A factor of any type.
pub type FactorRef = &'static dyn AnyFactor;

impl dyn AnyFactor {
    /// A value as tables show it, given as it is spelled: a bare number of bytes has its unit, `64 B`.
    pub fn shown(&self, spelling: &str) -> String {
        let is_bare = !spelling.is_empty() && spelling.bytes().all(|byte| byte.is_ascii_digit());
        if is_bare && self.is_size() {
            return format!("{spelling} B");
        }
        spelling.to_owned()
    }
}

impl Deref for dyn AnyFactor {
    type Target = About;

    fn deref(&self) -> &About {
        self.about()
    }
}

impl About {
    /// Whether a publication may state it in words that plans do not accept: what it was done with, and under which conditions.
    pub fn admits_words(&self) -> bool {
        self.is_open || matches!(self.role, Role::Condition | Role::Implementation)
    }

    /// Whether labels may say it.
    pub const fn is_labelled(&self) -> bool {
        !matches!(self.label, Label::Hidden)
    }

    /// How labels say a value of it, given as it is spelled: `QD 32`; `None` where they do not.
    pub fn labelled(&self, value: &str) -> Option<String> {
        match self.label {
            Label::Hidden => None,
            Label::Unusual(_) if Some(value) == self.default => None,
            Label::Always(words) | Label::Unusual(words) => Some(words.replace("{}", value)),
        }
    }

    /// The flag of one-off commands, without its dashes: `queue-depth`.
    pub fn flag_name(&self) -> String {
        self.flag
            .map_or_else(|| self.name.replace('_', "-"), str::to_owned)
    }

    /// The name in words: `queue depth`.
    pub fn words(&self) -> String {
        self.name.replace('_', " ")
    }

    /// The name of its column in Parquet files: sizes end in their unit.
    pub fn column_name(&self, column: Column) -> String {
        match column {
            Column::Bytes => format!("{}_bytes", self.name),
            _ => self.name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FactorRef;
    use crate::cache::{ITEM_MEMORY, MEMORY, REQUESTS};

    #[test]
    fn a_bare_number_of_bytes_has_its_unit_also_where_a_word_is_a_value_too() {
        for (factor, spelling, shown) in [
            (&ITEM_MEMORY as FactorRef, "100", "100 B"),
            (&ITEM_MEMORY, "1MB", "1MB"),
            (&ITEM_MEMORY, "unlimited", "unlimited"),
            (&MEMORY, "2000001", "2000001 B"),
            (&REQUESTS, "15000", "15000"),
        ] {
            assert_eq!(factor.shown(spelling), shown);
        }
    }
}
