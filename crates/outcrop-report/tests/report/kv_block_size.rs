//! Which block size is advised beside a codec, and for which codec.

use outcrop_report::Report;
use outcrop_report::answer::Claim;
use outcrop_results::RunView;
use outcrop_schema::kv::{THREADS, THROUGHPUT};

use crate::kv_fixture::{Stored, of};

const fn cell(codec: &'static str, block_size: &'static str, throughput: f64, stored: f64) -> Stored {
    Stored {
        codec,
        block_size,
        filesystem: "ext4",
        throughput,
        stored,
    }
}

fn advice(cells: &[Stored], topic: &str) -> Claim {
    find(&of(cells), topic).expect(topic)
}

fn find(run: &RunView, topic: &str) -> Option<Claim> {
    let report = Report::of(run);
    let mut claims = report.layers[0].answer.advice.iter();
    claims.find(|claim| claim.topic == topic).cloned()
}

/// Sizes that tie under LZ4, and do not under Zstandard and without compression.
const SEVERAL: [Stored; 6] = [
    cell("none", "4KiB", 100e3, 110e6),
    cell("none", "16KiB", 120e3, 108e6),
    cell("lz4", "4KiB", 90e3, 55e6),
    cell("lz4", "16KiB", 91e3, 54e6),
    cell("zstd:3", "4KiB", 45e3, 45e6),
    cell("zstd:3", "16KiB", 60e3, 40e6),
];

#[test]
fn the_advice_on_block_sizes_names_the_codec_of_each_size() {
    let size = advice(&SEVERAL, "Block size");
    assert_eq!(
        size.brief,
        "rocksdb lz4: 16KiB (tie with 4KiB); without compression and with zstd:3: 16KiB is the fastest"
    );
    assert!(
        size.text
            .contains("without compression and with zstd:3: 16KiB is the fastest"),
        "{}",
        size.text
    );
    // Of one codec there is no other to tell it from.
    let alone = [SEVERAL[0], SEVERAL[2], SEVERAL[3]];
    let size = advice(&alone, "Block size");
    assert_eq!(size.brief, "rocksdb lz4: 16KiB (tie with 4KiB)");
}

#[test]
fn the_block_size_advised_is_that_of_the_advice_on_compression() {
    // The smallest of those that tie is another one, and so is the fastest.
    let slower = [
        cell("none", "4KiB", 100e3, 110e6),
        cell("lz4", "4KiB", 90e3, 80e6),
        cell("lz4", "16KiB", 70e3, 50e6),
    ];
    // The sizes of a codec that is not advised are not those to set.
    let of_another = [
        cell("none", "4KiB", 100e3, 110e6),
        cell("lz4", "4KiB", 40e3, 80e6),
        cell("lz4", "16KiB", 41e3, 79e6),
        cell("lz4", "64KiB", 42e3, 78e6),
        cell("zstd:3", "4KiB", 90e3, 45e6),
        cell("zstd:3", "16KiB", 88e3, 43e6),
    ];
    for (cells, store, size) in [
        (&SEVERAL[..], "rocksdb lz4", "16KiB"),
        (&slower[..], "rocksdb lz4", "16KiB"),
        (&of_another[..], "rocksdb zstd:3", "16KiB"),
    ] {
        let compress = advice(cells, "Compress blocks").brief;
        assert!(
            compress.starts_with(&format!("{store} {size} on ext4")),
            "{compress}"
        );
        let action = advice(cells, "Block size").action.expect("it is decided");
        assert!(
            action.starts_with(&format!("With {store}, use blocks of {size}: ")),
            "{action}"
        );
    }
    let brief = advice(&slower, "Block size").brief;
    assert_eq!(
        brief,
        "rocksdb lz4: 16KiB; 4KiB: throughput +29 %, 60 % more of the space"
    );
}

#[test]
fn the_block_size_advised_is_that_of_the_advice_on_codecs_where_nothing_is_uncompressed() {
    let cells = [
        cell("lz4", "4KiB", 50e3, 36e6),
        cell("lz4", "16KiB", 51e3, 35e6),
        cell("zstd:3", "4KiB", 49e3, 28e6),
        cell("zstd:3", "16KiB", 65e3, 26e6),
    ];
    let codec = advice(&cells, "Codec").brief;
    assert!(codec.starts_with("rocksdb zstd:3 16KiB on ext4"), "{codec}");
    let size = advice(&cells, "Block size").action.expect("it is decided");
    assert!(
        size.starts_with(
            "With rocksdb zstd:3, use blocks of 16KiB: the highest throughput of the sizes measured"
        ),
        "{size}"
    );
    // Another load, under which another size is faster, has no say.
    let mut both = of(&cells);
    let others = both.trials.clone().into_iter().map(|mut trial| {
        trial.factors.insert(THREADS.name.to_owned(), "64".to_owned());
        let factor = if trial.factors["compression_block_size"] == "4KiB" {
            9.0
        } else {
            1.0
        };
        let throughputs = trial.values.iter_mut();
        for value in throughputs.filter(|value| value.metric == THROUGHPUT.name) {
            value.value = value.value.map(|throughput| throughput * factor);
        }
        trial
    });
    let others: Vec<_> = others.collect();
    both.trials.extend(others);
    let codec = find(&both, "Codec").expect("there are two codecs").brief;
    assert!(codec.starts_with("rocksdb zstd:3 16KiB on ext4"), "{codec}");
    // Sizes that are as good are no reason to take another one than the smallest.
    let tied = [
        cell("lz4", "16KiB", 51e3, 36e6),
        cell("lz4", "4KiB", 50e3, 36e6),
        cell("zstd:3", "16KiB", 49.5e3, 27.9e6),
        cell("zstd:3", "4KiB", 49e3, 28e6),
    ];
    let codec = advice(&tied, "Codec").brief;
    assert!(codec.starts_with("rocksdb zstd:3 4KiB on ext4"), "{codec}");
}

#[test]
fn no_block_size_is_advised_for_a_codec_that_is_not() {
    // Blocks are better stored as they are.
    let useless = [
        cell("none", "4KiB", 100e3, 110e6),
        cell("lz4", "4KiB", 90e3, 108e6),
        cell("lz4", "16KiB", 91e3, 107e6),
    ];
    let compress = advice(&useless, "Compress blocks").action.expect("it is decided");
    assert!(compress.starts_with("Store blocks uncompressed"), "{compress}");
    let size = advice(&useless, "Block size");
    assert_eq!(size.action, None);
    assert!(!size.text.contains("Compress blocks"), "{}", size.text);
    // The codec that is advised has one size, another one two.
    let of_another = [
        cell("none", "4KiB", 100e3, 110e6),
        cell("lz4", "4KiB", 40e3, 80e6),
        cell("lz4", "16KiB", 41e3, 79e6),
        cell("zstd:3", "4KiB", 90e3, 45e6),
    ];
    let compress = advice(&of_another, "Compress blocks").brief;
    assert!(compress.starts_with("rocksdb zstd:3 4KiB"), "{compress}");
    assert_eq!(find(&of(&of_another), "Block size"), None);
}

#[test]
fn the_block_sizes_of_other_codecs_are_left_out_where_they_are_hardly_known_and_take_no_advice_away() {
    let with = |change: fn(&mut RunView)| {
        let mut run = of(&SEVERAL);
        change(&mut run);
        find(&run, "Block size").expect("there are two")
    };
    let of_one_trial = with(|run| {
        run.trials
            .retain(|trial| trial.factors["compression"] != "zstd:3" || trial.repetition == 0);
    });
    let wide = with(|run| {
        let is_known_badly = |compression: &str| compression == "zstd:3";
        let trials = run.trials.iter_mut();
        for trial in trials.filter(|trial| is_known_badly(&trial.factors["compression"])) {
            let factor = [0.4, 1.0, 1.6][trial.repetition as usize];
            for value in trial
                .values
                .iter_mut()
                .filter(|value| value.metric == THROUGHPUT.name)
            {
                value.value = value.value.map(|throughput| throughput * factor);
            }
        }
    });
    let disturbed = with(|run| {
        for trial in &mut run.trials {
            let is_disturbed = trial.factors["compression"] == "zstd:3";
            trial.others_cpu_share = Some(if is_disturbed { 0.5 } else { 0.01 });
        }
    });
    for size in [of_one_trial, wide, disturbed] {
        assert_eq!(
            size.brief,
            "rocksdb lz4: 16KiB (tie with 4KiB); without compression: 16KiB is the fastest"
        );
        assert!(size.action.is_some(), "{size:?}");
    }
}
