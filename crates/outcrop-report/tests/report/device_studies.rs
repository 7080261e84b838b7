//! What studies state in prose, tested on runs that bear it out, on runs that contradict it, and on published figures.

use outcrop_measure::metric::Metric;
use outcrop_report::{Finding, Number, Report, Verdict};
use outcrop_results::{RunView, TrialEntry, Value};
use outcrop_schema::device::{
    CONTENT, DRIVE_IOPS, DRIVES, IO_BLOCK_SIZE, IOPS, LATENCY, QUEUE_DEPTH, READ_WRITE_MIX,
};

use crate::device_limits::{finding, set, value};
use crate::fixture::RunBuilder;

const ALL: [&str; 6] = [
    "bandwidth-grows-less-than-size",
    "writes-are-faster-at-low-depth",
    "depth-helps-small-accesses",
    "latency-grows-with-size",
    "depth-never-lowers-reads",
    "content-changes-nothing",
];

fn of(run: &RunView, id: &str) -> Finding {
    finding(&Report::of(run), id)
}

/// Sizes, depths and directions, and two contents of every write.
fn measured() -> RunView {
    let cells = || {
        RunBuilder::new(5)
            .cells(&[4096, 131_072], &[1, 8, 32], &[0, 100])
            .build()
    };
    let mut run = cells();
    for mut trial in cells().trials {
        if trial.factors[READ_WRITE_MIX.name] == "0:100" {
            trial.factors.insert(CONTENT.name.to_owned(), "zeros".to_owned());
            trial.cell.push_str(" zeros");
            trial.trial += 1000;
            run.trials.push(trial);
        }
    }
    run
}

/// The run with a metric of some trials multiplied.
fn changed(metric: Metric, factor: f64, is_meant: impl Fn(&TrialEntry) -> bool) -> RunView {
    let mut run = measured();
    for trial in run.trials.iter_mut().filter(|trial| is_meant(trial)) {
        let changed = value(trial, &metric) * factor;
        set(trial, metric, changed);
    }
    run
}

#[test]
fn a_drive_with_a_buffer_and_a_bus_bears_out_what_studies_say() {
    let run = measured();
    for id in ALL {
        let finding = of(&run, id);
        assert_eq!(finding.verdict, Verdict::Holds, "{finding:?}");
    }
}

#[test]
fn each_statement_is_contradicted_by_a_run_in_which_it_is_wrong() {
    let has =
        |factor: &'static str, text: &'static str| move |trial: &TrialEntry| trial.factors[factor] == text;
    let large = has(IO_BLOCK_SIZE.name, "128KiB");
    let deep_and_large = |trial: &TrialEntry| large(trial) && has(QUEUE_DEPTH.name, "32")(trial);
    let is_zeros = |trial: &TrialEntry| {
        trial
            .factors
            .get(CONTENT.name)
            .is_some_and(|content| content == "zeros")
    };
    let runs = [
        changed(IOPS.both, 1000.0, large),
        changed(LATENCY.both.mean, 10.0, has(READ_WRITE_MIX.name, "0:100")),
        changed(IOPS.both, 1000.0, deep_and_large),
        changed(LATENCY.both.mean, 0.001, large),
        changed(IOPS.both, 0.1, has(QUEUE_DEPTH.name, "32")),
        changed(IOPS.both, 1.5, is_zeros),
    ];
    for (id, run) in ALL.into_iter().zip(&runs) {
        let finding = of(run, id);
        assert_eq!(finding.verdict, Verdict::DoesNotHold, "{finding:?}");
        assert!(!finding.meaning.is_empty(), "{id}");
    }
}

#[test]
fn the_ratio_of_two_contents_is_named_as_it_is_computed() {
    let is_zeros = |trial: &TrialEntry| trial.factors.get(CONTENT.name).map(String::as_str) == Some("zeros");
    for (factor, faster) in [(1.5, "zeros ÷ random"), (0.5, "random ÷ zeros")] {
        let finding = of(&changed(IOPS.both, factor, is_zeros), "content-changes-nothing");
        let ratio = finding.numbers.last().unwrap();
        assert!(ratio.name.starts_with(faster), "{}", ratio.name);
        let expected = f64::max(factor, 1.0 / factor);
        assert!(
            (ratio.value - expected).abs() < 1e-9,
            "{} {}",
            ratio.name,
            ratio.value
        );
    }
}

#[test]
fn a_difference_within_the_intervals_decides_nothing() {
    // Writes that are as fast as reads, but for noise.
    let mut run = measured();
    for trial in &mut run.trials {
        let noise = 1.0 + 0.02 * (f64::from(trial.repetition) - 2.0);
        set(trial, LATENCY.both.mean, 50_000.0 * noise);
    }
    let finding = of(&run, ALL[1]);
    assert!(
        matches!(&finding.verdict, Verdict::NotTestable(reason) if reason.contains("have 1.00 in them")),
        "{finding:?}"
    );
}

#[test]
fn a_wide_interval_on_one_side_of_the_limit_decides() {
    let mut run = measured();
    for trial in &mut run.trials {
        if trial.factors[IO_BLOCK_SIZE.name] == "128KiB" {
            let noise = 1.0 + 0.2 * (f64::from(trial.repetition) - 2.0);
            set(trial, IOPS.both, 1000.0 * noise);
        }
    }
    let finding = of(&run, ALL[0]);
    assert!(finding.numbers.iter().any(Number::is_wide), "{finding:?}");
    assert_eq!(finding.verdict, Verdict::Holds, "{finding:?}");
}

/// The finding about a mix of which three trials each gave these thousands of IOPS: reads, the mix of 70:30, and writes.
fn mix(iops: [(&str, [f64; 3]); 3]) -> Finding {
    let mut run = RunBuilder::new(3).cells(&[4096], &[8], &[100, 70, 0]).build();
    for trial in &mut run.trials {
        let is_its = |(mix, _): &&(&str, [f64; 3])| trial.factors[READ_WRITE_MIX.name] == *mix;
        let (_, of_cell) = iops.iter().find(is_its).expect("each cell has its IOPS");
        let one = of_cell[trial.repetition as usize] * 1e3;
        set(trial, IOPS.both, one);
    }
    of(&run, "mix-is-weighted-mean")
}

#[test]
fn a_mix_is_neither_shown_nor_refuted_where_its_interval_reaches_the_limit_or_a_part_of_it_is_hardly_known() {
    let (reads, writes) = (("100:0", [10.0; 3]), ("0:100", [10.0; 3]));
    let open = mix([reads, ("70:30", [11.4, 9.5, 12.5]), writes]);
    assert!(
        matches!(&open.verdict, Verdict::NotTestable(reason) if reason.contains("has values within 10 % of 1 and others: 4 KiB")
            && reason.contains(": 1.14 (0.950–1.25)")),
        "{open:?}"
    );
    assert_eq!(open.meaning, "");
    // Nor is it shown by a value within the limit whose interval reaches beyond it.
    let near = mix([reads, ("70:30", [9.8, 8.46, 12.2]), writes]);
    assert!(
        matches!(&near.verdict, Verdict::NotTestable(reason) if reason.contains(": 0.980 (0.846–1.22)")),
        "{near:?}"
    );
    let shown = mix([reads, ("70:30", [9.8, 9.4, 10.3]), writes]);
    assert_eq!(shown.verdict, Verdict::Holds, "{shown:?}");
    let refuted = mix([reads, ("70:30", [11.4, 11.2, 12.5]), writes]);
    assert_eq!(refuted.verdict, Verdict::DoesNotHold, "{refuted:?}");
    // The writes are a small part of the mean, which is known well.
    let vague = mix([reads, ("70:30", [4.0, 4.1, 4.2]), ("0:100", [0.5, 1.0, 1.1])]);
    let ratio = vague.numbers[0].plus_minus_percent().unwrap();
    assert!(ratio < 30.0, "{vague:?}");
    assert!(
        matches!(&vague.verdict, Verdict::NotTestable(reason) if reason.contains("the IOPS of 4 KiB random")),
        "{vague:?}"
    );
}

#[test]
fn what_was_not_measured_is_said_with_the_plan_that_measures_it() {
    let run = RunBuilder::new(3).cells(&[4096], &[32], &[100]).build();
    for id in ALL {
        let finding = of(&run, id);
        assert!(
            matches!(&finding.verdict, Verdict::NotTestable(reason) if reason.contains("(the plan ssd-")),
            "{finding:?}"
        );
    }
}

#[test]
fn one_trial_a_cell_contradicts_nothing_and_the_command_is_named_that_would_test_it() {
    let mut run = RunBuilder::new(1)
        .cells(&[4096, 131_072], &[1, 8, 32], &[0, 100])
        .build();
    // Each of them is the contrary of what studies say.
    for trial in &mut run.trials {
        let is_large = trial.factors[IO_BLOCK_SIZE.name] == "128KiB";
        let factor = if is_large { 1000.0 } else { 1.0 };
        for (metric, factor) in [(IOPS.both, factor), (LATENCY.both.mean, 1.0 / factor)] {
            let changed = value(trial, &metric) * factor;
            set(trial, metric, changed);
        }
    }
    for id in &ALL[..5] {
        let finding = of(&run, id);
        assert!(
            matches!(
                &finding.verdict,
                Verdict::NotTestable(reason) if reason.starts_with("One trial cannot tell: the ")
                    && reason.contains("Run `outcrop run runs/20261121T020000Z-example/plan.toml --repetitions 9`")
            ),
            "{finding:?}"
        );
        assert!(finding.meaning.is_empty(), "{finding:?}");
    }
    let screen = Report::of(&run).screen(200, false);
    assert!(!screen.contains("not hold: "), "{screen}");
}

#[test]
fn published_figures_are_held_to_the_same_statements() {
    let report = Report::of(&measured());
    let sections = &report.layers[0].references;
    let toshiba = sections
        .iter()
        .find(|section| section.name.starts_with("toshiba"))
        .unwrap();
    for id in &ALL[..3] {
        let published = toshiba.findings.iter().find(|finding| finding.id == *id).unwrap();
        assert_eq!(published.verdict, Verdict::Holds, "{published:?}");
    }
}

#[test]
fn drives_that_were_loaded_together_are_held_against_each_other() {
    const DRIVES_ALIKE: &str = "drives-are-alike";
    for (second, verdict) in [(950.0, Verdict::Holds), (500.0, Verdict::DoesNotHold)] {
        let mut run = RunBuilder::new(3).cells(&[4096], &[8], &[0]).build();
        for trial in &mut run.trials {
            trial.factors.insert(DRIVES.name.to_owned(), "2".to_owned());
            for (metric, iops) in DRIVE_IOPS.into_iter().zip([1000.0, second]) {
                trial.values.push(Value::measured(metric, iops));
            }
        }
        let finding = of(&run, DRIVES_ALIKE);
        assert_eq!(finding.verdict, verdict, "{}", finding.tested);
        assert!(finding.tested.contains("2 drives × QD 8"), "{}", finding.tested);
        let figures: Vec<f64> = finding.numbers.iter().map(|number| number.value).collect();
        assert_eq!(figures[1..], [1000.0, second], "{:?}", finding.numbers);
    }
    // Too few requests for a rate in one of the trials: that is said, and the finding does not vanish.
    let mut run = RunBuilder::new(2).cells(&[4096], &[8], &[0]).build();
    for trial in &mut run.trials {
        trial.factors.insert(DRIVES.name.to_owned(), "2".to_owned());
        trial.values.push(Value::measured(DRIVE_IOPS[0], 1000.0));
        trial.values.push(match trial.repetition {
            0 => Value::measured(DRIVE_IOPS[1], 1000.0),
            _ => Value::unavailable(DRIVE_IOPS[1], "no operation completed"),
        });
    }
    let finding = of(&run, DRIVES_ALIKE);
    assert!(
        matches!(&finding.verdict, Verdict::NotTestable(reason) if reason.contains("no operation completed")),
        "{finding:?}"
    );
    let one = Report::of(&measured());
    assert!(
        one.layers[0]
            .findings
            .iter()
            .all(|finding| finding.id != DRIVES_ALIKE)
    );
}

#[test]
fn a_drive_whose_share_is_open_is_the_one_that_is_named_although_another_is_slower_by_its_value() {
    let mut run = RunBuilder::new(3).cells(&[4096], &[8, 16], &[0]).build();
    for trial in &mut run.trials {
        let is_open = trial.factors[QUEUE_DEPTH.name] == "16";
        trial.factors.insert(DRIVES.name.to_owned(), "2".to_owned());
        // 0.93 of the mean, surely, and 0.95 (0.895 to 1).
        let iops = match is_open {
            true => [[950.0, 850.0, 1050.0][trial.repetition as usize], 1050.0],
            false => [930.0, 1070.0],
        };
        for (metric, iops) in DRIVE_IOPS.into_iter().zip(iops) {
            trial.values.push(Value::measured(metric, iops));
        }
    }
    let finding = of(&run, "drives-are-alike");
    assert!(
        matches!(&finding.verdict, Verdict::NotTestable(reason) if reason.contains("further below: 0.950 (0.895–1.00)")),
        "{finding:?}"
    );
    assert_eq!(finding.numbers[0].name, "one drive ÷ mean of the drives");
    assert!((finding.numbers[0].value - 0.95).abs() < 1e-9, "{finding:?}");
}
