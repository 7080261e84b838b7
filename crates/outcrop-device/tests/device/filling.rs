//! Filling a device that is overwritten: within its part, and with what is left of it where filling ends early.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_device::{DeviceError, JobSpec, Target, WritableDevice};
use outcrop_workload::{Content, ReadWriteMix};

use crate::destroyed::{Detach, opened, text};
use crate::stage::{Disk, LoopDevice, SEED, must, run, short_spec};

/// What an error says of a device is so: nothing beyond what was reached, and at least what was written.
fn assert_overwritten(error: &DeviceError, image: &Path) {
    let (DeviceError::Fill {
        written_bytes,
        reached_bytes,
        ..
    }
    | DeviceError::FillInterrupted {
        written_bytes,
        reached_bytes,
        ..
    }) = error
    else {
        panic!("{error}");
    };
    let image = std::fs::read(image).unwrap();
    let (reached, beyond) = image.split_at(*reached_bytes as usize);
    assert!(beyond.iter().all(|byte| *byte == 0), "{error}");
    let is_written = |chunk: &&[u8]| chunk.iter().any(|byte| *byte != 0);
    let written = reached.chunks(4096).filter(is_written).count() as u64 * 4096;
    assert!(written >= *written_bytes, "{error}: {written}");
}

#[test]
fn a_device_that_is_being_filled_when_it_is_interrupted_is_not_said_to_be_as_it_was() {
    let device = LoopDevice::new(32 << 20);
    let target = opened(&device);
    let stop = AtomicBool::new(false);
    let filled = target.fill(32 << 20, &Content::Random, SEED, &stop, &mut |done, _| {
        stop.store(done > 0, Ordering::Relaxed);
    });
    let error = filled.unwrap_err();
    assert_overwritten(&error, &device.image);
    let message = error.to_string();
    assert!(
        message.contains("interrupted while filling /dev/loop") && message.contains("are overwritten"),
        "{message}"
    );
}

#[test]
fn a_disk_that_is_full_below_a_device_ends_the_filling_with_the_offset() {
    let disk = Disk::formatted("ext4", 16 << 20);
    let image = disk.mount_point.join("thin");
    File::create(&image).unwrap().set_len(64 << 20).unwrap();
    let node = PathBuf::from(must(
        "losetup",
        &["--find", "--show", "--direct-io=on", text(&image)],
    ));
    let detach = Detach(&node);
    let name = image.canonicalize().unwrap();
    let device = WritableDevice::open(&node, text(&name)).unwrap();
    let stop = AtomicBool::new(false);
    let filled = device.fill(64 << 20, &Content::Random, SEED, &stop, &mut |_, _| {});
    let filled_error = filled.unwrap_err();
    let message = filled_error.to_string();
    assert!(
        message.contains("filling /dev/loop")
            && message.contains("failed at offset")
            && message.contains("are overwritten"),
        "{message}"
    );
    assert_overwritten(&filled_error, &image);
    let target = Target::Device(device);
    let spec = JobSpec {
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        ..short_spec()
    };
    let failure = run(&target, &spec).failure().unwrap();
    assert!(failure.contains("write of 4096 bytes at offset"), "{failure}");
    drop(target);
    drop(detach);
}

#[test]
fn an_unused_device_is_filled_and_written_within_the_span_and_nowhere_else() {
    let device = LoopDevice::new(8 << 20);
    let target = opened(&device);
    assert_eq!(target.size_bytes(), 8 << 20);
    let stop = AtomicBool::new(false);
    target
        .fill(2 << 20, &Content::Random, SEED, &stop, &mut |_, _| {})
        .unwrap();
    let filled = std::fs::read(&device.image).unwrap();
    assert!(
        filled[..2 << 20]
            .chunks(4096)
            .all(|block| block.iter().any(|byte| *byte != 0))
    );
    assert!(filled[2 << 20..].iter().all(|byte| *byte == 0));

    let target = Target::Device(target);
    let spec = JobSpec {
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        span_bytes: Some(1 << 20),
        content: Content::Zeros,
        ..short_spec()
    };
    let report = run(&target, &spec);
    target.flush().unwrap();
    assert_eq!(report.failure(), None);
    assert_eq!(
        report.counted_device.as_deref(),
        device.node.file_name().unwrap().to_str()
    );
    let counted = report.device_counters.unwrap();
    assert_eq!(counted.written_bytes, report.traffic.written_bytes);
    let after = std::fs::read(&device.image).unwrap();
    assert!(after[1 << 20..] == filled[1 << 20..], "beyond the span");
    assert!(after[..1 << 20] != filled[..1 << 20]);

    let message = match target {
        Target::Device(device) => device.fill(9 << 20, &Content::Zeros, SEED, &stop, &mut |_, _| {}),
        _ => unreachable!(),
    }
    .unwrap_err()
    .to_string();
    assert!(message.contains("holds 8388608 bytes"), "{message}");
    // What it was filled with is no signature, so the same device is good for the next run.
    drop(opened(&device));
}
