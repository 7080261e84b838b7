//! The driver on RocksDB and a loop written by hand on the same C interface (`benchmarks/kv-engines/loop.c`), in turns on one database.
//!
//! `rocksdb_by_hand DIRECTORY RECORDS SECONDS READ_PERCENT PAIRS [look]` prints a line for each pair of slices of SECONDS: operations,
//! nanoseconds and nanoseconds of CPU time of the calling thread, of the driver and then of the loop. `$OUTCROP_ROCKSDB_LIB` is the loop,
//! which stands for the library. The directory must not exist; it is left to its caller.

#![expect(unsafe_code, reason = "calls the loop, which is C")]

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use outcrop_kv::{Database, KvError, KvSpec, Opening, StoreOptions, Timing};
use outcrop_measure::Seed;
use outcrop_workload::store::StoreEngine;

const USAGE: &str = "usage: rocksdb_by_hand DIRECTORY RECORDS SECONDS READ_PERCENT PAIRS [look]";
/// Before each slice, in no figure; the loop has the same.
const WARM_UP: Duration = Duration::from_millis(20);

type Fill = unsafe extern "C" fn(records: u64);
type Slice = unsafe extern "C" fn(records: u64, seconds: f64, reads: u64, looks: i32, told: *mut f64);

fn main() -> Result<(), KvError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (shape, looks) = match arguments.as_slice() {
        [shape @ .., word] if word == "look" => (shape, true),
        shape => (shape, false),
    };
    let [directory, records, seconds, reads, pairs] = shape else {
        panic!("{USAGE}");
    };
    let (records, reads): (u64, u32) = (records.parse().expect(USAGE), reads.parse().expect(USAGE));
    let seconds: f64 = seconds.parse().expect(USAGE);
    let spec = spec(records, seconds, reads);
    let database = Database::open(&spec, Path::new(directory), 0, Opening::Create)?;
    let library = std::env::var_os("OUTCROP_ROCKSDB_LIB").expect("the loop is $OUTCROP_ROCKSDB_LIB");
    // SAFETY: the driver has it open already, so nothing runs that has not run.
    let library = unsafe { libloading::Library::new(library) }.expect("the driver opened it");
    // SAFETY: the signature is that of `loop.c`.
    let slice: libloading::Symbol<'_, Slice> =
        unsafe { library.get(b"slice_by_hand\0") }.expect("it is the loop");
    // SAFETY: as above.
    let fill: libloading::Symbol<'_, Fill> =
        unsafe { library.get(b"fill_by_hand\0") }.expect("it is the loop");
    // SAFETY: the database is open.
    unsafe { fill(records) };
    database.load(Timing::after(Duration::ZERO), None)?;
    database.settle()?;
    let by_hand = || {
        let mut told = [0.0; 3];
        let (reads, looks) = (u64::from(reads), i32::from(looks));
        // SAFETY: the database is open, and there are three numbers to write.
        unsafe { slice(records, seconds, reads, looks, told.as_mut_ptr()) };
        told
    };
    let driven = || {
        let run = database.run(Timing::after(Duration::ZERO), None)?;
        let (phase, tally) = (&run.phase, &run.phase.tally);
        assert_eq!(
            (tally.missing, tally.mismatches),
            (0, 0),
            "{:?}",
            tally.first_problem
        );
        Ok::<_, KvError>(
            [phase.operations(), phase.duration_ns, phase.cpu.callers_ns].map(|number| number as f64),
        )
    };
    for pair in 0..pairs.parse().expect(USAGE) {
        let (ours, theirs) = match pair % 2 {
            0 => {
                let ours = driven()?;
                (ours, by_hand())
            }
            _ => {
                let theirs = by_hand();
                (driven()?, theirs)
            }
        };
        let numbers: Vec<String> = ours.iter().chain(&theirs).map(f64::to_string).collect();
        let _ = writeln!(std::io::stdout(), "{}", numbers.join(" "));
    }
    Ok(())
}

/// Uniform requests with the options of the loop.
fn spec(records: u64, seconds: f64, reads: u32) -> KvSpec {
    let mix = match reads {
        100 => "read:1".to_owned(),
        reads => format!("read:{reads},update:{}", 100 - reads),
    };
    KvSpec {
        options: StoreOptions {
            compression: "lz4".parse().expect("it is a codec"),
            ..StoreOptions::of(StoreEngine::RocksDb)
        },
        workload: mix.parse().expect("it is a mix"),
        requests: "uniform".parse().expect("it is a distribution"),
        records,
        duration: Duration::from_secs_f64(seconds),
        warm_up: WARM_UP,
        ..KvSpec::of(StoreEngine::RocksDb, Seed(7))
    }
}
