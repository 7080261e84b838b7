//! An engine that does nothing any more: the trial ends, with an error, and leaves nothing.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_kv::{KvError, KvSpec, Site, run};
use outcrop_workload::store::StoreEngine;
use rustix::process::{Signal, getpid, kill_process};

use super::stage::{is_called_for, spec, this_program, workplace};

const VICTIM: &str = "stuck::serves_its_parent_until_it_loads";

/// Whether a thread of this process loads records.
fn loads() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks
        .flatten()
        .map(|task| std::fs::read_to_string(task.path().join("comm")));
    names.flatten().any(|name| name.starts_with("load-"))
}

/// The worker process, whose threads all stop while it loads: from outside they look like those that wait for each other.
#[test]
fn serves_its_parent_until_it_loads() {
    if !is_called_for(VICTIM) {
        return;
    }
    std::thread::spawn(|| {
        while !loads() {
            std::thread::yield_now();
        }
        kill_process(getpid(), Signal::STOP).unwrap();
    });
    outcrop_kv::serve_parent().unwrap();
}

#[test]
fn an_engine_whose_threads_do_nothing_any_more_is_given_up_with_what_it_did() {
    let place = workplace();
    let spec = KvSpec {
        // More than are loaded before they stop.
        records: 1_000_000,
        ..spec(StoreEngine::Fjall)
    };
    let site = Site {
        directory: place.path(),
        ground: None,
        stop: &AtomicBool::new(false),
        patience: Duration::from_millis(600),
        program: &this_program(VICTIM, &[]),
    };
    let error = run(&spec, &site, &mut |_| {}).unwrap_err();
    assert!(
        matches!(&error, KvError::Stuck { phase, .. } if phase == "loaded records"),
        "{error}"
    );
    let said = error.to_string();
    assert!(
        said.contains("for 600ms") || said.contains("for 600 ms"),
        "{said}"
    );
    assert_eq!(
        std::fs::read_dir(place.path()).unwrap().count(),
        0,
        "nothing is left"
    );
}
