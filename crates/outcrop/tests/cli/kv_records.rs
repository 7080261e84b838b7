//! What a run of key-value engines keeps of space, device and CPUs.

use serde_json::Value;

use crate::harness::{outcrop, workplace};
use crate::kv::{arguments, cells, has_rocksdb, metric};

/// Cells of a run that only reads, uncompressed and with LZ4.
fn read_only(engine: &str) -> Vec<Value> {
    let dir = workplace();
    let more = [
        "--engine",
        engine,
        "--workload",
        "ycsb-c",
        "--compression",
        "none,lz4",
        "--no-save",
        "--format",
        "json",
    ];
    let seen = outcrop(dir.path(), &arguments(&more));
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let cells = cells(&seen);
    assert_eq!(cells.len(), 2, "{}", seen.stdout);
    cells
}

fn engines() -> Vec<&'static str> {
    let rocksdb = has_rocksdb().then_some("rocksdb");
    ["fjall"].into_iter().chain(rocksdb).collect()
}

#[test]
fn the_space_of_a_store_is_that_of_its_blocks_index_filters_and_log() {
    for engine in engines() {
        let cells = read_only(engine);
        let of = |cell: &Value, name: &str| metric(cell, name).unwrap_or_else(|| panic!("no {name}: {cell}"));
        for cell in &cells {
            let names = ["data_block_bytes", "index_bytes", "filter_bytes", "log_bytes"];
            let parts: f64 = names.iter().map(|name| of(cell, name)).sum();
            let share = parts / of(cell, "stored_bytes");
            assert!((0.75..=1.0).contains(&share), "{engine}: {share} {cell}");
            assert!(
                of(cell, "index_bytes") > 0.0 && of(cell, "filter_bytes") > 0.0,
                "{cell}"
            );
            // 3000 records of 1000 bytes, each loaded once.
            assert_eq!(of(cell, "versions_per_record"), 1.0, "{engine}");
            assert!((0.0..1.0).contains(&of(cell, "upper_levels_share")), "{cell}");
        }
        let [plain, compressed] = [0, 1].map(|at: usize| of(&cells[at], "data_block_bytes"));
        // The values are compressible by half.
        assert!(
            compressed < 0.75 * plain && plain > 3e6,
            "{engine}: {plain}, {compressed}"
        );
        if engine == "rocksdb" {
            let [plain, compressed] = [0, 1].map(|at: usize| of(&cells[at], "data_block_ratio"));
            assert!(
                (0.95..1.05).contains(&plain) && compressed > 1.4,
                "{plain}, {compressed}"
            );
        }
    }
}

#[test]
fn what_the_device_moved_is_kept_for_each_phase_also_of_a_run_that_only_reads() {
    for cell in read_only("fjall") {
        for phase in ["load", "settling", "run"] {
            for direction in ["read", "written"] {
                let metric = &cell["metrics"][format!("{phase}_device_bytes_{direction}")];
                // On a filesystem without a device there is a reason.
                let is_given = metric["value"].as_f64().is_some() || metric["unavailable"].is_string();
                assert!(is_given, "{phase} {direction}: {metric}");
            }
        }
        // The load is synced: the device has written all of it where it counts at all.
        if let Some(written) = metric(&cell, "load_device_bytes_written") {
            assert!(written > 1e6, "{written}");
        }
    }
}

#[test]
fn the_share_of_the_cpus_is_kept_of_the_processes_and_of_the_machine() {
    for cell in read_only("fjall") {
        let share = metric(&cell, "cpu_share").unwrap();
        // A thread that never waits, on one CPU or more.
        assert!(share > 0.0 && share < 1.2, "{share}");
        let machine = metric(&cell, "machine_cpu_share").unwrap();
        assert!(machine > 0.0 && machine <= 1.0, "{machine}");
    }
}
