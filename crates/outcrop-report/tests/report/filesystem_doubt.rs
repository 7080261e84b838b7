//! What intervals leave open about filesystems: predictions, and rivals that are known badly.

use outcrop_report::answer::{Claim, ReadingOutcome};
use outcrop_report::{Constraints, Report, Verdict};
use outcrop_results::RunView;
use outcrop_schema::filesystem::{
    CODEC_TIME, COMPRESSED_SHARE, FILE_SIZE, IOPS, LATENCY, OPERATION, OPTIONS, PREDICTED_LATENCY,
    QUEUE_DEPTH, READ_AMPLIFICATION, SPACE_RATIO, SYNC,
};

use crate::device_limits::set;
use crate::filesystem::{Builder, Values, finding};
use crate::filesystem_costs::cell;

/// The trials of a cell read with these median latencies, in µs.
fn with_p50s(mut run: RunView, cell: &str, p50s_us: [f64; 3]) -> RunView {
    for trial in run.trials.iter_mut().filter(|trial| trial.cell == cell) {
        let p50_ns = p50s_us[trial.repetition as usize] * 1e3;
        set(trial, LATENCY.p50, p50_ns);
    }
    run
}

/// Predicted: 278 µs, so that a median of 222 to 348 µs is near.
fn predicted(p50s_us: [f64; 3]) -> RunView {
    with_p50s(Builder::new().btrfs("zstd:1", &[]).run, "btrfs zstd:1", p50s_us)
}

#[test]
fn a_prediction_is_neither_shown_nor_refuted_where_the_interval_reaches_the_limit() {
    const ID: &str = "prediction-is-observed";
    // The median is on either side of the limit.
    for (p50s_us, said) in [
        (
            [221.0, 206.0, 253.0],
            "btrfs zstd:1: latency 0.795 (0.741–0.910) × predicted",
        ),
        (
            [230.0, 206.0, 253.0],
            "btrfs zstd:1: latency 0.827 (0.741–0.910) × predicted",
        ),
    ] {
        let open = finding(&predicted(p50s_us), ID);
        assert!(
            matches!(&open.verdict, Verdict::NotTestable(reason) if reason.contains(said)),
            "{open:?}"
        );
        assert!(
            open.tested.contains("0.80 to 1.25 times") && open.tested.contains(said),
            "{open:?}"
        );
        assert_eq!(open.meaning, "");
    }
    let refuted = finding(&predicted([150.0, 140.0, 160.0]), ID);
    assert_eq!(refuted.verdict, Verdict::DoesNotHold);
    assert!(
        refuted
            .tested
            .contains("1 outside: btrfs zstd:1: latency 0.540 (0.504–0.576) × predicted"),
        "{refuted:?}"
    );
    assert!(refuted.meaning.contains("do not predict"), "{refuted:?}");
    let shown = finding(&predicted([260.0, 250.0, 270.0]), ID);
    assert_eq!(shown.verdict, Verdict::Holds);
    assert!(
        shown
            .meaning
            .contains("predict a configuration that was not tried"),
        "{shown:?}"
    );
}

#[test]
fn one_time_of_the_codec_does_not_refute_a_prediction_that_half_or_twice_of_it_would_meet() {
    const ID: &str = "prediction-is-observed";
    // 146 µs of the 278 µs are the codec's: it may be 205 to 424 µs.
    let is_open = |run: &RunView, said: &str| {
        let open = finding(run, ID);
        let Verdict::NotTestable(reason) = &open.verdict else {
            panic!("{open:?}");
        };
        assert!(
            reason.contains("the codec was timed once in this run, so how far its time varies is unknown: ")
                && reason.ends_with("Another run tells."),
            "{reason}"
        );
        assert!(reason.contains(said) && !reason.contains("interval"), "{reason}");
        assert!(
            open.tested
                .contains(&format!("none is outside; 1 open, by the codec's time: {said}"))
                && open.tested.contains("half and with twice the codec's time"),
            "{open:?}"
        );
        assert_eq!(open.meaning, "");
    };
    is_open(
        &predicted([170.0, 160.0, 180.0]),
        "btrfs zstd:1: latency 0.612 (0.576–0.647) × predicted",
    );
    is_open(
        &predicted([500.0, 490.0, 510.0]),
        "btrfs zstd:1: latency 1.80 (1.76–1.83) × predicted",
    );
    assert_eq!(
        finding(&predicted([600.0, 590.0, 610.0]), ID).verdict,
        Verdict::DoesNotHold
    );
    // The prediction of data that are hardly compressed has no codec in it.
    let raw = Builder::new().btrfs("zstd:1", &[(COMPRESSED_SHARE, 0.4)]).run;
    let raw = with_p50s(raw, "btrfs zstd:1", [170.0, 160.0, 180.0]);
    assert_eq!(finding(&raw, ID).verdict, Verdict::DoesNotHold);
    // Of a rate, all may be the codec's: 3597 reads per second are predicted.
    let of_rate = |iops: f64| {
        let mut run = Builder::new().btrfs("zstd:1", &[(IOPS, iops)]).run;
        for trial in &mut run.trials {
            trial.factors.insert(QUEUE_DEPTH.name.to_owned(), "8".to_owned());
        }
        run
    };
    is_open(&of_rate(1500.0), "btrfs zstd:1: reads per second 0.417");
    assert_eq!(finding(&of_rate(1400.0), ID).verdict, Verdict::DoesNotHold);
}

#[test]
fn the_kernels_zlib_is_not_called_slower_where_the_interval_reaches_the_limit() {
    let zlib: Values<'_> = &[(CODEC_TIME, 300_000.0), (PREDICTED_LATENCY, 400_000.0)];
    let of = |p50s_us| {
        let run = Builder::new().btrfs("zlib:3", zlib).run;
        finding(&with_p50s(run, "btrfs zlib:3", p50s_us), "kernel-zlib-is-slower")
    };
    // 100 µs are the device's and the filesystem's.
    let open = of([500.0, 460.0, 540.0]);
    assert!(
        matches!(&open.verdict, Verdict::NotTestable(reason) if reason.contains("is 1.33 (1.20–1.47) × that of the library")),
        "{open:?}"
    );
    assert_eq!(of([600.0, 590.0, 610.0]).verdict, Verdict::Holds);
    assert_eq!(of([410.0, 400.0, 420.0]).verdict, Verdict::DoesNotHold);
}

/// A compressed btrfs that reads in 463 µs, an uncompressed one in 611 µs, and an uncompressed ext4 with these median latencies, in µs.
fn price(ext4_us: [f64; 3]) -> (Claim, String) {
    price_with([("ext4", ext4_us)])
}

/// The same with several uncompressed filesystems.
fn price_with<const N: usize>(p50s_us: [(&str, [f64; 3]); N]) -> (Claim, String) {
    let plain: Values<'_> = &[(SPACE_RATIO, 0.99), (LATENCY.p50, 611_000.0)];
    let builder = Builder::new()
        .btrfs("zstd:3", &[(LATENCY.p50, 463_000.0)])
        .btrfs("none", plain);
    let add = |builder: Builder, (filesystem, _): &(&str, _)| {
        builder.cell(filesystem, "none", plain, &OPTIONS.remark("mounted with rw"))
    };
    let run = p50s_us.iter().fold(builder, add).run;
    let known = p50s_us.into_iter().fold(run, |run, (filesystem, us)| {
        with_p50s(run, &format!("{filesystem} none"), us)
    });
    let report = Report::of(&known);
    let mut claims = report.layers[0].answer.advice.iter();
    let claim = claims.find(|claim| claim.topic == "Price of the least space");
    let claim = claim.expect("the layer prices the least space").clone();
    (claim, fastest(&report))
}

/// Which configuration is said to read soonest, and what stands beside it.
fn fastest(report: &Report) -> String {
    let mut rows = report.layers[0].answer.capabilities.iter();
    let row = rows
        .find(|row| row.label == "Fastest cold small read, p50")
        .expect("the layer has this row");
    match &row.readings[0].outcome {
        ReadingOutcome::Measured { conditions, .. } => conditions.clone(),
        ReadingOutcome::Missing(absence) => panic!("{}", absence.reason),
    }
}

#[test]
fn compression_is_not_said_to_read_sooner_than_none_where_another_filesystem_may_be_sooner() {
    let (open, fastest) = price([620.0, 52.0, 2700.0]);
    assert!(
        open.brief
            .starts_with("not decided (p50 of ext4 none: 620 µs (52.0 µs–2.70 ms))"),
        "{open:?}"
    );
    assert_eq!(open.action, None);
    assert!(
        fastest.contains("; ext4 none may be better: 620 µs (52.0 µs–2.70 ms)"),
        "{fastest}"
    );
    let (sooner, _) = price([91.0, 90.0, 92.0]);
    assert!(
        sooner.brief.contains(
            "148 µs less than without compression (btrfs none: 611 µs), but ext4 none takes 91.0 µs"
        ),
        "{sooner:?}"
    );
    let (tied, _) = price([465.0, 455.0, 475.0]);
    assert!(
        tied.brief.ends_with(
            "148 µs less than without compression (btrfs none: 611 µs); ext4 none takes 465 µs, whose interval \
             overlaps that of 463 µs"
        ),
        "{tied:?}"
    );
    // What is sooner for certain is named, also where the median of another one is lower.
    let (certain, _) = price_with([("ext4", [450.0, 380.0, 480.0]), ("xfs", [452.0, 451.0, 453.0])]);
    assert!(
        certain
            .brief
            .ends_with("(btrfs none: 611 µs), but xfs none takes 452 µs"),
        "{certain:?}"
    );
    let (later, fastest) = price([700.0, 690.0, 710.0]);
    assert!(
        later
            .brief
            .ends_with("148 µs less than without compression (btrfs none: 611 µs)"),
        "{later:?}"
    );
    assert!(!fastest.contains("may be better"), "{fastest}");
}

#[test]
fn of_many_configurations_that_may_be_better_two_are_named_and_the_others_counted() {
    const RIVALS: [&str; 4] = ["zstd:1", "zstd:6", "zstd:9", "zstd:15"];
    let builder = Builder::new().btrfs("zstd:3", &[]);
    let builder = RIVALS
        .iter()
        .fold(builder, |builder, rival| builder.btrfs(rival, &[]));
    let run = RIVALS.iter().fold(builder.run, |run, rival| {
        with_p50s(run, &format!("btrfs {rival}"), [620.0, 52.0, 2700.0])
    });
    let fastest = fastest(&Report::of(&run));
    assert!(fastest.starts_with("btrfs zstd:3"), "{fastest}");
    assert_eq!(fastest.matches("may be better").count(), 2, "{fastest}");
    assert!(fastest.ends_with("; and 2 more"), "{fastest}");
}

#[test]
fn what_read_amplification_means_is_said_only_where_the_sentence_holds() {
    const ID: &str = "amplification-in-bounds";
    let of = |amplifications: [f64; 3]| {
        let mut run = Builder::new().btrfs("zstd:3", &[]).run;
        for trial in &mut run.trials {
            set(
                trial,
                READ_AMPLIFICATION,
                amplifications[trial.repetition as usize],
            );
        }
        finding(&run, ID)
    };
    // 8 to 9.78 are within 10 %.
    let shown = of([8.9, 8.8, 9.0]);
    assert_eq!(shown.verdict, Verdict::Holds);
    assert!(shown.meaning.contains("whole extent"), "{shown:?}");
    let open = of([8.9, 7.0, 9.0]);
    assert!(matches!(open.verdict, Verdict::NotTestable(_)), "{open:?}");
    assert_eq!(open.meaning, "");
    let refuted = of([4.6, 4.5, 4.7]);
    assert_eq!(refuted.verdict, Verdict::DoesNotHold);
    assert_eq!(refuted.meaning, "");
}

#[test]
fn load_of_other_programs_withholds_advice_on_times_and_none_on_sizes() {
    let small = [(OPERATION.name, "small-files"), (FILE_SIZE.name, "1500")];
    let overwrites = [(OPERATION.name, "overwrite"), (SYNC.name, "each:1")];
    let mut builder = Builder::new()
        .btrfs("zstd:3", &[(SPACE_RATIO, 3.0)])
        .btrfs("zstd:1", &[(SPACE_RATIO, 2.0)]);
    for (name, factor) in [("ext4", 1.0), ("xfs", 2.0)] {
        builder = cell(builder, (name, "none"), &small, &[(IOPS, 9000.0 * factor)]);
        builder = cell(
            builder,
            (name, "none"),
            &overwrites,
            &[(LATENCY.p50, 2000.0 * factor)],
        );
    }
    let said = |share: f64, constraints: &Constraints| {
        let mut run = builder.run.clone();
        for trial in &mut run.trials {
            trial.others_cpu_share = Some(share);
        }
        let report = Report::under(&run, &[], constraints, None);
        report.layers[0].answer.advice.clone()
    };
    let of = |claims: &[Claim], topic: &str| {
        let found = claims.iter().find(|claim| claim.topic == topic);
        found
            .unwrap_or_else(|| panic!("nothing on {topic}"))
            .brief
            .clone()
    };
    let free = Constraints::default();
    for topic in ["Files of 1500 B", "Small overwrites, each write synced"] {
        assert!(
            !of(&said(0.05, &free), topic).starts_with("not decided"),
            "{topic}"
        );
        let busy = of(&said(0.88, &free), topic);
        assert!(
            busy.starts_with("not decided: other programs used 88 %"),
            "{topic}: {busy}"
        );
    }
    let by_ratio = Constraints {
        min_ratio: Some(2.9),
        ..Constraints::default()
    };
    let with_p99 = Constraints {
        p99_ns: Some(1e12),
        ..by_ratio.clone()
    };
    let within = |constraints: &Constraints| of(&said(0.88, constraints), "Within the limits");
    assert!(
        !within(&by_ratio).starts_with("not decided"),
        "{}",
        within(&by_ratio)
    );
    assert!(
        within(&with_p99).starts_with("not decided: other programs"),
        "{}",
        within(&with_p99)
    );
}
