//! Listing and removing runs: only what Outcrop wrote is ever touched.

use std::fs;
use std::path::Path;
use std::time::Duration;

use outcrop_results::run_list::{Keep, ListedRun, at, list, remove, surplus};
use outcrop_results::{Outcome, ResultsError, RunFolder, TrialEntry, Value, name_element};

use crate::samples::{IOPS, trial, usual};

fn run_at(parent: &Path, time: &str, name: &str) {
    let mut run = RunFolder::create(parent, name, time, "[run]\n", &serde_json::json!({})).unwrap();
    run.append(&trial(1, 0, &usual(1e3, 1e4))).unwrap();
    run.append(&trial(8, 0, &usual(4e3, 2e4))).unwrap();
    run.finish().unwrap();
}

fn three(parent: &Path) -> Vec<ListedRun> {
    run_at(parent, "20261101T000000Z", "device");
    run_at(parent, "20261121T000000Z", "profile");
    run_at(parent, "20261110T000000Z", "codec");
    fs::create_dir(parent.join("20261105T000000Z-notes")).unwrap();
    fs::write(parent.join("20261105T000000Z-notes/plan.toml"), "mine").unwrap();
    list(parent).unwrap()
}

fn names(runs: &[&ListedRun]) -> Vec<String> {
    runs.iter().map(|run| run.name.clone()).collect()
}

#[test]
fn runs_are_listed_newest_first_with_what_they_measured_and_other_folders_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let runs = three(folder.path());
    let all: Vec<&ListedRun> = runs.iter().collect();
    assert_eq!(
        names(&all),
        [
            "20261121T000000Z-profile",
            "20261110T000000Z-codec",
            "20261101T000000Z-device"
        ]
    );
    assert_eq!((runs[0].cells, runs[0].trials), (2, 2));
    assert!(runs[0].plans.contains("ssd-queue-depth"));
    assert!(runs[0].subjects.contains("scratch-file 2GiB"));
    assert!(runs[0].bytes > 1000, "{}", runs[0].bytes);
}

#[test]
fn a_run_that_lacks_trials_of_its_plan_is_unfinished_and_one_without_a_number_of_trials_is_not() {
    let plan = |trial: &str| {
        format!("[run]\n[[plan]]\nname = \"ssd-queue-depth\"\n[plan.trial]\nrepetitions = 2\n{trial}")
    };
    let is_unfinished = |plan: &str, trials: &[(u32, Outcome)]| {
        let folder = tempfile::tempdir().unwrap();
        let time = "20261101T000000Z";
        let mut run = RunFolder::create(folder.path(), "x", time, plan, &serde_json::json!({})).unwrap();
        for (repetition, outcome) in trials {
            let outcome = outcome.clone();
            run.append(&TrialEntry {
                outcome,
                ..trial(1, *repetition, &usual(1e3, 1e4))
            })
            .unwrap();
        }
        run.finish().unwrap();
        list(folder.path()).unwrap()[0].is_unfinished
    };
    let failed = || Outcome::Failed {
        message: "EIO".to_owned(),
    };
    let asked = plan("");
    for (trials, expected) in [
        (vec![], true),
        (vec![(0, Outcome::Completed)], true),
        (vec![(0, Outcome::Completed), (1, Outcome::Interrupted)], true),
        (vec![(0, Outcome::Completed), (1, Outcome::Completed)], false),
        (vec![(0, Outcome::Completed), (1, failed())], false),
    ] {
        assert_eq!(is_unfinished(&asked, &trials), expected, "{trials:?}");
    }
    let one = [(0, Outcome::Completed)];
    for open in [
        plan("stop = \"when-steady\"\n"),
        asked.replace("[run]\n", "[run]\nbudget = \"5m\"\n"),
        "# imported\n".to_owned(),
    ] {
        assert!(!is_unfinished(&open, &one), "{open}");
    }
}

/// Interrupted, failed, and completed with nothing but a reason: a report counts none of them.
#[test]
fn the_trials_and_cells_of_a_run_are_those_that_its_report_counts() {
    let folder = tempfile::tempdir().unwrap();
    let time = "20261101T000000Z";
    let mut run = RunFolder::create(folder.path(), "x", time, "[run]\n", &serde_json::json!({})).unwrap();
    let of = |depth: u32, outcome: Outcome, values: &[Value]| TrialEntry {
        outcome,
        ..trial(depth, 0, values)
    };
    let failed = Outcome::Failed {
        message: "EIO".to_owned(),
    };
    for entry in [
        of(1, Outcome::Completed, &usual(1e3, 1e4)),
        of(2, Outcome::Interrupted, &[]),
        of(4, failed, &[]),
        of(
            8,
            Outcome::Completed,
            &[Value::unavailable(IOPS, "no such engine here")],
        ),
    ] {
        run.append(&entry).unwrap();
    }
    run.finish().unwrap();
    let listed = &list(folder.path()).unwrap()[0];
    assert_eq!((listed.cells, listed.trials), (1, 1));
}

#[test]
fn a_run_is_named_by_its_folder_and_a_link_or_another_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runs = three(folder.path());
    assert_eq!(at(&runs[0].dir).unwrap(), runs[0]);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&runs[0].dir, &link).unwrap();
    // As completion in a shell has it.
    let with_slash = link.join("");
    for other in [link, with_slash, folder.path().join("20261105T000000Z-notes")] {
        let refused = at(&other).unwrap_err();
        assert!(matches!(refused, ResultsError::NotARun { .. }), "{refused}");
    }
}

#[test]
fn the_newest_are_kept_or_those_that_are_young_enough() {
    let folder = tempfile::tempdir().unwrap();
    let runs = three(folder.path());
    assert_eq!(names(&surplus(&runs, Keep::Newest(1))).len(), 2);
    assert_eq!(names(&surplus(&runs, Keep::Newest(9))).len(), 0);
    // 22 November 2026, midnight.
    let now = Duration::from_secs(1_795_305_600);
    let day = Duration::from_secs(86_400);
    assert_eq!(
        names(&surplus(&runs, Keep::younger_than(15 * day, now))),
        ["20261101T000000Z-device"]
    );
}

#[test]
fn an_imported_run_counts_from_its_import_and_not_from_the_day_of_its_results() {
    let folder = tempfile::tempdir().unwrap();
    three(folder.path());
    let environment = serde_json::json!({"imported": {"at": "2026-11-21T12:00:00.5Z"}});
    let create = |time| RunFolder::create(folder.path(), "fio", time, "[imported]\n", &environment).unwrap();
    create("20190101T000000Z").finish().unwrap();
    let runs = list(folder.path()).unwrap();
    let older = surplus(
        &runs,
        Keep::younger_than(
            Duration::from_secs(15 * 86_400),
            Duration::from_secs(1_795_305_600),
        ),
    );
    assert_eq!(names(&older), ["20261101T000000Z-device"]);
    let others = names(&surplus(&runs, Keep::Newest(1)));
    assert_eq!(others.len(), 3);
    assert!(!others.contains(&"20190101T000000Z-fio".to_owned()), "{others:?}");
}

fn names_of(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn removing_a_run_leaves_files_that_are_not_ours_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let runs = three(folder.path());
    let page = |name: &str| format!("<!DOCTYPE html><html><head>{}", name_element(name));
    let figure = |name: &str| format!("<svg><title id=\"{name}-title\">IOPS</title>");
    let write = |run: &ListedRun, path: &str, text: &str| {
        fs::create_dir_all(run.dir.join("figures")).unwrap();
        fs::write(run.dir.join(path), text).unwrap();
    };
    for name in ["report.html", "one-page.html", "report-min-ratio-2.5.html"] {
        write(&runs[0], name, &page(name));
    }
    // The last two are what a killed process left.
    write(&runs[0], "figures/iops.svg", &figure("iops"));
    write(&runs[0], ".report.html.4711.tmp", "<!DOC");
    write(&runs[0], "figures/.iops.svg.4711.tmp", "<svg");
    let bytes = at(&runs[0].dir).unwrap().bytes;
    assert!(bytes > runs[0].bytes);
    let gone = remove(&runs[0]).unwrap();
    // What a killed process left counts, too.
    assert_eq!((gone.bytes, gone.left), (bytes, vec![]));
    assert!(!runs[0].dir.exists());

    let mine = [
        ".notes.4711.tmp",
        "one-page-mine.html",
        "report-for-my-boss.html",
        "thoughts.md",
    ];
    for name in mine {
        // A copy of a page of ours among them.
        write(&runs[1], name, &page("report.html"));
    }
    write(&runs[1], "figures/copy.svg", &figure("iops"));
    fs::create_dir(runs[1].dir.join("figures/folder.svg")).unwrap();
    fs::create_dir(runs[1].dir.join("report-folder.html")).unwrap();
    remove(&runs[1]).unwrap();
    let mut left = names_of(&runs[1].dir);
    left.retain(|name| !["figures", "report-folder.html"].contains(&name.as_str()));
    assert_eq!(left, mine);
    assert_eq!(names_of(&runs[1].dir.join("figures")), ["copy.svg", "folder.svg"]);
    assert!(folder.path().join("20261105T000000Z-notes/plan.toml").exists());
}

#[test]
fn removing_a_run_follows_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let runs = three(folder.path());
    let elsewhere = tempfile::tempdir().unwrap();
    let drawing = elsewhere.path().join("mine.svg");
    fs::write(&drawing, "<svg/>").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), runs[0].dir.join("figures")).unwrap();
    assert_eq!(at(&runs[0].dir).unwrap().bytes, runs[0].bytes);
    assert_eq!(remove(&runs[0]).unwrap().left, ["figures"]);
    assert!(drawing.exists());
}

#[test]
fn a_run_that_is_being_written_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let runs = three(folder.path());
    let writing = RunFolder::open(&runs[0].dir).unwrap();
    assert!(matches!(remove(&runs[0]), Err(ResultsError::Locked { .. })));
    assert!(runs[0].dir.join("trials.ndjson").exists());
    drop(writing);
}

#[test]
fn a_link_to_a_run_elsewhere_is_not_a_run_of_this_folder() {
    let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run_at(elsewhere.path(), "20261101T000000Z", "device");
    let target = elsewhere.path().join("20261101T000000Z-device");
    std::os::unix::fs::symlink(&target, here.path().join("20261101T000000Z-device")).unwrap();
    assert!(list(here.path()).unwrap().is_empty());
}
