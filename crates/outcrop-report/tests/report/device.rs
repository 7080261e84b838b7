//! Findings, answer and figures of the device layer on runs whose truth is known.

use outcrop_report::answer::{ReadingOutcome, Severity};
use outcrop_report::section::FigureSlot;
use outcrop_report::{Finding, Number, Report, Verdict};
use outcrop_results::Outcome;
use proptest::prelude::*;

use crate::fixture::{DEPTHS, MIXES, RunBuilder, SIZES, Workload, complete, iops_of};

pub(crate) fn finding<'r>(findings: &'r [Finding], id: &str) -> &'r Finding {
    findings
        .iter()
        .find(|finding| finding.id == id)
        .unwrap_or_else(|| panic!("no finding {id}"))
}

pub(crate) fn verdict(run: RunBuilder, id: &str) -> Verdict {
    let report = Report::of(&run.build());
    finding(&report.layers[0].findings, id).verdict.clone()
}

pub(crate) fn number(finding: &Finding, part: &str) -> f64 {
    let found = finding.numbers.iter().find(|number| number.name.contains(part));
    found
        .unwrap_or_else(|| panic!("no {part} in {:?}", finding.numbers))
        .value
}

#[test]
fn an_honest_run_obeys_the_arithmetic_and_a_dishonest_one_is_found_out() {
    let run = || RunBuilder::new(3).cells(&SIZES, &DEPTHS, &[100, 0]);
    for id in [
        "bandwidth-is-iops-times-size",
        "littles-law",
        "bytes-are-the-kernels",
    ] {
        assert_eq!(verdict(run(), id), Verdict::Holds, "{id}");
    }
    let lying = RunBuilder {
        latency_factor: 0.5,
        ..RunBuilder::new(3)
    };
    assert_eq!(
        verdict(lying.cells(&SIZES, &DEPTHS, &MIXES), "littles-law"),
        Verdict::DoesNotHold
    );
    let shared = RunBuilder {
        device_bytes_ratio: Some(1.2),
        ..RunBuilder::new(3)
    };
    assert_eq!(
        verdict(shared.cells(&SIZES, &[1, 8], &[100]), "bytes-are-the-kernels"),
        Verdict::DoesNotHold
    );
}

#[test]
fn what_the_kernel_does_not_count_is_not_testable_with_its_reason() {
    let blind = RunBuilder {
        device_bytes_ratio: None,
        ..RunBuilder::new(3)
    };
    let verdict = verdict(blind.cells(&SIZES, &[1, 8], &[100]), "bytes-are-the-kernels");
    assert_eq!(verdict, Verdict::NotTestable("No counters in this test.".into()));
}

#[test]
fn the_published_matrix_fails_littles_law_by_two_and_its_bandwidth_by_1024_over_1000() {
    let report = Report::of(&complete());
    let published = &report.layers[0].references;
    let toshiba = published
        .iter()
        .find(|section| section.name.starts_with("toshiba"))
        .unwrap();
    let law = finding(&toshiba.findings, "littles-law");
    assert_eq!(law.verdict, Verdict::DoesNotHold);
    assert!((number(law, "pure reads and pure writes") - 0.5).abs() < 0.02);
    assert!((number(law, "mixes") - 1.0).abs() < 0.10);
    assert!(
        law.tested
            .contains("Outside: pure reads and pure writes 40 of 40"),
        "{}",
        law.tested
    );
    assert!(law.meaning.contains("counted as zero"), "{}", law.meaning);
    let bandwidth = finding(&toshiba.findings, "bandwidth-is-iops-times-size");
    assert_eq!(bandwidth.verdict, Verdict::DoesNotHold);
    assert!(bandwidth.meaning.contains("1000/1024"), "{}", bandwidth.meaning);
    assert!(
        toshiba.table.rows.len() >= 80,
        "the same cells are shown side by side"
    );
}

#[test]
fn a_datasheet_says_what_it_does_not_state() {
    let report = Report::of(&complete());
    let datasheets = report.layers[0]
        .references
        .iter()
        .find(|section| section.name == "datasheets")
        .unwrap();
    let cells: Vec<&String> = datasheets.table.rows.iter().flatten().collect();
    assert!(cells.iter().any(|cell| *cell == "not stated"));
    assert!(
        datasheets
            .table
            .rows
            .iter()
            .all(|row| row.len() == datasheets.table.head.len())
    );
}

#[test]
fn a_mix_that_loses_against_its_parts_is_found_and_priced() {
    let report = Report::of(&complete());
    let mix = finding(&report.layers[0].findings, "mix-is-weighted-mean");
    assert_eq!(mix.verdict, Verdict::DoesNotHold);
    assert!(number(mix, "lowest") < 0.8);
    let advice = &report.layers[0].answer.advice;
    assert!(
        advice
            .iter()
            .any(|claim| claim.topic == "Mix" && claim.text.contains("70:30"))
    );
}

#[test]
fn the_answer_is_what_the_formula_gives() {
    let report = Report::of(&complete());
    let answer = &report.layers[0].answer;
    let highest = &answer.capabilities[0];
    assert_eq!(highest.label, "Highest IOPS");
    let expected = SIZES
        .iter()
        .flat_map(|size| {
            DEPTHS.map(|depth| Workload {
                size: *size,
                depth,
                read_percent: 100,
            })
        })
        .map(iops_of)
        .fold(0.0, f64::max);
    let ReadingOutcome::Measured { number, conditions } = &highest.readings[0].outcome else {
        panic!("reads were measured");
    };
    assert!((number.value / expected - 1.0).abs() < 1e-9);
    // Beyond as many requests as it has channels, a deeper queue gives as much.
    assert_eq!(conditions, "4 KiB random, QD 32; ties with 2 others");
    assert!(
        answer
            .advice
            .iter()
            .any(|claim| claim.text.starts_with("QD 32 gives"))
    );
}

#[test]
fn a_chart_of_mixes_without_pure_writes_speaks_of_no_dotted_line() {
    let caption = |mixes: &[u8]| {
        let report = Report::of(&RunBuilder::new(3).cells(&[4096], &[32], mixes).build());
        let figures = report.figures();
        let of_mixes = figures.iter().find(|figure| figure.id == "iops-by-mix");
        of_mixes.expect("it is drawn").caption.clone()
    };
    assert!(caption(&[100, 70, 0]).contains("the dotted line is"));
    assert!(!caption(&[100, 70]).contains("dotted line"));
}

#[test]
fn the_tail_of_a_mix_is_drawn_next_to_those_of_reads_and_writes_alone() {
    let report = Report::of(&complete());
    let figures = report.figures();
    let tail = figures.iter().find(|figure| figure.id == "latency-tail");
    let csv = tail.expect("it is drawn").to_csv().unwrap();
    for name in [
        "read QD 1",
        "write QD 1",
        "read in a 70:30 mix, QD ",
        "write in a 70:30 mix, QD ",
    ] {
        assert!(csv.contains(name), "{name}: {csv}");
    }
}

#[test]
fn a_figure_of_tails_says_which_of_the_measured_depths_it_shows() {
    let caption = |depths: &[u32]| {
        let report = Report::of(&RunBuilder::new(3).cells(&[4096], depths, &[100]).build());
        let figures = report.figures();
        let tail = figures.iter().find(|figure| figure.id == "latency-tail");
        tail.expect("it is drawn").caption.clone()
    };
    let some = caption(&[1, 4, 16, 64]);
    assert!(
        some.ends_with(" Of each, the lowest queue depth and the highest up to 32. Not drawn: 2 cells (queue depth 4, 64)."),
        "{some}"
    );
    assert!(!caption(&[1, 16]).contains("Not drawn"));
}

/// Numbers anywhere in a JSON value: objects that have a `value` and a `unit`.
fn numbers_in(value: &serde_json::Value, found: &mut Vec<serde_json::Value>) {
    match value {
        serde_json::Value::Object(fields) => {
            if fields.contains_key("unit") {
                found.push(value.clone());
            }
            fields.values().for_each(|field| numbers_in(field, found));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| numbers_in(item, found)),
        _ => {}
    }
}

#[test]
fn every_number_of_the_answer_has_a_unit_an_n_and_a_provenance() {
    let json = Report::of(&complete()).to_json().unwrap();
    let mut numbers = Vec::new();
    numbers_in(&json["layers"][0]["answer"], &mut numbers);
    assert!(numbers.len() > 20, "{}", numbers.len());
    for number in numbers {
        assert!(number["n"].as_u64().unwrap() > 0, "{number}");
        assert!(!number["unit"].as_str().unwrap().is_empty(), "{number}");
        assert!(!number["provenance"].as_str().unwrap().is_empty(), "{number}");
    }
    for claim in json["layers"][0]["answer"]["advice"].as_array().unwrap() {
        assert!(!claim["numbers"].as_array().unwrap().is_empty(), "{claim}");
    }
}

#[test]
fn a_run_of_one_cell_reports_it_and_names_the_plans_for_the_rest() {
    let run = RunBuilder::new(1).cell(Workload {
        size: 4096,
        depth: 1,
        read_percent: 100,
    });
    let report = Report::of(&run.build());
    let layer = &report.layers[0];
    assert!(layer.matrices.is_empty() && layer.missing_matrices.len() == 4);
    let missing: Vec<&str> = layer
        .figures
        .iter()
        .filter_map(|slot| match slot {
            FigureSlot::Missing(missing) => Some(missing.plan.as_str()),
            FigureSlot::Drawn(_) => None,
        })
        .collect();
    for plan in ["ssd-queue-depth", "ssd-access-size", "ssd-read-write-mix"] {
        assert!(missing.contains(&plan), "{missing:?}");
    }
    assert!(
        layer.answer.cautions.iter().any(|caution| {
            caution.severity == Severity::Warning && caution.text.contains("single trial")
        })
    );
}

#[test]
fn trials_that_failed_are_counted_and_told() {
    let message = "no space left on the device".to_owned();
    let run = RunBuilder::new(3)
        .cells(&[4096], &[1, 8], &[100])
        .lost(Outcome::Failed {
            message: message.clone(),
        })
        .lost(Outcome::Interrupted);
    let report = Report::of(&run.build());
    assert_eq!(
        (
            report.trials.completed,
            report.trials.failed,
            report.trials.interrupted
        ),
        (6, 1, 1)
    );
    let warning = &report.layers[0].answer.cautions[0];
    assert!(
        warning.severity == Severity::Warning && warning.text.contains(&message),
        "{warning:?}"
    );
    assert!(report.to_html().contains(&message));
    // What did not happen is not counted.
    let stopped = RunBuilder::new(3).cells(&[4096], &[1, 8], &[100]);
    let stopped = Report::of(&stopped.lost(Outcome::Interrupted).build());
    assert_eq!(
        stopped.layers[0].answer.cautions[0].text,
        "1 trial was interrupted; no figure includes it."
    );
}

#[test]
fn two_subjects_are_never_one_curve() {
    let of_depth = |depth: u32, subject: &str| {
        let mut run = RunBuilder::new(3).cells(&[4096], &[depth], &[100]).build();
        run.trials
            .iter_mut()
            .for_each(|trial| trial.subject = subject.into());
        run
    };
    let (mut run, other) = (of_depth(1, "one drive"), of_depth(8, "another drive"));
    run.trials.extend(other.trials);
    let layer = &Report::of(&run).layers[0];
    let is_drawn = |id: &str| {
        layer
            .figures
            .iter()
            .any(|slot| matches!(slot, FigureSlot::Drawn(figure) if figure.id == id))
    };
    assert!(!is_drawn("iops-by-depth") && !is_drawn("latency-by-depth"));
    assert_eq!(layer.answer.advice, []);
    assert_eq!(layer.answer.subject, "another drive, one drive");
}

#[test]
fn a_plan_by_another_name_gives_the_same_report() {
    let mut renamed = complete();
    renamed
        .trials
        .iter_mut()
        .for_each(|trial| trial.plans = vec!["mine".into()]);
    let layers = |run| Report::of(&run).to_json().unwrap()["layers"].take();
    assert_eq!(layers(renamed), layers(complete()));
}

#[test]
fn wide_intervals_are_marked_on_the_page_and_written_as_their_ends_on_the_screen() {
    let shaky = RunBuilder {
        spread: 0.2,
        ..RunBuilder::new(5)
    };
    let report = Report::of(&shaky.cells(&SIZES, &DEPTHS, &MIXES).build());
    let html = report.to_html();
    assert!(html.contains("wide-mark") && html.contains("wide interval"));
    let screen = report.screen(80, false);
    assert!(screen.contains('–') && !screen.contains("% !"), "{screen}");
    assert_eq!(
        finding(&report.layers[0].findings, "repetitions-agree").verdict,
        Verdict::DoesNotHold
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_selection_of_cells_gives_a_report(
        cells in proptest::collection::vec((0_usize..4, 0_usize..5, 0_usize..4), 0..12),
        repetitions in 1_u32..4,
        spread in 0.0_f64..0.5,
    ) {
        let start = RunBuilder { spread, intervals: (2, 1.0), ..RunBuilder::new(repetitions) };
        let run = cells.iter().fold(start, |builder, (size, depth, mix)| builder.cell(Workload {
            size: SIZES[*size],
            depth: DEPTHS[*depth],
            read_percent: MIXES[*mix],
        }));
        let report = Report::of(&run.build());
        prop_assert_eq!(report.layers.is_empty(), cells.is_empty());
        prop_assert!(report.screen(80, false).lines().count() <= 22);
        let html = report.to_html();
        prop_assert!(!html.contains("NaN") && !html.contains(">inf"));
        let shown: Vec<&Number> = report.layers.iter().flat_map(|layer| &layer.findings).flat_map(|f| &f.numbers).collect();
        prop_assert!(shown.iter().all(|number| number.value.is_finite()));
    }
}

#[test]
fn a_single_deep_or_mixed_cell_still_answers_with_its_latency() {
    for read_percent in [100, 70] {
        let run = RunBuilder::new(3).cell(Workload {
            size: 4096,
            depth: 32,
            read_percent,
        });
        let report = Report::of(&run.build());
        let rows = &report.layers[0].answer.capabilities;
        let labels: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
        let throughput = match read_percent {
            100 => ["Highest IOPS", "Highest bandwidth"].as_slice(),
            _ => &[
                "Highest IOPS",
                "IOPS in a 70:30 mix (30 % writes)",
                "Highest bandwidth",
            ],
        };
        let latency = ["Latency at highest IOPS, p50", "Latency at highest IOPS, p99"];
        assert_eq!(labels, [throughput, &latency].concat());
        let is_half_of_a_mix = |label: &str| read_percent == 70 && label.starts_with("Highest");
        for row in rows.iter().filter(|row| !is_half_of_a_mix(&row.label)) {
            let reads = &row.readings[0].outcome;
            assert!(
                matches!(reads, ReadingOutcome::Measured { .. }),
                "{}: {reads:?}",
                row.label
            );
        }
    }
}

#[test]
fn a_direction_that_reached_more_in_a_mix_is_called_the_highest_of_cells_that_do_nothing_else() {
    let lone = Workload {
        size: 4096,
        depth: 1,
        read_percent: 100,
    };
    let mixed = Workload {
        size: 65_536,
        depth: 8,
        read_percent: 70,
    };
    let report = Report::of(&RunBuilder::new(3).cell(lone).cell(mixed).build());
    let rows = &report.layers[0].answer.capabilities;
    let reads = |label: &str| {
        let row = rows.iter().find(|row| row.label == label);
        let row = row.unwrap_or_else(|| panic!("no {label}: {rows:?}"));
        match &row.readings[0].outcome {
            ReadingOutcome::Measured { number, conditions } => (number.value, conditions.clone()),
            missing => panic!("{label}: {missing:?}"),
        }
    };
    let (alone, conditions) = reads("Highest bandwidth");
    assert_eq!(conditions, "4 KiB random, QD 1, only reads");
    let (in_mix, conditions) = reads("Highest bandwidth in a 70:30 mix");
    assert_eq!(conditions, "64 KiB random 70:30 mix, QD 8");
    assert!(in_mix > alone, "{in_mix} and {alone}");
}
