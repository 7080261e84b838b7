//! What the driver itself costs: one driver thread on one core against a stub on another, over a real loopback socket.
//!
//! Eight connections, so that the driver has something to do while the stub writes. The stub counts line ends and answers a miss to each, so that it is quicker than any cache. Prints requests per
//! second, the driver's CPU time per request and its CPU share, for several pipelines. On a machine that does other
//! things too, requests per second of the driver's own CPU time say what a core to itself would do:
//! `cargo run --release -p outcrop-cache-load --example saturate_stub`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_cache_load::{LoadSpec, Protocol, RequestSource, Target, WarmUp, run_load};
use outcrop_measure::Seed;
use outcrop_probe::Clock;
use outcrop_workload::keyed::{KeyedWorkload, Preset};
use rustix::thread::{CpuSet, sched_setaffinity};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let target = Target::loopback(Protocol::Memcached, listener.local_addr()?.port());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    let clock = Clock::new();
    println!("pipeline  requests/s  driver ns/request  driver CPU share  requests per driver CPU second");
    for pipeline in [1, 16, 64, 256] {
        let mut workload = KeyedWorkload::of(Preset::Etc);
        workload.mix = "1:0".parse()?;
        let spec = LoadSpec {
            source: RequestSource::Generated {
                workload,
                key_count: 1_000_000,
            },
            connections: 8,
            pipeline,
            sets_on_miss: false,
            warm_up: WarmUp::For("200ms".parse()?),
            duration: Duration::from_secs(2),
            ..LoadSpec::new(target.clone(), Seed(1))
        };
        let report = run_load(&spec, &clock, &AtomicBool::new(false), &mut |_| {})?;
        let cost_ns = report.driver_cpu_per_operation_ns().unwrap_or(f64::NAN);
        println!(
            "{pipeline:8}  {:10.0}  {cost_ns:17.0}  {:16.2}  {:30.0}",
            report.throughput_per_second(),
            report.driver_cpu.busiest_share,
            1e9 / cost_ns
        );
    }
    Ok(())
}

/// Answers every line with a miss, on the first CPU; the driver takes the last one.
fn answer(mut stream: TcpStream) {
    let mut first = CpuSet::new();
    first.set(0);
    // Refused, it runs where it can: the figures show it.
    let _ = sched_setaffinity(None, &first);
    let mut input = vec![0; 256 << 10];
    let misses = b"END\r\n".repeat(16 << 10);
    while let Ok(received) = stream.read(&mut input) {
        let lines = memchr::memchr_iter(b'\n', &input[..received]).count();
        if received == 0 || stream.write_all(&misses[..lines * 5]).is_err() {
            return;
        }
    }
}
