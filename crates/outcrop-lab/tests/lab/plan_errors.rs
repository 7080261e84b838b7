//! Every way to write a plan wrongly that we thought of, and the one sentence that it gets.

use outcrop_lab::{Draft, PlanOptions, PlanSet, PlanSource};
use outcrop_measure::units::TimeSpan;

use super::scene::{SMALL_PLAN, directory, try_plan_set};

/// The plan that each row changes.
const GOOD: &str = r#"name = "good"
question = "Is it refused?"
layer = "device"

[subject]
kind = "scratch-file"
size = { quick = "1MiB", default = "2MiB", full = "4MiB" }

[workload]
io_block_size = "4KiB"
read_write_mix = "100:0"

[factors]
queue_depth = [1, 32]

[trial]
repetitions = 3
duration = "100ms"
"#;

/// What is replaced in the good plan, by what, and the sentence.
const TABLE: &[(&str, &str, &str)] = &[
    // Structure.
    (
        "layer = \"device\"",
        "layer = ",
        "plan.toml:3:9: not TOML: string values must be quoted, expected literal string",
    ),
    (
        "name = \"good\"",
        "",
        "plan.toml:1:1: the plan has no `name`; expected a name in quotes, such as \"ssd-queue-depth\"",
    ),
    (
        "layer = \"device\"",
        "",
        "plan.toml:1:1: the plan has no `layer`; expected a layer in quotes, such as \"device\"",
    ),
    (
        "layer = \"device\"",
        "layers = \"device\"",
        "plan.toml:3:1: unknown key `layers` in a plan; did you mean `layer`?",
    ),
    (
        "layer = \"device\"",
        "layer = \"devise\"",
        "plan.toml:3:9: unknown layer \"devise\"; did you mean `device`?",
    ),
    (
        "layer = \"device\"",
        "layer = 3",
        "plan.toml:3:9: layer is the whole number 3; expected a layer in quotes, such as \"device\"",
    ),
    (
        "[trial]",
        "[trail]",
        "plan.toml:16:2: unknown key `trail` in a plan; did you mean `trial`?",
    ),
    (
        "name = \"good\"",
        "name = \"good plan\"",
        "plan.toml:1:8: the name \"good plan\" cannot be used; use letters, digits, `-`, `_` and `.`, at most 64 of them",
    ),
    // Keys.
    (
        "queue_depth =",
        "queue_dpeth =",
        "plan.toml:14:1: unknown key `queue_dpeth` in the factors of layer device; did you mean `queue_depth`?",
    ),
    (
        "io_block_size =",
        "colour =",
        "plan.toml:10:1: unknown key `colour` in the workload of layer device; accepted: access_pattern, io_block_size, read_write_mix, queue_depth, jobs, drives, arrival, content, span, replay, sync, access, numa_node, submission, completions, latency_parts, engine",
    ),
    (
        "kind =",
        "knid =",
        "plan.toml:6:1: unknown key `knid` in the subject of layer device; did you mean `kind`?",
    ),
    (
        "repetitions =",
        "repetition =",
        "plan.toml:17:1: unknown key `repetition` in [trial]; did you mean `repetitions`?",
    ),
    (
        "quick =",
        "quik =",
        "plan.toml:7:10: unknown key `quik` in subject.size; did you mean `quick`?",
    ),
    (
        ", full = \"4MiB\"",
        "",
        "plan.toml:7:8: subject.size has no value for `full`; give one value, or quick, default and full",
    ),
    // Types.
    (
        "[1, 32]",
        "32",
        "plan.toml:14:15: factors.queue_depth is the whole number 32; expected a list such as [1, 32] or [\"lz4\", \"zstd:1\"]",
    ),
    (
        "[1, 32]",
        "[1, 3.2]",
        "plan.toml:14:19: factors.queue_depth is the number 3.2; expected text in quotes or a whole number",
    ),
    (
        "\"4KiB\"",
        "[\"4KiB\", \"8KiB\"]",
        "plan.toml:10:17: workload.io_block_size is a list; a parameter that varies belongs in [factors]",
    ),
    (
        "\"4KiB\"",
        "true",
        "plan.toml:10:17: workload.io_block_size is true; expected text in quotes or a whole number",
    ),
    (
        "repetitions = 3",
        "repetitions = \"three\"",
        "plan.toml:17:15: trial.repetitions is the text \"three\"; expected a whole number from 1 to 1000",
    ),
    (
        "\"100ms\"",
        "100",
        "plan.toml:18:12: trial.duration is the whole number 100; expected a time in quotes, such as \"30s\" or \"250ms\"",
    ),
    (
        "\"100ms\"",
        "\"100 parsecs\"",
        "plan.toml:18:12: trial.duration is \"100 parsecs\"; expected a time in quotes, such as \"30s\" or \"250ms\"",
    ),
    // Values.
    (
        "repetitions = 3",
        "repetitions = 0",
        "plan.toml:17:15: trial.repetitions is 0; expected a whole number from 1 to 1000",
    ),
    (
        "\"100ms\"",
        "\"1ms\"",
        "plan.toml:18:12: duration is 1ms; expected 10ms or more",
    ),
    (
        "\"100ms\"",
        "\"100ms\"\ninterval = \"1s\"",
        "plan.toml:19:12: interval is 1s; expected more than 0s and at most the duration, 100ms",
    ),
    (
        "[1, 32]",
        "[]",
        "plan.toml:14:1: `queue_depth` has no values; give at least one, such as queue_depth = [32]",
    ),
    (
        "[1, 32]",
        "[1, \"1\"]",
        "plan.toml:14:19: `queue_depth` has the value 1 twice; keep one of the two",
    ),
    (
        "[1, 32]",
        "[0]",
        "plan.toml:14:16: queue_depth: `0` is not a count; expected a whole number from 1",
    ),
    (
        "[1, 32]",
        "[1, 99999]",
        "plan.toml:14:19: queue_depth is 99999; expected 1 to 16384",
    ),
    (
        "queue_depth =",
        "io_block_size =",
        "plan.toml:14:1: `io_block_size` varies here and is fixed in [workload]; keep one of the two",
    ),
    (
        "\"4KiB\"",
        "0",
        "plan.toml:10:17: io_block_size: 0 is not the size of a direct access; expected a multiple of 512 B, such as 4KiB",
    ),
    (
        "\"4KiB\"",
        "3000",
        "plan.toml:10:17: io_block_size: 3kB is not the size of a direct access; expected a multiple of 512 B, such as 4KiB",
    ),
    (
        "\"4KiB\"",
        "\"4MiB\"",
        "plan.toml:10:17: io_block_size is 4MiB, larger than the span of 2MiB; make the subject larger or the accesses smaller",
    ),
    (
        "\"4KiB\"",
        "\"4KiB\"\nspan = \"1GiB\"",
        "plan.toml:11:8: span is 1GiB, larger than the subject of 2MiB; give at most that, or \"all\"",
    ),
    (
        "\"4KiB\"",
        "\"4KiB\"\naccess_pattern = \"strided:6KiB\"",
        "plan.toml:11:18: a stride of 6KiB is not a multiple of io_block_size, 4KiB; choose a multiple",
    ),
    (
        "\"4KiB\"",
        "\"4KiB\"\nsubmission = \"bach\"",
        "plan.toml:11:14: submission: unknown submission \"bach\"; did you mean `batch`?",
    ),
    (
        "\"4KiB\"",
        "\"4KiB\"\nengine = \"psync\"",
        "plan.toml:15:19: queue_depth is 32; expected 1 with the psync engine, which has one request in flight per job; raise jobs instead",
    ),
    (
        "\"100:0\"",
        "\"90:20\"",
        "plan.toml:11:18: read_write_mix: read:write mix `90:20`: reads and writes add up to 110, not to 100 per cent",
    ),
    (
        "\"1MiB\", default = \"2MiB\"",
        "\"1MiB\", default = \"2 bits\"",
        "plan.toml:7:36: size: `2 bits` is not a byte size: the unit `bits` is not known; expected for example `512`, `4KiB`, `128k` (= 128 KiB), `1.5GiB` or `1MB` (= 1,000,000)",
    ),
    (
        "kind = \"scratch-file\"",
        "path = \"/dev/null\"",
        "plan.toml:6:8: Outcrop creates the scratch file in the directory of the run, and it has no path; leave `path` out, or use kind = \"read-only\" to read an existing file",
    ),
    (
        "\"scratch-file\"",
        "\"read-only\"",
        "plan.toml:6:8: a read-only subject needs `path`, the file or block device to read",
    ),
    (
        "\"scratch-file\"",
        "\"read-only\"\npath = \"/no/such/file\"",
        "plan.toml:7:8: cannot open /no/such/file: No such file or directory (os error 2); check the spelling",
    ),
];

#[test]
fn each_mistake_gets_one_sentence_with_its_place_and_what_is_accepted() {
    let directory = directory();
    assert!(try_plan_set(GOOD, directory.path()).is_ok());
    let mut wrong = Vec::new();
    for (from, to, expected) in TABLE {
        assert_eq!(
            GOOD.matches(from).count(),
            1,
            "{from:?} is not in the plan just once"
        );
        let seen = match try_plan_set(&GOOD.replace(from, to), directory.path()) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        if seen != *expected {
            wrong.push(format!(
                "{from:?} -> {to:?}\n  expected {expected}\n  seen     {seen}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_is_one_hole_is_refused_and_one_with_data_is_not() {
    let directory = directory();
    let path = directory.path().join("sparse");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(1 << 20).unwrap();
    let plan = |size: &str| {
        let kind = format!("kind = \"read-only\"\npath = {path:?}\n{size}");
        SMALL_PLAN
            .replace("size = \"4MiB\"", &kind)
            .replace(", \"50:50\"", "")
    };
    let refused = |size: &str| {
        let error = try_plan_set(&plan(size), directory.path()).unwrap_err();
        assert!(error.is_bad_input(), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("is sparse") && text.contains("a file with data"),
            "{text}"
        );
    };
    refused("");
    // Data at its end make it a file with holes; the part before them is one all the same.
    std::os::unix::fs::FileExt::write_all_at(&file, &[7; 4096], (1 << 20) - 4096).unwrap();
    assert!(try_plan_set(&plan(""), directory.path()).is_ok());
    refused("size = \"512KiB\"");
}

#[test]
fn writes_to_what_outcrop_did_not_create_are_refused_with_the_plan() {
    let directory = directory();
    let file = directory.path().join("data");
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    let text = GOOD
        .replace("\"scratch-file\"", &format!("\"read-only\"\npath = {file:?}"))
        .replace("size = {", "size.x = {")
        .lines()
        .filter(|line| !line.starts_with("size"))
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    assert!(try_plan_set(&text, directory.path()).is_ok());
    let error = try_plan_set(&text.replace("100:0", "70:30"), directory.path())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "plan.toml:11:18: the mix 70:30 contains writes, but Outcrop only reads files that it did not create; use 100:0, \
         or write to a scratch file: name a directory without --read-only or, in a plan, kind = \"scratch-file\""
    );
    let too_large = text.replace("kind =", "size = \"2MiB\"\nkind =");
    let error = try_plan_set(&too_large, directory.path())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        format!(
            "plan.toml:6:8: size is 2MiB, but {} holds 1MiB; give at most that, or leave it out",
            file.display()
        )
    );
}

#[test]
fn a_flag_is_named_where_it_is_at_fault() {
    let draft = Draft::new("device", "?", "device", "outcrop device").with_workload(
        &outcrop_schema::device::QUEUE_DEPTH,
        ["1", "many"],
        "--queue-depth",
    );
    let error = PlanSet::from_drafts(vec![draft], &PlanOptions::default()).unwrap_err();
    assert!(error.is_bad_input());
    assert_eq!(
        error.to_string(),
        "--queue-depth: `many` is not a count; expected a whole number from 1"
    );
    let options = PlanOptions {
        repetitions: Some(0),
        ..PlanOptions::default()
    };
    let draft = Draft::new("device", "?", "device", "outcrop device");
    let error = PlanSet::from_drafts(vec![draft], &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "--repetitions: repetitions is 0; expected 1 to 1000"
    );
}

#[test]
fn plans_of_one_run_have_different_names_and_there_is_at_least_one() {
    let source = PlanSource {
        name: "plan.toml".to_owned(),
        text: GOOD.to_owned(),
    };
    let twice = PlanSet::from_sources(&[source.clone(), source], &PlanOptions::default()).unwrap_err();
    assert_eq!(
        twice.to_string(),
        "plan.toml:1:8: there is already a plan named \"good\" in this run"
    );
    let none = PlanSet::from_sources(&[], &PlanOptions::default()).unwrap_err();
    assert_eq!(none.to_string(), "plans: none was given; name at least one");
}

#[test]
fn a_budget_that_cannot_be_kept_says_how_much_is_needed() {
    let source = PlanSource {
        name: "plan.toml".to_owned(),
        text: GOOD.replace("100ms", "10s"),
    };
    let options = PlanOptions {
        budget: Some(TimeSpan::milliseconds(500)),
        ..PlanOptions::default()
    };
    let error = PlanSet::from_sources(&[source], &options).unwrap_err();
    assert!(error.is_bad_input());
    assert_eq!(
        error.to_string(),
        "a budget of 500ms is too short for 6 trials, which take at least 1s; raise the budget, or reduce cells or repetitions"
    );
}

#[test]
fn an_expanded_plan_is_run_alone_and_at_its_own_effort() {
    let directory = directory();
    let text = try_plan_set(GOOD, directory.path()).unwrap().to_toml();
    let source = PlanSource {
        name: "plan.toml".to_owned(),
        text,
    };
    let options = PlanOptions {
        effort: Some(outcrop_lab::Effort::Full),
        ..PlanOptions::default()
    };
    let error = PlanSet::from_sources(&[source], &options)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "plan.toml:5:10: this expanded plan has only the values of effort default; leave the effort out, or run the original plans"
    );
}
