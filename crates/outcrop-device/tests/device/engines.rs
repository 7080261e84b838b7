//! Every engine, closed loop: the counts agree with each other, with the kernel's, and with the bytes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_device::{Ended, EngineKind, FeatureState, JobReport, JobSpec, Submission, Target, run_job};
use outcrop_probe::clock::Clock;
use outcrop_workload::{Content, ReadWriteMix};
use proptest::prelude::*;

use crate::stage::{Disk, SEED, folder, open_file, run, scratch, short_spec};

fn assert_consistent(spec: &JobSpec, report: &JobReport) {
    let total = report.total();
    assert_eq!(report.ended, Ended::Completed);
    assert_eq!(report.failure(), None);
    let operations = total.reads.operations + total.writes.operations;
    assert!(operations > 0);
    for direction in [&total.reads, &total.writes] {
        assert_eq!(direction.bytes, direction.operations * spec.io_block_size_bytes);
        assert_eq!(direction.latency.count(), direction.operations);
        assert!(direction.service.is_none());
    }
    // Few operations, on a machine that is busy otherwise, may be of one kind by chance: 2⁻⁶³ for 64 of an even mix.
    if !spec.read_write_mix.has_reads() || operations >= 64 {
        assert_eq!(total.reads.operations == 0, !spec.read_write_mix.has_reads());
    }
    if !spec.read_write_mix.has_writes() || operations >= 64 {
        assert_eq!(total.writes.operations == 0, !spec.read_write_mix.has_writes());
    }
    assert!(report.traffic.reads >= total.reads.operations);
    assert!(report.traffic.writes >= total.writes.operations);

    let asked_ns = spec.duration.as_nanos() as u64;
    assert!(
        report.duration_ns.abs_diff(asked_ns) <= asked_ns / 1000,
        "{}",
        report.duration_ns
    );
    let mut end_ns = 0;
    for interval in &report.intervals {
        assert!(interval.start_ns.abs_diff(end_ns) <= 10);
        end_ns = interval.start_ns + interval.duration_ns;
    }
    assert!(end_ns.abs_diff(report.duration_ns) <= 10);

    let slots = f64::from(spec.queue_depth * spec.jobs);
    assert!(
        report.achieved_queue_depth <= slots * 1.001,
        "{}",
        report.achieved_queue_depth
    );
    assert!(report.achieved_queue_depth > 0.0);
}

#[test]
fn every_engine_at_every_depth_and_mix_counts_consistently() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 4 << 20));
    for (engine, queue_depth, jobs) in [
        (EngineKind::IoUring, 1, 1),
        (EngineKind::IoUring, 33, 1),
        (EngineKind::IoUring, 8, 2),
        (EngineKind::Libaio, 1, 1),
        (EngineKind::Libaio, 33, 1),
        (EngineKind::Libaio, 8, 2),
        (EngineKind::Psync, 1, 1),
        (EngineKind::Psync, 1, 3),
        (EngineKind::Noop, 1, 1),
        (EngineKind::Noop, 7, 2),
    ] {
        for mix in ["100:0", "50:50", "0:100"] {
            for submission in [Submission::Refill, Submission::Batch] {
                let spec = JobSpec {
                    engine,
                    queue_depth,
                    jobs,
                    read_write_mix: mix.parse().unwrap(),
                    submission,
                    ..short_spec()
                };
                let (spec, report) = run_until_something_ends(&target, spec);
                assert_consistent(&spec, &report);
            }
        }
    }
}

/// Twice as long each time: other people's writes can hold the disk for the whole of a short run.
fn run_until_something_ends(target: &Target, mut spec: JobSpec) -> (JobSpec, JobReport) {
    loop {
        let report = run(target, &spec);
        let total = report.total();
        if total.reads.operations + total.writes.operations > 0 || spec.duration > Duration::from_secs(3) {
            return (spec, report);
        }
        spec.duration *= 2;
    }
}

#[test]
fn the_noop_engine_needs_no_target() {
    let spec = JobSpec {
        engine: EngineKind::Noop,
        queue_depth: 32,
        ..short_spec()
    };
    let (spec, report) = run_until_something_ends(&Target::Null, spec);
    assert_consistent(&spec, &report);
    assert!(report.device_counters.is_err());
}

#[test]
fn the_kernel_counts_the_bytes_that_we_count() {
    let disk = Disk::formatted("ext4", 64 << 20);
    let target = Target::Scratch(scratch(&disk.mount_point, 8 << 20));
    for mix in ["100:0", "0:100"] {
        let spec = JobSpec {
            read_write_mix: mix.parse().unwrap(),
            ..short_spec()
        };
        let report = run(&target, &spec);
        let counters = report.device_counters.unwrap();
        for (kernel, ours) in [
            (counters.read_bytes, report.traffic.read_bytes),
            (counters.written_bytes, report.traffic.written_bytes),
        ] {
            // The filesystem adds its own: inode times and the journal.
            assert!(
                (ours..=ours + (2 << 20)).contains(&kernel),
                "{mix}: kernel {kernel}, ours {ours}"
            );
        }
    }
}

#[test]
fn writes_change_only_whole_blocks_of_the_span_into_what_was_asked_for() {
    let folder = folder();
    let size_bytes = 2 << 20;
    let scratch = scratch(folder.path(), size_bytes);
    let path = open_file(&scratch);
    let before = std::fs::read(&path).unwrap();
    let target = Target::Scratch(scratch);
    let spec = JobSpec {
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        content: Content::Zeros,
        span_bytes: Some(1 << 20),
        ..short_spec()
    };
    let report = run(&target, &spec);
    let after = std::fs::read(&path).unwrap();

    assert_eq!(after.len(), before.len());
    assert_eq!(after[1 << 20..], before[1 << 20..], "beyond the span");
    let mut changed = 0_u64;
    for (new, old) in after[..1 << 20].chunks(4096).zip(before.chunks(4096)) {
        changed += u64::from(new != old);
        assert!(new == old || new.iter().all(|byte| *byte == 0));
    }
    assert!(changed > 0 && changed <= report.traffic.writes);
}

#[test]
fn random_writes_leave_no_two_equal_blocks() {
    let folder = folder();
    let scratch = scratch(folder.path(), 2 << 20);
    let path = open_file(&scratch);
    let target = Target::Scratch(scratch);
    let spec = JobSpec {
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        access_pattern: "sequential".parse().unwrap(),
        jobs: 2,
        ..short_spec()
    };
    run(&target, &spec);
    let bytes = std::fs::read(path).unwrap();
    let blocks: BTreeSet<_> = bytes.chunks(4096).collect();
    assert_eq!(blocks.len(), bytes.len() / 4096);
}

#[test]
fn reads_with_every_engine_leave_a_foreign_file_as_it_was() {
    let folder = folder();
    let path = folder.path().join("theirs");
    std::fs::copy(open_file(&scratch(folder.path(), 1 << 20)), &path).unwrap();
    let (bytes, times) = (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap());
    for (engine, queue_depth) in [
        (EngineKind::IoUring, 16),
        (EngineKind::Libaio, 16),
        (EngineKind::Psync, 1),
        (EngineKind::Noop, 4),
    ] {
        let target = Target::ReadOnly(outcrop_device::ReadOnlyTarget::open(&path).unwrap());
        run(
            &target,
            &JobSpec {
                engine,
                queue_depth,
                ..short_spec()
            },
        );
    }
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(after.modified().unwrap(), times.modified().unwrap());
    assert_eq!(after.permissions(), times.permissions());
}

#[test]
fn a_raised_stop_flag_ends_a_long_job_and_keeps_what_was_measured() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 1 << 20));
    for (engine, queue_depth, arrival) in [
        (EngineKind::IoUring, 8, "closed"),
        (EngineKind::Libaio, 8, "closed"),
        (EngineKind::Psync, 1, "closed"),
        (EngineKind::Noop, 8, "closed"),
        (EngineKind::IoUring, 8, "constant:500"),
        (EngineKind::Libaio, 8, "poisson:500"),
        (EngineKind::Psync, 1, "poisson:500"),
    ] {
        let spec = JobSpec {
            engine,
            queue_depth,
            arrival: arrival.parse().unwrap(),
            warm_up: Duration::ZERO,
            duration: Duration::from_secs(3600),
            ..short_spec()
        };
        let stop = AtomicBool::new(false);
        let report = std::thread::scope(|scope| {
            let job = scope.spawn(|| run_job(&target, &spec, &Clock::new(), &stop));
            // Nothing announces that a job is under way, so it gets a moment.
            rustix::event::poll(
                &mut [],
                Some(&rustix::event::Timespec {
                    tv_sec: 0,
                    tv_nsec: 300_000_000,
                }),
            )
            .unwrap();
            stop.store(true, Ordering::Relaxed);
            job.join().unwrap().unwrap()
        });
        assert_eq!(report.ended, Ended::Interrupted);
        assert!(
            report.duration_ns > 0 && report.duration_ns < 60_000_000_000,
            "{}",
            report.duration_ns
        );
        let total = report.total();
        assert!(total.reads.operations > 0, "{engine} {arrival}");
        let last = report.intervals.last().unwrap();
        assert_eq!(last.start_ns + last.duration_ns, report.duration_ns);
    }
}

#[test]
fn a_flag_raised_beforehand_gives_an_empty_report() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 1 << 20));
    let report = run_job(&target, &short_spec(), &Clock::new(), &AtomicBool::new(true)).unwrap();
    assert_eq!((report.ended, report.duration_ns), (Ended::Interrupted, 0));
    assert!(report.intervals.is_empty());
    assert_eq!(report.total().reads.operations, 0);
}

#[test]
fn the_ring_states_every_feature_as_on_or_why_not() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 1 << 20));
    let report = run(&target, &short_spec());
    for name in [
        "SINGLE_ISSUER",
        "DEFER_TASKRUN",
        "NO_SQARRAY",
        "registered file",
        "registered buffers",
        "registered ring",
    ] {
        let feature = report
            .engine_features
            .iter()
            .find(|feature| feature.name == name)
            .expect(name);
        match &feature.state {
            FeatureState::On => {}
            FeatureState::Off(reason) => assert!(!reason.is_empty(), "{name}"),
        }
    }
}

#[test]
fn a_long_job_has_a_bounded_number_of_intervals_and_says_so() {
    let spec = JobSpec {
        engine: EngineKind::Noop,
        duration: Duration::from_millis(100),
        interval: Duration::from_micros(50),
        ..short_spec()
    };
    let report = run(&Target::Null, &spec);
    assert!(report.intervals.len() as u64 <= outcrop_device::MAX_INTERVALS);
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("intervals are")),
        "{:?}",
        report.warnings
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn reads_never_leave_the_span_whatever_pattern_size_and_depth(
        pattern in prop_oneof!["sequential", "random", "zipfian:0\\.9", "strided:64KiB"],
        size_log2 in 12_u32..17,
        queue_depth in 1_u32..40,
        span_blocks in 1_u64..8,
    ) {
        // A file that ends with the span: one request beyond it would come back short and fail.
        let folder = folder();
        let io_block_size_bytes = 1 << size_log2;
        let span = span_blocks * io_block_size_bytes;
        let path = folder.path().join("theirs");
        std::fs::write(&path, vec![1; span as usize]).unwrap();
        let target = Target::ReadOnly(outcrop_device::ReadOnlyTarget::open(&path).unwrap());
        let spec = JobSpec {
            io_block_size_bytes,
            queue_depth,
            access_pattern: pattern.parse().unwrap(),
            warm_up: Duration::ZERO,
            duration: Duration::from_millis(5),
            ..JobSpec::new(SEED)
        };
        let report = run_job(&target, &spec, &Clock::new(), &AtomicBool::new(false)).unwrap();
        prop_assert_eq!(report.failure(), None);
    }
}
