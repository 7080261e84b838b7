//! `kill -9` of runs of key-value engines, in the load and in the run: they are resumed, and leave nothing outside their folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use outcrop_probe::Clock;
use outcrop_workload::store::StoreEngine;
use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{command, names_in, only_run, outcrop, workplace};
use crate::kv::{cells, has_rocksdb, is_here, metric};

/// What a process does in these phases its threads are named after.
const PHASES: [&str; 2] = ["load", "run"];
/// A run that hangs is no reason for CI to wait for an hour.
const PATIENCE_NS: u64 = 120_000_000_000;
/// The folder of temporary files that the killed processes are given.
const TEMPORARY: &str = "temporary";

/// A process of a run that is not the run's own: one that holds a database, or the guard.
#[derive(Clone)]
struct Part {
    pid: Pid,
    folder: PathBuf,
}

impl Part {
    /// The CPU time of the first thread that does the work of a phase; none where the process is not in it.
    fn cpu_ns(&self, phase: &str) -> Option<u64> {
        let prefix = format!("{phase}-");
        let tasks = std::fs::read_dir(self.folder.join("task")).ok()?;
        let of_phase = |task: &PathBuf| {
            let name = std::fs::read_to_string(task.join("comm"));
            name.is_ok_and(|name| name.starts_with(&prefix))
        };
        let mut tasks = tasks.filter_map(|task| Some(task.ok()?.path()));
        let times = std::fs::read_to_string(tasks.find(of_phase)?.join("schedstat")).ok()?;
        times.split_whitespace().next()?.parse().ok()
    }

    fn holds_a_database(&self) -> bool {
        PHASES.iter().any(|phase| self.cpu_ns(phase).is_some())
    }

    fn is_stopped(&self) -> bool {
        let state = std::fs::read_to_string(self.folder.join("stat")).unwrap_or_default();
        // Behind the name, which stands in parentheses and may contain anything.
        state
            .rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('T'))
    }
}

/// The processes that were started in a directory to hold databases or to guard them.
fn parts(dir: &Path) -> Vec<Part> {
    let part = |folder: PathBuf| {
        let pid = folder.file_name()?.to_str()?.parse().ok()?;
        let line = std::fs::read(folder.join("cmdline")).ok()?;
        let is_here = std::fs::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd == dir);
        let is_part = String::from_utf8_lossy(&line).contains("kv-worker");
        (is_here && is_part).then_some(Part {
            pid: Pid::from_raw(pid)?,
            folder,
        })
    };
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| part(entry.path())).collect()
}

/// Processes that work below a directory: servers of databases, whose folders may be gone already.
fn servers(dir: &Path) -> Vec<String> {
    let server = |folder: PathBuf| {
        let is_below =
            std::fs::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd != dir && cwd.starts_with(dir));
        let name = std::fs::read_to_string(folder.join("comm")).ok()?;
        is_below.then(|| format!("process {} {}", folder.display(), name.trim()))
    };
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| server(entry.path())).collect()
}

/// Starts a command whose temporary files are to be seen.
fn begun(dir: &Path, args: &[&str]) -> Child {
    let temporary = dir.join(TEMPORARY);
    std::fs::create_dir_all(&temporary).unwrap();
    let mut command = command(dir, args);
    command.env("TMPDIR", temporary).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().unwrap()
}

/// When a run is killed: in this phase of its next database but so many, once a thread has worked for so long.
struct Moment {
    phase: &'static str,
    after: usize,
    worked_ns: u64,
}

/// Waits for the moment and holds the process there, so that what is killed is what was seen.
fn caught(victim: &mut Child, dir: &Path, moment: &Moment) -> Part {
    let clock = Clock::new();
    let mut seen = BTreeSet::new();
    loop {
        assert!(
            clock.now_ns() < PATIENCE_NS,
            "no database came into its {}",
            moment.phase
        );
        assert_eq!(victim.try_wait().unwrap(), None, "it ended before it was killed");
        for part in parts(dir) {
            let Some(worked_ns) = part.cpu_ns(moment.phase) else {
                continue;
            };
            seen.insert(part.pid.as_raw_nonzero());
            if seen.len() <= moment.after || worked_ns < moment.worked_ns {
                continue;
            }
            if kill_process(part.pid, Signal::STOP).is_err() {
                continue;
            }
            while !part.is_stopped() && part.folder.exists() {
                std::thread::yield_now();
            }
            if part.cpu_ns(moment.phase).is_some() {
                return part;
            }
            let _ = kill_process(part.pid, Signal::CONT);
        }
        std::thread::yield_now();
    }
}

/// What is there that was not before the run, but for the run folder.
fn left_behind(dir: &Path, victim: u32) -> Vec<String> {
    let names = names_in(dir).into_iter();
    let mut left: Vec<String> = names
        .filter(|name| !["runs", TEMPORARY].contains(&name.as_str()))
        .collect();
    left.extend(names_in(&dir.join(TEMPORARY)));
    left.extend(parts(dir).iter().map(|part| format!("process {:?}", part.pid)));
    left.extend(servers(dir));
    let place = dir.to_str().unwrap();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    left.extend(
        mounts
            .lines()
            .filter(|line| line.contains(place))
            .map(str::to_owned),
    );
    let devices = std::fs::read_dir("/sys/block").unwrap().filter_map(Result::ok);
    let backing =
        devices.filter_map(|device| std::fs::read_to_string(device.path().join("loop/backing_file")).ok());
    left.extend(backing.filter(|file| file.contains(place)));
    let shared = std::fs::read_dir("/dev/shm")
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let shared = shared.map(|entry| entry.file_name().to_string_lossy().into_owned());
    left.extend(shared.filter(|name| name.contains("outcrop")));
    left.extend(groups(
        Path::new("/sys/fs/cgroup"),
        &format!("outcrop-kv-{victim}-"),
    ));
    left
}

/// Control groups whose name begins so.
fn groups(below: &Path, prefix: &str) -> Vec<String> {
    let folders = std::fs::read_dir(below)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders
        .flat_map(|folder| {
            let name = folder.file_name().to_string_lossy().into_owned();
            let own = name.starts_with(prefix).then_some(name);
            own.into_iter().chain(groups(&folder.path(), prefix))
        })
        .collect()
}

fn wait_until_nothing_is_left(dir: &Path, victim: u32) {
    let clock = Clock::new();
    loop {
        let left = left_behind(dir, victim);
        if left.is_empty() {
            return;
        }
        assert!(clock.now_ns() < PATIENCE_NS, "left behind: {left:?}");
        std::thread::yield_now();
    }
}

/// Kills a run in both phases in turn and resumes it each time, until it is let finish; gives what it printed.
fn killed_and_resumed(dir: &Path, first: &[&str], kills: usize) -> crate::harness::Seen {
    let mut run = String::new();
    for kill in 0..kills {
        let resume = ["run", "--resume", &run, "--quiet"];
        let args = if kill == 0 { first } else { &resume[..] };
        let moment = Moment {
            phase: PHASES[kill % 2],
            // So that some trials are finished between kills.
            after: usize::from(kill % 10 == 9),
            worked_ns: 1_000_000 * (1 + kill as u64 % 3),
        };
        let mut victim = begun(dir, args);
        let pid = victim.id();
        let part = caught(&mut victim, dir, &moment);
        assert!(part.is_stopped() && part.cpu_ns(moment.phase).is_some());
        victim.kill().unwrap();
        victim.wait().unwrap();
        wait_until_nothing_is_left(dir, pid);
        run = only_run(dir).to_str().unwrap().to_owned();
    }
    let seen = outcrop(dir, &["run", "--resume", &run, "--quiet", "--format", "json"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(names_in(dir), ["runs", TEMPORARY]);
    seen
}

const SMALL: [&str; 10] = [
    "kv",
    "--records",
    "2000",
    "--warm-up",
    "10ms",
    "--duration",
    "100ms",
    "--settling",
    "none",
    "--quiet",
];

/// How often each trial of the journal was completed: each once.
fn completed_trials(dir: &Path) -> usize {
    let journal = std::fs::read_to_string(only_run(dir).join("trials.ndjson")).unwrap();
    let completed = journal.lines().filter(|line| line.contains("\"completed\""));
    completed.count()
}

#[test]
fn a_run_is_killed_ten_times_in_each_phase_and_resumed_and_leaves_nothing_outside_its_folder() {
    let dir = workplace();
    let engines = if has_rocksdb() {
        "fjall,rocksdb"
    } else {
        "fjall,redb"
    };
    let more = [
        "--engine",
        engines,
        "--memory-limit",
        "none,256MiB",
        "--repetitions",
        "3",
    ];
    let seen = killed_and_resumed(dir.path(), &[&SMALL[..], &more].concat(), 20);
    let cells = cells(&seen);
    assert_eq!(cells.len(), 4, "{}", seen.stdout);
    for cell in &cells {
        let is_limited = cell["factors"]["memory_limit"] != "none";
        match metric(cell, "throughput") {
            Some(throughput) => assert!(throughput > 0.0, "{cell}"),
            None if is_limited && std::env::var_os("CI").is_none() => {
                use std::io::Write as _;
                let _ = writeln!(std::io::stderr(), "skipped: a memory limit: {}", cell["metrics"]);
            }
            None => panic!("{cell}"),
        }
    }
    assert_eq!(completed_trials(dir.path()), 12, "4 cells, 3 repetitions");
}

#[test]
fn a_run_of_servers_is_killed_in_each_phase_and_leaves_neither_a_server_nor_a_folder() {
    let dir = workplace();
    let engines = [StoreEngine::Redis, StoreEngine::Memcached];
    if !engines.into_iter().all(is_here) {
        return;
    }
    let more = [
        "--engine",
        "redis,memcached",
        "--processes",
        "2",
        "--repetitions",
        "3",
    ];
    let seen = killed_and_resumed(dir.path(), &[&SMALL[..], &more].concat(), 8);
    let cells = cells(&seen);
    assert_eq!(cells.len(), 2, "{}", seen.stdout);
    for cell in &cells {
        assert!(metric(cell, "throughput").is_some(), "{cell}");
    }
    assert_eq!(completed_trials(dir.path()), 6, "2 cells, 3 repetitions");
}

#[test]
fn a_run_on_a_filesystem_made_for_it_is_killed_in_each_phase_and_leaves_neither_mount_nor_loop_device() {
    let dir = workplace();
    if let Err(why) = outcrop_filesystem::ability(dir.path()) {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "skipped: filesystems of our own: {why}");
        return;
    }
    let more = ["--filesystem", "ext4", "--repetitions", "5"];
    let seen = killed_and_resumed(dir.path(), &[&SMALL[..], &more].concat(), 10);
    let cells = cells(&seen);
    assert!(
        cells.len() == 1 && metric(&cells[0], "throughput").is_some(),
        "{}",
        seen.stdout
    );
    assert_eq!(completed_trials(dir.path()), 5);
}

#[test]
fn what_a_run_leaves_that_is_killed_together_with_its_guard_is_removed_by_the_next() {
    let dir = workplace();
    let mut victim = begun(dir.path(), &[&SMALL[..], &["--repetitions", "1"]].concat());
    let moment = Moment {
        phase: "run",
        after: 0,
        worked_ns: 1_000_000,
    };
    let held = caught(&mut victim, dir.path(), &moment);
    let guards = parts(dir.path()).into_iter().filter(|part| part.pid != held.pid);
    let guards: Vec<Part> = guards.collect();
    assert!(guards.len() == 1 && !guards[0].holds_a_database());
    kill_process(guards[0].pid, Signal::KILL).unwrap();
    victim.kill().unwrap();
    victim.wait().unwrap();
    let clock = Clock::new();
    while !parts(dir.path()).is_empty() {
        assert!(clock.now_ns() < PATIENCE_NS, "a process outlived the run");
        std::thread::yield_now();
    }
    let names = names_in(dir.path());
    assert!(names[0].starts_with(".outcrop-kv-"), "{names:?}");
    let run = only_run(dir.path());
    let seen = outcrop(dir.path(), &["run", "--resume", run.to_str().unwrap()]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stderr.contains("removing") && seen.stderr.contains(&names[0]),
        "it says what it removes: {seen:?}"
    );
    assert_eq!(names_in(dir.path()), ["runs", TEMPORARY]);
}
