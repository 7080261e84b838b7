//! A run may be somebody else's: whatever its files hold, and however long they say they are, reading it takes little memory.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::Stdio;

use crate::harness::{Ended, ended, names_in, outcrop, workplace};

const MIB: u64 = 1 << 20;
/// One line of a journal, of 64 MiB at most, and what the program takes besides.
const MOST_BYTES: u64 = 200 * MIB;

/// Commands that read all of a run; `RUN` stands for it.
const READERS: [&str; 6] = [
    "report RUN",
    "results export RUN --format json",
    "results export RUN --format fio-json",
    "compare RUN RUN",
    "predict --run RUN",
    "figure RUN",
];
/// Commands that read its journal alone, or first.
const OF_THE_JOURNAL: [&str; 2] = ["results export RUN --format parquet", "results compact RUN"];

/// A copy of a run that is kept, in a folder of runs.
fn copied(dir: &Path) {
    let run = dir.join("runs/theirs");
    std::fs::create_dir_all(&run).unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/run-of-records-1");
    for entry in std::fs::read_dir(kept).unwrap().map(Result::unwrap) {
        std::fs::copy(entry.path(), run.join(entry.file_name())).unwrap();
    }
}

fn assert_small(args: &[&str], ended: &Ended) {
    assert!(
        ended.peak_bytes <= MOST_BYTES,
        "{args:?}: {} MiB",
        ended.peak_bytes / MIB
    );
}

/// Every command that reads the run ends with a sentence about the file, and takes little memory.
fn assert_refused(dir: &Path, commands: &[&str], file: &str, says: &[&str]) {
    for command in commands {
        let args: Vec<&str> = command
            .split(' ')
            .map(|word| if word == "RUN" { "runs/theirs" } else { word })
            .collect();
        let ended = ended(dir, &args, Stdio::null());
        assert_eq!(ended.code, 2, "{command}: {}", ended.sentence);
        for part in says.iter().chain([&file]) {
            assert!(ended.sentence.contains(part), "{command}: {}", ended.sentence);
        }
        assert_small(&args, &ended);
    }
    let args = ["runs"];
    let listed = ended(dir, &args, Stdio::null());
    assert_eq!(listed.code, 0, "{}", listed.sentence);
    assert_small(&args, &listed);
    let seen = outcrop(dir, &args);
    assert!(seen.stdout.contains("damaged"), "{seen:?}");
    assert_eq!(names_in(dir), ["runs"], "nothing is written");
}

#[test]
fn a_journal_of_one_endless_line_is_damage_and_takes_no_more_memory_than_the_longest_line() {
    let dir = workplace();
    copied(dir.path());
    // Eight gibibytes without a block of their own.
    let journal = File::create(dir.path().join("runs/theirs/trials.ndjson")).unwrap();
    journal.set_len(8 << 30).unwrap();
    let commands = [&READERS[..], &OF_THE_JOURNAL].concat();
    let says = ["more than 64 MiB", "delete this line"];
    assert_refused(dir.path(), &commands, "trials.ndjson:1:", &says);
}

#[test]
fn an_endless_line_behind_sound_ones_is_damage_with_its_number() {
    let dir = workplace();
    copied(dir.path());
    let path = dir.path().join("runs/theirs/trials.ndjson");
    let lines = std::fs::read_to_string(&path).unwrap().lines().count();
    let journal = OpenOptions::new().write(true).open(&path).unwrap();
    journal.set_len(8 << 30).unwrap();
    let at = format!("trials.ndjson:{}:", lines + 1);
    let commands = [&READERS[..], &OF_THE_JOURNAL].concat();
    let says = ["more than 64 MiB", "delete this line"];
    assert_refused(dir.path(), &commands, &at, &says);
}

#[test]
fn an_environment_and_a_plan_of_eight_gibibytes_are_refused_at_16_mib() {
    for (file, says) in [
        ("environment.json", ["more than 16 MiB", "or replace its content"]),
        ("plan.toml", ["more than 16 MiB", "restore it from a copy"]),
    ] {
        let dir = workplace();
        copied(dir.path());
        let text = File::create(dir.path().join("runs/theirs").join(file)).unwrap();
        text.set_len(8 << 30).unwrap();
        assert_refused(dir.path(), &READERS, file, &says);
        // Going on with it reads both again.
        let args = ["run", "--resume", "runs/theirs"];
        assert_small(&args, &ended(dir.path(), &args, Stdio::null()));
    }
}
