//! Codecs and data that cannot be measured.

use super::scene::Scene;

#[test]
fn codecs_and_data_are_refused_with_what_is_accepted() {
    let mut scene = Scene::new();
    scene.file("data", "slate ".repeat(20_000));
    scene.file("short", "slate");
    scene.file("empty", "");
    scene.file("damaged.gz", [&[0x1f, 0x8b, 8, 0][..], &[0; 60]].concat());
    std::fs::create_dir(scene.dir().join("nothing")).unwrap();
    for line in [
        "codec --codec gzip",
        "codec --codec zstd:99",
        "codec --codec zstd:fast",
        "codec --codec lz4:0",
        "codec --block-size 0",
        "codec --block-size 4GiB",
        "codec --data data --block-size 1MiB",
        "codec --data data --sample-size 4KiB --block-size 64KiB",
        "codec --sample-size 0",
        "codec --threads 0",
        "codec --threads some",
        "codec --context old",
        "codec --caches lukewarm",
        "codec --content entropy:9",
        "codec --content entropy:1 --data data",
        "codec --content entropy:1,zeros --data -",
        "run robustness --data data",
        "kv --content zeros --data data",
        "codec --stages --codec lz4",
        "codec --stages --threads 2",
        "codec --stages --measurement speed",
        "codec --data missing",
        "codec --data empty",
        "codec --data nothing",
        "codec --data /dev/null",
        "codec --data short --block-size 64KiB",
        "codec --data damaged.gz --repetitions 1 --seed 1 --quiet",
        "codec list --format yaml",
        "codec table nothing",
    ] {
        scene.refused(line);
    }
    insta::assert_snapshot!(scene.transcript());
}
