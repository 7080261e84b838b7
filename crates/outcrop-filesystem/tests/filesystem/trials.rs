//! What trials measure, on every filesystem that this kernel has.

use std::sync::atomic::AtomicBool;

use outcrop_filesystem::{
    Filesystem, FilesystemError, Image, JobReport, JobSpec, OwnDirectory, Place, run_job,
};
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_workload::EngineKind;
use outcrop_workload::filesystem::{Age, FileOperation, FilesystemKind, SyncPolicy};

use crate::place::{DATA_BYTES, btrfs, can_make, data, folder, image, spec};

/// Runs one trial on an image made for it, which leaves no name behind.
pub(crate) fn run(filesystem: &Filesystem, spec: &JobSpec) -> JobReport {
    let folder = folder();
    let image = image(folder.path());
    let data = data(DATA_BYTES);
    let report = run_job(
        Place::Image(&image),
        filesystem,
        spec,
        &data,
        &Clock::new(),
        &AtomicBool::new(false),
    );
    drop(image);
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "nothing has a name"
    );
    report.unwrap_or_else(|error| panic!("{filesystem}: {error}"))
}

/// Bytes that the device read for each byte.
pub(crate) fn read_amplification(report: &JobReport) -> f64 {
    let counters = report.operation.costs.device.as_ref().unwrap();
    counters.read_bytes as f64 / report.operation.bytes as f64
}

#[test]
fn uncompressed_reads_fetch_what_they_ask_for() {
    for kind in [FilesystemKind::Ext4, FilesystemKind::Xfs, FilesystemKind::Btrfs] {
        if !can_make(kind) {
            continue;
        }
        let report = run(&Filesystem::new(kind), &spec());
        let seen = read_amplification(&report);
        assert!((0.99..1.3).contains(&seen), "{kind}: {seen}");
        let used = report.used_bytes.clone().unwrap();
        assert!(
            (DATA_BYTES..DATA_BYTES * 5 / 4).contains(&used),
            "{kind}: {used} bytes for {DATA_BYTES}"
        );
        let written = report.written.as_ref().unwrap();
        assert_eq!(written.bytes, DATA_BYTES);
        let device = written.costs.device.as_ref().unwrap();
        assert!(device.written_bytes >= DATA_BYTES, "{kind}: {device:?}");
    }
}

#[test]
fn read_only_images_are_built_read_and_compared() {
    let squashfs = Filesystem {
        block_bytes: Some(16 << 10),
        ..Filesystem::new(FilesystemKind::Squashfs).with("zstd:3".parse().unwrap())
    };
    let erofs = Filesystem {
        cluster_bytes: 16 << 10,
        ..Filesystem::new(FilesystemKind::Erofs).with("lz4hc:9".parse().unwrap())
    };
    for filesystem in [squashfs, erofs] {
        if !can_make(filesystem.kind) {
            continue;
        }
        for operation in [FileOperation::RandomRead, FileOperation::SequentialRead] {
            let report = run(&filesystem, &JobSpec { operation, ..spec() });
            assert!(report.build_ns.is_some() && report.written.is_none());
            let ratio = DATA_BYTES as f64 / report.used_bytes.clone().unwrap() as f64;
            assert!(ratio > 1.3, "{filesystem}: {ratio}");
            // Of several passes: erofs keeps compressed clusters where cachestat does not see them.
            let least = if operation == FileOperation::RandomRead {
                0.95
            } else {
                0.2
            };
            assert!(
                report.operation.operations > 0 && read_amplification(&report) > least,
                "{filesystem}"
            );
        }
    }
}

#[test]
fn every_operation_of_every_writable_filesystem_returns_what_was_written() {
    let sync = SyncPolicy::Each(4);
    for kind in [FilesystemKind::Ext4, FilesystemKind::Xfs, FilesystemKind::Btrfs] {
        if !can_make(kind) {
            continue;
        }
        let filesystem = match kind {
            FilesystemKind::Btrfs => btrfs("zstd:1"),
            kind => Filesystem::new(kind),
        };
        for operation in FileOperation::ALL {
            let report = run(
                &filesystem,
                &JobSpec {
                    operation,
                    sync,
                    ..spec()
                },
            );
            let phase = &report.operation;
            assert!(
                phase.operations > 0 && phase.duration_ns > 0,
                "{kind} {operation}"
            );
            assert_eq!(phase.latency.count(), phase.operations, "{kind} {operation}");
            if operation.writes() && operation != FileOperation::SmallFiles {
                let flushes = phase.costs.device.as_ref().unwrap().flushes;
                assert!(
                    flushes * 4 + 8 >= phase.operations,
                    "{kind} {operation}: {flushes} flushes"
                );
            }
        }
    }
}

#[test]
fn jobs_and_depth_read_each_extent_once_and_keep_littles_law() {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    let four_jobs = JobSpec {
        jobs: 4,
        files: 3,
        ..spec()
    };
    let deep = JobSpec {
        engine: EngineKind::IoUring,
        queue_depth: 8,
        ..spec()
    };
    for spec in [four_jobs, deep] {
        let report = run(&btrfs("zstd:1"), &spec);
        let phase = &report.operation;
        let seconds = phase.duration_ns as f64 / 1e9;
        let implied = phase.operations as f64 / seconds * phase.latency.mean().unwrap() / 1e9;
        let in_flight = phase.achieved_depth;
        assert!(
            implied <= in_flight * 1.1,
            "{implied} implied, {in_flight} in flight"
        );
        assert!(
            implied >= in_flight * 0.5,
            "{implied} implied, {in_flight} in flight"
        );
    }
}

#[test]
fn several_jobs_read_and_write_several_files_in_blocks_of_any_whole_mib() {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    // As the study does: six jobs, a file each; blocks that are no power of two for writing, larger than an extent for reading.
    for (operation, io_block_bytes) in [
        (FileOperation::Write, 3 << 20),
        (FileOperation::SequentialRead, 1 << 20),
        (FileOperation::SequentialRead, 3 << 20),
    ] {
        let spec = JobSpec {
            operation,
            io_block_bytes,
            jobs: 6,
            files: 6,
            ..spec()
        };
        let filesystem = Filesystem {
            thread_pool: Some(64),
            ..btrfs("zlib:1")
        };
        let report = run(&filesystem, &spec);
        assert!(report.operation.operations > 0, "{operation} {io_block_bytes}");
        assert!(report.options.as_ref().unwrap().contains("thread_pool=64"));
        assert!(report.extents.as_ref().unwrap().encoded_share() > 0.9);
    }
}

#[test]
fn f2fs_is_measured_where_the_kernel_has_it_and_elsewhere_the_reason_is_a_sentence() {
    let f2fs = Filesystem::new(FilesystemKind::F2fs).with("zstd:3".parse().unwrap());
    f2fs.validate().unwrap();
    match outcrop_filesystem::privilege().and_then(|()| f2fs.availability()) {
        Ok(()) => {
            let report = run(&f2fs, &spec());
            assert!(report.options.unwrap().contains("compress_algorithm=zstd"));
            assert!(report.extents.unwrap().encoded_share() > 0.9);
        }
        Err(why) => assert!(
            ["this kernel has no f2fs", "needs root", "f2fs-tools"]
                .iter()
                .any(|words| why.reason.contains(words)),
            "{}",
            why.reason
        ),
    }
}

#[test]
fn offered_load_is_answered_late_or_not_at_all_but_never_forgotten() {
    if !can_make(FilesystemKind::Ext4) {
        return;
    }
    for load in ["constant:2000", "poisson:8MB/s", "poisson:50%"] {
        let spec = JobSpec {
            load: load.parse().unwrap(),
            ..spec()
        };
        let report = run(&Filesystem::new(FilesystemKind::Ext4), &spec);
        let phase = &report.operation;
        assert!(phase.requested_per_second.unwrap() > 0.0);
        let (service, late) = (phase.service.as_ref().unwrap(), phase.lateness.as_ref().unwrap());
        assert_eq!([service.count(), late.count()], [phase.operations; 2]);
        assert!(phase.latency.mean().unwrap() >= service.mean().unwrap() * 0.99);
    }
}

#[test]
fn overwritten_files_of_compressed_btrfs_have_more_extents_and_read_more() {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    let sequential = JobSpec {
        operation: FileOperation::SequentialRead,
        io_block_bytes: 128 << 10,
        ..spec()
    };
    let aged = JobSpec {
        age: Age::Overwritten(25),
        ..sequential.clone()
    };
    let filesystem = btrfs("zstd:3");
    let (fresh, aged) = (run(&filesystem, &sequential), run(&filesystem, &aged));
    let count = |report: &JobReport| report.extents.as_ref().unwrap().count;
    assert!(
        count(&aged) > count(&fresh) * 4,
        "{} → {}",
        count(&fresh),
        count(&aged)
    );
    assert!(read_amplification(&aged) > read_amplification(&fresh) * 2.0);
    assert!(aged.used_bytes.unwrap() > fresh.used_bytes.unwrap());
}

#[test]
fn a_directory_of_the_users_is_measured_without_a_name_in_it() {
    let folder = folder();
    let directory = OwnDirectory::open(folder.path()).unwrap();
    let data = data(DATA_BYTES);
    let report = run_job(
        Place::Directory(&directory),
        &Filesystem::new(FilesystemKind::Btrfs),
        &spec(),
        &data,
        &Clock::new(),
        &AtomicBool::new(false),
    )
    .unwrap();
    assert_eq!(report.pages.0, Ok(0));
    assert!(report.raw.is_none() && report.operation.operations > 0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn bad_input_is_refused_in_a_sentence_that_names_the_setting() {
    let refused = |filesystem: &Filesystem, spec: &JobSpec, bytes| match spec
        .check(Some(filesystem), bytes)
        .and(filesystem.validate())
    {
        Err(FilesystemError::Refused { field, message }) => (field, message),
        other => panic!("{other:?}"),
    };
    let (field, message) = refused(&btrfs("none"), &spec(), 1 << 20);
    assert!(
        field == "sample_size" && message.contains("100 extents"),
        "{message}"
    );
    let squashfs = Filesystem::new(FilesystemKind::Squashfs);
    let overwrite = JobSpec {
        operation: FileOperation::Overwrite,
        ..spec()
    };
    let (field, message) = refused(&squashfs, &overwrite, DATA_BYTES);
    assert!(field == "operation" && message.contains("only read"), "{message}");
    let deep = JobSpec {
        queue_depth: 4,
        ..spec()
    };
    assert_eq!(refused(&btrfs("none"), &deep, DATA_BYTES).0, "queue_depth");
    assert_eq!(refused(&btrfs("lz4"), &spec(), DATA_BYTES).0, "compression");
    for (path, why) in [
        ("/dev/shm", "in memory"),
        ("/proc/version", "not a directory"),
        ("/nowhere", "cannot be opened"),
    ] {
        let error = OwnDirectory::open(path.as_ref()).unwrap_err().to_string();
        assert!(error.contains(why) || error.contains("tmpfs"), "{path}: {error}");
    }
    // Nor are filesystems made there: a file in memory has direct I/O as well.
    let stop = AtomicBool::new(false);
    match Image::create("/dev/shm".as_ref(), 1 << 20, Seed(1), &stop, &mut |_, _| {}) {
        Err(FilesystemError::Unavailable(why)) => assert!(why.contains("in memory"), "{why}"),
        other => panic!("{other:?}"),
    }
}
