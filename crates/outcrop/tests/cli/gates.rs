//! `--fail-if` in continuous integration: what decides, what passes, and what is named.

use std::path::Path;

use crate::compare::write_codec_plan;
use crate::harness::{command, names_in, only_run, outcrop, workplace};

/// A rate of a thousand times what any machine gives, and one of nothing: the candidate of `ab` and of `compare`, and the run of `report`.
#[test]
fn a_limit_is_checked_on_the_candidate_or_on_one_run_and_its_cells_are_named() {
    let dir = workplace();
    write_codec_plan(dir.path());
    let gate = |limit: &str| {
        let arguments = "ab mine.toml --a codec=lz4 --b codec=zstd:1 --repetitions 5 --no-save --fail-if";
        let arguments: Vec<&str> = arguments.split_whitespace().chain([limit]).collect();
        outcrop(dir.path(), &arguments)
    };
    let slow = gate("compress_speed < 1000TB/s");
    assert_eq!(slow.code, Some(1), "{slow:?}");
    let named: Vec<&str> = slow
        .stderr
        .lines()
        .filter(|line| line.starts_with("  compression, "))
        .collect();
    assert_eq!(named.len(), 2, "{slow:?}");
    let is_of_candidate = |line: &&str| line.contains("zstd:1") && line.contains("B/s (");
    assert!(
        named.iter().all(is_of_candidate),
        "the baseline is not judged: {slow:?}"
    );
    let fast = gate("compress_speed < 1B/s");
    assert_eq!(fast.code, Some(0), "{fast:?}");
    assert!(fast.stderr.contains("met by 0 of 2 cells\n"), "{fast:?}");
    let wrong = gate("compress_speed < 5ms");
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.sentence().contains("`5ms` is not a bandwidth"), "{wrong:?}");

    let run = |repetitions: &str, out: &str| {
        let seen = outcrop(
            dir.path(),
            &["run", "mine.toml", "--repetitions", repetitions, "--out", out],
        );
        assert_eq!(seen.code, Some(0), "{seen:?}");
        format!("{out}/{}", names_in(&dir.path().join(out))[0])
    };
    let (five, four) = (run("5", "five"), run("4", "four"));
    let report = |run: &str, limit: &str| outcrop(dir.path(), &["report", run, "--fail-if", limit]);
    let met = report(&five, "compress_speed < 1000TB/s");
    assert_eq!(met.code, Some(1), "{met:?}");
    // Behind `| head`, too: a reader that went away changes nothing of what was found.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut unread = command(
        dir.path(),
        &["report", &five, "--fail-if", "compress_speed < 1000TB/s"],
    );
    assert_eq!(unread.stdout(writer).status().unwrap().code(), Some(1));
    assert!(
        !met.stdout.is_empty(),
        "the summary is there all the same: {met:?}"
    );
    assert_eq!(report(&five, "compress_speed > 1000TB/s").code, Some(0));
    let few = report(&four, "compress_speed < 1000TB/s");
    assert_eq!(few.code, Some(2), "{few:?}");
    assert!(few.sentence().contains("fewer than 5 repetitions;"), "{few:?}");
    let relative = report(&five, "compress_speed < -5%");
    assert_eq!(relative.code, Some(2), "{relative:?}");
    assert!(relative.sentence().contains("needs a baseline"), "{relative:?}");
}

#[test]
fn a_condition_that_cannot_be_checked_is_named_and_hides_no_other_that_is_met() {
    let dir = workplace();
    let dir = dir.path();
    let measure = |out: &str, block_size: &str, duration: &str| {
        let flags = "device --engine noop --size 1MiB --repetitions 5 --warm-up 0s";
        let more = [
            "--io-block-size",
            block_size,
            "--duration",
            duration,
            "--out",
            out,
        ];
        let seen = outcrop(dir, &[&flags.split(' ').collect::<Vec<_>>()[..], &more].concat());
        assert_eq!(seen.code, Some(0), "{seen:?}");
        format!("{out}/{}", names_in(&dir.join(out))[0])
    };
    let (one, other) = (measure("one", "4k", "10ms"), measure("other", "64k", "10ms"));
    let again = measure("again", "4k", "10ms");
    let nothing_matches = "no cell can be compared, for the reasons above";
    // A run that only reads has no latency of writes.
    let lacking = ["--fail-if", "write_latency_p99 > 1ms"];
    let [met, not_met] = ["iops > 1", "iops < 1"].map(|condition| ["--fail-if", condition]);
    let all = [lacking, met, not_met];
    let in_json = [&["compare", &one, &again, "--format", "json"], all.as_flattened()].concat();
    let seen = outcrop(dir, &in_json);
    assert_eq!(seen.code, Some(1), "{seen:?}");
    let document: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
    let found = document["details"]["conditions"].as_array().unwrap();
    let outcomes = ["not-checked", "met", "not-met"];
    for ((condition, flags), outcome) in found.iter().zip(all).zip(outcomes) {
        assert_eq!(condition["condition"], flags[1]);
        assert_eq!(condition["outcome"], outcome, "{condition}");
    }
    assert_eq!(found[1]["beyond"][0]["metric"], "iops", "{found:?}");
    for command in [vec!["report", &one], vec!["compare", &one, &again]] {
        for conditions in [[lacking, met], [met, lacking]] {
            let seen = outcrop(dir, &[&command[..], conditions.as_flattened()].concat());
            assert_eq!(seen.code, Some(1), "{seen:?}");
            let said = "warning: --fail-if 'write_latency_p99 > 1ms': ";
            assert!(seen.stderr.contains(said), "{seen:?}");
            let said = "--fail-if 'iops > 1': met by 1 of 1 cell";
            assert!(seen.stderr.contains(said), "{seen:?}");
        }
        for conditions in [[lacking, not_met], [not_met, lacking]] {
            let seen = outcrop(dir, &[&command[..], conditions.as_flattened()].concat());
            assert_eq!(seen.code, Some(2), "{seen:?}");
            let said = "--fail-if 'iops < 1': met by 0 of 1 cell";
            assert!(seen.stderr.contains(said), "{seen:?}");
            let said = "error: --fail-if 'write_latency_p99 > 1ms': ";
            assert!(seen.stderr.contains(said), "{seen:?}");
        }
    }
    // Both have it, and no cell of one meets a cell of the other.
    let seen = outcrop(dir, &["compare", &one, &other, "--fail-if", "iops < -3%"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    let sentence = seen.sentence();
    assert!(
        sentence.contains("no cell of the candidate that has it matches a cell of the baseline")
            && !sentence.contains("no metric"),
        "{seen:?}"
    );
    // A limit is checked on the candidate all the same, and one that is met decides.
    for (limit, code, found) in [
        ("iops > 1", 1, "met by 1 of 1 cell"),
        ("iops < 1", 2, "met by 0 of 1 cell"),
    ] {
        let seen = outcrop(dir, &["compare", &one, &other, "--fail-if", limit]);
        assert_eq!(seen.code, Some(code), "{seen:?}");
        assert!(
            seen.stderr.contains(found) && seen.stderr.contains(nothing_matches),
            "{seen:?}"
        );
    }
}

#[test]
fn a_gate_says_how_many_cells_are_undecided_and_shows_the_metric_that_it_names() {
    let dir = workplace();
    let mut paths = Vec::new();
    for out in ["one", "two"] {
        let seen = outcrop(
            dir.path(),
            &[
                "device",
                "--engine",
                "noop",
                "--size",
                "1MiB",
                "--read-write-mix",
                "70:30",
                "--repetitions",
                "5",
                "--warm-up",
                "1ms",
                "--duration",
                "10ms",
                "--out",
                out,
            ],
        );
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let runs = names_in(&dir.path().join(out));
        paths.push(format!("{out}/{}", runs[0]));
    }
    let gate = [
        "compare",
        &paths[0],
        &paths[1],
        "--fail-if",
        "latency_max > +100000%",
        "--margin",
        "0.0001%",
    ];
    let seen = outcrop(dir.path(), &gate);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let strict = outcrop(dir.path(), &[&gate[..], &["--strict"]].concat());
    assert!(
        seen.stdout.contains("latency max: "),
        "it was asked about: {}",
        seen.stdout
    );
    assert!(
        seen.stdout.contains("read iops: ") || seen.stdout.contains("read IOPS: "),
        "{}",
        seen.stdout
    );
    // So small a margin calls nothing the same: what is not decided is said to pass.
    let said = seen
        .stderr
        .contains("met by 0 of 1 cell, 1 undecided, which passes: ");
    let is_decided = seen.stderr.trim_end().ends_with("met by 0 of 1 cell");
    // Other tests run beside this one.
    let is_under_load = seen.stderr.contains("1 undecided because the machine");
    assert!(said || is_decided || is_under_load, "{}", seen.stderr);
    let status = if is_decided { 0 } else { 2 };
    assert_eq!(strict.code, Some(status), "strictly: {strict:?}");
    assert_eq!(
        strict
            .stderr
            .contains("not every cell was checked and decided, which --strict asks for"),
        !is_decided,
        "{}",
        strict.stderr
    );
    assert!(!strict.stderr.contains("which passes"), "{}", strict.stderr);
}

/// Copies a run, with each line of its journal changed.
fn copy_run(from: &Path, to: &Path, change: &dyn Fn(&str) -> String) {
    std::fs::create_dir(to).unwrap();
    for file in ["plan.toml", "environment.json"] {
        std::fs::copy(from.join(file), to.join(file)).unwrap();
    }
    let journal = std::fs::read_to_string(from.join("trials.ndjson")).unwrap();
    let lines: String = journal.lines().map(change).collect();
    std::fs::write(to.join("trials.ndjson"), lines).unwrap();
}

/// Runs of two cells: whole, and with the second cell failed, nearly failed, or without its figure.
fn measure_and_damage(dir: &Path) {
    let flags =
        "device --engine noop --size 1MiB --queue-depth 1,8 --repetitions 5 --warm-up 0s --duration 10ms";
    let seen = outcrop(dir, &flags.split(' ').collect::<Vec<_>>());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let measured = only_run(dir);
    let run = |name: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let changed = |line: &str| {
            let mut trial: serde_json::Value = serde_json::from_str(line).unwrap();
            if trial["factors"]["queue_depth"] == "8" {
                change(&mut trial);
            }
            sealed(trial)
        };
        copy_run(&measured, &dir.join(name), &changed);
    };
    run("whole", &|_| ());
    run("again", &|trial| {
        trial["started_at"] = "2026-11-21T02:00:07.500Z".into();
    });
    run("failed", &|trial| {
        trial["outcome"] = serde_json::json!({"failed": {"message": "the device went away"}});
        trial["values"] = serde_json::json!([]);
    });
    run("crashing", &|trial| {
        if trial["repetition"] != 0 {
            trial["outcome"] = serde_json::json!({"failed": {"message": "out of memory"}});
            trial["values"] = serde_json::json!([]);
        }
    });
    run("lacking", &|trial| {
        let values = trial["values"].as_array_mut().unwrap();
        let iops = values.iter_mut().find(|value| value["metric"] == "iops").unwrap();
        iops["value"] = serde_json::Value::Null;
        iops["source"] = "nothing was counted".into();
    });
}

#[test]
fn a_gate_ends_with_2_where_the_candidate_failed_or_lacks_the_figure_unless_a_condition_is_met() {
    let dir = workplace();
    let dir = dir.path();
    measure_and_damage(dir);
    let gate = |candidate: &str, conditions: &[&str]| {
        let conditions = conditions.iter().flat_map(|condition| ["--fail-if", condition]);
        let command: Vec<&str> = ["compare", "whole", candidate]
            .into_iter()
            .chain(conditions)
            .collect();
        outcrop(dir, &command)
    };
    for (candidate, why) in [
        (
            "failed",
            "1 cell failed in the candidate, and cannot be checked; the first reason: the device went away",
        ),
        (
            "crashing",
            "trials of 1 cell failed in the candidate, and fewer than 5 completed, which decide nothing; the first reason: out of memory",
        ),
        (
            "lacking",
            "in 1 cell the candidate lacks this figure, which the baseline has; the first reason: unavailable in the candidate: nothing was counted",
        ),
    ] {
        for condition in ["iops < -90%", "iops < 1"] {
            let seen = gate(candidate, &[condition]);
            assert_eq!(seen.code, Some(2), "{seen:?}");
            assert!(
                seen.stderr.contains("met by 0 of 1 cell") && seen.sentence().contains(why),
                "{seen:?}"
            );
            let is_lost_twice = seen.stderr.contains("only in the baseline");
            assert!(!is_lost_twice, "{seen:?}");
            // One that is met decides, and the other stays said.
            let seen = gate(candidate, &[condition, "iops > 1"]);
            assert_eq!(seen.code, Some(1), "{seen:?}");
            assert!(
                seen.stderr
                    .contains(&format!("warning: --fail-if '{condition}': ")),
                "{seen:?}"
            );
        }
    }
    let seen = gate("again", &["iops < -90%"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    // A run alone has no baseline, and fails by its own cells.
    for (run, code) in [("whole", 0), ("failed", 2), ("crashing", 2)] {
        let seen = outcrop(dir, &["report", run, "--fail-if", "iops < 1"]);
        assert_eq!(seen.code, Some(code), "{seen:?}");
    }
}

/// A line of the journal whose IOPS are a level with a noise of 1 ‰, and beside which nothing is known to have run.
fn with_iops(line: &str, level: f64) -> String {
    let mut trial: serde_json::Value = serde_json::from_str(line).unwrap();
    let noise = 1.0 + 0.001 * trial["repetition"].as_f64().unwrap();
    trial["others_cpu_share"] = serde_json::Value::Null;
    let values = trial["values"].as_array_mut().unwrap();
    let iops = values.iter_mut().find(|value| value["metric"] == "iops");
    iops.unwrap()["value"] = (level * noise).into();
    sealed(trial)
}

/// A line of the journal with its checksum: of all bytes before the checksum's own field, which is the last.
fn sealed(mut trial: serde_json::Value) -> String {
    trial.as_object_mut().unwrap().remove("crc32c");
    let text = trial.to_string();
    let content = &text[..text.len() - 1];
    format!(
        "{content},\"crc32c\":\"{:08x}\"}}\n",
        crc32c::crc32c(content.as_bytes())
    )
}

/// A run of one cell, twice, whose IOPS are set to a level, as two separate runs would have been.
#[test]
fn a_change_that_two_separate_runs_may_have_by_drift_fails_no_gate_and_the_command_that_decides_it_is_named()
{
    let dir = workplace();
    let dir = dir.path();
    let flags = "device --engine noop --size 1MiB --repetitions 7 --warm-up 0s --duration 10ms";
    let seen = outcrop(dir, &flags.split(' ').collect::<Vec<_>>());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let measured = only_run(dir);
    let run = |name: &str, level: f64| {
        copy_run(&measured, &dir.join(name), &|line| with_iops(line, level));
        name.to_owned()
    };
    let (before, after) = (run("before", 1e5), run("after", 9.5e4));
    let gate = |more: &[&str]| {
        let command = ["compare", &before, &after, "--fail-if", "iops < -3%"];
        outcrop(dir, &[&command[..], more].concat())
    };
    let seen = gate(&[]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let said = "met by 0 of 1 cell, 1 undecided, beyond the threshold by less than the 5 % allowed for drift (--drift)";
    assert!(seen.stderr.contains(said), "{seen:?}");
    let command = format!("outcrop ab {before}/plan.toml --a FACTOR=VALUE --b FACTOR=VALUE");
    assert!(
        seen.stderr
            .contains(&format!("`{command}` measures both variants")),
        "{seen:?}"
    );
    let legend = "Better or worse: it lies beyond ± 5 %, by which two separate runs may differ.";
    assert!(seen.stdout.contains(legend), "{seen:?}");
    // The command that it names is one, where its reader says which factor.
    let command = command.replacen("FACTOR=VALUE", "queue_depth=1", 1);
    let command = command.replacen("FACTOR=VALUE", "queue_depth=2", 1);
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--dry-run"]).collect();
    let planned = outcrop(dir, &words);
    assert_eq!(planned.code, Some(0), "{planned:?}");

    // The table calls it worse, and the condition asks for more.
    let clear = run("clear", 9.3e4);
    let seen = outcrop(dir, &["compare", &before, &clear, "--fail-if", "iops < -3%"]);
    assert!(
        seen.stdout.contains("worse") && seen.stderr.contains(said),
        "{seen:?}"
    );
    let least = gate(&["--drift", "0.04%"]);
    assert!(least.stdout.contains("beyond ± 0.04 %"), "{least:?}");

    let without = gate(&["--drift", "0%"]);
    assert_eq!(without.code, Some(1), "{without:?}");
    assert!(
        without.stderr.contains("met by 1 of 1 cell") && !without.stderr.contains("outcrop ab"),
        "{without:?}"
    );
    assert!(!without.stdout.contains("Better or worse"), "{without:?}");
    let bad = gate(&["--drift", "5"]);
    assert_eq!(bad.code, Some(2), "{bad:?}");
    assert!(
        bad.stderr.contains("expected a percentage from 0 to 100"),
        "{bad:?}"
    );
}
