//! The text of a plan and the name that messages call it by.

use std::ops::Range;
use std::path::Path;

use crate::error::LabError;

/// A plan's text and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSource {
    /// What messages call it: a path, or a shipped plan's name.
    pub name: String,
    /// TOML.
    pub text: String,
}

impl PlanSource {
    /// Reads a plan file.
    ///
    /// # Errors
    /// When the file cannot be read or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        let text = std::fs::read_to_string(path).map_err(|source| LabError::ReadPlan {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            name: path.display().to_string(),
            text,
        })
    }

    /// `name:line:column` of a byte offset, both from 1.
    pub(super) fn at(&self, offset: usize) -> String {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.name)
    }

    /// The error for what stands at a span.
    pub(super) fn error(&self, span: &Range<usize>, message: impl Into<String>) -> LabError {
        LabError::BadPlan {
            at: self.at(span.start),
            message: message.into(),
        }
    }
}
