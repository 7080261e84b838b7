//! Subjects that are written in full before the first trial, and the plans after the SNIA PTS.

use outcrop_lab::{PlanOptions, PlanSet, shipped_plans};
use outcrop_measure::units::{ByteSize, TimeSpan};

use super::scene::{assert_complete, assert_empty, directory, plan_set, run_to_the_end, start, try_plan_set};

const PLAN: &str = r#"
name = "filled"
question = "What does a filled file give?"
layer = "device"

[subject]
size = "4MiB"
precondition = 2

[workload]
io_block_size = "4KiB"
read_write_mix = "0:100"

[trial]
repetitions = 2
warm_up = "2ms"
duration = "20ms"
"#;

#[test]
fn a_preconditioned_file_is_written_so_often_and_every_trial_states_it() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(PLAN, data.path());
    assert_eq!(
        set.estimate().bytes_written_preparing,
        3 * (4 << 20),
        "made once, written twice"
    );
    let mut folder = start(&set, runs.path());
    let outcome = run_to_the_end(&set, &mut folder).unwrap();
    assert!(
        outcome.bytes_written >= 3 * (4 << 20),
        "{}",
        outcome.bytes_written
    );
    assert_empty(data.path());
    for entry in assert_complete(&set, &folder) {
        assert_eq!(entry.factors["state"], "preconditioned 2×");
        assert_eq!(entry.subject, "scratch-file 4MiB, preconditioned 2×");
    }
    // The expanded plan gives the same cells.
    let again = try_plan_set(&set.to_toml(), data.path()).unwrap();
    assert_eq!(again.cells(), set.cells());
}

#[test]
fn what_is_only_read_is_not_preconditioned_and_limits_count_the_passes() {
    let data = directory();
    let file = data.path().join("file");
    std::fs::write(&file, vec![1; 1 << 20]).unwrap();
    let kind = format!("kind = \"read-only\"\npath = {file:?}\nprecondition = 2");
    let text = PLAN
        .replace("size = \"4MiB\"\nprecondition = 2", &kind)
        .replace("0:100", "100:0");
    let refused = try_plan_set(&text, data.path()).unwrap_err().to_string();
    assert!(
        refused.contains("only a scratch file is preconditioned"),
        "{refused}"
    );
    for value in ["0", "17", "\"twice\""] {
        let text = PLAN.replace("precondition = 2", &format!("precondition = {value}"));
        let refused = try_plan_set(&text, data.path()).unwrap_err().to_string();
        assert!(refused.contains("from 1 to 16"), "{refused}");
    }
}

#[test]
fn the_plans_after_the_pts_run_on_a_small_file_in_seconds() {
    for name in ["ssd-snia-iops", "ssd-snia-latency", "ssd-snia-wsat"] {
        let (runs, data) = (directory(), directory());
        let plan = shipped_plans().iter().find(|plan| plan.name == name).unwrap();
        let options = PlanOptions {
            directory: Some(data.path().to_owned()),
            effort: Some(outcrop_lab::Effort::Quick),
            size: Some(ByteSize::mib(4)),
            repetitions: Some(if name == "ssd-snia-wsat" { 1 } else { 5 }),
            warm_up: Some(TimeSpan::milliseconds(1)),
            duration: Some(TimeSpan::milliseconds(20)),
            ..PlanOptions::default()
        };
        let set = PlanSet::from_sources(&[plan.source()], &options).unwrap();
        let mut folder = start(&set, runs.path());
        run_to_the_end(&set, &mut folder).unwrap();
        let entries = assert_complete(&set, &folder);
        let states = entries
            .iter()
            .filter(|entry| entry.factors.contains_key("state"))
            .count();
        assert_eq!(
            states,
            if name == "ssd-snia-wsat" { 0 } else { entries.len() },
            "{name}"
        );
    }
}
