//! The disk below a loop device with direct I/O: what others ask of it is in no counter of the loop device.

use std::path::Path;

use outcrop_device::{JobReport, JobSpec, ReadOnlyTarget, Target, WritableDevice};
use outcrop_probe::BlockDevice;
use outcrop_workload::{Content, ReadWriteMix};

use crate::stage::{Disk, LoopDevice, SEED, folder, run, scratch, short_spec};

/// The disk that the tests' folders are on.
fn bottom() -> String {
    let folder = folder();
    let device = BlockDevice::holding(folder.path()).unwrap();
    device.whole_disk().unwrap().name().to_owned()
}

fn counted(report: &JobReport) -> (&str, &str) {
    let below = report.disk_below.as_ref().unwrap().as_ref().unwrap();
    (report.counted_device.as_deref().unwrap(), &below.name)
}

fn written_to(device: &BlockDevice) -> u64 {
    device.counters().unwrap().written_bytes
}

#[test]
fn the_disk_at_the_bottom_is_counted_beside_a_loop_device_and_below_a_filesystem_on_one() {
    let device = LoopDevice::new(8 << 20);
    let name = |device: &LoopDevice| device.node.file_name().unwrap().to_str().unwrap().to_owned();
    let target = Target::ReadOnly(ReadOnlyTarget::open(&device.node).unwrap());
    let report = run(&target, &short_spec());
    assert_eq!(counted(&report), (&*name(&device), &*bottom()));

    let disk = Disk::formatted("ext4", 64 << 20);
    let own = BlockDevice::holding(&disk.mount_point).unwrap();
    let on_loop = Target::Scratch(scratch(&disk.mount_point, 4 << 20));
    let report = run(&on_loop, &short_spec());
    assert_eq!(counted(&report), (own.name(), &*bottom()));

    let nested = LoopDevice::on(&disk, 8 << 20);
    let target = Target::ReadOnly(ReadOnlyTarget::open(&nested.node).unwrap());
    let report = run(&target, &short_spec());
    assert_eq!(counted(&report), (&*name(&nested), &*bottom()));

    // What is on the disk itself has none below, what is on one of its partitions has the disk.
    let on_disk = folder();
    let target = Target::Scratch(scratch(on_disk.path(), 1 << 20));
    let report = run(&target, &short_spec());
    match report.counted_device.as_deref() == Some(&*bottom()) {
        true => assert!(report.disk_below.is_none()),
        false => assert_eq!(counted(&report).1, bottom()),
    }
}

#[test]
fn a_disk_below_that_cannot_be_found_is_unknown_with_the_reason() {
    let device = LoopDevice::new(8 << 20);
    let target = Target::ReadOnly(ReadOnlyTarget::open(&device.node).unwrap());
    std::fs::remove_file(&device.image).unwrap();
    let report = run(&target, &short_spec());
    assert!(report.device_counters.is_ok());
    let why = report.disk_below.unwrap().unwrap_err().reason;
    assert!(
        why.starts_with("the disk below the loop device's file cannot be found"),
        "{why}"
    );
}

#[test]
fn a_loop_device_in_memory_is_not_said_to_have_a_disk_below() {
    let memory = Disk::in_memory();
    // Newer kernels take direct I/O for files in memory too.
    for device in [
        LoopDevice::buffered_on(&memory, 4 << 20),
        LoopDevice::on(&memory, 4 << 20),
    ] {
        let target = Target::ReadOnly(ReadOnlyTarget::open(&device.node).unwrap());
        let told = run(&target, &short_spec()).page_cache.unwrap();
        assert!(
            told.contains("is in memory (tmpfs)") && !told.contains("disk below"),
            "{told}"
        );
    }
}

fn synced_writes() -> JobSpec {
    JobSpec {
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        sync: "each".parse().unwrap(),
        queue_depth: 1,
        ..short_spec()
    }
}

/// The same device, writable and filled.
fn filled(node: &Path, name: &str, size_bytes: u64) -> Target {
    let opened = WritableDevice::open(node, name).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    opened
        .fill(size_bytes, &Content::Random, SEED, &stop, &mut |_, _| {})
        .unwrap();
    Target::Device(opened)
}

#[test]
fn flushes_of_a_partition_of_a_loop_device_are_allowed_for_too() {
    let device = LoopDevice::of_partitions(32 << 20);
    device.write_partition_table();
    let partition = device.add_partition();
    let name = device.image.canonicalize().unwrap();
    let target = filled(&partition, &format!("{}-part1", name.display()), 24 << 20);
    let below = run(&target, &synced_writes()).disk_below.unwrap().unwrap();
    assert!(below.journal_bytes > 0, "{below:?}");
}

#[test]
fn what_a_filesystem_writes_for_a_flush_is_unknown_where_it_copies_on_write() {
    let disk = Disk::formatted("btrfs", 256 << 20);
    let device = LoopDevice::on(&disk, 8 << 20);
    let name = device.image.canonicalize().unwrap();
    let target = filled(&device.node, name.to_str().unwrap(), 8 << 20);
    let why = run(&target, &synced_writes()).disk_below.unwrap().unwrap_err();
    assert_eq!(
        why.reason,
        "btrfs holds the loop device's file, and how much it writes for a flush is not known"
    );
    // Without flushes it is as with any other.
    assert!(run(&target, &short_spec()).disk_below.unwrap().is_ok());
}

#[test]
fn a_loop_device_without_direct_io_is_told_where_another_one_lies_between() {
    let disk = Disk::over(LoopDevice::buffered(64 << 20), "ext4");
    let below = BlockDevice::holding(&disk.mount_point).unwrap();
    let device = LoopDevice::on(&disk, 8 << 20);
    let target = Target::ReadOnly(ReadOnlyTarget::open(&device.node).unwrap());
    let report = run(&target, &short_spec());
    let told = report.page_cache.unwrap();
    assert!(
        told.starts_with(&format!("{} was attached without direct I/O", below.name())),
        "{told}"
    );
}

/// The disk here is a loop device, which nobody else uses: all that it writes beyond the device on its file is its filesystem's.
#[test]
fn the_journal_of_a_file_below_a_loop_device_writes_no_more_for_a_flush_than_is_allowed_for() {
    let disk = Disk::formatted("ext4", 64 << 20);
    let below = BlockDevice::holding(&disk.mount_point).unwrap();
    let device = LoopDevice::on(&disk, 8 << 20);
    let name = device.image.canonicalize().unwrap();
    let target = filled(&device.node, name.to_str().unwrap(), 8 << 20);
    for sync in ["none", "each", "each:fsync", "dsync"] {
        let spec = JobSpec {
            sync: sync.parse().unwrap(),
            ..synced_writes()
        };
        let before = written_to(&below);
        let report = run(&target, &spec);
        let beyond = written_to(&below) - before - report.device_counters.as_ref().unwrap().written_bytes;
        // Below that filesystem there is another one, with as much.
        let allowed = report.disk_below.unwrap().unwrap().journal_bytes / 2;
        // A commit of every few seconds, and what filling has left.
        let now_and_then = 256 << 10;
        assert!(beyond <= allowed + now_and_then, "{sync}: {beyond} of {allowed}");
        assert_eq!(allowed > 0, sync != "none", "{sync}");
    }
}
