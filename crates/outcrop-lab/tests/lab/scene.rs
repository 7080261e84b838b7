//! What the tests of runs share: a small real plan, a directory on a disk, and a look into the journal.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use outcrop_lab::{Cell, Event, LabError, PlanOptions, PlanSet, PlanSource, RunOutcome, execute, new_run};
use outcrop_measure::seed::Seed;
use outcrop_results::{Outcome, RunFolder, TrialEntry};
use outcrop_schema::Setting;

/// Four cells, two repetitions, real I/O on 4 MiB.
pub(crate) const SMALL_PLAN: &str = r#"
name = "small"
question = "Does the lab work?"
layer = "device"

[subject]
size = "4MiB"

[workload]
io_block_size = "4KiB"

[factors]
queue_depth = [1, 4]
read_write_mix = ["100:0", "50:50"]

[trial]
repetitions = 2
warm_up = "2ms"
duration = "250ms"
"#;

/// A directory on the disk that the workspace stands on, where O_DIRECT works; /tmp may be a tmpfs.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A factor of a cell as records spell it; empty where the cell does not have it.
pub(crate) fn factor<'c>(cell: &'c Cell, name: &str) -> &'c str {
    cell.factors.setting(name).map_or("", Setting::spelling)
}

pub(crate) fn plan_set(text: &str, directory: &Path) -> PlanSet {
    try_plan_set(text, directory).unwrap()
}

pub(crate) fn try_plan_set(text: &str, directory: &Path) -> Result<PlanSet, LabError> {
    let source = PlanSource {
        name: "plan.toml".to_owned(),
        text: text.to_owned(),
    };
    // A plan that names its place has no use for another.
    let names_place =
        text.contains("\"read-only\"") || text.contains("\"destroyed-device\"") || text.contains("path = ");
    let options = PlanOptions {
        directory: (!names_place).then(|| directory.to_owned()),
        // A sample of the data, drawn by another seed, may lack what a test asks of it.
        seed: Some(Seed(7)),
        ..PlanOptions::default()
    };
    PlanSet::from_sources(&[source], &options)
}

pub(crate) fn start(set: &PlanSet, parent: &Path) -> RunFolder {
    new_run(parent, "test", set).unwrap()
}

pub(crate) fn run_to_the_end(set: &PlanSet, folder: &mut RunFolder) -> Result<RunOutcome, LabError> {
    execute(set, folder, &mut |_: Event<'_>| {}, &AtomicBool::new(false))
}

/// Asserts that every (cell, repetition) of the set was completed exactly once, and gives the journal.
pub(crate) fn assert_complete(set: &PlanSet, folder: &RunFolder) -> Vec<TrialEntry> {
    let entries = folder.trials().unwrap();
    let mut completed: BTreeMap<(String, u32), usize> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.outcome == Outcome::Completed) {
        *completed
            .entry((entry.cell.clone(), entry.repetition))
            .or_default() += 1;
    }
    let expected: BTreeMap<_, _> = set
        .trials()
        .iter()
        .map(|trial| ((set.cells()[trial.cell].id.clone(), trial.repetition), 1))
        .collect();
    let failed = entries.iter().filter(|entry| entry.outcome != Outcome::Completed);
    let failed: Vec<&Outcome> = failed.map(|entry| &entry.outcome).collect();
    assert_eq!(completed, expected, "{failed:?}");
    entries
}

/// Asserts that no scratch file is left.
pub(crate) fn assert_empty(directory: &Path) {
    let left: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}
