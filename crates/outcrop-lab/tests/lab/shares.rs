//! Open loops at a share of what a closed loop of the same cell reaches.

use outcrop_lab::{LabError, PlanOptions, PlanSet, PlanSource};
use outcrop_measure::units::TimeSpan;
use outcrop_schema::device;

use super::scene::{assert_complete, directory, plan_set, run_to_the_end, start};

/// Long enough that a disk which others use completes something in each closed loop.
const PLAN: &str = r#"
name = "shares"
question = "What is the latency at a share of the highest rate?"
layer = "device"

[subject]
size = "4MiB"

[workload]
engine = "psync"
io_block_size = "4KiB"
read_write_mix = "50:50"
queue_depth = 1

[factors]
arrival = ["constant:10%", "poisson:10%"]

[trial]
repetitions = 2
warm_up = "5ms"
duration = "500ms"
"#;

#[test]
fn each_trial_offers_its_share_of_what_its_own_closed_loop_reached() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(PLAN, data.path());
    let estimate = set.estimate();
    assert!(estimate.measuring.as_millis() >= 4 * 2 * 505, "{estimate:?}");
    let mut folder = start(&set, runs.path());
    let outcome = run_to_the_end(&set, &mut folder).unwrap();
    let mut written = 4.0 * 1024.0 * 1024.0;
    for entry in assert_complete(&set, &folder) {
        let number = |metric| entry.number(&metric).unwrap();
        let (offered, closed) = (
            number(device::ARRIVAL_REQUESTED),
            number(device::CLOSED_LOOP_IOPS),
        );
        assert!((offered / closed - 0.1).abs() < 1e-9, "{offered} of {closed}");
        assert!(entry.number(&device::SERVICE_LATENCY.both.mean).is_some());
        written += number(device::BYTES_WRITTEN);
    }
    assert_eq!(outcome.bytes_written as f64, written);
}

#[test]
fn of_several_drives_each_is_offered_its_part() {
    let (runs, data, other) = (directory(), directory(), directory());
    let also = format!("size = \"4MiB\"\nalso = \"{}\"", other.path().display());
    let plan = PLAN
        .replace("size = \"4MiB\"", &also)
        .replace("queue_depth = 1", "queue_depth = 1\ndrives = 2");
    let set = plan_set(&plan, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    for entry in assert_complete(&set, &folder) {
        let number = |metric| entry.number(&metric).unwrap();
        let (offered, closed) = (
            number(device::ARRIVAL_REQUESTED),
            number(device::CLOSED_LOOP_IOPS),
        );
        assert!((offered / closed - 0.1).abs() < 1e-9, "{offered} of {closed}");
    }
}

/// The plan with trials of this length and a warm-up of a fifth of it, within a budget.
fn within(plan: &str, duration_ms: u64, budget: Option<TimeSpan>) -> Result<PlanSet, LabError> {
    let warm_up = format!("warm_up = \"{}ms\"", duration_ms / 5);
    let source = PlanSource {
        name: "plan.toml".to_owned(),
        text: plan
            .replace("warm_up = \"5ms\"", &warm_up)
            .replace("\"500ms\"", &format!("\"{duration_ms}ms\"")),
    };
    let options = PlanOptions {
        budget,
        ..PlanOptions::default()
    };
    PlanSet::from_sources(&[source], &options)
}

#[test]
fn a_budget_shortens_the_closed_loop_of_a_share_and_the_writing_of_a_replay_with_the_trial() {
    let replays = PLAN.replace("50:50", "100:0").replace(
        "arrival = [\"constant:10%\", \"poisson:10%\"]",
        "replay = [\"written\"]",
    );
    for plan in [PLAN, &replays] {
        let planned = within(plan, 10_000, None).unwrap().estimate().total();
        let budget = planned / 3;
        let shortened = within(plan, 10_000, Some(TimeSpan(budget))).unwrap();
        let takes = shortened.estimate().total();
        assert!(
            takes <= budget && takes > budget.mul_f64(0.98),
            "{takes:?} of {budget:?}"
        );
        let trial = &shortened.cells()[0].trial;
        assert_eq!(
            trial.duration.0.as_millis() / 50,
            trial.warm_up.0.as_millis() / 10,
            "{trial:?}"
        );
        // As long as it takes with the shortest trials that are typed.
        let least = within(plan, 100, None).unwrap().estimate().total();
        let refused = within(plan, 10_000, Some(TimeSpan(least / 2))).unwrap_err();
        let needed = TimeSpan::seconds(least.as_secs() + 1);
        let says = format!("which take at least {needed};");
        assert!(refused.to_string().contains(&says), "{refused}, not {says}");
    }
}
