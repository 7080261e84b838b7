//! The expanded form, efforts, overrides and budgets.

use std::time::Duration;

use outcrop_lab::{Draft, Effort, PlanOptions, PlanSet, PlanSource, ShippedPlan, shipped_plans};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::{ByteSize, TimeSpan};
use outcrop_schema::device;
use outcrop_schema::kv::{Constraints, Prices};
use proptest::prelude::*;

fn read(text: String, options: &PlanOptions) -> PlanSet {
    PlanSet::from_sources(
        &[PlanSource {
            name: "plan.toml".to_owned(),
            text,
        }],
        options,
    )
    .unwrap()
}

#[test]
fn the_expanded_form_of_every_shipped_plan_reads_back_as_the_same_run() {
    for effort in Effort::ALL {
        let options = PlanOptions {
            effort: Some(effort),
            ..PlanOptions::default()
        };
        let sources: Vec<_> = shipped_plans().iter().map(ShippedPlan::source).collect();
        let set = PlanSet::from_sources(&sources, &options).unwrap();
        let again = read(set.to_toml(), &PlanOptions::default());
        assert_eq!(again, set);
        assert_eq!(again.to_toml(), set.to_toml());
        assert_eq!(again.trials(), set.trials());
    }
}

#[test]
fn the_expanded_form_writes_every_default_out() {
    let draft = Draft::new("bare", "Which defaults are there?", "device", "here");
    let options = PlanOptions {
        seed: Some(Seed(7)),
        directory: Some("/data".into()),
        ..PlanOptions::default()
    };
    let text = PlanSet::from_drafts(vec![draft], &options).unwrap().to_toml();
    let expected = format!(
        r#"# The expanded plan of a run, every default written out. `outcrop run` repeats the run from it.

[run]
seed = "0x0000000000000007"
effort = "default"
version = "{}"
directory = "/data"

[[plan]]
name = "bare"
question = "Which defaults are there?"
layer = "device"
design = "every-combination"
cells = 1

[plan.subject]
kind = "scratch-file"
size = "1GiB"

[plan.workload]
access = "direct"
access_pattern = "random"
arrival = "closed"
completions = "interrupt"
content = "random"
drives = 1
engine = "io_uring"
io_block_size = "4KiB"
jobs = 1
latency_parts = "together"
numa_node = "any"
queue_depth = 32
read_write_mix = "100:0"
replay = "none"
span = "all"
submission = "refill"
sync = "none"

[plan.factors]

[plan.trial]
repetitions = 5
warm_up = "500ms"
duration = "3s"
interval = "600ms"
"#,
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(text, expected);
}

#[test]
fn equal_values_in_other_spellings_are_the_same_cell() {
    let set = |size: &str, mix: &str| {
        let draft = Draft::new("p", "?", "device", "here")
            .with_workload(&device::IO_BLOCK_SIZE, [size], "--io-block-size")
            .with_workload(&device::READ_WRITE_MIX, [mix], "--mix");
        PlanSet::from_drafts(vec![draft], &PlanOptions::default()).unwrap()
    };
    assert_eq!(
        set("4k", "70:30").cells()[0].id,
        set("4096", " 70 : 30").cells()[0].id
    );
    assert_ne!(set("4k", "70:30").cells()[0].id, set("8k", "70:30").cells()[0].id);
}

#[test]
fn what_the_caller_decides_is_written_over_the_plans() {
    let options = PlanOptions {
        effort: Some(Effort::Quick),
        size: Some(ByteSize::mib(64)),
        repetitions: Some(7),
        warm_up: Some(TimeSpan::milliseconds(20)),
        duration: Some(TimeSpan::milliseconds(100)),
        ..PlanOptions::default()
    };
    let set = PlanSet::from_sources(&[shipped_plans()[0].source()], &options).unwrap();
    let cell = &set.cells()[0];
    assert_eq!(cell.subject.label, "scratch-file 64MiB");
    assert_eq!(
        (super::scene::factor(cell, "span"), cell.trial.repetitions),
        ("64MiB", 7)
    );
    assert_eq!(cell.trial.duration, TimeSpan::milliseconds(100));
    assert_eq!(cell.trial.interval, TimeSpan::milliseconds(20));
}

proptest! {
    #[test]
    fn a_budget_is_kept_and_repetitions_with_it(seconds in 60..400_u64) {
        let sources: Vec<_> = shipped_plans().iter().map(ShippedPlan::source).collect();
        let full = PlanSet::from_sources(&sources, &PlanOptions::default()).unwrap();
        let options = PlanOptions { budget: Some(TimeSpan::seconds(seconds)), ..PlanOptions::default() };
        match PlanSet::from_sources(&sources, &options) {
            Ok(set) => {
                prop_assert!(set.estimate().total() <= Duration::from_secs(seconds));
                // Where effort follows doubt, the trials are not counted before.
                let planned = |set: &PlanSet| {
                    let cells = set.cells();
                    set.trials().iter().filter(|trial| !cells[trial.cell].follows_doubt).count()
                };
                let of_full = |set: &PlanSet| {
                    let names: Vec<&str> = full.cells().iter().filter(|cell| {
                        let own = set.cells().iter().find(|own| own.id == cell.id);
                        own.is_some_and(|own| !own.follows_doubt)
                    }).map(|cell| cell.id.as_str()).collect();
                    full.trials().iter().filter(|trial| names.contains(&full.cells()[trial.cell].id.as_str())).count()
                };
                prop_assert_eq!(planned(&set), of_full(&set));
                prop_assert_eq!(set.cells().len(), full.cells().len());
            }
            Err(error) => prop_assert!(error.to_string().contains("too short for"), "{}", error),
        }
    }
}

#[test]
fn a_budget_of_a_plan_that_follows_doubt_is_kept_with_its_limits_and_trials_keep_their_length() {
    let plan = shipped_plans()
        .iter()
        .find(|plan| plan.name == "placement")
        .unwrap();
    let options = PlanOptions {
        effort: Some(Effort::Quick),
        seed: Some(Seed(3)),
        budget: Some(TimeSpan::seconds(60)),
        constraints: Constraints {
            min_ratio: Some(1.5),
            p99_ns: Some(2e6),
            cpu_share: Some(0.5),
        },
        ..PlanOptions::default()
    };
    let set = PlanSet::from_sources(&[plan.source()], &options).unwrap();
    let follow = set.follows_doubt().unwrap();
    assert_eq!(
        (follow.budget, &follow.constraints),
        (TimeSpan::seconds(60), &options.constraints)
    );
    let again = read(set.to_toml(), &PlanOptions::default());
    assert_eq!(again, set);
    assert!(
        set.cells()
            .iter()
            .all(|cell| cell.follows_doubt && cell.trial.repetitions == 80)
    );
    assert!(set.estimate().total() <= Duration::from_secs(60));
    let without = PlanOptions {
        budget: None,
        ..options.clone()
    };
    let usual = PlanSet::from_sources(&[plan.source()], &without).unwrap();
    assert!(usual.follows_doubt().is_none());
    assert_eq!(usual.cells()[0].trial.duration, set.cells()[0].trial.duration);
    // The trials of the first rounds are those of a run without a budget.
    let first = usual.trials().len();
    let order = |set: &PlanSet| -> Vec<_> {
        set.trials()[..first]
            .iter()
            .map(|trial| (trial.cell, trial.seed))
            .collect()
    };
    assert_eq!(order(&set), order(&usual));
    let contradicted = PlanOptions {
        repetitions: Some(7),
        ..options
    };
    let refused = PlanSet::from_sources(&[plan.source()], &contradicted).unwrap_err();
    assert!(refused.to_string().starts_with("--repetitions:"), "{refused}");
}

#[test]
fn limits_prices_and_data_are_kept_without_a_budget_and_hold_for_a_repeated_run_unless_it_is_given_others() {
    let directory = super::scene::directory();
    let data = directory.path().join("values");
    std::fs::write(&data, "a line of text\n".repeat(4000)).unwrap();
    let plan = shipped_plans()
        .iter()
        .find(|plan| plan.name == "kv-compression")
        .unwrap();
    let options = PlanOptions {
        effort: Some(Effort::Quick),
        data: Some(data.clone()),
        constraints: Constraints {
            min_ratio: Some(1.5),
            p99_ns: Some(2e6),
            cpu_share: Some(0.5),
        },
        prices: Some(Prices {
            currency: "EUR".to_owned(),
            cpu_hour: 0.04,
            gb_month: 0.08,
            data: "2TB".to_owned(),
            operations_per_second: 2e4,
        }),
        ..PlanOptions::default()
    };
    let set = PlanSet::from_sources(&[plan.source()], &options).unwrap();
    assert!(set.follows_doubt().is_none());
    let given = (&options.constraints, options.prices.as_ref());
    assert_eq!(set.limits(), given);
    let again = read(set.to_toml(), &PlanOptions::default());
    assert_eq!(again, set);
    let line = format!("data = {:?}", data.to_str().unwrap());
    assert_eq!(set.to_toml().matches(&line).count(), 2, "{}", set.to_toml());
    let others = PlanOptions {
        constraints: Constraints {
            min_ratio: Some(2.0),
            ..Constraints::default()
        },
        ..PlanOptions::default()
    };
    let other = read(set.to_toml(), &others);
    assert_eq!(other.limits(), (&others.constraints, options.prices.as_ref()));
    // A budget of the plan is not that of who repeats it with a number of trials.
    let by_doubt = PlanOptions {
        budget: Some(TimeSpan::seconds(60)),
        ..options
    };
    let by_doubt = PlanSet::from_sources(&[plan.source()], &by_doubt).unwrap();
    let counted = PlanOptions {
        repetitions: Some(9),
        ..PlanOptions::default()
    };
    let counted = read(by_doubt.to_toml(), &counted);
    assert!(counted.follows_doubt().is_none());
    assert!(counted.cells().iter().all(|cell| cell.trial.repetitions == 9));
}

#[test]
fn a_header_with_wrong_limits_or_prices_is_refused_with_its_line() {
    let text = |header: &str| {
        format!("[run]\n{header}\n[[plan]]\nname = \"a\"\nquestion = \"b?\"\nlayer = \"kv\"\n")
    };
    for (header, words) in [
        (
            "min_ratio = \"much\"",
            "plan.toml:2:13: run.min_ratio: \"much\" is not a number above 0",
        ),
        (
            "[run.prices]\ncurrency = \"EUR\"",
            "run.prices: prices have no cpu_hour",
        ),
        (
            "[run.prices]\neuros = \"1\"",
            "unknown key `euros` in [run.prices]",
        ),
        (
            "data = 3",
            "run.data is the whole number 3; expected a path in quotes",
        ),
    ] {
        let source = PlanSource {
            name: "plan.toml".to_owned(),
            text: text(header),
        };
        let refused = PlanSet::from_sources(&[source], &PlanOptions::default()).unwrap_err();
        assert!(refused.to_string().contains(words), "{header}: {refused}");
    }
}

#[test]
fn the_plan_of_an_older_run_of_filesystems_has_a_warm_up_that_its_trials_never_had_and_is_repeated() {
    let draft = Draft::new("older", "Does it repeat?", "filesystem", "here");
    let set = PlanSet::from_drafts(vec![draft], &PlanOptions::default()).unwrap();
    let now = set.to_toml();
    let older = now.replace("warm_up = \"0s\"", "warm_up = \"500ms\"");
    assert_ne!(now, older, "{now}");
    assert_eq!(read(older, &PlanOptions::default()).to_toml(), now);
}
