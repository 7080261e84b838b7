//! The text of a plan and the name that messages call it by.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use outcrop_results::layout::MOST_TEXT_BYTES;
use outcrop_workload::word::nearest;

use crate::error::LabError;
use crate::profile::shipped_plans;

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
    /// When the file cannot be read, is not UTF-8 or is longer than any plan.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        let text = outcrop_probe::user_file::read_text(path, MOST_TEXT_BYTES, "a plan");
        let text = text.map_err(|source| LabError::ReadPlan {
            path: path.to_owned(),
            meant: (source.kind() == ErrorKind::NotFound)
                .then(|| meant_by(path))
                .flatten(),
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

/// The plan that a path without a file is probably a slip of: a file next to it, or a plan that ships.
fn meant_by(path: &Path) -> Option<String> {
    let (name, stem) = (path.file_name()?.to_str()?, path.file_stem()?.to_str()?);
    let shipped: Vec<&str> = shipped_plans().iter().map(|plan| plan.name).collect();
    if shipped.contains(&stem) {
        return Some(format!("to run the shipped plan, give its name alone: `{stem}`"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new(".")))
        .into_iter()
        .flatten();
    let mut files: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|file| file.ends_with(".toml"))
        .collect();
    files.sort_unstable();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let near = match nearest(name, &files) {
        Some(file) => path.with_file_name(file).display().to_string(),
        None => nearest(stem, &shipped)?.to_owned(),
    };
    Some(format!("did you mean `{near}`?"))
}
