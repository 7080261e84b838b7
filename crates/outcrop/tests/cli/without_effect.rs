//! What is asked for has an effect, or is refused: flags beside others, values that no cell keeps, formats and places.

use std::path::Path;

use crate::harness::{Seen, names_in, only_run, outcrop, workplace};

const TOSHIBA: &str = "toshiba-kxg60znv256g-fio";

fn seen(dir: &Path, line: &str) -> Seen {
    outcrop(dir, &line.split(' ').collect::<Vec<_>>())
}

/// Asserts that each command is refused, with these words.
fn refused(dir: &Path, cases: &[(&str, &str)]) {
    for (line, words) in cases {
        let seen = seen(dir, line);
        assert_eq!(seen.code, Some(2), "{line}: {seen:?}");
        assert!(seen.stderr.contains(words), "{line}: {}", seen.stderr);
    }
}

#[test]
fn a_verification_beside_a_job_file_is_refused_and_so_is_what_it_does_not_do() {
    let dir = workplace();
    std::fs::write(dir.path().join("j.fio"), "[a]\nrw=randread\nsize=8m\n").unwrap();
    for half in ["--verify", "--verify=write", "--verify=check"] {
        refused(
            dir.path(),
            &[(&format!("device --job j.fio {half}"), "cannot be used with")],
        );
    }
    refused(
        dir.path(),
        &[
            (
                "device --verify --beside nobody",
                "does not measure, so --beside has no effect",
            ),
            (
                "device --verify --tbw 600TB",
                "does not measure, so --tbw has no effect",
            ),
        ],
    );
}

#[test]
fn a_name_is_a_run_of_the_folder_that_is_given_and_its_copy_elsewhere_stays() {
    let dir = workplace();
    let line = "device --engine noop --size 8MiB --repetitions 1 --warm-up 0s --duration 10ms --quiet";
    assert_eq!(seen(dir.path(), line).code, Some(0));
    let run = only_run(dir.path());
    let name = run.file_name().unwrap().to_str().unwrap();
    let copy_to = |folder: &Path| {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        for file in names_in(&run) {
            let from = run.join(&file);
            if from.is_file() {
                std::fs::copy(from, folder.join(name).join(&file)).unwrap();
            }
        }
    };
    let archive = dir.path().join("archive");
    copy_to(&archive);
    copy_to(dir.path());
    refused(
        dir.path(),
        &[
            (
                &format!("runs remove {name} --yes"),
                "there are two runs of that name",
            ),
            (&format!("runs remove {name} --in missing --yes"), "missing/"),
        ],
    );
    let removed = seen(dir.path(), &format!("runs remove {name} --in archive --yes"));
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(!archive.join(name).exists() && dir.path().join(name).exists());
    let removed = seen(dir.path(), &format!("runs remove ./{name} --yes"));
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(!dir.path().join(name).exists() && run.exists());
}

#[test]
fn a_report_does_not_replace_that_of_another_run() {
    let dir = workplace();
    for out in ["a", "b"] {
        let line =
            "device --engine noop --size 8MiB --repetitions 1 --warm-up 0s --duration 10ms --quiet --out";
        assert_eq!(seen(dir.path(), &format!("{line} {out}")).code, Some(0));
    }
    let run = |out: &str| format!("{out}/{}", names_in(&dir.path().join(out))[0]);
    let [a, b] = [run("a"), run("b")];
    let cells = || std::fs::read_to_string(dir.path().join(&b).join("cells.csv")).unwrap();
    let before = cells();
    refused(
        dir.path(),
        &[(
            &format!("report {a} --output {b}"),
            "it is the folder of another run",
        )],
    );
    assert_eq!(cells(), before);
    for own in [
        format!("report {a} --output ./{a}"),
        format!("report {a} --output new"),
    ] {
        assert_eq!(seen(dir.path(), &own).code, Some(0), "{own}");
    }
}

#[test]
fn values_that_no_cell_of_a_device_keeps_are_refused_as_flags_and_left_out_of_some_cells() {
    let dir = workplace();
    refused(
        dir.path(),
        &[
            (
                "device --content random,zeros --size 8MiB --dry-run",
                "--content: it has no effect on reads",
            ),
            (
                "device --peak --engine psync --size 8MiB --dry-run",
                "--peak: it has no effect in an open loop, and with the engine psync",
            ),
            (
                "device --peak --arrival poisson:1000 --size 8MiB --dry-run",
                "--peak: it has no effect in an open loop",
            ),
        ],
    );
    let cells = |line: &str| {
        let seen = seen(dir.path(), &format!("{line} --size 8MiB --dry-run --format csv"));
        assert_eq!(seen.code, Some(0), "{line}: {seen:?}");
        seen.stdout.lines().count() - 1
    };
    assert_eq!(
        cells("device --content random,zeros --read-write-mix 100:0,0:100"),
        3
    );
    assert_eq!(cells("device --content zeros --replay written"), 1);
    assert_eq!(
        cells("device --submission refill,batch --arrival closed,poisson:1000"),
        3
    );
}

#[test]
fn a_refusal_names_the_factor_that_a_variant_sets_and_a_way_out_that_there_is() {
    let dir = workplace();
    std::fs::write(dir.path().join("data"), vec![7; 1 << 20]).unwrap();
    let plan = "name = \"p\"\nquestion = \"Why?\"\nlayer = \"filesystem\"\n[factors]\noperation = [\"random-read\"]\n";
    std::fs::write(dir.path().join("p.toml"), plan).unwrap();
    refused(
        dir.path(),
        &[
            (
                "ab p.toml --a sync=end --b sync=each:1 --dry-run",
                "--b: sync: it has no effect on this operation; leave it out",
            ),
            ("ab p.toml --a sync=end --b sync=often --dry-run", "sync `often`"),
        ],
    );
    let reads = "--content zeros --read-write-mix 100:0 --dry-run";
    let of_file = seen(dir.path(), &format!("device --read-only data {reads}"));
    assert!(
        of_file
            .stderr
            .ends_with("--content: it has no effect on reads; leave it out\n"),
        "{of_file:?}"
    );
    let of_scratch = format!("device --size 8MiB {reads}");
    refused(
        dir.path(),
        &[(
            &of_scratch,
            "on reads; leave it out, or add writes, as in --read-write-mix 50:50",
        )],
    );
}

#[test]
fn a_run_of_a_file_that_does_not_end_with_a_sector_can_be_repeated() {
    let dir = workplace();
    std::fs::write(dir.path().join("data"), vec![7; 129_992]).unwrap();
    let line = "device --read-only data --repetitions 1 --warm-up 0s --duration 10ms --quiet";
    let measured = seen(dir.path(), line);
    assert_eq!(measured.code, Some(0), "{measured:?}");
    let run = only_run(dir.path());
    let run = run.to_str().unwrap();
    let plan = std::fs::read_to_string(format!("{run}/plan.toml")).unwrap();
    assert!(plan.contains("size = 129536\n"), "{plan}");
    for again in [
        format!("run {run}/plan.toml --dry-run"),
        format!("run --resume {run}"),
    ] {
        let again = seen(dir.path(), &again);
        assert!(!again.stderr.contains("not the size"), "{again:?}");
    }
    assert_eq!(
        seen(dir.path(), &format!("run {run}/plan.toml --dry-run")).code,
        Some(0)
    );
}

#[test]
fn values_that_no_cell_of_a_filesystem_keeps_are_refused_and_so_is_a_warm_up() {
    let dir = workplace();
    let of_operation = |line: &str| format!("filesystem {line} --dry-run");
    let cases = [
        ("--sync end,each:1", "--sync: it has no effect on this operation"),
        (
            "--operation write --age overwritten:25%",
            "--age: it has no effect",
        ),
        (
            "--operation append --page-cache warm",
            "--page-cache: it has no effect",
        ),
        ("--file-size 1k,4k", "use --operation small-files"),
        ("--operation small-files --files 8", "--files: it has no effect"),
        (
            "--operation small-files --io-block-size 64k",
            "--io-block-size: it has no effect",
        ),
        (
            "--filesystem ext4,btrfs --compress-policy heuristic",
            "--compress-policy: it has no effect without btrfs and a compression",
        ),
        ("--access direct --page-cache warm,cold", "go past the page cache"),
        ("--warm-up 3s", "--warm-up: none of these plans has a warm-up"),
    ];
    for (line, words) in cases {
        refused(dir.path(), &[(&of_operation(line), words)]);
    }
    let plan = "name = \"p\"\nquestion = \"Why?\"\nlayer = \"filesystem\"\n[trial]\nwarm_up = \"1s\"\n";
    std::fs::write(dir.path().join("p.toml"), plan).unwrap();
    refused(
        dir.path(),
        &[(
            "run p.toml --dry-run",
            "trials of the filesystem layer have no warm-up",
        )],
    );
    // What other plans have a use for is no warm-up of theirs.
    let line = "run ssd-queue-depth fs-choice --effort quick --warm-up 1s --dry-run --format csv";
    let both = seen(dir.path(), line);
    assert_eq!(both.code, Some(0), "{both:?}");
    assert!(
        both.stdout.contains(",1,") && both.stdout.contains(",0,"),
        "{}",
        both.stdout
    );
}

#[test]
fn trials_that_end_with_their_data_take_no_duration_and_longer_ones_are_those_of_more_data() {
    let dir = workplace();
    let line =
        "filesystem --directory . --operation append --io-block-size 64k --sample-size 13MiB --repetitions 2";
    let dry = seen(dir.path(), &format!("{line} --duration 5s --dry-run"));
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert!(
        dry.stdout
            .contains("filesystem: 2 trials of at most 5s per cell, until all data are written\n"),
        "{}",
        dry.stdout
    );
    let measured = seen(dir.path(), &format!("{line} --duration 5s --quiet"));
    assert_eq!(measured.code, Some(0), "{measured:?}");
    let run = only_run(dir.path());
    let run = run.to_str().unwrap();
    let gate = outcrop(dir.path(), &["report", run, "--fail-if", "p99 > 1s"]);
    assert!(
        gate.stderr
            .contains("longer trials have more (`sample_size` and --duration)"),
        "{gate:?}"
    );
    let image = "filesystem --operation write --filesystem ext4";
    let with = seen(dir.path(), &format!("{image} --duration 5s --dry-run"));
    assert_eq!(with.code, Some(2), "{with:?}");
    let root = rustix::process::geteuid().is_root();
    assert!(
        !root || with.stderr.contains("a trial lasts until all data are written"),
        "{with:?}"
    );
}

#[test]
fn a_path_is_refused_where_the_plan_names_the_place_that_it_measures() {
    let dir = workplace();
    std::fs::write(dir.path().join("data"), vec![7; 1 << 20]).unwrap();
    for (layer, kind, path) in [("device", "read-only", "data"), ("filesystem", "directory", ".")] {
        let plan = format!(
            "name = \"p\"\nquestion = \"Why?\"\nlayer = \"{layer}\"\n[subject]\nkind = \"{kind}\"\npath = \"{path}\"\n"
        );
        std::fs::write(dir.path().join("p.toml"), plan).unwrap();
        refused(
            dir.path(),
            &[(
                "run p.toml --path . --dry-run",
                "--path: what is measured is at the place",
            )],
        );
        assert_eq!(seen(dir.path(), "run p.toml --dry-run").code, Some(0));
    }
}

#[test]
fn keys_of_a_plan_that_can_have_no_effect_are_refused() {
    let dir = workplace();
    let plan = "name = \"p\"\nquestion = \"Why?\"\nlayer = \"device\"\nbudget = \"doubt\"\n";
    std::fs::write(dir.path().join("p.toml"), plan).unwrap();
    refused(
        dir.path(),
        &[
            (
                "run p.toml --dry-run",
                "budget = \"doubt\" is for plans of the kv layer",
            ),
            (
                "run ssd-snia-iops --effort quick --repetitions 3 --dry-run",
                "--repetitions: rounds are steady after 5 in a row",
            ),
        ],
    );
}

#[test]
fn a_format_that_contradicts_is_refused() {
    let dir = workplace();
    let line = "device --engine noop --size 8MiB --repetitions 1 --warm-up 0s --duration 250ms --queue-depth 1,8 --quiet";
    assert_eq!(seen(dir.path(), line).code, Some(0));
    let run = only_run(dir.path());
    let run = run.to_str().unwrap();
    let export = |more: &str| format!("results export {run} {more}");
    refused(
        dir.path(),
        &[
            ("plans ssd-queue-depth --format json", "a plan is printed as TOML"),
            ("plans ssd-queue-depth --format csv", "a plan is printed as TOML"),
            (&export("--format csv -o x.parquet"), "say two formats"),
            (&export("--format fio-json -o x.csv"), "say two formats"),
            (
                &format!("figure {run} iops-by-depth --csv --width 84mm"),
                "CSV has no width",
            ),
        ],
    );
    assert!(!dir.path().join("x.parquet").exists());
    for more in [
        "--format csv -o x.txt",
        "--format fio-json -o x.json",
        "--format csv -o x.csv",
    ] {
        assert_eq!(seen(dir.path(), &export(more)).code, Some(0), "{more}");
    }
}

#[test]
fn references_are_drawn_by_every_command_that_takes_them_or_it_is_said_that_none_is() {
    let dir = workplace();
    let short = "--size 1MiB --duration 50ms --warm-up 0s --quiet";
    let plan = "name = \"p\"\nquestion = \"Why?\"\nlayer = \"device\"\n[subject]\nsize = \"1MiB\"\n[factors]\nqueue_depth = [1, 8, 32]\n";
    std::fs::write(dir.path().join("p.toml"), plan).unwrap();
    let ab = format!(
        "ab p.toml --a submission=refill --b submission=batch --repetitions 2 {short} --beside {TOSHIBA}"
    );
    let ended = seen(dir.path(), &ab);
    assert!(ended.code.is_some_and(|code| code < 3), "{ended:?}");
    let run = only_run(dir.path());
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("\"kind\":\"published\""), "no published series");
    let unknown = format!("ab --resume {} --fail-if p98>+5%", run.display());
    refused(dir.path(), &[(&unknown, "measures no metric \"p98\"")]);

    let line = format!(
        "device --io-block-size 8k --queue-depth 3 --repetitions 1 --no-save {short} --beside {TOSHIBA}"
    );
    let without = seen(dir.path(), &line);
    assert_eq!(without.code, Some(0), "{without:?}");
    let note = format!("note: {TOSHIBA} has nothing that a chart of this run shows\n");
    assert_eq!(without.stderr, note);
    refused(
        dir.path(),
        &[(
            "import fio missing.json --beside asic-ratio-percentiles",
            "and this run measures device",
        )],
    );
}

#[test]
fn the_share_of_the_rated_endurance_is_said_also_where_nothing_else_is() {
    let dir = workplace();
    let line =
        "device --size 4MiB --repetitions 1 --duration 20ms --warm-up 0s --no-save --quiet --tbw 600TB";
    let seen = seen(dir.path(), line);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stderr.contains("of the rated 600 TB"), "{seen:?}");
}

#[test]
fn a_duration_of_plans_that_encode_each_column_once_is_refused() {
    let dir = workplace();
    let plan = "run column-choice --effort quick --dry-run";
    let dry = seen(dir.path(), plan);
    assert!(
        dry.stdout.contains("column-choice: ") && dry.stdout.contains("each until the column is encoded"),
        "{dry:?}"
    );
    let refused = seen(dir.path(), &format!("{plan} --duration 5s"));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("where a trial lasts until the column is encoded; leave it out"),
        "{refused:?}"
    );
}
