//! Key-value engines and their factors that cannot be measured.

use super::scene::Scene;

#[test]
fn engines_and_their_factors_are_refused_before_a_database_is_created() {
    let mut scene = Scene::new();
    for line in [
        "kv --engine leveldb",
        "kv --compression zstd:3",
        "kv --engine rocksdb --compression zstd:99",
        "kv --engine redb --compression lz4",
        "kv --engine redis --compression lz4",
        "kv --block-size 100",
        "kv --level-codecs none/zip",
        "kv --bottommost zstd:9",
        "kv --dictionary 16k",
        "kv --bloom-bits 99",
        "kv --write-buffer 1k",
        "kv --compaction tiered",
        "kv --compaction universal",
        "kv --io direct",
        "kv --durability sometimes",
        "kv --filesystem ntfs",
        "kv --workload ycsb-g",
        "kv --requests zipf",
        "kv --records 0",
        "kv --value-size gaussian",
        "kv --content entropy:9",
        "kv --content random --data missing",
        "kv --data missing",
        "kv --threads 0",
        "kv --processes 0",
        "kv --arrival poisson",
        "kv --memory-limit 1k",
        "kv --settling soon",
        "kv --page-cache cold",
        "kv /no/such/place --seed 1",
        "kv --queue-depth 4",
    ] {
        scene.refused(line);
    }
    insta::assert_snapshot!(scene.transcript());
}
