//! Whose limits and prices an answer is under, and that one difference is judged by one rule on every page.

use outcrop_report::placement::Origin;
use outcrop_report::{Constraints, Placement, Report};
use outcrop_schema::kv::THROUGHPUT;

use crate::kv_fixture::of;
use crate::placement::{USUAL, least_ratio, stored};

#[test]
fn limits_and_prices_of_the_run_hold_unless_the_report_is_given_others_and_it_says_whose_they_are() {
    let mut run = of(&USUAL);
    run.plan = "[run]\nmin_ratio = \"2.4\"\n\n[run.prices]\ncurrency = \"EUR\"\ncpu_hour = \"0.04\"\ngb_month = \"1\"\n\
                data = \"1TB\"\noperations_per_second = \"50000\"\n\n[[plan]]\nname = \"placement\"\nlayer = \"kv\"\n"
        .to_owned();
    let own = Placement::of(&run, &Constraints::default(), None).unwrap();
    assert_eq!(own.constraints.min_ratio, Some(2.4));
    assert_eq!(
        (own.constraints_from, own.prices_from),
        (Some(Origin::Run), Some(Origin::Run))
    );
    assert!(
        own.answer[0].starts_with(
            "Within the limits that this run was given (--min-ratio 2.4), compress in the filesystem"
        ),
        "{:?}",
        own.answer
    );
    assert!(
        own.answer[1].starts_with("At the prices that this run was given, the cheapest is"),
        "{:?}",
        own.answer
    );
    let other = Placement::of(&run, &least_ratio(9.0), None).unwrap();
    assert_eq!(other.constraints_from, Some(Origin::Report));
    let text = other.answer.join(" ");
    assert!(
        text.contains("the limits given for this report (--min-ratio 9)"),
        "{text}"
    );
}

#[test]
fn a_quarter_less_throughput_is_said_of_the_stack_and_of_the_engine_though_the_intervals_overlap() {
    let mut run = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 75e3, 60e6),
    ]);
    for trial in &mut run.trials {
        let noise = 1.0 + 0.2 * (f64::from(trial.repetition) - 1.0);
        let speeds = trial
            .values
            .iter_mut()
            .filter(|value| value.metric == THROUGHPUT.name);
        speeds.for_each(|speed| speed.value = speed.value.map(|value| value * noise));
    }
    let report = Report::of(&run);
    let stack = report.placement.as_ref().unwrap().answer.join(" ");
    let claims = &report.layers[0].answer.advice;
    let engine = &claims
        .iter()
        .find(|claim| claim.topic == "Compress blocks")
        .unwrap()
        .text;
    for (text, change) in [(&stack, "−25 % throughput"), (engine, "throughput −25 %")] {
        assert!(text.contains(change), "{text}");
        assert!(text.contains("ot certain"), "{text}");
    }
    assert!(
        engine.contains("Compared with rocksdb none 16KiB on ext4"),
        "{engine}"
    );
}
