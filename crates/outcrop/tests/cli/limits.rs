//! Commands under limits that others set: little memory for the process, and time in which it may not run.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::cache::Served;
use crate::cache_faults::{ask, connect, status_bytes};
use crate::harness::{command, names_in, only_run, outcrop, workplace};

const MIB: u64 = 1 << 20;

/// A limit on the memory of processes: a control group, or their address space where no group may be made.
enum MemoryLimit {
    Group(PathBuf),
    AddressSpace(u64),
}

impl MemoryLimit {
    fn of(bytes: u64) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("outcrop-test-{}-{number}", std::process::id());
        for parent in parents(&own) {
            let group = parent.join(&name);
            if std::fs::create_dir(&group).is_err() {
                continue;
            }
            let limited = ["memory.max", "memory.limit_in_bytes"]
                .iter()
                .any(|file| std::fs::write(group.join(file), bytes.to_string()).is_ok());
            if limited {
                return Self::Group(group);
            }
            std::fs::remove_dir(&group).unwrap();
        }
        Self::AddressSpace(bytes)
    }

    /// The same command under the limit.
    fn over(&self, command: &Command) -> Command {
        let mut limited = match self {
            Self::Group(group) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\""]);
                shell.arg(group);
                shell
            }
            Self::AddressSpace(bytes) => {
                let mut prlimit = Command::new("prlimit");
                // Address space that is only reserved counts too: a server's is its limit once more.
                prlimit.arg(format!("--as={}", 4 * bytes));
                prlimit
            }
        };
        limited.arg(command.get_program()).args(command.get_args());
        limited.current_dir(command.get_current_dir().unwrap());
        limited
    }

    /// Processes that the kernel has killed for want of memory.
    fn killed(&self) -> u64 {
        let Self::Group(group) = self else { return 0 };
        let text = ["memory.events", "memory.oom_control"]
            .iter()
            .find_map(|file| std::fs::read_to_string(group.join(file)).ok())
            .unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        line.unwrap().parse().unwrap()
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        if let Self::Group(group) = self {
            // Whatever ran in it has ended.
            let _ = std::fs::remove_dir(group);
        }
    }
}

/// Where a group with a limit on memory may be made: version 1's own hierarchy, or below a group that passes the
/// controller on.
fn parents(own: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap(), fields.next().unwrap());
        let path = path.trim_start_matches('/');
        if controllers.split(',').any(|name| name == "memory") {
            let root = Path::new("/sys/fs/cgroup/memory");
            found.extend([root.join(path), root.to_owned()]);
        } else if controllers.is_empty() {
            let root = Path::new("/sys/fs/cgroup");
            let inner = root.join(path);
            found.extend(
                inner
                    .ancestors()
                    .take_while(|up| up.starts_with(root))
                    .map(Path::to_owned),
            );
        }
    }
    found
}

/// Stores items of every size, in the orders that are worst for a store in pieces: tiny ones, large ones between
/// them, values that grow, and such as end at once.
fn store_hostile_sizes(writer: &mut TcpStream) {
    let large = vec![b'L'; 1_000_000];
    let mut number = 0_u64;
    for round in 0..6_u64 {
        let mut batch = Vec::new();
        for _ in 0..40_000 {
            number += 1;
            let len = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60) as usize;
            let ends = if number.is_multiple_of(7) { 1 } else { 0 };
            batch.extend_from_slice(format!("set t{number} 0 {ends} {len} noreply\r\n").as_bytes());
            batch.extend_from_slice(&large[..len]);
            batch.extend_from_slice(b"\r\n");
        }
        for at in 0..16 {
            let len = large.len() - 40_000 * at;
            batch.extend_from_slice(format!("set l{round}-{at} 0 0 {len} noreply\r\n").as_bytes());
            batch.extend_from_slice(&large[..len]);
            batch.extend_from_slice(b"\r\n");
        }
        for at in 0..2000 {
            batch.extend_from_slice(format!("append l{round}-15 0 0 9 noreply\r\n{at:09}\r\n").as_bytes());
        }
        batch.extend_from_slice(b"mn\r\n");
        ask(writer, std::str::from_utf8(&batch).unwrap(), "MN\r\n");
    }
}

#[test]
fn every_policy_keeps_the_memory_limit_whatever_sizes_come() {
    const LIMIT_BYTES: u64 = 32 * MIB;
    let dir = workplace();
    for policy in ["none", "fifo", "lru", "sieve", "s3-fifo", "w-tinylfu"] {
        let served = Served::with(dir.path(), &["--memory", "32MiB", "--policy", policy]);
        let mut writer = connect(&served);
        store_hostile_sizes(&mut writer);
        let peak = status_bytes(&served, "VmHWM");
        assert!(peak <= LIMIT_BYTES + 16 * MIB, "{policy}: {peak}");
        assert!(peak > LIMIT_BYTES * 3 / 4, "{policy}: {peak}: nothing was kept");
        served.end();
    }
}

#[test]
fn a_server_in_a_group_of_little_memory_keeps_within_it_and_is_not_killed() {
    let dir = workplace();
    // The server's own limit, and the sixteen mebibytes that it may take beyond.
    let limit = MemoryLimit::of(80 * MIB);
    let args = ["cache", "serve", "--threads", "1", "--memory", "64MiB"];
    let ports = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    let served = Served::of(limit.over(&command(dir.path(), &[&args[..], &ports].concat())));
    let mut writer = connect(&served);
    store_hostile_sizes(&mut writer);
    ask(
        &mut writer,
        "set k 0 0 1\r\nx\r\nget k\r\n",
        "STORED\r\nVALUE k 0 1\r\nx\r\nEND\r\n",
    );
    assert_eq!(limit.killed(), 0);
    served.end();
}

#[test]
fn an_encode_that_gets_no_memory_leaves_the_old_file_and_the_next_one_writes_a_new() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("old.txt"), "gneiss\n").unwrap();
    assert_eq!(
        outcrop(dir, &["column", "encode", "old.txt", "-o", "c.ocol"]).code,
        Some(0)
    );
    let old = std::fs::read(dir.join("c.ocol")).unwrap();
    // All distinct, so that all of it has to be kept.
    let text: String = (0..1_500_000_u64)
        .map(|row| format!("{:016x}{row}\n", row.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        .collect();
    std::fs::write(dir.join("in.txt"), &text).unwrap();
    let encode = command(
        dir,
        &[
            "column",
            "encode",
            "in.txt",
            "-o",
            "c.ocol",
            "--force",
            "--no-compare",
        ],
    );
    let tight = MemoryLimit::of(24 * MIB);
    let status = tight
        .over(&encode)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success(), "{status}: 40 MB in 24 MiB");
    assert!(std::fs::read(dir.join("c.ocol")).unwrap() == old);
    let roomy = MemoryLimit::of(512 * MIB);
    let encoded = roomy.over(&encode).output().unwrap();
    assert!(encoded.status.success(), "{encoded:?}");
    assert_eq!(roomy.killed(), 0);
    assert_eq!(
        names_in(dir),
        ["c.ocol", "in.txt", "old.txt"],
        "no temporary file stays"
    );
    let decoded = outcrop(dir, &["column", "decode", "c.ocol"]);
    assert!(decoded.stdout == text);
}

/// Sends a signal, and waits until the process is in the state that follows.
fn signal(id: u32, name: &str, state: &[char]) {
    let sent = Command::new("kill")
        .args([name, &id.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    loop {
        let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        let (_, rest) = text.rsplit_once(") ").unwrap();
        if state.contains(&rest.chars().next().unwrap()) {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_suspended_server_loses_no_request_and_lets_the_time_count() {
    let dir = workplace();
    let served = Served::start(dir.path());
    let mut clients: Vec<TcpStream> = (0..8).map(|_| connect(&served)).collect();
    ask(
        &mut clients[0],
        "set k 0 0 1\r\nx\r\nset short 0 1 1\r\ny\r\n",
        "STORED\r\nSTORED\r\n",
    );
    signal(served.child.id(), "-STOP", &['T']);
    let mut late = connect(&served);
    for client in clients.iter_mut().chain([&mut late]) {
        client.write_all("get k\r\n".repeat(500).as_bytes()).unwrap();
    }
    // Nothing answers: two seconds pass.
    clients[0].set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    assert!(clients[0].read(&mut [0]).is_err());
    clients[0]
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    signal(served.child.id(), "-CONT", &['R', 'S', 'D']);
    for client in clients.iter_mut().chain([&mut late]) {
        ask(client, "", &"VALUE k 0 1\r\nx\r\nEND\r\n".repeat(500));
        ask(client, "get short\r\n", "END\r\n");
    }
    served.end();
}

#[test]
fn a_run_that_is_suspended_goes_on_and_every_trial_is_kept() {
    let dir = workplace();
    let args = [
        "device",
        "--size",
        "8MiB",
        "--queue-depth",
        "1,4",
        "--repetitions",
        "10",
        "--warm-up",
        "2ms",
        "--duration",
        "50ms",
    ];
    let mut child = command(dir.path(), &args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let journal = || {
        let runs = std::fs::read_dir(dir.path().join("runs")).ok()?;
        let folder = runs
            .flatten()
            .find(|entry| !entry.file_name().to_string_lossy().starts_with('.'))?;
        std::fs::read_to_string(folder.path().join("trials.ndjson")).ok()
    };
    while journal().is_none_or(|text| text.lines().count() < 2) {
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::yield_now();
    }
    signal(child.id(), "-STOP", &['T']);
    let before = journal().unwrap();
    // Another command takes its time meanwhile, and finds the run as far as it has come.
    let seen = outcrop(dir.path(), &["runs"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(journal().unwrap(), before);
    signal(child.id(), "-CONT", &['R', 'S', 'D']);
    assert!(child.wait().unwrap().success());
    let text = std::fs::read_to_string(only_run(dir.path()).join("trials.ndjson")).unwrap();
    assert!(text.starts_with(&before));
    let trials: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(trials.len(), 20);
    for trial in &trials {
        assert_eq!(trial["outcome"], "completed", "{trial}");
        let duration_s = trial["duration_s"].as_f64().unwrap();
        let value = |name: &str| {
            let values = trial["values"].as_array().unwrap();
            let found = values.iter().find(|value| value["metric"] == name);
            found.unwrap_or_else(|| panic!("no {name} in {trial}"))["value"]
                .as_f64()
                .unwrap()
        };
        // The time in which it could not run is in the duration, so that rates stay true.
        assert!(duration_s >= 0.049 && value("iops") > 0.0, "{trial}");
        assert!(value("latency_max") / 1e9 <= duration_s + 0.1, "{trial}");
    }
}

#[test]
fn a_closed_terminal_ends_a_run_as_ctrl_c_does() {
    let (dir, disk) = (workplace(), workplace());
    // Under nohup the signal is ignored, and what starts these tests may be.
    let mut child = Command::new("env")
        .args(["--default-signal=HUP", env!("CARGO_BIN_EXE_outcrop"), "device"])
        .arg(disk.path())
        .args([
            "--size",
            "8MiB",
            "--repetitions",
            "3",
            "--warm-up",
            "2ms",
            "--duration",
            "20s",
        ])
        .current_dir(dir.path())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    // It has said something: the file is being made, or is there.
    stderr.read_exact(&mut [0]).unwrap();
    let sent = Command::new("kill")
        .args(["-HUP", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert_eq!(names_in(disk.path()), Vec::<String>::new(), "{said}");
}
