//! Options that set one thing, of which fio takes the later one: a result says which only where one of them was global.

use std::fs;

use outcrop_fio::{ImportOptions, import};
use outcrop_results::TrialEntry;

/// What is imported of a job with these options, in JSON.
fn trial_of(global: &str, own: &str, assume: &[&str]) -> TrialEntry {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.json");
    let direction = r#"{"total_ios": 800, "iops": 800.0, "runtime": 1000, "io_bytes": 3276800, "lat_ns": {"mean": 7.0, "max": 9, "N": 800}}"#;
    let report = format!(
        r#"{{"fio version": "fio-3.33", "timestamp": 1763700000, "global options": {{"rw": "randrw", "bs": "4k", {global}}},
        "jobs": [{{"jobname": "j", "job options": {{{own}}}, "read": {direction}, "write": {direction}}}]}}"#
    );
    fs::write(&path, report).unwrap();
    let assume = assume.iter().map(|text| (*text).to_owned()).collect();
    let imported = import(&[path], &ImportOptions { assume }).unwrap();
    imported.trials[0].clone()
}

#[test]
fn what_a_job_says_counts_more_than_what_is_global() {
    let trial = trial_of(
        r#""direct": "1", "rwmixread": "80""#,
        r#""buffered": "1", "rwmixwrite": "50""#,
        &[],
    );
    let factor = |name: &str| trial.factors[name].as_str();
    assert_eq!(
        (factor("access"), factor("read_write_mix")),
        ("buffered", "50:50")
    );
    assert!(
        !trial.factors.keys().any(|name| name.starts_with("fio_")),
        "{:?}",
        trial.factors
    );
}

#[test]
fn of_two_in_one_object_neither_counts_unless_they_say_the_same_or_it_is_assumed() {
    let both = r#""direct": "1", "buffered": "1", "rwmixread": "80", "rwmixwrite": "50""#;
    let trial = trial_of(r#""size": "1g""#, both, &[]);
    let factor = |name: &str| trial.factors[name].as_str();
    assert_eq!(
        (factor("access"), factor("read_write_mix")),
        ("not stated", "not stated")
    );
    assert_eq!((factor("fio_buffered"), factor("fio_rwmixwrite")), ("1", "50"));
    let said = trial
        .notes
        .iter()
        .map(|note| note.text.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        said.contains("direct and buffered of fio contradict each other"),
        "{said}"
    );
    assert!(said.contains("read_write_mix is not stated"), "{said}");

    let assumed = ["access=direct", "read_write_mix=80:20"];
    let trial = trial_of(r#""size": "1g""#, both, &assumed);
    assert_eq!(
        (trial.factors["access"].as_str(), trial.factors.get("fio_direct")),
        ("direct", None)
    );
    assert_eq!(trial.factors.get("fio_rwmixread"), None);

    let agreed = r#""direct": "1", "buffered": "0", "rwmixread": "80", "rwmixwrite": "20""#;
    let trial = trial_of(r#""size": "1g""#, agreed, &[]);
    let factor = |name: &str| trial.factors[name].as_str();
    assert_eq!((factor("access"), factor("read_write_mix")), ("direct", "80:20"));
}
