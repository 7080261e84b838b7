//! What may be reached, and the sentence for what may not.

use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::Path;

use outcrop_device::{Completions, EngineKind, FeatureState, FileAccess, JobSpec, ReadOnlyTarget, Target};
use outcrop_workload::ReadWriteMix;

use crate::stage::{
    Disk, LoopDevice, folder, refusal, run, scratch, short_spec, try_scratch, try_scratch_for,
};

fn file_of(directory: &Path, size_bytes: usize) -> Target {
    let path = directory.join("theirs");
    std::fs::write(&path, vec![7; size_bytes]).unwrap();
    Target::ReadOnly(ReadOnlyTarget::open(&path).unwrap())
}

#[test]
fn a_mix_with_writes_is_refused_for_a_file_that_is_not_ours() {
    let folder = folder();
    let target = file_of(folder.path(), 1 << 20);
    for mix in ["99:1", "0:100"] {
        let spec = JobSpec {
            read_write_mix: mix.parse().unwrap(),
            ..short_spec()
        };
        let message = refusal(&target, &spec);
        assert!(
            message.contains("only reads it") && message.contains(mix),
            "{message}"
        );
    }
    assert_eq!(
        std::fs::read(folder.path().join("theirs")).unwrap(),
        vec![7; 1 << 20]
    );
}

#[test]
fn a_mix_with_writes_is_refused_for_a_block_device() {
    let device = LoopDevice::new(8 << 20);
    let target = ReadOnlyTarget::open(&device.node).unwrap();
    assert!(target.is_block_device());
    assert_eq!(target.size_bytes(), 8 << 20);
    let target = Target::ReadOnly(target);
    let spec = JobSpec {
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        ..short_spec()
    };
    assert!(refusal(&target, &spec).contains("only reads it"));
    assert!(run(&target, &short_spec()).total().reads.operations > 0);
}

#[test]
fn a_loop_device_without_direct_io_is_told_and_the_disk_below_it_is_counted() {
    let buffered = LoopDevice::buffered(8 << 20);
    let target = |device: &LoopDevice| Target::ReadOnly(ReadOnlyTarget::open(&device.node).unwrap());
    let name = |device: &LoopDevice| device.node.file_name().unwrap().to_str().unwrap().to_owned();
    let report = run(&target(&buffered), &short_spec());
    let told = report.page_cache.unwrap();
    assert!(
        told.contains(&name(&buffered)) && told.contains("without direct I/O"),
        "{told}"
    );
    assert_ne!(report.counted_device, Some(name(&buffered)));

    let direct = LoopDevice::new(8 << 20);
    let report = run(&target(&direct), &short_spec());
    assert_eq!(report.counted_device, Some(name(&direct)));
    let told = report.page_cache.expect("its file is a hole");
    assert!(
        told.starts_with("100 % of ") && told.contains("not stored on any disk"),
        "{told}"
    );
    std::fs::OpenOptions::new()
        .write(true)
        .open(&direct.image)
        .unwrap()
        .write_all(&vec![7; 8 << 20])
        .unwrap();
    assert_eq!(run(&target(&direct), &short_spec()).page_cache, None);
}

#[test]
fn of_a_loop_device_with_holes_only_what_is_read_of_it_is_looked_at() {
    let device = LoopDevice::new(8 << 20);
    let image = std::fs::OpenOptions::new()
        .write(true)
        .open(&device.image)
        .unwrap();
    image.write_all_at(&vec![7; 4 << 20], 0).unwrap();
    let target = Target::ReadOnly(ReadOnlyTarget::open(&device.node).unwrap());
    let told = run(&target, &short_spec()).page_cache.unwrap();
    assert!(told.starts_with("50 % of what is read"), "{told}");
    let first_half = JobSpec {
        span_bytes: Some(4 << 20),
        ..short_spec()
    };
    assert_eq!(run(&target, &first_half).page_cache, None);

    // Most of a filesystem is free space, which is stored nowhere; the scratch file is.
    let disk = Disk::formatted("ext4", 32 << 20);
    let target = Target::Scratch(scratch(&disk.mount_point, 4 << 20));
    assert_eq!(run(&target, &short_spec()).page_cache, None);
}

#[test]
fn a_symlink_is_followed_and_both_names_are_kept() {
    let folder = folder();
    file_of(folder.path(), 1 << 20);
    let link = folder.path().join("link");
    symlink("theirs", &link).unwrap();
    let target = ReadOnlyTarget::open(&link).unwrap();
    assert_eq!(
        target.path(),
        folder.path().join("theirs").canonicalize().unwrap()
    );
    assert_eq!(target.given_path(), link);
    assert!(
        run(&Target::ReadOnly(target), &short_spec())
            .total()
            .reads
            .operations
            > 0
    );
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn sizes_that_cannot_work_are_refused_with_the_numbers() {
    let folder = folder();
    let target = file_of(folder.path(), 6000);
    let spec = short_spec();
    let off_block = JobSpec {
        io_block_size_bytes: 1000,
        ..spec.clone()
    };
    let too_large = JobSpec {
        io_block_size_bytes: 8192,
        ..spec.clone()
    };
    let beyond = JobSpec {
        span_bytes: Some(8192),
        ..spec.clone()
    };
    let no_depth = JobSpec {
        queue_depth: 0,
        ..spec.clone()
    };
    let huge = JobSpec {
        queue_depth: 16384,
        io_block_size_bytes: 256 << 20,
        ..spec.clone()
    };
    let psync_depth = JobSpec {
        engine: EngineKind::Psync,
        queue_depth: 2,
        ..spec
    };
    for (spec, parts) in [
        (off_block, ["io_block_size is 1000 bytes", "multiples of"]),
        (too_large, ["holds 6000 bytes", "8192 are needed"]),
        (beyond, ["holds 6000 bytes", "8192 are needed"]),
        (no_depth, ["queue_depth is 0", "expected 1 to"]),
        (huge, ["bytes of buffers", "half of this machine's memory"]),
        (psync_depth, ["queue_depth is 2", "raise jobs"]),
    ] {
        let message = refusal(&target, &spec);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

#[test]
fn what_is_no_file_or_device_is_refused_by_kind() {
    let folder = folder();
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    for (path, part) in [
        (folder.path(), "is a directory; expected a regular file"),
        (Path::new("/dev/null"), "is a character device"),
        (&folder.path().join("missing"), "check the spelling"),
        (&empty, "holds 0 bytes"),
    ] {
        let message = ReadOnlyTarget::open(path).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_filesystem_without_direct_io_is_named_instead_of_measured_through_the_cache() {
    let memory = Disk::in_memory();
    let path = memory.mount_point.join("theirs");
    std::fs::write(&path, [1; 8192]).unwrap();
    for message in [
        ReadOnlyTarget::open(&path).unwrap_err().to_string(),
        ReadOnlyTarget::open(Path::new("/proc/version"))
            .unwrap_err()
            .to_string(),
        try_scratch(&memory.mount_point, 1 << 20).unwrap_err().to_string(),
    ] {
        assert!(message.contains("does not support O_DIRECT"), "{message}");
        assert!(message.contains("tmpfs") || message.contains("proc"), "{message}");
        assert!(
            message.contains("choose a path on a disk filesystem"),
            "{message}"
        );
    }
    assert_eq!(crate::stage::names_in(&memory.mount_point), ["theirs"]);
}

#[test]
fn a_filesystem_in_memory_is_measured_through_the_page_cache_where_that_is_asked_for() {
    let memory = Disk::in_memory();
    let path = memory.mount_point.join("theirs");
    std::fs::write(&path, [1; 1 << 20]).unwrap();
    let theirs = ReadOnlyTarget::open_for(&path, FileAccess::Buffered).unwrap();
    let ours = try_scratch_for(FileAccess::Buffered, &memory.mount_point, 1 << 20).unwrap();
    for target in [Target::ReadOnly(theirs), Target::Scratch(ours)] {
        let buffered = JobSpec {
            access: FileAccess::Buffered,
            ..short_spec()
        };
        assert!(run(&target, &buffered).traffic.reads > 0);
        let message = refusal(&target, &short_spec());
        assert!(message.contains("does not support O_DIRECT"), "{message}");
    }
}

#[test]
fn holes_of_a_file_are_pointed_out() {
    let folder = folder();
    let path = folder.path().join("sparse");
    std::fs::File::create(&path).unwrap().set_len(1 << 20).unwrap();
    let report = run(
        &Target::ReadOnly(ReadOnlyTarget::open(&path).unwrap()),
        &short_spec(),
    );
    assert!(
        report.warnings.iter().any(|warning| warning.contains("holes")),
        "{:?}",
        report.warnings
    );
}

#[test]
fn a_real_engine_needs_something_to_reach() {
    assert!(refusal(&Target::Null, &short_spec()).contains("noop"));
}

#[test]
fn threads_run_on_a_node_that_the_machine_has_and_another_is_refused_with_those_that_it_has() {
    let folder = folder();
    let target = file_of(folder.path(), 1 << 20);
    let on = |numa: &str| JobSpec {
        numa: numa.parse().unwrap(),
        ..short_spec()
    };
    let message = refusal(&target, &on("4095"));
    assert!(
        message.contains("numa_node is 4095") && message.contains("any"),
        "{message}"
    );
    let nodes =
        outcrop_probe::numa::nodes(&outcrop_probe::system_tree::SystemTree::live()).unwrap_or_default();
    for node in nodes {
        let spec = on(&node.to_string());
        match outcrop_probe::numa::cpus_of_node(&outcrop_probe::system_tree::SystemTree::live(), node) {
            Ok(cpus) if !cpus.is_empty() => assert!(run(&target, &spec).total().reads.operations > 0),
            // A node of memory alone runs no thread.
            _ => assert!(refusal(&target, &spec).contains("that has CPUs")),
        }
    }
    let device = LoopDevice::new(8 << 20);
    let virtual_device = Target::ReadOnly(ReadOnlyTarget::open(&device.node).unwrap());
    let message = refusal(&virtual_device, &on("device"));
    assert!(message.contains("a virtual device is on no node"), "{message}");
}

#[test]
fn a_device_is_polled_only_where_it_has_queues_for_that() {
    let folder = folder();
    let target = file_of(folder.path(), 1 << 20);
    let spec = JobSpec {
        completions: Completions::Polled,
        engine: EngineKind::IoUring,
        ..short_spec()
    };
    let has_queues =
        outcrop_probe::BlockDevice::holding(folder.path()).and_then(|device| device.has_poll_queues());
    if has_queues == Ok(true) {
        let report = run(&target, &spec);
        assert!(report.total().reads.operations > 0);
        let mut features = report.engine_features.iter();
        assert!(features.any(|feature| feature.name == "IOPOLL" && feature.state == FeatureState::On));
    } else {
        let message = refusal(&target, &spec);
        assert!(message.contains("completions is polled"), "{message}");
    }
    // A loop device has none on any machine.
    let device = LoopDevice::new(1 << 20);
    let target = Target::ReadOnly(ReadOnlyTarget::open(&device.node).unwrap());
    let message = refusal(&target, &spec);
    assert!(message.contains("has no queues to poll"), "{message}");
}

#[test]
fn what_a_ring_that_polls_cannot_do_is_refused() {
    let polled = JobSpec {
        completions: Completions::Polled,
        engine: EngineKind::IoUring,
        ..short_spec()
    };
    polled.validate().unwrap();
    let writes = ReadWriteMix::WRITE_ONLY;
    for (spec, says) in [
        (
            JobSpec {
                engine: EngineKind::Libaio,
                ..polled.clone()
            },
            "the engine libaio",
        ),
        (
            JobSpec {
                access: FileAccess::Buffered,
                ..polled.clone()
            },
            "buffered access",
        ),
        (
            JobSpec {
                arrival: "constant:100".parse().unwrap(),
                ..polled.clone()
            },
            "open loop",
        ),
        (
            JobSpec {
                sync: "each".parse().unwrap(),
                read_write_mix: writes,
                ..polled.clone()
            },
            "has no sync",
        ),
    ] {
        let message = spec.validate().unwrap_err().to_string();
        assert!(
            message.contains("completions is polled") && message.contains(says),
            "{message}"
        );
    }
    let durable = JobSpec {
        sync: "dsync".parse().unwrap(),
        read_write_mix: writes,
        ..polled
    };
    durable.validate().unwrap();
}
