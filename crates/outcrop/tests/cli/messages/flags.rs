//! Flags that are wrong before anything is looked at.

use super::scene::Scene;

#[test]
fn flags_are_refused_with_what_is_accepted() {
    let mut scene = Scene::new();
    for line in [
        "profle",
        "profile --quikc",
        "profile --quick --full",
        "profile --format yaml",
        "profile --layer network",
        "profile --size 4XB",
        "profile --size -1",
        "profile --budget 90",
        "profile --seed soon",
        "profile --repetitions many",
        "profile --repetitions 0",
        "profile --no-save --out elsewhere",
        "profile /no/such/place --quick",
        "profile --layer device --quick --budget 1ms",
        "profile --layer device --quick --max-written 1KiB",
        "profile --layer device --tbw 1",
        "profile --beside nothing",
        "profile --server localhost --layer cache",
        "profile --data /no/such/data --layer compression",
        "run",
        "run --resume",
        "run --resume runs/a --seed 1",
        "run ssd-matrix --effort thorough",
        "run codec-choice --quick",
        "run codec-choice --full",
        "run kv-compression --engine rocksdb --compression zstd:3",
        "run kv-compression --set engine=rocksdb",
        "kv --colour red",
        "plans no-such-plan",
        "references no-such-reference",
        "completions cmd",
        "man nothing",
        "workload",
        "workload zipf:2",
        "workload etc --keys 0",
    ] {
        scene.refused(line);
    }
    insta::assert_snapshot!(scene.transcript());
}
