//! Where to compress, by a budget and on filesystems of our own: what is said, what is kept, and that nothing is left behind.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Seen, command, names_in, only_run, outcrop, workplace};
use crate::killed::without_unnamed_files;

/// A small store on a filesystem that is made for it.
const KV: [&str; 13] = [
    "kv",
    "--records",
    "2000",
    "--warm-up",
    "5ms",
    "--duration",
    "60ms",
    "--repetitions",
    "1",
    "--quiet",
    "--format",
    "json",
    "--filesystem",
];

fn can_make() -> bool {
    let ability = outcrop_filesystem::ability(workplace().path());
    if let Err(why) = &ability {
        let _ = writeln!(std::io::stderr(), "skipped: filesystems of our own: {why}");
    }
    ability.is_ok()
}

fn details(seen: &Seen) -> Value {
    let envelope: Value =
        serde_json::from_str(&seen.stdout).unwrap_or_else(|error| panic!("{error}: {seen:?}"));
    envelope["details"].clone()
}

/// Loop devices whose file is in a directory, and mounts that name it.
fn left_of(directory: &Path) -> Vec<String> {
    let name = directory.to_string_lossy().into_owned();
    let loops = std::fs::read_dir("/sys/block").unwrap().filter_map(Result::ok);
    let files =
        loops.filter_map(|entry| std::fs::read_to_string(entry.path().join("loop/backing_file")).ok());
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounts: Vec<String> = mounts.lines().map(str::to_owned).collect();
    files.chain(mounts).filter(|line| line.contains(&name)).collect()
}

const BUDGET: [&str; 13] = [
    "run",
    "placement",
    "placement-filesystem",
    "--effort",
    "quick",
    "--duration",
    "40ms",
    "--warm-up",
    "5ms",
    "--seed",
    "7",
    "--format",
    "json",
];

/// A run with a budget, and what it says of where to compress.
fn run_within(budget: &str) -> (tempfile::TempDir, Value) {
    let dir = workplace();
    let more = ["--quiet", "--budget", budget, "--min-ratio", "1.5"];
    let seen = outcrop(dir.path(), &[&BUDGET[..], &more].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let placement = details(&seen)["placement"].clone();
    assert_eq!(placement["constraints"]["min_ratio"], 1.5, "{placement}");
    assert_eq!(placement["race"]["budget"], budget);
    (dir, placement)
}

/// The candidates that have trials.
fn measured(placement: &Value) -> Vec<&Value> {
    let candidates = placement["candidates"].as_array().unwrap().iter();
    candidates
        .filter(|candidate| candidate["throughput"]["provenance"] == "measured")
        .collect()
}

/// Of the candidate that got the most.
fn most_trials(placement: &Value) -> Option<u64> {
    let measured = measured(placement).into_iter();
    measured.filter_map(|one| one["throughput"]["n"].as_u64()).max()
}

#[test]
fn a_budget_goes_to_the_cells_that_may_be_the_answer_and_each_says_why_it_stopped() {
    if !can_make() {
        return;
    }
    // How many trials fit depends on what else the machine does: where the first budget is too short to tell, a longer one must not be.
    let mut runs = ["45s", "4m"].into_iter().map(run_within);
    let (dir, placement) = runs
        .find(|(_, placement)| most_trials(placement) >= Some(5))
        .expect("the trials go to those that may be the answer");
    let measured = measured(&placement);
    for candidate in &measured {
        assert!(candidate["stopped"].is_string(), "{candidate}");
    }
    let most = measured
        .iter()
        .filter_map(|one| one["throughput"]["n"].as_u64())
        .max();
    assert!(most >= Some(5), "{measured:?}");
    // Trials went where the answer was open: of the stores without compression, which all save too little, the base goes on.
    let run = only_run(dir.path());
    let cells = csv::Reader::from_path(run.join("cells.csv"));
    let rows = cells.unwrap().into_deserialize::<BTreeMap<String, String>>();
    let trials = |row: BTreeMap<String, String>| {
        let is_plain = row["compression"] == "none" && !row["filesystem"].contains("zstd");
        is_plain.then(|| row["trials"].parse::<u64>().unwrap())
    };
    let mut of_plain: Vec<u64> = rows.filter_map(|row| trials(row.unwrap())).collect();
    of_plain.sort_unstable();
    let (fewest, base) = (of_plain[0], of_plain[of_plain.len() - 1]);
    // The budget may end within a round.
    assert!(fewest < base && Some(base + 1) >= most, "{of_plain:?} {most:?}");

    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("Where the trials went"));
    // What was decided stays so: a report without limits answers under those of the run, and a resume measures what is open.
    let again = outcrop(dir.path(), &["report", run.to_str().unwrap(), "--format", "json"]);
    assert_eq!(details(&again)["placement"]["constraints"]["min_ratio"], 1.5);
    assert!(left_of(dir.path()).is_empty());
}

#[test]
fn a_dry_run_says_how_a_budget_is_spent_and_what_contradicts_it_is_refused() {
    let dir = workplace();
    let args = ["run", "placement", "--effort", "quick", "--budget", "5m"];
    let seen = outcrop(dir.path(), &[&args[..], &["--dry-run"]].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    for words in [
        "Within 5m",
        "up to 80 trials",
        "until the answer is clear or the time is used up",
    ] {
        assert!(seen.stdout.contains(words), "{words}: {}", seen.stdout);
    }
    for (more, words) in [
        (["--repetitions", "9"], "leave --repetitions or --budget out"),
        (["--budget", "1ms"], "too short for"),
    ] {
        let args: Vec<&str> = match more[0] {
            "--budget" => [&args[..4], &more].concat(),
            _ => [&args[..], &more].concat(),
        };
        let seen = outcrop(dir.path(), &args);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.stderr.contains(words), "{}", seen.stderr);
    }
}

#[test]
fn a_run_that_is_killed_on_its_own_filesystem_leaves_no_loop_device_and_no_mount() {
    if !can_make() {
        return;
    }
    let dir = workplace();
    let args = [
        "kv",
        "--records",
        "200000",
        "--duration",
        "5s",
        "--repetitions",
        "1",
        "--filesystem",
        "btrfs zstd:1",
        "--quiet",
    ];
    let mut victim = command(dir.path(), &args)
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(dir.path().join("said")).unwrap())
        .spawn()
        .unwrap();
    let clock = outcrop_probe::Clock::new();
    // Killed while its loop device is there and a database is being made on it.
    let is_under_way = || {
        let has_databases = names_in(dir.path())
            .iter()
            .any(|name| name.starts_with(".outcrop-kv-"));
        has_databases && !left_of(dir.path()).is_empty()
    };
    while !is_under_way() {
        let said = || std::fs::read_to_string(dir.path().join("said")).unwrap();
        assert!(victim.try_wait().unwrap().is_none(), "{}", said());
        assert!(clock.now_ns() < 120_000_000_000, "no filesystem was made");
        std::thread::yield_now();
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    std::fs::remove_file(dir.path().join("said")).unwrap();
    let killed_ns = clock.now_ns();
    while !left_of(dir.path()).is_empty() {
        let waited_ns = clock.now_ns() - killed_ns;
        assert!(waited_ns < 30_000_000_000, "left: {:?}", left_of(dir.path()));
        std::thread::yield_now();
    }
    let next = outcrop(dir.path(), &[&KV[..], &["ext4"]].concat());
    assert_eq!(next.code, Some(0), "{next:?}");
    assert_eq!(names_in(dir.path()), ["runs"]);
}

#[test]
fn two_processes_share_a_filesystem_of_our_own_and_what_may_be_written_holds_for_it() {
    if !can_make() {
        return;
    }
    let dir = workplace();
    let one = outcrop(dir.path(), &[&KV[..], &["btrfs", "--no-save"]].concat());
    let both = outcrop(
        dir.path(),
        &[&KV[..], &["btrfs", "--processes", "2", "--no-save"]].concat(),
    );
    let stored = |seen: &Seen| {
        let envelope: Value = serde_json::from_str(&seen.stdout).unwrap_or_else(|_| panic!("{seen:?}"));
        envelope["cells"][0]["metrics"]["stored_bytes"]["value"]
            .as_f64()
            .unwrap_or_else(|| panic!("{seen:?}"))
    };
    let ratio = stored(&both) / stored(&one);
    assert!(
        (1.5..2.5).contains(&ratio),
        "two databases take {ratio} times the space of one"
    );

    let refused = outcrop(
        dir.path(),
        &[&KV[..], &["btrfs", "--max-written", "1MiB"]].concat(),
    );
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("--max-written"), "{}", refused.stderr);
    let allowed = outcrop(
        dir.path(),
        &[&KV[..], &["btrfs", "--max-written", "4GiB"]].concat(),
    );
    assert_eq!(allowed.code, Some(0), "{allowed:?}");
    assert!(left_of(dir.path()).is_empty());
    assert_eq!(names_in(dir.path()), ["runs"]);
}

#[test]
fn a_run_by_doubt_that_is_killed_goes_on_within_its_budget_and_repeats_no_trial() {
    let dir = workplace();
    let args = [
        "run",
        "kv-compression",
        "--effort",
        "quick",
        "--duration",
        "20ms",
        "--warm-up",
        "5ms",
        "--budget",
        "30s",
        "--quiet",
    ];
    let mut victim = command(dir.path(), &args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let clock = outcrop_probe::Clock::new();
    let journal = || -> String {
        let runs = dir.path().join("runs");
        let Ok(mut runs) = std::fs::read_dir(runs) else {
            return String::new();
        };
        let folder = runs.next().and_then(Result::ok).map(|entry| entry.path());
        folder.map_or_else(String::new, |folder| {
            std::fs::read_to_string(folder.join("trials.ndjson")).unwrap_or_default()
        })
    };
    while journal().lines().count() < 6 {
        assert!(clock.now_ns() < 120_000_000_000, "no trials");
        std::thread::yield_now();
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    let run = only_run(dir.path());
    let seen = outcrop(dir.path(), &["run", "--resume", run.to_str().unwrap(), "--quiet"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let mut repetitions: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let text = journal();
    for line in text.lines() {
        let trial: Value = serde_json::from_str(line).unwrap();
        assert!(trial["took_s"].as_f64().is_some(), "{trial}");
        let cell = trial["cell"].as_str().unwrap().to_owned();
        repetitions
            .entry(cell)
            .or_default()
            .push(trial["repetition"].as_u64().unwrap());
    }
    for (cell, mut seen) in repetitions {
        seen.sort_unstable();
        let expected: Vec<u64> = (0..seen.len() as u64).collect();
        assert_eq!(seen, expected, "{cell}");
    }
    let report = outcrop(dir.path(), &["report", run.to_str().unwrap(), "--format", "json"]);
    assert!(report.stdout.contains("\"stopped\""), "{}", report.stdout);
}

#[test]
fn where_no_filesystem_can_be_made_the_profile_measures_the_directory_as_it_is_and_says_so() {
    let dir = workplace();
    let args = ["profile", "--layer", "kv", "--quick", "--dry-run"];
    let seen = without_unnamed_files(dir.path(), &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stderr
            .contains("the kv layer measures kv-compression on the directory's own filesystem, because"),
        "{}",
        seen.stderr
    );
    assert!(seen.stdout.contains("kv-compression:"), "{}", seen.stdout);
    if can_make() {
        let usual = outcrop(dir.path(), &args);
        assert!(usual.stdout.contains("placement-filesystem:"), "{}", usual.stdout);
        assert!(!usual.stderr.contains("because"), "{}", usual.stderr);
    }
}
