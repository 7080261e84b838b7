//! The balanced codec: where there is one, and what is said where there is none.

use outcrop_report::{Constraints, Report};
use outcrop_results::RunView;

use crate::compression::advice;
use crate::compression_fixture::{Builder, CODECS, Codec, codec};

fn of(codecs: &[Codec]) -> RunView {
    Builder::new(5).speeds(codecs, &[64], &[1]).build()
}

#[test]
fn of_two_codecs_that_are_each_best_in_one_none_is_balanced_and_what_each_gives_is_said() {
    let (brief, text) = advice(&of(&CODECS[3..5]), "Balanced");
    assert!(
        brief.starts_with("none: zstd:19, 64 KiB takes 15 % less space; zstd:1, 64 KiB is "),
        "{brief}"
    );
    assert!(!text.contains("tie"), "{text}");
    // One that is nearer by less is none either.
    assert!(text.contains(", by 5 % or more, than the smallest"), "{text}");
    let columns = &Report::of(&of(&CODECS[3..5])).layers[0].answer.capabilities[0].readings;
    assert_eq!(columns.len(), 2, "no column says that a balance was not measured");
    let constraints = Constraints {
        min_ratio: Some(9.0),
        ..Constraints::default()
    };
    let report = Report::under(&of(&CODECS[3..5]), &[], &constraints, None);
    let balanced = report.layers[0].answer.advice.iter();
    let balanced: Vec<_> = balanced.filter(|claim| claim.topic == "Balanced").collect();
    assert!(
        balanced.len() == 1 && balanced[0].action.is_none() && balanced[0].brief.contains("breaks the limit"),
        "no instruction breaks the limit: {balanced:?}"
    );
}

#[test]
fn what_is_between_the_smallest_and_the_fastest_or_about_as_good_as_both_is_balanced() {
    // With one between them, or where the fastest is as small as any, there is one.
    let (brief, _) = advice(&of(&[CODECS[1], CODECS[3], CODECS[4]]), "Balanced");
    assert_eq!(brief, "zstd:1, 64 KiB (clear)");
    let as_small = [codec("lz4:1", 1.6, 7e8, 3e9), codec("snappy", 1.6, 2e8, 1e9)];
    let (brief, _) = advice(&of(&as_small), "Balanced");
    assert_eq!(brief, "lz4:1, 64 KiB (clear)");
    // One that is smaller and as fast is both, and so is one that is faster and nearly as small.
    for (other, balanced) in [
        (codec("a", 1.5, 7.1e8, 3e9), "lz4:1, 64 KiB (tie with a 64K)"),
        (codec("a", 1.61, 1e8, 1e9), "lz4:1, 64 KiB (clear)"),
        (codec("a", 1.7, 1e8, 1e9), "none: a, 64 KiB takes 6 % less space"),
    ] {
        let (brief, _) = advice(&of(&[CODECS[1], other]), "Balanced");
        assert!(brief.starts_with(balanced), "{brief}");
    }
    // A third one that two others beat changes nothing.
    let beaten = codec("deflate-zlib:1", 2.5, 3e6, 3e8);
    let (brief, _) = advice(&of(&[CODECS[3], CODECS[4], beaten]), "Balanced");
    assert!(
        brief.starts_with("none: zstd:19, 64 KiB takes 15 % less space"),
        "{brief}"
    );
}

#[test]
fn larger_blocks_that_are_smaller_and_slower_are_advised_on_though_none_is_balanced() {
    // Of one codec, larger blocks are smaller and here slower: what they give is said all the same.
    let slower = Codec {
        compress: 1e8,
        ..CODECS[3]
    };
    let sizes = Builder::new(5)
        .speeds(&CODECS[3..4], &[4], &[1])
        .speeds(&[slower], &[64], &[1])
        .build();
    assert!(advice(&sizes, "Balanced").0.starts_with("none: "));
    let (brief, _) = advice(&sizes, "Block size");
    assert!(brief.contains("instead of 4 KiB: ratio +"), "{brief}");
}
