//! `cargo xtask tidy`: rules about the sources that neither rustc nor clippy knows.
//!
//! A rule is a function from the checkout to violations; it reads no file of its own, so that its test can
//! hand it a synthetic checkout. Exceptions stand in `tidy.toml`, each with its reason.

mod code;
mod config;
mod headers;
mod licences;
mod links;
mod mentions;
mod named_tests;
mod plans;
mod prose;
mod ranks;
mod sizes;
mod unsafe_list;
mod vocabulary;
mod words;

use std::fmt;

use anyhow::Result;

use crate::workspace::{SourceFile, Workspace};
use config::Config;
pub(crate) use plans::plan_name;

/// One place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Path relative to the checkout.
    path: String,
    /// 1-based; 0 when the whole file is meant.
    line: usize,
    /// What is wrong, with the value seen and the value expected.
    what: String,
    /// How to mend it.
    mend: String,
}

impl Violation {
    fn new(path: &str, line: usize, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            what: what.into(),
            mend: mend.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            what,
            mend,
        } = self;
        if *line > 0 {
            write!(f, "{path}:{line}: {what}\n    mend: {mend}")
        } else {
            write!(f, "{path}: {what}\n    mend: {mend}")
        }
    }
}

/// What tidy found.
pub(crate) struct TidyReport {
    pub(crate) violations: Vec<Violation>,
    /// Facts worth a line even when nothing is wrong.
    pub(crate) notes: Vec<String>,
}

/// Applies every rule to the checkout.
///
/// # Errors
/// git fails, or `tidy.toml` or `deny.toml` does not parse.
pub(crate) fn inspect(workspace: &Workspace) -> Result<TidyReport> {
    let files = workspace.files()?;
    let config = Config::load(&workspace.root.join("tidy.toml"))?;
    let policy = licences::Policy::load(&workspace.root.join("deny.toml"))?;
    let members = workspace.members();

    let (size_violations, size_note) = sizes::check(&files, &config.size);
    let rules = [
        ranks::check(&members),
        headers::check(&files, &config.without_header),
        size_violations,
        unsafe_list::check(&files, &config.unsafe_module),
        words::check(&files),
        prose::check(&files),
        vocabulary::check(&files, &config.vocabulary_word),
        plans::check(&files),
        links::check(&files),
        mentions::check(&files, &members),
        named_tests::check(&files),
        licences::check(&policy, &workspace.metadata),
    ];
    let notes = vec![
        size_note,
        format!(
            "{} modules lift the ban on unsafe code",
            config.unsafe_module.len()
        ),
        format!(
            "{} crates in the dependency graph",
            workspace.metadata.packages.len()
        ),
    ];
    Ok(TidyReport {
        violations: rules.concat(),
        notes,
    })
}

/// Runs tidy on its own and prints what it found; true when nothing is wrong.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let report = inspect(workspace)?;
    for violation in &report.violations {
        println!("{violation}");
    }
    for note in &report.notes {
        eprintln!("tidy: {note}");
    }
    match report.violations.len() {
        0 => eprintln!("tidy: nothing to mend"),
        count => eprintln!("tidy: {count} to mend"),
    }
    Ok(report.violations.is_empty())
}

fn rust_files(files: &[SourceFile]) -> impl Iterator<Item = &SourceFile> {
    files.iter().filter(|file| has_extension(file, "rs"))
}

fn has_extension(file: &SourceFile, extension: &str) -> bool {
    file.path
        .rsplit_once('.')
        .is_some_and(|(_, found)| found == extension)
}

#[cfg(test)]
fn file(path: &str, text: &str) -> SourceFile {
    SourceFile {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}
