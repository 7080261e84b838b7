//! What is advised on writing column files, and what is said where little of them was measured.

use outcrop_report::Report;
use outcrop_report::answer::ReadingOutcome;
use outcrop_results::RunView;
use outcrop_schema::column::{
    ENCODE_SPEED, FILE_BYTES, Index, LATENCY, PROFILE, Profile, SIZE_OVER_FLOOR, THREADS,
};
use outcrop_workload::column::SearchMode;

use crate::column_fixture::{Builder, encoded, looked_up};

/// Where the figure of a row was reached.
fn conditions(run: &RunView, label: &str) -> String {
    let report = Report::of(run);
    let mut rows = report.layers[0].answer.capabilities.iter();
    let row = rows.find(|row| row.label == label).expect("the row");
    match &row.readings[0].outcome {
        ReadingOutcome::Measured { conditions, .. } => conditions.clone(),
        ReadingOutcome::Missing(absence) => panic!("{label}: {}", absence.reason),
    }
}

#[test]
fn the_speed_of_encoding_names_the_threads_and_the_profile_where_they_vary_and_counts_ties() {
    const COLUMN: &str = "1.00 M rows, 10.0 k words, skew 0";
    let with_speeds = |speeds: &[(u32, Profile, f64)]| {
        let cell = |builder: Builder, (threads, profile, speed): &(u32, Profile, f64)| {
            let mut factors = encoded();
            factors.set(&THREADS, *threads);
            factors.set(&PROFILE, *profile);
            builder.generated(factors, &[(ENCODE_SPEED, *speed), (FILE_BYTES, 1e6)])
        };
        let run = speeds.iter().fold(Builder::new(), cell).build();
        conditions(&run, "Fastest encode")
    };
    let (balanced, fastest) = (Profile::Balanced, Profile::Fastest);
    for (speeds, expected) in [
        (&[(1, balanced, 2e7)][..], COLUMN.to_owned()),
        (
            &[(1, balanced, 2e7), (8, balanced, 5e7)][..],
            format!("8 threads, {COLUMN}"),
        ),
        (
            &[(1, balanced, 5e7), (8, balanced, 2e7)][..],
            format!("1 thread, {COLUMN}"),
        ),
        (
            &[(1, balanced, 2e7), (1, fastest, 3e7)][..],
            format!("profile fastest, {COLUMN}"),
        ),
        (
            &[(4, balanced, 5e7), (8, balanced, 5e7)][..],
            format!("4 threads, {COLUMN}; ties with 1 other"),
        ),
    ] {
        assert_eq!(with_speeds(speeds), expected, "{speeds:?}");
    }
}

#[test]
fn the_time_of_a_lookup_names_the_postings_that_it_needs_on_the_screen_too() {
    let time = |ns| [(LATENCY.p50, ns), (FILE_BYTES, 4e5)];
    let run = Builder::new()
        .generated(looked_up(Index::None, SearchMode::OnDisk), &time(8e4))
        .generated(looked_up(Index::Postings, SearchMode::OnDisk), &time(6e3))
        .generated(looked_up(Index::None, SearchMode::Scan), &time(9e4))
        .build();
    assert_eq!(
        conditions(&run, "Rows of a value, on disk"),
        "postings, 1.00 M rows, 10.0 k words, skew 0"
    );
    // A scan reads no index.
    assert_eq!(
        conditions(&run, "Rows of a value, by scan"),
        "1.00 M rows, 10.0 k words, skew 0"
    );
    let screen = Report::of(&run).screen(100, false);
    let line = screen
        .lines()
        .find(|line| line.contains("Rows of a value, on disk"));
    assert!(line.is_some_and(|line| line.contains("postings")), "{screen}");
}

#[test]
fn the_advice_on_encoding_names_the_fewest_threads_that_are_as_fast() {
    let with_threads = |threads: u32| {
        let mut factors = encoded();
        factors.set(&THREADS, threads);
        factors
    };
    let run = Builder::new()
        .generated(with_threads(1), &[(ENCODE_SPEED, 25.4e6), (FILE_BYTES, 1e6)])
        .generated(with_threads(2), &[(ENCODE_SPEED, 25.5e6), (FILE_BYTES, 1e6)]);
    let report = Report::of(&run.build());
    let advice = &report.layers[0].answer.advice;
    let encoding = advice.iter().find(|claim| claim.topic == "Encoding").unwrap();
    assert!(
        encoding.brief.starts_with("up to 25.4 MB/s"),
        "{}",
        encoding.brief
    );
    assert!(
        encoding
            .brief
            .contains("with 1 thread; 2 threads are no faster (25.5 MB/s"),
        "{}",
        encoding.brief
    );
}

#[test]
fn what_was_not_measured_of_columns_names_a_command() {
    let report = Report::of(
        &Builder::new()
            .generated(encoded(), &[(SIZE_OVER_FLOOR, 1.1)])
            .build(),
    );
    let screen = report.to_html();
    assert!(!screen.contains("see the column- plans"), "{screen}");
}
