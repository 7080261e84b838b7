//! Runs a load: connects, warms up, measures, and counts the CPU time of both sides.

mod book;
mod feed;
mod give_up;
mod judge;
mod lane;
mod wait;
mod warm_up;
mod worker;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use outcrop_measure::Seed;
use outcrop_measure::metric::Unavailable;
use outcrop_probe::process::ServingProcess;
use outcrop_probe::{Clock, OthersCpu};
use outcrop_workload::keyed::Requests;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use self::book::Book;
use self::feed::{Feed, Source};
use self::worker::{Phase, PhaseReport, Shared, Worker};
use crate::client::Connection;
use crate::error::CacheLoadError;
use crate::report::{DriverCpu, LoadReport, ServerCpu, Tally, WarmUpReport};
use crate::spec::{LoadSpec, RequestSource};

/// How far a load has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadProgress {
    /// The cache is being filled.
    Filling {
        /// Sets so far.
        done: u64,
        /// In all.
        total: u64,
    },
    /// The load runs until the hit ratio stands still.
    Settling {
        /// Of the last window; none before the first.
        hit_ratio: Option<f64>,
    },
    /// The measured time.
    Measuring {
        /// Seconds so far.
        elapsed: Duration,
        /// In all; none where the load ends after a number of requests or with its trace.
        total: Option<Duration>,
        /// Answers so far, those of sets on miss among them.
        answered: u64,
    },
}

/// CPU time by thread.
type ThreadTimes = BTreeMap<OsString, u64>;

/// How often progress is told.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// Between the last thread's start and the first request.
const START_DELAY: Duration = Duration::from_millis(2);

/// Runs one load on one server. Threads and connections are gone when it returns.
///
/// # Errors
/// The spec is impossible, no connection can be made, or the server stops answering altogether. What goes wrong with
/// single requests is in the report: see [`LoadReport::problems`].
pub fn run_load(
    spec: &LoadSpec,
    clock: &Clock,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(LoadProgress),
) -> Result<LoadReport, CacheLoadError> {
    spec.validate()?;
    let book = Book::new(spec)?;
    if spec.flushes_first {
        Connection::connect(&spec.target, Duration::from_secs(30))?.flush()?;
    }
    let mut workers = Vec::new();
    for index in 0..spec.threads {
        let connections =
            spec.connections / spec.threads + u32::from(index < spec.connections % spec.threads);
        workers.push(Worker::connect(spec, connections)?);
    }
    let answered = AtomicU64::new(0);
    let mut crew = Crew {
        workers,
        shared: Shared {
            spec,
            book: &book,
            clock,
            stop,
            answered: &answered,
        },
    };
    let warm_up = warm_up::warm_up(&mut crew, progress)?;
    measure(&mut crew, warm_up, progress)
}

fn measure(
    crew: &mut Crew<'_>,
    warm_up: WarmUpReport,
    progress: &mut dyn FnMut(LoadProgress),
) -> Result<LoadReport, CacheLoadError> {
    let spec = crew.shared.spec;
    let clock = crew.shared.clock;
    let server = crew.server();
    let server_before = server
        .as_ref()
        .map_err(Clone::clone)
        .and_then(ServingProcess::thread_times_ns);
    let cpus_before = OthersCpu::now();
    crew.shared.answered.store(0, Ordering::Relaxed);
    let start_ticks = clock.ticks() + clock.ticks_in(START_DELAY);
    let is_timed = spec.is_timed();
    let end_ticks = is_timed.then(|| start_ticks + clock.ticks_in(spec.duration));
    let seed = spec.seed.derive("measured requests");
    let reports = crew.run(
        |index| {
            Ok(crew_phase(
                spec,
                index,
                seed,
                start_ticks,
                end_ticks,
                spec.is_open_loop(),
            ))
        },
        &mut |answered| {
            let elapsed_ns = clock.nanos(clock.ticks().saturating_sub(start_ticks));
            progress(LoadProgress::Measuring {
                elapsed: Duration::from_nanos(elapsed_ns),
                total: is_timed.then_some(spec.duration),
                answered,
            });
        },
    )?;
    let cpus_after = OthersCpu::now();
    let server_after = server
        .as_ref()
        .map_err(Clone::clone)
        .and_then(ServingProcess::thread_times_ns);
    let is_served_here = server.as_ref().is_ok_and(ServingProcess::is_this_process);
    let server_cpu = server_cpu(server, server_before, server_after);
    let server_ns = server_ns_here(&server_cpu, is_served_here, crew.is_elsewhere());
    let began = reports.iter().map(|report| report.began_ticks).min();
    let mut ended_ticks = start_ticks.max(next_due_ticks(&reports, crew.shared.stop));
    let (mut tally, mut cpu_total_ns, mut cpu_most_ns) = (Tally::default(), 0, 0);
    for report in reports {
        cpu_total_ns += report.cpu_ns;
        cpu_most_ns = cpu_most_ns.max(report.cpu_ns);
        ended_ticks = ended_ticks.max(report.ended_ticks);
        tally.merge(report.tally);
    }
    // A trace or the user may end it early; replies that are waited for at the end are no measured time. Of a number of requests
    // by a schedule, each has its whole gap: that of the last one ends when the next would be due.
    let since_begun = |ticks: u64| clock.nanos(ticks.saturating_sub(began.unwrap_or(start_ticks)));
    let (loaded_ns, longest_ns) = (since_begun(ended_ticks), end_ticks.map_or(u64::MAX, since_begun));
    let duration_ns = loaded_ns.min(longest_ns).max(1);
    Ok(LoadReport {
        trace_requests: spec.trace_requests(),
        is_open_loop: spec.is_open_loop(),
        requested_per_second: spec.arrival.per_second().map(outcrop_measure::Rate::per_second),
        objective: spec.objective,
        duration_ns,
        is_interrupted: crew.shared.stop.load(Ordering::Relaxed),
        tally,
        warm_up,
        driver_cpu: DriverCpu {
            total_ns: cpu_total_ns,
            busiest_share: cpu_most_ns as f64 / loaded_ns.max(1) as f64,
        },
        others_cpu_share: server_ns
            .and_then(|server_ns| cpus_after.share_beside_server(&cpus_before, server_ns)),
        server_cpu,
    })
}

/// When one more request would have been due, where all threads have sent the number asked of them.
/// Else, and where the user stopped it, 0.
fn next_due_ticks(reports: &[PhaseReport], stop: &AtomicBool) -> u64 {
    let of_threads: Option<Vec<_>> = reports.iter().map(|report| report.next_due_ticks).collect();
    let first = of_threads.and_then(|ticks| ticks.into_iter().min());
    first.filter(|_| !stop.load(Ordering::Relaxed)).unwrap_or(0)
}

/// The server's CPU time on this machine that is not the driver's, too; none where it is not known.
fn server_ns_here(
    server_cpu: &Result<ServerCpu, Unavailable>,
    is_this_process: bool,
    is_elsewhere: bool,
) -> Option<u64> {
    match server_cpu {
        Ok(_) if is_this_process => Some(0),
        Ok(cpu) => Some(cpu.total_ns),
        // A server that cannot be seen may be on this machine.
        Err(_) => is_elsewhere.then_some(0),
    }
}

/// The measured load of one thread, its requests and its share of the schedule.
fn crew_phase(
    spec: &LoadSpec,
    index: u32,
    seed: Seed,
    start_ticks: u64,
    end_ticks: Option<u64>,
    is_open_loop: bool,
) -> impl FnOnce(&Book) -> Phase {
    let schedule = spec
        .arrival
        .schedule_of_job(index, spec.threads, seed.derive("arrivals"));
    let source = source(spec, index, seed);
    let pipeline = spec.pipeline;
    // A stretch of the warm-up has its time.
    let requests = spec.requests_of(index).filter(|_| end_ticks.is_none());
    move |book: &Book| {
        let source = source(book);
        let feed = if is_open_loop {
            Feed::open(source, schedule, book)
        } else {
            Feed::closed(source)
        };
        Phase {
            feed: feed.limited_to(requests),
            pipeline,
            start_ticks,
            end_ticks,
        }
    }
}

/// What one thread asks for: its own draws, or its keys of the trace.
fn source(spec: &LoadSpec, index: u32, seed: Seed) -> impl FnOnce(&Book) -> Source {
    let source = spec.source.clone();
    let (threads, most) = (spec.threads, spec.requests);
    move |book: &Book| match source {
        RequestSource::Generated { .. } => {
            Source::Drawn(drawn(&source, book, seed.derive_index(u64::from(index))))
        }
        RequestSource::Trace { trace, .. } => Source::Trace {
            left: most.map_or(usize::MAX, |most| {
                usize::try_from(most.get()).unwrap_or(usize::MAX)
            }),
            trace,
            next: 0,
            share: (u64::from(index), u64::from(threads)),
        },
    }
}

/// The workload's stream of one seed.
fn drawn(source: &RequestSource, book: &Book, seed: Seed) -> Requests {
    match (source, &book.keys) {
        (RequestSource::Generated { workload, .. }, book::Keys::Space(space)) => {
            workload.requests(space, seed)
        }
        _ => unreachable!("generated requests have a space of keys"),
    }
}

/// What the server's threads used between two readings. The driver's threads begin and end between them: where the
/// server lives in this process, only threads that both readings have are its own.
fn server_cpu(
    server: Result<ServingProcess, Unavailable>,
    before: Result<ThreadTimes, Unavailable>,
    after: Result<ThreadTimes, Unavailable>,
) -> Result<ServerCpu, Unavailable> {
    let (server, before, after) = (server?, before?, after?);
    let used = after
        .iter()
        .filter_map(|(thread, after_ns)| match before.get(thread) {
            Some(before_ns) => Some(after_ns.saturating_sub(*before_ns)),
            None if server.is_this_process() => None,
            None => Some(*after_ns),
        });
    Ok(ServerCpu {
        total_ns: used.sum(),
        process: server.to_string(),
    })
}

/// The driver's threads between phases: each phase runs on fresh threads, and all of them end with it.
struct Crew<'a> {
    workers: Vec<Worker>,
    shared: Shared<'a>,
}

impl Crew<'_> {
    /// Runs a phase on all threads; `on_progress` is called with the answers so far.
    fn run<P: FnOnce(&Book) -> Phase>(
        &mut self,
        phase_of: impl Fn(u32) -> Result<P, CacheLoadError>,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<PhaseReport>, CacheLoadError> {
        let shared = &self.shared;
        let mut phases = Vec::new();
        for index in 0..self.workers.len() {
            phases.push(phase_of(index as u32)?(shared.book));
        }
        let cpus = if shared.spec.is_pinned {
            allowed_cpus()
        } else {
            Vec::new()
        };
        std::thread::scope(|scope| {
            let (alive, ended) = mpsc::channel::<()>();
            let mut threads = Vec::new();
            for (index, (worker, phase)) in self.workers.iter_mut().zip(phases).enumerate() {
                let alive = alive.clone();
                let cpu = (!cpus.is_empty()).then(|| cpus[cpus.len() - 1 - index % cpus.len()]);
                let run = move || {
                    pin(cpu);
                    // Late wake-ups would show as latency.
                    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
                    let result = worker.run(shared, phase);
                    drop(alive);
                    result
                };
                let thread = std::thread::Builder::new()
                    .name(format!("load-{index}"))
                    .spawn_scoped(scope, run)
                    .map_err(|error| CacheLoadError::system("start a thread", error))?;
                threads.push(thread);
            }
            drop(alive);
            // Nothing is ever sent: the channel closes when the last thread is done.
            while ended.recv_timeout(PROGRESS_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                on_progress(shared.answered.load(Ordering::Relaxed));
            }
            threads
                .into_iter()
                .map(|thread| match thread.join() {
                    Ok(result) => result,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
                .collect()
        })
    }

    /// Whether the server is on another machine.
    fn is_elsewhere(&self) -> bool {
        let local = self.workers.first().and_then(Worker::local_address);
        let peer = self.workers.first().and_then(Worker::peer_address);
        local
            .zip(peer)
            .is_some_and(|(local, peer)| is_other_machine(local, peer))
    }

    /// The process behind the other end of our connections.
    fn server(&self) -> Result<ServingProcess, Unavailable> {
        let peer: Option<SocketAddr> = self.workers.first().and_then(Worker::peer_address);
        match peer {
            Some(peer) => ServingProcess::listening_on(peer),
            None => Err(Unavailable::because("the server's address is not known")),
        }
    }
}

/// Whether a connection leads to another machine. One to any address of this machine comes from the same address.
fn is_other_machine(local: SocketAddr, peer: SocketAddr) -> bool {
    !peer.ip().is_loopback() && peer.ip() != local.ip()
}

/// The CPUs that this process may use, ascending; empty where the kernel does not say.
fn allowed_cpus() -> Vec<usize> {
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect(),
        Err(_) => Vec::new(),
    }
}

/// Keeps this thread on one CPU; where that is refused it moves, which the figures survive.
fn pin(cpu: Option<usize>) {
    if let Some(cpu) = cpu {
        let mut set = CpuSet::new();
        set.set(cpu);
        let _ = sched_setaffinity(None, &set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_machine_is_no_other_machine() {
        let is_other =
            |local: &str, peer: &str| is_other_machine(local.parse().unwrap(), peer.parse().unwrap());
        assert!(is_other("192.0.2.1:40000", "192.0.2.2:6379"));
        assert!(!is_other("192.0.2.1:40000", "192.0.2.1:6379"));
        assert!(!is_other("127.0.0.1:40000", "127.0.0.2:6379"));
        assert!(!is_other("[2001:db8::1]:40000", "[2001:db8::1]:6379"));
    }
}
