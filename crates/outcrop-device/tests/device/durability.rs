//! Syncs: as many as were asked for, in the latency of the writes they follow, and known to the device; and buffered I/O.

use outcrop_device::{Durability, EngineKind, FileAccess, JobReport, JobSpec, Target, WritableDevice};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_workload::{Content, ReadWriteMix};

use crate::stage::{Disk, LoopDevice, folder, open_file, refusal, run, scratch, short_spec};

const ENGINES: [(EngineKind, u32); 4] = [
    (EngineKind::IoUring, 4),
    (EngineKind::Libaio, 4),
    (EngineKind::Psync, 1),
    (EngineKind::Noop, 4),
];

fn writes(sync: &str) -> JobSpec {
    JobSpec {
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        sync: sync.parse().unwrap(),
        warm_up: std::time::Duration::ZERO,
        ..short_spec()
    }
}

fn sum_ns(histogram: &LatencyHistogram) -> u128 {
    histogram.sum()
}

fn syncs(report: &JobReport) -> u64 {
    report.total().syncs.map_or(0, |syncs| syncs.count())
}

#[test]
fn each_write_or_every_eighth_of_a_job_ends_with_a_sync_whose_time_is_part_of_its_latency() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 4 << 20));
    for (engine, queue_depth) in ENGINES {
        for (sync, every) in [("each", 1), ("each:fsync", 1), ("every:8", 8)] {
            let spec = JobSpec {
                engine,
                queue_depth,
                ..writes(sync)
            };
            let report = run(&target, &spec);
            assert_eq!(report.failure(), None, "{engine} {sync}");
            let total = report.total();
            let (count, operations) = (syncs(&report), total.writes.operations);
            // What completed after the measured time is in neither, and may be what tips the balance by one round of slots.
            let slack = u64::from(queue_depth);
            let expected = operations / every;
            assert!(
                count + slack >= expected && count <= expected + slack,
                "{engine} {sync}: {count} syncs of {operations} writes"
            );
            if let Some(syncs) = &total.syncs {
                assert!(sum_ns(syncs) <= sum_ns(&total.writes.latency), "{engine} {sync}");
                assert!(syncs.max() <= total.writes.latency.max());
            }
        }
    }
}

#[test]
fn the_time_of_a_write_and_that_of_its_sync_are_also_kept_apart_and_add_up() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 4 << 20));
    for (engine, queue_depth) in ENGINES {
        for sync in ["each:fsync", "every:8"] {
            let spec = JobSpec {
                engine,
                queue_depth,
                ..writes(sync)
            };
            let report = run(&target, &spec);
            assert_eq!(report.failure(), None, "{engine} {sync}");
            let total = report.total();
            let transfer = total.writes.transfer.unwrap();
            assert_eq!(transfer.count(), total.writes.operations, "{engine} {sync}");
            let syncs_ns = total.syncs.as_ref().map_or(0, sum_ns);
            let apart_ns = sum_ns(&transfer) + syncs_ns;
            let whole_ns = sum_ns(&total.writes.latency);
            // Each part is rounded down to whole nanoseconds.
            let rounded_ns = u128::from(total.writes.operations);
            assert!(
                apart_ns <= whole_ns && whole_ns <= apart_ns + rounded_ns,
                "{engine} {sync}: {apart_ns} and {whole_ns}"
            );
            assert!(total.reads.transfer.is_none());
        }
        let unsynced = run(
            &target,
            &JobSpec {
                engine,
                queue_depth,
                ..writes("none")
            },
        );
        assert!(unsynced.total().writes.transfer.is_none(), "{engine}");
    }
}

#[test]
fn the_device_counts_a_flush_for_each_sync_and_none_without() {
    let device = LoopDevice::new(8 << 20);
    let name = device.image.canonicalize().unwrap();
    let target = Target::Device(WritableDevice::open(&device.node, name.to_str().unwrap()).unwrap());
    for (engine, queue_depth) in &ENGINES[..3] {
        let run_with = |sync| {
            let spec = JobSpec {
                engine: *engine,
                queue_depth: *queue_depth,
                ..writes(sync)
            };
            let report = run(&target, &spec);
            assert_eq!(report.failure(), None, "{engine} {sync}");
            report
        };
        let flushes = |report: &JobReport| report.device_counters.as_ref().unwrap().flushes;
        // Whoever calls sync(2) meanwhile flushes this device, too, but not each time.
        let unsynced = (0..5).map(|_| flushes(&run_with("none"))).min();
        assert_eq!(unsynced, Some(0), "{engine}");
        let each = run_with("each");
        assert!(syncs(&each) > 0, "{engine}");
        // Flushes of requests in flight together are merged.
        let least = syncs(&each) / u64::from(*queue_depth) / 2;
        assert!(
            flushes(&each) >= least.max(1),
            "{engine}: {} of {}",
            flushes(&each),
            syncs(&each)
        );
        let through = run_with("dsync");
        assert!(flushes(&through) > 0, "{engine}");
        assert_eq!(syncs(&through), 0, "the write itself is durable");
    }
}

#[test]
fn a_sync_without_writes_is_refused() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 1 << 20));
    let spec = JobSpec {
        sync: "each".parse().unwrap(),
        ..short_spec()
    };
    let message = refusal(&target, &spec);
    assert!(
        message.contains("sync is each") && message.contains("no writes"),
        "{message}"
    );
    assert_eq!(Durability::default(), Durability::None);
}

#[test]
fn buffered_io_is_named_in_the_report_and_what_it_wrote_arrives() {
    let folder = folder();
    let scratch = scratch(folder.path(), 2 << 20);
    let path = open_file(&scratch);
    let target = Target::Scratch(scratch);
    for (engine, queue_depth) in &ENGINES[..3] {
        let direct = JobSpec {
            engine: *engine,
            queue_depth: *queue_depth,
            ..short_spec()
        };
        let buffered = JobSpec {
            access: FileAccess::Buffered,
            ..direct.clone()
        };
        let told = run(&target, &buffered).page_cache.unwrap();
        assert!(told.contains("buffered I/O") && told.contains("memory"), "{told}");
        assert_eq!(run(&target, &direct).page_cache, None, "{engine}");

        let mut zeros = JobSpec {
            read_write_mix: ReadWriteMix::WRITE_ONLY,
            content: Content::Zeros,
            access_pattern: "sequential".parse().unwrap(),
            span_bytes: Some(64 << 10),
            ..buffered
        };
        // Twice as long each time: other people's writes can hold the disk for the whole of a short run.
        loop {
            let report = run(&target, &zeros);
            assert_eq!(report.failure(), None, "{engine}");
            if report.traffic.writes >= 16 {
                break;
            }
            zeros.duration *= 2;
        }
        target.flush().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes[..64 << 10].iter().all(|byte| *byte == 0), "{engine}");
        assert!(
            bytes[64 << 10..]
                .chunks(4096)
                .all(|block| block.iter().any(|byte| *byte != 0))
        );
    }
    let libaio = JobSpec {
        engine: EngineKind::Libaio,
        access: FileAccess::Buffered,
        ..short_spec()
    };
    let warnings = run(&target, &libaio).warnings;
    assert!(
        warnings.iter().any(|warning| warning.contains("direct I/O only")),
        "{warnings:?}"
    );
}

#[test]
fn a_page_that_was_read_before_is_not_in_the_cache_when_a_buffered_job_begins() {
    // A device that counts for certain.
    let disk = Disk::formatted("ext4", 64 << 20);
    let size_bytes = 4 << 20;
    let target = Target::Scratch(scratch(&disk.mount_point, size_bytes));
    let once = JobSpec {
        access: FileAccess::Buffered,
        access_pattern: "sequential".parse().unwrap(),
        io_block_size_bytes: size_bytes,
        queue_depth: 1,
        engine: EngineKind::Psync,
        warm_up: std::time::Duration::ZERO,
        ..short_spec()
    };
    for _ in 0..2 {
        let counters = run(&target, &once).device_counters.unwrap();
        assert!(
            counters.read_bytes >= size_bytes,
            "read {} of {size_bytes}",
            counters.read_bytes
        );
    }
}
