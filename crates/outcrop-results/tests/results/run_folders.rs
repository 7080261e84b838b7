//! Making, opening and locking run folders.

use std::fs;

use outcrop_results::{ResultsError, RunFolder, RunView, write_atomically};

use crate::samples::{create, run_of, trial, usual};

#[test]
fn a_new_run_is_never_written_over_an_older_one() {
    let folder = tempfile::tempdir().unwrap();
    let parent = folder.path().join("runs");
    let names: Vec<_> = (0..3).map(|_| create(&parent, "profile").name()).collect();
    assert_eq!(
        names,
        [
            "20261121T020757Z-profile",
            "20261121T020757Z-profile-2",
            "20261121T020757Z-profile-3"
        ]
    );
    assert_eq!(
        fs::read_dir(&parent).unwrap().count(),
        3,
        "nothing temporary is left"
    );
}

#[test]
fn plan_and_environment_are_kept_as_given() {
    let folder = tempfile::tempdir().unwrap();
    let run = create(folder.path(), "profile");
    assert_eq!(run.plan_toml().unwrap(), "[run]\nseed = 7\n");
    assert_eq!(
        RunView::load(run.dir()).unwrap().environment["cpu"]["model"],
        "test cpu"
    );
}

#[test]
fn two_processes_cannot_write_one_run_and_reading_needs_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = create(folder.path(), "locked");
    let refused = RunFolder::open(run.dir()).unwrap_err();
    assert!(matches!(refused, ResultsError::Locked { .. }), "{refused}");
    run.append(&trial(1, 0, &usual(1.0, 1.0))).unwrap();
    assert_eq!(RunView::load(run.dir()).unwrap().trials.len(), 1);
    let dir = run.dir().to_owned();
    drop(run);
    assert_eq!(RunFolder::open(&dir).unwrap().finished().len(), 1);
}

#[test]
fn a_folder_that_is_no_run_is_refused_with_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let message = |path: &std::path::Path| RunFolder::open(path).unwrap_err().to_string();
    assert!(message(&folder.path().join("nowhere")).contains("it does not exist"));
    assert!(message(folder.path()).contains("has no plan.toml, environment.json, trials.ndjson"));
    let run = run_of(folder.path(), "hurt", &[]);
    assert!(message(&run.dir.join("plan.toml")).contains("a run is a folder"));
    fs::remove_file(run.dir.join("environment.json")).unwrap();
    assert!(
        message(&run.dir).ends_with("environment.json is missing"),
        "{}",
        message(&run.dir)
    );
    assert!(
        RunView::load(&run.dir)
            .unwrap_err()
            .to_string()
            .ends_with("environment.json is missing")
    );
}

#[test]
fn a_name_that_would_leave_the_parent_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["", "../../etc", "a/b", "a b", "naïve", &"x".repeat(101)] {
        let made = RunFolder::create(
            folder.path(),
            name,
            "20261121T020757Z",
            "",
            &serde_json::json!({}),
        );
        assert!(matches!(made, Err(ResultsError::BadRunName { .. })), "{name:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_damaged_environment_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_of(folder.path(), "hurt", &[]);
    fs::write(run.dir.join("environment.json"), "{").unwrap();
    let message = RunView::load(&run.dir).unwrap_err().to_string();
    assert!(message.contains("environment.json is damaged"), "{message}");
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    write_atomically(&path, b"old").unwrap();
    write_atomically(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = folder.path().join("no-folder").join("report.html");
    assert!(matches!(
        write_atomically(&nowhere, b"new"),
        Err(ResultsError::Io { .. })
    ));
}
