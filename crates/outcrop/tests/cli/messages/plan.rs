//! Plans that cannot be run.

#![allow(
    clippy::too_many_lines,
    reason = "a list of all there is, in which nothing is to be found but its entries"
)]

use super::scene::Scene;

const HEAD: &str = "name = \"mine\"\nquestion = \"How fast?\"\nlayer = \"device\"\n";

#[test]
fn plans_are_refused_by_line_with_what_is_accepted() {
    let mut scene = Scene::new();
    let plans = [
        ("empty", String::new()),
        ("syntax", format!("{HEAD}[workload\n")),
        ("no-question", "name = \"mine\"\nlayer = \"device\"\n".to_owned()),
        (
            "no-layer",
            "name = \"mine\"\nquestion = \"How fast?\"\n".to_owned(),
        ),
        ("bad-name", HEAD.replace("mine", "my plan")),
        ("no-such-layer", HEAD.replace("device", "devise")),
        ("no-such-key", format!("{HEAD}[workload]\nqueue_dpeth = 4\n")),
        ("of-fio", format!("{HEAD}[workload]\niodepth = 4\n")),
        ("no-such-table", format!("{HEAD}[load]\nqueue_depth = 4\n")),
        ("no-such-subject", format!("{HEAD}[subject]\ndisk = \"sda\"\n")),
        ("wrong-type", format!("{HEAD}[workload]\nqueue_depth = true\n")),
        ("out-of-range", format!("{HEAD}[workload]\nqueue_depth = 0\n")),
        ("too-deep", format!("{HEAD}[workload]\nqueue_depth = 1000000\n")),
        (
            "not-a-mix",
            format!("{HEAD}[workload]\nread_write_mix = \"70:31\"\n"),
        ),
        ("empty-factor", format!("{HEAD}[factors]\nqueue_depth = []\n")),
        ("twice", format!("{HEAD}[factors]\nqueue_depth = [1, 1]\n")),
        (
            "in-both",
            format!("{HEAD}[workload]\nqueue_depth = 1\n[factors]\nqueue_depth = [1, 2]\n"),
        ),
        ("no-repetition", format!("{HEAD}[trial]\nrepetitions = 0\n")),
        ("no-unit", format!("{HEAD}[trial]\nduration = 3\n")),
        ("too-short", format!("{HEAD}[trial]\nduration = \"1ms\"\n")),
        (
            "long-interval",
            format!("{HEAD}[trial]\nduration = \"1s\"\ninterval = \"2s\"\n"),
        ),
        ("no-such-design", format!("design = \"latin-square\"\n{HEAD}")),
        (
            "deep-psync",
            format!("{HEAD}[workload]\nengine = \"psync\"\nqueue_depth = 8\n"),
        ),
        (
            "large-blocks",
            format!("{HEAD}[subject]\nsize = \"1MiB\"\n[workload]\nio_block_size = \"2MiB\"\n"),
        ),
        (
            "large-span",
            format!("{HEAD}[subject]\nsize = \"1MiB\"\n[workload]\nspan = \"2MiB\"\n"),
        ),
        (
            "no-such-codec",
            HEAD.replace("device", "compression") + "[workload]\ncodec = \"gzip\"\n",
        ),
        (
            "no-such-policy",
            HEAD.replace("device", "cache") + "[workload]\npolicy = \"mru\"\n",
        ),
        (
            "no-such-operation",
            HEAD.replace("device", "column") + "[workload]\noperation = \"delete\"\n",
        ),
    ];
    for (name, plan) in plans {
        scene.file(&format!("{name}.toml"), plan);
        scene.refused(&format!("run {name}.toml --dry-run"));
    }
    scene.file("not-text.toml", [0xff, 0xfe]);
    std::fs::create_dir(scene.dir().join("folder")).unwrap();
    for line in [
        "run missing.toml",
        "run no-such-desing.toml",
        "run ssd-matricks.toml",
        "run plans/ssd-max.toml",
        "run not-text.toml",
        "run ssd-matricks",
        "plans ssd-queue-dept",
        "run folder",
    ] {
        scene.refused(line);
    }
    insta::assert_snapshot!(scene.transcript());
}
