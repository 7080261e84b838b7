//! How descriptions are written: `form` or `form:argument`, the same text in plans, flags and records.

use crate::WorkloadError;

/// Splits `form:argument` at the first colon; surrounding blanks do not count.
pub(crate) fn form_and_argument(text: &str) -> (&str, Option<&str>) {
    match text.trim().split_once(':') {
        Some((form, argument)) => (form.trim_end(), Some(argument.trim_start())),
        None => (text.trim(), None),
    }
}

/// What is being read, its accepted forms and the text, for error messages.
pub(crate) struct Spelling<'a> {
    pub(crate) what: &'static str,
    pub(crate) accepted: &'static str,
    pub(crate) seen: &'a str,
}

impl Spelling<'_> {
    /// The text is none of the accepted forms.
    pub(crate) fn not_understood(&self) -> WorkloadError {
        WorkloadError::Spelling {
            what: self.what,
            seen: self.seen.to_owned(),
            accepted: self.accepted,
        }
    }

    /// The form is right and its number is not.
    pub(crate) fn out_of_range(&self, why: impl Into<String>) -> WorkloadError {
        WorkloadError::OutOfRange {
            what: self.what,
            seen: self.seen.to_owned(),
            why: why.into(),
        }
    }

    /// Reads the argument as a plain number.
    pub(crate) fn number(&self, argument: &str) -> Result<f64, WorkloadError> {
        argument.parse().map_err(|_| self.not_understood())
    }
}

/// Gives a type with `FromStr` and `Display` the conversions that serde's `try_from`/`into = "String"` need.
macro_rules! spelled_as_string {
    ($description:ty) => {
        impl TryFrom<String> for $description {
            type Error = $crate::WorkloadError;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$description> for String {
            fn from(description: $description) -> Self {
                description.to_string()
            }
        }
    };
}
pub(crate) use spelled_as_string;
