//! Codecs of levels and of the last level: what they replace, how cells are named, and what is said of one that compressed nothing.

use crate::harness::{names_in, outcrop, workplace};
use crate::kv_settings::arguments;

#[test]
fn settings_that_another_leaves_without_effect_are_refused_with_what_to_type() {
    let dir = workplace();
    let run = |more: &[&str]| outcrop(dir.path(), &arguments(&[more, &["--dry-run"]].concat()));
    const REPLACED: &str = "--level-codecs: codecs of levels replace --compression, so";
    const UNUSED: &str =
        "--dictionary: nothing is compressed, so a dictionary has no effect; leave it out, or choose a codec";
    for (args, words) in [
        (
            ["fjall", "--compression", "none,lz4", "--level-codecs", "lz4/lz4"],
            REPLACED,
        ),
        (
            ["fjall", "--compression", "lz4", "--level-codecs", "none/lz4"],
            REPLACED,
        ),
        (
            [
                "rocksdb",
                "--compression",
                "none,zstd:3",
                "--level-codecs",
                "lz4/lz4",
            ],
            REPLACED,
        ),
        (["rocksdb", "--compression", "none", "--dictionary", "4k"], UNUSED),
        (
            ["rocksdb", "--level-codecs", "none/none", "--dictionary", "4k"],
            UNUSED,
        ),
    ] {
        let seen = run(&[&["--engine"], &args[..]].concat());
        assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
        assert!(seen.stderr.contains(words), "{args:?}: {}", seen.stderr);
    }
    for args in [
        [
            "rocksdb",
            "--compression",
            "zstd:9",
            "--level-codecs",
            "none/zstd",
        ],
        ["rocksdb", "--compression", "none,zstd:3", "--dictionary", "4k"],
        ["rocksdb", "--level-codecs", "none/zstd", "--dictionary", "4k"],
        ["rocksdb", "--level-codecs", "none,none/lz4", "--dictionary", "0"],
        ["fjall", "--level-codecs", "all,none/lz4", "--threads", "1"],
    ] {
        let seen = run(&[&["--engine"], &args[..]].concat());
        assert_eq!(seen.code, Some(0), "{args:?}: {seen:?}");
    }
    assert!(names_in(dir.path()).is_empty(), "nothing was begun");
}

#[test]
fn cells_are_named_by_the_codecs_of_their_levels_and_one_that_nothing_reached_is_said() {
    let dir = workplace();
    let args = [
        "--engine",
        "fjall",
        "--level-codecs",
        "none,lz4,none/none/lz4",
        "--workload",
        "ycsb-c",
    ];
    let seen = outcrop(dir.path(), &arguments(&args));
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let shown = seen.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    // The codec that the levels replace names nothing.
    assert!(
        !shown.contains("fjall lz4") && !shown.contains("compression lz4"),
        "{shown}"
    );
    assert!(
        shown.contains("Lowest space amplification") && shown.contains("fjall levels lz4 4KiB"),
        "{shown}"
    );
    assert!(
        shown.contains(
            "In 1 cell a codec for lower levels was never used, because no data had been compacted into those levels (fjall levels none/none/lz4 4KiB"
        ),
        "{shown}"
    );
}
