//! What `outcrop kv` says of settings that an engine lacks, of an engine that is not here, and of operations besides reads.

use serde_json::Value;

use crate::harness::{Seen, command, names_in, outcrop, workplace};
use crate::kv::{self, cells};

/// The arguments of a run that is not kept.
pub(crate) fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    kv::arguments(&[&["--no-save"], more].concat())
}

#[test]
fn a_setting_that_no_chosen_engine_has_is_refused_with_the_engine_and_what_to_type() {
    let dir = workplace();
    for (engine, flag, value, has) in [
        ("redb", "--compression", "lz4", "fjall or rocksdb"),
        ("redb", "--block-size", "16KiB", "fjall or rocksdb"),
        ("redb", "--bloom-bits", "5", "fjall or rocksdb"),
        ("redb", "--write-buffer", "1MiB", "fjall or rocksdb"),
        ("redb", "--level-codecs", "none/lz4", "fjall or rocksdb"),
        ("redb", "--io", "direct", "rocksdb"),
        ("redb", "--compaction", "universal", "rocksdb"),
        ("fjall", "--io", "direct", "rocksdb"),
        ("fjall", "--dictionary", "4KiB", "rocksdb"),
        ("fjall", "--compaction", "universal", "rocksdb"),
        ("fjall", "--bottommost", "zstd:3", "rocksdb"),
        ("none", "--block-cache", "1MiB", "fjall or rocksdb or redb"),
    ] {
        let seen = outcrop(dir.path(), &arguments(&["--engine", engine, flag, value]));
        assert_eq!(seen.code, Some(2), "{engine} {flag}: {seen:?}");
        let words = format!("{flag}: {engine} has no such setting; leave it out, or use the engine {has}");
        assert!(seen.stderr.contains(&words), "{words}: {}", seen.stderr);
    }
    let seen = outcrop(
        dir.path(),
        &arguments(&["--engine", "fjall,redb", "--io", "direct"]),
    );
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(
        seen.stderr.contains("fjall and redb have no such setting"),
        "{}",
        seen.stderr
    );
    assert!(names_in(dir.path()).is_empty(), "nothing was begun");
}

#[test]
fn what_an_engine_does_anyway_may_be_typed_and_defaults_ask_for_nothing() {
    let dir = workplace();
    for args in [
        &[
            "--engine",
            "redb",
            "--compression",
            "none",
            "--io",
            "buffered",
            "--dictionary",
            "0",
        ][..],
        &["--engine", "fjall", "--compaction", "leveled", "--io", "buffered"],
        &["--engine", "redb"],
    ] {
        let seen = outcrop(dir.path(), &arguments(&[args, &["--dry-run"]].concat()));
        assert_eq!(seen.code, Some(0), "{args:?}: {seen:?}");
    }
}

#[test]
fn of_several_engines_those_that_lack_a_setting_are_measured_without_it_or_recorded_as_not_measured() {
    let dir = workplace();
    let args = [
        "--engine",
        "fjall,redb",
        "--block-size",
        "16KiB",
        "--format",
        "json",
    ];
    let seen = outcrop(dir.path(), &arguments(&args));
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let note = "note: redb has no compression block size: its cells are measured without";
    assert!(seen.stderr.contains(note), "{}", seen.stderr);
    for cell in cells(&seen) {
        let is_of_redb = cell["factors"]["engine"] == "redb";
        assert!(cell["metrics"]["throughput"]["value"].is_number(), "{cell}");
        assert_eq!(
            cell["factors"]["compression_block_size_bytes"].is_null(),
            is_of_redb,
            "{cell}"
        );
    }
    // RocksDB has direct I/O. Where it is missing its cell is not measured, and fjall's is not in any case.
    let args = [
        "--engine",
        "fjall,rocksdb",
        "--io",
        "buffered,direct",
        "--format",
        "json",
    ];
    let seen = outcrop(dir.path(), &arguments(&args));
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let of_fjall: Vec<Value> = cells(&seen)
        .into_iter()
        .filter(|cell| cell["factors"]["engine"] == "fjall")
        .collect();
    assert_eq!(of_fjall.len(), 2, "{}", seen.stdout);
    for cell in of_fjall {
        let throughput = &cell["metrics"]["throughput"];
        match cell["factors"]["store_io"] == "direct" {
            true => assert!(
                throughput["unavailable"]
                    .to_string()
                    .contains("rocksdb has direct I/O"),
                "{cell}"
            ),
            false => assert!(throughput["value"].is_number(), "{cell}"),
        }
    }
}

#[test]
fn an_only_engine_that_is_not_here_is_an_error_of_one_sentence_that_names_the_package() {
    let dir = workplace();
    for library in ["/nonexistent/librocksdb.so", env!("CARGO_BIN_EXE_outcrop")] {
        let seen: Seen = command(dir.path(), &arguments(&["--engine", "rocksdb"]))
            .env("OUTCROP_ROCKSDB_LIB", library)
            .output()
            .unwrap()
            .into();
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert_eq!(
            seen.stderr.matches("librocksdb-dev").count(),
            1,
            "{}",
            seen.stderr
        );
        assert_eq!(seen.stdout, "", "nothing was measured");
    }
}

#[test]
fn tables_have_the_latency_of_each_operation_that_the_workload_has() {
    let dir = workplace();
    for (workload, has, lacks) in [
        ("ycsb-e", ["insert p99", "scan p99"], "read-modify-write p99"),
        ("ycsb-f", ["read-modify-write p99", "read p99"], "scan p99"),
    ] {
        let seen = outcrop(dir.path(), &arguments(&["--workload", workload]));
        assert_eq!(seen.code, Some(0), "{seen:?}");
        for heading in has {
            assert!(seen.stdout.contains(heading), "{workload}: {}", seen.stdout);
        }
        assert!(!seen.stdout.contains(lacks), "{workload}: {}", seen.stdout);
    }
    let args = ["--workload", "ycsb-e", "--format", "csv"];
    let seen = outcrop(dir.path(), &arguments(&args));
    for column in [
        "scan_latency_p99",
        "insert_latency_p99",
        "write_amplification_engine",
    ] {
        assert!(seen.stdout.contains(column), "{column}: {}", seen.stdout);
    }
}

#[test]
fn cells_that_cannot_be_measured_are_named_before_a_run_and_not_counted() {
    let dir = workplace();
    let dry_run = |more: &[&str]| {
        let args = [
            "--engine",
            "fjall,rocksdb",
            "--compression",
            "lz4,zstd:3",
            "--dry-run",
        ];
        let seen = outcrop(dir.path(), &arguments(&[&args, more].concat()));
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen.stdout
    };
    let plan: Value = serde_json::from_str(&dry_run(&["--format", "json"])).unwrap();
    let rows = plan["rows"].as_array().unwrap();
    let hindered = |engine: &str, codec: &str| -> Vec<bool> {
        let is_its =
            |row: &&Value| row["factors"]["engine"] == engine && row["factors"]["compression"] == codec;
        rows.iter()
            .filter(is_its)
            .map(|row| row["hindrance"].is_string())
            .collect()
    };
    assert!(!hindered("fjall", "zstd:3").is_empty() && hindered("fjall", "zstd:3").iter().all(|is| *is));
    assert!(!hindered("fjall", "lz4").is_empty() && !hindered("fjall", "lz4").iter().any(|is| *is));
    let repetitions = |row: &&Value| row["hindrance"].is_null();
    let counted: u64 = rows
        .iter()
        .filter(repetitions)
        .map(|row| row["repetitions"].as_u64().unwrap())
        .sum();
    assert_eq!(plan["details"]["trials"], counted, "{plan}");
    let text = dry_run(&[]);
    assert!(
        text.contains(" cannot be measured on this machine (") && text.contains("fjall has none and lz4"),
        "{text}"
    );
    // The head of the table and the estimate below it count the same cells.
    let measured = rows.iter().filter(repetitions).count();
    let cells = if measured == 1 { "cell" } else { "cells" };
    assert_eq!(
        text.matches(&format!("{measured} {cells}, ")).count(),
        2,
        "{text}"
    );
}

#[test]
fn limits_on_the_answer_are_given_to_the_command_that_measures() {
    let dir = workplace();
    let args = [
        "--compression",
        "none,lz4",
        "--min-ratio",
        "2",
        "--dry-run",
        "--format",
        "json",
    ];
    let seen = outcrop(dir.path(), &arguments(&args));
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let plan: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert!(
        plan["details"]["plan"]
            .as_str()
            .unwrap()
            .contains("min_ratio = \"2\""),
        "{plan}"
    );
    let seen = outcrop(dir.path(), &arguments(&["--max-written", "1MB", "--dry-run"]));
    let sentence = seen.sentence();
    assert!(
        seen.code == Some(2) && sentence.contains("--records") && !sentence.contains("--size"),
        "{seen:?}"
    );
}

#[test]
fn what_a_write_must_reach_is_refused_where_no_engine_has_it_and_else_its_cells_say_why_they_are_not_measured()
 {
    let dir = workplace();
    for (engine, durability, has) in [
        ("fjall", "unlogged", "fjall supports logged and synced"),
        ("redb", "logged", "redb supports unlogged and synced"),
    ] {
        let args = ["--engine", engine, "--durability", durability];
        let seen = outcrop(dir.path(), &arguments(&args));
        assert_eq!(seen.code, Some(2), "{seen:?}");
        let words = format!("--durability: the engine does not have writes that are {durability}: {has}");
        assert!(seen.stderr.contains(&words), "{words}: {}", seen.stderr);
    }
    let args = [
        "--engine",
        "fjall,redb",
        "--durability",
        "logged,unlogged",
        "--format",
        "json",
    ];
    let seen = outcrop(dir.path(), &arguments(&args));
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let cells = cells(&seen);
    assert_eq!(cells.len(), 4, "{}", seen.stdout);
    for cell in cells {
        let throughput = &cell["metrics"]["throughput"];
        let factors = &cell["factors"];
        let why = match (factors["engine"].as_str(), factors["durability"].as_str()) {
            (Some("fjall"), Some("unlogged")) => {
                "durability unlogged is not available: fjall always writes its log"
            }
            (Some("redb"), Some("logged")) => "durability logged is not available: redb has no log",
            _ => {
                assert!(throughput["value"].is_number(), "{cell}");
                continue;
            }
        };
        assert!(throughput["unavailable"].to_string().contains(why), "{cell}");
    }
}

#[test]
fn a_value_out_of_range_is_refused_in_words_that_people_use() {
    let dir = workplace();
    for (flag, value, words) in [
        (
            "--block-size",
            "3B",
            "--block-size: the block size is 3 B; expected 1 KiB to 1 MiB",
        ),
        (
            "--write-buffer",
            "1KiB",
            "the write buffer is 1 KiB; expected 64 KiB or more",
        ),
        (
            "--dictionary",
            "2MiB",
            "the dictionary is 2 MiB; expected at most 1 MiB",
        ),
        (
            "--memory-limit",
            "1MiB",
            "the memory limit is 1 MiB; expected 16 MiB or more",
        ),
    ] {
        let args = ["--engine", "rocksdb", flag, value];
        let seen = outcrop(dir.path(), &arguments(&args));
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.stderr.contains(words), "{words}: {}", seen.stderr);
    }
}

#[test]
fn a_plan_for_an_engine_without_blocks_is_told_that_its_codec_has_no_effect() {
    let dir = workplace();
    let plan = |workload: &str| {
        let plan = format!(
            "name = \"mine\"\nquestion = \"How fast?\"\nlayer = \"kv\"\n\n[workload]\nengine = \"redb\"\n{workload}\n"
        );
        std::fs::write(dir.path().join("mine.toml"), plan).unwrap();
        outcrop(dir.path(), &["run", "mine.toml", "--dry-run"])
    };
    // The default, written down.
    let seen = plan("compression = \"lz4\"");
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let note = "note: redb has no compression: its cells are measured without";
    assert!(seen.stderr.contains(note), "{}", seen.stderr);
    let seen = plan("");
    assert!(!seen.stderr.contains("redb has no"), "{}", seen.stderr);
    let seen = plan("compression = \"zstd:3\"");
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(
        seen.stderr.contains("redb has no such setting"),
        "{}",
        seen.stderr
    );
}

#[test]
fn the_content_of_values_can_be_chosen_where_data_are_named_as_generated() {
    let dir = workplace();
    let args = ["--data", "generated", "--content", "zeros", "--dry-run"];
    let seen = outcrop(dir.path(), &arguments(&args));
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("content zeros"), "{seen:?}");
}

#[test]
fn values_are_cut_from_few_data_and_too_few_are_refused_with_what_is_needed() {
    let dir = workplace();
    std::fs::write(dir.path().join("few"), "few words, again and again ".repeat(80)).unwrap();
    let args = ["--data", "few", "--format", "json"];
    let seen = outcrop(dir.path(), &arguments(&args));
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(cells(&seen)[0]["metrics"]["throughput"]["value"].is_number());
    std::fs::write(dir.path().join("fewer"), "few words, again and again ".repeat(10)).unwrap();
    let seen = outcrop(dir.path(), &arguments(&["--data", "fewer"]));
    assert_eq!(seen.code, Some(2), "{seen:?}");
    for words in [
        "fewer has 270 B",
        "values of up to 1.00 kB",
        "--value-size fixed:100B",
    ] {
        assert!(seen.stderr.contains(words), "{words}: {}", seen.stderr);
    }
    assert!(!seen.stderr.contains("block"), "{}", seen.stderr);
    let args = [
        "--data",
        "fewer",
        "--value-size",
        "fixed:100B",
        "--format",
        "json",
    ];
    let seen = outcrop(dir.path(), &arguments(&args));
    assert_eq!(seen.code, Some(0), "{seen:?}");
}

#[test]
fn a_mix_of_operations_with_commas_is_not_taken_for_several_workloads() {
    let dir = workplace();
    let dry = |mix: &str| outcrop(dir.path(), &arguments(&["--workload", mix, "--dry-run"]));
    for mix in [
        "read:95,insert:5",
        "ycsb-a,update:50",
        "read:50,update:50",
        "read:1",
    ] {
        let seen = dry(mix);
        assert_eq!(seen.code, Some(2), "{mix}: {seen:?}");
        for says in [
            "--workload",
            "if it is part of a mix, join the parts with `+`",
            "read:95+insert:5",
        ] {
            assert!(seen.sentence().contains(says), "{mix}, {says}: {seen:?}");
        }
    }
    let seen = dry("read:50/update:50");
    assert!(seen.sentence().contains("`read:50+update:50`"), "{seen:?}");
    // One mix, two workloads of one operation each, and one of another word.
    for (mix, count) in [
        ("read:95+insert:5", "1 cell"),
        ("read:100,insert:100", "2 cells"),
        ("ycsb-a,update:100", "2 cells"),
    ] {
        let seen = dry(mix);
        assert_eq!(seen.code, Some(0), "{mix}: {seen:?}");
        assert!(seen.stdout.contains(count), "{mix}: {seen:?}");
    }
}
