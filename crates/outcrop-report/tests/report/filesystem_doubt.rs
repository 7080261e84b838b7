//! What intervals leave open about filesystems: predictions, and rivals that are known badly.

use outcrop_report::answer::{Claim, ReadingOutcome};
use outcrop_report::{Report, Verdict};
use outcrop_results::RunView;
use outcrop_schema::filesystem::{CODEC_TIME, LATENCY, OPTIONS, PREDICTED_LATENCY, SPACE_RATIO};

use crate::device_limits::set;
use crate::filesystem::{Builder, Values, finding};

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
    let plain: Values<'_> = &[(SPACE_RATIO, 0.99), (LATENCY.p50, 611_000.0)];
    let run = Builder::new()
        .btrfs("zstd:3", &[(LATENCY.p50, 463_000.0)])
        .btrfs("none", plain)
        .cell("ext4", "none", plain, &OPTIONS.remark("mounted with rw"))
        .run;
    let report = Report::of(&with_p50s(run, "ext4 none", ext4_us));
    let answer = &report.layers[0].answer;
    let mut claims = answer.advice.iter();
    let claim = claims.find(|claim| claim.topic == "Price of the least space");
    let mut rows = answer.capabilities.iter();
    let row = rows
        .find(|row| row.label == "Fastest cold small read, p50")
        .expect("the layer has this row");
    let ReadingOutcome::Measured { conditions, .. } = &row.readings[0].outcome else {
        panic!("{row:?}");
    };
    (
        claim.expect("the layer prices the least space").clone(),
        conditions.clone(),
    )
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
    let (later, fastest) = price([700.0, 690.0, 710.0]);
    assert!(
        later
            .brief
            .ends_with("148 µs less than without compression (btrfs none: 611 µs)"),
        "{later:?}"
    );
    assert!(!fastest.contains("may be better"), "{fastest}");
}
