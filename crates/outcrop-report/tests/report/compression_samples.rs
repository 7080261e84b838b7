//! What is said of ratios that rest on a sample of the data.

use outcrop_measure::metric::Unit;
use outcrop_report::Report;
use outcrop_report::answer::ReadingOutcome;
use outcrop_results::{RunView, Value};
use outcrop_schema::compression::{
    CODEC, COMPRESSION_RATIO_HIGH, COMPRESSION_RATIO_LOW, GROUP_BYTES, SAMPLED_SHARE, UNCOMPRESSED_BYTES,
};

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
        assert!(
            text.contains("the sample does not show which is smaller"),
            "{text}"
        );
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
