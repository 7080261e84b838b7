//! What stores are compared with under limits, and what is said of advice that a limit takes away.

use outcrop_report::answer::Claim;
use outcrop_report::{Constraints, Report};
use outcrop_results::RunView;
use outcrop_schema::kv::{COMPRESSION, COMPRESSION_BLOCK_SIZE, READ_LATENCY, THROUGHPUT};

use crate::kv_fixture::{Stored, of};

fn cell(codec: &'static str, block_size: &'static str, throughput: f64, stored: f64) -> Stored {
    Stored {
        codec,
        block_size,
        filesystem: "ext4",
        throughput,
        stored,
    }
}

fn usual() -> RunView {
    of(&[
        cell("none", "4KiB", 57.7e3, 42e6),
        cell("none", "16KiB", 52.0e3, 42e6),
        cell("lz4", "16KiB", 47.1e3, 21e6),
    ])
}

fn on_codecs(run: &RunView, constraints: &Constraints) -> Claim {
    let report = Report::under(run, &[], constraints, None);
    let mut claims = report.layers[0].answer.advice.iter();
    let claim = claims.find(|claim| claim.topic == "Compress blocks");
    claim.cloned().expect("there is a codec")
}

#[test]
fn a_base_that_is_not_the_fastest_is_not_called_so() {
    let mut run = usual();
    for trial in &mut run.trials {
        let is_fastest =
            trial.factors[COMPRESSION.name] == "none" && trial.factors[COMPRESSION_BLOCK_SIZE.name] == "4KiB";
        let tail = if is_fastest { 9e6 } else { 1e6 };
        for value in &mut trial.values {
            if value.metric == READ_LATENCY.p99.name {
                value.value = Some(tail);
            }
        }
    }
    let limited = Constraints {
        p99_ns: Some(2e6),
        ..Constraints::default()
    };
    let text = on_codecs(&run, &limited).text;
    assert!(
        text.contains(
            "Compared with rocksdb none 16KiB on ext4, the one that the answer above compares with"
        ),
        "{text}"
    );
    let text = on_codecs(&run, &Constraints::default()).text;
    assert!(text.contains("none 4KiB on ext4, the fastest cell"), "{text}");
}

#[test]
fn what_a_limit_stops_is_not_told_to_be_measured_again_under_that_limit() {
    let mut run = usual();
    run.trials
        .retain(|trial| trial.factors[COMPRESSION.name] == "none" || trial.repetition == 0);
    let limited = Constraints {
        min_ratio: Some(3.0),
        ..Constraints::default()
    };
    let text = on_codecs(&run, &limited).text;
    assert!(text.contains("Without limits, this is not decided"), "{text}");
    assert!(!text.contains("outcrop run"), "{text}");
    let text = on_codecs(&run, &Constraints::default()).text;
    assert!(text.contains("outcrop run"), "{text}");
}

#[test]
fn a_limit_that_more_trials_would_decide_keeps_the_command_for_them() {
    let mut run = usual();
    let codecs = run.trials.iter_mut();
    for trial in codecs.filter(|trial| trial.factors[COMPRESSION.name] == "lz4") {
        let of_three = [0.2, 1.0, 1.9][trial.repetition as usize];
        for value in &mut trial.values {
            if [READ_LATENCY.p99.name, THROUGHPUT.name].contains(&value.metric.as_str()) {
                value.value = value.value.map(|value| value * of_three);
            }
        }
    }
    let limited = Constraints {
        p99_ns: Some(60e3),
        ..Constraints::default()
    };
    let claim = on_codecs(&run, &limited);
    assert!(
        claim.brief.contains("may meet the limit on the p99"),
        "{}",
        claim.brief
    );
    assert!(
        claim.text.contains("Without limits, this is not decided") && claim.text.contains("outcrop run"),
        "{}",
        claim.text
    );
    assert_eq!(claim.action, None);
    let screen = Report::under(&run, &[], &limited, None).screen(200, false);
    let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flowing.contains("More measurements may decide the rest: run `outcrop run "),
        "{screen}"
    );
    assert!(flowing.contains("may meet the limit on the p99"), "{screen}");
}

#[test]
fn a_codec_that_breaks_a_limit_is_followed_by_those_that_may_keep_it_and_by_what_decides_that() {
    let mut run = of(&[
        cell("lz4", "4KiB", 47.1e3, 21e6),
        cell("zstd:1", "4KiB", 47.0e3, 10e6),
    ]);
    for trial in &mut run.trials {
        let p99_ns = match trial.factors[COMPRESSION.name].as_str() {
            "lz4" => [30e3, 65e3, 120e3][trial.repetition as usize],
            _ => 200e3,
        };
        let throughput = [0.5, 1.0, 1.6][trial.repetition as usize];
        for value in &mut trial.values {
            if value.metric == READ_LATENCY.p99.name {
                value.value = Some(p99_ns);
            } else if value.metric == THROUGHPUT.name {
                value.value = value.value.map(|value| value * throughput);
            }
        }
    }
    let codec = |p99_ns: f64| {
        let limited = Constraints {
            p99_ns: Some(p99_ns),
            ..Constraints::default()
        };
        let report = Report::under(&run, &[], &limited, None);
        let mut claims = report.layers[0].answer.advice.clone().into_iter();
        claims.find(|claim| claim.topic == "Codec").expect("two codecs")
    };
    let open = codec(60e3);
    assert!(
        open.brief
            .contains("zstd:1 4KiB on ext4 breaks the limit on the p99")
            && open.brief.contains("lz4 4KiB on ext4 may meet the limits"),
        "{}",
        open.brief
    );
    assert!(open.text.contains("outcrop run"), "{}", open.text);
    let met = codec(150e3);
    assert!(
        met.brief
            .contains(", and rocksdb lz4 4KiB on ext4 meets the limits"),
        "{}",
        met.brief
    );
    let closed = codec(1e3);
    assert!(
        !closed.brief.contains("may meet the limits") && !closed.text.contains("outcrop run"),
        "{}",
        closed.text
    );
}
