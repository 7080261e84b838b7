//! What a textbook simulation of the server's policy says about the same workload.

use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_cache::store::PolicyKind;
use outcrop_cache_load::{LoadReport, LoadSpec, RequestSource, Tally, WarmUpReport};
use outcrop_measure::Seed;
use outcrop_measure::metric::Unavailable;
use outcrop_workload::keyed::RequestKind;

use crate::server::{Held, Program, ServerKind, ServerSpec};
use crate::simulator::simulator;

/// More keys than this would take gigabytes.
const MOST_KEYS: u64 = 50_000_000;
/// Requests between two checks of the stop flag.
const LOOK_EVERY: u64 = 1 << 16;

/// The policy that a server is simulated by; what memcached and Redis do is near to LRU, and neither is exactly it.
pub(crate) const fn policy_of(spec: &ServerSpec) -> Option<PolicyKind> {
    match &spec.kind {
        ServerKind::Embedded | ServerKind::Program(Program::Build(_)) => Some(spec.policy),
        ServerKind::Program(Program::Memcached | Program::Named | Program::Redis) => Some(PolicyKind::Lru),
        ServerKind::At(_) => None,
    }
}

/// The hit ratio of a simulation with as many items as the server held, that is asked as many requests as the server
/// was: filled as it was filled, warmed up as long, measured as long. The draws are its own.
pub(crate) fn simulated_hit_ratio(
    spec: &ServerSpec,
    load: &LoadSpec,
    report: &LoadReport,
    held: &Held,
    stop: &AtomicBool,
) -> Result<f64, Unavailable> {
    let RequestSource::Generated { workload, key_count } = &load.source else {
        return Err(Unavailable::because("a trace is not simulated"));
    };
    let policy = policy_of(spec)
        .ok_or_else(|| Unavailable::because("the eviction policy of the server at this URL is unknown"))?;
    let keys = u32::try_from(*key_count).ok().filter(|_| *key_count <= MOST_KEYS);
    let keys = keys.ok_or_else(|| {
        Unavailable::because(format!(
            "{key_count} keys are too many to simulate; the limit is {MOST_KEYS}"
        ))
    })?;
    // A cache that never evicted has room for more than it holds.
    let is_full = held.evictions > 0 || report.warm_up.refused + report.tally.refused > 0;
    let capacity = if is_full { held.items } else { key_count + 1 };
    let mut cache = simulator(policy, capacity as usize, keys);
    if report.warm_up.sets >= *key_count {
        (0..keys).rev().for_each(|key| cache.set(key));
    }
    let (warming, measured) = drawn(&report.warm_up, &report.tally);
    let space = outcrop_workload::keyed::KeySpace::new(*key_count, workload.key_size, workload.value_size)
        .map_err(|why| Unavailable::because(why.to_string()))?;
    let mut requests = workload.requests(&space, seed_of(load.seed));
    let (mut hits, mut misses) = (0_u64, 0_u64);
    for number in 0..warming + measured {
        if number.is_multiple_of(LOOK_EVERY) && stop.load(Ordering::Relaxed) {
            return Err(Unavailable::because("stopped"));
        }
        let request = requests.next_request();
        let key = request.key_id as u32;
        match request.kind {
            RequestKind::Get => {
                let is_hit = cache.get(key);
                if !is_hit && load.sets_on_miss {
                    cache.set(key);
                }
                let count = if is_hit { &mut hits } else { &mut misses };
                *count += u64::from(number >= warming);
            }
            RequestKind::Set => cache.set(key),
            RequestKind::Delete => cache.delete(key),
        }
    }
    if hits + misses == 0 {
        return Err(Unavailable::because("no get was simulated"));
    }
    Ok(hits as f64 / (hits + misses) as f64)
}

/// How many requests were drawn before measuring and while measuring: sets on miss follow from them.
fn drawn(warm_up: &WarmUpReport, tally: &Tally) -> (u64, u64) {
    (
        warm_up.operations.saturating_sub(warm_up.fills),
        tally.operations().saturating_sub(tally.fills),
    )
}

/// Draws of its own: agreement is not to come from equal numbers.
fn seed_of(seed: Seed) -> Seed {
    seed.derive("requests of the simulation")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulator_is_asked_no_request_for_a_set_on_miss_before_measuring_or_after() {
        let mut tally = Tally::default();
        // 70 gets, of which 30 missed and were set.
        (tally.kinds[0].operations, tally.kinds[1].operations, tally.fills) = (70, 30, 30);
        let warm_up = WarmUpReport {
            operations: 1_310,
            fills: 310,
            ..WarmUpReport::default()
        };
        assert_eq!(drawn(&warm_up, &tally), (1_000, 70));
    }
}
