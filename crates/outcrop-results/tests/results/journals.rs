//! What a journal survives: cuts at every byte of its last line, flipped bits, values that are no numbers.

use std::fs;
use std::path::PathBuf;

use outcrop_results::journal::{self, Journal};
use outcrop_results::{Outcome, ResultsError, TrialEntry, Value};
use outcrop_schema::Remark;
use proptest::prelude::*;

use crate::samples::{IOPS, folder_in_memory, trial, two_intervals, usual};

fn small(repetition: u32) -> TrialEntry {
    trial(
        32,
        repetition,
        &usual(200_000.25 + f64::from(repetition), 1.0 / 3.0),
    )
}

/// Three whole lines in a fresh folder.
fn three_lines() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let folder = folder_in_memory();
    let path = folder.path().join("trials.ndjson");
    let mut journal = Journal::create(&path).unwrap();
    for repetition in 0..3 {
        journal.append(&small(repetition)).unwrap();
    }
    let bytes = fs::read(&path).unwrap();
    (folder, path, bytes)
}

fn read_all(path: &std::path::Path) -> Result<Vec<TrialEntry>, ResultsError> {
    journal::read(path)?.collect()
}

#[test]
fn what_was_appended_is_read_back_to_the_last_bit() {
    let (_folder, path, _) = three_lines();
    assert_eq!(read_all(&path).unwrap(), (0..3).map(small).collect::<Vec<_>>());
}

#[test]
fn a_cut_at_any_byte_of_the_last_line_loses_that_line_only_and_is_mended_by_opening() {
    let (_folder, path, bytes) = three_lines();
    let last_line = bytes[..bytes.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    for end in last_line..bytes.len() {
        fs::write(&path, &bytes[..end]).unwrap();
        assert_eq!(
            read_all(&path).unwrap().len(),
            2,
            "reading does not stumble over {end} bytes"
        );
        let (mut journal, torn_bytes) = Journal::open(&path).unwrap();
        assert_eq!(torn_bytes, (end - last_line) as u64);
        assert_eq!(journal.finished().len(), 2);
        assert_eq!(
            fs::read(&path).unwrap(),
            bytes[..last_line],
            "the torn bytes are gone from the file"
        );
        journal.append(&small(2)).unwrap();
        assert_eq!(
            fs::read(&path).unwrap(),
            bytes,
            "the trial is measured again, once"
        );
    }
}

/// What the journal says of damaged bytes: the line that is at fault, or none where the last line counts as torn.
fn noticed(path: &std::path::Path, damaged: &[u8]) -> Option<usize> {
    fs::write(path, damaged).unwrap();
    let mut lines = journal::read(path).unwrap();
    match lines.by_ref().collect::<Result<Vec<_>, _>>() {
        Err(ResultsError::DamagedJournal { line, .. }) => Some(line),
        Err(other) => panic!("{other}"),
        Ok(entries) => {
            assert!(
                lines.torn_bytes() > 0,
                "{} trials were read from damaged bytes",
                entries.len()
            );
            None
        }
    }
}

#[test]
fn every_flipped_bit_is_noticed_with_its_line() {
    let (_folder, path, bytes) = three_lines();
    for position in 0..bytes.len() {
        let line = 1 + bytes[..position].iter().filter(|byte| **byte == b'\n').count();
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1 << bit;
            let is_last = position + 1 == bytes.len();
            assert_eq!(
                noticed(&path, &damaged),
                (!is_last).then_some(line),
                "byte {position}, bit {bit}"
            );
        }
    }
}

#[test]
fn a_digit_that_flipped_is_still_json_and_the_error_says_what_happened() {
    let (_folder, path, bytes) = three_lines();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.lines().nth(1).unwrap().contains("200001.25"));
    fs::write(&path, text.replace("200001.25", "200801.25")).unwrap();
    let message = read_all(&path).unwrap_err().to_string();
    assert!(message.contains("trials.ndjson:2:"), "{message}");
    assert!(
        message.contains("its checksum is") && message.contains("some bytes were changed"),
        "{message}"
    );
}

/// The lines as versions before checksums wrote them.
fn without_checksums(bytes: &[u8]) -> String {
    let text = std::str::from_utf8(bytes).unwrap();
    let old = text.lines().map(|line| match line.split_once(",\"crc32c\"") {
        Some((content, _)) => format!("{content}}}\n"),
        None => panic!("no checksum in {line}"),
    });
    old.collect()
}

#[test]
fn journals_of_earlier_versions_load_and_go_on_with_checksums() {
    let (_folder, path, bytes) = three_lines();
    fs::write(&path, without_checksums(&bytes)).unwrap();
    assert_eq!(read_all(&path).unwrap(), (0..3).map(small).collect::<Vec<_>>());
    let (mut journal, torn_bytes) = Journal::open(&path).unwrap();
    assert_eq!(torn_bytes, 0);
    journal.append(&small(3)).unwrap();
    assert_eq!(read_all(&path).unwrap().len(), 4);
    // A checksum that is lost behind one that is there is damage.
    let text = fs::read_to_string(&path).unwrap();
    let last = without_checksums(text.lines().last().unwrap().as_bytes());
    fs::write(
        &path,
        format!("{text}{}", last.replace("\"repetition\":3", "\"repetition\":4")),
    )
    .unwrap();
    let message = read_all(&path).unwrap_err().to_string();
    assert!(
        message.contains("trials.ndjson:5:") && message.contains("it has no checksum"),
        "{message}"
    );
}

#[test]
fn several_trials_are_appended_together_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trials.ndjson");
    let mut journal = Journal::create(&path).unwrap();
    journal.append_all(&[small(0), small(1)]).unwrap();
    for twice in [[small(2), small(2)], [small(2), small(1)]] {
        let refused = journal.append_all(&twice).unwrap_err();
        assert!(
            matches!(refused, ResultsError::AlreadyFinished { .. }),
            "{refused}"
        );
    }
    journal.append_all(&[]).unwrap();
    journal.append(&small(2)).unwrap();
    assert_eq!(read_all(&path).unwrap(), (0..3).map(small).collect::<Vec<_>>());
}

#[test]
fn a_damaged_line_in_the_middle_is_an_error_that_names_file_line_and_remedy() {
    let (_folder, path, bytes) = three_lines();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1] = "{\"trial\": 1, \"cel";
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let message = Journal::open(&path).unwrap_err().to_string();
    assert!(message.contains("trials.ndjson:2:"), "{message}");
    assert!(message.contains("delete this line"), "{message}");
    assert_eq!(
        fs::read_to_string(&path).unwrap().lines().count(),
        3,
        "nothing is repaired behind our back"
    );
}

#[test]
fn a_line_without_an_end_is_damage_and_no_more_of_it_is_read_than_the_longest_line_has() {
    let (folder, path, _) = three_lines();
    for name in ["plan.toml", "environment.json"] {
        fs::write(folder.path().join(name), "{}").unwrap();
    }
    // Eight gibibytes without a block of their own.
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(8 << 30).unwrap();
    for error in [
        read_all(&path).unwrap_err(),
        Journal::open(&path).unwrap_err(),
        outcrop_results::parquet::compact(folder.path()).unwrap_err(),
    ] {
        let message = error.to_string();
        assert!(message.contains("trials.ndjson:4:"), "{message}");
        assert!(
            message.contains("more than 64 MiB") && message.contains("delete this line"),
            "{message}"
        );
    }
    assert_eq!(file.metadata().unwrap().len(), 8 << 30, "nothing is cut off");
}

#[test]
fn a_finished_trial_is_not_recorded_twice_and_a_failed_one_may_be_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&folder.path().join("trials.ndjson")).unwrap();
    let failed = TrialEntry {
        outcome: Outcome::Failed {
            message: "EIO at 4096".to_owned(),
        },
        ..small(0)
    };
    let interrupted = TrialEntry {
        outcome: Outcome::Interrupted,
        ..small(0)
    };
    journal.append(&failed).unwrap();
    journal.append(&interrupted).unwrap();
    assert!(journal.finished().is_empty());
    journal.append(&small(0)).unwrap();
    let again = journal.append(&small(0)).unwrap_err();
    assert!(
        matches!(again, ResultsError::AlreadyFinished { repetition: 0, .. }),
        "{again}"
    );
    assert_eq!(
        journal.finished().iter().next(),
        Some(&("depth-32".to_owned(), 0))
    );
}

#[test]
fn a_completed_trial_that_a_journal_has_twice_is_damage_with_its_line_and_no_further_repetition() {
    let (_folder, path, bytes) = three_lines();
    let text = String::from_utf8(bytes).unwrap();
    let second = text.lines().nth(1).unwrap();
    fs::write(&path, format!("{text}{second}\n")).unwrap();
    let read = read_all(&path).unwrap_err().to_string();
    let opened = Journal::open(&path).unwrap_err().to_string();
    for message in [read, opened] {
        assert!(
            message.contains("trials.ndjson:4:") && message.contains("already completed on an earlier line"),
            "{message}"
        );
    }
}

#[test]
fn a_value_that_is_not_finite_is_recorded_as_absent_with_the_reason() {
    let entry = trial(1, 0, &[Value::measured(IOPS, f64::NAN)]);
    assert_eq!(entry.values[0].value, None);
    assert_eq!(
        entry.values[0].source.as_deref(),
        Some("not a finite number: NaN")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_trial_survives_the_journal(
        values in prop::collection::vec(crate::samples::any_figure(), 0..6),
        subject in any::<String>(),
        code in any::<Option<String>>(),
        note in any::<String>(),
        seed in any::<u64>(),
        base_ns in 0_u64..1 << 40,
    ) {
        let measurements: Vec<_> = values.iter().map(|value| Value::measured(IOPS, *value)).collect();
        let entry = TrialEntry {
            subject,
            seed,
            notes: vec![Remark { code, text: note }],
            histograms: two_intervals(base_ns, 20),
            ..trial(8, 1, &measurements)
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.ndjson");
        Journal::create(&path).unwrap().append(&entry).unwrap();
        prop_assert_eq!(read_all(&path).unwrap(), vec![entry]);
    }

    #[test]
    fn any_changed_byte_is_noticed(position in any::<prop::sample::Index>(), change in 1_u8..) {
        let (_folder, path, mut bytes) = three_lines();
        let position = position.index(bytes.len());
        let line = 1 + bytes[..position].iter().filter(|byte| **byte == b'\n').count();
        bytes[position] ^= change;
        let is_last = position + 1 == bytes.len();
        prop_assert_eq!(noticed(&path, &bytes), (!is_last).then_some(line));
    }

    #[test]
    fn arbitrary_bytes_are_no_journal_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.ndjson");
        fs::write(&path, &bytes).unwrap();
        let has_line = bytes.contains(&b'\n');
        prop_assert_eq!(read_all(&path).is_err(), has_line);
    }
}

/// What a trial is made impossible by, and a word of what is said of it.
type Damage = (fn(&mut TrialEntry), &'static str);

#[test]
fn times_and_counts_that_no_trial_has_are_damage_that_is_named_with_its_line() {
    let damages: [Damage; 15] = [
        (|trial| trial.histograms[1].start_s = 1e3, "start of an interval"),
        (|trial| trial.histograms[1].start_s = 1e15, "start of an interval"),
        (|trial| trial.histograms[1].start_s = -1.0, "start of an interval"),
        (
            |trial| trial.histograms[1].duration_s = 1e9,
            "length of an interval",
        ),
        (
            |trial| trial.histograms[1].count = u64::MAX,
            "count of operations",
        ),
        (
            |trial| trial.histograms[1].interval_index = u32::MAX,
            "interval number",
        ),
        (|trial| trial.duration_s = 1e9, "duration"),
        (|trial| trial.duration_s = -1.0, "duration"),
        (|trial| trial.took_s = Some(1e15), "time in all"),
        (|trial| trial.took_s = Some(-1e-9), "time in all"),
        (|trial| trial.others_cpu_share = Some(2.0), "share of CPUs"),
        (|trial| trial.repetition = u32::MAX, "repetition number"),
        (|trial| trial.trial = u32::MAX, "trial number"),
        (|trial| trial.values[0].value = Some(1e31), "figure of 1e31"),
        (|trial| trial.values[0].value = Some(-5.0), "expected 0 or more"),
    ];
    let usual = |repetition| TrialEntry {
        histograms: two_intervals(1000, 50),
        took_s: Some(2.0),
        ..small(repetition)
    };
    for (damage, says) in damages {
        let folder = folder_in_memory();
        let path = folder.path().join("trials.ndjson");
        let mut journal = Journal::create(&path).unwrap();
        journal.append(&usual(0)).unwrap();
        let mut entry = usual(1);
        damage(&mut entry);
        journal.append(&entry).unwrap();
        drop(journal);
        let said = read_all(&path).unwrap_err().to_string();
        assert!(said.contains("trials.ndjson:2: "), "{said}");
        assert!(said.contains(says) && said.contains("is impossible"), "{said}");
        let opened = Journal::open(&path).unwrap_err().to_string();
        assert_eq!(opened, said);
    }
}

#[test]
fn an_interval_of_what_an_open_loop_answers_late_may_begin_behind_the_duration() {
    let mut late = small(0);
    late.histograms = two_intervals(1000, 50);
    late.duration_s = 30.0;
    late.histograms[1].start_s = 129.0;
    assert_eq!(late.check(), Ok(()));
    late.histograms[1].start_s = 5_000.0;
    assert!(late.check().is_err());
    // It took so long in all.
    late.took_s = Some(5_100.0);
    assert_eq!(late.check(), Ok(()));
}
