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
        conditions(&run, "Rows of a value, cached file"),
        "postings, 1.00 M rows, 10.0 k words, skew 0"
    );
    // A scan reads no index, and one file was scanned.
    assert_eq!(
        conditions(&run, "Rows of a value, by scan"),
        "1.00 M rows, 10.0 k words, skew 0"
    );
    let screen = Report::of(&run).screen(100, false);
    let line = screen
        .lines()
        .find(|line| line.contains("Rows of a value, cached file"));
    assert!(line.is_some_and(|line| line.contains("postings")), "{screen}");
}

#[test]
fn the_time_of_a_scan_names_the_file_that_was_scanned_where_there_are_two() {
    let time = |ns| [(LATENCY.p50, ns), (FILE_BYTES, 4e5)];
    let run = Builder::new()
        .generated(looked_up(Index::None, SearchMode::Scan), &time(55.8e3))
        .generated(looked_up(Index::Postings, SearchMode::Scan), &time(41e3))
        .build();
    assert_eq!(
        conditions(&run, "Rows of a value, by scan"),
        "postings, 1.00 M rows, 10.0 k words, skew 0"
    );
}

#[test]
fn the_time_of_a_lookup_in_memory_is_the_lowest_and_says_where_its_postings_come_from() {
    let time = |ns| [(LATENCY.p50, ns), (FILE_BYTES, 4e5)];
    let with = |none, postings| {
        let run = Builder::new()
            .generated(looked_up(Index::None, SearchMode::InMemory), &time(none))
            .generated(looked_up(Index::Postings, SearchMode::InMemory), &time(postings));
        conditions(&run.build(), "Rows of a value, in memory")
    };
    assert_eq!(
        with(343.0, 1140.0),
        "no index, postings built in memory as plain row numbers, 1.00 M rows, 10.0 k words, skew 0"
    );
    assert_eq!(with(1140.0, 343.0), "postings, 1.00 M rows, 10.0 k words, skew 0");
}

#[test]
fn more_threads_whose_speed_is_hardly_known_are_not_said_to_be_no_faster() {
    let with_threads = |threads: u32| {
        let mut factors = encoded();
        factors.set(&THREADS, threads);
        factors
    };
    let builder = Builder::new()
        .generated(with_threads(1), &[(ENCODE_SPEED, 25.4e6), (FILE_BYTES, 1e6)])
        .generated(with_threads(2), &[(ENCODE_SPEED, 25.5e6), (FILE_BYTES, 1e6)]);
    let mut run = builder.build();
    for trial in &mut run.trials {
        let factor = [0.6, 1.0, 1.6][trial.repetition as usize];
        let is_of_two = trial.factors[THREADS.name] == "2";
        for value in &mut trial.values {
            if is_of_two && value.metric == ENCODE_SPEED.name {
                value.value = value.value.map(|speed| speed * factor);
            }
        }
    }
    let report = Report::of(&run);
    let advice = &report.layers[0].answer.advice;
    let encoding = advice.iter().find(|claim| claim.topic == "Encoding").unwrap();
    assert!(
        encoding.brief.starts_with("not decided (encode speed, 2 threads"),
        "{}",
        encoding.brief
    );
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
