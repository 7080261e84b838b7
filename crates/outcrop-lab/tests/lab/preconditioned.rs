//! Subjects that are written in full before the first trial, and the plans after the SNIA PTS.

use std::sync::atomic::AtomicBool;

use outcrop_lab::{Event, PlanOptions, PlanSet, execute, shipped_plans};
use outcrop_measure::units::{ByteSize, TimeSpan};
use outcrop_schema::device;

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
duration = "250ms"
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
        refused.contains("a read-only subject is not preconditioned"),
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
        // Five rounds, the fewest after which it may end.
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

#[test]
fn an_engine_that_reaches_no_device_needs_no_room_and_no_file() {
    let (runs, data) = (directory(), directory());
    let plan = |engines: &str| {
        let text = format!(
            "name = \"nowhere\"\nquestion = \"What does the loop take?\"\nlayer = \"device\"\n[subject]\nsize = \"100TiB\"\n\
             [workload]\nread_write_mix = \"50:50\"\nqueue_depth = 1\n[factors]\nengine = [{engines}]\n\
             [trial]\nrepetitions = 1\nwarm_up = \"1ms\"\nduration = \"10ms\"\n"
        );
        plan_set(&text, data.path())
    };
    let set = plan("\"noop\"");
    assert!(set.refusal().is_none());
    assert_eq!(set.estimate().likely_bytes_written(), 0);
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    assert_complete(&set, &folder);
    assert_empty(data.path());
    // Beside one that reaches it, the file is made for both.
    let both = plan("\"noop\", \"psync\"");
    let refusal = both.refusal().unwrap();
    assert!(refusal.to_string().contains("does not fit in"), "{refusal}");
    assert!(!refusal.is_bad_input(), "{refusal}");
}

/// Rounds of a fixed rate without a device: 4 KiB random writes, which decide, and reads beside them.
const ROUNDS: &str = r#"
name = "rounds"
question = "When is it steady?"
layer = "device"

[subject]
size = "4MiB"

[workload]
engine = "noop"
arrival = "constant:5000"

[factors]
read_write_mix = ["0:100", "100:0"]

[trial]
repetitions = 9
warm_up = "1ms"
duration = "100ms"
stop = "when-steady"
"#;

/// After how many rounds these IOPS were steady first, by the rule as it is written.
fn steady_after(iops: &[f64]) -> Option<usize> {
    (5..=iops.len()).find(|end| {
        let window = &iops[end - 5..*end];
        let mean = window.iter().sum::<f64>() / 5.0;
        let most = window.iter().copied().fold(f64::MIN, f64::max);
        let least = window.iter().copied().fold(f64::MAX, f64::min);
        let slope = window
            .iter()
            .zip([-2.0, -1.0, 0.0, 1.0, 2.0])
            .map(|(value, x)| value * x)
            .sum::<f64>()
            / 10.0;
        most - least <= 0.2 * mean && (slope * 4.0).abs() <= 0.1 * mean
    })
}

#[test]
fn rounds_end_with_the_first_five_that_are_steady_and_a_resume_measures_no_more() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(ROUNDS, data.path());
    let again = try_plan_set(&set.to_toml(), data.path()).unwrap();
    assert_eq!(again.cells(), set.cells(), "the expanded plan stops as well");
    let mut folder = start(&set, runs.path());
    let mut news = Vec::new();
    let mut observer = |event: Event<'_>| {
        if let Event::Note(note) = event {
            news.push(note.to_owned());
        }
    };
    let outcome = execute(&set, &mut folder, &mut observer, &AtomicBool::new(false)).unwrap();
    let entries = folder.trials().unwrap();
    let mut rounds: Vec<(u32, f64)> = entries
        .iter()
        .filter(|entry| entry.factors["read_write_mix"] == "0:100")
        .map(|entry| (entry.repetition, entry.number(&device::IOPS.both).unwrap()))
        .collect();
    rounds.sort_by_key(|(repetition, _)| *repetition);
    let iops: Vec<f64> = rounds.iter().map(|(_, iops)| *iops).collect();
    let expected = steady_after(&iops);
    assert_eq!(rounds.len(), expected.unwrap_or(9), "{iops:?}");
    assert_eq!(entries.len(), 2 * rounds.len(), "a round is measured to its end");
    assert_eq!((outcome.finished, outcome.total), (entries.len(), entries.len()));
    let says = expected.map(|end| format!("rounds: rounds {} to {end} are steady", end - 4));
    assert_eq!(news.len(), usize::from(says.is_some()), "{news:?}");
    assert!(
        news.iter().zip(says).all(|(news, says)| news.starts_with(&says)),
        "{news:?}"
    );
    let resumed = run_to_the_end(&set, &mut folder).unwrap();
    assert_eq!((resumed.finished, resumed.bytes_written), (entries.len(), 0));
}

#[test]
fn a_plan_that_nothing_can_make_steady_is_refused() {
    let data = directory();
    let refused = |text: &str| try_plan_set(text, data.path()).unwrap_err().to_string();
    let reads = refused(&ROUNDS.replace("\"0:100\", ", ""));
    assert!(
        reads.contains("random writes of 4 KiB, as in the SNIA PTS"),
        "{reads}"
    );
    let word = refused(&ROUNDS.replace("when-steady", "steady"));
    assert!(word.contains("expected \"when-steady\""), "{word}");
    assert!(word.contains("plan.toml:20"), "{word}");
}
