//! Scratch files come and go without a trace, whatever goes wrong in between.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_device::{DeviceError, FileAccess, ScratchFile, Target};
use outcrop_measure::ByteSize;
use outcrop_workload::Content;

use crate::stage::{Disk, SEED, folder, must, names_in, open_file, run, scratch, short_spec, try_scratch};

#[test]
fn a_scratch_file_is_written_in_full_and_has_no_name() {
    let folder = folder();
    // Neither a whole number of chunks nor of blocks.
    let scratch = scratch(folder.path(), (3 << 20) + 5000);
    let metadata = std::fs::metadata(open_file(&scratch)).unwrap();
    assert_eq!(scratch.size_bytes(), (3 << 20) + 8192);
    assert_eq!(metadata.len(), scratch.size_bytes());
    assert!(metadata.blocks() * 512 >= metadata.len(), "no holes");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert_eq!(metadata.nlink(), 0);
    let bytes = std::fs::read(open_file(&scratch)).unwrap();
    let blocks: std::collections::BTreeSet<_> = bytes.chunks(4096).collect();
    assert_eq!(blocks.len(), bytes.len() / 4096, "random content does not repeat");
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn reading_leaves_the_access_time_alone() {
    // Every read would write the time here.
    let disk = Disk::formatted("ext4", 64 << 20);
    must(
        "mount",
        &["-o", "remount,strictatime", disk.mount_point.to_str().unwrap()],
    );
    let scratch = scratch(&disk.mount_point, 1 << 20);
    let path = open_file(&scratch);
    let accessed = || {
        let metadata = std::fs::metadata(&path).unwrap();
        (metadata.atime(), metadata.atime_nsec())
    };
    let before = accessed();
    let target = Target::Scratch(scratch);
    assert!(run(&target, &short_spec()).total().reads.operations > 0);
    assert_eq!(accessed(), before);
}

#[test]
fn progress_ends_at_the_total() {
    let folder = folder();
    let mut seen = Vec::new();
    let stop = AtomicBool::new(false);
    ScratchFile::create(
        folder.path(),
        5 << 20,
        FileAccess::Direct,
        &Content::Zeros,
        SEED,
        &stop,
        &mut |done, total| {
            seen.push((done, total));
        },
    )
    .unwrap();
    assert!(seen.is_sorted());
    assert_eq!(seen.last(), Some(&(5 << 20, 5 << 20)));
}

#[test]
fn a_stop_or_a_panic_in_the_middle_leaves_no_file() {
    let folder = folder();
    let stop = AtomicBool::new(false);
    let stopped = ScratchFile::create(
        folder.path(),
        32 << 20,
        FileAccess::Direct,
        &Content::Zeros,
        SEED,
        &stop,
        &mut |_, _| {
            stop.store(true, Ordering::Relaxed);
        },
    );
    assert!(
        matches!(stopped, Err(DeviceError::Interrupted { .. })),
        "{stopped:?}"
    );
    assert_eq!(names_in(folder.path()), [""; 0]);

    let stop = AtomicBool::new(false);
    let panicked = std::panic::catch_unwind(|| {
        ScratchFile::create(
            folder.path(),
            32 << 20,
            FileAccess::Direct,
            &Content::Zeros,
            SEED,
            &stop,
            &mut |done, _| {
                assert!(done < 4 << 20, "on purpose");
            },
        )
    });
    assert!(panicked.is_err());
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn a_filesystem_is_never_filled_to_the_brim() {
    let disk = Disk::formatted("ext4", 32 << 20);
    let message = try_scratch(&disk.mount_point, 1 << 30).unwrap_err().to_string();
    assert!(message.contains("5 %") && message.contains("--size"), "{message}");
    assert_eq!(names_in(&disk.mount_point), [""; 0]);

    let (_, size) = message.split_once("--size ").unwrap();
    let size: ByteSize = size.split(',').next().unwrap().parse().unwrap();
    let largest = size.0;
    // The size that is advised is a whole number of MiB.
    assert_eq!(largest % (1 << 20), 0, "{message}");
    assert!(try_scratch(&disk.mount_point, largest + (1 << 20)).is_err());
    let scratch = try_scratch(&disk.mount_point, largest).unwrap();
    let space = rustix::fs::statvfs(&disk.mount_point).unwrap();
    assert!(space.f_bavail * 100 >= space.f_blocks * 4, "about 5 % stay free");
    drop(scratch);
}

#[test]
fn a_disk_that_fills_up_in_the_middle_gives_the_offset_and_leaves_no_file() {
    // ext2 cannot reserve blocks beforehand, so the file grows while it is written.
    let disk = Disk::formatted("ext2", 32 << 20);
    let hog = disk.mount_point.join("hog");
    let stop = AtomicBool::new(false);
    let result = ScratchFile::create(
        &disk.mount_point,
        20 << 20,
        FileAccess::Direct,
        &Content::Zeros,
        SEED,
        &stop,
        &mut |_, _| {
            if !hog.exists() {
                // Ends with the disk full, which is its purpose.
                let _ = std::fs::write(&hog, vec![1; 24 << 20]);
                rustix::fs::sync();
            }
        },
    );
    let message = result.unwrap_err().to_string();
    assert!(
        message.contains("failed at offset") && message.contains("No space left"),
        "{message}"
    );
    assert_eq!(names_in(&disk.mount_point), ["hog"]);
}

#[test]
fn no_file_is_made_where_files_do_not_belong_or_may_not_be() {
    let folder = folder();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let read_only = Disk::formatted("ext4", 16 << 20);
    must(
        "mount",
        &["-o", "remount,ro", read_only.mount_point.to_str().unwrap()],
    );
    for (directory, part) in [
        (Path::new("/dev"), "creates files under /dev"),
        (Path::new("/dev/shm"), "creates files under /dev"),
        (&file, "expected a directory"),
        (&folder.path().join("missing"), "check the spelling"),
        (&read_only.mount_point, "mounted read-only"),
        (Path::new("/proc"), "is on proc, where files cannot be created"),
    ] {
        let message = try_scratch(directory, 1 << 20).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_directory_of_somebody_else_is_refused_with_advice() {
    let folder = folder();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().to_owned();
    // Only this thread becomes `nobody`: the system call, unlike the library's function, is per thread.
    let message = std::thread::spawn(move || {
        rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(65534)).unwrap();
        try_scratch(&path, 1 << 20).unwrap_err().to_string()
    })
    .join()
    .unwrap();
    assert!(
        message.contains("ermission denied") && message.contains("choose a path"),
        "{message}"
    );
}
