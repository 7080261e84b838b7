//! `outcrop cache load --trace`: what follows a miss, and how much of the trace is replayed.

use crate::cache::{Served, loaded_by};
use crate::harness::{outcrop, workplace};

#[test]
fn a_trace_says_what_follows_a_miss_and_a_flag_sets_it() {
    let dir = workplace();
    let served = Served::start(dir.path());
    let target = format!("memcached://{}", served.memcached);
    let trace = dir.path().join("trace.csv");
    // The second get hits only where the first, which missed, was followed by a set.
    std::fs::write(&trace, "0,a,get,8,40,0\n0.01,a,get,8,40,0\n").unwrap();
    let trace = trace.display().to_string();
    let usual = [
        "--target",
        &target,
        "--trace",
        &trace,
        "--connections",
        "1",
        "--flush",
    ];
    let plain = loaded_by(dir.path(), &usual);
    assert_eq!(plain["hit ratio"], 0.0);
    assert!(
        plain["on a miss"].as_str().unwrap().contains("--set-on-miss"),
        "{plain:?}"
    );
    let set = loaded_by(dir.path(), &[&usual[..], &["--set-on-miss"]].concat());
    assert_eq!(set["hit ratio"], 0.5);
    assert_eq!(set["on a miss"], "the key is set");
    served.end();
}

#[test]
fn a_trace_is_replayed_to_its_end_and_the_figures_of_a_part_of_it_say_so() {
    let dir = workplace();
    let served = Served::start(dir.path());
    let target = format!("memcached://{}", served.memcached);
    let trace: String = (0..3000)
        .map(|number| format!("{number},k{},40\n", number % 700))
        .collect();
    std::fs::write(dir.path().join("trace.csv"), trace).unwrap();
    let load = |more: &[&str]| {
        let usual = [
            "cache",
            "load",
            "--target",
            &target,
            "--trace",
            "trace.csv",
            "--set-on-miss",
            "--flush",
        ];
        let seen = outcrop(dir.path(), &[&usual[..], more].concat());
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen
    };
    let part = load(&["--requests", "500"]);
    let said = "warning: 500 of the 3000 requests of the trace were replayed, and the figures are of these; without --requests all are\n";
    assert!(part.stderr.contains(said), "{part:?}");
    let whole = load(&[]);
    assert!(!whole.stderr.contains("were replayed"), "{whole:?}");
    let options = ["--target", &target, "--trace", "trace.csv"];
    assert_eq!(loaded_by(dir.path(), &options)["asked requests"], 3000.0);
    served.end();
}
