//! The runs in a folder: what each measured and how large it is, and removing old ones.
//!
//! Only a folder that holds the three files without which it is no run is ever touched, and only files that Outcrop writes are removed
//! from it: whatever else lies there stays, and so does the folder then.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::error::ResultsError;
use crate::journal::Journal;
use crate::layout::{JOURNAL_FILE, check_is_run, run_name};
use crate::ours::{is_begun_figure, is_our_figure, is_ours};
use crate::view::RunView;

/// One run of a folder of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRun {
    /// Its folder.
    pub dir: PathBuf,
    /// Its name.
    pub name: String,
    /// When its first trial began; none where the name does not say either.
    pub started: Option<DateTime<Utc>>,
    /// Since when it has been here: of results of another program, when they were imported; else when its first trial began.
    pub here_since: Option<DateTime<Utc>>,
    /// The plans that it ran.
    pub plans: BTreeSet<String>,
    /// What it measured.
    pub subjects: BTreeSet<String>,
    /// Cells with a completed trial that has a figure.
    pub cells: usize,
    /// Completed trials that have a figure: what its report counts.
    pub trials: usize,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Whether trials of its plan are missing: it was interrupted, or is being measured.
    pub is_unfinished: bool,
    /// Why it cannot be read, where it cannot.
    pub damage: Option<String>,
}

/// Which runs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// So many of the newest.
    Newest(usize),
    /// Those that have been here for less than this.
    Since(DateTime<Utc>),
}

impl Keep {
    /// Those that are not older than this; `now` counts from the epoch of Unix.
    pub fn younger_than(age: Duration, now: Duration) -> Self {
        let since = now.saturating_sub(age).as_secs();
        let since = i64::try_from(since)
            .ok()
            .and_then(|seconds| DateTime::from_timestamp(seconds, 0));
        Self::Since(since.unwrap_or(DateTime::UNIX_EPOCH))
    }
}

/// The runs in a folder, the newest first; folders that are not runs are left out.
///
/// # Errors
/// [`ResultsError::Io`] when the folder cannot be read.
pub fn list(parent: &Path) -> Result<Vec<ListedRun>, ResultsError> {
    let entries = fs::read_dir(parent).map_err(ResultsError::io("read", parent))?;
    let mut runs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(ResultsError::io("read", parent))?;
        // A link may lead anywhere: what it leads to is not in this folder.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && check_is_run(&entry.path()).is_ok() {
            runs.push(ListedRun::of(&entry.path()));
        }
    }
    runs.sort_by(|one, other| (other.started, &other.name).cmp(&(one.started, &one.name)));
    Ok(runs)
}

/// The run in a folder.
///
/// # Errors
/// [`ResultsError::NotARun`] where it holds none, and for a link: what it leads to is somebody else's to remove.
pub fn at(dir: &Path) -> Result<ListedRun, ResultsError> {
    // A slash at the end, which completion in a shell adds, would follow the link.
    let dir = dir.components().as_path();
    if dir.is_symlink() {
        return Err(ResultsError::NotARun {
            path: dir.to_owned(),
            reason: "it is a link; name the folder that it leads to".to_owned(),
        });
    }
    check_is_run(dir)?;
    Ok(ListedRun::of(dir))
}

/// The runs that are not kept. A run that does not say when it began is always kept.
pub fn surplus(runs: &[ListedRun], keep: Keep) -> Vec<&ListedRun> {
    let mut dated: Vec<&ListedRun> = runs.iter().filter(|run| run.here_since.is_some()).collect();
    // Results of another program may be years old when they are imported.
    dated.sort_by_key(|run| std::cmp::Reverse(run.here_since));
    match keep {
        Keep::Newest(count) => dated.into_iter().skip(count).collect(),
        Keep::Since(since) => {
            dated.retain(|run| run.here_since < Some(since));
            dated
        }
    }
}

/// What became of a run that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Bytes of the files that are gone.
    pub bytes: u64,
    /// Names of files that are not ours, for which the folder stays; where there are none, it is gone.
    pub left: Vec<String>,
}

/// Removes what Outcrop wrote of a run, and the folder unless it holds other files.
///
/// # Errors
/// [`ResultsError::NotARun`], [`ResultsError::Locked`] while another process writes it, [`ResultsError::Io`].
pub fn remove(run: &ListedRun) -> Result<Removed, ResultsError> {
    check_is_run(&run.dir)?;
    // Held until the files are gone: nobody resumes a run that is being removed.
    let lock = Journal::open(&run.dir.join(JOURNAL_FILE));
    if let Err(locked @ ResultsError::Locked { .. }) = lock {
        return Err(locked);
    }
    let before = bytes_in(&run.dir);
    if let Some(figures) = figures_of(&run.dir) {
        for entry in fs::read_dir(&figures).map_err(ResultsError::io("read", &figures))? {
            let path = entry.map_err(ResultsError::io("read", &figures))?.path();
            if is_our_figure(&path) || is_begun_figure(&path) {
                fs::remove_file(&path).map_err(ResultsError::io("remove", &path))?;
            }
        }
        // Best effort: files of the user's keep the folder.
        let _ = fs::remove_dir(&figures);
    }
    let names = names_in(&run.dir)?;
    for name in names.iter().filter(|name| is_ours(&run.dir, name)) {
        let path = run.dir.join(name);
        fs::remove_file(&path).map_err(ResultsError::io("remove", path))?;
    }
    let left = names_in(&run.dir)?;
    if left.is_empty() {
        fs::remove_dir(&run.dir).map_err(ResultsError::io("remove", &run.dir))?;
        return Ok(Removed { bytes: before, left });
    }
    let bytes = before.saturating_sub(bytes_in(&run.dir));
    Ok(Removed { bytes, left })
}

/// Names of what is in a folder, in order.
fn names_in(dir: &Path) -> Result<Vec<String>, ResultsError> {
    let entries = fs::read_dir(dir).map_err(ResultsError::io("read", dir))?;
    let name = |entry: std::io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let names: std::io::Result<Vec<String>> = entries.map(name).collect();
    let mut names = names.map_err(ResultsError::io("read", dir))?;
    names.sort();
    Ok(names)
}

impl ListedRun {
    fn of(dir: &Path) -> Self {
        let name = run_name(dir);
        let mut run = Self {
            dir: dir.to_owned(),
            started: of_name(&name),
            here_since: of_name(&name),
            name,
            plans: BTreeSet::new(),
            subjects: BTreeSet::new(),
            cells: 0,
            trials: 0,
            bytes: bytes_in(dir),
            is_unfinished: false,
            damage: None,
        };
        match RunView::load(dir) {
            Ok(view) => {
                run.here_since = imported_at(&view).or(run.started);
                let counted = || view.trials.iter().filter(|trial| trial.is_measured());
                let cells: BTreeSet<&str> = counted().map(|trial| trial.cell.as_str()).collect();
                run.is_unfinished = view.is_unfinished();
                run.cells = cells.len();
                run.trials = counted().count();
                run.plans = view
                    .trials
                    .iter()
                    .flat_map(|trial| trial.plans.iter().cloned())
                    .collect();
                run.subjects = view.trials.iter().map(|trial| trial.subject.clone()).collect();
            }
            Err(error) => run.damage = Some(error.to_string()),
        }
        run
    }
}

/// When results of another program were imported; none of a run of ours.
fn imported_at(view: &RunView) -> Option<DateTime<Utc>> {
    let at = view.environment.pointer("/imported/at")?.as_str()?;
    of_name(at).or_else(|| Some(DateTime::parse_from_rfc3339(at).ok()?.to_utc()))
}

/// `20261121T020757Z-profile`.
fn of_name(name: &str) -> Option<DateTime<Utc>> {
    let time = name.split('-').next()?;
    let naive = chrono::NaiveDateTime::parse_from_str(time, "%Y%m%dT%H%M%SZ").ok()?;
    Some(naive.and_utc())
}

/// Bytes of the files of a run, those of its figures included; what cannot be read counts nothing.
fn bytes_in(dir: &Path) -> u64 {
    let files = |dir: &Path| {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.metadata().ok())
            .filter(fs::Metadata::is_file)
            .map(|about| about.len())
            .sum::<u64>()
    };
    files(dir) + figures_of(dir).map_or(0, |figures| files(&figures))
}

/// The folder of a run's figures. A link leads to one that is not the run's.
fn figures_of(dir: &Path) -> Option<PathBuf> {
    let figures = dir.join("figures");
    let is_folder = fs::symlink_metadata(&figures).is_ok_and(|metadata| metadata.is_dir());
    is_folder.then_some(figures)
}
