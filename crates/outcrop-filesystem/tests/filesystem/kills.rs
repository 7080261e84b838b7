//! A process that is killed at any moment leaves no loop device, mount or file.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use outcrop_filesystem::{Filesystem, JobSpec, OwnDirectory, Place, Step, run_job, run_watched_job};
use outcrop_measure::seed::{Generator, Seed};
use outcrop_probe::{Clock, Stopwatch};
use outcrop_workload::filesystem::{Age, FileOperation, FilesystemKind, SyncPolicy};

use crate::place::{DATA_BYTES, btrfs, can_make, data, folder, image, loops_without_a_name, spec};

/// Times that a run is killed: in each of the trials once, and as often while it makes the image.
const KILLS: u32 = 28;
/// Longest wait before a run is killed that makes its image, and how long synced writes go on.
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
        run_watched_job(
            place,
            filesystem,
            spec,
            &data,
            &Clock::new(),
            &AtomicBool::new(false),
            &|step| println!("{}", line_of(step)),
        )
        .unwrap();
    }
}

/// What the victim says before a step.
fn line_of(step: Step) -> String {
    format!("step: {step:?}")
}

/// The steps of a trial.
fn steps_of((place, filesystem, spec): &(Where, Filesystem, JobSpec)) -> Vec<Step> {
    let (is_made, is_built) = (*place == Where::Image, filesystem.kind.is_read_only());
    let has_files = spec.operation != FileOperation::SmallFiles;
    let has = |step: &Step| match step {
        Step::Making | Step::Mounting | Step::MountingAgain => is_made,
        Step::Writing => !is_built,
        Step::Ageing => spec.age != Age::Fresh,
        Step::Evicting => has_files && spec.operation != FileOperation::Append,
        Step::Operating => spec.operation != FileOperation::Append,
    };
    Step::ALL.into_iter().filter(has).collect()
}

/// Longest wait after a step has begun: some take no longer.
const fn longest_ms(step: Step) -> u64 {
    match step {
        Step::Mounting | Step::MountingAgain | Step::Evicting => 4,
        Step::Making | Step::Writing | Step::Ageing | Step::Operating => 60,
    }
}

/// When a victim is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// So many milliseconds after its start, while it makes the image.
    AfterStart(u64),
    /// So many milliseconds after a step has begun, in this trial or one that follows.
    InStep(usize, Step, u64),
}

/// Kills a victim, and gives the step that it was in: the last that it told of.
fn kill(folder: &std::path::Path, moment: Moment) -> Option<Step> {
    let first = match moment {
        Moment::AfterStart(_) => 0,
        Moment::InStep(first, ..) => first,
    };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "kills::victim", "--nocapture"])
        .env("OUTCROP_TEST_VICTIM", folder)
        .env("OUTCROP_TEST_FIRST", first.to_string())
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut last, after_ms) = match moment {
        Moment::AfterStart(after_ms) => (None, after_ms),
        Moment::InStep(_, step, after_ms) => {
            let line = line_of(step);
            let is_told = lines.by_ref().any(|told| told.unwrap().contains(&line));
            assert!(is_told, "{moment:?}: the victim ended");
            (Some(step), after_ms)
        }
    };
    wait(Duration::from_millis(after_ms));
    child.kill().unwrap();
    child.wait().unwrap();
    for told in lines.map_while(Result::ok) {
        let step = Step::ALL.into_iter().find(|step| told.contains(&line_of(*step)));
        last = step.or(last);
    }
    last
}

/// Waits until nothing is left of what was killed.
fn assert_gone(folder: &std::path::Path, moment: Moment) {
    let watch = Stopwatch::start();
    while !is_clean(folder) {
        assert!(
            u128::from(watch.elapsed_ns()) < GONE_WITHIN.as_nanos(),
            "killed at {moment:?}: {:?} {:?}",
            loops_of(folder),
            names_in(folder)
        );
        wait(Duration::from_millis(5));
    }
}

#[test]
fn a_run_that_is_killed_in_any_step_leaves_nothing_behind() {
    let trials = trials();
    if !trials.iter().all(|(_, filesystem, _)| can_make(filesystem.kind)) {
        return;
    }
    let folder = folder();
    assert_eq!(trials.len() as u32 * 2, KILLS);
    let mut draws: Generator = Seed(9).rng();
    let mut met = [0; Step::ALL.len()];
    let place_of = |step: Step| Step::ALL.iter().position(|one| *one == step).unwrap();
    let kill_at = |moment: Moment, has_load: bool, met: &mut [u32]| {
        let load = has_load.then(|| Load::begin(folder.path()));
        let step = kill(folder.path(), moment);
        drop(load);
        assert_gone(folder.path(), moment);
        step.into_iter().for_each(|step| met[place_of(step)] += 1);
    };
    for round in 0..KILLS {
        // Half of them from the start, while the image is made; half in a trial, each in another one. Half under load.
        let trial = (round / 2) as usize;
        let moment = if round % 2 == 0 {
            Moment::AfterStart(next_below(&mut draws, LONGEST_MS))
        } else {
            let steps = steps_of(&trials[trial]).into_iter();
            let step = steps.min_by_key(|step| met[place_of(*step)]).unwrap();
            Moment::InStep(trial, step, next_below(&mut draws, longest_ms(step)))
        };
        kill_at(moment, round % 4 >= 2, &mut met);
    }
    // A step may have been over when the kill came: it is tried again.
    for _ in 0..KILLS {
        let missing = Step::ALL.into_iter().find(|step| met[place_of(*step)] == 0);
        let Some(step) = missing else { break };
        let trial = trials.iter().position(|trial| steps_of(trial).contains(&step));
        kill_at(Moment::InStep(trial.unwrap(), step, 0), false, &mut met);
    }
    assert!(met.iter().all(|kills| *kills > 0), "{:?}: {met:?}", Step::ALL);
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
