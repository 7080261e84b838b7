//! What stands next to the answer: one base for all spaces, the second best, checks that failed, and limits that hardware cannot be held to.

use outcrop_measure::metric::Unit;
use outcrop_report::placement::Sureness;
use outcrop_report::{Constraints, Placement, Report, Verdict};
use outcrop_results::{RunView, TrialEntry};
use outcrop_schema::kv::{
    COMPRESSION, FILESYSTEM, MISMATCHES, NOT_SETTLED, READ_LATENCY, THREADS, THROUGHPUT,
};

use crate::kv_fixture::{Stored, codecs, of};
use crate::placement::{USUAL, least_ratio, stored};

/// The fastest without compression takes a tenth more space than the smallest.
const TWO_PLAIN: [Stored; 3] = [
    stored("none", "ext4", 100e3, 110e6),
    stored("lz4", "ext4", 70e3, 50e6),
    stored("none", "btrfs", 80e3, 100e6),
];

fn answer(run: &RunView) -> Placement {
    Placement::of(run, &Constraints::default(), None)
        .expect("the run has stores with and without compression")
}

fn flowing(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn sentence_picture_table_and_limit_have_one_base_the_store_that_one_has_otherwise() {
    let run = of(&TWO_PLAIN);
    let report = Report::of(&run);
    let placement = report.placement.as_ref().unwrap();
    let text = placement.answer.join(" ");
    // 50 of 110 MB, and not of 100.
    assert!(
        text.contains("takes 45 % of the space and is slower than no compression (blocks of 16 KiB, ext4)"),
        "{text}"
    );
    assert!(text.contains("if you need a ratio of 2.2 ("), "{text}");
    let screen = report.screen(120, false);
    let row = screen
        .lines()
        .find(|line| line.starts_with("store: lz4"))
        .unwrap();
    assert!(row.contains(" 45 %"), "{screen}");
    let page = report.to_html();
    assert!(
        page.contains("space without compression (blocks of 16 KiB, ext4) ÷ its own"),
        "the base is named"
    );
    let least = |ratio: f64| {
        let placement = Placement::of(&run, &least_ratio(ratio), None).unwrap();
        placement.best.map(|best| placement.candidates[best].name())
    };
    assert!(least(2.19).is_some_and(|name| name.starts_with("store: lz4")));
    assert_eq!(least(2.21), None);
}

#[test]
fn a_limit_on_the_latency_chooses_the_base_and_a_limit_on_the_ratio_does_not_change_it() {
    let run = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 70e3, 50e6),
        stored("none", "btrfs", 80e3, 100e6),
    ]);
    // The fixture's p99 is four times the mean: 40 µs at 100 k/s, 50 µs at 80 k/s, 57 µs at 70 k/s.
    let ratio_of_lz4 = |constraints: &Constraints| {
        let placement = Placement::of(&run, constraints, None).unwrap();
        let mut candidates = placement.candidates.iter();
        let lz4 = candidates.find(|one| one.name().contains("lz4")).unwrap();
        lz4.ratio.as_ref().unwrap().value
    };
    let within = |p99_ns: f64, min_ratio: Option<f64>| Constraints {
        p99_ns: Some(p99_ns),
        min_ratio,
        ..Constraints::default()
    };
    for min_ratio in [None, Some(1.5)] {
        assert!((ratio_of_lz4(&within(90e3, min_ratio)) - 2.2).abs() < 1e-9);
    }
    // With the fastest out of the question, the other one is what there is otherwise.
    let mut slow = run.clone();
    for trial in slow
        .trials
        .iter_mut()
        .filter(|trial| trial.factors[FILESYSTEM.name] == "ext4" && trial.factors[COMPRESSION.name] == "none")
    {
        let p99 = trial
            .values
            .iter_mut()
            .find(|value| value.metric == READ_LATENCY.p99.name);
        p99.expect("the fixture has it").value = Some(1e6);
    }
    for min_ratio in [None, Some(1.5)] {
        let placement = Placement::of(&slow, &within(90e3, min_ratio), None).unwrap();
        let mut candidates = placement.candidates.iter();
        let lz4 = candidates.find(|one| one.name().contains("lz4")).unwrap();
        assert!((lz4.ratio.as_ref().unwrap().value - 2.0).abs() < 1e-9, "{lz4:?}");
    }
}

#[test]
fn the_second_best_is_by_the_rule_and_what_takes_less_space_says_what_it_costs() {
    let placement = answer(&of(&USUAL));
    let name = |place: Option<usize>| placement.candidates[place.unwrap()].name();
    assert_eq!(name(placement.second), "no compression");
    assert_eq!(name(placement.saves_more), "filesystem: btrfs zstd:1");
    let page = Report::of(&of(&USUAL)).to_html();
    assert!(
        page.contains("<td>the answer; on the front"),
        "roles are in the table"
    );
    assert!(
        page.contains("<td>second best; on the front"),
        "roles are in the table"
    );
    // Where no compression is the answer, everything else is slower, and that is said.
    let costly = answer(&of(&TWO_PLAIN)).answer.join(" ");
    assert!(
        costly.contains("Second best: lz4, blocks of 16 KiB in the store, which takes 45 % of the space and is slower than no compression"),
        "{costly}"
    );
    assert!(!costly.contains("Less space:"), "{costly}");
    // Under a limit that no compression breaks, what is second may be slower than it.
    let run = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 99e3, 60e6),
        stored("none", "btrfs zstd:1", 75e3, 40e6),
    ]);
    let limited = Placement::of(&run, &least_ratio(1.5), None)
        .unwrap()
        .answer
        .join(" ");
    assert!(
        limited.contains(
            "Second best: btrfs zstd:1 in the filesystem, which takes 36 % of the space without compression; throughput −24 % compared with the \
             answer, −25 % compared with no compression."
        ),
        "{limited}"
    );
}

/// A run of enough trials, with a change in the trials of some cells.
fn with(filesystem: &str, codec: &str, change: impl Fn(&mut TrialEntry)) -> RunView {
    let mut run = of(&USUAL);
    let first = run.trials.clone();
    for again in 1..3 {
        run.trials.extend(first.iter().map(|trial| TrialEntry {
            repetition: trial.repetition + 3 * again,
            ..trial.clone()
        }));
    }
    let is_meant = |trial: &&mut TrialEntry| {
        trial.factors[FILESYSTEM.name] == filesystem && trial.factors[COMPRESSION.name] == codec
    };
    run.trials.iter_mut().filter(is_meant).for_each(change);
    run
}

#[test]
fn a_check_that_failed_for_the_cells_of_the_answer_is_in_the_verdict_and_nothing_is_clear_with_it() {
    let fine = answer(&with("ext4", "lz4", |_| {}));
    assert_eq!(
        (fine.sureness, fine.failed_checks.len()),
        (Some(Sureness::Clear), 0)
    );
    let unsettled = |trial: &mut TrialEntry| trial.notes.push(NOT_SETTLED.remark("2 compactions pending"));
    let wrong = |trial: &mut TrialEntry| {
        let mut values = trial.values.iter_mut();
        let mismatches = values.find(|value| value.metric == MISMATCHES.name);
        mismatches.expect("the fixture has it").value = Some(3.0);
    };
    for (run, why) in [
        (
            with("ext4", "lz4", unsettled),
            "compaction was still at work when some runs began (1 of 3 cells, most: rocksdb lz4 16KiB on ext4)",
        ),
        (
            with("ext4", "none", unsettled),
            "compaction was still at work when some runs began (1 of 3 cells, most: rocksdb none 16KiB on ext4)",
        ),
        (
            with("ext4", "lz4", wrong),
            "some returned values were not stored under their key, or were out of date (27 of 2.70 M values; 1 of 3 cells, most: rocksdb \
             lz4 16KiB on ext4)",
        ),
    ] {
        let placement = answer(&run);
        let text = placement.answer.join(" ");
        assert_eq!(placement.sureness, Some(Sureness::NotClear), "{text}");
        assert_eq!(placement.failed_checks, [why]);
        assert!(
            text.contains(&format!(
                "This is not clear: its cells failed a check that throughput depends on. A quality check failed for these cells: {why}. {} Then measure again: \
                 `outcrop run runs/20261121T020000Z-kv/plan.toml --repetitions 18`.",
                placement.remedies[0]
            )),
            "{text}"
        );
        assert!(!placement.race.is_clear);
        for width in [60, 80, 120] {
            let screen = flowing(&Report::of(&run).screen(width, false));
            assert!(
                screen.contains("quality check failed for these cells"),
                "{screen}"
            );
            assert!(screen.contains("This is not clear"), "{screen}");
        }
    }
    // What stands for nothing that is compared says nothing of the answer.
    let elsewhere = answer(&with("btrfs", "none", unsettled));
    assert_eq!(elsewhere.sureness, Some(Sureness::Clear));
    assert!(elsewhere.failed_checks.is_empty());
}

#[test]
fn a_single_value_that_differs_in_one_trial_fails_the_check_and_its_cell_is_named() {
    let mut run = codecs();
    let trial = run
        .trials
        .iter_mut()
        .rfind(|trial| trial.repetition == 1)
        .unwrap();
    let mut values = trial.values.iter_mut();
    values
        .find(|value| value.metric == MISMATCHES.name)
        .unwrap()
        .value = Some(1.0);
    let report = Report::of(&run);
    let mut findings = report.layers.iter().flat_map(|layer| &layer.findings);
    let verified = findings
        .find(|finding| finding.id == "kv-values-verified")
        .unwrap();
    assert_eq!(verified.verdict, Verdict::DoesNotHold);
    assert_eq!(
        verified.extent,
        "1 of 1.20 M values; 1 of 4 cells, most: rocksdb lz4 16KiB"
    );
    assert!(report.to_html().contains(verified.remedy));
}

#[test]
fn other_work_on_the_machine_while_the_cells_were_measured_is_named_and_its_noise_is_in_the_intervals() {
    let busy = |share: f64| with("ext4", "lz4", |trial| trial.others_cpu_share = Some(share));
    let placement = answer(&busy(0.35));
    let text = placement.answer.join(" ");
    assert!(
        text.contains(
            "The machine was busy with other work: 35 % of the CPUs while the most disturbed of these 3 cells was measured (lz4, blocks of 16 KiB in the store). \
             Stop the other programs before you measure again."
        ),
        "{text}"
    );
    assert_eq!(placement.sureness, Some(Sureness::Clear));
    let screen = flowing(&Report::of(&busy(0.35)).screen(60, false));
    assert!(
        screen.contains("The machine was busy with other work"),
        "{screen}"
    );
    assert_eq!(answer(&busy(0.04)).other_work, None);
    // The cell that it disturbed most is named, and not the first one, nor the middle of all.
    let mut uneven = busy(0.2);
    for trial in &mut uneven.trials {
        let is_small = trial.factors[FILESYSTEM.name] == "btrfs zstd:1";
        trial.others_cpu_share = trial.others_cpu_share.or(Some(if is_small { 0.5 } else { 0.01 }));
    }
    let other_work = answer(&uneven).other_work.unwrap_or_default();
    assert!(
        other_work.starts_with("50 % of the CPUs")
            && other_work.ends_with("(btrfs zstd:1 in the filesystem)"),
        "{other_work}"
    );
}

#[test]
fn limits_that_nobody_published_figures_for_are_named_with_the_hardware() {
    let run = of(&USUAL);
    let said = |constraints: &Constraints| {
        let placement = Placement::of(&run, constraints, None).unwrap();
        placement.answer.join(" ")
    };
    assert!(!said(&Constraints::default()).contains("unknown"));
    let latency = Constraints {
        p99_ns: Some(1e6),
        ..Constraints::default()
    };
    let text = said(&latency);
    assert!(
        text.contains("Its p99 is unknown, so it may or may not meet --p99 1ms. That is modelled"),
        "{text}"
    );
    let both = Constraints {
        min_ratio: Some(1.1),
        ..latency
    };
    let text = said(&both);
    assert!(
        text.contains(
            "Its ratio and p99 are unknown, so it may or may not meet --min-ratio 1.1 and --p99 1ms."
        ),
        "{text}"
    );
}

#[test]
fn what_the_picture_leaves_out_is_counted_and_narrow_screens_have_its_figures() {
    let mut run = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 99e3, 60e6),
        stored("snappy", "ext4", 60e3, 62e6),
        stored("zlib:6", "ext4", 50e3, 58e6),
        stored("none", "btrfs zstd:1", 75e3, 40e6),
    ]);
    run.trials.extend(crate::compression_fixture::complete().trials);
    let report = Report::of(&run);
    for (width, bars) in [(60, 0), (80, 3), (120, 3)] {
        let screen = report.screen(width, false);
        let rows = ["no compression  ", "store: lz4, ", "filesystem: btrfs zstd:1 "];
        for row in rows {
            let line = screen.lines().find(|line| line.starts_with(row));
            let line = line.unwrap_or_else(|| panic!("{width}, {row}: {screen}"));
            assert_eq!(line.contains("← "), row.starts_with("store"), "{screen}");
            assert!(line.contains(" k/s") && line.contains(" %"), "{screen}");
        }
        assert_eq!(
            screen.lines().filter(|line| line.contains('█')).count(),
            bars,
            "{screen}"
        );
        assert!(
            screen.contains("2 more candidates in the report"),
            "{width}: {screen}"
        );
        assert!(
            screen.lines().all(|line| line.chars().count() <= width),
            "{width}: {screen}"
        );
    }
}

#[test]
fn a_throughput_with_more_threads_than_the_answer_says_so_first() {
    let mut run = of(&USUAL);
    let mut wide = of(&USUAL[..1]).trials;
    for trial in &mut wide {
        trial.factors.insert(THREADS.name.to_owned(), "4".to_owned());
        trial.cell.push_str(" wide");
        let mut values = trial.values.iter_mut();
        let throughput = values.find(|value| value.metric == THROUGHPUT.name);
        let throughput = &mut throughput.expect("the fixture has it").value;
        *throughput = throughput.map(|value| value * 3.0);
    }
    run.trials.extend(wide);
    run.trials.extend(crate::compression_fixture::complete().trials);
    let report = Report::of(&run);
    let text = report.placement.as_ref().unwrap().answer.join(" ");
    assert!(text.contains("100,000 generated records, 1 thread"), "{text}");
    for width in [80, 120] {
        let screen = report.screen(width, false);
        assert!(flowing(&screen).contains("(4 threads"), "{screen}");
    }
    assert!(report.to_html().contains("<span>4 threads, rocksdb none"));
}

#[test]
fn what_is_the_fastest_by_its_median_is_not_clear_where_another_may_be_faster_by_more_than_the_margin() {
    // Latencies go with the throughput, or Little's law would be the reason.
    let faster = |trial: &mut TrialEntry, factor: f64| {
        for value in &mut trial.values {
            value.value = value.value.map(|number| match value.unit {
                Unit::PerSecond => number * factor,
                Unit::Nanoseconds => number / factor,
                _ => number,
            });
        }
    };
    let mut run = with("ext4", "lz4", |trial| faster(trial, 1.2));
    assert_eq!(answer(&run).sureness, Some(Sureness::Clear));
    let is_plain = |trial: &&mut TrialEntry| {
        trial.factors[FILESYSTEM.name] == "ext4" && trial.factors[COMPRESSION.name] == "none"
    };
    for trial in run.trials.iter_mut().filter(is_plain) {
        if trial.repetition % 3 == 0 {
            faster(trial, 1.6);
        }
    }
    let open = answer(&run);
    let text = open.answer.join(" ");
    assert!(text.contains("lz4"), "{text}");
    assert_eq!(open.sureness, Some(Sureness::NotClear), "{text}");
}

#[test]
fn that_intervals_overlap_stands_behind_the_change_whose_intervals_do() {
    let mut run = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 60e3, 60e6),
        stored("none", "btrfs zstd:1", 48e3, 40e6),
    ]);
    for trial in &mut run.trials {
        let factor = 1.0 + 0.15 * (f64::from(trial.repetition) - 1.0);
        let throughput = trial
            .values
            .iter_mut()
            .filter(|value| value.metric == THROUGHPUT.name);
        throughput.for_each(|value| value.value = value.value.map(|throughput| throughput * factor));
    }
    let limited = Placement::of(&run, &least_ratio(1.5), None)
        .unwrap()
        .answer
        .join(" ");
    assert!(
        limited.contains(
            "throughput −20 % compared with the answer (not certain: the intervals overlap), −52 % compared with no compression."
        ),
        "{limited}"
    );
}
