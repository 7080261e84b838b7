//! `kill -9` in the load and in the run: what was acknowledged as synced is there when the database is opened again.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use outcrop_kv::{Database, KvSpec, Opening, StoreOptions, Timing, Witness};
use outcrop_workload::store::{Durability, Settling, StoreEngine};

use super::stage::{durable_engines, is_called_for, spec, this_program, workplace};

const VICTIM: &str = "kills::writes_until_it_is_killed";
/// Kills in each phase.
const KILLS: u64 = 20;

/// Tells a parent of every write that was acknowledged, over a socket that outlives the process.
struct Tell(Mutex<UnixStream>);

impl Witness for Tell {
    fn acknowledged(&self, key_id: u64, version: u64) {
        use std::io::Write as _;
        let mut record = [0; 16];
        record[..8].copy_from_slice(&key_id.to_le_bytes());
        record[8..].copy_from_slice(&version.to_le_bytes());
        self.0.lock().unwrap().write_all(&record).unwrap();
    }
}

fn synced(engine: StoreEngine, records: u64) -> KvSpec {
    KvSpec {
        options: StoreOptions {
            durability: Durability::Synced,
            ..super::stage::options(engine)
        },
        records,
        settling: Settling::None,
        warm_up: Duration::ZERO,
        duration: Duration::from_secs(3600),
        // Updates alone, so that every operation of the run is acknowledged.
        workload: "update:1".parse().unwrap(),
        ..spec(engine)
    }
}

/// Records of a load that lasts until the kill, and of one that is done before.
const MANY: u64 = 1_000_000;
const FEW: u64 = 30;

/// The process that is killed: `ENGINE PHASE DIRECTORY` are the last arguments.
#[test]
fn writes_until_it_is_killed() {
    if !is_called_for(VICTIM) {
        return;
    }
    let arguments: Vec<String> = std::env::args().collect();
    let [.., engine, phase, directory] = arguments.as_slice() else {
        panic!("{arguments:?}");
    };
    let input = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let tell = Tell(Mutex::new(UnixStream::from(input)));
    let spec = synced(engine.parse().unwrap(), if phase == "load" { MANY } else { FEW });
    let database = Database::open(&spec, Path::new(directory), 0, Opening::Create).unwrap();
    database.load(Timing::after(Duration::ZERO), Some(&tell)).unwrap();
    database.run(Timing::after(Duration::ZERO), Some(&tell)).unwrap();
}

/// Starts the process, kills it after so many acknowledgements, and gives all of them.
fn acknowledged_before_kill(
    engine: StoreEngine,
    phase: &str,
    directory: &Path,
    after: u64,
) -> Vec<(u64, u64)> {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let program = this_program(VICTIM, &[engine.name(), phase, directory.to_str().unwrap()]);
    let mut victim = Command::new(&program.path)
        .args(&program.arguments)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut acknowledged = Vec::new();
    let mut record = [0; 16];
    let mut stream = std::io::BufReader::new(ours);
    while stream.read_exact(&mut record).is_ok() {
        let word = |at: usize| u64::from_le_bytes(record[at..at + 8].try_into().unwrap());
        acknowledged.push((word(0), word(8)));
        if acknowledged.len() as u64 == after {
            // SIGKILL; what it said before is still read.
            victim.kill().unwrap();
        }
    }
    victim.wait().unwrap();
    assert!(
        acknowledged.len() as u64 >= after,
        "{engine} {phase}: it ended by itself"
    );
    acknowledged
}

fn every_acknowledged_write_is_there(phase: &str, base: u64) {
    for engine in durable_engines() {
        for kill in 0..KILLS {
            let place = workplace();
            let directory = place.path().join("db");
            let acknowledged = acknowledged_before_kill(engine, phase, &directory, base + 1 + kill * 3);
            let spec = synced(engine, if phase == "load" { MANY } else { FEW });
            let database = Database::open(&spec, &directory, 0, Opening::Existing).unwrap();
            let mut session = database.store().session().unwrap();
            // One thread writes: a key has the last version that was acknowledged, or the next one, whose write was under way.
            let last: BTreeMap<u64, u64> = acknowledged.into_iter().collect();
            let mut under_way = 0;
            for (key_id, version) in last {
                let mut key = Vec::new();
                database.keys().write_key(key_id, &mut key);
                let found = session.get(&key).unwrap();
                let found = found
                    .unwrap_or_else(|| panic!("{engine} {phase}: key {key_id} was acknowledged and is lost"));
                let seen = database.values().verify(key_id, found).unwrap();
                if seen != Some(version) {
                    assert_eq!(
                        seen,
                        Some(version + 1),
                        "{engine} {phase}: key {key_id} went back from version {version}"
                    );
                    under_way += 1;
                }
            }
            assert!(
                under_way <= 1,
                "{engine} {phase}: {under_way} writes under way of one thread"
            );
        }
    }
}

#[test]
fn a_kill_in_the_load_loses_nothing_that_was_acknowledged_as_synced() {
    every_acknowledged_write_is_there("load", 0);
}

#[test]
fn a_kill_in_the_run_loses_nothing_that_was_acknowledged_as_synced() {
    every_acknowledged_write_is_there("run", FEW);
}
