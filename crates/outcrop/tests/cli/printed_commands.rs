//! Each command that Outcrop prints for a user to run next is complete: it is run here as it stands, and measures the same data.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Seen, names_in, only_run, outcrop, workplace};

/// A plan of the key-value layer with the user's data, limits and prices, in directories that a shell would take apart.
const RUN: [&str; 18] = [
    "run",
    "kv-compression",
    "ssd-queue-depth",
    "--effort",
    "quick",
    "--duration",
    "20ms",
    "--warm-up",
    "5ms",
    "--repetitions",
    "2",
    "--size",
    "4MiB",
    "--path",
    "a disk",
    "--data",
    "it's mine.txt",
    "--quiet",
];
const LIMITS: [&str; 4] = ["--min-ratio", "1.01", "--prices", "prices.toml"];

/// What stands between grave accents, or in code on the page, and is a command.
fn commands_in(text: &str, commands: &mut BTreeSet<String>) {
    let in_accents = text.split('`').skip(1).step_by(2).map(str::to_owned);
    let in_code = text.split("<code>").skip(1).filter_map(|rest| {
        let code = rest.split("</code>").next()?;
        Some(code.replace("&#39;", "'").replace("&amp;", "&"))
    });
    let found = in_accents.chain(in_code);
    // `outcrop run` alone names a command; nobody runs it as it stands.
    let is_whole = |command: &String| command.starts_with("outcrop ") && command.split(' ').count() > 2;
    commands.extend(found.filter(is_whole));
}

fn texts(value: &Value, commands: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => commands_in(text, commands),
        Value::Array(items) => items.iter().for_each(|item| texts(item, commands)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, commands)),
        _ => {}
    }
}

/// Runs a line as a shell reads it.
pub(crate) fn in_shell(dir: &Path, line: &str) -> Seen {
    let program = Path::new(env!("CARGO_BIN_EXE_outcrop"));
    let rest = line.strip_prefix("outcrop").unwrap();
    Command::new("sh")
        .args(["-c", &format!("\"$0\"{rest}"), program.to_str().unwrap()])
        .current_dir(dir)
        .output()
        .unwrap()
        .into()
}

/// Whether a command does what it says, without measuring anything.
fn check(dir: &Path, command: &str) {
    let words = command.split(' ').nth(1).unwrap();
    match words {
        "run" | "device" => {
            let seen = in_shell(dir, &format!("{command} --dry-run --format json"));
            assert_eq!(seen.code, Some(0), "{command}: {seen:?}");
            let document: Value = serde_json::from_str(&seen.stdout).unwrap();
            let plan = document["details"]["plan"].as_str().unwrap();
            assert!(plan.contains("a disk"), "{command}: {plan}");
            let layers = document["rows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| &row["layer"]);
            let takes_data = layers
                .into_iter()
                .any(|layer| layer == "kv" || layer == "compression");
            let has_data = plan.contains("it's mine.txt");
            assert!(has_data || !takes_data, "{command}: {plan}");
            // What does not take them would refuse them.
            assert!(takes_data || !command.contains("--data"), "{command}");
        }
        "report" => {
            let command = command.replace("NAME", "toshiba-kxg60znv256g-fio");
            let seen = in_shell(dir, &command);
            assert_eq!(seen.code, Some(0), "{command}: {seen:?}");
        }
        other => panic!("a command that this test does not know, {other}: {command}"),
    }
}

fn prepare(dir: &Path) {
    std::fs::create_dir(dir.join("a disk")).unwrap();
    let text = "a line of text that repeats itself, as text does\n".repeat(4000);
    std::fs::write(dir.join("it's mine.txt"), text).unwrap();
    let prices = "currency = \"EUR\"\ncpu_hour = 0.04\ngb_month = 0.08\ndata = \"2TB\"\noperations_per_second = 20000\n";
    std::fs::write(dir.join("prices.toml"), prices).unwrap();
}

#[test]
fn each_printed_command_runs_as_it_stands_on_the_data_and_in_the_directory_of_the_run() {
    let dir = workplace();
    let dir = dir.path();
    prepare(dir);
    let seen = outcrop(dir, &[&RUN[..], &LIMITS].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let run = only_run(dir);
    let folder = run.strip_prefix(dir).unwrap().to_str().unwrap();
    let json = outcrop(dir, &["report", folder, "--format", "json"]);
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    let mut commands = BTreeSet::new();
    texts(&document["details"], &mut commands);
    commands_in(&seen.stdout.replace('\n', " "), &mut commands);
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    let page = page.split("figure-data").next().unwrap();
    commands_in(page, &mut commands);
    for begin in [
        "outcrop run runs/",
        "outcrop run kv-ycsb",
        "outcrop run ssd-",
        "outcrop device ",
        "outcrop report runs/",
    ] {
        assert!(
            commands.iter().any(|command| command.starts_with(begin)),
            "{begin}: {commands:?}"
        );
    }
    let others: Vec<&String> = commands
        .iter()
        .filter(|command| !command.contains("cache"))
        .collect();
    // What some results call for begins with a copy of the plan.
    std::fs::copy(run.join("plan.toml"), dir.join("changed.toml")).unwrap();
    for command in others {
        check(dir, command);
    }
    assert_eq!(names_in(&dir.join("runs")).len(), 1, "nothing was measured");
}

/// What a plan of the device layer measures, a line for each factor, without the mix.
fn workload_of(plan: &str) -> BTreeSet<&str> {
    let lines = plan.lines().skip_while(|line| *line != "[plan.workload]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("read_write_mix"));
    lines.collect()
}

#[test]
fn the_command_for_the_direction_that_a_run_lacks_has_its_size_pattern_depth_jobs_engine_and_access() {
    for flags in [
        "--bs 64k --iodepth 4 --rw read --ioengine libaio --numjobs 2",
        "--queue-depth 1 --access buffered",
        "--queue-depth 8 --read-write-mix 0:100 --span 1MiB --sync each",
        "--read-write-mix 70:30 --queue-depth 2 --io-block-size 8KiB",
    ] {
        let dir = workplace();
        let dir = dir.path();
        let short = "--size 4MiB --duration 10ms --warm-up 0s --repetitions 1 --quiet";
        let seen = in_shell(dir, &format!("outcrop device . {flags} {short}"));
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let run = only_run(dir);
        let plan = std::fs::read_to_string(run.join("plan.toml")).unwrap();
        let measured = workload_of(&plan);
        assert!(measured.len() > 5, "{plan}");
        let mut commands = BTreeSet::new();
        let page = std::fs::read_to_string(run.join("report.html")).unwrap();
        commands_in(&page, &mut commands);
        let hints: Vec<&String> = commands
            .iter()
            .filter(|command| command.starts_with("outcrop device "))
            .collect();
        assert!(!hints.is_empty(), "{flags}: {commands:?}");
        for hint in hints {
            let seen = in_shell(dir, &format!("{hint} --dry-run --format json"));
            assert_eq!(seen.code, Some(0), "{hint}: {seen:?}");
            let document: Value = serde_json::from_str(&seen.stdout).unwrap();
            let mut hinted = workload_of(document["details"]["plan"].as_str().unwrap());
            let mut measured = measured.clone();
            // A read waits for no sync.
            if hint.contains("--read-write-mix 100:0") {
                let is_of_both = |line: &&str| !line.starts_with("sync");
                hinted.retain(is_of_both);
                measured.retain(is_of_both);
            }
            assert_eq!(hinted, measured, "{flags}: {hint}");
        }
    }
}

#[test]
fn a_run_of_data_from_stdin_is_repeated_from_the_file_that_they_were_saved_in() {
    let dir = workplace();
    let dir = dir.path();
    prepare(dir);
    let short = "--duration 10ms --warm-up 0s --repetitions 2 --quiet";
    let measure =
        format!("outcrop codec --data - --codec snappy --block-size 4k {short} < \"it's mine.txt\"");
    let seen = in_shell(dir, &measure);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let run = only_run(dir);
    let plan = run.strip_prefix(dir).unwrap().join("plan.toml");
    let again = format!(
        "outcrop run {} --repetitions 3 --no-save --format json < \"it's mine.txt\"",
        plan.display()
    );
    let seen = in_shell(dir, &again);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let document: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(document["cells"][0]["trials"], 3, "{document}");
}

#[test]
fn the_limits_and_prices_of_a_run_are_kept_in_it_and_a_later_report_says_what_the_terminal_said() {
    let dir = workplace();
    let dir = dir.path();
    prepare(dir);
    let more = ["--format", "json", "--layer", "kv"];
    // The layer that is left measures no file of a size.
    let is_of_size = |word: &&str| ["--size", "4MiB"].contains(word);
    let run: Vec<&str> = RUN.into_iter().filter(|word| !is_of_size(word)).collect();
    let seen = outcrop(dir, &[&run[..], &LIMITS, &more].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let said = |seen: &Seen| {
        let document: Value = serde_json::from_str(&seen.stdout).unwrap_or_else(|_| panic!("{seen:?}"));
        document["details"]["placement"].clone()
    };
    let run = only_run(dir);
    let run = run.strip_prefix(dir).unwrap().to_str().unwrap();
    let later = outcrop(dir, &["report", run, "--format", "json"]);
    let (first, later) = (said(&seen), said(&later));
    assert_eq!(first["constraints"]["min_ratio"], 1.01, "{first}");
    assert_eq!(
        (&first["constraints_from"], &first["prices_from"]),
        (&"run".into(), &"run".into())
    );
    assert_eq!(first, later);
    // A report under other limits is another page: the run's stays.
    let page = || std::fs::read(dir.join(run).join("report.html")).unwrap();
    let before = page();
    let shown = outcrop(dir, &["report", run, "--min-ratio", "99", "--p99", "2ms"]);
    assert!(
        shown
            .stdout
            .contains("/report-min-ratio-99-p99-2ms.html; report.html keeps those of the run"),
        "{shown:?}"
    );
    assert_eq!(page(), before);
    let other = std::fs::read_to_string(dir.join(run).join("report-min-ratio-99-p99-2ms.html")).unwrap();
    assert!(
        other.contains("--min-ratio 99"),
        "the limits are said on the page"
    );
    let same = outcrop(dir, &["report", run, "--min-ratio", "1.01"]);
    assert!(same.stdout.contains("/report.html\n"), "{same:?}");
    let other = outcrop(dir, &["report", run, "--format", "json", "--min-ratio", "99"]);
    let other = said(&other);
    assert_eq!(other["constraints_from"], "report");
    // The prices are still those of the run.
    assert_eq!(other["prices_from"], "run");
    let repeated = format!("{run}/plan.toml");
    let plan = outcrop(dir, &["run", &repeated, "--dry-run", "--format", "json"]);
    let plan: Value = serde_json::from_str(&plan.stdout).unwrap();
    let plan = plan["details"]["plan"].as_str().unwrap();
    for line in ["min_ratio = \"1.01\"", "[run.prices]", "currency = \"EUR\""] {
        assert!(plan.contains(line), "{line}: {plan}");
    }
    // What is not kept cannot be measured again from its folder.
    let gone = outcrop(dir, &[&RUN[..], &more, &["--no-save"]].concat());
    assert!(!gone.stdout.contains("plan.toml --"), "{}", gone.stdout);
    let refused = outcrop(dir, &["run", "kv-compression", "--layer", "kvv"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("did you mean `kv`?"),
        "{}",
        refused.stderr
    );
}
