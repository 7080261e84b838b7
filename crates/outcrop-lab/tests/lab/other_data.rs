//! Runs that are resumed after their data changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_lab::{Event, LabError, PlanOptions, PlanSet, PlanSource, execute, resume};

use super::scene::{assert_complete, directory, plan_set, run_to_the_end, start};

const COMPRESSION: &str = r#"
name = "codecs"
question = "Is a resumed run one of the same data?"
layer = "compression"

[subject]
data = "PATH"

[factors]
codec = ["zstd:1", "lz4"]
compression_block_size = ["4KiB", "64KiB"]

[trial]
repetitions = 2
warm_up = "0ms"
duration = "10ms"
"#;

const COLUMN: &str = r#"
name = "columns"
question = "Is a resumed run one of the same column?"
layer = "column"

[subject]
kind = "file"
path = "PATH"

[factors]
column = ["rock"]
operation = ["encode", "size"]
index = ["none", "postings"]

[trial]
repetitions = 2
warm_up = "0ms"
duration = "10ms"
"#;

/// A table of a column that compresses.
fn table() -> String {
    let rows = (0..20_000).map(|row| format!("granite-{}\n", row * 7919 % 500));
    std::iter::once("rock\n".to_owned()).chain(rows).collect()
}

/// Runs a plan on a file until `stop_after` trials are finished; returns the run folder.
fn stopped(plan: &str, data: &Path, runs: &Path, stop_after: usize) -> std::path::PathBuf {
    let set = plan_set(&plan.replace("PATH", data.to_str().unwrap()), runs);
    let mut folder = start(&set, runs);
    let stop = AtomicBool::new(false);
    let mut observer = |event: Event<'_>| {
        if let Event::TrialFinished { finished, .. } = event
            && finished == stop_after
        {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let outcome = execute(&set, &mut folder, &mut observer, &stop).unwrap();
    assert!(outcome.is_interrupted && outcome.finished == stop_after);
    folder.dir().to_owned()
}

#[test]
fn a_run_whose_data_changed_is_not_resumed_before_they_are_restored() {
    let before = table();
    let half = before.len() / 2;
    let changes = [
        // Of the same length, by one more row, and by one row fewer.
        format!(
            "{}{}",
            &before[..half],
            before[half..].replace("granite", "gabbros")
        ),
        format!("{before}granite-1\n"),
        before[..before.len() - "granite-1\n".len()].trim_end().to_owned() + "\n",
    ];
    for plan in [COMPRESSION, COLUMN] {
        for (stop_after, change) in [1, 3, 3].into_iter().zip(&changes) {
            let here = directory();
            let data = here.path().join("rocks.csv");
            std::fs::write(&data, &before).unwrap();
            let run = stopped(plan, &data, here.path(), stop_after);

            std::fs::write(&data, change).unwrap();
            let journal = run.join("trials.ndjson");
            let measured = std::fs::read(&journal).unwrap();
            // A column with more or fewer rows has other cells.
            let refused = resume(&run)
                .and_then(|mut resumed| run_to_the_end(&resumed.set, &mut resumed.folder))
                .unwrap_err();
            assert!(
                matches!(
                    refused,
                    LabError::CannotResume { .. } | LabError::OtherData { .. }
                ),
                "{plan}: {refused}"
            );
            let said = refused.to_string();
            assert!(
                refused.is_bad_input() && said.contains("or start a new run") && said.contains("data"),
                "{said}"
            );
            assert_eq!(std::fs::read(&journal).unwrap(), measured, "nothing was measured");

            std::fs::write(&data, &before).unwrap();
            let mut resumed = resume(&run).unwrap();
            run_to_the_end(&resumed.set, &mut resumed.folder).unwrap();
            assert_complete(&resumed.set, &resumed.folder);
        }
    }
}

const CONTENTS: &str = r#"
name = "contents"
question = "Does a cell of other content hide that the data changed?"
layer = "compression"

[subject]
data = "PATH"

[factors]
content = ["zeros", "natural"]
codec = ["zstd:1", "lz4", "zstd:3"]
compression_block_size = ["4KiB"]

[trial]
repetitions = 1
warm_up = "0ms"
duration = "10ms"
"#;

#[test]
fn one_cell_of_the_data_that_changed_is_enough_though_those_that_are_left_have_no_trial_yet() {
    for stop_after in 1..=5 {
        let here = directory();
        let data = here.path().join("rocks.csv");
        std::fs::write(&data, table()).unwrap();
        let run = stopped(CONTENTS, &data, here.path(), stop_after);
        std::fs::write(&data, table().replace("granite", "gabbros")).unwrap();
        let mut resumed = resume(&run).unwrap();
        let before = resumed.folder.trials().unwrap();
        let ended = run_to_the_end(&resumed.set, &mut resumed.folder);
        if before.iter().any(|trial| trial.factors["content"] == "natural") {
            assert!(matches!(ended, Err(LabError::OtherData { .. })), "{ended:?}");
            assert_eq!(resumed.folder.trials().unwrap(), before, "nothing was measured");
        } else {
            // All that is measured on the data is of those that are there now.
            ended.unwrap();
            assert_complete(&resumed.set, &resumed.folder);
        }
    }
}

#[test]
fn two_samples_of_one_file_are_those_of_their_plans_whichever_is_drawn_first() {
    let here = directory();
    let data = here.path().join("rocks.csv");
    std::fs::write(&data, table().repeat(4)).unwrap();
    // A small sample may be the short end of the file: only small blocks fit into any.
    let text = COMPRESSION
        .replace("PATH", data.to_str().unwrap())
        .replace(", \"64KiB\"]", "]");
    let source = |name: &str, size: &str| PlanSource {
        name: format!("{name}.toml"),
        text: text
            .replace("codecs", name)
            .replace("[factors]", &format!("sample_size = \"{size}\"\n\n[factors]")),
    };
    let sources = [source("large", "256KiB"), source("small", "64KiB")];
    let options = PlanOptions {
        directory: Some(here.path().to_owned()),
        ..PlanOptions::default()
    };
    let set = PlanSet::from_sources(&sources, &options).unwrap();
    let mut folder = start(&set, here.path());
    let dir = folder.dir().to_owned();
    let stop = AtomicBool::new(false);
    let mut observer = |event: Event<'_>| {
        if let Event::TrialFinished { finished: 3, .. } = event {
            stop.store(true, Ordering::Relaxed);
        }
    };
    execute(&set, &mut folder, &mut observer, &stop).unwrap();
    drop(folder);
    let mut resumed = resume(&dir).unwrap();
    run_to_the_end(&resumed.set, &mut resumed.folder).unwrap();
    let mut taken: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for trial in assert_complete(&resumed.set, &resumed.folder) {
        let of_plan = taken.entry(trial.plans.join(" ")).or_default();
        of_plan.insert(trial.data.unwrap().taken_bytes);
    }
    assert!(taken.values().all(|sizes| sizes.len() == 1), "{taken:?}");
    assert!(taken["small"].last() < taken["large"].first(), "{taken:?}");
}

#[test]
fn a_run_that_is_written_below_its_own_data_is_resumed_since_run_folders_are_no_data() {
    let here = directory();
    std::fs::write(here.path().join("rocks.csv"), table()).unwrap();
    let run = stopped(COMPRESSION, here.path(), here.path(), 2);
    let mut resumed = resume(&run).unwrap();
    run_to_the_end(&resumed.set, &mut resumed.folder).unwrap();
    let trials = assert_complete(&resumed.set, &resumed.folder);
    let taken: BTreeSet<u64> = trials
        .into_iter()
        .map(|trial| trial.data.unwrap().taken_bytes)
        .collect();
    assert_eq!(taken, BTreeSet::from([table().len() as u64]), "the file alone");
}
