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
    pub(crate) http: String,
}

impl Served {
    pub(crate) fn start(dir: &Path) -> Self {
        Self::with(dir, &["--memory", "16MiB"])
    }

    pub(crate) fn with(dir: &Path, options: &[&str]) -> Self {
        let args = [&["cache", "serve", "--threads", "1"], options].concat();
        let ports = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"];
        Self::of(command(dir, &[&args[..], &ports[..]].concat()))
    }

    /// A server that listens for memcached's protocol and HTTP.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        // From here on a panic ends the server too.
        let mut served = Self {
            stderr: BufReader::new(child.stderr.take().unwrap()),
            child,
            memcached: String::new(),
            http: String::new(),
        };
        served.memcached = served.address("memcached on ");
        served.http = served.address("http on ");
        served
    }

    fn address(&mut self, protocol: &str) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        let rest = line.trim_end().strip_prefix(protocol);
        rest.unwrap_or_else(|| panic!("{protocol}, not {line:?}"))
            .to_owned()
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

/// A test that fails leaves no server behind.
impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The values of `--format json`, by name.
fn loaded(dir: &Path, args: &[&str]) -> serde_json::Map<String, serde_json::Value> {
    loaded_by(dir, &[&["--duration", "200ms", "--keys", "500"], args].concat())
}

pub(crate) fn loaded_by(dir: &Path, args: &[&str]) -> serde_json::Map<String, serde_json::Value> {
    let seen = outcrop(dir, &[&["cache", "load", "--format", "json"], args].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    // A command that succeeds says no error.
    assert!(!seen.stderr.contains("error: "), "{seen:?}");
    let answer = crate::json_shape::checked(&seen.stdout);
    assert!(answer["environment"]["cpu"].is_object(), "{answer}");
    let cell = &answer["cells"][0];
    assert!(
        cell["metrics"]["throughput"]["unit"] == "1/s" && cell["factors"]["connections"].is_number(),
        "{cell}"
    );
    assert!(answer["details"]["seed"].is_string(), "{answer}");
    let rows = answer["rows"].as_array().unwrap();
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
        assert_eq!(closed["target"], target.as_str());
        assert_eq!(
            (closed["keys"].as_f64(), closed["connections"].as_f64()),
            (Some(500.0), Some(4.0))
        );
        // A string: it may have 64 bits.
        assert_eq!(
            closed["seed"]
                .as_str()
                .unwrap()
                .parse::<outcrop_measure::Seed>()
                .unwrap(),
            outcrop_measure::Seed(1)
        );
        assert!(closed["throughput"].as_f64().unwrap() > 0.0, "{closed:?}");
        // 500 keys of ETC fit into 16 MiB many times over, and the warm-up has set them all.
        assert_eq!(closed["hit ratio"], 1.0, "{closed:?}");
        assert!(closed["server CPU"].is_number(), "{closed:?}");
        let open = loaded(dir, &["--target", &target, "--rate", "500"]);
        assert_eq!(open["loop"], "open loop", "{target}");
        assert_eq!(open["offered"], 500.0, "{open:?}");
    }
    assert!(served.end().contains("stopping: pending requests"));
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

#[test]
fn a_search_that_cannot_decide_in_its_time_fails_and_says_how_long_it_would_take() {
    let dir = workplace();
    let served = Served::start(dir.path());
    let target = format!("memcached://{}", served.memcached);
    // Whether a backlog grows shows after two limits: two minutes.
    let load = [
        "cache",
        "load",
        "--keys",
        "100",
        "--connections",
        "2",
        "--duration",
        "100ms",
        "--target",
    ];
    let seen = outcrop(
        dir.path(),
        &[&load[..], &[&target, "--search", "p50<60s"]].concat(),
    );
    assert_eq!(seen.code, Some(3), "{seen:?}");
    let sentence = seen.sentence();
    assert!(
        sentence.contains("no rate was found") && sentence.contains("--duration 2m"),
        "{sentence}"
    );
    // A run that short says the same of its own objective.
    let asked = ["--rate", "100", "--objective", "p99.9<60s", "--format", "json"];
    let seen = outcrop(dir.path(), &[&load[..], &[&target], &asked[..]].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stdout.contains("undecided") && seen.stdout.contains("needs 10000"),
        "{}",
        seen.stdout
    );
    served.end();
}

#[test]
fn one_key_is_set_read_and_deleted_from_the_command_line() {
    let dir = workplace();
    let dir = dir.path();
    let served = Served::start(dir);
    for target in [
        format!("memcached://{}", served.memcached),
        format!("http://{}", served.http),
    ] {
        let ask = |args: &[&str]| outcrop(dir, &[&["cache"], args, &["--target", &target]].concat());
        let missing = ask(&["get", "rock"]);
        assert_eq!(
            (missing.code, missing.stdout.as_str()),
            (Some(1), ""),
            "{missing:?}"
        );
        assert!(missing.stderr.contains("there is no `rock`"), "{missing:?}");
        assert_eq!(ask(&["set", "rock", "granite"]).code, Some(0));
        assert_eq!(ask(&["get", "rock"]).stdout, "granite");
        assert_eq!(ask(&["delete", "rock"]).code, Some(0));
        assert_eq!(ask(&["delete", "rock"]).code, Some(1));
    }
    // A key that would be a second command is refused before anything is sent.
    let refused = outcrop(dir, &["cache", "get", "a\r\nflush_all"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.sentence().contains("control characters"), "{refused:?}");
    served.end();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("memcached://{}", closed.local_addr().unwrap());
    drop(closed);
    let seen = outcrop(dir, &["cache", "get", "rock", "--target", &target]);
    assert_eq!(seen.code, Some(3), "{seen:?}");
    assert!(seen.sentence().contains("outcrop cache serve"), "{seen:?}");
}

/// 4000 requests of 106 keys of 100 bytes.
pub(crate) fn write_trace(dir: &Path) {
    let lines: String = (0..4000_u32)
        .map(|number| format!("{number},k{},100\n", number * number % 211))
        .collect();
    std::fs::write(dir.join("trace.csv"), lines).unwrap();
}

#[test]
fn a_trace_becomes_a_miss_ratio_curve_as_text_and_picture() {
    let dir = workplace();
    let dir = dir.path();
    write_trace(dir);
    let simulate = |args: &[&str]| outcrop(dir, &[&["cache", "simulate"], args].concat());
    let drawn = ["--svg", "curve.svg", "--png", "curve.png", "--pdf", "curve.pdf"];
    let seen = simulate(&[&["trace.csv", "--memory", "2KiB..64KiB"], &drawn[..]].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(
        seen.stdout.lines().count(),
        13,
        "five sentences, a blank line and a table: {}",
        seen.stdout
    );
    // Everything fits at the memory advised; what a policy is worth shows below.
    assert!(
        seen.stdout
            .contains("\nWith less memory the policy matters, most at "),
        "{}",
        seen.stdout
    );
    assert!(
        seen.stdout.starts_with("Memory: "),
        "the answer comes first: {}",
        seen.stdout
    );
    assert!(
        seen.stdout.contains("w-tinylfu") && seen.stdout.contains("64 KiB"),
        "{}",
        seen.stdout
    );
    let svg = std::fs::read_to_string(dir.join("curve.svg")).unwrap();
    assert!(svg.contains("<svg") && svg.contains("s3-fifo"));
    assert!(
        svg.contains("trace.csv, 4000 requests") && svg.contains("32 B"),
        "{svg}"
    );
    for (name, opening) in [("curve.png", &b"\x89PNG"[..]), ("curve.pdf", b"%PDF")] {
        assert!(
            std::fs::read(dir.join(name)).unwrap().starts_with(opening),
            "{name}"
        );
    }
    // Its keys come again after a while of any length: each byte saves as many misses as the one before, and nothing is a knee. Keys in a
    // fixed order all begin to fit at once.
    assert!(!seen.stdout.contains("\nKnee with lru"), "{seen:?}");
    let rounds: String = (0..4000_u32)
        .map(|number| format!("{number},k{},100\n", number % 106))
        .collect();
    std::fs::write(dir.join("rounds.csv"), rounds).unwrap();
    let in_order = simulate(&["rounds.csv", "--memory", "2KiB..64KiB", "--policy", "lru"]);
    assert!(
        in_order
            .stdout
            .contains("\nKnee with lru: from 8 KiB to 16 KiB the misses fall from "),
        "{in_order:?}"
    );
    // The picture is never written over.
    let again = simulate(&["trace.csv", "--memory", "2KiB", "--svg", "curve.svg"]);
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.sentence().contains("--force replaces it"), "{again:?}");
}

#[test]
fn a_trace_without_sizes_needs_one_and_an_odd_line_is_named() {
    let dir = workplace();
    let dir = dir.path();
    let simulate = |args: &[&str]| outcrop(dir, &[&["cache", "simulate"], args].concat());
    std::fs::write(dir.join("keys.txt"), "rock\nsand\nrock\n").unwrap();
    let sizeless = simulate(&["keys.txt", "--memory", "1KiB"]);
    assert_eq!(sizeless.code, Some(2), "{sizeless:?}");
    assert!(sizeless.sentence().contains("--value-size 100B"), "{sizeless:?}");
    let sized = simulate(&[
        "keys.txt",
        "--memory",
        "1KiB",
        "--value-size",
        "100B",
        "--policy",
        "lru",
    ]);
    assert!(sized.stdout.contains("0.6667"), "{sized:?}");
    std::fs::write(dir.join("odd.csv"), "0,a\n").unwrap();
    let odd = simulate(&["odd.csv"]);
    assert!(
        odd.code == Some(2) && odd.sentence().contains("time, key, size"),
        "{odd:?}"
    );
}
