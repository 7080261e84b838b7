//! Whole trials with their processes: what they count agrees with itself, and nothing outlives them.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_kv::{DatabaseFolder, KvError, KvSpec, PageCache, Site, StoreOptions, ValueSource, run};
use outcrop_workload::keyed::OperationKind;
use outcrop_workload::store::{Settling, StoreEngine};

use super::stage::{engines, skip_without_limits, spec, this_program, trial, try_trial, workplace};

#[test]
fn a_trial_of_every_engine_loads_runs_verifies_and_leaves_nothing() {
    for engine in engines() {
        let spec = spec(engine);
        let report = trial(&spec);
        assert_eq!(report.load.operations(), spec.records, "{engine}");
        assert_eq!(
            report.load.tally.written_bytes / spec.records / 1000,
            1,
            "{engine}"
        );
        // Little on a machine that others use, and in any case something of both kinds.
        assert!(report.run.operations() > 0, "{engine}");
        assert!(report.run.tally.verified > 0, "{engine}");
        assert_eq!(
            (report.run.tally.missing, report.run.tally.mismatches),
            (0, 0),
            "{engine}"
        );
        assert!(report.stored.bytes > 1_000_000, "{engine}: {:?}", report.stored);
        assert!(report.stored.log_bytes < report.stored.bytes, "{engine}");
        // fjall keeps its log until it is full; RocksDB's is empty after a flush, and has the run's updates at the end.
        let logs = (report.stored.log_bytes > 0, report.stored_after.log_bytes > 0);
        let expected = match engine {
            StoreEngine::Fjall => (true, true),
            StoreEngine::RocksDb => (false, true),
            _ => (false, false),
        };
        assert_eq!(
            logs, expected,
            "{engine}: {:?}, {:?}",
            report.stored, report.stored_after
        );
        assert!(
            report.run.cpu.total_ns().unwrap() > 0 && report.run.cpu.callers_ns > 0,
            "{engine}"
        );
        assert!(report.is_settled, "{engine}");
        assert_eq!(report.run.windows().len(), 4, "{engine}");
        // What every window holds is what was done.
        let of_windows: u64 = report.run.windows().iter().sum();
        assert_eq!(of_windows, report.run.operations(), "{engine}");
    }
}

#[test]
fn several_processes_and_threads_add_up() {
    let spec = KvSpec {
        threads: 2,
        processes: 3,
        ..spec(StoreEngine::Fjall)
    };
    let report = trial(&spec);
    assert_eq!(report.load.operations(), 3 * spec.records);
    let alone = report.stored.bytes / 3;
    assert!(alone > 1_000_000, "three databases: {:?}", report.stored);
    assert_eq!(report.run.tally.mismatches, 0);
}

#[test]
fn an_open_loop_offers_what_its_schedule_says() {
    let spec = KvSpec {
        arrival: "constant:2000".parse().unwrap(),
        warm_up: Duration::ZERO,
        duration: Duration::from_millis(500),
        processes: 2,
        ..spec(StoreEngine::Fjall)
    };
    let report = trial(&spec);
    assert_eq!(report.offered_per_second, Some(2000.0));
    // Every operation that was due has a latency: it is done, perhaps after the end, or was never begun.
    assert_eq!(report.run.latencies().count(), 1000);
    let service = report.run.service();
    assert_eq!(service.count() + report.run.tally.unfinished, 1000);
    let workers = u64::from(spec.threads * spec.processes);
    assert!(service.count() - report.run.operations() <= workers);
    assert!(service.sum() <= report.run.latencies().sum());
}

#[test]
fn an_overloaded_open_loop_counts_what_it_never_began_with_its_age() {
    let spec = KvSpec {
        arrival: "constant:20000k".parse().unwrap(),
        warm_up: Duration::ZERO,
        duration: Duration::from_millis(300),
        records: 200,
        ..spec(StoreEngine::Fjall)
    };
    let report = trial(&spec);
    assert!(report.run.tally.unfinished > 0);
    assert!(report.run.operations() > 0);
}

#[test]
fn values_are_cut_from_the_bytes_that_are_given() {
    let bytes: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    let spec = KvSpec {
        values: ValueSource::CutFrom(bytes.into()),
        ..spec(StoreEngine::Fjall)
    };
    let report = trial(&spec);
    assert!(report.run.tally.verified > 50);
    assert_eq!(report.run.tally.mismatches, 0);
}

/// Lengths of the files in a folder, and in those below it.
fn lengths(folder: &Path) -> Vec<u64> {
    let mut found = Vec::new();
    // An engine removes files and folders meanwhile.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(kind) if kind.is_dir() => found.extend(lengths(&entry.path())),
            Ok(kind) => found.push(kind.len()),
            Err(_) => {}
        }
    }
    found
}

/// A copy of them in the folder was four times as much as the records, in no count of what was written.
#[test]
fn the_bytes_that_values_are_cut_from_are_not_written_beside_the_database() {
    let place = workplace();
    let pool = vec![7_u8; 1_234_567];
    let length = pool.len() as u64;
    let spec = KvSpec {
        values: ValueSource::CutFrom(pool.into()),
        ..spec(StoreEngine::Fjall)
    };
    let program = this_program("stage::serves_its_parent", &[]);
    let site = Site {
        directory: place.path(),
        ground: None,
        stop: &AtomicBool::new(false),
        patience: outcrop_kv::PATIENCE,
        program: &program,
    };
    let mut seen = Vec::new();
    run(&spec, &site, &mut |progress| {
        if progress == outcrop_kv::Progress::Running {
            seen = lengths(place.path());
        }
    })
    .unwrap();
    assert!(!seen.is_empty() && !seen.contains(&length), "{seen:?}");
}

#[test]
fn a_trial_that_is_stopped_ends_its_processes_and_leaves_nothing() {
    let place = workplace();
    let spec = KvSpec {
        duration: Duration::from_secs(3600),
        settling: Settling::None,
        ..spec(StoreEngine::Fjall)
    };
    let stop = AtomicBool::new(false);
    let program = this_program("stage::serves_its_parent", &[]);
    let site = Site {
        directory: place.path(),
        ground: None,
        stop: &stop,
        patience: outcrop_kv::PATIENCE,
        program: &program,
    };
    let mut stop_when_running = |progress| {
        if progress == outcrop_kv::Progress::Running {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let result = run(&spec, &site, &mut stop_when_running);
    assert_eq!(result.map(drop), Err(KvError::Interrupted));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_process_that_needs_more_than_its_memory_limit_is_ended_with_a_sentence_about_the_limit() {
    let place = workplace();
    let small = KvSpec {
        memory_limit_bytes: Some(256 << 20),
        ..spec(StoreEngine::Fjall)
    };
    match try_trial(&small, place.path()) {
        Ok(report) => assert!(report.peak_resident_bytes.unwrap() < 256 << 20),
        Err(error) => return skip_without_limits(&error),
    }
    let large = KvSpec {
        memory_limit_bytes: Some(24 << 20),
        records: 80_000,
        options: StoreOptions {
            write_buffer_bytes: 64 << 20,
            ..small.options.clone()
        },
        ..small
    };
    let error = try_trial(&large, place.path()).unwrap_err().to_string();
    assert!(
        error.contains("its memory limit of 24 MiB may be too small"),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

/// The process that holds the database had two copies of them, so that 64 MiB of data could not be given with a limit of 128 MiB.
#[test]
fn the_bytes_that_values_are_cut_from_do_not_count_in_the_memory_limit() {
    let place = workplace();
    let pool: Vec<u8> = (0..16_u32 << 20).flat_map(u32::to_le_bytes).collect();
    let spec = KvSpec {
        memory_limit_bytes: Some(48 << 20),
        values: ValueSource::CutFrom(pool.into()),
        ..spec(StoreEngine::Fjall)
    };
    match try_trial(&spec, place.path()) {
        Ok(report) => assert!(report.run.tally.verified > 50 && report.run.tally.mismatches == 0),
        Err(error) => skip_without_limits(&error),
    }
}

#[test]
fn a_rest_between_load_and_run_takes_as_long_as_was_asked_for() {
    let spec = KvSpec {
        settling: "rest:300ms".parse().unwrap(),
        ..spec(StoreEngine::Fjall)
    };
    assert!(trial(&spec).settling_ns >= 300_000_000);
}

#[test]
fn a_run_from_a_dropped_page_cache_reads_the_database_from_its_device() {
    let spec = KvSpec {
        workload: "ycsb-c".parse().unwrap(),
        requests: "uniform".parse().unwrap(),
        page_cache: PageCache::Dropped,
        ..spec(StoreEngine::Fjall)
    };
    let report = trial(&spec);
    // Every process of the machine is in it, so that it can only be too much.
    let read = report.run_amounts.device.unwrap().read_bytes;
    let written = report.load.tally.written_bytes;
    assert!(read > written / 4, "{read} of {written}");
}

#[test]
fn a_process_that_cannot_work_is_an_error_with_what_it_said() {
    let place = workplace();
    let program = outcrop_kv::WorkerProgram {
        path: "/bin/sh".into(),
        arguments: vec!["-c".into(), "echo it hurts >&2; exit 7".into()],
    };
    let site = Site {
        directory: place.path(),
        ground: None,
        stop: &AtomicBool::new(false),
        patience: outcrop_kv::PATIENCE,
        program: &program,
    };
    let error = run(&spec(StoreEngine::Fjall), &site, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("it hurts"), "{error}");
    assert!(DatabaseFolder::abandoned_in(place.path()).unwrap().is_empty());
}

#[test]
fn the_driver_runs_without_a_store_and_says_so() {
    let report = trial(&spec(StoreEngine::None));
    assert!(report.run.operations() > 1000);
    assert_eq!(report.stored.bytes, 0);
    assert!(
        report
            .run
            .kinds()
            .eq([OperationKind::Read, OperationKind::Update])
    );
}
