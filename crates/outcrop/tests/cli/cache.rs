//! `outcrop cache …`: the server and the load driver, one against the other over loopback.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::harness::{command, only_run, outcrop, workplace};

/// A server of ours, with the addresses that it said it listens on.
pub(crate) struct Served {
    pub(crate) child: Child,
    stderr: BufReader<ChildStderr>,
    pub(crate) memcached: String,
    http: String,
}

impl Served {
    pub(crate) fn start(dir: &Path) -> Self {
        Self::with(dir, &["--memory", "16MiB"])
    }

    pub(crate) fn with(dir: &Path, options: &[&str]) -> Self {
        let args = [&["cache", "serve", "--threads", "1"], options].concat();
        let ports = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"];
        let mut child = command(dir, &[&args[..], &ports[..]].concat())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut address = |protocol: &str| {
            let mut line = String::new();
            stderr.read_line(&mut line).unwrap();
            let rest = line.trim_end().strip_prefix(protocol);
            rest.unwrap_or_else(|| panic!("{protocol}, not {line:?}"))
                .to_owned()
        };
        let (memcached, http) = (address("memcached on "), address("http on "));
        Self {
            child,
            stderr,
            memcached,
            http,
        }
    }

    /// Asks it to end as a service manager does.
    pub(crate) fn end(self) -> String {
        self.terminate();
        self.ended()
    }

    pub(crate) fn terminate(&self) {
        let pid = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        assert!(asked.success());
    }

    /// What it said at its end, which is a good one.
    pub(crate) fn ended(mut self) -> String {
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        assert!(self.child.wait().unwrap().success(), "{said}");
        said
    }
}

/// The values of `--format json`, by name.
fn loaded(dir: &Path, args: &[&str]) -> serde_json::Map<String, serde_json::Value> {
    let usual = [
        "cache",
        "load",
        "--format",
        "json",
        "--duration",
        "200ms",
        "--keys",
        "500",
    ];
    let seen = outcrop(dir, &[&usual[..], args].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let rows: Vec<serde_json::Value> = serde_json::from_str(&seen.stdout).unwrap();
    let pair = |row: &serde_json::Value| (row["what"].as_str().unwrap().to_owned(), row["value"].clone());
    rows.iter().map(pair).collect()
}

#[test]
fn the_driver_loads_our_server_by_both_protocols_and_sigterm_ends_it_well() {
    let dir = workplace();
    let dir = dir.path();
    let served = Served::start(dir);
    for target in [
        format!("memcached://{}", served.memcached),
        format!("http://{}", served.http),
    ] {
        let closed = loaded(dir, &["--target", &target, "--connections", "4"]);
        assert_eq!(closed["loop"], "closed loop", "{target}");
        assert!(closed["throughput"].as_f64().unwrap() > 0.0, "{closed:?}");
        // 500 keys of ETC fit into 16 MiB many times over, and the warm-up has set them all.
        assert_eq!(closed["hit ratio"], 1.0, "{closed:?}");
        assert!(closed["server CPU"].is_number(), "{closed:?}");
        let open = loaded(dir, &["--target", &target, "--rate", "500"]);
        assert_eq!(open["loop"], "open loop", "{target}");
        assert_eq!(open["offered"], 500.0, "{open:?}");
    }
    assert!(served.end().contains("answering what has arrived"));
}

#[test]
fn what_a_cache_cannot_be_asked_for_is_said() {
    let dir = workplace();
    let refused = |args: &[&str]| {
        let seen = outcrop(dir.path(), &[&["cache"], args].concat());
        assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
        seen.stderr
    };
    assert!(refused(&["serve", "--listen", "0.0.0.0:0"]).contains("--insecure"));
    assert!(refused(&["serve", "--policy", "lfru"]).contains("s3-fifo"));
    assert!(refused(&["load", "--target", "gopher://127.0.0.1:1"]).contains("memcached://"));
    assert!(refused(&["load", "--rate", "many"]).contains("many"));
    assert!(refused(&["load", "--search", "soon"]).contains("p95<1ms"));
}

#[test]
fn a_target_where_nobody_listens_is_a_failure_that_names_it() {
    let dir = workplace();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let target = format!("memcached://{address}");
    let seen = outcrop(
        dir.path(),
        &["cache", "load", "--target", &target, "--duration", "100ms"],
    );
    assert!(!seen.stderr.contains("panicked"), "{seen:?}");
    assert_ne!(seen.code, Some(0), "{seen:?}");
    assert!(seen.sentence().contains(&address.to_string()), "{seen:?}");
}

#[test]
fn a_plan_measures_our_cache_and_a_url_in_its_place() {
    let dir = workplace();
    let dir = dir.path();
    let plan = "name = \"small\"\nquestion = \"Does it hit?\"\nlayer = \"cache\"\n[workload]\nkeys = 2000\nconnections = 4\n\
                [factors]\nmemory = [\"1MiB\", \"16MiB\"]\n[trial]\nrepetitions = 2\nwarm_up = \"10ms\"\nduration = \"50ms\"\n";
    std::fs::write(dir.join("small.toml"), plan).unwrap();
    let seen = outcrop(dir, &["run", "small.toml"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stdout.contains("hit ratio") && seen.stdout.contains("closed loop"),
        "{}",
        seen.stdout
    );
    let page = std::fs::read_to_string(only_run(dir).join("report.html")).unwrap();
    assert!(page.contains("Latency distribution"));

    let served = Served::start(dir);
    let url = format!("memcached://{}", served.memcached);
    let dry = [
        "profile",
        "--quick",
        "--layer",
        "cache",
        "--dry-run",
        "--server",
        &url,
    ];
    let seen = outcrop(dir, &dry);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stdout.contains(&url) && !seen.stdout.contains("memory="),
        "{}",
        seen.stdout
    );
    let measured = [
        "--duration",
        "50ms",
        "--warm-up",
        "10ms",
        "--repetitions",
        "1",
        "--out",
        "urls",
    ];
    let seen = outcrop(
        dir,
        &[
            &["profile", "--quick", "--layer", "cache", "--server", &url],
            &measured[..],
        ]
        .concat(),
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("hit ratio"), "{}", seen.stdout);
    served.end();
    let seen = outcrop(
        dir,
        &["profile", "--quick", "--layer", "cache", "--server", "nowhere"],
    );
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.sentence().contains("memcached://HOST:PORT"), "{seen:?}");
}
