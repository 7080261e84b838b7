//! From files of fio to one run folder.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use outcrop_results::{RunFolder, TrialEntry};
use outcrop_schema::{FactorRef, device};

use super::described::assumption;
use super::trials::{Origin, trials};
use super::{document, files};
use crate::error::FioError;

/// Trials of one run; more are no results of a person's.
const MOST_TRIALS: usize = 100_000;
/// Trials that are written, and synced, together.
const TRIALS_AT_ONCE: usize = 256;
/// Files that could not be imported and are told when none could be.
const MOST_TOLD: usize = 5;

/// What a caller decides.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// `FACTOR=VALUE` of the device layer, which hold where neither a job's options nor a file's name say anything.
    pub assume: Vec<String>,
}

/// Results of fio as trials of the device layer.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The trials, by the order of the files; repetitions are counted in that order.
    pub trials: Vec<TrialEntry>,
    /// Versions of fio that the results are of.
    pub versions: BTreeSet<String>,
    /// Files that were imported.
    pub files: Vec<PathBuf>,
    /// Files and jobs that were not, each in a sentence with the reason.
    pub left_out: Vec<String>,
    /// Assumptions that no job took, since each states the factor: `FACTOR=VALUE`.
    pub unused_assumptions: Vec<String>,
    assumed: Vec<String>,
    contents: files::Contents,
}

/// Reads results of fio: files, and folders with `.json` files in them.
///
/// # Errors
/// When a path cannot be read at all, an assumption names no factor or one that another has, or nothing can be imported.
pub fn import(paths: &[PathBuf], options: &ImportOptions) -> Result<Imported, FioError> {
    let assumed = assumptions(&options.assume)?;
    let mut imported = Imported {
        trials: Vec::new(),
        versions: BTreeSet::new(),
        files: Vec::new(),
        left_out: Vec::new(),
        unused_assumptions: Vec::new(),
        assumed: Vec::new(),
        contents: files::Contents::default(),
    };
    for path in files::find(paths)? {
        if let Err(why) = imported.take(&path, &assumed) {
            imported.left_out.push(format!("{}: {why}", path.display()));
        }
        if imported.trials.len() > MOST_TRIALS {
            imported.left_out.push(format!(
                "the files behind {}: a run has at most {MOST_TRIALS} trials",
                path.display()
            ));
            break;
        }
    }
    if imported.trials.is_empty() {
        let mut left_out = imported.left_out;
        if left_out.len() > MOST_TOLD {
            let more = left_out.len() - MOST_TOLD;
            left_out.truncate(MOST_TOLD);
            left_out.push(format!("and {more} more files"));
        }
        return Err(FioError::NothingToImport { left_out });
    }
    imported.number();
    for (factor, value) in &assumed {
        let typed = format!("{}={value}", factor.name);
        match imported.has_assumed(*factor, value) {
            true => imported.assumed.push(typed),
            false => imported.unused_assumptions.push(typed),
        }
    }
    Ok(imported)
}

/// What is assumed, of each factor once.
fn assumptions(given: &[String]) -> Result<Vec<(FactorRef, String)>, FioError> {
    let mut assumed: Vec<(FactorRef, String)> = Vec::new();
    for assumption in given {
        let (factor, value) = assumption_of(assumption)?;
        if let Some((_, before)) = assumed.iter().find(|(known, _)| known.name == factor.name) {
            return Err(FioError::BadAssumption {
                assumption: assumption.clone(),
                reason: format!("{}={before} is assumed already; give one value", factor.name),
            });
        }
        assumed.push((factor, value));
    }
    Ok(assumed)
}

/// A factor of the device layer and its value.
fn assumption_of(assumption: &str) -> Result<(FactorRef, String), FioError> {
    let refuse = |reason: String| FioError::BadAssumption {
        assumption: assumption.to_owned(),
        reason,
    };
    let Some((name, value)) = assumption.split_once('=') else {
        return Err(refuse(
            "expected FACTOR=VALUE, such as access_pattern=random".to_owned(),
        ));
    };
    let Some(factor) = device::SCHEMA.factor(name.trim()) else {
        let names: Vec<&str> = device::SCHEMA.workload.iter().map(|factor| factor.name).collect();
        return Err(refuse(format!(
            "the device layer has no factor {:?}; it has {}",
            name.trim(),
            names.join(", ")
        )));
    };
    match factor.read(value.trim()) {
        Ok(setting) => Ok((factor, setting.spelling().to_owned())),
        // fio has engines that Outcrop has not.
        Err(_) if factor.name == device::ENGINE.name && is_word(value.trim()) => {
            Ok((factor, value.trim().to_owned()))
        }
        Err(error) => Err(refuse(error)),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 32
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Imported {
    /// Adds the trials of one file.
    fn take(&mut self, path: &Path, assumed: &[(FactorRef, String)]) -> Result<(), String> {
        let bytes = files::read(path)?;
        if let Some(before) = self.contents.file_with(&bytes) {
            return Err(format!(
                "it is a copy of {}, byte for byte, so it is no further repetition",
                before.display()
            ));
        }
        let (document, reports) = document::read(&bytes)?;
        let name = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let version = document.version.clone();
        let version = version.filter(|version| !version.is_empty() && version.len() < 64);
        let version = version.unwrap_or_else(|| "fio of a version that is not stated".to_owned());
        let written = path.metadata().and_then(|about| about.modified());
        let written = written.map_or(DateTime::UNIX_EPOCH, DateTime::<Utc>::from);
        let (file, stem) = (name(path.file_name()), name(path.file_stem()));
        let origin = Origin {
            file: &file,
            stem: &stem,
            version: &version,
            written,
            reports,
            assumed,
        };
        let (trials, left_out) = trials(&document, origin)?;
        let place = path.display();
        self.left_out
            .extend(left_out.into_iter().map(|why| format!("{place}: {why}")));
        if !trials.is_empty() {
            self.versions.insert(version);
            self.files.push(path.to_owned());
            self.contents.add(path, &bytes);
            self.trials.extend(trials);
        }
        Ok(())
    }

    /// Whether a value was assumed of any trial.
    fn has_assumed(&self, factor: FactorRef, value: &str) -> bool {
        let remark = assumption(factor, value);
        let mut notes = self.trials.iter().flat_map(|trial| &trial.notes);
        notes.any(|note| note.text == remark)
    }

    /// Gives trials their numbers, and those of one cell their repetitions.
    fn number(&mut self) {
        let mut repetitions: BTreeMap<String, u32> = BTreeMap::new();
        for (trial, entry) in (0_u32..).zip(&mut self.trials) {
            let repetition = repetitions.entry(entry.cell.clone()).or_default();
            (entry.trial, entry.repetition) = (trial, *repetition);
            *repetition += 1;
        }
    }

    /// `fio-2.2.10, fio-3.33`.
    pub fn version_words(&self) -> String {
        self.versions.iter().cloned().collect::<Vec<_>>().join(", ")
    }

    /// When the first trial began, as names of run folders have it: `20240301T101500Z`.
    fn began(&self) -> String {
        let first = self.trials.iter().map(|trial| trial.started_at.as_str()).min();
        let compact: String = first
            .unwrap_or("1970-01-01T00:00:00Z")
            .chars()
            .filter(|c| !matches!(c, '-' | ':'))
            .collect();
        compact.split('.').next().map_or(compact.clone(), |seconds| {
            format!("{}Z", seconds.trim_end_matches('Z'))
        })
    }

    /// Writes the trials as a run folder `parent/<when they began>-<name>`; `now` is when they are imported.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write_run(&self, parent: &Path, name: &str, now: &str) -> Result<PathBuf, FioError> {
        let environment = serde_json::json!({
            "imported": {
                "from": self.version_words(),
                "files": self.files.len(),
                "at": now,
            },
        });
        let mut folder = RunFolder::create(parent, name, &self.began(), &self.plan(), &environment)?;
        for some in self.trials.chunks(TRIALS_AT_ONCE) {
            folder.append_all(some)?;
        }
        folder.finish()?;
        Ok(folder.dir().to_owned())
    }

    /// What stands in the place of a plan: where the figures came from.
    fn plan(&self) -> String {
        let mut imported = toml::Table::new();
        imported.insert("from".to_owned(), self.version_words().into());
        let list =
            |items: Vec<String>| toml::Value::Array(items.into_iter().map(toml::Value::from).collect());
        let files = self.files.iter().map(|path| path.display().to_string());
        imported.insert("files".to_owned(), list(files.collect()));
        imported.insert("assumed".to_owned(), list(self.assumed.clone()));
        let mut plan = toml::Table::new();
        plan.insert("imported".to_owned(), toml::Value::Table(imported));
        format!("# Imported results: there is no plan that measures them again.\n\n{plan}")
    }
}
