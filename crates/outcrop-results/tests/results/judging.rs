//! Which data a comparison refuses, what it calls the same, what it assumes, and how often it finds a change where there is none.

use std::collections::BTreeMap;

use outcrop_measure::Seed;
use outcrop_measure::seed::Generator;
use outcrop_results::references::parse;
use outcrop_results::{
    CompareOptions, Comparison, DataIdentity, FailIf, NotComparable, RunView, TrialEntry, Undecided, Value,
    Verdict, compare, compare_with,
};
use outcrop_schema::compression::{
    BLOCK_RATIOS, COMPRESSION_RATIO, COMPRESSION_RATIO_HIGH, COMPRESSION_RATIO_LOW, SAMPLED_SHARE, SPEED,
};
use rand::Rng;
use serde_json::json;

use crate::comparisons::{repeated, row};
use crate::samples::{check_all, run_of, trial, usual};

fn identity(whole: &str, taken: &str, taken_bytes: u64) -> Option<DataIdentity> {
    Some(DataIdentity {
        whole: whole.to_owned(),
        taken: taken.to_owned(),
        taken_bytes,
    })
}

/// Five trials of a codec over data of one name.
fn over(
    parent: &std::path::Path,
    name: &str,
    subject: &str,
    data: Option<&DataIdentity>,
    ratio: f64,
) -> RunView {
    let trials = repeated(5, |repetition| TrialEntry {
        layer: "compression".to_owned(),
        subject: subject.to_owned(),
        factors: BTreeMap::new(),
        data: data.cloned(),
        seed: u64::from(repetition) + ratio.to_bits(),
        ..trial(
            1,
            repetition,
            &[
                Value::measured(COMPRESSION_RATIO, ratio),
                Value::measured(SPEED.compress, 3e8 + 1e5 * f64::from(repetition)),
            ],
        )
    });
    run_of(parent, name, &trials)
}

fn all_reasons(comparison: &Comparison) -> Vec<NotComparable> {
    let reasons = comparison.rows.iter().map(|row| match &row.verdict {
        Verdict::NotComparable(reasons) => reasons.clone(),
        other => panic!("{}: {other:?}", row.metric),
    });
    reasons.flatten().collect()
}

#[test]
fn runs_of_other_data_are_not_comparable_whatever_their_files_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, subject: &str, whole: &str| {
        over(
            folder.path(),
            name,
            subject,
            identity(whole, whole, 10_000_000).as_ref(),
            2.0,
        )
    };
    let dickens = of("a", "dickens 10.2 MB", "whole-1");
    let comparison = compare(&dickens, &of("b", "xml 10.2 MB", "whole-2"));
    let expected = "the data differ: dickens 10.2 MB in the baseline, xml 10.2 MB in the candidate";
    assert!(
        all_reasons(&comparison)
            .iter()
            .all(|reason| reason.to_string() == expected)
    );
    let subjects = (&comparison.baseline_subjects, &comparison.candidate_subjects);
    assert!(
        subjects.0.contains("compression: dickens 10.2 MB")
            && subjects.1.contains("compression: xml 10.2 MB")
    );

    let same_name = compare(&dickens, &of("c", "dickens 10.2 MB", "whole-3"));
    assert!(
        all_reasons(&same_name)[0]
            .to_string()
            .ends_with("(same name and size, different content)")
    );
    let moved = compare(&dickens, &of("d", "copy-of-dickens 10.2 MB", "whole-1"));
    assert_eq!(row(&moved, "compression_ratio").verdict, Verdict::Same);
    assert_eq!(row(&moved, "compress_speed").verdict, Verdict::Same);
}

#[test]
fn a_publication_is_compared_only_with_a_run_of_the_data_that_it_states() {
    let folder = tempfile::tempdir().unwrap();
    let run = over(
        folder.path(),
        "a",
        "dickens 10.2 MB",
        identity("1", "1", 10_000_000).as_ref(),
        2.0,
    );
    let verdict = |corpus: &str, assumed: &[(&str, &str)]| {
        let header = "layer,subject,corpus,metric,unit,value,source";
        let text = format!("{header}\ncompression,zstd,{corpus},compression_ratio,ratio,2.0,a paper\n");
        let options = CompareOptions {
            assumed: assumed
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..CompareOptions::default()
        };
        let comparison = compare_with(
            &run,
            &parse("paper", "a paper", &[], text.as_bytes()).unwrap(),
            &options,
        )
        .unwrap();
        match &row(&comparison, "compression_ratio").verdict {
            Verdict::NotComparable(reasons) => reasons.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    };
    assert_eq!(
        verdict("", &[]),
        ["the candidate does not state its corpus; if you know it, give --assume corpus=VALUE"]
    );
    assert_eq!(
        verdict("dick", &[]),
        ["the data differ: dickens 10.2 MB in the baseline, dick in the candidate"]
    );
    assert_eq!(verdict("dickens", &[]), [""; 0]);
    assert_eq!(verdict("", &[("corpus", "dickens")]), [""; 0]);
}

#[test]
fn a_sample_of_another_size_is_not_comparable_and_another_draw_decides_no_ratio() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, taken: &str, bytes: u64, ratio: f64| {
        over(
            folder.path(),
            name,
            "corpus",
            identity("whole-1", taken, bytes).as_ref(),
            ratio,
        )
    };
    let first = of("a", "draw-1", 16 << 20, 3.37);
    let smaller = compare(&first, &of("b", "draw-2", 1 << 20, 3.4));
    assert!(
        all_reasons(&smaller)
            .iter()
            .all(|reason| matches!(reason, NotComparable::SampleSizeDiffers { .. }))
    );
    let other_draw = compare(&first, &of("c", "draw-2", (16 << 20) - 4096, 3.57));
    assert_eq!(
        row(&other_draw, "compression_ratio").verdict,
        Verdict::Undecided(Undecided::OtherSample)
    );
    assert_eq!(row(&other_draw, "compress_speed").verdict, Verdict::Same);
    let condition: FailIf = "compression_ratio > +1%".parse().unwrap();
    let refused = check_all(&[condition], &other_draw).unwrap_err().to_string();
    assert!(refused.contains("the same --seed"), "{refused}");
    let same_draw = compare(&first, &of("d", "draw-1", 16 << 20, 3.57));
    assert_eq!(row(&same_draw, "compression_ratio").verdict, Verdict::Better);
}

/// The audit's pair: seeds 11 and 12 of one corpus, 1.059 (1.059 to 1.059) "different" before.
#[test]
fn another_draw_of_the_same_data_is_compared_by_the_intervals_of_both_draws() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, [low, ratio, high]: [f64; 3]| {
        let values = [
            Value::measured(COMPRESSION_RATIO, ratio),
            Value::derived(COMPRESSION_RATIO_LOW, low),
            Value::derived(COMPRESSION_RATIO_HIGH, high),
            Value::measured(SAMPLED_SHARE, 0.2),
            Value::measured(BLOCK_RATIOS[6], ratio),
        ];
        let trials = repeated(5, |repetition| TrialEntry {
            layer: "compression".to_owned(),
            factors: BTreeMap::new(),
            data: identity("whole-1", name, 16 << 20),
            ..trial(1, repetition, &values)
        });
        run_of(folder.path(), name, &trials)
    };
    let (a, b) = (of("a", [3.08, 3.37, 3.73]), of("b", [3.26, 3.57, 3.95]));
    let comparison = compare(&a, &b);
    let ratio = row(&comparison, "compression_ratio");
    let interval = ratio.interval.unwrap();
    assert_eq!(ratio.verdict, Verdict::Undecided(Undecided::Wide));
    assert!(interval.low < 0.95 && interval.high > 1.15, "{interval:?}");
    let percentile = row(&comparison, "block_ratio_p60");
    assert_eq!(percentile.verdict, Verdict::Undecided(Undecided::OtherSample));
    let condition: FailIf = "compression_ratio < -1%".parse().unwrap();
    let back = compare(&b, &a);
    assert!(check_all(&[condition], &back).unwrap()[0].offending.is_empty());
    assert_eq!(
        row(&compare(&a, &of("c", [4.9, 5.0, 5.1])), "compression_ratio").verdict,
        Verdict::Better
    );
}

/// Ten repetitions each, of one noise, and a candidate that is faster by so much.
fn changed_by(change: f64, margin: f64) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, iops: f64| {
        let trials = repeated(10, |repetition| {
            trial(
                32,
                repetition,
                &usual(iops * (1.0 + 0.001 * f64::from(repetition)), 4e5),
            )
        });
        run_of(folder.path(), name, &trials)
    };
    let (a, b) = (side("a", 1e5), side("b", 1e5 * change));
    let options = CompareOptions {
        margin,
        drift: 0.0,
        ..CompareOptions::default()
    };
    let comparison = compare_with(&a, &b, &options).unwrap();
    row(&comparison, "iops").verdict.clone()
}

#[test]
fn what_lies_within_the_margin_is_the_same_and_nothing_else_is() {
    assert_eq!(changed_by(1.0, 0.05), Verdict::Same);
    assert_eq!(
        changed_by(1.02, 0.05),
        Verdict::Same,
        "a change that is known, and too small to matter"
    );
    assert_eq!(changed_by(1.02, 0.01), Verdict::Better);
    assert_eq!(changed_by(1.2, 0.05), Verdict::Better);
    assert_eq!(changed_by(0.8, 0.05), Verdict::Worse);
    assert_eq!(
        changed_by(1.0, 0.001),
        Verdict::Undecided(Undecided::Wide),
        "that its interval contains 1 does not make it the same"
    );
}

#[test]
fn what_a_condition_finds_the_table_calls_worse() {
    let folder = tempfile::tempdir().unwrap();
    // One metric of one cell among many cells changes, by more than chance.
    let side = |name: &str, slower: f64| {
        let trials: Vec<_> = [1, 2, 4, 8, 16, 32, 64, 128]
            .into_iter()
            .flat_map(|depth| {
                repeated(5, move |repetition| {
                    let noise = 1.0 + 0.002 * f64::from(repetition);
                    trial(
                        depth,
                        repetition,
                        &usual(1e5 * noise, 4e5 * if depth == 8 { slower } else { noise }),
                    )
                })
            })
            .collect();
        run_of(folder.path(), name, &trials)
    };
    let (a, b) = (side("a", 1.0), side("b", 1.5));
    let condition: FailIf = "p99 > +5%".parse().unwrap();
    let conditions = [condition];
    let options = CompareOptions {
        asked: FailIf::metrics(&conditions),
        ..CompareOptions::default()
    };
    let comparison = compare_with(&a, &b, &options).unwrap();
    let reports = check_all(&conditions, &comparison).unwrap();
    let met: Vec<&Verdict> = reports[0].offending.iter().map(|row| &row.verdict).collect();
    let asked = comparison
        .rows
        .iter()
        .filter(|row| row.metric == conditions[0].metric);
    let worse: Vec<&Verdict> = asked
        .map(|row| &row.verdict)
        .filter(|verdict| **verdict == Verdict::Worse)
        .collect();
    assert_eq!(met, worse, "the gate and the table are one");
}

#[test]
fn two_filesystems_of_one_machine_are_not_two_machines() {
    let folder = tempfile::tempdir().unwrap();
    let mut a = run_of(
        folder.path(),
        "a",
        &repeated(5, |i| trial(1, i, &usual(1e5, 4e5))),
    );
    let mut b = a.clone();
    let storage = |model: &str, kind: &str| json!({"cpu": {"model": "A"}, "storage": {"device": {"model": model}, "filesystem": {"type": kind}}});
    a.environment = storage("QEMU disk", "ext4");
    b.environment = storage("none", "tmpfs");
    let comparison = compare(&a, &b);
    assert!(!comparison.is_different_machine && comparison.is_different_storage);
}

#[test]
fn an_assumption_makes_a_publication_comparable_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_of(
        folder.path(),
        "a",
        &repeated(8, |i| trial(32, i, &usual(1e5, 4e5))),
    );
    let csv = "subject,access_pattern,read_write_mix,io_block_size_kib,queue_depth,span,state,metric,unit,value,source\n\
               Drive,random,100:0,4,32,2 GiB,,iops,IOPS,50000,me\n";
    let published = parse("drive", "a drive", &[], csv.as_bytes()).unwrap();
    let assuming = |name: &str, value: &str| {
        let assumed = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        compare_with(
            &published,
            &run,
            &CompareOptions {
                assumed,
                ..CompareOptions::default()
            },
        )
    };
    let refused = compare(&published, &run);
    let reason = all_reasons(&refused)[0].to_string();
    assert!(
        reason.contains("does not state its state") && reason.contains("--assume state="),
        "{reason}"
    );
    let compared = assuming("state", "as found").unwrap();
    assert_eq!(row(&compared, "iops").verdict, Verdict::Better);
    assert_eq!(compared.assumed["state"], "as found");
    // What is stated is not assumed away.
    let contradicted = assuming("span", "1GiB").unwrap_err().to_string();
    assert!(
        contradicted.ends_with("the publication states its span in each cell that has one"),
        "{contradicted}"
    );
    let mut options = CompareOptions::default();
    options.assumed.insert("span".to_owned(), "1GiB".to_owned());
    let of_runs = compare_with(&run, &run, &options).unwrap_err().to_string();
    assert!(of_runs.contains("neither side is a publication"), "{of_runs}");
    let unknown = assuming("colour", "blue").unwrap_err().to_string();
    assert!(
        unknown.contains("colour=blue") && unknown.contains("state"),
        "{unknown}"
    );
}

fn uniform(rng: &mut Generator) -> f64 {
    rng.next_u64() as f64 / 2f64.powi(64)
}

/// Nearly normal, with a standard deviation of 1.
pub(crate) fn normal(rng: &mut Generator) -> f64 {
    (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0
}

/// A run of four cells on a machine with so much noise (0.03 for 3 %) and a neighbour now and then.
pub(crate) fn noisy(base: &RunView, rng: &mut Generator, repetitions: u32, noise: f64) -> RunView {
    let mut value = |level: f64| {
        let deviation = normal(rng);
        let disturbed = if uniform(rng) < 0.1 { 0.7 } else { 1.0 };
        level * disturbed * (1.0 + noise * deviation)
    };
    let depths = [1, 4, 16, 64];
    let trials = depths
        .into_iter()
        .flat_map(|depth| (0..repetitions).map(move |repetition| (depth, repetition)))
        .map(|(depth, repetition)| trial(depth, repetition, &usual(value(1e5), 1e10 / value(1e5))))
        .collect();
    RunView {
        trials,
        ..base.clone()
    }
}

/// The audit's gate, at fixed seeds: two of two pairs of equal runs failed it.
#[test]
fn equal_runs_fail_a_gate_in_one_of_twenty_pairs_at_most_and_a_regression_fails_it() {
    const PAIRS: u32 = 400;
    let folder = tempfile::tempdir().unwrap();
    let base = run_of(folder.path(), "base", &[]);
    let conditions: Vec<FailIf> = ["p99 > +5%", "iops < -3%"]
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
    // The machine does not drift: what holds the rate is the test alone.
    let steady = CompareOptions {
        drift: 0.0,
        ..CompareOptions::default()
    };
    for repetitions in [5, 7, 10] {
        let (mut alarms, mut judged, mut found) = (0, 0, 0);
        for pair in 0..PAIRS {
            let mut rng = Seed(21)
                .derive_index(repetitions.into())
                .derive_index(pair.into())
                .rng();
            let (a, mut b) = (
                noisy(&base, &mut rng, repetitions, 0.03),
                noisy(&base, &mut rng, repetitions, 0.03),
            );
            let is_met = |comparison: &Comparison| {
                let reports = check_all(&conditions, comparison).unwrap();
                reports.iter().any(|report| !report.offending.is_empty())
            };
            let comparison = compare_with(&a, &b, &steady).unwrap();
            alarms += u32::from(is_met(&comparison));
            judged += u32::from(
                comparison
                    .rows
                    .iter()
                    .any(|row| matches!(row.verdict, Verdict::Better | Verdict::Worse)),
            );
            for value in b
                .trials
                .iter_mut()
                .flat_map(|trial| &mut trial.values)
                .filter(|value| value.metric == "iops")
            {
                value.value = value.value.map(|iops| iops * 0.7);
            }
            found += u32::from(is_met(&compare_with(&a, &b, &steady).unwrap()));
        }
        // One in twenty, and three standard deviations of a share of so many pairs.
        let allowed = f64::from(PAIRS) * 0.05 + 3.0 * (f64::from(PAIRS) * 0.05 * 0.95).sqrt();
        assert!(
            f64::from(alarms) <= allowed,
            "{repetitions} repetitions: {alarms} of {PAIRS} pairs"
        );
        assert!(
            f64::from(judged) <= allowed,
            "{repetitions} repetitions: {judged} of {PAIRS} tables"
        );
        assert!(
            found > PAIRS / 2,
            "{repetitions} repetitions: only {found} of {PAIRS} regressions found"
        );
    }
}
