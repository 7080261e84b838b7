//! `outcrop kv` on Redis and memcached: rows, reasons, and what is missing on a machine.

use std::os::unix::fs::PermissionsExt as _;

use outcrop_workload::store::StoreEngine;

use crate::harness::{Seen, command, names_in, only_run, workplace};
use crate::kv::{arguments, cells, is_here, kv, metric};

const THREE_ENGINES: [&str; 6] = [
    "--engine",
    "fjall,redis,memcached",
    "--workload",
    "ycsb-a,ycsb-e",
    "--value-size",
    "fixed:1000B",
];

#[test]
fn servers_have_rows_next_to_the_others_with_what_they_take_in_memory_and_no_space_that_is_not_theirs() {
    let engines = [StoreEngine::Redis, StoreEngine::Memcached];
    if !engines.into_iter().all(is_here) {
        return;
    }
    let dir = workplace();
    let seen = kv(dir.path(), &THREE_ENGINES);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let cells = cells(&seen);
    assert_eq!(cells.len(), 6, "{}", seen.stdout);
    for cell in &cells {
        let of = |name: &str| cell["factors"][name].as_str().unwrap_or_default();
        let why = |name: &str| {
            cell["metrics"][name]["unavailable"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let is_server = of("engine") != "fjall";
        if is_server && of("workload") == "ycsb-e" {
            assert!(why("throughput").contains("keeps its keys in no order"), "{cell}");
            continue;
        }
        assert!(
            metric(cell, "throughput").is_some_and(|value| value > 0.0),
            "{cell}"
        );
        assert_eq!(
            metric(cell, "memory_amplification").is_some(),
            is_server,
            "{cell}"
        );
        match of("engine") {
            "memcached" => {
                for name in [
                    "stored_bytes",
                    "space_amplification",
                    "run_device_bytes_written",
                    "log_bytes",
                ] {
                    assert!(why(name).contains("writes no files"), "{name}: {cell}");
                }
            }
            name => {
                assert!(
                    metric(cell, "space_amplification").is_some_and(|value| value > 0.5),
                    "{cell}"
                );
                let is_all = why("log_bytes").contains("all that Redis keeps");
                assert_eq!(is_all, name == "redis", "{cell}");
            }
        }
    }
    assert_eq!(names_in(dir.path()), ["runs"]);
    let run = outcrop_results::RunView::load(&only_run(dir.path())).unwrap();
    let notes: Vec<_> = run.trials.iter().flat_map(|trial| &trial.notes).collect();
    for version in ["Redis server v=", "memcached "] {
        assert!(
            notes.iter().any(|note| note.text.contains(version)),
            "{version}: {notes:?}"
        );
    }
}

#[test]
fn a_server_that_is_not_here_and_scans_of_servers_are_refused_in_a_sentence() {
    let dir = workplace();
    for (variable, engine, program) in [
        ("OUTCROP_REDIS_SERVER", "redis", "/nonexistent/redis-server"),
        ("OUTCROP_MEMCACHED", "memcached", "no-such-memcached"),
    ] {
        let seen: Seen = command(dir.path(), &arguments(&["--engine", engine]))
            .env(variable, program)
            .output()
            .unwrap()
            .into();
        assert_eq!(seen.code, Some(2), "{seen:?}");
        let words =
            format!("{variable} names {program}, which is not a program; install the package {engine}");
        assert!(seen.stderr.contains(&words), "{}", seen.stderr);
    }
    let seen = kv(
        dir.path(),
        &["--engine", "redis,memcached", "--workload", "ycsb-e"],
    );
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(
        seen.stderr.contains("use a workload without scans"),
        "{}",
        seen.stderr
    );
}

/// memcached with the memory that it is told to have, and with leave to forget: what another program of that name may do.
const FORGETFUL: &str = "#!/bin/sh
for given do shift; [ \"$given\" = -M ] || set -- \"$@\" \"$given\"; done
exec memcached \"$@\" -m 8
";

#[test]
fn a_server_that_forgets_records_for_want_of_memory_is_not_measured() {
    if !is_here(StoreEngine::Memcached) {
        return;
    }
    let dir = workplace();
    let program = dir.path().join("forgetful");
    std::fs::write(&program, FORGETFUL).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let args = arguments(&["--engine", "memcached", "--records", "20000", "--no-save"]);
    let seen: Seen = command(dir.path(), &args)
        .env("OUTCROP_MEMCACHED", &program)
        .output()
        .unwrap()
        .into();
    let said = format!("{}{}", seen.stdout, seen.stderr);
    for words in ["of the 20000 records that were loaded", "give fewer records"] {
        assert!(said.contains(words), "{words}: {seen:?}");
    }
    assert_eq!(names_in(dir.path()), ["forgetful"]);
}
