//! What a trial will take: arithmetic with the speeds of a slow machine.

use std::time::Duration;

use outcrop_schema::cache::{
    ARRIVAL, CONNECTIONS, FILL, Fill, KEYS, ORACLE, Oracle, PIPELINE, REQUESTS, SERVER, Server,
};
use outcrop_workload::Arrivals;

use crate::cell::Cell;
use crate::estimate::Forecast;

/// Filling a cache, per key, pipelined.
const FILL_KEY: Duration = Duration::from_nanos(2500);
/// From a request to its reply, where a connection waits for it.
const ROUND_TRIP_S: f64 = 130e-6;
/// A request among many in flight.
const REQUEST_S: f64 = 5e-6;
/// Longer than anybody waits, and short enough that no sum of trials overflows.
const LONGEST_S: f64 = 1e9;
/// Tables and values of a load, connections, the server's start and end.
const OVERHEAD: Duration = Duration::from_millis(40);
/// What a server that is a process of its own takes beyond.
const PROCESS: Duration = Duration::from_millis(60);
/// What starting over for an open loop takes beyond the closed loop that its load is a share of.
const CLOSED_LOOP_START: Duration = Duration::from_millis(70);
/// Simulating a policy: as a share of the time that the server was asked.
const SIMULATION_SHARE: f64 = 0.2;
/// Setting up to one key in the simulation.
const SIMULATED_KEY: Duration = Duration::from_nanos(100);

pub(super) fn trial(cell: &Cell) -> Forecast {
    let factors = &cell.factors;
    let keys = u32::try_from(*factors.value(&KEYS)).unwrap_or(u32::MAX);
    let filled = match *factors.value(&FILL) {
        Fill::EveryKey => keys,
        Fill::Nothing => 0,
        Fill::Sets(sets) => sets.try_into().unwrap_or(u32::MAX),
    };
    let asked = cell.trial.warm_up.0 + measured(cell);
    let mut time = OVERHEAD + FILL_KEY * filled + asked;
    if factors
        .get(&SERVER)
        .is_some_and(|server| *server != Server::Outcrop)
    {
        time += PROCESS;
    }
    if matches!(factors.value(&ARRIVAL), Arrivals::Share(..)) {
        time += outcrop_cache_bench::CLOSED_LOOP + CLOSED_LOOP_START;
    }
    if factors.get(&ORACLE) == Some(&Oracle::Simulator) {
        time += asked.mul_f64(SIMULATION_SHARE) + SIMULATED_KEY * keys;
    }
    Forecast {
        time,
        ..Forecast::default()
    }
}

/// The measured time: that of a number of requests does not follow the duration, and no budget shortens it.
fn measured(cell: &Cell) -> Duration {
    let factors = &cell.factors;
    let Some(requests) = factors.value(&REQUESTS).0 else {
        return cell.trial.duration.0;
    };
    let in_flight = f64::from(*factors.value(&CONNECTIONS)) * f64::from(*factors.value(&PIPELINE));
    let closed_s = (ROUND_TRIP_S / in_flight).max(REQUEST_S);
    let request_s = match factors.value(&ARRIVAL) {
        Arrivals::Given(arrival) => {
            let due_s = arrival.per_second().map_or(0.0, |rate| 1.0 / rate.per_second());
            due_s.max(closed_s)
        }
        Arrivals::Share(_, percent) => closed_s * (100.0 / percent).max(1.0),
    };
    Duration::from_secs_f64((requests.get() as f64 * request_s).min(LONGEST_S))
}
