//! Engines that are servers: what they are given is verified, what they take is counted, and they end with us.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_kv::{KvError, KvReport, KvSpec, Opening, Progress, Site, StoreOptions, engine, run};
use outcrop_measure::Seed;
use outcrop_workload::store::{Durability, Settling, StoreEngine};
use rustix::process::{Pid, Signal, kill_process};

use super::faults::is_one_sentence;
use super::stage::{options, servers, skip_without_limits, spec, this_program, trial, workplace};

/// A server of ours.
struct Found {
    pid: i32,
    parent: i32,
}

impl Found {
    /// Whether its owner has begun to run the workload, by the names of its threads.
    fn is_asked(&self) -> bool {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.parent));
        let mut tasks = tasks.into_iter().flatten().filter_map(Result::ok);
        tasks.any(|task| {
            fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.starts_with("run-"))
        })
    }
}

/// Servers whose working directory is below a place.
fn servers_below(place: &Path) -> Vec<Found> {
    let found = |folder: &Path| {
        let pid = folder.file_name()?.to_str()?.parse().ok()?;
        let is_here = fs::read_link(folder.join("cwd")).ok()?.starts_with(place);
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        let is_server = stat.contains("(redis-server)") || stat.contains("(memcached)");
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
        (is_here && is_server).then_some(Found { pid, parent })
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| found(&entry.path())).collect()
}

pub(crate) fn with(engine: StoreEngine, durability: Durability) -> KvSpec {
    KvSpec {
        options: StoreOptions {
            durability,
            ..options(engine)
        },
        ..spec(engine)
    }
}

/// A trial during which something is looked at or done.
pub(crate) fn watched(
    spec: &KvSpec,
    place: &Path,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<KvReport, KvError> {
    let program = this_program("stage::serves_its_parent", &[]);
    let site = Site {
        directory: place,
        ground: None,
        stop,
        patience: outcrop_kv::PATIENCE,
        program: &program,
    };
    run(spec, &site, progress)
}

#[test]
fn a_server_is_a_map_that_several_threads_share_and_says_its_version() {
    for engine in servers() {
        let place = workplace();
        let store = engine::open(&options(engine), &place.path().join("db"), Opening::Create).unwrap();
        let mut oracle: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        let mut session = store.session().unwrap();
        for index in 0..3000_u64 {
            let draw = |part: u64| Seed(11).derive_index(3 * index + part).0;
            let key = format!("key{}", draw(0) % 200).into_bytes();
            match draw(1) % 4 {
                0 => {
                    session.delete(&key).unwrap();
                    oracle.remove(&key);
                }
                // Values of all bytes, ends of lines among them, and of more than one read of a socket.
                1 => {
                    let value: Vec<u8> = (0..draw(2) % 60_000).map(|byte| (byte * byte) as u8).collect();
                    session.put(&key, &value).unwrap();
                    oracle.insert(key, value);
                }
                _ => assert_eq!(
                    session.get(&key).unwrap(),
                    oracle.get(&key).map(Vec::as_slice),
                    "{engine}"
                ),
            }
        }
        std::thread::scope(|scope| {
            for (key, value) in oracle.iter().take(4) {
                let mut session = store.session().unwrap();
                scope.spawn(move || assert_eq!(session.get(key).unwrap(), Some(value.as_slice())));
            }
        });
        assert_eq!(store.records().unwrap(), Some(oracle.len() as u64), "{engine}");
        let identity = store.identity();
        assert!(
            identity.contains(char::is_numeric) && identity.contains('/'),
            "{identity}"
        );
    }
}

#[test]
fn what_a_server_cannot_do_is_refused_in_a_sentence() {
    for engine in servers() {
        let place = workplace();
        let store = engine::open(&options(engine), &place.path().join("db"), Opening::Create).unwrap();
        let mut session = store.session().unwrap();
        let error = session.scan(b"key", 3, &mut |_, _| {}).unwrap_err();
        assert!(matches!(error, KvError::Lacks { .. }), "{error:?}");
        assert!(is_one_sentence(&error), "{error}");
        let scans = KvSpec {
            workload: "ycsb-e".parse().unwrap(),
            ..spec(engine)
        };
        assert_eq!(scans.validate(), Err(error));
        if engine == StoreEngine::Memcached {
            // It would be three commands.
            let error = session.put(b"key 0 0 0\r\nflush_all\r\nx", b"").unwrap_err();
            assert!(matches!(error, KvError::Spec { .. }), "{error:?}");
            let long = KvSpec {
                value_size: "fixed:2MiB".parse().unwrap(),
                ..spec(engine)
            };
            let error = long.validate().unwrap_err().to_string();
            assert!(error.contains("less than 1 MiB"), "{error}");
            for durability in [Durability::Logged, Durability::Synced] {
                let error = with(engine, durability).validate().unwrap_err();
                assert!(matches!(error, KvError::Lacks { .. }), "{error:?}");
            }
        }
    }
}

#[test]
fn a_trial_of_a_server_verifies_values_and_counts_what_the_server_takes() {
    for engine in servers() {
        for durability in engine::durabilities(engine) {
            let spec = KvSpec {
                duration: Duration::from_millis(400),
                ..with(engine, *durability)
            };
            let report = trial(&spec);
            let name = format!("{engine} {durability}");
            let tally = &report.run.tally;
            assert_eq!((tally.missing, tally.mismatches), (0, 0), "{name}");
            assert_eq!(report.load.operations(), spec.records, "{name}");
            assert!(tally.verified > 50, "{name}: {tally:?}");
            let user = report.load_amounts.user_written_bytes;
            // Its own work is at least a tenth of what asking takes, and is not the callers'.
            for cpu in [&report.run.cpu, &report.load.cpu] {
                let background_ns = cpu.background_ns().unwrap();
                assert!(background_ns > cpu.callers_ns / 10, "{name}: {cpu:?}");
            }
            let resident = report.server_resident_bytes.clone().unwrap().unwrap();
            assert!(resident > user, "{name}: {resident} of {user}");
            let (peak, stored) = (report.peak_resident_bytes.clone().unwrap(), report.stored);
            assert!(peak > resident, "{name}");
            match durability {
                Durability::Unlogged => assert_eq!(stored.bytes, 0, "{name}"),
                _ => assert!(
                    stored.bytes > user && stored.log_bytes > user,
                    "{name}: {stored:?}"
                ),
            }
            assert!(
                report.run.counters.written_bytes.is_err() && report.is_settled,
                "{name}"
            );
        }
    }
}

#[test]
fn each_process_has_a_server_of_its_own_which_ends_with_the_trial() {
    for engine in servers() {
        let place = workplace();
        let spec = KvSpec {
            processes: 3,
            threads: 2,
            ..spec(engine)
        };
        let mut seen = 0;
        let mut look = |progress| {
            if progress == Progress::Running {
                seen = servers_below(place.path()).len();
            }
        };
        let report = watched(&spec, place.path(), &AtomicBool::new(false), &mut look).unwrap();
        assert_eq!(seen, 3, "{engine}");
        assert_eq!(
            report.run.tally.mismatches + report.run.tally.missing,
            0,
            "{engine}"
        );
        assert!(servers_below(place.path()).is_empty(), "{engine}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "{engine}");
    }
}

#[test]
fn a_trial_that_is_stopped_ends_its_servers_before_it_returns() {
    for engine in servers() {
        let place = workplace();
        let spec = KvSpec {
            duration: Duration::from_secs(3600),
            settling: Settling::None,
            ..spec(engine)
        };
        let stop = AtomicBool::new(false);
        let mut stop_when_running = |progress| {
            if progress == Progress::Running {
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let result = watched(&spec, place.path(), &stop, &mut stop_when_running);
        assert_eq!(result.map(drop), Err(KvError::Interrupted));
        assert!(servers_below(place.path()).is_empty(), "{engine}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "{engine}");
    }
}

#[test]
fn a_server_that_is_killed_in_the_run_ends_the_trial_with_a_sentence_that_says_so() {
    for engine in servers() {
        let place = workplace();
        let spec = KvSpec {
            duration: Duration::from_secs(3600),
            ..spec(engine)
        };
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                loop {
                    let asked = servers_below(place.path()).into_iter().find(Found::is_asked);
                    if let Some(server) = asked {
                        break kill_process(Pid::from_raw(server.pid).unwrap(), Signal::KILL).unwrap();
                    }
                    std::thread::yield_now();
                }
            });
            watched(&spec, place.path(), &AtomicBool::new(false), &mut |_| {}).unwrap_err()
        });
        let text = error.to_string();
        // At once, and not at the end of an hour.
        assert!(matches!(error, KvError::Ended { .. }), "{error:?}");
        assert!(text.contains("signal: 9") && is_one_sentence(&error), "{text}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "{engine}");
    }
}

#[test]
fn a_full_server_says_so_and_has_kept_every_value_that_it_acknowledged() {
    for engine in servers() {
        let place = workplace();
        let small = StoreOptions {
            memory_bytes: Some(8 << 20),
            durability: Durability::Unlogged,
            ..options(engine)
        };
        let store = engine::open(&small, &place.path().join("db"), Opening::Create).unwrap();
        let mut session = store.session().unwrap();
        let value = |number: u32| [number.to_le_bytes().as_slice(), &[7; 4000]].concat();
        let mut stored = 0;
        let error = loop {
            match session.put(format!("key{stored}").as_bytes(), &value(stored)) {
                Ok(()) => stored += 1,
                Err(error) => break error,
            }
            assert!(stored < 100_000, "{engine} is never full");
        };
        assert!(matches!(error, KvError::OutOfMemory { .. }), "{error:?}");
        assert!(
            is_one_sentence(&error) && error.to_string().contains("8 MiB"),
            "{error}"
        );
        assert!(stored > 100, "{engine}: {stored}");
        for number in 0..stored {
            let found = session.get(format!("key{number}").as_bytes()).unwrap();
            assert_eq!(found, Some(&value(number)[..]), "{engine}: {number} of {stored}");
        }
    }
}

#[test]
fn a_memory_limit_holds_for_the_server_too() {
    for engine in servers() {
        let place = workplace();
        let limited = KvSpec {
            memory_limit_bytes: Some(256 << 20),
            ..spec(engine)
        };
        let mut groups = Vec::new();
        let mut look = |progress| {
            if progress == Progress::Running {
                let of = |server: Found| fs::read_to_string(format!("/proc/{}/cgroup", server.pid)).unwrap();
                groups.extend(servers_below(place.path()).into_iter().map(of));
            }
        };
        match watched(&limited, place.path(), &AtomicBool::new(false), &mut look) {
            Ok(_) => assert!(
                groups.len() == 1 && groups[0].contains("outcrop-kv-"),
                "{groups:?}"
            ),
            Err(error) => return skip_without_limits(&error),
        }
        let small = KvSpec {
            memory_limit_bytes: Some(24 << 20),
            records: 80_000,
            ..limited
        };
        let error = watched(&small, place.path(), &AtomicBool::new(false), &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("limit of 24 MiB"), "{engine}: {error}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "{engine}");
    }
}
