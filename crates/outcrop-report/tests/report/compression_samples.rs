//! What is said of ratios that rest on a sample of the data.

use std::collections::BTreeMap;

use outcrop_measure::ByteSize;
use outcrop_measure::metric::Unit;
use outcrop_report::Report;
use outcrop_report::answer::ReadingOutcome;
use outcrop_results::{RunView, Value};
use outcrop_schema::compression::{
    CODEC, COMPRESSION_BLOCK_SIZE, COMPRESSION_RATIO, COMPRESSION_RATIO_HIGH, COMPRESSION_RATIO_LOW,
    GROUP_BYTES, SAMPLED_CLUSTERS, SAMPLED_SHARE, UNCOMPRESSED_BYTES,
};
use proptest::prelude::*;

use crate::compression::advice;
use crate::compression_fixture::{Builder, codec, complete};

/// The run as if its data had been five times the sample, with these ends of the ratio's interval.
fn sampled(mut run: RunView, ends: Result<f64, &str>) -> RunView {
    for value in run.trials.iter_mut().flat_map(|trial| &mut trial.values) {
        let is_low = value.metric == COMPRESSION_RATIO_LOW.name;
        if value.metric == SAMPLED_SHARE.name {
            value.value = Some(0.2);
        } else if is_low || value.metric == COMPRESSION_RATIO_HIGH.name {
            match ends {
                Ok(width) => {
                    value.value = value
                        .value
                        .map(|ratio| if is_low { ratio / width } else { ratio * width });
                }
                Err(reason) => (value.value, value.source) = (None, Some(reason.to_owned())),
            }
        }
    }
    run
}

#[test]
fn the_ratio_of_a_sample_has_its_interval_where_it_is_drawn_against_speed_and_in_the_data_of_the_figure() {
    let report = Report::of(&sampled(complete(), Ok(1.1)));
    let figures = report.figures();
    for direction in ["compress", "decompress"] {
        let id = format!("ratio-against-{direction}-speed");
        let figure = figures.iter().find(|figure| figure.id == id).unwrap();
        let csv = figure.to_csv().unwrap();
        let mut lines = csv.lines();
        let head: Vec<&str> = lines.next().unwrap().split(',').collect();
        let of_ratio = ["low", "high", "confidence"].map(|what| format!("{what} of Compression ratio"));
        assert_eq!(head[head.len() - 3..], of_ratio, "{csv}");
        let last_three = |line: &str| -> Vec<f64> {
            let cells: Vec<&str> = line.rsplit(',').take(3).collect();
            cells.iter().rev().filter_map(|cell| cell.parse().ok()).collect()
        };
        let known: Vec<Vec<f64>> = lines.map(last_three).filter(|ends| !ends.is_empty()).collect();
        assert!(!known.is_empty(), "{csv}");
        for ends in known {
            assert!(ends[0] < ends[1] && (0.5..1.0).contains(&ends[2]), "{csv}");
        }
    }
}

#[test]
fn a_sampled_ratio_is_shown_with_the_interval_of_its_sample() {
    let ratio = |run: &RunView| {
        let report = Report::of(run);
        let readings = &report.layers[0].answer.capabilities[0].readings;
        match &readings[0].outcome {
            ReadingOutcome::Measured { number, .. } => number.clone(),
            ReadingOutcome::Missing(absence) => panic!("no ratio: {}", absence.reason),
        }
    };
    let exact = ratio(&complete());
    assert_eq!((exact.interval, exact.no_interval.clone()), (None, None));
    let number = ratio(&sampled(complete(), Ok(1.1)));
    let interval = number.interval.unwrap();
    assert!((interval.high / number.value - 1.1).abs() < 1e-9, "{interval:?}");
    assert!(
        number.certainty().starts_with("95 % interval"),
        "{}",
        number.certainty()
    );

    let unsupported = sampled(complete(), Err("all 128 clusters are alike"));
    let number = ratio(&unsupported);
    assert_eq!(number.interval, None);
    assert!(
        number
            .certainty()
            .contains("no interval: all 128 clusters are alike"),
        "{}",
        number.certainty()
    );
    let answer = &Report::of(&unsupported).layers[0].answer;
    let warned = |caution: &&outcrop_report::answer::Caution| caution.text.contains("There is no interval");
    assert!(
        answer.cautions.iter().any(|caution| warned(&caution)),
        "{:?}",
        answer.cautions
    );
}

#[test]
fn data_are_advised_to_be_stored_uncompressed_by_a_sample_only_if_that_shows_it_of_all_of_them() {
    let random = || {
        Builder::new(3)
            .speeds(&[codec("zstd:1", 1.0, 3e8, 9e8)], &[4], &[1])
            .build()
    };
    let answer = |run: &RunView| Report::of(run).layers.remove(0).answer;
    let sure = answer(&sampled(random(), Ok(1.001)));
    assert!(
        sure.advice[0]
            .action
            .as_ref()
            .is_some_and(|action| action.starts_with("Store these data uncompressed"))
    );
    for (ends, says) in [
        (
            Ok(1.16),
            "on all the data zstd:1, 4 KiB may have a ratio of up to 1.16",
        ),
        (
            Err("all 128 clusters are alike"),
            "there is no interval for all the data",
        ),
    ] {
        let open = answer(&sampled(random(), ends));
        let claim = &open.advice[0];
        assert_eq!(claim.action, None);
        assert!(
            claim.brief.starts_with("not decided: ") && claim.brief.contains(says),
            "{}",
            claim.brief
        );
        let warns = |caution: &outcrop_report::answer::Caution| caution.text.contains("come from a sample");
        assert!(open.cautions.iter().any(warns), "{:?}", open.cautions);
    }
}

/// A run of two codecs on one sample of the data: their own intervals overlap widely, and each group of clusters has the bytes that
/// `quotient` makes of the first one's.
fn two_on_one_sample(quotient: fn(usize) -> f64) -> RunView {
    let two = [
        codec("zstd:1", 2.0, 3e8, 9e8),
        codec("deflate-libdeflate:1", 1.96, 2e8, 5e8),
    ];
    let run = Builder::new(3).speeds(&two, &[64], &[1]).build();
    let mut run = sampled(run, Ok(1.15));
    for trial in &mut run.trials {
        let is_first = trial.factors[CODEC.name].starts_with("zstd");
        for (place, metric) in GROUP_BYTES.into_iter().enumerate() {
            // Some groups are three times as hard as others, for both.
            let hard = 1e6 * (1.0 + (place * 5 % 16) as f64 / 8.0);
            let bytes = hard * if is_first { 1.0 } else { quotient(place) };
            trial.values.push(Value::measured(metric, bytes));
        }
    }
    run
}

#[test]
fn a_codec_that_is_smaller_on_every_group_of_clusters_is_no_tie_though_the_intervals_overlap() {
    let clear = two_on_one_sample(|place| 1.015 + 0.025 * (place % 5) as f64 / 4.0);
    let (brief, _) = advice(&clear, "Smallest");
    assert_eq!(brief, "zstd:1, 64 KiB (clear)");
    // As far ahead on average, but behind on many groups; and ahead on all, by a header's bytes.
    let quotients: [fn(usize) -> f64; 3] = [
        |place| if place % 2 == 0 { 1.2 } else { 0.86 },
        |_| 1.000_2,
        |_| 1.0,
    ];
    for (case, quotient) in quotients.into_iter().enumerate() {
        let (brief, text) = advice(&two_on_one_sample(quotient), "Smallest");
        assert_eq!(brief, "zstd:1, 64 KiB (tie with libdeflate:1 64K)", "case {case}");
        let is_open = text.contains("the sample does not show which is smaller by more than 0.05 %");
        let is_same = text.contains("their ratios are the same within 0.05 %");
        assert_eq!((is_open, is_same), (case == 0, case > 0), "{text}");
    }
}

/// Compressed bytes of the groups of a sample by a codec at a block size in KiB.
type Groups = BTreeMap<(&'static str, u64), Vec<f64>>;

/// The part of the data that was taken, and bytes of it.
const SHARE: f64 = 0.2;
const TAKEN: f64 = 16.0 * 1_048_576.0;

/// A run on samples: one for blocks up to 128 KiB, another of half as many clusters for larger ones. The ratios are known to `width` times.
fn run_of(groups: &Groups, width: f64) -> RunView {
    let mut builder = Builder::new(3);
    for (name, size_kib) in groups.keys() {
        let fast = if *name == "lz4:1" { 3.0 } else { 1.0 };
        let codec = codec(name, 2.0, 3e8 * fast, 9e8 * fast);
        builder = builder.speeds(&[codec], &[*size_kib], &[1]);
    }
    let mut run = builder.build();
    for trial in &mut run.trials {
        let size: ByteSize = trial.factors[COMPRESSION_BLOCK_SIZE.name]
            .parse()
            .expect("a size");
        let is_own = |(name, kib): &&(&str, u64)| *name == trial.factors[CODEC.name] && kib << 10 == size.0;
        let bytes = &groups[groups.keys().find(is_own).expect("a cell of these")];
        let ratio = TAKEN / bytes.iter().sum::<f64>();
        let clusters = if size.0 > 128 << 10 { 64.0 } else { 128.0 };
        let known = [
            (COMPRESSION_RATIO, ratio),
            (COMPRESSION_RATIO_LOW, ratio / width),
            (COMPRESSION_RATIO_HIGH, ratio * width),
            (SAMPLED_SHARE, SHARE),
            (SAMPLED_CLUSTERS, clusters),
            (UNCOMPRESSED_BYTES, TAKEN),
        ];
        let of_groups = GROUP_BYTES.into_iter().zip(bytes.iter().copied());
        for (metric, value) in known.into_iter().chain(of_groups) {
            trial.values.retain(|known| known.metric != metric.name);
            trial.values.push(Value::measured(metric, value));
        }
    }
    run
}

/// The ends of the 95 % interval of the ratio of one over that of another on the same clusters.
fn gain(one: &[f64], other: &[f64]) -> (f64, f64) {
    let (sum, other_sum) = (one.iter().sum::<f64>(), other.iter().sum::<f64>());
    let quotient = other_sum / sum;
    let residuals = one.iter().zip(other).map(|(one, other)| other - quotient * one);
    let squares: f64 = residuals.map(|residual| residual * residual).sum();
    let error = ((1.0 - SHARE) * squares / 15.0 * 16.0).sqrt() / sum;
    (quotient - 2.131 * error, quotient + 2.131 * error)
}

/// All that are called smallest: the first one and those that tie with it, as `zstd:1 64K`.
fn smallest(run: &RunView) -> Vec<String> {
    let (brief, text) = advice(run, "Smallest");
    let best = text
        .split_once(" KiB: ")
        .expect("a cell")
        .0
        .replacen(", ", " ", 1)
        + "K";
    let tied = text.split_once("tie with ");
    let ties = tied.map_or("", |(_, rest)| rest.rsplit_once(": ").expect("why").0);
    assert!(!brief.contains("not decided"), "{brief}");
    let ties = ties.split(", ").filter(|name| !name.is_empty());
    std::iter::once(best).chain(ties.map(str::to_owned)).collect()
}

#[test]
fn a_block_size_that_another_of_the_same_clusters_beats_does_not_tie_with_one_of_other_clusters() {
    let hard = |place: usize| 4e5 * (1.0 + (place * 5 % 16) as f64 / 8.0);
    let cell = |kib: u64, share: f64| {
        let bytes = (0..16).map(|place| hard(place) * share * (1.0 + 0.004 * (place % 3) as f64));
        (("zstd:3", kib), bytes.collect())
    };
    let even = |kib: u64, share: f64| {
        (
            ("zstd:3", kib),
            (0..16).map(|place| hard(place) * share).collect(),
        )
    };
    let groups = Groups::from([even(4, 1.212), cell(16, 1.09), even(64, 1.0), even(256, 0.97)]);
    let run = run_of(&groups, 1.15);
    assert_eq!(smallest(&run), ["zstd:3 256K", "zstd:3 64K"]);
    let (_, blocks) = advice(&run, "Block size");
    assert!(
        blocks.contains("blocks of 64 KiB instead of 4 KiB change the ratio by +21.2 %"),
        "{blocks}"
    );
}

#[test]
fn large_blocks_are_not_advised_where_the_sample_does_not_show_that_they_save_anything() {
    let groups = |noise: f64| {
        let cell = |kib: u64, share: f64, noise: f64| {
            let odd = |place: usize| if place.is_multiple_of(2) { noise } else { -noise };
            let bytes = (0..16).map(|place| 4e5 * share * (1.0 + odd(place)));
            (("zstd:3", kib), bytes.collect())
        };
        Groups::from([cell(4, 1.05, 0.0), cell(64, 1.0, noise)])
    };
    let (brief, text) = advice(&run_of(&groups(0.3), 1.15), "Block size");
    assert!(
        brief.starts_with("4 KiB: 64 KiB gives no measurably higher ratio"),
        "{brief}"
    );
    assert!(
        text.ends_with(" The sample does not show that blocks of 64 KiB save anything: stay with 4 KiB."),
        "{text}"
    );
    let (_, text) = advice(&run_of(&groups(0.001), 1.15), "Block size");
    assert!(
        text.contains(" Use large blocks for data that are read sequentially"),
        "{text}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_report_calls_two_cells_tied_in_ratio_and_tells_them_apart_by_the_interval_of_the_pair(
        shares in prop::array::uniform6(0.9_f64..1.1),
        noise in 0.0_f64..0.05,
        order in prop::collection::vec(-1.0_f64..1.0, 96),
        width in 1.01_f64..1.25,
    ) {
        let cells = ["lz4:1", "zstd:1"].into_iter().flat_map(|name| [4, 64, 256].map(|kib| (name, kib)));
        let groups: Groups = cells
            .zip(shares)
            .enumerate()
            .map(|(number, (cell, share))| {
                let bytes = (0..16).map(|place| {
                    let hard = 2e5 * (1.0 + (place * 5 % 16) as f64 / 8.0);
                    hard * share * (1.0 + noise * order[number * 16 + place])
                });
                (cell, bytes.collect())
            })
            .collect();
        let run = run_of(&groups, width);
        let tied = smallest(&run);
        let is_tied = |name: &str, kib: u64| tied.contains(&format!("{name} {kib}K"));
        for (one, bytes) in &groups {
            for (other, others) in &groups {
                if (one.1 == 256) != (other.1 == 256) || !is_tied(one.0, one.1) || !is_tied(other.0, other.1) {
                    continue;
                }
                let (low, _) = gain(bytes, others);
                prop_assert!(low <= 1.000_5 + 1e-9, "{one:?} beats {other:?}, {low}: {tied:?}");
            }
        }
        // What the report itself says of the two sizes.
        let blocks = Report::of(&run).layers[0].answer.advice.iter().find(|claim| claim.topic == "Block size").cloned();
        if let Some(text) = blocks.map(|claim| claim.text)
            && let Some((_, interval)) = text.split_once("95 % interval for all the data ")
        {
            let codec = &text["With ".len()..text.find(',').unwrap()];
            let percents: Vec<f64> = interval.split(" %").take(2).map(|end| {
                end.trim_start_matches(" to ").parse().unwrap()
            }).collect();
            if percents[0] > 0.0 || percents[1] < 0.0 {
                prop_assert!(!(is_tied(codec, 4) && is_tied(codec, 64)), "{tied:?}: {text}");
            }
        }
    }
}

#[test]
fn of_a_sample_that_supports_no_interval_nobody_is_told_which_codec_is_smallest() {
    let two = [codec("zstd:1", 2.0, 3e8, 9e8), codec("lz4:1", 1.5, 7e8, 3e9)];
    let run = Builder::new(3).speeds(&two, &[64], &[1]).build();
    let (brief, _) = advice(&run, "Smallest");
    assert_eq!(brief, "zstd:1, 64 KiB (clear)", "all of the data was taken");
    let few = sampled(run, Err("2 clusters of the data were drawn"));
    let (brief, text) = advice(&few, "Smallest");
    assert_eq!(brief, "zstd:1, 64 KiB (tie with lz4:1 64K)");
    assert!(text.contains("a larger --sample-size may"), "{text}");
}

#[test]
fn parts_of_a_sample_are_kept_in_records_and_are_no_figures_of_a_cell() {
    let run = two_on_one_sample(|_| 1.1);
    let cells = run.cells();
    let (name, cell) = (GROUP_BYTES[3].name, &cells[0]);
    assert!(cell.metric(name).is_some() && !cell.metric_names().contains(name));
}

/// A run whose sample of 10 MiB was this share of the data, and whose ratios are known from two thirds of themselves to one and a half times.
fn wide_sample(share: f64) -> RunView {
    let mut run = sampled(complete(), Ok(1.5));
    for trial in &mut run.trials {
        for value in trial
            .values
            .iter_mut()
            .filter(|value| value.metric == SAMPLED_SHARE.name)
        {
            value.value = Some(share);
        }
        trial
            .values
            .retain(|value| value.metric != UNCOMPRESSED_BYTES.name);
        trial
            .values
            .push(Value::measured(UNCOMPRESSED_BYTES, 10_485_760.0));
    }
    run
}

#[test]
fn what_a_sample_leaves_open_is_decided_by_a_larger_one_that_is_no_more_than_the_data_and_by_no_repetitions()
{
    // The interval shrinks with the square root of what is taken: for half as wide a one four times as much.
    let run = wide_sample(0.01);
    let (brief, text) = advice(&run, "Smallest");
    let command = "outcrop run runs/20261121T020000Z-codecs/plan.toml --sample-size 40MiB";
    assert!(brief.starts_with("not decided"), "{brief}");
    assert!(
        brief.contains(command) && text.contains(command),
        "{brief}\n{text}"
    );
    let screen = Report::of(&run).screen(200, false);
    assert!(screen.contains("--sample-size 40MiB"), "{screen}");
    assert!(!screen.contains("--repetitions"), "{screen}");
    let page = Report::of(&run).to_html();
    assert!(!page.contains("More repetitions narrow them."));
    // Of data that are no larger than that, all: what does not fill a block was not counted.
    let (brief, _) = advice(&wide_sample(0.2), "Smallest");
    assert!(brief.contains("--sample-size 53MiB"), "{brief}");
}

#[test]
fn repetitions_are_asked_for_where_they_decide_and_a_larger_sample_beside_them_where_it_does() {
    let mut run = wide_sample(0.01);
    for trial in &mut run.trials {
        let factor = 1.0 + 0.9 * f64::from(trial.repetition);
        let speeds = trial
            .values
            .iter_mut()
            .filter(|value| value.unit == Unit::BytesPerSecond);
        speeds.for_each(|speed| speed.value = speed.value.map(|value| value * factor));
    }
    let (fastest, _) = advice(&run, "Fastest");
    assert!(
        fastest.contains("--repetitions 9") && !fastest.contains("--sample-size"),
        "{fastest}"
    );
    // One layer is measured again once, with both.
    let screen = Report::of(&run).screen(200, false);
    assert!(screen.contains("--sample-size 40MiB --repetitions 9"), "{screen}");
}
