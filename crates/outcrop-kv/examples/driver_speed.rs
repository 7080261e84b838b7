//! What the driver costs: operations per second and core on a store that keeps nothing, each with its latency recorded.
//!
//! `cargo run --release -p outcrop-kv --example driver_speed`

use std::io::Write as _;
use std::time::Duration;

use outcrop_kv::{Database, KvError, KvSpec, Opening, Timing};
use outcrop_measure::Seed;
use outcrop_workload::keyed::StoreWorkload;
use outcrop_workload::store::StoreEngine;

fn main() -> Result<(), KvError> {
    let mut stdout = std::io::stdout();
    for workload in [
        "ycsb-c", "ycsb-a", "ycsb-b", "ycsb-d", "ycsb-e", "ycsb-f", "mixgraph",
    ] {
        for requests in ["uniform", "zipfian"] {
            let workload: StoreWorkload = workload.parse().expect("it is a workload");
            let spec = KvSpec {
                workload,
                requests: requests.parse().expect("it is a distribution"),
                value_size: workload.value_size(),
                warm_up: Duration::from_millis(200),
                duration: Duration::from_secs(2),
                ..KvSpec::of(StoreEngine::None, Seed(7))
            };
            let nowhere = std::path::Path::new("/nonexistent");
            let database = Database::open(&spec, nowhere, 0, Opening::Create)?;
            let run = database.run(Timing::after(Duration::ZERO), None)?;
            let (rate, latencies) = (run.phase.throughput_per_second(), run.phase.latencies());
            let line = format!(
                "{workload} {requests}: {:.2} M operations/s on one core, p50 {} ns, p99 {} ns",
                rate / 1e6,
                latencies.quantile(0.5).unwrap_or(0),
                latencies.quantile(0.99).unwrap_or(0),
            );
            let _ = writeln!(stdout, "{line}");
        }
    }
    Ok(())
}
