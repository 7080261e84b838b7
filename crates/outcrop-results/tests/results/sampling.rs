//! The interval of a figure that rests on a sample of the data is that of the draw, not of the repetitions.

use std::collections::BTreeMap;
use std::path::Path;

use outcrop_measure::metric::Unavailable;
use outcrop_results::{RunView, TrialEntry, Value};
use outcrop_schema::compression::{
    BLOCK_RATIOS, COMPRESSION_RATIO, COMPRESSION_RATIO_HIGH, COMPRESSION_RATIO_LOW, SAMPLED_CLUSTERS,
    SAMPLED_SHARE, SCHEMA, SPEED,
};

use crate::comparisons::repeated;
use crate::samples::{run_of, trial};

/// Five repetitions on one sample.
fn run(parent: &Path, share: f64, ends: &[Value; 2]) -> RunView {
    let trials = repeated(5, |repetition| {
        let mut values = vec![
            Value::measured(COMPRESSION_RATIO, 3.61),
            Value::measured(SAMPLED_SHARE, share),
            Value::measured(SAMPLED_CLUSTERS, 128.0),
            Value::measured(BLOCK_RATIOS[5], 3.2),
            Value::measured(SPEED.compress, 3e8 + f64::from(repetition)),
        ];
        values.extend(ends.iter().cloned());
        TrialEntry {
            layer: SCHEMA.name.to_owned(),
            factors: BTreeMap::new(),
            ..trial(1, repetition, &values)
        }
    });
    run_of(parent, "sampled", &trials)
}

fn ends(low: f64, high: f64) -> [Value; 2] {
    [
        Value::derived(COMPRESSION_RATIO_LOW, low),
        Value::derived(COMPRESSION_RATIO_HIGH, high),
    ]
}

#[test]
fn a_sampled_ratio_has_the_interval_of_its_sample_however_often_it_was_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path(), 0.2, &ends(3.29, 4.0));
    let cells = run.cells();
    let summary = cells[0].summary(COMPRESSION_RATIO.name).unwrap();
    let interval = summary.interval.unwrap();
    assert_eq!((interval.low, interval.high), (3.29, 4.0));
    assert_eq!((interval.confidence, interval.n, summary.n), (0.95, 128, 128));
    let speed = cells[0].summary(SPEED.compress.name).unwrap();
    assert_eq!(speed.n, 5, "speed is repeated by trials");
}

#[test]
fn a_sample_that_supports_no_interval_gives_none_and_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let missing = [COMPRESSION_RATIO_LOW, COMPRESSION_RATIO_HIGH]
        .map(|metric| Value::known(metric, Err(Unavailable::because("all clusters are alike"))));
    let run = run(folder.path(), 0.01, &missing);
    let cells = run.cells();
    let samples = cells[0].metric(COMPRESSION_RATIO.name).unwrap();
    assert_eq!(samples.no_interval(), Some("all clusters are alike"));
    let summary = samples.summary().unwrap();
    assert_eq!((summary.median, summary.interval), (3.61, None));
    // A percentile of the sample's blocks is not one of all the data's.
    let percentile = cells[0].metric(BLOCK_RATIOS[5].name).unwrap();
    assert!(percentile.no_interval().unwrap().contains("describes the sample"));
}

#[test]
fn a_ratio_of_all_the_data_is_one_exact_value() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path(), 1.0, &ends(3.61, 3.61));
    let samples = run.cells()[0].metric(COMPRESSION_RATIO.name).unwrap();
    let summary = samples.summary().unwrap();
    assert_eq!(
        (summary.n, summary.interval, samples.no_interval()),
        (1, None, None)
    );
}
