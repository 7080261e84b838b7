//! Operations per second of the driver on RocksDB, for comparison with `db_bench`.
//!
//! `rocksdb_speed DIRECTORY RECORDS SECONDS READ_PERCENT [while-writing]` prints operations per second, and per second of CPU time of
//! the calling thread. With `while-writing`, a thread outside the driver overwrites random records as fast as it can, as in db_bench's
//! `readwhilewriting`; its writes are not counted. A directory that does not exist gets a new database; with SECONDS 0 that is all. It is
//! left to its caller.

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_kv::{Database, KvError, KvSpec, Opening, RunReport, StoreOptions, Timing};
use outcrop_measure::Seed;
use outcrop_workload::store::StoreEngine;

const USAGE: &str = "usage: rocksdb_speed DIRECTORY RECORDS SECONDS READ_PERCENT [while-writing]";

fn main() -> Result<(), KvError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (directory, records, seconds, reads, is_written) = match arguments.as_slice() {
        [directory, records, seconds, reads] => (directory, records, seconds, reads, false),
        [directory, records, seconds, reads, word] if word == "while-writing" => {
            (directory, records, seconds, reads, true)
        }
        _ => panic!("{USAGE}"),
    };
    let reads: u32 = reads.parse().expect(USAGE);
    let mix = match reads {
        100 => "read:1".to_owned(),
        reads => format!("read:{reads},update:{}", 100 - reads),
    };
    let duration = Duration::from_secs_f64(seconds.parse().expect(USAGE));
    let spec = KvSpec {
        options: StoreOptions {
            compression: "lz4".parse().expect("it is a codec"),
            ..StoreOptions::of(StoreEngine::RocksDb)
        },
        workload: mix.parse().expect("it is a mix"),
        requests: "uniform".parse().expect("it is a distribution"),
        records: records.parse().expect(USAGE),
        duration: duration.max(Duration::from_millis(1)),
        ..KvSpec::of(StoreEngine::RocksDb, Seed(7))
    };
    let directory = Path::new(directory);
    let opening = match directory.exists() {
        true => Opening::Existing,
        false => Opening::Create,
    };
    let database = Database::open(&spec, directory, 0, opening)?;
    if opening == Opening::Create {
        database.load(Timing::after(Duration::ZERO), None)?;
        database.settle()?;
    }
    if duration.is_zero() {
        return Ok(());
    }
    let run = match is_written {
        false => database.run(Timing::after(Duration::ZERO), None)?,
        true => run_while_writing(&database, spec.records)?,
    };
    let tally = &run.phase.tally;
    assert_eq!(
        (tally.missing, tally.mismatches),
        (0, 0),
        "{:?}",
        tally.first_problem
    );
    let per_cpu_second = run.phase.operations() as f64 * 1e9 / run.phase.cpu.callers_ns as f64;
    let _ = writeln!(
        std::io::stdout(),
        "{:.0} {per_cpu_second:.0}",
        run.phase.throughput_per_second()
    );
    Ok(())
}

/// Runs the driver while another thread overwrites random records.
fn run_while_writing(database: &Database<'_>, records: u64) -> Result<RunReport, KvError> {
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut session = database.store().session()?;
            let draws = Seed(11);
            let (mut key, mut value, mut version) = (Vec::new(), Vec::new(), 1);
            while !has_ended.load(Ordering::Relaxed) {
                let id = draws.derive_index(version).0 % records;
                key.clear();
                value.clear();
                database.keys().write_key(id, &mut key);
                database.values().write(id, version, &mut value);
                session.put(&key, &value)?;
                version += 1;
            }
            Ok::<_, KvError>(())
        });
        let run = database.run(Timing::after(Duration::ZERO), None);
        has_ended.store(true, Ordering::Relaxed);
        writer.join().expect("the writer does not panic")?;
        run
    })
}
