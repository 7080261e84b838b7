//! What other tools fall for, done on purpose: each has a sign that a trial, or a finding, goes by.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_filesystem::{Coldness, Component, Filesystem, FilesystemError, JobSpec, Place, run_job};
use outcrop_measure::seed::Seed;
use outcrop_probe::{Clock, cached_pages};
use outcrop_workload::filesystem::{Checksum, CopyOnWrite, FileAccess, FilesystemKind};

use rand::Rng as _;

use crate::held::Held;
use crate::place::{DATA_BYTES, btrfs, can_make, data, folder, image, spec};

#[test]
fn direct_reads_of_compressed_extents_leave_the_extent_in_the_page_cache() {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    let folder = folder();
    let image = image(folder.path());
    let data = data(DATA_BYTES);
    let run = |filesystem: &Filesystem| {
        let spec = JobSpec {
            access: FileAccess::Direct,
            ..spec()
        };
        run_job(
            Place::Image(&image),
            filesystem,
            &spec,
            &data,
            &Clock::new(),
            &AtomicBool::new(false),
        )
        .unwrap()
    };
    // Without compression O_DIRECT is honoured; with it, what was read is cached, so that reading it twice measures memory.
    assert_eq!(run(&btrfs("none")).pages.1, Ok(0));
    let compressed = run(&btrfs("zstd:3"));
    assert_eq!(compressed.pages.0, Ok(0));
    assert!(compressed.pages.1.clone().unwrap() > 0, "{:?}", compressed.pages);
}

#[test]
fn settings_that_switch_compression_off_in_silence_are_refused() {
    let nodatasum = Filesystem {
        checksum: Checksum::None,
        ..btrfs("zlib:1")
    };
    let nocow = Filesystem {
        copy_on_write: CopyOnWrite::Off,
        ..btrfs("zstd:3")
    };
    for (filesystem, field) in [
        (nodatasum, "checksum"),
        (nocow, "copy_on_write"),
        (btrfs("zstd:99"), "compression"),
    ] {
        let error = filesystem.validate().unwrap_err();
        assert!(
            matches!(error, FilesystemError::Refused { field: seen, .. } if seen == field),
            "{error}"
        );
    }
}

/// A file of 1 MiB, in memory.
fn cached_file(folder: &Path) -> File {
    let path = folder.join("cached");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    File::options().read(true).write(true).open(&path).unwrap()
}

#[test]
fn a_page_that_is_mapped_and_locked_keeps_a_trial_from_calling_itself_cold() {
    const LOCKED_PAGES: u64 = 4;
    let folder = folder();
    let files = [cached_file(folder.path())];
    let held = Held::first(LOCKED_PAGES as usize * 4096, &files[0]);
    let error = Coldness::prove(&files).unwrap_err();
    let FilesystemError::NotCold { cached, file_pages } = error else {
        panic!("{error}");
    };
    // The kernel may keep more with them: it caches several pages as one.
    assert!((LOCKED_PAGES..=file_pages).contains(&cached), "{cached}");
    assert_eq!(file_pages, 256);
    let said = error.to_string();
    assert!(said.contains("mapped or locked"), "{said}");
    drop(held);
    assert_eq!(Coldness::prove(&files).unwrap().cached_pages, Ok(0));
}

#[test]
fn pages_that_something_holds_for_a_moment_do_not_fail_a_trial() {
    let folder = folder();
    let files = [cached_file(folder.path())];
    let held = Held::first(4096, &files[0]);
    std::thread::scope(|scope| {
        let proof = scope.spawn(|| Coldness::prove(&files).unwrap());
        // As long as the kernel's threads may take to compress and write back what they hold on a busy machine.
        std::thread::park_timeout(Duration::from_millis(20));
        drop(held);
        assert_eq!(proof.join().unwrap().cached_pages, Ok(0));
    });
}

#[test]
fn dirty_pages_are_written_back_before_a_file_is_called_cold() {
    let folder = folder();
    let file = cached_file(folder.path());
    // Dirty pages are not dropped: without the fsync the proof would fail on every filesystem.
    file.write_all_at(&[2; 4096], 0).unwrap();
    assert!(cached_pages(&file).unwrap().cached > 0);
    let files = [file];
    let proof = Coldness::prove(&files).unwrap();
    assert_eq!(proof.cached_pages, Ok(0));
    assert_eq!(Coldness::count(&files), Ok(0));
    let mut byte = [0];
    files[0].read_exact_at(&mut byte, 0).unwrap();
    assert!(Coldness::count(&files).unwrap() > 0);
}

#[test]
fn xfs_gives_its_reserved_space_back_before_space_is_read() {
    if !can_make(FilesystemKind::Xfs) {
        return;
    }
    let folder = folder();
    let image = image(folder.path());
    let data = data(DATA_BYTES);
    let filesystem = Filesystem::new(FilesystemKind::Xfs);
    let report = run_job(
        Place::Image(&image),
        &filesystem,
        &spec(),
        &data,
        &Clock::new(),
        &AtomicBool::new(false),
    );
    let used = report.unwrap().used_bytes.unwrap();
    assert!(used < DATA_BYTES * 11 / 10, "{used}");
}

#[test]
fn components_predict_what_btrfs_stores() {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    let folder = folder();
    let image = image(folder.path());
    let mut data = data(DATA_BYTES);
    // Bytes that do not compress: a whole extent, parts of two extents, and the last quarter of 512 KiB.
    let mut draws = Seed(7).rng();
    for (extent, bytes) in [(5, 128 << 10), (42, 250_000), (63, 128 << 10)] {
        draws.fill_bytes(&mut data[extent << 17..][..bytes]);
    }
    let (clock, stop) = (Clock::new(), AtomicBool::new(false));
    // The kernel's zstd is the library's; its zlib is other code.
    for (compression, within) in [
        ("zstd:1", 0.0005),
        ("zstd:3", 0.0005),
        ("zstd:15", 0.0005),
        ("zlib:3", 0.02),
    ] {
        let filesystem = btrfs(compression);
        let component = Component::measure(&data, filesystem.compression, &clock, &stop).unwrap();
        let report = run_job(Place::Image(&image), &filesystem, &spec(), &data, &clock, &stop).unwrap();
        let stored = report.stored.unwrap().ratio();
        assert!(
            (stored / component.ratio - 1.0).abs() < within,
            "{compression}: {stored}, predicted {}",
            component.ratio
        );
        let share = report.extents.unwrap().encoded_share();
        assert!(
            share < 0.99 && (share - component.compressed_share).abs() < 0.01,
            "{compression}: {share} compressed, predicted {}",
            component.compressed_share
        );
    }
}

#[test]
fn a_directory_on_a_disk_is_not_taken_for_one_on_a_buffered_loop_device() {
    let folder = folder();
    let directory = outcrop_filesystem::OwnDirectory::open(folder.path()).unwrap();
    assert_eq!(directory.page_cache_below(), None);
}
