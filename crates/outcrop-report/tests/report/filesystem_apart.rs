//! Answers of runs whose cells differ in more than the filesystem: which of them a row is of.

use outcrop_report::Report;
use outcrop_report::answer::ReadingOutcome;
use outcrop_schema::filesystem::{
    ACCESS, AGE, EXTENTS, IO_BLOCK_SIZE, LATENCY, OPERATION, SPACE_RATIO, SYNC,
};

use crate::filesystem::Builder;
use crate::filesystem_costs::cell;

#[test]
fn a_row_of_cold_reads_names_the_size_and_the_access_where_cells_differ_in_them() {
    let of = |size, access| [(IO_BLOCK_SIZE.name, size), (ACCESS.name, access)];
    let p50 = |ns| [(LATENCY.p50, ns)];
    let mut builder = Builder::new();
    for (size, access, ns) in [
        ("4KiB", "direct", 90_000.0),
        ("4KiB", "buffered", 80_000.0),
        ("64KiB", "direct", 200_000.0),
    ] {
        builder = cell(builder, ("ext4", "none"), &of(size, access), &p50(ns));
    }
    let answer = Report::of(&builder.run).layers[0].answer.clone();
    let mut rows = answer.capabilities.iter();
    let row = rows.find(|row| row.label == "Fastest cold small read, p50");
    match &row.expect("cold reads").readings[0].outcome {
        ReadingOutcome::Measured { conditions, .. } => {
            let names = |words: &str| conditions.contains(words);
            assert!(
                names("4KiB") && (names("direct") || names("buffered")),
                "{conditions}"
            );
        }
        missing => panic!("{missing:?}"),
    }
}

#[test]
fn cells_of_one_filesystem_are_one_configuration_and_no_rivals() {
    let of = |sync| [(OPERATION.name, "overwrite"), (SYNC.name, sync)];
    let builder = cell(
        Builder::new(),
        ("ext4", "none"),
        &of("end"),
        &[(SPACE_RATIO, 0.99)],
    );
    let run = cell(builder, ("ext4", "none"), &of("each:1"), &[(SPACE_RATIO, 0.99)]).run;
    let answer = Report::of(&run).layers[0].answer.clone();
    assert!(
        answer.subject.ends_with("· 1 configuration"),
        "{}",
        answer.subject
    );
    let rows = serde_json::to_string(&answer.capabilities).unwrap();
    assert!(!rows.contains("ties with"), "{rows}");
}

#[test]
fn what_ageing_leaves_names_the_age_where_a_run_has_several() {
    let aged = |age| [(OPERATION.name, "sequential-read"), (AGE.name, age)];
    let mut builder = Builder::new();
    for (age, extents) in [
        ("fresh", 128.0),
        ("overwritten:10%", 300.0),
        ("overwritten:25%", 640.0),
    ] {
        builder = cell(builder, ("btrfs", "zstd:3"), &aged(age), &[(EXTENTS, extents)]);
    }
    let report = Report::of(&builder.run);
    let mut advice = report.layers[0].answer.advice.iter();
    let claim = advice.find(|claim| claim.topic == "After ageing").expect("aged");
    for words in ["overwritten:10%: 128 → 300", "overwritten:25%: 128 → 640"] {
        assert!(
            claim.brief.contains(words) && claim.text.contains(words),
            "{claim:?}"
        );
    }
    assert!(
        !claim.text.contains("after ageing (overwritten"),
        "{}",
        claim.text
    );
}
