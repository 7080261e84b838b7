//! What is advised on writing column files, and what is said where little of them was measured.

use outcrop_report::Report;
use outcrop_schema::column::{ENCODE_SPEED, FILE_BYTES, SIZE_OVER_FLOOR, THREADS};

use crate::column_fixture::{Builder, encoded};

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
