//! What filesystems are ranked by, and what is judged apart: sync policies, pooled percentiles, the kernel's zlib, reserved space.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_report::answer::{Answer, ReadingOutcome};
use outcrop_report::section::FigureSlot;
use outcrop_report::{Report, Verdict};
use outcrop_results::{HistogramEntry, HistogramKind, RunView, Value};
use outcrop_schema::filesystem::{
    BANDWIDTH, CODEC_TIME, COMPRESSION, FILE_SIZE, FILESYSTEM, IOPS, JOBS, LATENCY, OPERATION, OPTIONS,
    PREDICTED_LATENCY, SPACE_RATIO, SYNC, THREAD_POOL, WRITE_THROUGHPUT,
};

use crate::filesystem::{Builder, Values, finding};
use crate::filesystem_costs::cell;

fn answer(run: &RunView) -> Answer {
    Report::of(run).layers[0].answer.clone()
}

/// The number and the configuration of a row.
fn reached(answer: &Answer, label: &str) -> (f64, String) {
    let row = answer.capabilities.iter().find(|row| row.label == label);
    let row = row.unwrap_or_else(|| panic!("no {label}: {:?}", answer.capabilities));
    match &row.readings[0].outcome {
        ReadingOutcome::Measured { number, conditions } => (number.value, conditions.clone()),
        ReadingOutcome::Missing(absence) => panic!("{label}: {}", absence.reason),
    }
}

/// Overwrites of two filesystems: synced at the end `ext4` is the faster, and where each is synced `btrfs` is.
fn overwrites() -> RunView {
    let of = |sync| [(OPERATION.name, "overwrite"), (SYNC.name, sync)];
    let p50 = |ns| [(LATENCY.p50, ns)];
    let builder = cell(Builder::new(), ("ext4", "none"), &of("end"), &p50(2_000.0));
    let builder = cell(builder, ("btrfs", "none"), &of("end"), &p50(3_000.0));
    let builder = cell(builder, ("ext4", "none"), &of("each:1"), &p50(263_000.0));
    cell(builder, ("btrfs", "none"), &of("each:1"), &p50(204_000.0)).run
}

#[test]
fn overwrites_are_ranked_within_one_sync_policy_and_the_answer_names_it() {
    let answer = answer(&overwrites());
    let (p50, words) = reached(&answer, "Fastest small overwrite, each write synced, p50");
    assert!(p50 == 204_000.0 && words.contains("btrfs"), "{p50} {words}");
    let (p50, words) = reached(&answer, "Fastest small overwrite, synced at the end, p50");
    assert!(p50 == 2_000.0 && words.contains("ext4"), "{p50} {words}");
    let claims = answer.advice.iter();
    let claims: Vec<_> = claims
        .filter(|claim| claim.topic.starts_with("Small overwrites"))
        .collect();
    let topics: Vec<&str> = claims.iter().map(|claim| claim.topic.as_str()).collect();
    assert_eq!(
        topics,
        [
            "Small overwrites, each write synced",
            "Small overwrites, synced at the end"
        ]
    );
    // What to do is said of writes that last.
    let actions: Vec<_> = claims
        .iter()
        .filter_map(|claim| claim.action.as_deref())
        .collect();
    assert_eq!(
        actions,
        ["Use btrfs none for small overwrites, each write synced: p50 204 µs"]
    );
    assert!(claims[1].text.contains("not yet durable"), "{}", claims[1].text);
}

#[test]
fn the_fastest_writing_has_a_row_for_each_sync_policy() {
    let of = |sync| [(OPERATION.name, "append"), (SYNC.name, sync)];
    let builder = cell(
        Builder::new(),
        ("ext4", "none"),
        &of("end"),
        &[(WRITE_THROUGHPUT, 9e8)],
    );
    let builder = cell(
        builder,
        ("ext4", "none"),
        &of("each:64"),
        &[(WRITE_THROUGHPUT, 2e8)],
    );
    let run = cell(
        builder,
        ("xfs", "none"),
        &of("each:64"),
        &[(WRITE_THROUGHPUT, 3e8)],
    )
    .run;
    let answer = answer(&run);
    assert_eq!(reached(&answer, "Fastest writing, synced at the end").0, 9e8);
    let synced = reached(&answer, "Fastest writing, synced every 64 writes");
    assert_eq!(synced, (3e8, "xfs none".to_owned()));
}

#[test]
fn small_files_that_are_synced_each_are_no_rivals_of_those_that_are_not() {
    let of = |sync| {
        [
            (OPERATION.name, "small-files"),
            (FILE_SIZE.name, "1500"),
            (SYNC.name, sync),
        ]
    };
    let builder = cell(Builder::new(), ("ext4", "none"), &of("end"), &[(IOPS, 9000.0)]);
    let run = cell(builder, ("ext4", "none"), &of("each:1"), &[(IOPS, 8000.0)]).run;
    let answer = answer(&run);
    assert_eq!(
        reached(&answer, "Files of 1500 B: most read, cold, per second").0,
        9000.0
    );
    let synced = "Files of 1500 B (each write synced): most read, cold, per second";
    assert_eq!(reached(&answer, synced).0, 8000.0);
}

/// Reads of two configurations with histograms; trials of the first have too few reads for a p99, those of the second have one.
fn with_few_reads() -> RunView {
    let mut run = Builder::new().btrfs("zstd:3", &[]).btrfs("zstd:1", &[]).run;
    for trial in &mut run.trials {
        let is_few = trial.cell.ends_with("zstd:3");
        let mut histogram = LatencyHistogram::new();
        let (reads, slow) = if is_few { (400, 10) } else { (1000, 40) };
        (0..reads).for_each(|read| histogram.record(if read < slow { 900_000 } else { 200_000 }));
        // In one trial of three the slow reads of the second are a third as slow.
        if !is_few && trial.repetition > 0 {
            histogram = LatencyHistogram::new();
            (0..reads).for_each(|_| histogram.record(300_000));
        }
        trial.values.retain(|value| value.metric != LATENCY.p99.name);
        trial.values.push(match is_few {
            true => Value::unavailable(LATENCY.p99, "too few operations (400) for a p99"),
            false => Value::measured(LATENCY.p99, 300_000.0),
        });
        trial.histograms = vec![HistogramEntry::new(
            "read",
            HistogramKind::Latency,
            0,
            0.0,
            0.4,
            &histogram,
        )];
    }
    run
}

#[test]
fn a_percentile_of_all_trials_together_is_compared_with_such_alone() {
    let run = with_few_reads();
    let answer = answer(&run);
    let rows = answer.capabilities.iter().map(|row| row.label.as_str());
    let rows: Vec<&str> = rows.filter(|label| label.contains("p99")).collect();
    assert_eq!(rows, ["Fastest cold small read, p99 of all trials together"]);
    // The median of the second's p99 is 300 µs; of all its reads together one in seventy-five takes 900 µs, as with the first.
    let (p99, _) = reached(&answer, rows[0]);
    assert!(p99 > 800_000.0, "{p99}");
    // Where all trials have one, their medians are compared.
    let run = Builder::new().btrfs("zstd:3", &[]).btrfs("zstd:1", &[]).run;
    let report = Report::of(&run);
    assert_eq!(
        reached(&report.layers[0].answer, "Fastest cold small read, p99").0,
        520_000.0
    );
}

#[test]
fn a_configuration_that_wins_without_an_opponent_or_ties_says_so() {
    let mut run = with_few_reads();
    for trial in &mut run.trials {
        if !trial.cell.ends_with("zstd:3") {
            trial.histograms.clear();
            trial.values.retain(|value| value.metric != LATENCY.p99.name);
            let reason = "too few operations (197 of at least 1000) for a p99";
            trial.values.push(Value::unavailable(LATENCY.p99, reason));
        }
    }
    let answer = answer(&run);
    let (_, words) = reached(&answer, "Fastest cold small read, p99 of all trials together");
    assert_eq!(words, "btrfs zstd:3; the only one of 2 cells with such a figure");
    // Both read as soon, and take as much of the device.
    for label in ["Fastest cold small read, p50", "Lowest read amplification"] {
        let (_, words) = reached(&answer, label);
        assert!(words.ends_with("; ties with 1 other"), "{label}: {words}");
    }
}

#[test]
fn the_claim_on_small_reads_names_its_metric_and_what_is_ahead_by_another() {
    let soon: Values<'_> = &[(LATENCY.p50, 91_000.0), (IOPS, 1270.0)];
    let often: Values<'_> = &[(LATENCY.p50, 260_000.0), (IOPS, 1850.0)];
    let builder = cell(Builder::new(), ("ext4", "none"), &[], soon);
    let answer = answer(&cell(builder, ("btrfs", "zstd:3"), &[], often).run);
    let mut claims = answer.advice.iter();
    let claim = claims
        .find(|claim| claim.topic == "Fastest small reads, p50")
        .unwrap();
    assert!(claim.brief.starts_with("ext4 none: "), "{}", claim.brief);
    for text in [&claim.brief, &claim.text] {
        assert!(
            text.contains(
                "by reads per second, which include the tail of the latency, btrfs zstd:3 is ahead: 1.85 k IOPS, compared with 1.27 k IOPS"
            ),
            "{text}"
        );
    }
    assert!(
        claim.text.contains("lowest median latency (p50)"),
        "{}",
        claim.text
    );
}

#[test]
fn the_kernels_zlib_is_judged_apart_with_its_factor() {
    let zlib: Values<'_> = &[
        (LATENCY.p50, 716_000.0),
        (CODEC_TIME, 321_000.0),
        (PREDICTED_LATENCY, 437_000.0),
    ];
    let run = Builder::new().btrfs("zstd:3", &[]).btrfs("zlib:3", zlib).run;
    let seen = finding(&run, "prediction-is-observed");
    assert_eq!(seen.verdict, Verdict::Holds, "{}", seen.tested);
    assert!(
        seen.meaning.contains("zlib is judged separately"),
        "{}",
        seen.meaning
    );
    assert!(seen.tested.contains("in 1 cell;"), "{}", seen.tested);
    let apart = finding(&run, "kernel-zlib-is-slower");
    assert_eq!(apart.verdict, Verdict::Holds);
    assert!(
        apart.tested.contains("btrfs zlib:3 is 1.87 (1.87–1.87) ×"),
        "{}",
        apart.tested
    );
    // Where the kernel's is as fast, that is said.
    let fast: Values<'_> = &[(LATENCY.p50, 440_000.0), zlib[1], zlib[2]];
    let run = Builder::new().btrfs("zlib:3", fast).run;
    assert_eq!(
        finding(&run, "kernel-zlib-is-slower").verdict,
        Verdict::DoesNotHold
    );
    assert!(matches!(
        finding(&run, "prediction-is-observed").verdict,
        Verdict::NotTestable(_)
    ));
    let run = Builder::new().btrfs("zstd:3", &[]).run;
    let report = Report::of(&run);
    assert!(
        report.layers[0]
            .findings
            .iter()
            .all(|finding| finding.id != "kernel-zlib-is-slower")
    );
}

#[test]
fn space_that_xfs_sets_aside_is_not_taken_for_that_of_files() {
    let remark = OPTIONS.remark("mounted with rw");
    let verdict = |ratio: f64| {
        let space: Values<'_> = &[(SPACE_RATIO, ratio)];
        let run = Builder::new().cell("xfs", "none", space, &remark).run;
        finding(&run, "space-is-not-reserved").verdict
    };
    // 147.9 MB in use for 81.9 MB, before a remount.
    assert_eq!(verdict(81.9 / 147.9), Verdict::DoesNotHold);
    assert_eq!(verdict(0.99), Verdict::Holds);
}

/// The captions of the figures that are drawn.
fn captions(run: &RunView) -> Vec<(String, String)> {
    let report = Report::of(run);
    let figures = report.layers[0].figures.iter().filter_map(|slot| match slot {
        FigureSlot::Drawn(figure) => Some((figure.id.clone(), figure.caption.clone())),
        FigureSlot::Missing(_) => None,
    });
    figures.collect()
}

#[test]
fn lines_that_a_figure_leaves_out_are_named() {
    let at = |jobs| [(JOBS.name, jobs)];
    let mut builder = Builder::new();
    let levels = (1..=9).map(|level| format!("zstd:{level}"));
    let levels: Vec<String> = levels.collect();
    for (jobs, iops) in [("1", 3571.0), ("4", 9000.0)] {
        for level in &levels {
            builder = cell(builder, ("btrfs", level), &at(jobs), &[(IOPS, iops)]);
        }
    }
    builder = cell(builder, ("btrfs", "lzo"), &at("1"), &[]);
    let captions = captions(&builder.run);
    let (_, caption) = captions
        .iter()
        .find(|(id, _)| id == "fs-latency-by-load")
        .unwrap();
    assert!(
        caption.contains("Not drawn, beyond 8 lines: btrfs zstd:9, closed loop."),
        "{caption}"
    );
    assert!(
        caption.contains("Not drawn, with fewer than two points: btrfs lzo, closed loop."),
        "{caption}"
    );
}

#[test]
fn bars_that_a_figure_leaves_out_are_named() {
    let mut builder = Builder::new();
    let small = [(OPERATION.name, "small-files")];
    for level in -15..=10 {
        let name = if level == 0 {
            "none".to_owned()
        } else {
            format!("zstd:{level}")
        };
        builder = cell(builder, ("btrfs", &name), &small, &[(BANDWIDTH, 5e6)]);
    }
    let mut run = builder.run;
    for trial in run.trials.iter_mut().filter(|trial| trial.cell.ends_with("none")) {
        trial.values.retain(|value| value.metric != IOPS.name);
    }
    let captions = captions(&run);
    let (_, caption) = captions.iter().find(|(id, _)| id == "fs-small-files").unwrap();
    assert!(
        caption.contains("Not drawn, without a value: btrfs none"),
        "{caption}"
    );
    assert!(caption.contains("Not drawn, beyond 24 bars: "), "{caption}");
}

#[test]
fn filesystems_that_differ_in_their_threads_are_rivals_with_names_of_their_own() {
    let threads = |count| [(THREAD_POOL.name, count)];
    let builder = cell(Builder::new(), ("btrfs", "zstd:3"), &threads("1"), &[]);
    let soon: Values<'_> = &[(LATENCY.p50, 150_000.0)];
    let answer = answer(&cell(builder, ("btrfs", "zstd:3"), &threads("8"), soon).run);
    assert!(answer.subject.contains("2 configurations"), "{}", answer.subject);
    assert_eq!(
        reached(&answer, "Fastest cold small read, p50"),
        (150_000.0, "btrfs zstd:3 thread pool 8".to_owned())
    );
    let soonest = answer
        .advice
        .iter()
        .find(|claim| claim.topic == "Fastest small reads, p50");
    let soonest = soonest.unwrap_or_else(|| panic!("{:?}", answer.advice));
    assert!(
        soonest.brief.starts_with("btrfs zstd:3 thread pool 8"),
        "{}",
        soonest.brief
    );
}

#[test]
fn loop_devices_are_spoken_of_where_there_are_such() {
    let said = |run: &RunView| {
        let report = Report::of(run);
        let layer = &report.layers[0];
        let cautions = layer.answer.cautions.iter().map(|caution| caution.text.clone());
        let methods = layer.methods.iter().map(|method| method.quantity.clone());
        (
            cautions.collect::<Vec<_>>().join(" "),
            methods.collect::<Vec<_>>(),
        )
    };
    let mut run = Builder::new().btrfs("none", &[]).run;
    let (cautions, methods) = said(&run);
    assert!(cautions.contains("behind a loop device"), "{cautions}");
    assert!(
        methods[0] == "Filesystems" && !methods.contains(&"Directories".to_owned()),
        "{methods:?}"
    );
    // A directory of the user's has no factors of filesystems that are made.
    for trial in &mut run.trials {
        for factor in [FILESYSTEM.name, COMPRESSION.name] {
            trial.factors.remove(factor);
        }
    }
    let (cautions, methods) = said(&run);
    assert!(!cautions.contains("loop device"), "{cautions}");
    assert!(
        cautions.contains("files in a directory have no names"),
        "{cautions}"
    );
    assert!(
        methods[0] == "Directories" && !methods.contains(&"Filesystems".to_owned()),
        "{methods:?}"
    );
}

#[test]
fn configurations_that_take_exactly_as_little_space_are_a_tie_also_of_one_trial() {
    let of = |ratio: f64| [(SPACE_RATIO, ratio), (LATENCY.p50, 91_000.0)];
    let mut run = Builder::new()
        .btrfs("zstd:1", &of(4.5))
        .btrfs("zstd:3", &of(4.5))
        .btrfs("lzo", &of(2.0))
        .btrfs("none", &of(0.99))
        .run;
    let several = answer(&run);
    run.trials.retain(|trial| trial.repetition == 0);
    for answer in [&several, &answer(&run)] {
        let (_, place) = reached(answer, "Smallest, data ÷ space");
        assert_eq!(place, "btrfs zstd:1; ties with 1 other");
        let smallest = answer
            .advice
            .iter()
            .find(|claim| claim.topic == "Smallest")
            .unwrap();
        for said in [&smallest.brief, &smallest.text] {
            assert!(said.contains("ata ÷ space: a tie with btrfs zstd:3"), "{said}");
        }
    }
    let mut claims = several.advice.iter();
    let price = claims
        .find(|claim| claim.topic == "Price of the least space")
        .unwrap();
    assert!(
        price
            .brief
            .contains("data ÷ space 4.50 (a tie with btrfs zstd:3)"),
        "{}",
        price.brief
    );
}
