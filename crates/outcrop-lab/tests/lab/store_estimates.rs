//! What runs of key-value stores are expected to write, before they do.

use std::path::Path;

use outcrop_lab::{PlanOptions, PlanSet, PlanSource, profile_plans};
use outcrop_measure::units::{ByteSize, TimeSpan};
use proptest::prelude::*;
use proptest::sample::select;

use super::scene::{directory, plan_set};

/// The experiment of the study of accelerators with one and two processes, on generated values instead of a corpus.
const STUDY: &str = r#"
name = "study"
question = "How much does the study's experiment write?"
layer = "kv"

[workload]
engine = "rocksdb"
request_distribution = "uniform"
records = 2000000
threads = 10
memory_limit = "2GiB"
settling = "rest:60s"

[factors]
workload = ["ycsb-a", "ycsb-f"]
compression = ["none", "zlib"]
processes = [1, 2]

[trial]
repetitions = 3
warm_up = "5s"
duration = "30s"
"#;

/// What its 24 trials write on two cores, by the device's counters in the first 16 of them: 2026-11-26, with values from a corpus.
const STUDY_WROTE: f64 = 235e9;

/// Bytes that the trials of this plan are expected to write, to a usual and to a fast device, and the seconds that they take.
fn expected(plan: &str) -> (f64, f64, f64) {
    let estimate = plan_set(plan, directory().path()).estimate();
    (
        estimate.likely_bytes_written_measuring as f64,
        estimate.bytes_written_measuring as f64,
        estimate.measuring.as_secs_f64(),
    )
}

#[test]
fn the_study_is_expected_to_write_what_it_wrote_within_a_factor_of_three_whatever_the_cores() {
    let (likely, fast, seconds) = expected(STUDY);
    let (least, most) = (STUDY_WROTE / 3.0, STUDY_WROTE * 3.0);
    assert!((least..most).contains(&likely), "{likely}");
    assert!(likely < fast && fast < 3e9 * seconds, "{fast} in {seconds} s");
}

/// A short run of stores, and what it wrote on two cores of an AMD EPYC: 2026-11-26.
fn short(engines: &str, workload: &str, codecs: &str) -> String {
    format!(
        "name = \"short\"\nquestion = \"How much is written?\"\nlayer = \"kv\"\n[workload]\nworkload = \"{workload}\"\nrecords = 20000\n\
         [factors]\nengine = [{engines}]\ncompression = [{codecs}]\n\
         [trial]\nrepetitions = 3\nwarm_up = \"500ms\"\nduration = \"500ms\"\n"
    )
}

#[test]
fn what_short_runs_wrote_lies_between_what_is_announced_for_a_usual_and_for_a_fast_device() {
    for (engines, workload, codecs, wrote) in [
        ("\"fjall\", \"rocksdb\"", "ycsb-a", "\"none\"", 697e6),
        ("\"rocksdb\"", "ycsb-a", "\"none\"", 323e6),
        ("\"fjall\"", "ycsb-c", "\"lz4\"", 97e6),
    ] {
        let (likely, fast, _) = expected(&short(engines, workload, codecs));
        assert!(
            (likely..fast).contains(&wrote),
            "{engines} {workload} {codecs}: {wrote} is not within {likely} to {fast}"
        );
    }
}

/// The plans of `outcrop profile --layer kv`, whose trials follow doubt where they are given a budget.
fn profile_of_stores(options: &PlanOptions) -> PlanSet {
    // A directory that does not exist is asked for nothing: the plans are those of a machine that can make filesystems.
    let plans = profile_plans(&["kv"], None, Path::new("/does/not/exist"))
        .unwrap()
        .plans;
    PlanSet::from_sources(&plans, options).unwrap()
}

fn with_budget(seconds: u64) -> PlanSet {
    profile_of_stores(&PlanOptions {
        budget: Some(TimeSpan::seconds(seconds)),
        ..PlanOptions::default()
    })
}

/// What `outcrop profile --layer kv --budget 60s` wrote there: most trials went to the cells that write least.
#[test]
fn what_a_profile_wrote_whose_effort_followed_doubt_lies_between_the_least_and_what_a_fast_device_takes() {
    let estimate = with_budget(60).estimate();
    let possible = estimate.least_bytes_written()..estimate.bytes_written();
    assert!(possible.contains(&1_690_000_000), "{possible:?}");
}

#[test]
fn a_budget_that_follows_doubt_is_expected_to_write_what_as_many_trials_write_without_one() {
    let mut trials = Vec::new();
    for seconds in [40, 60, 300] {
        let within = with_budget(seconds).estimate();
        let repetitions = u32::try_from(within.trials / within.cells).unwrap();
        let without = profile_of_stores(&PlanOptions {
            repetitions: Some(repetitions),
            ..PlanOptions::default()
        });
        let without = without.estimate();
        assert_eq!(within.trials, without.trials, "{seconds} s");
        assert_eq!(
            [within.likely_bytes_written(), within.bytes_written()],
            [without.likely_bytes_written(), without.bytes_written()],
            "{seconds} s"
        );
        assert!(
            within.least_bytes_written() <= within.likely_bytes_written(),
            "{within:?}"
        );
        trials.push(within.trials);
    }
    assert!(trials.is_sorted_by(|fewer, more| fewer < more), "{trials:?}");
}

#[test]
fn a_limit_on_what_is_written_refuses_a_run_only_where_even_a_usual_device_would_be_given_more() {
    let directory = directory();
    let source = PlanSource {
        name: "short.toml".to_owned(),
        text: short("\"fjall\", \"rocksdb\"", "ycsb-a", "\"none\""),
    };
    let within = |limit| {
        let options = PlanOptions {
            directory: Some(directory.path().to_owned()),
            max_written: Some(ByteSize(limit)),
            ..PlanOptions::default()
        };
        PlanSet::from_sources(std::slice::from_ref(&source), &options)
    };
    // It wrote 697 MB.
    let set = within(1_000_000_000).unwrap();
    assert!(set.estimate().bytes_written() > 1_000_000_000);
    let refused = within(100_000_000).unwrap_err().to_string();
    assert!(refused.contains("--max-written"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_store_is_expected_to_write_more_than_the_assumed_device_can_take_in_the_time(
        engine in select(&["fjall", "rocksdb", "redb"][..]),
        workload in select(&["ycsb-a", "ycsb-b", "ycsb-d", "ycsb-f", "mixgraph"][..]),
        compression in select(&["none", "lz4"][..]),
        threads in 1..64_u32,
        processes in 1..16_u32,
        value_bytes in 1..100_000_u32,
        records in 100..100_000_u64,
        offered in proptest::option::of(1..10_000_000_u64),
        seconds in 1..60_u32,
    ) {
        let value_size = match workload {
            "mixgraph" => String::new(),
            _ => format!("value_size = \"fixed:{value_bytes}B\""),
        };
        let arrival = offered.map_or_else(|| "closed".to_owned(), |offered| format!("poisson:{offered}"));
        let plan = format!(
            "name = \"store\"\nquestion = \"How much is written?\"\nlayer = \"kv\"\n[workload]\nengine = \"{engine}\"\n\
             workload = \"{workload}\"\ncompression = \"{compression}\"\nthreads = {threads}\nprocesses = {processes}\n\
             records = {records}\narrival = \"{arrival}\"\n{value_size}\n[trial]\nrepetitions = 2\nduration = \"{seconds}s\"\n"
        );
        let (likely, fast, seconds) = expected(&plan);
        prop_assert!(likely <= 500e6 * seconds, "{likely} in {seconds} s: {plan}");
        prop_assert!(fast <= 3e9 * seconds, "{fast} in {seconds} s: {plan}");
        prop_assert!(likely <= fast && likely > 0.0, "{likely} of {fast}: {plan}");
    }
}
