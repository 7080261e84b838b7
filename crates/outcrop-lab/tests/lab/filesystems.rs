//! The filesystem layer: real filesystems under small plans, and what its plans may say.

use std::sync::atomic::AtomicBool;

use outcrop_lab::{Event, LabError, execute};
use outcrop_measure::units::ByteSize;
use outcrop_results::TrialEntry;
use outcrop_schema::filesystem::{ABSENT, OPTIONS};

use crate::scene::{
    assert_complete, assert_empty, directory, factor, plan_set, run_to_the_end, start, try_plan_set,
};

const PLAN: &str = r#"
name = "filesystems"
question = "Do filesystems go through the lab?"
layer = "filesystem"

[subject]
sample_size = "16MiB"

[factors]
filesystem = ["ext4", "btrfs", "btrfs zstd:3", "squashfs zstd:3 16KiB"]

[trial]
repetitions = 1
warm_up = "0s"
duration = "60ms"
"#;

fn value(entry: &TrialEntry, metric: &str) -> Option<f64> {
    let found = entry.values.iter().find(|value| value.metric == metric);
    found.and_then(|value| value.value)
}

fn refusal(changes: &[(&str, &str)]) -> String {
    let mut text = PLAN.to_owned();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    match try_plan_set(&text, directory().path()) {
        Err(LabError::BadPlan { at, message }) => format!("{at} {message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn filesystems_are_made_read_cold_and_forgotten() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(PLAN, data.path());
    assert_eq!(set.cells().len(), 4);
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    assert_empty(data.path());
    for entry in assert_complete(&set, &folder) {
        if let Some(absent) = entry.notes.iter().find(|note| ABSENT.is_kind_of(note)) {
            println!("skipped: {:?}: {}", entry.factors, absent.text);
            continue;
        }
        let number =
            |metric: &str| value(&entry, metric).unwrap_or_else(|| panic!("{metric}: {:?}", entry.values));
        assert_eq!(number("pages_cached_before"), 0.0);
        let compression = &entry.factors["compression"];
        let is_btrfs = entry.factors["filesystem"] == "btrfs";
        if compression == "none" {
            assert!(
                (0.9..1.3).contains(&number("read_amplification")),
                "{:?}",
                entry.factors
            );
            assert_eq!(number("compressed_share"), 0.0);
        } else {
            assert!(number("read_amplification") > 1.5 && number("space_ratio") > 1.2);
        }
        assert!(number("cpu_per_operation") > number("process_cpu_per_operation"));
        let has_prediction = value(&entry, "predicted_latency").is_some();
        assert_eq!(
            has_prediction,
            is_btrfs && compression != "none",
            "{:?}",
            entry.notes
        );
        if has_prediction {
            let quotient = number("data_ratio") / number("predicted_space");
            assert!((quotient - 1.0).abs() < 0.001, "{quotient}");
        }
        let options = entry.notes.iter().find(|note| OPTIONS.is_kind_of(note)).unwrap();
        assert!(!is_btrfs || compression == "none" || options.text.contains("compress-force=zstd:3"));
    }
}

#[test]
fn one_word_and_several_factors_make_the_same_cell() {
    let data = directory();
    let words = plan_set(PLAN, data.path());
    let factors = PLAN.replace(
        r#"["ext4", "btrfs", "btrfs zstd:3", "squashfs zstd:3 16KiB"]"#,
        "[\"btrfs\"]\ncompression = [\"none\", \"zstd:3\"]\nsync = [\"end\", \"each:1\"]",
    );
    let factors = plan_set(&factors, data.path());
    // A read syncs nothing: both values of `sync` are one cell.
    assert_eq!(factors.cells().len(), 2);
    let ids = |set: &outcrop_lab::PlanSet| -> Vec<String> {
        let btrfs = set
            .cells()
            .iter()
            .filter(|cell| factor(cell, "filesystem") == "btrfs");
        let mut ids: Vec<String> = btrfs.map(|cell| cell.id.clone()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&words), ids(&factors));
}

#[test]
fn what_cannot_be_measured_is_refused_with_the_line_at_fault() {
    let refused = refusal(&[("btrfs zstd:3", "btrfs zstd:99")]);
    assert!(refused.contains("-15 to 15"), "{refused}");
    let refused = refusal(&[("\"ext4\"", "\"ext4 zstd:3\"")]);
    assert!(refused.contains("ext4 does not compress"), "{refused}");
    let refused = refusal(&[("btrfs zstd:3", "btrfs lz4")]);
    assert!(refused.contains("zstd, zlib, lzo"), "{refused}");
    let block = |size: &str| {
        format!("[workload]\nio_block_size = \"{size}\"\noperation = \"sequential-read\"\n[factors]")
    };
    let refused = refusal(&[("[factors]", &block("50MB"))]);
    assert!(
        refused.contains(
            "50MB is not a valid block size; give a multiple of 512 B, at most 64MiB, such as 50MiB"
        ),
        "{refused}"
    );
    let refused = refusal(&[("[factors]", &block("1000B"))]);
    assert!(refused.ends_with("such as 4KiB"), "{refused}");
    let refused = refusal(&[("16MiB", "1MiB")]);
    assert!(refused.contains("100 extents"), "{refused}");
    let only = r#"["ext4", "btrfs", "btrfs zstd:3", "squashfs zstd:3 16KiB"]"#;
    let refused = refusal(&[(only, "[\"btrfs zstd:3\"]\nchecksum = [\"none\"]")]);
    assert!(refused.contains("compresses nothing"), "{refused}");
    let refused = refusal(&[("[factors]", "[workload]\noperation = \"overwrite\"\n[factors]")]);
    assert!(refused.contains("squashfs is built once"), "{refused}");
    let refused = refusal(&[(
        "sample_size = \"16MiB\"",
        "sample_size = \"16MiB\"\nkind = \"directory\"",
    )]);
    assert!(refused.contains("needs `path`"), "{refused}");
}

/// The plan with other filesystems, and an operation.
fn plan_of(filesystems: &str, operation: &str) -> String {
    let all = r#"["ext4", "btrfs", "btrfs zstd:3", "squashfs zstd:3 16KiB"]"#;
    assert!(PLAN.contains(all));
    let plan = PLAN.replace(all, filesystems);
    plan.replace(
        "[trial]",
        &format!("[workload]\noperation = \"{operation}\"\n\n[trial]"),
    )
}

/// Bytes of the plan's files.
const DATA_BYTES: u64 = 16 << 20;

#[test]
fn what_a_trial_writes_is_counted_once_and_with_what_its_prediction_needs() {
    // Appending is writing the files, and nothing after it; a prediction needs two trials without compression.
    for (filesystem, operation, others_bytes) in [
        ("[\"ext4\"]", "append", 0),
        ("[\"btrfs zstd:3\"]", "random-read", 2 * DATA_BYTES),
    ] {
        let (runs, data) = (directory(), directory());
        let set = plan_set(&plan_of(filesystem, operation), data.path());
        let mut folder = start(&set, runs.path());
        let outcome = run_to_the_end(&set, &mut folder).unwrap();
        let entry = assert_complete(&set, &folder).remove(0);
        if let Some(absent) = entry.notes.iter().find(|note| ABSENT.is_kind_of(note)) {
            println!("skipped: {filesystem}: {}", absent.text);
            continue;
        }
        let in_files = value(&entry, "write_amplification").unwrap() * value(&entry, "file_bytes").unwrap();
        let in_trials = outcome.bytes_written - outcrop_filesystem::image_bytes(DATA_BYTES);
        let needed = in_files as u64 + others_bytes;
        // The rest is metadata of mounts.
        assert!(
            (needed..needed + needed / 2).contains(&in_trials),
            "{filesystem} {operation}: {in_trials}, at least {needed}"
        );
        let forecast = set.estimate().bytes_written();
        assert!(
            outcome.bytes_written <= forecast,
            "{} of {forecast}",
            outcome.bytes_written
        );
    }
}

#[test]
fn a_trial_whose_prediction_would_write_more_than_may_be_written_is_not_started() {
    let (runs, data) = (directory(), directory());
    let limit = outcrop_filesystem::image_bytes(DATA_BYTES) + 3 * DATA_BYTES;
    let set = plan_set(&plan_of("[\"btrfs zstd:3\"]", "random-read"), data.path());
    let set = set.with_max_written(Some(ByteSize(limit)));
    let mut folder = start(&set, runs.path());
    let mut told = Vec::new();
    let mut observer = |event: Event<'_>| {
        if let Event::Warning(text) = event {
            told.push(text.to_owned());
        }
    };
    let outcome = execute(&set, &mut folder, &mut observer, &AtomicBool::new(false)).unwrap();
    let entries = folder.trials().unwrap();
    let mut notes = entries.iter().flat_map(|entry| &entry.notes);
    if let Some(absent) = notes.find(|note| ABSENT.is_kind_of(note)) {
        println!("skipped: btrfs zstd:3: {}", absent.text);
        return;
    }
    assert!(outcome.is_interrupted && outcome.bytes_written <= limit);
    assert!(told.iter().any(|text| text.contains("--max-written")), "{told:?}");
}

#[test]
fn an_image_for_databases_has_room_for_what_a_tree_keeps_and_not_for_every_update_of_a_run() {
    // Twenty threads would write 28 GB of updates at the speed of a usual engine.
    const STORES: &str = r#"
name = "stores"
question = "How large is the file that their filesystems are made in?"
layer = "kv"

[workload]
engine = "rocksdb"
workload = "ycsb-a"
request_distribution = "uniform"
records = 2000000
threads = 10
processes = 2
filesystem = "ext4"

[factors]
compression = ["none", "zlib"]

[trial]
repetitions = 1
warm_up = "5s"
duration = "30s"
"#;
    let set = plan_set(STORES, directory().path());
    let bytes = set.estimate().bytes_written_preparing;
    let records = 2 * 2_000_000 * 1024;
    assert!(bytes > 3 * records && bytes < 5 * records, "{bytes}");
}
