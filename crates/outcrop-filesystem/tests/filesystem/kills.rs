//! A process that is killed at any moment leaves no loop device, mount or file.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use outcrop_filesystem::{Filesystem, JobSpec, OwnDirectory, Place, run_job};
use outcrop_measure::seed::{Generator, Seed};
use outcrop_probe::{Clock, Stopwatch};
use outcrop_workload::filesystem::{Age, FileOperation, FilesystemKind, SyncPolicy};

use crate::place::{DATA_BYTES, btrfs, can_make, data, folder, image, loops_without_a_name, spec};

/// Times that a run is killed: each of the trials is met once, and as many kills meet the making of the image.
const KILLS: u32 = 28;
/// Longest wait before a run is killed, from its start or from its first trial.
const LONGEST_MS: u64 = 900;
/// After this nothing may be left.
const GONE_WITHIN: Duration = Duration::from_secs(1);

/// Where a trial that is killed has its files.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    /// On a filesystem that was made for it.
    Image,
    /// In the directory itself.
    Directory,
}

/// What is killed: a trial of each kind of filesystem, one with small files, one that ages, and each that writes, on a filesystem that was
/// made and in a directory.
fn trials() -> Vec<(Where, Filesystem, JobSpec)> {
    let built = |kind, compression: &str| Filesystem::new(kind).with(compression.parse().unwrap());
    let small_files = JobSpec {
        operation: FileOperation::SmallFiles,
        ..spec()
    };
    let aged = JobSpec {
        age: Age::Overwritten(25),
        ..spec()
    };
    let ext4 = || Filesystem::new(FilesystemKind::Ext4);
    let mut trials = vec![
        (Where::Image, btrfs("zstd:3"), spec()),
        (Where::Image, ext4(), spec()),
        (Where::Image, built(FilesystemKind::Squashfs, "zstd:15"), spec()),
        (Where::Image, Filesystem::new(FilesystemKind::Xfs), spec()),
        (Where::Image, built(FilesystemKind::Erofs, "lz4hc:9"), spec()),
        (Where::Image, ext4(), small_files),
        (Where::Image, btrfs("zstd:3"), aged),
        (Where::Directory, ext4(), spec()),
    ];
    for operation in [
        FileOperation::Append,
        FileOperation::Overwrite,
        FileOperation::Update,
    ] {
        // Long enough that the kill meets the operation, and not what was written before it.
        let synced = JobSpec {
            operation,
            sync: SyncPolicy::Each(1),
            duration: Duration::from_millis(LONGEST_MS),
            ..spec()
        };
        trials.push((Where::Image, btrfs("zstd:3"), synced.clone()));
        trials.push((Where::Directory, ext4(), synced));
    }
    trials
}

/// Not a test of itself: the process that the test below kills. It makes filesystems until it is, beginning with the trial it is told.
#[test]
fn victim() {
    let Some(directory) = std::env::var_os("OUTCROP_TEST_VICTIM") else {
        return;
    };
    let first: usize = std::env::var("OUTCROP_TEST_FIRST").unwrap().parse().unwrap();
    let image = image(directory.as_ref());
    let own = OwnDirectory::open(directory.as_ref()).unwrap();
    let data = data(DATA_BYTES);
    let trials = trials();
    println!("started");
    for (place, filesystem, spec) in trials.iter().cycle().skip(first) {
        let place = match place {
            Where::Image => Place::Image(&image),
            Where::Directory => Place::Directory(&own),
        };
        run_job(
            place,
            filesystem,
            spec,
            &data,
            &Clock::new(),
            &AtomicBool::new(false),
        )
        .unwrap();
    }
}

#[test]
fn a_run_that_is_killed_leaves_nothing_behind() {
    let trials = trials();
    if !trials.iter().all(|(_, filesystem, _)| can_make(filesystem.kind)) {
        return;
    }
    let folder = folder();
    assert_eq!(trials.len() as u32 * 2, KILLS);
    let mut draws: Generator = Seed(9).rng();
    for round in 0..KILLS {
        // Half of them from the start, while the image is made; half under load.
        let (makes_image, has_load) = (round % 2 == 0, round % 4 >= 2);
        let load = has_load.then(|| Load::begin(folder.path()));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "kills::victim", "--nocapture"])
            .env("OUTCROP_TEST_VICTIM", folder.path())
            // Of the rounds that are killed in a trial each begins with another one.
            .env(
                "OUTCROP_TEST_FIRST",
                (round as usize / 2 % trials.len()).to_string(),
            )
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(
            makes_image || lines.by_ref().any(|line| line.unwrap().contains("started")),
            "round {round}"
        );
        let moment = Duration::from_millis(next_below(&mut draws, LONGEST_MS));
        wait(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        drop(load);
        let watch = Stopwatch::start();
        while !is_clean(folder.path()) {
            assert!(
                u128::from(watch.elapsed_ns()) < GONE_WITHIN.as_nanos(),
                "round {round}, killed after {moment:?}: {:?} {:?}",
                loops_of(folder.path()),
                names_in(folder.path())
            );
            wait(Duration::from_millis(5));
        }
    }
}

/// Two threads that compute and one that writes and syncs, until it is dropped.
struct Load {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn begin(folder: &std::path::Path) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        // It has no name: what is counted in the folder is the run's alone.
        let file = tempfile::tempfile_in(folder).unwrap();
        let flag = || Arc::clone(&is_over);
        let spin = |is_over: Arc<AtomicBool>| {
            std::thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let write = |is_over: Arc<AtomicBool>| {
            std::thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    file.write_all_at(&[7; 1 << 16], 0).unwrap();
                    file.sync_all().unwrap();
                }
            })
        };
        Self {
            threads: vec![spin(flag()), spin(flag()), write(flag())],
            is_over,
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn next_below(draws: &mut Generator, most: u64) -> u64 {
    use rand::Rng as _;
    draws.next_u64() % most
}

/// Waits on nothing, for the moment of a kill: a test of what happens at any moment has to choose one.
fn wait(moment: Duration) {
    let timeout = rustix::event::Timespec {
        tv_sec: moment.as_secs() as i64,
        tv_nsec: moment.subsec_nanos().into(),
    };
    let _ = rustix::event::poll(&mut [], Some(&timeout));
}

fn loops_of(folder: &std::path::Path) -> Vec<String> {
    let mut loops = loops_without_a_name();
    loops.retain(|name| name.contains(&folder.to_string_lossy().into_owned()));
    loops
}

fn names_in(folder: &std::path::Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

fn is_clean(folder: &std::path::Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let is_mounted = mounts.contains(&folder.to_string_lossy().into_owned());
    loops_of(folder).is_empty() && names_in(folder) == 0 && !is_mounted
}

#[test]
fn programs_get_a_descriptor_and_never_a_device() {
    if !can_make(FilesystemKind::Ext4) {
        return;
    }
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let (bin, said) = (folder.path().join("bin"), folder.path().join("arguments"));
    std::fs::create_dir(&bin).unwrap();
    let script = format!("#!/bin/sh\necho \"$0 $@\" >> {}\nexit 1\n", said.display());
    for name in [
        "mkfs.ext4",
        "mkfs.xfs",
        "mkfs.btrfs",
        "mkfs.f2fs",
        "mksquashfs",
        "mkfs.erofs",
    ] {
        let path = bin.join(name);
        std::fs::write(&path, &script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let status = command
        .args(["--exact", "kills::decoy", "--nocapture"])
        .env("OUTCROP_TEST_DECOY", folder.path())
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .status()
        .unwrap();
    assert!(status.success());
    let said = std::fs::read_to_string(said).unwrap();
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.to_lowercase().ends_with("version") && !line.ends_with("-V"))
        .collect();
    assert_eq!(lines.len(), 6, "{said}");
    for line in lines {
        assert!(
            line.contains("/proc/self/fd/") && !line.contains("/dev/"),
            "{line}"
        );
    }
}

/// Not a test of itself: the process that has the decoys in its PATH.
#[test]
fn decoy() {
    let Some(directory) = std::env::var_os("OUTCROP_TEST_DECOY") else {
        return;
    };
    let folder = std::path::PathBuf::from(directory).join("run");
    std::fs::create_dir(&folder).unwrap();
    let image = image(&folder);
    let data = data(DATA_BYTES);
    for kind in FilesystemKind::ALL {
        let filesystem = Filesystem::new(kind);
        run_job(
            Place::Image(&image),
            &filesystem,
            &spec(),
            &data,
            &Clock::new(),
            &AtomicBool::new(false),
        )
        .unwrap_err();
    }
}
