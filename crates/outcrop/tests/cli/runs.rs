//! Run folders as their user meets them: listed, pruned, not kept, not wanted.

use crate::harness::{names_in, outcrop, workplace};

const TINY: [&str; 11] = [
    "device",
    "--engine",
    "noop",
    "--size",
    "8MiB",
    "--repetitions",
    "2",
    "--warm-up",
    "1ms",
    "--duration",
    "10ms",
];

#[test]
fn runs_are_listed_and_pruned_only_when_it_is_said_twice() {
    let dir = workplace();
    for _ in 0..3 {
        assert_eq!(outcrop(dir.path(), &TINY).code, Some(0));
    }
    std::fs::create_dir(dir.path().join("runs/mine")).unwrap();
    let list = outcrop(dir.path(), &["runs", "--format", "csv"]);
    assert_eq!(list.code, Some(0), "{list:?}");
    assert_eq!(list.stdout.lines().count(), 4, "{}", list.stdout);
    assert!(list.stdout.contains("scratch-file 8MiB"), "{}", list.stdout);
    let dry = outcrop(dir.path(), &["runs", "prune", "--keep", "1", "--dry-run"]);
    let shown = outcrop(dir.path(), &["runs", "prune", "--keep", "1"]);
    assert_eq!((dry.code, &dry.stdout), (Some(0), &shown.stdout), "{dry:?}");
    assert!(
        shown.stderr.starts_with("3 runs: 2 would be removed ("),
        "{shown:?}"
    );
    let named = outcrop(dir.path(), &["runs", "runs", "--format", "csv"]);
    assert_eq!(named.stdout, list.stdout, "the folder may be named: {named:?}");
    assert_eq!(names_in(&dir.path().join("runs")).len(), 4);
    let pruned = outcrop(dir.path(), &["runs", "prune", "--keep", "1", "--yes"]);
    assert_eq!(pruned.code, Some(0), "{pruned:?}");
    assert!(pruned.stderr.contains("3 runs: 2 removed ("), "{pruned:?}");
    assert_eq!(
        names_in(&dir.path().join("runs")).len(),
        2,
        "one run, and the folder that is no run"
    );
    let unclear = outcrop(dir.path(), &["runs", "prune"]);
    assert_eq!(unclear.code, Some(2), "{unclear:?}");
}

/// By its path or by its name; never anything that is no run.
#[test]
fn single_runs_are_removed_only_when_it_is_said_twice() {
    let dir = workplace();
    for _ in 0..3 {
        assert_eq!(outcrop(dir.path(), &TINY).code, Some(0));
    }
    let runs = dir.path().join("runs");
    let names = names_in(&runs);
    let path = format!("runs/{}", names[0]);
    let shown = outcrop(dir.path(), &["runs", "remove", &path, &path, &names[1]]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(
        shown.stderr.starts_with("2 runs: 2 would be removed ("),
        "{shown:?}"
    );
    assert!(
        shown.stdout.contains(&names[0]) && shown.stdout.contains(&names[1]),
        "{shown:?}"
    );
    assert_eq!(names_in(&runs).len(), 3);
    std::fs::create_dir(runs.join("mine")).unwrap();
    for other in ["mine", "missing"] {
        let refused = outcrop(dir.path(), &["runs", "remove", &names[2], other, "--yes"]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.sentence().contains("is not a run folder"), "{refused:?}");
    }
    assert_eq!(
        names_in(&runs).len(),
        4,
        "nothing goes where something is refused"
    );
    // One folder in several spellings is one run.
    let whole = runs.join(&names[0]);
    let dotted = format!("./{path}");
    let spellings = [&path, whole.to_str().unwrap(), &dotted, &names[1]];
    let removed = outcrop(
        dir.path(),
        &[&["runs", "remove"], &spellings[..], &["--yes"]].concat(),
    );
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(removed.stderr.contains("2 runs: 2 removed ("), "{removed:?}");
    assert_eq!(names_in(&runs), [names[2].as_str(), "mine"]);
    assert_eq!(outcrop(dir.path(), &["runs", "remove"]).code, Some(2));
}

#[test]
fn a_one_off_that_is_not_saved_prints_its_table_and_leaves_nothing() {
    let dir = workplace();
    let seen = outcrop(
        dir.path(),
        &[TINY.as_slice(), &["--no-save", "--queue-depth", "1,4"]].concat(),
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("queue depth"), "{}", seen.stdout);
    assert!(!seen.stdout.contains("report.html"), "{}", seen.stdout);
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn quiet_says_nothing_on_stderr() {
    let dir = workplace();
    let seen = outcrop(dir.path(), &[TINY.as_slice(), &["-q"]].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(seen.stderr, "");
}

#[test]
fn each_depth_of_a_sweep_has_a_row_on_the_terminal_in_csv_and_in_json() {
    let dir = workplace();
    let sweep = [TINY.as_slice(), &["--queue-depth", "1,4,16"]].concat();
    let text = outcrop(dir.path(), &sweep).stdout;
    for depth in ["1", "4", "16"] {
        let has = |line: &str| line.split_whitespace().next() == Some(depth) && line.contains('(');
        assert!(text.lines().any(has), "{depth}: {text}");
    }
    let csv = outcrop(dir.path(), &[sweep.as_slice(), &["--format", "csv"]].concat()).stdout;
    assert_eq!(csv.lines().count(), 4, "{csv}");
}

#[test]
fn a_place_for_runs_that_cannot_be_made_names_the_flag() {
    let dir = workplace();
    std::fs::write(dir.path().join("runs"), "a file").unwrap();
    let seen = outcrop(dir.path(), &TINY);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.sentence().contains("--out"), "{seen:?}");
}

#[test]
fn a_run_that_wrote_as_much_as_it_may_is_resumed_with_a_limit_that_lets_it_go_on() {
    let dir = workplace();
    // At the rate of a slow device it would write less, and any device here writes more: no call completes a trial.
    let line = "device --rw randwrite --queue-depth 1 --size 4MiB --duration 400ms --warm-up 0s --repetitions 1 --max-written 6MiB";
    let stopped = outcrop(dir.path(), &line.split(' ').collect::<Vec<_>>());
    assert_eq!(stopped.code, Some(130), "{stopped:?}");
    let (said, command) = stopped.stderr.rsplit_once("such as `outcrop ").unwrap();
    assert!(
        said.contains("6MiB (--max-written) was reached before a trial was complete"),
        "{said}"
    );
    for part in [
        "its only trial is then not kept",
        "one trial writes more than the limit",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("it keeps the trials"), "{said}");
    assert!(
        command.contains("`, or start a new run with a shorter --duration"),
        "{command}"
    );
    let command = command.split('`').next().unwrap();
    let limit = command.rsplit_once(" --max-written ").unwrap().1;
    let mebibytes: u64 = limit.strip_suffix("MiB").unwrap().parse().unwrap();
    assert!(mebibytes >= 12, "{command}");
    // The limit is the run's, so the flag can be left out.
    let resume: Vec<&str> = command.split(' ').take(3).collect();
    let again = outcrop(dir.path(), &resume);
    assert_eq!(again.code, Some(130), "{again:?}");
    assert!(
        again.stderr.contains(&format!(" --max-written {limit}`")),
        "{again:?}"
    );
    let larger = outcrop(dir.path(), &[&resume[..], &["--max-written", "64GiB"]].concat());
    assert_eq!(larger.code, Some(0), "{larger:?}");
}

/// A reader's run at its limit printed nothing of what it had measured, and named a folder that was gone.
#[test]
fn a_run_that_an_error_ends_shows_its_finished_trials_and_names_its_folder_only_where_that_is_kept() {
    let dir = workplace();
    // Six trials write 3.6 MB here, and are known to write 3.2 MB.
    let line = "kv --engine fjall --compression none,lz4 --records 300 --workload ycsb-c --duration 20ms --warm-up 5ms --repetitions 3 \
                --max-written 3400kB --quiet";
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let kept = outcrop(dir.path(), &arguments);
    assert_eq!(kept.code, Some(3), "{kept:?}");
    assert!(kept.stdout.contains("fjall"), "{kept:?}");
    let said = kept
        .stderr
        .split_once("finished trials are kept (`outcrop report ");
    let (_, rest) = said.unwrap_or_else(|| panic!("{kept:?}"));
    let (run, _) = rest.split_once('`').unwrap();
    assert!(dir.path().join(run).join("report.html").is_file(), "{kept:?}");
    let lost = outcrop(dir.path(), &[&arguments[..], &["--no-save"]].concat());
    assert_eq!(lost.code, Some(3), "{lost:?}");
    assert!(lost.stdout.contains("fjall"), "{lost:?}");
    assert!(
        lost.stderr.contains("; --no-save does not keep the ") && !lost.stderr.contains("--resume"),
        "{lost:?}"
    );
}
