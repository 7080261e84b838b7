//! One server, one load, and everything that is known about it afterwards.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_cache_load::{LoadReport, LoadSpec, Protocol, Target, WarmUp, run_load};
use outcrop_measure::metric::Unavailable;
use outcrop_measure::{Rate, Seed, TimeSpan};
use outcrop_probe::Clock;
use outcrop_workload::Arrival;

use crate::error::CacheBenchError;
use crate::oracle::simulated_hit_ratio;
use crate::server::{Held, Running, ServerSpec, is_shared};

/// The rate of an open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Offered {
    /// As the load's arrival process says; a closed loop too.
    #[default]
    AsGiven,
    /// This share of what a closed loop of the same connections got from the same server just before.
    ShareOfClosedLoop(f64),
}

/// One trial.
#[derive(Clone, Debug)]
pub struct BenchSpec {
    /// The server.
    pub server: ServerSpec,
    /// The load; its target is the server, whatever it says.
    pub load: LoadSpec,
    /// The rate of an open loop.
    pub offered: Offered,
    /// Whether the server's policy is simulated beside it.
    pub is_simulated: bool,
}

impl BenchSpec {
    /// ETC over 100,000 keys on a server, as [`LoadSpec::new`] has it, without a simulation.
    pub fn new(server: ServerSpec, seed: Seed) -> Self {
        let target = Target::loopback(Protocol::Memcached, 0);
        Self {
            server,
            load: LoadSpec::new(target, seed),
            offered: Offered::default(),
            is_simulated: false,
        }
    }
}

/// What one trial gave.
#[derive(Clone, Debug)]
pub struct BenchReport {
    /// The load.
    pub load: LoadReport,
    /// What the server held at the end.
    pub held: Result<Held, Unavailable>,
    /// Resident memory of the server's process at the end.
    pub resident_bytes: Result<u64, Unavailable>,
    /// Hit ratio of the simulation; none where none was asked for.
    pub simulated_hit_ratio: Option<Result<f64, Unavailable>>,
    /// Throughput of the closed loop that a share was taken of.
    pub closed_loop_per_second: Option<f64>,
    /// The server with its version and place.
    pub server: String,
    /// Whether server and driver had to share a CPU.
    pub is_cpu_shared: bool,
}

/// How long the closed loop runs that a share is taken of.
pub const CLOSED_LOOP: Duration = Duration::from_millis(250);

/// Starts the server, drives the load at it, asks what it holds, ends it.
///
/// # Errors
/// The server cannot be started ([`CacheBenchError::Absent`] where it is not on this machine), or not be measured.
pub fn run(spec: &BenchSpec, clock: &Clock, stop: &AtomicBool) -> Result<BenchReport, CacheBenchError> {
    let server = Running::start(&spec.server, spec.load.threads, clock)?;
    let mut load = LoadSpec {
        target: server.target().clone(),
        ..spec.load.clone()
    };
    let mut closed_loop: Option<LoadReport> = None;
    if let Offered::ShareOfClosedLoop(share) = spec.offered {
        let closed = LoadSpec {
            arrival: Arrival::Closed,
            duration: CLOSED_LOOP,
            ..load.clone()
        };
        let closed = closed_loop.insert(run_load(&closed, clock, stop, &mut |_| {})?);
        let most = closed.throughput_per_second();
        let per_second = Rate::new((most * share).max(1.0)).map_err(|error| {
            CacheBenchError::system("choose a rate", std::io::Error::other(error.to_string()))
        })?;
        load.arrival = load.arrival.at(per_second);
        // The cache is warm; a moment at the new rate finds the pace.
        load.warm_up = WarmUp::For(TimeSpan(CLOSED_LOOP / 5));
    }
    let mut report = run_load(&load, clock, stop, &mut |_| {})?;
    let closed_loop_per_second = closed_loop.as_ref().map(LoadReport::throughput_per_second);
    if let Some(closed) = closed_loop {
        add_warm_up(&mut report, closed);
    }
    let held = server.held();
    let resident_bytes = server.resident_bytes();
    let name = server.to_string();
    server.stop()?;
    let simulated_hit_ratio = spec.is_simulated.then(|| match &held {
        Ok(_) if closed_loop_per_second.is_some() => Err(Unavailable::because(
            "a load with a rate that is a share of the closed loop's is not simulated",
        )),
        Ok(held) => simulated_hit_ratio(&spec.server, &load, &report, held, stop),
        Err(why) => Err(why.clone()),
    });
    Ok(BenchReport {
        load: report,
        held,
        resident_bytes,
        simulated_hit_ratio,
        closed_loop_per_second,
        server: name,
        is_cpu_shared: is_shared(spec.server.threads, spec.load.threads),
    })
}

/// The load that found the pace warmed the cache for the one that is reported.
fn add_warm_up(report: &mut LoadReport, closed: LoadReport) {
    let (warm_up, before) = (&mut report.warm_up, closed.warm_up);
    warm_up.sets += before.sets;
    warm_up.operations += before.operations + closed.tally.operations();
    warm_up.fills += before.fills + closed.tally.fills;
    warm_up.refused += before.refused + closed.tally.refused;
    warm_up.first_refusal = before
        .first_refusal
        .or(closed.tally.first_refusal)
        .or(warm_up.first_refusal.take());
    warm_up.duration += before.duration + CLOSED_LOOP;
}
