//! What the tests stand on: folders on a disk, loop devices, filesystems on them.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_device::{DeviceError, FileAccess, JobReport, JobSpec, ScratchFile, Target, run_job};
use outcrop_measure::seed::Seed;
use outcrop_probe::clock::Clock;
use outcrop_workload::Content;
use tempfile::TempDir;

/// A folder on the disk that holds the build, since /tmp may be in memory.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Runs a command that has to succeed, and returns what it printed.
pub(crate) fn must(command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| {
            panic!("{command} does not start ({error}); the device tests need it (see the Makefile)")
        });
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command} {arguments:?} failed (the tests run as root): {message}"
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A file dressed up as a block device.
pub(crate) struct LoopDevice {
    pub(crate) node: PathBuf,
    pub(crate) image: PathBuf,
    _folder: TempDir,
}

impl LoopDevice {
    /// One whose requests reach the disk below.
    pub(crate) fn new(size_bytes: u64) -> Self {
        Self::attached(size_bytes, &["--direct-io=on"])
    }

    /// One that answers from the page cache of the filesystem that its file is on.
    pub(crate) fn buffered(size_bytes: u64) -> Self {
        Self::attached(size_bytes, &["--direct-io=off"])
    }

    /// One that may have partitions.
    pub(crate) fn of_partitions(size_bytes: u64) -> Self {
        Self::attached(size_bytes, &["--direct-io=on", "--partscan"])
    }

    /// One whose file is on this filesystem.
    pub(crate) fn on(disk: &Disk, size_bytes: u64) -> Self {
        let folder = tempfile::tempdir_in(&disk.mount_point).unwrap();
        Self::attached_in(folder, size_bytes, &["--direct-io=on"])
    }

    /// One on this filesystem that answers from its page cache.
    pub(crate) fn buffered_on(disk: &Disk, size_bytes: u64) -> Self {
        let folder = tempfile::tempdir_in(&disk.mount_point).unwrap();
        Self::attached_in(folder, size_bytes, &["--direct-io=off"])
    }

    /// Gives it a table of one partition from 1 MiB on, of 24 MiB.
    pub(crate) fn write_partition_table(&self) {
        let mut table = [0_u8; 512];
        table[446 + 4] = 0x83;
        table[446 + 8..446 + 12].copy_from_slice(&2048_u32.to_le_bytes());
        table[446 + 12..446 + 16].copy_from_slice(&49_152_u32.to_le_bytes());
        table[510..].copy_from_slice(&[0x55, 0xaa]);
        let image = File::options().write(true).open(&self.image).unwrap();
        image.write_all_at(&table, 0).unwrap();
    }

    /// Tells the kernel of that partition: its node.
    pub(crate) fn add_partition(&self) -> PathBuf {
        must("addpart", &[text(&self.node), "1", "2048", "49152"]);
        PathBuf::from(format!("{}p1", text(&self.node)))
    }

    fn attached(size_bytes: u64, options: &[&str]) -> Self {
        Self::attached_in(folder(), size_bytes, options)
    }

    fn attached_in(folder: TempDir, size_bytes: u64, options: &[&str]) -> Self {
        let image = folder.path().join("image");
        File::create(&image).unwrap().set_len(size_bytes).unwrap();
        let arguments = [&["--find", "--show"], options, &[text(&image)]].concat();
        let node = PathBuf::from(must("losetup", &arguments));
        Self {
            node,
            image,
            _folder: folder,
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .args(["--detach", text(&self.node)])
            .status();
    }
}

/// A filesystem of its own, so that nobody else's I/O is in its counters and filling or freezing it harms
/// nobody.
pub(crate) struct Disk {
    pub(crate) mount_point: PathBuf,
    _device: Option<LoopDevice>,
    _folder: TempDir,
}

impl Disk {
    /// A loop device formatted by `mkfs.<kind>` and mounted.
    pub(crate) fn formatted(kind: &str, size_bytes: u64) -> Self {
        Self::over(LoopDevice::new(size_bytes), kind)
    }

    /// The same over this one.
    pub(crate) fn over(device: LoopDevice, kind: &str) -> Self {
        // Nothing is left to the kernel to initialise while a test counts what was written.
        let options: &[&str] = match kind {
            "ext4" => &["-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
            "btrfs" => &["-f"],
            _ => &["-F"],
        };
        let args = [&["-q"], options, &[text(&device.node)]].concat();
        must(&format!("mkfs.{kind}"), &args);
        let folder = folder();
        must("mount", &["-t", kind, text(&device.node), text(folder.path())]);
        Self {
            mount_point: folder.path().to_owned(),
            _device: Some(device),
            _folder: folder,
        }
    }

    /// A filesystem in memory.
    pub(crate) fn in_memory() -> Self {
        let folder = folder();
        must(
            "mount",
            &["-t", "tmpfs", "-o", "size=16m", "tmpfs", text(folder.path())],
        );
        Self {
            mount_point: folder.path().to_owned(),
            _device: None,
            _folder: folder,
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(&self.mount_point)
            .status();
    }
}

pub(crate) const SEED: Seed = Seed(0x0c);

/// A scratch file of random content.
pub(crate) fn scratch(directory: &Path, size_bytes: u64) -> ScratchFile {
    try_scratch(directory, size_bytes).unwrap()
}

pub(crate) fn try_scratch(directory: &Path, size_bytes: u64) -> Result<ScratchFile, DeviceError> {
    try_scratch_for(FileAccess::Direct, directory, size_bytes)
}

pub(crate) fn try_scratch_for(
    access: FileAccess,
    directory: &Path,
    size_bytes: u64,
) -> Result<ScratchFile, DeviceError> {
    let stop = AtomicBool::new(false);
    ScratchFile::create(
        directory,
        size_bytes,
        access,
        &Content::Random,
        SEED,
        &stop,
        &mut |_, _| {},
    )
}

/// What the kernel calls an open file of this process; good as long as the scratch file is there.
pub(crate) fn open_file(scratch: &ScratchFile) -> PathBuf {
    format!("/proc/self/fd/{}", scratch.as_fd().as_raw_fd()).into()
}

/// A job that is over soon: 250 ms after 10 ms of warm-up, in intervals of 100 ms.
pub(crate) fn short_spec() -> JobSpec {
    JobSpec {
        queue_depth: 4,
        warm_up: Duration::from_millis(10),
        duration: Duration::from_millis(250),
        interval: Duration::from_millis(100),
        ..JobSpec::new(SEED)
    }
}

pub(crate) fn run(target: &Target, spec: &JobSpec) -> JobReport {
    run_job(target, spec, &Clock::new(), &AtomicBool::new(false)).unwrap()
}

/// The error of a job that must not start.
pub(crate) fn refusal(target: &Target, spec: &JobSpec) -> String {
    run_job(target, spec, &Clock::new(), &AtomicBool::new(false))
        .unwrap_err()
        .to_string()
}

/// Names in a directory.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "lost+found")
        .collect()
}
