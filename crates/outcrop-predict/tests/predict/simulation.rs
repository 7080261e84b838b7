//! A discrete-event simulation of clients that circulate between a delay and stations: the oracle of the exact solution.

use outcrop_measure::Seed;
use rand::RngExt as _;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Operations per second of `clients`, with exponential times.
pub(crate) fn throughput(
    clients: u32,
    delay_ns: f64,
    stations: &[(f64, u32)],
    operations: u32,
    seed: u64,
) -> f64 {
    let mut random = Seed(seed).rng();
    let mut exponential = move |mean: f64| -mean * (1.0 - random.random::<f64>()).ln();
    // Time as whole picoseconds, so that events have an order.
    let mut events: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let at = |now: u64, wait: f64| now + (wait * 1000.0) as u64;
    for _ in 0..clients {
        events.push(Reverse((at(0, exponential(delay_ns)), 0)));
    }
    let mut free: Vec<u32> = stations.iter().map(|(_, servers)| *servers).collect();
    let mut queues: Vec<VecDeque<()>> = vec![VecDeque::new(); stations.len()];
    let warm_up = operations / 10;
    let (mut done, mut started, mut now) = (0, 0, 0);
    while done < operations + warm_up {
        let Reverse((time, stage)) = events.pop().unwrap();
        now = time;
        // Stage k ends at station k - 1; stage 0 is the delay.
        if stage > 0 {
            let station = stage - 1;
            free[station] += 1;
            if queues[station].pop_front().is_some() {
                free[station] -= 1;
                events.push(Reverse((at(now, exponential(stations[station].0)), stage)));
            }
        }
        if stage < stations.len() {
            if free[stage] > 0 {
                free[stage] -= 1;
                events.push(Reverse((at(now, exponential(stations[stage].0)), stage + 1)));
            } else {
                queues[stage].push_back(());
            }
        } else {
            done += 1;
            if done == warm_up {
                started = now;
            }
            events.push(Reverse((at(now, exponential(delay_ns)), 0)));
        }
    }
    f64::from(operations) / ((now - started) as f64 / 1000.0) * 1e9
}
