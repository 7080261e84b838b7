//! What `outcrop compare` prints.

use outcrop_measure::metric::Provenance;
use outcrop_report::Report;
use outcrop_report::comparison::{
    Detail, comparison_csv, comparison_in_envelope, comparison_markdown, comparison_text, examined,
    of_variants,
};
use outcrop_results::compare::{Side, Verdict};
use outcrop_results::{Envelope, Value, Variant, compare, references};
use outcrop_schema::compression::COMPRESSION_RATIO;
use outcrop_schema::device::{FOREIGN_BYTES_RATIO, PERCENTILES_FROM_SUBMISSION_END};

use crate::fixture::{RunBuilder, complete};
use crate::kv_fixture::{self, Stored};

#[test]
fn a_slower_run_is_worse_row_by_row() {
    let fast = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
    let mut slow = fast.clone();
    slow.name = "slow".into();
    for value in slow.trials.iter_mut().flat_map(|trial| &mut trial.values) {
        if value.metric == "iops" {
            value.value = value.value.map(|iops| iops * 0.5);
        }
    }
    let comparison = compare(&fast, &slow);
    insta::assert_snapshot!("slower", comparison_text(&comparison, &Detail::default()));
    let csv = comparison_csv(&comparison);
    let mut lines = csv.lines();
    let columns = lines.next().unwrap().split(',').count();
    assert_eq!(columns, 20);
    assert!(csv.contains(",iops,1/s,") && csv.contains(",worse,") && csv.contains(",measured,"));
    assert_eq!(lines.count(), comparison.rows.len());
    let document = comparison_in_envelope(&comparison, Envelope::of("compare")).unwrap();
    assert_eq!(document.details["candidate"], "slow");
    assert_eq!(document.rows.len(), comparison.rows.len());
}

#[test]
fn of_two_mixes_the_latency_of_reads_comes_first_and_their_number_is_not_compared() {
    let mut run = RunBuilder::new(8).cells(&[4096], &[32], &[100, 70]).build();
    assert!(of_variants(&run).is_none());
    for trial in &mut run.trials {
        let is_pure = trial.factors["read_write_mix"] == "100:0";
        trial.variant = Some(Variant {
            name: if is_pure { "a" } else { "b" }.to_owned(),
            pair: "mix-0".to_owned(),
        });
    }
    let both = of_variants(&run).expect("there are two");
    let page = Report::of(&run).to_html();
    assert!(page.contains("The two variants compared") && page.contains("device, read latency p99: "));
    let text = comparison_text(&both, &Detail::default());
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words}: {text}"));
    assert!(
        place("device, read latency p99: ") < place("device, IOPS: "),
        "{text}"
    );
    assert!(!text.contains("read IOPS:"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("the read write mix sets the figure, and differs"),
        "{text}"
    );
}

#[test]
fn cells_are_in_the_order_of_their_values() {
    let run = RunBuilder::new(5).cells(&[4096], &[2, 16, 128], &[100]).build();
    let text = comparison_text(&compare(&run, &run), &Detail::default());
    let places = ["  QD 2 ", "  QD 16 ", "  QD 128 "].map(|label| text.find(label));
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
}

#[test]
fn stores_are_in_the_order_of_their_tables_by_codec_then_level_then_block_size() {
    let cell = |codec, block_size| Stored {
        codec,
        block_size,
        filesystem: "ext4",
        throughput: 1e5,
        stored: 5e7,
    };
    let order = [
        ("lz4", "4KiB"),
        ("lz4", "16KiB"),
        ("zstd:3", "4KiB"),
        ("zstd:3", "64KiB"),
        ("zstd:19", "4KiB"),
    ];
    let mut cells = order.map(|(codec, block_size)| cell(codec, block_size));
    cells.reverse();
    let run = kv_fixture::of(&cells);
    let text = comparison_text(&compare(&run, &run), &Detail::default());
    let places = order.map(|(codec, block_size)| text.find(&format!("{codec} {block_size}")));
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{text}");
}

#[test]
fn what_repeating_does_not_change_is_better_or_worse_by_any_difference_and_the_legend_says_so() {
    let one = crate::compression_fixture::complete();
    let mut other = one.clone();
    let ratios = other.trials.iter_mut().flat_map(|trial| &mut trial.values);
    for ratio in ratios.filter(|value| value.metric == COMPRESSION_RATIO.name) {
        ratio.value = ratio.value.map(|value| value * 1.01);
    }
    let text = comparison_text(&compare(&one, &other), &Detail::default());
    let rows: Vec<&str> = text.lines().filter(|line| line.ends_with(" better")).collect();
    assert!(!rows.is_empty(), "{text}");
    assert!(
        text.contains("Rows without an interval are the same in every repetition"),
        "{text}"
    );
    let speeds = comparison_text(&compare(&complete(), &complete()), &Detail::default());
    assert!(!speeds.contains("Rows without an interval"), "{speeds}");
}

#[test]
fn the_rows_that_are_counted_are_all_rows() {
    let comparison = compare(&complete(), &complete());
    let text = comparison_text(&comparison, &Detail::default());
    let number_before = |words: &str| -> usize {
        let (before, _) = text
            .split_once(words)
            .unwrap_or_else(|| panic!("no {words}: {text}"));
        before.split_whitespace().last().unwrap().parse().unwrap()
    };
    let shown = text
        .lines()
        .filter(|line| line.starts_with("  ") && line.ends_with(" same"));
    let all = shown.count()
        + number_before(" rows: ")
        + number_before(" rows repeat others")
        + comparison.rows.len()
        - comparison.comparable().count();
    assert_eq!(all, comparison.rows.len(), "{text}");
}

#[test]
fn reasons_without_a_ratio_are_folded_unless_they_are_the_answer() {
    let run = complete();
    let text = |is_all| {
        let detail = Detail {
            is_all,
            ..Detail::default()
        };
        comparison_text(&compare(&run, &run), &detail)
    };
    let (short, full) = (text(false), text(true));
    assert!(short.contains("unavailable in a run. --all gives"), "{short}");
    assert!(!short.contains("too few operations in this test"), "{short}");
    assert!(full.contains("too few operations in this test"), "{full}");
}

#[test]
fn a_reference_that_states_too_little_is_not_compared_and_the_reasons_are_told() {
    let reference = references::load("toshiba-kxg60znv256g-fio").unwrap();
    let text = comparison_text(&compare(&reference, &complete()), &Detail::default());
    assert!(text.contains("not comparable: "), "{text}");
    assert!(text.contains("state"), "{text}");
    assert!(text.contains(", some for several reasons\n"), "{text}");
}

/// Two disks differ in dozens of readings: those that tell the disks apart come first, and the rest is counted.
#[test]
fn many_differences_of_two_machines_are_counted_and_those_that_matter_are_named() {
    let mut one = RunBuilder::new(5).cells(&[4096], &[1], &[100]).build();
    let mut other = one.clone();
    let environment = |disk: &str| {
        let mut readings: serde_json::Map<String, serde_json::Value> =
            (0..19).map(|index| (format!("a_{index}"), disk.into())).collect();
        let storage = serde_json::json!({"device": {"model": disk, "name": disk}});
        readings.insert("storage".to_owned(), storage);
        serde_json::Value::Object(readings)
    };
    (one.environment, other.environment) = (environment("this"), environment("that"));
    let text = |is_all| {
        let detail = Detail {
            is_all,
            ..Detail::default()
        };
        comparison_text(&compare(&one, &other), &detail)
    };
    let (short, full) = (text(false), text(true));
    assert_eq!(short.matches("differs:   ").count(), 5, "{short}");
    for named in [
        "differs:   storage.device.model:\n           this in the baseline, that in the candidate\n",
        "differs:   storage.device.name:\n",
        "           and 16 more readings of the environment: --all or --format json\n",
    ] {
        assert!(short.contains(named), "{named}: {short}");
    }
    assert_eq!(full.matches("differs:   ").count(), 21, "{full}");
}

#[test]
fn what_was_not_alike_stands_above_the_rows_and_the_rows_that_it_explains_are_undecided() {
    let fast = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
    let mut slow = fast.clone();
    for trial in &mut slow.trials {
        trial.others_cpu_share = Some(0.9);
        trial.duration_s *= 2.0;
        for value in trial.values.iter_mut().filter(|value| value.metric == "iops") {
            value.value = value.value.map(|iops| iops * 0.5);
        }
    }
    let mut quiet = fast.clone();
    for trial in &mut quiet.trials {
        trial.others_cpu_share = Some(0.1);
    }
    let text = comparison_text(&compare(&quiet, &slow), &Detail::default());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "other processes used 10 % of the CPUs in the baseline, 90 % in the candidate (in the cell where they differ most)",
        "Where the candidate is worse or the same in a time or a rate, the row is undecided.",
        "trials: ",
        "IOPS: 2 undecided of 2",
        "the machine or its storage was busier on the side that looks worse",
    ] {
        assert!(words.contains(expected), "{expected}: {text}");
    }
    let alike = comparison_text(&compare(&quiet, &quiet), &Detail::default());
    assert!(
        !alike.contains("load: ") && !alike.contains("trials: "),
        "{alike}"
    );
}

#[test]
fn a_load_that_only_some_cells_had_is_said_of_their_rows_and_of_no_other() {
    let calm = RunBuilder::new(7)
        .cells(&[4096, 16_384, 65_536], &[8], &[100])
        .build();
    let run = |of_4k: [f64; 7]| {
        let mut run = calm.clone();
        for trial in &mut run.trials {
            let of_others = match trial.factors["io_block_size"].as_str() {
                "4KiB" => of_4k[trial.repetition as usize],
                _ => 0.0,
            };
            trial.values.push(Value::measured(FOREIGN_BYTES_RATIO, of_others));
            for value in trial.values.iter_mut().filter(|value| value.metric == "iops") {
                value.value = value.value.map(|iops| iops * 0.5);
            }
        }
        run
    };
    let mut before = calm.clone();
    for trial in &mut before.trials {
        trial.values.push(Value::measured(FOREIGN_BYTES_RATIO, 0.0));
    }
    let words = |of_4k: [f64; 7]| {
        let text = comparison_text(&compare(&before, &run(of_4k)), &Detail::default());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let in_all = words([2.65; 7]);
    for expected in [
        "the device moved 0 for others in the baseline, 2.65 in the candidate. This applies to 1 of 3 cells: 4KiB. Where the candidate is worse or the same there in a time or a rate, the row is undecided.",
        "device, IOPS: 2 worse of 3, 1 undecided",
    ] {
        assert!(in_all.contains(expected), "{expected}: {in_all}");
    }
    // Three of seven trials: the median of the seven does not show it.
    let in_some = words([0.02, 0.02, 0.48, 0.48, 0.07, 0.03, 0.47]);
    for expected in [
        "the device moved more for others in 0 % of the trials of the baseline, in 43 % of those of the candidate. This applies to 1 of 3 cells: 4KiB. ",
        "device, IOPS: 2 worse of 3, 1 undecided",
    ] {
        assert!(in_some.contains(expected), "{expected}: {in_some}");
    }
}

#[test]
fn a_side_whose_load_was_not_recorded_is_said_to_count_as_idle() {
    let theirs = {
        let mut run = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
        for trial in &mut run.trials {
            trial.others_cpu_share = None;
            for value in &mut trial.values {
                value.provenance = Provenance::Imported;
            }
        }
        run
    };
    let mut busy = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
    for trial in &mut busy.trials {
        trial.others_cpu_share = Some(0.6);
    }
    let text = comparison_text(&compare(&theirs, &busy), &Detail::default());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "other processes used 60 % of the CPUs in the candidate; the load of the baseline was not recorded. Where the \
             candidate is worse or the same in a time or a rate, the row is undecided."
        ),
        "{words}"
    );
}

#[test]
fn checks_that_a_run_failed_stand_above_the_rows_of_a_comparison_in_every_form() {
    let calm = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
    let mut disturbed = calm.clone();
    for trial in &mut disturbed.trials {
        trial.values.push(Value::measured(FOREIGN_BYTES_RATIO, 9.4));
        for value in trial.values.iter_mut().filter(|value| value.metric == "iops") {
            value.value = value.value.map(|iops| iops * 0.5);
        }
    }
    let comparison = compare(&disturbed, &calm);
    let checks = examined(Side::Baseline, &disturbed).failed_checks;
    let detail = Detail {
        failed_checks: Some([checks, examined(Side::Candidate, &calm).failed_checks].concat()),
        ..Detail::default()
    };
    let said = "the device also served other requests, or the kernel counted other bytes (10 of 10 trials)";
    let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = one_line(comparison_text(&comparison, &detail));
    for text in [&text, &one_line(comparison_markdown(&comparison, &detail))] {
        assert!(
            text.contains("failed in the baseline: ") && text.contains(said),
            "{text}"
        );
        assert_eq!(text.matches(said).count(), 1, "{text}");
    }
    assert!(
        text.contains("for each byte of the trials the device moved 9.40 for others in the baseline, "),
        "{text}"
    );
    assert!(text.contains("device, IOPS: 2 undecided of 2"), "{text}");
    let json = detail.checks_in_json().unwrap().expect("looked at").to_string();
    assert!(
        json.contains(r#""check":"bytes-are-the-kernels""#) && json.contains(r#""side":"baseline""#),
        "{json}"
    );
    // Of runs of which nothing is compared they say nothing.
    let elsewhere = RunBuilder::new(5).cells(&[65_536], &[1, 8], &[100]).build();
    let apart = compare(&disturbed, &elsewhere);
    for text in [
        comparison_text(&apart, &detail),
        comparison_markdown(&apart, &detail),
    ] {
        assert!(!text.contains("quality check"), "{text}");
    }
}

#[test]
fn runs_of_which_no_cell_matches_are_told_in_which_factors_and_how_an_import_states_them() {
    let ours = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
    let mut theirs = ours.clone();
    for trial in &mut theirs.trials {
        trial.factors.insert("engine".to_owned(), "libaio".to_owned());
        trial.factors.remove("content");
    }
    let how = "outcrop import fio FILE --assume FACTOR=VALUE";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Of a run of ours there is nothing to supply.
    let text = comparison_text(&compare(&ours, &theirs), &Detail::default());
    assert!(
        text.contains("not stated in the candidate") && !words(&text).contains(how),
        "{text}"
    );
    for value in theirs.trials.iter_mut().flat_map(|trial| &mut trial.values) {
        value.provenance = Provenance::Imported;
    }
    let text = comparison_text(&compare(&ours, &theirs), &Detail::default());
    assert!(text.contains("Nothing can be compared."), "{text}");
    assert!(
        text.contains("no match in engine: io_uring in the baseline, libaio in the candidate"),
        "{text}"
    );
    assert!(!text.contains("no match in queue depth"), "{text}");
    assert!(
        words(&text).contains("content: random in the baseline, not stated in the candidate")
            && words(&text).contains(how),
        "{text}"
    );
}

#[test]
fn imported_completion_latencies_beside_ours_are_said_once_to_be_lower_by_definition() {
    let ours = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
    let mut imported = ours.clone();
    for trial in &mut imported.trials {
        trial
            .notes
            .push(PERCENTILES_FROM_SUBMISSION_END.remark("percentiles are of clat"));
    }
    let comparison = compare(&ours, &imported);
    let detail = Detail::default();
    let note = "The percentiles of latency of the candidate are lower by definition";
    for text in [
        comparison_text(&comparison, &detail),
        comparison_markdown(&comparison, &detail),
    ] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words.matches(note).count(), 1, "{text}");
        assert!(words.contains("where the submission of a request ends"), "{text}");
    }
    let document = comparison_in_envelope(&comparison, Envelope::of("compare")).unwrap();
    let difference = &document.details["latency_differences"][0];
    assert_eq!(difference["lower"], "candidate");
    assert!(
        difference["note"].as_str().unwrap().starts_with(note),
        "{difference}"
    );
    let alike = comparison_text(&compare(&imported, &imported), &detail);
    assert!(!alike.contains("by definition"), "{alike}");
}

#[test]
fn a_table_in_markdown_or_csv_says_by_which_rule_rows_are_judged_and_why_some_are_not() {
    let of = |repetitions: u32| {
        let run = RunBuilder::new(repetitions)
            .cells(&[4096], &[1, 8], &[100])
            .build();
        compare(&run, &run.clone())
    };
    let five = of(5);
    assert!(
        five.rows
            .iter()
            .any(|row| row.verdict == Verdict::Same && row.drift > 0.0),
        "what lies within the margin is the same whatever drift is allowed for"
    );
    let table = comparison_markdown(&five, &Detail::default());
    for sentence in [
        "Same: the interval lies within ± 5 %.",
        "Better or worse: it lies beyond ± 5 %, by which two separate runs may differ.",
        "Same has no such allowance: drift may also hide a change.",
    ] {
        assert!(table.contains(sentence), "{table}");
        assert!(comparison_text(&five, &Detail::default()).contains(sentence));
    }
    let csv = comparison_csv(&five);
    assert!(
        csv.lines().next().unwrap().ends_with(",verdict,reason,drift"),
        "{csv}"
    );
    assert!(csv.lines().any(|line| line.ends_with(",same,,0.05")), "{csv}");
    let three = comparison_markdown(&of(3), &Detail::default());
    assert!(
        three.contains("| undecided | fewer than 5 repetitions on a side"),
        "{three}"
    );
}
