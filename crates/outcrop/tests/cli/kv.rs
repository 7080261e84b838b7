//! `outcrop kv` and its plans: tables, reports, and what is missing on a machine.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use outcrop_workload::store::StoreEngine;
use serde_json::Value;

use crate::harness::{Seen, command, names_in, only_run, outcrop, workplace};

/// `outcrop kv` with trials that are over soon.
pub(crate) fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let short = [
        "kv",
        "--records",
        "3000",
        "--warm-up",
        "10ms",
        "--duration",
        "150ms",
        "--repetitions",
        "3",
        "--quiet",
    ];
    [&short, more].concat()
}

pub(crate) fn kv(dir: &Path, more: &[&str]) -> Seen {
    outcrop(dir, &arguments(&[&["--format", "json"], more].concat()))
}

/// The cells of a command's JSON.
pub(crate) fn cells(seen: &Seen) -> Vec<Value> {
    let envelope: Value =
        serde_json::from_str(&seen.stdout).unwrap_or_else(|error| panic!("{error}: {seen:?}"));
    envelope["cells"].as_array().cloned().unwrap_or_default()
}

pub(crate) fn metric(cell: &Value, name: &str) -> Option<f64> {
    cell["metrics"][name]["value"].as_f64()
}

pub(crate) fn has_rocksdb() -> bool {
    is_here(StoreEngine::RocksDb)
}

/// Whether this machine has an engine; that it has not is said.
pub(crate) fn is_here(engine: StoreEngine) -> bool {
    let found = outcrop_kv::engine::find(engine);
    if let Err(why) = &found {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "skipped: {engine}: {why}");
    }
    found.is_ok()
}

#[test]
fn every_engine_has_a_row_with_speed_space_and_amplification() {
    let dir = workplace();
    let seen = kv(dir.path(), &["--engine", "fjall,redb", "--workload", "ycsb-a"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let cells = cells(&seen);
    assert_eq!(cells.len(), 2, "{}", seen.stdout);
    for cell in &cells {
        for name in [
            "throughput",
            "load_throughput",
            "space_amplification",
            "cpu_per_operation",
        ] {
            assert!(
                metric(cell, name).is_some_and(|value| value > 0.0),
                "{name}: {cell}"
            );
        }
    }
    assert_eq!(names_in(dir.path()), ["runs"]);
    let report = std::fs::read_to_string(only_run(dir.path()).join("report.html")).unwrap();
    for words in [
        "Highest throughput, closed loop",
        "Throughput over time",
        "Compaction debt",
    ] {
        assert!(report.contains(words), "no {words:?}");
    }
}

#[test]
fn a_shipped_plan_runs_and_its_report_compares_codecs() {
    let dir = workplace();
    let seen = outcrop(
        dir.path(),
        &[
            "run",
            "kv-compression",
            "--effort",
            "quick",
            "--duration",
            "120ms",
            "--warm-up",
            "10ms",
            "--quiet",
        ],
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("Compress blocks"), "{}", seen.stdout);
    let names = names_in(&only_run(dir.path()).join("figures"));
    for figure in ["kv-codec-throughput", "kv-space", "kv-over-time"] {
        assert!(
            names.iter().any(|name| name.starts_with(figure)),
            "{figure}: {names:?}"
        );
    }
}

#[test]
fn where_to_compress_is_measured_on_filesystems_of_our_own_of_which_nothing_is_left() {
    let dir = workplace();
    let seen = outcrop(
        dir.path(),
        &[
            "run",
            "placement",
            "placement-filesystem",
            "--effort",
            "quick",
            "--duration",
            "120ms",
            "--warm-up",
            "10ms",
            "--quiet",
            "--format",
            "json",
        ],
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let stored = |filesystem: &str| {
        let all = cells(&seen);
        let is_it = |cell: &&Value| {
            let factors = &cell["factors"];
            factors["filesystem"] == filesystem && factors["compression"] == "none"
        };
        let cell = all
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("no cell on {filesystem}"));
        metric(cell, "stored_bytes").unwrap()
    };
    // The values are compressible by half, so that space in use shows what the filesystem did.
    let (plain, compressed) = (stored("btrfs"), stored("btrfs zstd:1"));
    assert!(compressed < 0.7 * plain, "{compressed} of {plain}");
    assert!((plain / stored("ext4") - 1.0).abs() < 0.2, "{plain}");
    let envelope: Value = serde_json::from_str(&seen.stdout).unwrap();
    let placement = &envelope["details"]["placement"];
    let advice = &envelope["advice"][0];
    assert_eq!(advice["topic"], "Where to compress", "{advice}");
    assert_eq!(advice["brief"], placement["answer"][0]);
    let places: Vec<&str> = placement["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|candidate| candidate["place"].as_str())
        .collect();
    for place in ["nowhere", "store", "filesystem"] {
        assert!(places.contains(&place), "{places:?}");
    }
    assert_eq!(names_in(dir.path()), ["runs"]);
    let report = std::fs::read_to_string(only_run(dir.path()).join("report.html")).unwrap();
    assert!(report.contains("Where to compress"));
    limits_and_prices_change_the_answer(dir.path());
}

/// Of the run in a directory, without measuring anything.
fn limits_and_prices_change_the_answer(dir: &Path) {
    let run = only_run(dir);
    let again = |more: &[&str]| outcrop(dir, &[&["report", run.to_str().unwrap()], more].concat());
    let much = again(&["--min-ratio", "99"]);
    assert!(
        much.stdout
            .contains("None of the cells compared meets the limits given for this report (--min-ratio 99)"),
        "{much:?}"
    );
    let prices = "currency = \"EUR\"\ncpu_hour = 0.04\ngb_month = 0.08\ndata = \"2TB\"\noperations_per_second = 20000\n";
    std::fs::write(dir.join("prices.toml"), prices).unwrap();
    let paid = again(&["--prices", "prices.toml", "--format", "json"]);
    assert!(
        paid.stdout.contains("At the prices given for this report")
            && paid.stdout.contains("the cheapest is"),
        "{paid:?}"
    );
    for (arguments, words) in [
        (["--prices", "none.toml"], "cannot read none.toml"),
        (["--min-ratio", "0"], "is not a ratio"),
        (["--cpu-share", "120%"], "is not a share"),
    ] {
        let refused = again(&arguments);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
}

#[test]
fn a_filesystem_that_cannot_hold_databases_is_refused_in_a_sentence() {
    let dir = workplace();
    let seen = kv(dir.path(), &["--filesystem", "squashfs"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.stderr.contains("cannot be written"), "{}", seen.stderr);
    let seen = kv(dir.path(), &["--filesystem", "ntfs"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.stderr.contains("as-is"), "{}", seen.stderr);
}

#[test]
fn values_are_cut_from_a_users_files_which_stay_as_they_are() {
    let dir = workplace();
    let data = dir.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let text = "a line of text that repeats itself, as text does\n".repeat(4000);
    std::fs::write(data.join("text"), &text).unwrap();
    let seen = kv(dir.path(), &["--data", "data", "--compression", "none,lz4"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let ratios: Vec<f64> = cells(&seen)
        .iter()
        .filter_map(|cell| metric(cell, "stored_ratio"))
        .collect();
    assert!(ratios.len() == 2 && ratios[1] > 1.5 * ratios[0], "{ratios:?}");
    assert_eq!(std::fs::read_to_string(data.join("text")).unwrap(), text);
    assert_eq!(names_in(&data), ["text"]);
}

#[test]
fn codecs_take_the_order_in_space_that_the_codec_layer_gives_them() {
    if !has_rocksdb() {
        return;
    }
    let dir = workplace();
    // Text, whose codecs differ by far more than the sizes of two databases do.
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let data = ["--data", sources, "--block-size", "16KiB", "--no-save"];
    let compression = "none,snappy,lz4,lz4hc:9,zlib:6,zstd:1,zstd:9";
    let seen = kv(
        dir.path(),
        &[&["--engine", "rocksdb", "--compression", compression], &data[..]].concat(),
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let stored = ratios(&cells(&seen), "compression", "stored_ratio");
    let mut args = vec![
        "codec",
        "--codec",
        "snappy,lz4,lz4hc:9,deflate-zlib:6,zstd:1,zstd:9",
    ];
    args.extend(["--duration", "10ms", "--warm-up", "1ms"]);
    args.extend(["--repetitions", "3", "--quiet", "--format", "json"]);
    args.extend(data);
    let mut blocks = ratios(&cells(&outcrop(dir.path(), &args)), "codec", "compression_ratio");
    blocks.insert("none".to_owned(), 1.0);
    let of_blocks = |codec: &str| blocks[&codec.replace("zlib", "deflate-zlib")];
    let mut compared = 0;
    for one in stored.keys() {
        for other in stored.keys() {
            // Closer than 5 % may be a tie: a block of a database has records of many places, and their keys.
            if of_blocks(one) < of_blocks(other) * 0.95 {
                compared += 1;
                assert!(
                    stored[one] < stored[other],
                    "{one} {other}: {stored:?} {blocks:?}"
                );
            }
        }
    }
    assert_eq!(stored.len(), 7, "{stored:?}");
    assert!(compared >= 12, "{compared}: {blocks:?}");
}

/// A metric of each cell by the value of a factor.
fn ratios(cells: &[Value], factor: &str, name: &str) -> BTreeMap<String, f64> {
    let of = |cell: &Value| Some((cell["factors"][factor].as_str()?.to_owned(), metric(cell, name)?));
    cells.iter().filter_map(of).collect()
}

#[test]
fn an_engine_that_is_not_here_is_not_measured_and_says_what_to_install() {
    let dir = workplace();
    for (library, words) in [
        ("/nonexistent/librocksdb.so", "which is not a file"),
        (env!("CARGO_BIN_EXE_outcrop"), "cannot open"),
    ] {
        let args = ["--format", "json", "--engine", "rocksdb,fjall", "--no-save"];
        let seen: Seen = command(dir.path(), &arguments(&args))
            .env("OUTCROP_ROCKSDB_LIB", library)
            .output()
            .unwrap()
            .into();
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let (absent, present): (Vec<_>, Vec<_>) = cells(&seen)
            .into_iter()
            .partition(|cell| cell["factors"]["engine"] == "rocksdb");
        assert!(metric(&present[0], "throughput").is_some(), "{}", seen.stdout);
        let why = absent[0]["metrics"]["throughput"]["unavailable"].to_string();
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn a_dry_run_warns_of_databases_and_caches_that_do_not_fit() {
    let dir = workplace();
    let dry = |args: &[&str]| {
        let seen = kv(dir.path(), &[args, &["--dry-run"]].concat());
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen.stderr
    };
    // A petabyte, and a terabyte for each of a thousand processes.
    let on_disk = dry(&["--records", "1000G"]);
    assert!(
        on_disk.contains("warning: a trial (") && on_disk.contains(" stores 1.02 PB before compression"),
        "{on_disk}"
    );
    assert!(on_disk.contains("give fewer records"), "{on_disk}");
    let in_memory = dry(&["--processes", "1000", "--records", "10", "--block-cache", "1TiB"]);
    assert!(
        in_memory.contains("warning: caches, write buffers and records in memory of a trial (")
            && in_memory.contains("may take 1.10 PB"),
        "{in_memory}"
    );
    assert_eq!(dry(&["--records", "10"]), "");
    // It keeps nothing.
    assert_eq!(dry(&["--engine", "none", "--records", "1000000000000"]), "");
    // Servers keep all in memory, and Redis a log on the disk too unless it is told to keep none.
    for (engine, durability, has_files) in [
        (StoreEngine::Memcached, "unlogged", false),
        (StoreEngine::Redis, "unlogged", false),
        (StoreEngine::Redis, "logged", true),
    ] {
        if !is_here(engine) {
            continue;
        }
        let args = ["--engine", engine.name(), "--durability", durability];
        let said = dry(&[&args[..], &["--records", "1000000000000"]].concat());
        assert!(
            said.contains("records in memory of a trial ("),
            "{engine}: {said}"
        );
        assert_eq!(said.contains(" stores 1.02 PB"), has_files, "{engine}: {said}");
    }
}

#[test]
fn a_codec_that_no_engine_of_a_run_has_is_refused_before_anything_is_measured_as_other_nonsense_is() {
    let dir = workplace();
    // RocksDB has it, so the cells of fjall alone are not measured.
    let both = [
        "--engine",
        "fjall,rocksdb",
        "--compression",
        "lz4,zstd:3",
        "--dry-run",
    ];
    let seen = kv(dir.path(), &both);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    for (args, words) in [
        (
            ["--compression", "none,zstd:3"],
            "--compression: the engine does not have the codec zstd:3: fjall supports none and lz4; use one of these, or rocksdb",
        ),
        (
            ["--level-codecs", "none/zstd"],
            "does not have the codec none/zstd: fjall supports none and lz4",
        ),
        (["--compression", "zsdt"], "did you mean `zstd`?"),
        (["--workload", "ycsb-z"], "ycsb-a"),
        (["--durability", "unlogged"], "fjall supports logged and synced"),
        (["--block-size", "3MiB"], "1 KiB to 1 MiB"),
        (["--memory-limit", "1MiB"], "16 MiB or more"),
    ] {
        let seen = kv(dir.path(), &args);
        assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
        assert!(seen.stderr.contains(words), "{args:?}: {}", seen.stderr);
    }
    assert!(names_in(dir.path()).is_empty(), "nothing was begun");
}

#[test]
fn the_command_of_our_own_processes_says_that_it_is_not_for_people() {
    let dir = workplace();
    let seen: Seen = command(dir.path(), &["kv-worker"])
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into();
    assert_eq!(seen.code, Some(3), "{seen:?}");
    assert!(!outcrop(dir.path(), &["--help"]).stdout.contains("kv-worker"));
}

#[test]
fn blocks_per_operation_are_those_of_the_load_and_the_time_of_opening_is_in_no_throughput() {
    if !has_rocksdb() {
        return;
    }
    let dir = workplace();
    // Hardly a block is read twice in a row, and all records are in one level.
    let load = [
        "--engine",
        "rocksdb",
        "--workload",
        "ycsb-c",
        "--requests",
        "uniform",
        "--block-cache",
        "16KiB",
        "--compression",
        "none,lz4",
    ];
    let seen = kv(dir.path(), &load);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    for cell in &cells(&seen) {
        let value = |name| metric(cell, name).unwrap_or_else(|| panic!("{name}: {cell}"));
        let fetched = value("blocks_fetched_per_operation");
        assert!((0.95..1.1).contains(&fetched), "{fetched}: {cell}");
        let decompressed = value("blocks_decompressed_per_operation");
        match cell["factors"]["compression"].as_str() {
            Some("none") => assert_eq!(decompressed, 0.0),
            _ => assert!(
                (decompressed / fetched - 1.0).abs() < 0.05,
                "{decompressed}: {cell}"
            ),
        }
        // Nothing is written in this run.
        assert!(value("blocks_compressed_per_operation") < 0.01, "{cell}");
        assert!(value("opening_time") > 0.0 && value("closing_time") > 0.0);
    }
    let run = outcrop_results::RunView::load(&only_run(dir.path())).unwrap();
    for trial in &run.trials {
        let throughput = trial.number(&outcrop_schema::kv::THROUGHPUT).unwrap();
        // The operations of the measured time over that time and no other.
        let reads = trial.histograms.iter().filter(|entry| entry.operation == "read");
        let reads: u64 = reads.map(|entry| entry.count).sum();
        assert!(
            (throughput * trial.duration_s - reads as f64).abs() < 0.5,
            "{throughput}"
        );
        assert!((trial.duration_s - 0.15).abs() < 1e-9);
    }
}
