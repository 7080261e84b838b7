//! Open loops: every request that was due is accounted for, also when the device stands still.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_device::{Ended, EngineKind, JobReport, JobSpec, Target, run_job};
use outcrop_measure::seed::Seed;
use outcrop_probe::clock::Clock;
use outcrop_workload::{Arrival, ReadWriteMix, Submission};
use rustix::event::{Timespec, poll};

use crate::stage::{Disk, folder, run, scratch, short_spec};

const FIFREEZE: libc::c_ulong = 0xc004_5877;
const FITHAW: libc::c_ulong = 0xc004_5878;

/// A filesystem that accepts no write until this is dropped.
struct Freeze<'c> {
    clock: &'c Clock,
    directory: File,
    /// Between these two readings of the clock it took hold.
    asked_ns: u64,
    frozen_ns: u64,
}

impl<'c> Freeze<'c> {
    fn of(mount_point: &Path, clock: &'c Clock) -> Self {
        let directory = File::open(mount_point).unwrap();
        let asked_ns = clock.now_ns();
        assert_eq!(
            ioctl(&directory, FIFREEZE),
            0,
            "{}",
            std::io::Error::last_os_error()
        );
        Self {
            clock,
            directory,
            asked_ns,
            frozen_ns: clock.now_ns(),
        }
    }

    /// When it took hold and when it let go: the earliest and the latest.
    fn thaw(self) -> ((u64, u64), (u64, u64)) {
        let asked_ns = self.clock.now_ns();
        assert_eq!(
            ioctl(&self.directory, FITHAW),
            0,
            "{}",
            std::io::Error::last_os_error()
        );
        ((self.asked_ns, self.frozen_ns), (asked_ns, self.clock.now_ns()))
    }
}

impl Drop for Freeze<'_> {
    fn drop(&mut self) {
        // Already thawed unless a test failed; then this keeps the rest of the run from hanging.
        let _ = ioctl(&self.directory, FITHAW);
    }
}

#[expect(unsafe_code, reason = "freezing has no safe binding")]
fn ioctl(directory: &File, request: libc::c_ulong) -> i32 {
    // SAFETY: both requests take no argument that the kernel reads or writes.
    unsafe { libc::ioctl(directory.as_raw_fd(), request, 0) }
}

fn wait(time: Duration) {
    let limit = Timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    poll(&mut [], Some(&limit)).unwrap();
}

/// What happened to the filesystem while a job ran, on the job's clock.
struct FrozenRun {
    report: JobReport,
    /// Earliest and latest start of the freeze, then of the thaw.
    froze_ns: (u64, u64),
    thawed_ns: (u64, u64),
    job_started_ns: u64,
}

/// Runs a job of 4 s on a filesystem of its own that stands still from second 1 to 2.
fn run_frozen(spec: &JobSpec) -> FrozenRun {
    let disk = Disk::formatted("ext4", 64 << 20);
    let target = Target::Scratch(scratch(&disk.mount_point, 16 << 20));
    let clock = Clock::new();
    let stop = AtomicBool::new(false);
    let job_started_ns = clock.now_ns();
    let (report, (froze_ns, thawed_ns)) = std::thread::scope(|scope| {
        let job = scope.spawn(|| run_job(&target, spec, &clock, &stop));
        wait(Duration::from_secs(1));
        let freeze = Freeze::of(&disk.mount_point, &clock);
        wait(Duration::from_secs(1));
        let times = freeze.thaw();
        (job.join().unwrap().unwrap(), times)
    });
    drop(target);
    FrozenRun {
        report,
        froze_ns,
        thawed_ns,
        job_started_ns,
    }
}

/// The p99 of response times if requests answer at once, except that those due during the freeze answer
/// when it ends.
fn p99_of_schedule(spec: &JobSpec, started_ns: u64, froze_ns: u64, thawed_ns: u64) -> u64 {
    let end_ns = spec.duration.as_nanos() as u64;
    let mut ages: Vec<u64> = spec
        .arrival
        .schedule(spec.seed)
        .unwrap()
        .take_while(|due_ns| *due_ns < end_ns)
        .map(|due_ns| started_ns + due_ns)
        .map(|due_ns| {
            if due_ns >= froze_ns {
                thawed_ns.saturating_sub(due_ns)
            } else {
                0
            }
        })
        .collect();
    ages.sort_unstable();
    let rank = (ages.len() as f64 * 0.99).ceil() as usize;
    ages[rank - 1]
}

fn frozen_spec(arrival: &str) -> JobSpec {
    JobSpec {
        arrival: arrival.parse().unwrap(),
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        queue_depth: 32,
        warm_up: Duration::ZERO,
        duration: Duration::from_secs(4),
        ..JobSpec::new(Seed(4))
    }
}

#[test]
fn an_open_loop_on_a_frozen_filesystem_reports_the_p99_of_the_schedule() {
    let spec = frozen_spec("constant:1000");
    let FrozenRun {
        report,
        froze_ns,
        thawed_ns,
        job_started_ns,
    } = run_frozen(&spec);
    let expected = |froze_ns, thawed_ns| p99_of_schedule(&spec, job_started_ns, froze_ns, thawed_ns) as f64;
    let (least, most) = (
        expected(froze_ns.1, thawed_ns.0),
        expected(froze_ns.0, thawed_ns.1),
    );
    assert!(least > 0.8e9, "about a second of freeze: {least} ns");

    let total = report.total().writes;
    let p99 = total.latency.percentile(0.99).unwrap() as f64;
    assert!(
        (0.9 * least..=1.1 * most).contains(&p99),
        "p99 {:.0} ms, the schedule's is {:.0} to {:.0} ms",
        p99 / 1e6,
        least / 1e6,
        most / 1e6
    );
    assert_eq!(report.ended, Ended::Completed);
    let arrival = report.arrival.unwrap();
    assert_eq!(
        (arrival.due, arrival.completed, arrival.unfinished),
        (4000, 4000, 0)
    );
    assert_eq!(total.operations, 4000);
    // The device itself served all but the few requests that were in flight when it froze at once.
    let service = total.service.unwrap();
    assert_eq!(service.count(), 4000);
    assert!(service.percentile(0.5).unwrap() < 100_000_000);
    assert!(service.count() - slower_than(&service, 500_000_000) >= 4000 - 64);
}

fn slower_than(histogram: &outcrop_measure::histogram::LatencyHistogram, limit_ns: u64) -> u64 {
    histogram
        .buckets()
        .filter(|bucket| bucket.low_ns > limit_ns)
        .map(|bucket| bucket.count)
        .sum()
}

#[test]
fn a_closed_loop_on_the_same_freeze_omits_it_from_its_p99() {
    let spec = JobSpec {
        queue_depth: 1,
        ..frozen_spec("closed")
    };
    let FrozenRun {
        report,
        froze_ns,
        thawed_ns,
        ..
    } = run_frozen(&spec);
    let writes = report.total().writes;
    let frozen_ns = thawed_ns.0 - froze_ns.1;
    assert!(
        writes.latency.max().unwrap() >= frozen_ns / 10 * 9,
        "one request met the freeze"
    );
    let p99 = writes.latency.percentile(0.99).unwrap();
    assert!(
        p99 < frozen_ns / 4,
        "and the percentile does not show it: {p99} ns"
    );
}

#[test]
fn a_stop_is_noticed_while_the_device_hangs_and_the_requests_are_waited_for() {
    let disk = Disk::formatted("ext4", 64 << 20);
    let target = Target::Scratch(scratch(&disk.mount_point, 4 << 20));
    let spec = JobSpec {
        queue_depth: 4,
        duration: Duration::from_secs(600),
        ..frozen_spec("closed")
    };
    let clock = Clock::new();
    let stop = AtomicBool::new(false);
    let started_ns = clock.now_ns();
    let (report, thawed_ns) = std::thread::scope(|scope| {
        let job = scope.spawn(|| run_job(&target, &spec, &clock, &stop));
        wait(Duration::from_millis(200));
        let freeze = Freeze::of(&disk.mount_point, &clock);
        wait(Duration::from_millis(100));
        stop.store(true, Ordering::Relaxed);
        wait(Duration::from_millis(500));
        assert!(
            !job.is_finished(),
            "requests are still with the kernel, and so are their buffers"
        );
        let (_, thawed_ns) = freeze.thaw();
        (job.join().unwrap().unwrap(), thawed_ns.0)
    });
    assert_eq!(report.ended, Ended::Interrupted);
    assert!(
        started_ns + report.duration_ns < thawed_ns,
        "it stopped measuring before the thaw"
    );
    assert_eq!(report.drained.operations, 4);
    assert!(report.drained.slowest_ns > 400_000_000);
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("in flight at the end")),
        "{:?}",
        report.warnings
    );
}

#[test]
fn an_open_loop_issues_what_the_schedule_asks_for_with_every_engine() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 4 << 20));
    for (engine, queue_depth, jobs) in [
        (EngineKind::IoUring, 16, 1),
        (EngineKind::IoUring, 4, 3),
        (EngineKind::Psync, 1, 2),
        (EngineKind::Noop, 8, 1),
    ] {
        for arrival in ["constant:2000", "poisson:2000"] {
            let arrival: Arrival = arrival.parse().unwrap();
            let spec = JobSpec {
                engine,
                queue_depth,
                jobs,
                arrival,
                warm_up: Duration::from_millis(50),
                duration: Duration::from_millis(250),
                ..short_spec()
            };
            // Little's law, from two independent sums: the depth is that of requests with the device, and the device idles between
            // them. On a busy machine a thread may lose its processor between what the one and what the other sum counts; all requests
            // that are due would be far more, each time.
            let is_law = |report: &JobReport| {
                let in_service = report.total().reads.service.unwrap().sum() as f64;
                report.achieved_queue_depth <= in_service / report.duration_ns as f64 * 1.5 + 0.01
            };
            let report = (0..5).map(|_| run(&target, &spec)).find(is_law).unwrap();
            let seed = spec.seed.derive("arrivals");
            let is_measured = |due_ns: &u64| (50_000_000..300_000_000).contains(due_ns);
            let due: usize = (0..jobs)
                .map(|job| {
                    let schedule = arrival.schedule_of_job(job, jobs, seed).unwrap();
                    schedule
                        .take_while(|due_ns| *due_ns < 300_000_000)
                        .filter(is_measured)
                        .count()
                })
                .sum();
            let found = report.arrival.unwrap();
            // The edges of the measured time fall on ticks of the clock, not on nanoseconds.
            assert!(
                found.due.abs_diff(due as u64) <= 2,
                "{engine} {arrival}: {} of {due}",
                found.due
            );
            assert_eq!((found.completed, found.unfinished), (found.due, 0));
            let total = report.total().reads;
            assert_eq!(total.operations, found.due);
            assert_eq!(total.latency.count(), found.due);
            let service = total.service.unwrap();
            assert_eq!(service.count(), found.due);
            assert_eq!(report.lateness.unwrap().count(), found.due);
            assert!(
                service.sum() <= total.latency.sum(),
                "a request is not issued before it is due"
            );
        }
    }
}

#[test]
fn requests_that_are_due_too_soon_to_sleep_are_handed_over_when_they_are_due() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 4 << 20));
    for engine in [EngineKind::IoUring, EngineKind::Psync, EngineKind::Noop] {
        let spec = JobSpec {
            engine,
            // With a slot for every request nothing is ever waited for but the next due time. Psync has one.
            queue_depth: if engine == EngineKind::Psync { 1 } else { 4096 },
            // 40 µs apart: the thread polls between them all.
            arrival: "constant:25000".parse().unwrap(),
            // Nor does a burst of late requests hand itself over.
            submission: Submission::Batch,
            warm_up: Duration::ZERO,
            duration: Duration::from_millis(160),
            ..short_spec()
        };
        let report = run(&target, &spec);
        let arrival = report.arrival.unwrap();
        assert!(arrival.due.abs_diff(4000) <= 1, "{engine}: {}", arrival.due);
        assert_eq!(
            (arrival.completed, arrival.unfinished),
            (arrival.due, 0),
            "{engine}"
        );
        let reads = report.total().reads;
        let (service, late) = (reads.service.unwrap(), report.lateness.unwrap());
        assert_eq!([service.count(), late.count()], [arrival.due; 2], "{engine}");
        // None before it was due, and not all of them only when the schedule had ended.
        assert!(service.sum() <= reads.latency.sum(), "{engine}");
        assert!(arrival.achieved_per_second > 0.0, "{engine}");
    }
}

#[test]
fn where_slots_are_free_latency_is_service_plus_our_own_lateness() {
    let spec = JobSpec {
        engine: EngineKind::Noop,
        queue_depth: 4096,
        arrival: "poisson:2000".parse().unwrap(),
        duration: Duration::from_millis(200),
        ..short_spec()
    };
    let report = run(&Target::Null, &spec);
    let reads = report.total().reads;
    let (late, service) = (report.lateness.unwrap(), reads.service.unwrap());
    assert!(late.count() > 0);
    assert_eq!(late.count(), reads.latency.count());
    // Each is rounded from ticks to nanoseconds.
    let parts = late.sum() + service.sum();
    assert!(
        reads.latency.sum().abs_diff(parts) <= 2 * u128::from(late.count()),
        "{} ns of latency, {parts} ns of lateness and service",
        reads.latency.sum()
    );
}

#[test]
fn a_write_limit_ends_the_job_before_it_is_exceeded() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 4 << 20));
    for (arrival, jobs, mix) in [
        ("closed", 3, "0:100"),
        ("closed", 1, "50:50"),
        ("constant:20k", 1, "0:100"),
    ] {
        let spec = JobSpec {
            arrival: arrival.parse().unwrap(),
            jobs,
            read_write_mix: mix.parse().unwrap(),
            queue_depth: 8,
            duration: Duration::from_secs(60),
            write_limit_bytes: Some(100 * 4096 + 1),
            ..short_spec()
        };
        let report = run(&target, &spec);
        assert_eq!(report.ended, Ended::WriteLimit);
        assert_eq!(report.traffic.written_bytes, 100 * 4096, "{arrival} {mix}");
    }
}

#[test]
fn an_overloaded_open_loop_shows_its_backlog_and_says_what_the_target_sustains() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 4 << 20));
    let spec = JobSpec {
        engine: EngineKind::Psync,
        queue_depth: 1,
        // No device answers five million blocking reads a second.
        arrival: "constant:5M".parse().unwrap(),
        warm_up: Duration::ZERO,
        duration: Duration::from_millis(200),
        ..short_spec()
    };
    let report = run(&target, &spec);
    let arrival = report.arrival.unwrap();
    assert_eq!(arrival.due, 1_000_000);
    assert_eq!(arrival.completed + arrival.unfinished, arrival.due);
    assert!(arrival.unfinished > 0 && arrival.achieved_per_second < 5e6);
    let reads = report.total().reads;
    let late_ns = report.lateness.unwrap().sum();
    assert!(
        late_ns < reads.latency.sum() / 10,
        "waiting for a slot is the target's doing: {late_ns} ns"
    );
    assert_eq!(reads.operations, arrival.completed);
    assert_eq!(
        reads.latency.count(),
        arrival.due,
        "the unfinished are in the latencies with their age"
    );
    assert!(reads.latency.percentile(0.99).unwrap() > 1_000_000_000);
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("never completed")),
        "{:?}",
        report.warnings
    );
}
