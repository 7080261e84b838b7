//! zstd's stages put together again give zstd's own frame.

use std::cell::Cell;

use outcrop_codec::stages::{StageReport, StageTimer, Verdict};

use crate::blocks::{random, words};

#[test]
fn the_stages_write_the_frame_of_the_whole_to_the_byte() {
    for level in [-1, 1, 3, 10] {
        let mut timer = StageTimer::new(level).unwrap();
        for length in [4096, 16_384, 131_072] {
            let block = words(length, 3);
            let report = timer.run(&block, || 0).unwrap();
            assert_eq!(
                report.whole_bytes, report.staged_bytes,
                "level {level} at {length} B"
            );
            let mut whole = zstd_safe::CCtx::create();
            whole
                .set_parameter(zstd_safe::CParameter::CompressionLevel(level))
                .unwrap();
            let mut frame = vec![0; zstd_safe::compress_bound(length)];
            let frame_bytes = whole.compress2(&mut frame[..], &block).unwrap();
            assert!(
                timer.frame() == &frame[..frame_bytes],
                "level {level} at {length} B"
            );
        }
    }
}

#[test]
fn the_parts_are_differences_of_the_callers_ticks() {
    // What passes before each reading: the whole takes 10, finding and collecting 7, collecting again 2, starting 3,
    // starting and sequences 4, starting and both entropy stages 7.
    let steps = [0, 10, 0, 7, 0, 2, 0, 3, 0, 4, 0, 7];
    let (now, reading) = (Cell::new(0), Cell::new(0));
    let clock = || {
        now.set(now.get() + steps[reading.get()]);
        reading.set(reading.get() + 1);
        now.get()
    };
    let report = StageTimer::new(1).unwrap().run(&words(4096, 1), clock).unwrap();
    assert_eq!((report.whole_ticks, report.match_finding_ticks), (10, 5));
    assert_eq!((report.entropy_ticks, report.sequence_ticks), (4, 1));
    assert_eq!((report.literal_ticks(), report.collecting_ticks), (3, 2));
    assert_eq!(report.starting_ticks, 3);
    assert_eq!(report.sum_ratio(), Some(0.9));
    assert_eq!(report.verdict(), Verdict::AddsUp);
    assert_eq!(report.plus(report).verdict(), Verdict::AddsUp);
}

#[test]
fn one_disturbed_run_of_three_does_not_show() {
    let mut timer = StageTimer::new(1).unwrap();
    let mut run = |step: u64| {
        let now = Cell::new(0);
        let clock = || now.replace(now.get() + step);
        timer.run(&words(4096, 1), clock).unwrap()
    };
    let (quiet, slower, disturbed) = (run(10), run(11), run(1_000));
    assert_eq!(StageReport::median([disturbed, quiet, slower]), slower);
    assert_eq!(StageReport::median([slower, disturbed, quiet]), slower);
    assert_eq!(StageReport::median([quiet, slower, disturbed]), slower);
}

#[test]
fn a_block_that_only_huffman_makes_smaller_has_stages_too() {
    // Drawn one by one from 64 values: 6 bits a byte, and hardly a match.
    let block: Vec<u8> = random(16_384, 7).iter().map(|byte| byte & 63).collect();
    for level in [1, 3, 10] {
        let mut timer = StageTimer::new(level).unwrap();
        let report = timer.run(&block, || 0).unwrap();
        assert!(report.literals > block.len() / 2, "level {level}: {report:?}");
        let mut back = vec![0; block.len()];
        zstd_safe::decompress(&mut back[..], timer.frame()).unwrap();
        assert!(back == block, "level {level}");
    }
}

#[test]
fn an_incompressible_block_has_no_stages_and_says_so() {
    let error = StageTimer::new(1)
        .unwrap()
        .run(&random(4096, 1), || 0)
        .unwrap_err()
        .to_string();
    assert!(error.contains("incompressible"), "{error}");
}
