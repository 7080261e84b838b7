//! Runs, reports, figures and comparisons that cannot be.

use super::scene::Scene;
use crate::harness::outcrop;

const NOOP: [&str; 11] = [
    "device",
    "--engine",
    "noop",
    "--size",
    "1MiB",
    "--repetitions",
    "2",
    "--warm-up",
    "2ms",
    "--duration",
    "10ms",
];

/// A scene with two runs, `a` and `b`, of different depths, and a damaged third.
fn with_runs() -> Scene {
    let scene = Scene::new();
    for (name, depth) in [("a", "1"), ("b", "2"), ("damaged", "1")] {
        let args = [
            &NOOP[..],
            &["--queue-depth", depth, "--seed", "7", "--out", "made"],
        ]
        .concat();
        let made = outcrop(scene.dir(), &args);
        assert_eq!(made.code, Some(0), "{made:?}");
        let folder = std::fs::read_dir(scene.dir().join("made")).unwrap();
        let folder = folder.last().unwrap().unwrap().path();
        std::fs::rename(folder, scene.dir().join(name)).unwrap();
    }
    scene
}

#[test]
fn runs_and_comparisons_are_refused_with_what_is_missing() {
    let mut scene = with_runs();
    scene.file("mine.csv", "layer,subject\ndevice,x\n");
    std::fs::create_dir(scene.dir().join("empty")).unwrap();
    for line in [
        "report",
        "report empty",
        "report missing",
        "report a --beside nothing",
        "run --resume empty",
        "run --resume missing",
        "ab --resume a",
        "results export empty",
        "results compact missing",
        "runs missing",
        "runs prune",
        "runs prune --keep some",
        "runs prune --older 30",
        "figure missing",
        "figure a no-such-figure --png",
        "figure a iops-by-depth --png --width 84",
        "figure a iops-by-depth --png --width 1mm",
        "compare a",
        "compare a missing",
        "compare a mine.csv",
        "compare a b --margin 5",
        "compare a b --fail-if 'p99 5%'",
        "compare a b --fail-if 'speed > +5%'",
        "compare a b --assume state",
        "compare a toshiba-kxg60znv256g-fio --assume colour=blue",
        "ab ssd-queue-depth",
        "ab ssd-queue-depth --a queue_depth --b queue_depth=8",
        "ab ssd-queue-depth --a queue_depth=8 --b engine=psync",
        "ab ssd-queue-depth --a queue_dpeth=8 --b queue_dpeth=4",
        "ab ssd-queue-depth --a queue_depth=0 --b queue_depth=4",
        "ab no-such-plan --a queue_depth=1 --b queue_depth=4",
    ] {
        scene.refused(line);
    }
    insta::assert_snapshot!(scene.transcript());
}

#[test]
fn damaged_runs_say_which_file_and_what_to_do() {
    let mut scene = with_runs();
    let in_run = |name: &str| format!("damaged/{name}");
    let journal = std::fs::read_to_string(scene.dir().join("damaged/trials.ndjson")).unwrap();
    let keep = scene.dir().join("damaged");
    scene.file(&in_run("trials.ndjson"), journal.replacen('{', "<", 1));
    scene.refused("report damaged");
    scene.refused("run --resume damaged");
    scene.file(&in_run("trials.ndjson"), &journal);
    let environment = std::fs::read_to_string(keep.join("environment.json")).unwrap();
    scene.file(&in_run("environment.json"), "<");
    scene.refused("report damaged");
    scene.file(&in_run("environment.json"), environment);
    let plan = std::fs::read_to_string(keep.join("plan.toml")).unwrap();
    scene.file(
        &in_run("plan.toml"),
        plan.replace("queue_depth = 1", "queue_depth = 4"),
    );
    scene.refused("run --resume damaged");
    insta::assert_snapshot!(scene.transcript());
}
