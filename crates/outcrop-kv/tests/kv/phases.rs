//! Opening, load, settling, run and closing: each has its own time, and none is in that of another.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use outcrop_kv::{Database, KvSpec, Opening, Progress, Site, Timing, Witness, run};
use outcrop_probe::Clock;
use outcrop_workload::store::Settling;

use super::stage::{engines, spec, this_program, workplace};

/// Times that come from two clocks differ by their rounding.
const ROUNDING_NS: u64 = 10_000;

/// When the first and the last write of a phase were acknowledged.
struct Writes {
    clock: Clock,
    first_ns: AtomicU64,
    last_ns: AtomicU64,
}

impl Writes {
    fn on(clock: &Clock) -> Self {
        Self {
            clock: clock.clone(),
            first_ns: AtomicU64::new(u64::MAX),
            last_ns: AtomicU64::new(0),
        }
    }

    /// From the first to the last.
    fn span_ns(&self) -> u64 {
        self.last_ns.load(Ordering::Relaxed) - self.first_ns.load(Ordering::Relaxed)
    }
}

impl Witness for Writes {
    fn acknowledged(&self, _: u64, _: u64) {
        let now_ns = self.clock.now_ns();
        self.first_ns.fetch_min(now_ns, Ordering::Relaxed);
        self.last_ns.fetch_max(now_ns, Ordering::Relaxed);
    }
}

#[test]
fn a_load_has_the_time_of_its_writes_and_its_flush_and_not_that_of_the_opening() {
    for engine in engines() {
        let place = workplace();
        let spec = KvSpec {
            settling: Settling::None,
            warm_up: Duration::ZERO,
            ..spec(engine)
        };
        let clock = Clock::new();
        let database = Database::open(&spec, &place.path().join("db"), 0, Opening::Create).unwrap();
        let writes = Writes::on(&clock);
        let began_ns = clock.now_ns();
        let load = database
            .load(Timing::after(Duration::ZERO), Some(&writes))
            .unwrap();
        let call_ns = clock.now_ns() - began_ns;
        let (load_ns, flush_ns) = (load.phase.duration_ns, load.flush_ns);
        // The database was open when the call began, so that whatever is more than the call would be the opening's.
        let least_ns = writes.span_ns() + flush_ns;
        assert!(
            (least_ns.saturating_sub(ROUNDING_NS)..=call_ns + ROUNDING_NS).contains(&load_ns),
            "{engine}: {load_ns} ns; writes and flush {least_ns}, the call {call_ns}"
        );
        assert!(flush_ns > 0, "{engine}");
        let run = database.run(Timing::after(Duration::ZERO), None).unwrap();
        assert_eq!(run.phase.duration_ns, spec.duration.as_nanos() as u64, "{engine}");
        let per_second = run.phase.throughput_per_second();
        let operations = per_second * spec.duration.as_secs_f64();
        assert!(
            (operations - run.phase.operations() as f64).abs() < 1e-3,
            "{engine}"
        );
    }
}

#[test]
fn the_phases_of_a_trial_follow_one_another_and_overlap_nowhere() {
    for engine in engines() {
        let place = workplace();
        let spec = KvSpec {
            records: 10_000,
            settling: "rest:400ms".parse().unwrap(),
            duration: Duration::from_millis(400),
            ..spec(engine)
        };
        let site = Site {
            directory: place.path(),
            ground: None,
            stop: &AtomicBool::new(false),
            patience: outcrop_kv::PATIENCE,
            program: &this_program("stage::serves_its_parent", &[]),
        };
        let clock = Clock::new();
        let mut begun = Vec::new();
        let report = run(&spec, &site, &mut |progress| {
            begun.push((progress, clock.now_ns()));
        })
        .unwrap();
        let ended_ns = clock.now_ns();
        let [(Progress::Loading, loading_ns), (Progress::Running, running_ns)] = begun[..] else {
            panic!("{begun:?}");
        };
        // Were one of them in another, their sum would be longer than the time in which they were.
        let before_run = [report.opening_ns, report.load.duration_ns, report.settling_ns];
        let run_ns = (spec.warm_up + spec.duration).as_nanos() as u64;
        let from_run = [run_ns, report.closing_ns];
        for (phases, time_ns) in [
            (&before_run[..], running_ns - loading_ns),
            (&from_run[..], ended_ns - running_ns),
        ] {
            assert!(phases.iter().all(|phase| *phase > 0), "{engine}: {phases:?}");
            let sum_ns: u64 = phases.iter().sum();
            assert!(
                sum_ns <= time_ns + ROUNDING_NS,
                "{engine}: {phases:?} in {time_ns} ns"
            );
        }
        let loaded = report.load.throughput_per_second() * report.load.duration_ns as f64 / 1e9;
        assert!((loaded - spec.records as f64).abs() < 1e-3, "{engine}: {loaded}");
    }
}
