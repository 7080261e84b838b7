//! Budgets of plans whose trials do not end with their duration: what cannot be shortened is not said to be shorter.

use std::time::Duration;

use outcrop_lab::{Effort, Estimate, LabError, PlanOptions, PlanSet, PlanSource, shipped_plans};
use outcrop_measure::units::TimeSpan;

/// A load whose trials end with their requests, or with their time.
fn caches(name: &str, requests: &str) -> PlanSource {
    let text = format!(
        r#"
name = "{name}"
question = "How long does a fixed number of requests take?"
layer = "cache"

[workload]
keys = 100
connections = 1
requests = {requests}

[trial]
repetitions = 5
warm_up = "0s"
duration = "4s"
"#
    );
    PlanSource {
        name: format!("{name}.toml"),
        text,
    }
}

fn within(sources: &[PlanSource], budget: Option<Duration>) -> Result<Estimate, LabError> {
    let options = PlanOptions {
        effort: Some(Effort::Quick),
        budget: budget.map(TimeSpan),
        ..PlanOptions::default()
    };
    PlanSet::from_sources(sources, &options).map(|set| set.estimate())
}

#[test]
fn a_budget_that_trials_of_so_many_requests_exceed_is_refused() {
    let shipped = shipped_plans().iter().find(|plan| plan.name == "cache-etc-lite");
    let shipped = shipped.expect("a shipped plan").source();
    for source in [shipped, caches("requests", "15000")] {
        let planned = within(std::slice::from_ref(&source), None).unwrap();
        assert!(planned.measuring / planned.trials as u32 > Duration::from_millis(1500));
        let whole = TimeSpan::seconds(planned.total().as_secs() + 1);
        for share in [0.9, 0.1] {
            let budget = planned.total().mul_f64(share);
            let refused = within(std::slice::from_ref(&source), Some(budget)).unwrap_err();
            let says = format!(
                "is too short for {} trials, which take at least {whole};",
                planned.trials
            );
            assert!(refused.to_string().contains(&says), "{refused}, not {says}");
        }
    }
}

#[test]
fn a_budget_shortens_only_the_trials_that_follow_their_duration() {
    let timed = caches("timed", "\"unlimited\"");
    let sources = [timed, caches("requests", "15000")];
    let planned = within(&sources, None).unwrap().total();
    let alone = within(&sources[1..], None).unwrap().total();
    let budget = alone + (planned - alone) / 2;
    let takes = within(&sources, Some(budget)).unwrap().total();
    assert!(
        takes <= budget && takes > budget.mul_f64(0.98),
        "{takes:?} of {budget:?}"
    );
    assert!(within(&sources, Some(alone)).is_err());
}

#[test]
fn the_estimate_of_so_many_requests_grows_with_them_and_falls_with_what_is_in_flight() {
    let takes = |requests: &str, load: &str| {
        let mut source = caches("requests", requests);
        source.text = source.text.replace("connections = 1", load);
        within(&[source], None).unwrap().measuring
    };
    let alone = takes("15000", "connections = 1");
    assert!(takes("150000", "connections = 1") > alone * 9);
    let many = takes("15000", "connections = 8");
    assert!(many < alone / 4, "{many:?}, {alone:?}");
    // A schedule is not ahead of its time, and a duration is of no account.
    let scheduled = takes("15000", "connections = 8\narrival = \"constant:1k\"");
    assert!(scheduled >= Duration::from_secs(5 * 15), "{scheduled:?}");
    let share = takes("15000", "connections = 8\narrival = \"poisson:10%\"");
    assert!(share > many * 5, "{share:?}, {many:?}");
    // More than a clock holds.
    takes("9223372036854775807", "connections = 1");
}
