//! `outcrop kv`: key-value engines, one-off, a flag for each factor; and the hidden command by which a process holds a database.

use super::factor_flags::{FactorFlags, OneOff, Spell};
use super::placement_flags::PlacementFlags;
use super::plan_flags::PlanFlags;
use crate::exit::{Ending, bad_input};
use crate::session;
use outcrop_lab::{Draft, PlanOptions, PlanSet};
use outcrop_measure::units::TimeSpan;
use outcrop_schema::{LayerSchema, kv};
use outcrop_workload::keyed::OperationKind;
use std::collections::BTreeSet;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  outcrop kv                                             YCSB A on fjall, 100,000 records of 1000 B
  outcrop kv --engine rocksdb --compression none,lz4,zstd:3      what each codec costs and saves
  outcrop kv --engine fjall,rocksdb,redb --workload ycsb-c       reads only, on three engines
  outcrop kv --engine fjall,redis,memcached              servers, one started for each database
  outcrop kv --data /srv/dump --block-size 4k,16k        values cut from your files
  outcrop kv /mnt/ssd --records 1000000 --dry-run        cells, time and bytes to be written
  outcrop kv --threads 10 --processes 1,4 --memory-limit 2GiB --requests uniform --settling rest:60s
  outcrop kv --arrival poisson:20k --durability synced   20,000 operations/s, every write synced
  outcrop kv --workload read:95+update:5                 any mix of operations

Several values of a flag, separated by commas, make it a factor: every combination is a cell. Databases \
are made in a separate folder in PATH and removed; your own databases are never opened. RocksDB is the \
system's library (librocksdb-dev), or the one that OUTCROP_ROCKSDB_LIB names. Redis and memcached are the \
system's programs (redis-server, memcached), or those that OUTCROP_REDIS_SERVER and OUTCROP_MEMCACHED \
name; they listen on a Unix socket in that folder, and each thread sends one request at a time: throughput \
describes round trips, not the server's capacity.

An update is one put of the whole record, whereas YCSB's own binding for RocksDB reads the record first. \
To measure that, use read-modify-write (ycsb-f instead of ycsb-a).";

/// Measure key-value engines, with a flag for each factor
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A directory on the disk to measure; databases are created in it and removed
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Take the values from this file or directory, which is only read [default: generated values]
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    #[command(flatten)]
    factors: FactorFlags<Kv>,
    #[command(flatten)]
    flags: PlanFlags,
    #[command(flatten)]
    placement: PlacementFlags,
}

#[derive(Debug)]
pub(crate) struct Kv;

impl OneOff for Kv {
    const SCHEMA: &'static LayerSchema = &kv::SCHEMA;
    const SPELL: Spell = |factor, value| match factor.name == kv::WORKLOAD.name {
        true => whole_mix(value).map(|()| vec![value.to_owned()]),
        false => Ok(vec![value.to_owned()]),
    };
}

/// Refuses a part of a mix that a comma has separated from the others, as tables spell mixes: alone it would be all operations.
fn whole_mix(value: &str) -> Result<(), String> {
    let parsed = value
        .split_once(':')
        .map(|(kind, share)| (kind.parse::<OperationKind>(), share.trim().parse::<u32>()));
    match parsed {
        Some((Ok(kind), Ok(share))) if share != 100 => Err(format!(
            "`{value}` alone is nothing but {kind}; if it is part of a mix, join the parts with `+`, such as read:95+insert:5, because a \
             comma separates workloads; else type {kind}:100"
        )),
        _ => Ok(()),
    }
}

/// A one-off answers soon: three trials of this length.
const DURATION: TimeSpan = TimeSpan::seconds(3);
const WARM_UP: TimeSpan = TimeSpan::milliseconds(500);
const REPETITIONS: u32 = 3;

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let options = PlanOptions {
        directory: Some(args.path.clone()),
        data: args.data.clone(),
        duration: args.flags.duration.or(Some(DURATION)),
        warm_up: args.flags.warm_up.or(Some(WARM_UP)),
        repetitions: args.flags.repetitions.or(Some(REPETITIONS)),
        constraints: args.placement.constraints(),
        prices: args.placement.prices()?,
        ..args.flags.options()
    };
    let draft = Draft::new(
        "kv",
        "How do these engines perform under this workload?",
        kv::SCHEMA.name,
        "outcrop kv",
    );
    let set =
        PlanSet::from_drafts(vec![args.factors.write_over(draft)], &options).map_err(session::lab_error)?;
    if !args.flags.dry_run {
        check_engine(&set)?;
    }
    session::start(&set, "kv", &args.flags)
}

/// Where the only engine is not on this machine there is nothing to measure: that is said once, before anything is begun.
fn check_engine(set: &PlanSet) -> anyhow::Result<()> {
    let engines = set.cells().iter().map(|cell| *cell.factors.value(&kv::ENGINE));
    let engines: BTreeSet<_> = engines.collect();
    match (engines.len(), engines.first()) {
        (1, Some(engine)) => outcrop_kv::engine::load(*engine).map_err(bad_input),
        _ => Ok(()),
    }
}

/// Hold one database for the process that started this one
#[derive(Debug, clap::Args)]
pub(crate) struct WorkerArgs {}

/// Serves the lab until it closes our standard input.
pub(crate) fn work(_: &WorkerArgs) -> anyhow::Result<Ending> {
    outcrop_kv::serve_parent()?;
    Ok(Ending::Done)
}
