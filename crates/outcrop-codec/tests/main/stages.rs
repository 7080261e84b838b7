//! zstd's stages put together again give zstd's own frame.

use std::cell::Cell;

use outcrop_codec::stages::{StageTimer, Verdict};

use crate::blocks::{random, words};

#[test]
fn the_stages_write_a_frame_that_zstd_reads_and_about_as_small() {
    for level in [-1, 1, 3, 10] {
        let mut timer = StageTimer::new(level).unwrap();
        for length in [4096, 16_384, 131_072] {
            let block = words(length, 3);
            let report = timer.run(&block, || 0).unwrap();
            let mut back = vec![0; length];
            zstd_safe::decompress(&mut back[..], timer.frame()).unwrap();
            assert!(back == block, "level {level} at {length} B");
            let (whole, parts) = (report.whole_bytes as f64, report.staged_bytes as f64);
            assert!(
                (0.97..1.03).contains(&(parts / whole)),
                "level {level}: {parts} B for {whole} B"
            );
        }
    }
}

#[test]
fn the_parts_are_differences_of_the_callers_ticks() {
    // What passes before each reading: the whole takes 10, finding and collecting 7, collecting again 2, sequences
    // alone 1, both entropy stages 4.
    let steps = [0, 10, 0, 7, 0, 2, 0, 1, 0, 4];
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
    assert_eq!(report.sum_ratio(), Some(0.9));
    assert_eq!(report.verdict(), Verdict::AddsUp);
    assert_eq!(report.plus(report).verdict(), Verdict::AddsUp);
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
