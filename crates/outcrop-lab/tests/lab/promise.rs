//! What a profile promises is kept with any data: of wide tables and large folders as much is measured as fits.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_lab::{
    Effort, Event, LabError, PlanOptions, PlanSet, PlanSource, execute, profile_plans, shipped_plans,
};
use outcrop_measure::units::TimeSpan;
use outcrop_results::{Outcome, TrialEntry};

use super::scene::{SMALL_PLAN, directory, factor, start};

const PROMISED: TimeSpan = TimeSpan::seconds(90);

/// A table of `columns` columns that is `bytes` long: two megabytes of rows, then a hole. Column 0 is the widest.
fn wide_table(path: &Path, columns: usize, bytes: u64) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let names: Vec<String> = (0..columns).map(|column| format!("name{column}")).collect();
    writeln!(file, "{}", names.join(",")).unwrap();
    let mut written = 0;
    let mut row = 0;
    while written < 2 << 20 {
        let fields: Vec<String> = (0..columns)
            .map(|column| {
                format!(
                    "{}{}",
                    "wide ".repeat(columns - column),
                    (row * 7 + column) % 1000
                )
            })
            .collect();
        let line = fields.join(",");
        writeln!(file, "{line}").unwrap();
        written += line.len();
        row += 1;
    }
    let file = file.into_inner().unwrap();
    file.set_len(bytes.max(file.metadata().unwrap().len())).unwrap();
}

fn profile(layers: &[&str], data: &Path, promised: Option<TimeSpan>) -> PlanSet {
    let options = PlanOptions {
        effort: Some(Effort::Quick),
        data: Some(data.to_owned()),
        promised,
        ..PlanOptions::default()
    };
    PlanSet::from_sources(
        &profile_plans(layers, Some(data), Path::new(".")).unwrap().plans,
        &options,
    )
    .unwrap()
}

fn columns_of(set: &PlanSet) -> BTreeSet<&str> {
    let cells = set.cells().iter().filter(|cell| cell.layer.name() == "column");
    cells.map(|cell| factor(cell, "column")).collect()
}

#[test]
fn a_quick_profile_of_a_wide_table_and_of_a_folder_of_them_stays_within_90_seconds() {
    let here = directory();
    let folder = here.path().join("tables");
    std::fs::create_dir(&folder).unwrap();
    let wide = folder.join("wide.csv");
    wide_table(&wide, 40, 8 << 30);
    wide_table(&folder.join("other.csv"), 40, 1 << 30);
    wide_table(&folder.join("small.csv"), 3, 0);
    for data in [&wide, &folder] {
        let unbounded = profile(&[], data, None);
        assert!(
            unbounded.estimate().total() > PROMISED.0,
            "the data are too few for this test"
        );
        let set = profile(&[], data, Some(PROMISED));
        let total = set.estimate().total();
        println!(
            "{}: {} columns, {total:?}",
            data.display(),
            columns_of(&set).len()
        );
        assert!(total <= PROMISED.0, "{}: {total:?}", data.display());
        assert!(!columns_of(&set).is_empty());
        let note = set
            .data_notes()
            .iter()
            .find(|note| note.contains("within 90 s"))
            .unwrap();
        assert!(
            note.contains("the column layer does not measure")
                && note.contains("outcrop column encode")
                && note.contains("outcrop run column-choice column-index --data"),
            "{note}"
        );
        // Each column is measured or named.
        let measured = columns_of(&set);
        assert!(
            columns_of(&unbounded)
                .iter()
                .all(|name| measured.contains(name) || note.contains(name)),
            "{note}"
        );
    }
}

#[test]
fn the_columns_that_take_most_of_the_file_come_first() {
    let here = directory();
    let path = here.path().join("wide.csv");
    wide_table(&path, 40, 1 << 30);
    let set = profile(&["column"], &path, Some(TimeSpan::seconds(40)));
    assert!(set.estimate().total() <= TimeSpan::seconds(40).0);
    let columns = columns_of(&set);
    assert!(
        columns.contains("name0") && !columns.contains("name39"),
        "{columns:?}"
    );
    let least = profile(&["column"], &path, Some(TimeSpan::milliseconds(1)));
    assert_eq!(columns_of(&least).len(), 1, "one is always measured");
    assert!(
        least
            .data_notes()
            .iter()
            .any(|note| note.contains("leaves out column-index")),
        "{:?}",
        least.data_notes()
    );
    let again = PlanSource {
        name: "again".to_owned(),
        text: least.to_toml(),
    };
    let again = PlanSet::from_sources(&[again], &PlanOptions::default()).unwrap();
    assert_eq!(
        again.cells().len(),
        least.cells().len(),
        "what is kept of the run can be run again"
    );
}

/// Trials that take an hour beside trials of milliseconds: a machine on which everything takes long.
#[test]
fn what_does_not_fit_into_the_time_by_the_clock_is_left_out_and_named_and_a_resume_measures_it() {
    let (runs, data) = (directory(), directory());
    let long = SMALL_PLAN
        .replace("\"small\"", "\"long\"")
        .replace("queue_depth = [1, 4]", "queue_depth = [8]")
        .replace("[\"100:0\", \"50:50\"]", "[\"100:0\"]")
        .replace("\"250ms\"", "\"1h\"");
    let source = |name: &str, text: &str| PlanSource {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let options = PlanOptions {
        directory: Some(data.path().to_owned()),
        ..PlanOptions::default()
    };
    let sources = [source("small.toml", SMALL_PLAN), source("long.toml", &long)];
    let set = PlanSet::from_sources(&sources, &options).unwrap();
    assert_eq!(set.time_limit(), None);
    let set = set.with_time_limit(Some(Duration::from_secs(900)));
    let mut folder = start(&set, runs.path());
    let mut warnings = Vec::new();
    let mut observer = |event: Event<'_>| {
        if let Event::Warning(text) = event {
            warnings.push(text.to_owned());
        }
    };
    let stop = AtomicBool::new(false);
    let outcome = execute(&set, &mut folder, &mut observer, &stop).unwrap();
    assert_eq!(
        (outcome.finished, outcome.left_out, outcome.is_interrupted),
        (8, 2, false)
    );
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("2 of 10 trials did not fit into 900 s, less 8.00 s for the report, because the run was expected to take longer; ")
            && warnings[0].contains("not measured at all: device")
            && warnings[0].contains("QD 8"),
        "{warnings:?}"
    );
    let dir = folder.dir().to_owned();
    drop(folder);
    // Whoever resumes a run has the time for it.
    let resumed = outcrop_lab::resume(&dir).unwrap();
    assert_eq!(resumed.set.time_limit(), None);
    assert_eq!(resumed.set.trials().len() - resumed.folder.finished().len(), 2);
}

#[test]
fn a_run_whose_time_ends_without_a_measured_trial_is_an_error_even_if_fewer_failed_than_there_are_cells() {
    let (runs, data) = (directory(), directory());
    let file = data.path().join("dying");
    std::fs::write(&file, vec![1; 8 << 20]).unwrap();
    // The trial of one cell fails, and that of the other takes an hour.
    let short = SMALL_PLAN
        .replace(
            "size = \"4MiB\"",
            &format!("kind = \"read-only\"\npath = {file:?}"),
        )
        .replace("\"4KiB\"", "\"8MiB\"")
        .replace("queue_depth = [1, 4]", "queue_depth = [1]")
        .replace("[\"100:0\", \"50:50\"]", "[\"100:0\"]")
        .replace("repetitions = 2", "repetitions = 1");
    let long = short
        .replace("\"small\"", "\"long\"")
        .replace("queue_depth = [1]", "queue_depth = [8]")
        .replace("\"250ms\"", "\"1h\"");
    let sources = [("small.toml", short), ("long.toml", long)].map(|(name, text)| PlanSource {
        name: name.to_owned(),
        text,
    });
    let set = PlanSet::from_sources(&sources, &PlanOptions::default()).unwrap();
    let set = set.with_time_limit(Some(Duration::from_secs(900)));
    assert_eq!((set.cells().len(), set.trials().len()), (2, 2));
    let mut folder = start(&set, runs.path());
    let mut observer = |event: Event<'_>| {
        if matches!(event, Event::TrialStarted { .. }) {
            let dying = std::fs::File::options().write(true).open(&file).unwrap();
            dying.set_len(4 << 20).unwrap();
        }
    };
    let error = execute(&set, &mut folder, &mut observer, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, LabError::LayerFailed { .. }), "{error:?}");
    assert_eq!(folder.trials().unwrap().len(), 1);
}

/// A store whose trials last an hour, and a journal that has one trial of each of its cells, which took `took_s` each.
fn raced_once(parent: &Path, data: &Path, took_s: f64) -> (PlanSet, outcrop_results::RunFolder) {
    let plan = shipped_plans().iter().find(|plan| plan.name == "placement");
    let options = PlanOptions {
        directory: Some(data.to_owned()),
        effort: Some(Effort::Quick),
        duration: Some(TimeSpan::seconds(3600)),
        budget: Some(TimeSpan::seconds(360_000)),
        ..PlanOptions::default()
    };
    let set = PlanSet::from_sources(&[plan.unwrap().source()], &options).unwrap();
    let mut folder = start(&set, parent);
    for trial in set.trials().iter().filter(|trial| trial.repetition == 0) {
        let cell = &set.cells()[trial.cell];
        let entry = TrialEntry {
            trial: trial.index,
            cell: cell.id.clone(),
            layer: cell.layer.name().to_owned(),
            subject: cell.subject.label.clone(),
            plans: cell.plans.clone(),
            repetition: 0,
            seed: trial.seed.0,
            factors: cell.factors.spellings(),
            data: None,
            variant: None,
            started_at: "2026-11-26T12:00:00Z".to_owned(),
            duration_s: 1.0,
            took_s: Some(took_s),
            others_cpu_share: None,
            outcome: Outcome::Completed,
            values: Vec::new(),
            histograms: Vec::new(),
            notes: Vec::new(),
        };
        folder.append(&entry).unwrap();
    }
    (set, folder)
}

/// Notes and warnings of a run that goes on, and how it ended.
fn told(set: &PlanSet, folder: &mut outcrop_results::RunFolder) -> (Vec<String>, outcrop_lab::RunOutcome) {
    let mut told = Vec::new();
    let mut observer = |event: Event<'_>| {
        if let Event::Warning(text) | Event::Note(text) = event {
            told.push(text.to_owned());
        }
    };
    let outcome = execute(set, folder, &mut observer, &AtomicBool::new(false)).unwrap();
    (told, outcome)
}

#[test]
fn the_end_of_a_budget_that_follows_doubt_leaves_out_no_trial_and_a_resume_says_that_nothing_is_left() {
    let (runs, data) = (directory(), directory());
    // The next round does not fit into the time of the whole run.
    let (set, mut folder) = raced_once(runs.path(), data.path(), 1.0);
    let cells = set.cells().len();
    let (said, outcome) = told(&set.with_time_limit(Some(Duration::from_secs(900))), &mut folder);
    assert_eq!((outcome.finished, outcome.left_out), (cells, 0), "{said:?}");
    assert!(
        said.iter().all(|sentence| !sentence.contains("did not fit"))
            && said
                .iter()
                .any(|sentence| sentence
                    .contains(&format!("the budget of 100h is spent after {cells} trials"))),
        "{said:?}"
    );
    // A resume, when the trials before it took all of the budget.
    let runs = directory();
    let (set, mut folder) = raced_once(runs.path(), data.path(), 360_000.0);
    let (said, outcome) = told(&set, &mut folder);
    assert_eq!((outcome.finished, outcome.left_out), (cells, 0));
    assert!(
        said.contains(&"nothing is left to measure: the budget of 100h is spent".to_owned()),
        "{said:?}"
    );
}

#[test]
fn a_run_keeps_the_time_that_its_user_chose_and_a_profile_its_promise() {
    let limit_of = |layer: &str, promised: Option<TimeSpan>, budget: Option<TimeSpan>| {
        let options = PlanOptions {
            effort: Some(Effort::Quick),
            promised,
            budget,
            ..PlanOptions::default()
        };
        let plans = profile_plans(&[layer], None, Path::new(".")).unwrap().plans;
        PlanSet::from_sources(&plans, &options).unwrap().time_limit()
    };
    let limit = |promised, budget| limit_of("device", promised, budget);
    assert_eq!(limit(Some(PROMISED), None), Some(PROMISED.0));
    assert_eq!(
        limit(Some(PROMISED), Some(TimeSpan::seconds(300))),
        Some(Duration::from_secs(330))
    );
    assert_eq!(
        limit(None, Some(TimeSpan::seconds(300))),
        Some(Duration::from_secs(330))
    );
    assert_eq!(limit(None, None), None);
    // Where to compress ends by its own rule.
    assert_eq!(limit_of("kv", None, Some(TimeSpan::seconds(300))), None);
}

#[test]
fn sizes_are_measured_before_what_is_repeated_so_that_a_run_that_ends_early_has_them() {
    let here = directory();
    let path = here.path().join("wide.csv");
    wide_table(&path, 12, 0);
    let set = profile(&[], &path, Some(TimeSpan::seconds(600)));
    let trials = set.trials();
    let operation = |cell: usize| factor(&set.cells()[cell], "operation").to_owned();
    let is_size = |cell: usize| set.cells()[cell].layer.name() == "column" && operation(cell) == "size";
    let sizes = trials.iter().filter(|trial| is_size(trial.cell)).count();
    assert_eq!(sizes, 12, "each column has one");
    assert!(trials[..sizes].iter().all(|trial| is_size(trial.cell)));
}

#[test]
fn a_table_that_fits_is_measured_whole() {
    let here = directory();
    let path = here.path().join("small.csv");
    wide_table(&path, 3, 0);
    let set = profile(&["column"], &path, Some(PROMISED));
    assert_eq!(columns_of(&set).len(), 3);
    assert!(
        set.data_notes().iter().all(|note| !note.contains("within")),
        "{:?}",
        set.data_notes()
    );
}

#[test]
fn a_file_of_very_long_lines_and_a_table_without_repeated_values_fit_too() {
    let here = directory();
    let log = here.path().join("log.txt");
    let line = |row: u64| format!("{row:x} {}\n", "an event that is told at length ".repeat(40));
    std::fs::write(&log, (0..3000).map(line).collect::<String>()).unwrap();
    std::fs::File::options()
        .append(true)
        .open(&log)
        .unwrap()
        .set_len(20 << 30)
        .unwrap();
    let set = profile(&[], &log, Some(PROMISED));
    let total = set.estimate().total();
    assert!(total <= PROMISED.0, "{total:?}");
    assert_eq!(columns_of(&set), BTreeSet::from(["lines"]));
}
