//! What a trial will take: arithmetic with the speeds of a slow machine.

use std::time::Duration;

use super::arrival::Arrivals;
use crate::cell::Cell;
use crate::estimate::Forecast;
use crate::layer::parsed;

/// Filling a cache, per key, pipelined.
const FILL_KEY: Duration = Duration::from_nanos(2500);
/// Tables and values of a load, connections, the server's start and end.
const OVERHEAD: Duration = Duration::from_millis(40);
/// What a server that is a process of its own takes beyond.
const PROCESS: Duration = Duration::from_millis(60);
/// The closed loop that an offered load is a share of.
const CLOSED_LOOP: Duration = Duration::from_millis(320);
/// Simulating a policy: as a share of the time that the server was asked.
const SIMULATION_SHARE: f64 = 0.2;
/// Setting up to one key in the simulation.
const SIMULATED_KEY: Duration = Duration::from_nanos(100);

pub(super) fn trial(cell: &Cell) -> Forecast {
    let factor = |name: &str| cell.factors.get(name).map_or("", String::as_str);
    let keys: u32 = parsed::<u64>(factor("keys")).try_into().unwrap_or(u32::MAX);
    let filled = match factor("fill") {
        "every-key" => keys,
        "nothing" => 0,
        sets => sets.trim_start_matches("sets:").parse().unwrap_or(u32::MAX),
    };
    let is_share = matches!(parsed(factor("arrival")), Arrivals::Share(..));
    let is_process = matches!(factor("server"), "memcached" | "redis" | "$MEMCACHED");
    let asked = cell.trial.warm_up.0 + cell.trial.duration.0;
    let mut time = OVERHEAD + FILL_KEY * filled + asked;
    if is_process {
        time += PROCESS;
    }
    if is_share {
        time += CLOSED_LOOP;
    }
    if factor("oracle") == "simulator" {
        time += asked.mul_f64(SIMULATION_SHARE) + SIMULATED_KEY * keys;
    }
    Forecast {
        time,
        bytes_written: 0,
    }
}
