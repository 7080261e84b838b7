//! The cache layer: real servers under small plans, and what its plans may say.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

use outcrop_lab::LabError;
use outcrop_results::TrialEntry;

use crate::scene::{
    assert_complete, assert_empty, directory, factor, plan_set, run_to_the_end, start, try_plan_set,
};

const PLAN: &str = r#"
name = "caches"
question = "Do caches go through the lab?"
layer = "cache"
design = "one-at-a-time"

[workload]
keys = 5000
connections = 4
oracle = "simulator"

[factors]
memory = ["1MiB", "16MiB"]
policy = ["lru", "s3-fifo"]
pipeline = [8, 1]
arrival = ["closed", "poisson:2k"]

[trial]
repetitions = 1
warm_up = "20ms"
duration = "100ms"
"#;

fn value(entry: &TrialEntry, metric: &str) -> Option<f64> {
    let found = entry.values.iter().find(|value| value.metric == metric);
    found
        .unwrap_or_else(|| panic!("no {metric}: {:?}", entry.values))
        .value
}

#[test]
fn a_run_on_servers_of_its_own_agrees_with_itself_and_leaves_nothing() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(PLAN, data.path());
    assert_eq!(
        set.cells().len(),
        5,
        "a baseline, and one more value of each of four factors"
    );
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    assert_empty(data.path());
    for entry in assert_complete(&set, &folder) {
        let number = |metric: &str| value(&entry, metric).unwrap();
        let (hit_ratio, simulated) = (number("hit_ratio"), number("simulated_hit_ratio"));
        assert!(
            (hit_ratio - simulated).abs() < 0.1,
            "{:?}: {hit_ratio} {simulated}",
            entry.factors
        );
        if entry.factors["memory"] == "16MiB" {
            assert_eq!((hit_ratio, number("items_held")), (1.0, 5000.0));
        } else {
            assert!(number("items_held") < 5000.0 && number("evictions") > 0.0);
        }
        assert!(number("throughput") > 100.0 && number("server_cpu_per_request") > 0.0);
        assert!(number("latency_p50") <= number("latency_max"));
        assert_eq!(value(&entry, "resident_memory"), None, "it shares our process");
        assert_eq!(
            (number("mismatched_values"), number("warm_up_sets")),
            (0.0, 5000.0)
        );
        let is_open = entry.factors["arrival"] != "closed";
        let has = |metric: &str| entry.values.iter().any(|value| value.metric == metric);
        assert_eq!(
            ["offered_load", "service_latency_p50", "generator_lateness_max"].map(has),
            [is_open; 3]
        );
        let operations: BTreeSet<&str> = entry
            .histograms
            .iter()
            .map(|histogram| histogram.operation.as_str())
            .collect();
        assert!(
            operations.contains("get") && operations.contains("set"),
            "{operations:?}"
        );
        assert!(
            entry.notes[0].text.starts_with("server: outcrop"),
            "{:?}",
            entry.notes
        );
    }
}

#[test]
fn a_program_that_is_not_here_is_unavailable_with_its_reason_and_the_others_are_measured() {
    let (runs, data) = (directory(), directory());
    let text = PLAN
        .replace("oracle = \"simulator\"\n", "")
        .replace(
            "policy = [\"lru\", \"s3-fifo\"]",
            "build = [\"this\", \"no-such-profile\"]",
        )
        .replace("memory = [\"1MiB\", \"16MiB\"]\n", "")
        .replace("pipeline = [8, 1]\n", "")
        .replace("arrival = [\"closed\", \"poisson:2k\"]\n", "");
    let set = plan_set(&text, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    let entries = assert_complete(&set, &folder);
    assert_eq!(entries.len(), 2);
    for entry in entries {
        let throughput = entry
            .values
            .iter()
            .find(|value| value.metric == "throughput")
            .unwrap();
        if entry.factors["build"] == "this" {
            assert!(throughput.value.is_some());
        } else {
            assert_eq!(throughput.value, None);
            let why = throughput.source.as_deref().unwrap();
            assert!(why.contains("cargo build --profile no-such-profile"), "{why}");
        }
    }
}

#[test]
fn a_server_keeps_only_the_parameters_that_it_has() {
    let here = directory();
    let plan = |target: &str, server: &str| {
        let policy = match server {
            "" => "policy = [\"lru\", \"fifo\"]\n",
            _ => "",
        };
        format!(
            "name = \"x\"\nquestion = \"?\"\nlayer = \"cache\"\n[subject]\ntarget = \"{target}\"\n[workload]\n{server}\n\
             [factors]\nmemory = [\"8MiB\", \"16MiB\"]\n{policy}"
        )
    };
    for (target, server, cells, has) in [
        (
            "loopback",
            "",
            4,
            &["build", "load_factor", "policy", "server_threads", "protocol"][..],
        ),
        ("loopback", "server = \"memcached\"", 2, &["server_threads"][..]),
        ("loopback", "server = \"redis\"", 2, &[][..]),
        ("redis://cache.example", "", 1, &[][..]),
    ] {
        let set = plan_set(&plan(target, server), here.path());
        assert_eq!(set.cells().len(), cells, "{target} {server}");
        for name in ["build", "load_factor", "policy", "server_threads", "protocol"] {
            let is_there = set.cells()[0].factors.setting(name).is_some();
            assert_eq!(is_there, has.contains(&name), "{target} {server} {name}");
        }
        assert_eq!(factor(&set.cells()[0], "request_mix"), "30:1", "as ETC has it");
    }
}

#[test]
fn a_server_that_does_not_answer_ends_the_run_before_it_begins() {
    let (runs, data) = (directory(), directory());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("memcached://{}", listener.local_addr().unwrap());
    drop(listener);
    let text = format!("name = \"x\"\nquestion = \"?\"\nlayer = \"cache\"\n[subject]\ntarget = \"{url}\"\n");
    let set = plan_set(&text, data.path());
    let mut folder = start(&set, runs.path());
    let error = run_to_the_end(&set, &mut folder).unwrap_err();
    assert!(
        matches!(error, LabError::Preparation { .. }) && error.to_string().contains(&url),
        "{error}"
    );
}

/// A server of memcached's protocol that closes its port at the first set, one connection at a time: from then on, the kernel no longer
/// says who serves it.
fn serve_unseen(listener: TcpListener) {
    let mut listener = Some(listener);
    while let Some(open) = &listener {
        let (stream, _) = open.accept().unwrap();
        let mut requests = BufReader::new(stream.try_clone().unwrap());
        let mut replies = stream;
        let mut line = String::new();
        while requests.read_line(&mut line).is_ok_and(|length| length > 0) {
            let mut reply = "END\r\n";
            if line.starts_with("set ") {
                listener = None;
                let length: usize = line.trim_end().rsplit(' ').next().unwrap().parse().unwrap();
                requests.read_exact(&mut vec![0; length + 2]).unwrap();
                reply = "STORED\r\n";
            }
            if replies.write_all(reply.as_bytes()).is_err() {
                break;
            }
            line.clear();
        }
    }
}

#[test]
fn the_time_of_a_server_that_cannot_be_seen_is_not_recorded_as_that_of_others() {
    let (runs, data) = (directory(), directory());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("memcached://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || serve_unseen(listener));
    let text = format!(
        "name = \"x\"\nquestion = \"?\"\nlayer = \"cache\"\n[subject]\ntarget = \"{url}\"\n[workload]\nkeys = 10\nconnections = 1\n\
         value_size = \"fixed:10\"\n[trial]\nrepetitions = 1\nwarm_up = \"20ms\"\nduration = \"100ms\"\n"
    );
    let set = plan_set(&text, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    server.join().unwrap();
    let [entry] = &assert_complete(&set, &folder)[..] else {
        panic!("one trial");
    };
    assert!(value(entry, "throughput").unwrap() > 0.0);
    assert_eq!(value(entry, "server_cpu_per_request"), None);
    assert_eq!(entry.others_cpu_share, None);
}

#[test]
fn what_does_not_go_together_is_refused_with_what_to_change() {
    let here = directory();
    for (subject, workload, expected) in [
        ("target = \"mysql://x\"", "", "memcached://HOST:PORT"),
        ("target = \"here\"", "", "\"loopback\""),
        ("", "server = \"memcache\"", "did you mean `memcached`?"),
        ("", "build = \"../../bin\"", "does not name a build"),
        ("", "memory = \"512KiB\"", "expected 1MiB or more"),
        ("", "server = \"memcached\"\nmemory = \"9MB\"", "whole MiB"),
        ("", "policy = \"lfu\"", "did you mean `lru`?"),
        ("", "load_factor = \"0\"", "items per chain"),
        ("", "server_threads = 0", "from 1 to 256"),
        ("", "arrival = \"poisson:300%\"", "at most 200%"),
        ("", "arrival = \"closed:50%\"", "closed"),
        (
            "",
            "driver_threads = 4\nconnections = 2",
            "at most the number of connections",
        ),
        ("", "fill = \"half\"", "sets:COUNT"),
        (
            "",
            "oracle = \"simulator\"\nfill = \"nothing\"",
            "the simulator needs fill",
        ),
        ("", "objective = \"p95\"", "p95<1ms"),
        ("", "key_size = \"fixed:4B\"", "for this many distinct keys"),
        ("", "request_mix = \"1\"", "30:1:15"),
    ] {
        let text = format!(
            "name = \"bad\"\nquestion = \"?\"\nlayer = \"cache\"\n[subject]\n{subject}\n[workload]\n{workload}\n"
        );
        match try_plan_set(&text, here.path()) {
            Err(error @ LabError::BadPlan { .. }) => {
                let message = error.to_string();
                assert!(message.contains(expected), "{message}\nshould say: {expected}");
            }
            other => panic!("{subject} {workload} was not refused: {other:?}"),
        }
    }
}
