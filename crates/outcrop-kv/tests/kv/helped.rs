//! A store whose work another process does: what is not known of that process is not made up.

use std::time::Duration;

use outcrop_kv::{Database, KvError, KvSpec, Timing};
use outcrop_workload::store::StoreEngine;

use super::faults::is_one_sentence;
use super::shelf::{Lie, Shelf};
use super::stage::spec;

/// More than processes are numbered to.
const NO_PROCESS: u32 = i32::MAX as u32;

#[test]
fn without_the_cpu_time_of_a_server_that_of_an_operation_is_unknown() {
    let spec = spec(StoreEngine::Fjall);
    let mut shelf = Shelf::new(Lie::Never);
    shelf.server = Some(NO_PROCESS);
    let database = Database::over(&spec, Box::new(shelf), 0).unwrap();
    let load = database.load(Timing::after(Duration::ZERO), None).unwrap();
    let run = database.run(Timing::after(Duration::ZERO), None).unwrap();
    for phase in [load.phase, run.phase] {
        let cpu = phase.cpu;
        for part in [cpu.total_ns(), cpu.background_ns(), cpu.kernel_ns()] {
            let why = part.unwrap_err().reason;
            assert!(why.starts_with("the server's CPU time cannot be read: "), "{why}");
        }
        // What the driver knows of itself stays known.
        assert!(cpu.callers_ns > 0);
    }
}

#[test]
fn a_store_that_does_not_hold_what_was_loaded_is_not_run() {
    let spec = KvSpec {
        threads: 2,
        ..spec(StoreEngine::Fjall)
    };
    let shelf = Shelf::new(Lie::PutsAreDropped);
    let database = Database::over(&spec, Box::new(shelf), 0).unwrap();
    let error = database.load(Timing::after(Duration::ZERO), None).unwrap_err();
    let KvError::Dropped { held, loaded, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(*loaded == spec.records && *held < *loaded, "{error:?}");
    assert!(is_one_sentence(&error), "{error}");
    assert!(error.to_string().contains("give fewer records"), "{error}");
}
