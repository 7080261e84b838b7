//! Which block size is advised beside a codec, and for which codec.

use outcrop_report::Report;
use outcrop_report::answer::Claim;

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
    let report = Report::of(&of(cells));
    let mut claims = report.layers[0].answer.advice.iter();
    claims.find(|claim| claim.topic == topic).expect(topic).clone()
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
