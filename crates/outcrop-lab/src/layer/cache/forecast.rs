//! What a trial will take: arithmetic with the speeds of a slow machine.

use std::time::Duration;

use outcrop_schema::cache::{ARRIVAL, FILL, Fill, KEYS, ORACLE, Oracle, SERVER, Server};
use outcrop_workload::Arrivals;

use crate::cell::Cell;
use crate::estimate::Forecast;

/// Filling a cache, per key, pipelined.
const FILL_KEY: Duration = Duration::from_nanos(2500);
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
    let asked = cell.trial.warm_up.0 + cell.trial.duration.0;
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
