//! Directories on filesystems that somebody else made: btrfs on a loop device through the page cache, as root and as nobody.
//!
//! Each test starts this program again in a mount namespace: what it mounts there is gone when it ends, however it ends.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use outcrop_filesystem::{Extents, OwnDirectory, Place, run_job};
use outcrop_probe::Clock;
use outcrop_workload::filesystem::FilesystemKind;

use crate::place::{DATA_BYTES, btrfs, can_make, data, spec};

/// Names the directory for the part of a test that runs in the namespace.
const INSIDE: &str = "OUTCROP_TEST_DIRECTORY";
/// No user has it but the one without rights.
const NOBODY: &str = "65534";

/// Makes btrfs with compression on a loop device without direct I/O, and runs the named test in it as this user.
fn on_btrfs(test: &str, user: &str) {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // A user without rights must reach what is mounted here.
    let script = "set -e; chmod 755 \"$1\"; truncate -s 512M \"$1/image\"; mkfs.btrfs -q \"$1/image\"; mkdir \"$1/mount\"; \
         mount -o loop,compress-force=zstd:3 \"$1/image\" \"$1/mount\"; chmod 777 \"$1/mount\"; \
         cp \"$2\" \"$1/mount/test\"; exec setpriv --reuid \"$4\" --regid \"$4\" --clear-groups \
         \"$1/mount/test\" --exact \"$3\" --nocapture";
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .args([test, user])
        .env(INSIDE, folder.path().join("mount"))
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// The directory, within the namespace.
fn inside() -> Option<PathBuf> {
    std::env::var_os(INSIDE).map(PathBuf::from)
}

fn measure(directory: &Path) {
    let names = || std::fs::read_dir(directory).unwrap().count();
    let before = names();
    let own = OwnDirectory::open(directory).unwrap();
    let data = data(DATA_BYTES);
    let report = run_job(
        Place::Directory(&own),
        &btrfs("zstd:3"),
        &spec(),
        &data,
        &Clock::new(),
        &AtomicBool::new(false),
    )
    .unwrap();
    assert_eq!(report.pages.0, Ok(0), "reads were cold");
    assert!(report.extents.unwrap().encoded_share() > 0.9);
    // The extent of 128 KiB is read and decompressed for 4 KiB of it.
    let costs = &report.operation.costs;
    let asked = report.operation.operations * 4096;
    let own_bytes = costs.own_read_bytes.clone().unwrap();
    assert!(own_bytes > asked * 2, "{own_bytes} B for {asked} B");
    assert_eq!(names(), before);
}

/// The part of the tests below that runs in the namespace.
#[test]
fn inside_a_directory_on_btrfs() {
    if let Some(directory) = inside() {
        measure(&directory);
    }
}

#[test]
fn a_directory_on_btrfs_is_measured_by_root_and_by_nobody() {
    for user in ["0", NOBODY] {
        on_btrfs("own_directory::inside_a_directory_on_btrfs", user);
    }
}

/// The part of the test below that runs in the namespace.
#[test]
fn inside_a_buffered_loop_device() {
    let Some(directory) = inside() else { return };
    let why = OwnDirectory::open(&directory).unwrap().page_cache_below();
    let why = why.expect("mount attaches loop devices without direct I/O");
    assert!(
        why.contains("without direct I/O") && why.contains("losetup --direct-io=on"),
        "{why}"
    );
}

#[test]
fn a_loop_device_without_direct_io_is_noticed_below_a_directory() {
    on_btrfs("own_directory::inside_a_buffered_loop_device", "0");
}

/// The part of the test below that runs in the namespace.
#[test]
fn inside_fallocate() {
    let Some(directory) = inside() else { return };
    let data = data(1 << 20);
    let written = |name: &str, is_reserved: bool| {
        let file = File::create_new(directory.join(name)).unwrap();
        if is_reserved {
            let length = data.len() as u64;
            rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, length).unwrap();
        }
        file.write_all_at(&data, 0).unwrap();
        file.sync_all().unwrap();
        Extents::of(&file).unwrap().encoded_share()
    };
    // What `compression-happened` goes by: the mount forces compression, and only one of the two files has it.
    assert!(written("plain", false) > 0.9);
    assert_eq!(written("reserved", true), 0.0);
}

#[test]
fn reserved_space_is_never_compressed_and_the_extents_say_so() {
    on_btrfs("own_directory::inside_fallocate", "0");
}
