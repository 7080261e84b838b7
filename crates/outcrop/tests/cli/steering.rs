//! Escape sequences in files of others, which would steer the terminal that shows their words.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::{Seen, only_run, outcrop, workplace};

/// Clears the screen; its ESC and its twin behind ASCII.
const CLEAR: &str = "\u{1b}[2J\u{9b}2J\u{7f}";
/// What people see of it.
const SHOWN: &str = "\u{fffd}[2J\u{fffd}2J\u{fffd}";

fn seen(dir: &Path, line: &str) -> Seen {
    let words: Vec<&str> = line.split(' ').collect();
    outcrop(dir, &words)
}

/// What a terminal gets.
fn on_terminal(dir: &Path, line: &str) -> String {
    let program = "import pty, sys\nsys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    let output = Command::new("python3")
        .args(["-c", program, env!("CARGO_BIN_EXE_outcrop")])
        .args(line.split(' '))
        .current_dir(dir)
        .output()
        .unwrap();
    let Seen { code, stdout, stderr } = output.into();
    assert_eq!(code, Some(0), "{line}: {stdout}{stderr}");
    stdout
}

fn has_text(json: &serde_json::Value, wanted: &str) -> bool {
    match json {
        serde_json::Value::String(text) => text.contains(wanted),
        serde_json::Value::Array(items) => items.iter().any(|item| has_text(item, wanted)),
        serde_json::Value::Object(members) => members.values().any(|member| has_text(member, wanted)),
        _ => false,
    }
}

fn steers(text: &str) -> bool {
    text.contains(|letter: char| letter.is_control() && !matches!(letter, '\n' | '\t'))
}

#[test]
fn results_of_others_are_shown_without_their_escape_sequences_and_programs_get_them_whole() {
    let dir = workplace();
    let latency = serde_json::json!({"mean": 9000.0, "max": 20000, "N": 9000, "percentile": {"50.000000": 9000, "99.000000": 12000}});
    let read = serde_json::json!({"io_bytes": 36_864_000, "bw_bytes": 36_864_000, "iops": 9000.0, "runtime": 1000, "total_ios": 9000, "clat_ns": latency});
    let job = |depth: &str, engine: &str| {
        serde_json::json!({"jobname": "job", "read": read, "job options": {
            "filename": format!("disk{CLEAR}"), "rw": "randread", "bs": "4k", "iodepth": depth, "ioengine": engine}})
    };
    let steering = format!("engine{CLEAR}");
    let jobs = [job("1", &steering), job("8", "libaio")];
    let report = serde_json::json!({"fio version": "fio-3.33", "jobs": jobs});
    fs::write(dir.path().join("job.json"), report.to_string()).unwrap();
    let imported = seen(dir.path(), "import fio job.json");
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let run = only_run(dir.path()).display().to_string();
    for line in [format!("report {run}"), format!("report {run} --format markdown")] {
        let shown = seen(dir.path(), &line);
        assert!(
            !steers(&shown.stdout) && !steers(&shown.stderr),
            "{line}: {shown:?}"
        );
        assert!(shown.stdout.contains(SHOWN), "{line}: {}", shown.stdout);
    }
    assert!(
        !steers(&imported.stdout) && !steers(&imported.stderr),
        "{imported:?}"
    );
    let json = seen(dir.path(), &format!("report {run} --format json")).stdout;
    assert!(!steers(&json), "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(!json.to_string().contains('\u{fffd}'), "{json}");
    assert!(has_text(&json, &steering), "{json}");
    let csv = format!("report {run} --format csv");
    assert!(seen(dir.path(), &csv).stdout.contains(&steering));
    let shown = on_terminal(dir.path(), &csv);
    assert!(
        shown.contains(SHOWN) && !shown.contains(['\u{1b}', '\u{9b}']),
        "{shown}"
    );
}

#[test]
fn a_job_file_does_not_steer_the_terminal_that_shows_what_is_wrong_with_it() {
    let dir = workplace();
    fs::write(dir.path().join("x.fio"), format!("[j]\nrw=read\n{CLEAR}x=3\n")).unwrap();
    let refused = seen(dir.path(), "device --job x.fio --dry-run");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(!steers(&refused.stderr), "{refused:?}");
    // Names of options are read in lower case.
    assert!(refused.stderr.contains("\u{fffd}[2j"), "{refused:?}");
}

#[test]
fn values_of_a_column_are_written_as_they_are_unless_a_terminal_shows_them() {
    let dir = workplace();
    fs::write(dir.path().join("a.txt"), format!("{CLEAR}chalk\nslate\n")).unwrap();
    let encoded = seen(dir.path(), "column encode a.txt -o a.ocol");
    assert_eq!(encoded.code, Some(0), "{encoded:?}");
    for line in ["column decode a.ocol", "column values a.ocol"] {
        assert!(seen(dir.path(), line).stdout.contains(CLEAR), "{line}");
        let shown = on_terminal(dir.path(), line);
        // The progress bar has sequences of its own.
        let is_clean = !shown.contains("\u{1b}[2J") && !shown.contains(['\u{9b}', '\u{7f}']);
        assert!(
            is_clean && shown.contains(&format!("{SHOWN}chalk")),
            "{line}: {shown:?}"
        );
    }
}
