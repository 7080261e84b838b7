//! Filesystems and block devices that exist: mounts and a loop device made for the test, as root.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use outcrop_probe::environment::Environment;
use outcrop_probe::{BlockDevice, Filesystem};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};
use tempfile::TempDir;

/// A mount that is gone when the test ends, however it ends.
struct Mounted(PathBuf);

impl Mounted {
    fn tmpfs(directory: PathBuf) -> Self {
        fs::create_dir(&directory).unwrap();
        mount(
            "outcrop-test",
            &directory,
            "tmpfs",
            MountFlags::NOATIME,
            c"size=1m",
        )
        .unwrap();
        Self(directory)
    }

    fn bind(source: &Path, directory: PathBuf) -> Self {
        fs::create_dir(&directory).unwrap();
        mount_bind(source, &directory).unwrap();
        Self(directory)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

/// A loop device over a file, detached when the test ends.
struct Loop(PathBuf);

impl Loop {
    fn over(file: &Path) -> Self {
        let output = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(file)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Self(String::from_utf8(output.stdout).unwrap().trim().into())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

/// Mounts and loop devices need root; elsewhere the test says that it did nothing.
#[expect(clippy::print_stderr, reason = "a test that did nothing has to say so")]
fn may_mount() -> bool {
    let may = rustix::process::geteuid().is_root();
    if !may {
        eprintln!("skipped: mounting needs root");
    }
    may
}

#[test]
fn a_mount_with_any_name_is_found_below_its_mount_point() {
    if !may_mount() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let mounted = Mounted::tmpfs(directory.path().join("with blank\nnewline\\040"));
    fs::create_dir(mounted.0.join("below")).unwrap();
    let filesystem = Filesystem::at(&mounted.0.join("below")).unwrap();
    assert_eq!(filesystem.type_name, "tmpfs");
    assert_eq!(filesystem.mount_point, fs::canonicalize(&mounted.0).unwrap());
    assert_eq!(filesystem.source, "outcrop-test");
    assert_eq!(filesystem.total_bytes, 1 << 20);
    assert!(
        filesystem
            .mount_options
            .split(',')
            .any(|option| option == "noatime")
    );
    let reason = BlockDevice::holding(&mounted.0).unwrap_err().reason;
    assert!(reason.contains("in memory"), "{reason}");
    let warnings = Environment::read(&mounted.0).warnings().join("\n");
    assert!(warnings.contains("is not a storage device"), "{warnings}");
}

#[test]
fn of_two_mounts_at_one_place_the_upper_one_is_found() {
    if !may_mount() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let place = directory.path().join("place");
    let _lower = Mounted::tmpfs(place.clone());
    mount("upper", &place, "tmpfs", MountFlags::empty(), c"size=2m").unwrap();
    let _upper = Mounted(place.clone());
    assert_eq!(Filesystem::at(&place).unwrap().source, "upper");
    assert_eq!(Filesystem::at(&place).unwrap().total_bytes, 2 << 20);
}

#[test]
fn a_bind_mount_names_the_directory_that_it_shows() {
    if !may_mount() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let source = Mounted::tmpfs(directory.path().join("source"));
    fs::create_dir(source.0.join("part")).unwrap();
    let bound = Mounted::bind(&source.0.join("part"), directory.path().join("bound"));
    let filesystem = Filesystem::at(&bound.0).unwrap();
    assert_eq!(filesystem.mounted_root, Path::new("/part"));
    assert_eq!(filesystem.mount_point, fs::canonicalize(&bound.0).unwrap());
}

#[test]
fn a_symbolic_link_leads_to_the_filesystem_of_its_target() {
    let directory = TempDir::new().unwrap();
    let link = directory.path().join("link");
    std::os::unix::fs::symlink("/proc", &link).unwrap();
    assert_eq!(Filesystem::at(&link).unwrap().type_name, "proc");
    let reason = Filesystem::at(&directory.path().join("missing"))
        .unwrap_err()
        .reason;
    assert!(
        reason.contains("missing") && reason.contains("No such file"),
        "{reason}"
    );
}

#[test]
fn the_device_number_is_that_of_stat() {
    let directory = TempDir::new().unwrap();
    let device = fs::metadata(directory.path()).unwrap().dev();
    let filesystem = Filesystem::at(directory.path()).unwrap();
    assert_eq!(filesystem.device.major, rustix::fs::major(device));
    assert_eq!(filesystem.device.minor, rustix::fs::minor(device));
    assert!(filesystem.available_bytes <= filesystem.free_bytes);
    assert!(filesystem.free_bytes <= filesystem.total_bytes);
}

#[test]
fn bytes_written_to_a_loop_device_are_counted_by_the_kernel_and_by_us_alike() {
    if !may_mount() {
        return;
    }
    const SIZE_BYTES: usize = 4 << 20;
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("disk");
    fs::write(&file, vec![0; SIZE_BYTES]).unwrap();
    let disk = Loop::over(&file);
    let device = BlockDevice::holding(&disk.0).unwrap();
    assert_eq!(Path::new("/dev").join(device.name()), disk.0);
    let before = device.counters().unwrap();
    let mut node = fs::OpenOptions::new().write(true).open(&disk.0).unwrap();
    std::io::Write::write_all(&mut node, &vec![7; SIZE_BYTES]).unwrap();
    node.sync_all().unwrap();
    let counted = device.counters().unwrap().since(&before);
    assert_eq!(counted.written_bytes, SIZE_BYTES as u64);
    assert!(counted.writes >= 1);

    let environment = Environment::read(&disk.0);
    let described = environment.storage.device.known().unwrap();
    assert_eq!(described.kind, "loop");
    let nowhere = environment.storage.filesystem.known();
    assert!(
        nowhere.is_none(),
        "the filesystem of its node holds nothing of the device: {nowhere:?}"
    );
    assert_eq!(described.size_bytes.known(), Some(&(SIZE_BYTES as u64)));
    let backing = described.backing.known().unwrap();
    assert_eq!(Path::new(&backing[0]), fs::canonicalize(&file).unwrap());
    assert!(
        environment
            .warnings()
            .iter()
            .any(|warning| warning.contains("virtual device (loop)"))
    );
}

#[test]
fn paths_without_a_block_device_say_why() {
    let reason = BlockDevice::holding(Path::new("/proc")).unwrap_err().reason;
    assert!(reason.contains("proc"), "{reason}");
    let reason = BlockDevice::holding(Path::new("/no/such/path"))
        .unwrap_err()
        .reason;
    assert!(reason.contains("/no/such/path"), "{reason}");
}
