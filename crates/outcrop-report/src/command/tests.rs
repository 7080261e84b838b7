//! Commands are complete, as a shell reads them, and of what can be run.

use outcrop_schema::{column, compression, kv};

use super::*;

const PLAN: &str = "[run]\neffort = \"quick\"\ndirectory = \"/mnt/my disk\"\ndata = \"/srv/it's.csv\"\n\
    [[plan]]\nlayer = \"kv\"\n[plan.subject]\ndata = \"/srv/it's.csv\"\n\
    [[plan]]\nlayer = \"device\"\n[plan.subject]\nkind = \"scratch-file\"\nsize = \"1GiB\"\n";

#[test]
fn commands_have_what_the_run_had_in_words_that_a_shell_reads() {
    let commands = Commands::about("runs/a run", PLAN);
    assert_eq!(
        commands.again(&["kv"], More::Repetitions(9)).unwrap(),
        "outcrop run 'runs/a run/plan.toml' --layer kv --repetitions 9"
    );
    assert_eq!(
        commands.again(&["kv", "device"], More::Repetitions(9)).unwrap(),
        "outcrop run 'runs/a run/plan.toml' --repetitions 9"
    );
    assert_eq!(
        commands.plans(&["kv-ycsb"], &[&kv::SCHEMA]),
        r"outcrop run kv-ycsb --effort quick --path '/mnt/my disk' --data '/srv/it'\''s.csv'"
    );
    // What did not measure the data may refuse them.
    assert_eq!(
        commands.plans(&["column-size"], &[&column::SCHEMA]),
        "outcrop run column-size --effort quick --path '/mnt/my disk'"
    );
    assert_eq!(
        commands.device(Direction::Read, "--queue-depth 1").unwrap(),
        "outcrop device '/mnt/my disk' --size 1GiB --queue-depth 1"
    );
    assert_eq!(
        commands.report("--p99 2ms"),
        "outcrop report 'runs/a run' --p99 2ms"
    );
}

#[test]
fn commands_that_write_of_a_run_with_a_limit_have_one_to_fill_in_and_those_that_read_have_the_runs() {
    let limited = PLAN.replace("[run]\n", "[run]\nmax_written = \"40MB\"\n");
    let commands = Commands::about("runs/a", &limited);
    assert_eq!(
        commands.plans(&["kv-ycsb"], &[&kv::SCHEMA]),
        r"outcrop run kv-ycsb --effort quick --path '/mnt/my disk' --data '/srv/it'\''s.csv' --max-written BYTES"
    );
    assert_eq!(
        commands.plans(&["ssd-access-size"], &[&DEVICE]),
        "outcrop run ssd-access-size --effort quick --path '/mnt/my disk' --size 1GiB --max-written BYTES"
    );
    // What writes nothing needs no limit.
    assert_eq!(
        commands.plans(&["codec-choice"], &[&compression::SCHEMA]),
        "outcrop run codec-choice --effort quick --path '/mnt/my disk'"
    );
    assert_eq!(
        commands.device(Direction::Read, "--queue-depth 1").unwrap(),
        "outcrop device '/mnt/my disk' --size 1GiB --queue-depth 1 --max-written 40MB"
    );
    assert_eq!(
        commands
            .device(Direction::Write, "--read-write-mix 0:100")
            .unwrap(),
        "outcrop device '/mnt/my disk' --size 1GiB --read-write-mix 0:100 --max-written BYTES"
    );
    assert!(to_fill_in("outcrop run kv-ycsb --max-written BYTES").contains("`--dry-run`"));
    assert_eq!(to_fill_in("outcrop run kv-ycsb --max-written 40MB"), "");
}

#[test]
fn data_that_only_the_plan_of_a_run_names_are_in_commands_unless_their_plan_generates_its_data() {
    let plan =
        |data: &str| format!("[run]\n[[plan]]\nlayer = \"compression\"\n[plan.subject]\ndata = \"{data}\"\n");
    let missing = |plan: &str, generates_data| Missing {
        title: "a figure".to_owned(),
        reason: "it was not measured.".to_owned(),
        plan: plan.to_owned(),
        effort: LeastEffort::Quick,
        generates_data,
    };
    let filling = |data: &str, missing: &Missing| {
        let commands = Commands::about("runs/a", &plan(data));
        commands.filling(missing, &[&compression::SCHEMA]).unwrap()
    };
    let percentiles = missing("ratio-percentiles", false);
    assert_eq!(
        filling("/srv/dump", &percentiles),
        "outcrop run ratio-percentiles --data /srv/dump"
    );
    assert_eq!(filling("sample", &percentiles), "outcrop run ratio-percentiles");
    assert_eq!(
        filling("generated", &percentiles),
        "outcrop run ratio-percentiles"
    );
    assert_eq!(
        filling("/srv/dump", &missing("robustness", true)),
        "outcrop run robustness"
    );
}

#[test]
fn a_command_for_what_a_quick_run_lacks_has_the_effort_whose_plan_has_it() {
    let missing = |effort| Missing {
        title: "a table".to_owned(),
        reason: "it was not measured.".to_owned(),
        plan: "kv-ycsb".to_owned(),
        effort,
        generates_data: false,
    };
    let commands = Commands::about("", "[run]\neffort = \"quick\"\n");
    let filling = |effort| commands.filling(&missing(effort), &[&kv::SCHEMA]).unwrap();
    assert_eq!(filling(LeastEffort::Quick), "outcrop run kv-ycsb --effort quick");
    assert_eq!(filling(LeastEffort::Default), "outcrop run kv-ycsb");
    assert_eq!(filling(LeastEffort::Full), "outcrop run kv-ycsb --effort full");
    let nowhere = Missing {
        plan: String::new(),
        ..missing(LeastEffort::Quick)
    };
    assert_eq!(commands.filling(&nowhere, &[&kv::SCHEMA]), None);
}

#[test]
fn what_a_run_of_a_device_lacks_is_measured_on_that_device_and_not_in_the_directory_of_the_command() {
    let plan = "[run]\ndirectory = \"/home\"\n[[plan]]\nlayer = \"device\"\n[plan.subject]\nkind = \"destroyed-device\"\n\
        path = \"/dev/loop0\"\ndestroy = \"/srv/disk.img\"\n";
    let commands = Commands::about("runs/a", plan);
    let missing = Missing {
        title: "a table".to_owned(),
        reason: "it was not measured.".to_owned(),
        plan: "ssd-queue-depth".to_owned(),
        effort: LeastEffort::Quick,
        generates_data: false,
    };
    let command = commands.filling(&missing, &[&DEVICE]).unwrap();
    assert_eq!(command, "outcrop plans ssd-queue-depth > ssd-queue-depth.toml");
    let after = commands.after_filling(&[&DEVICE]).unwrap();
    assert!(
        after.contains(
            "`kind = \"destroyed-device\"`, `path = \"/dev/loop0\"`, `destroy = \"/srv/disk.img\"`"
        ),
        "{after}"
    );
    assert_eq!(commands.after_filling(&[&kv::SCHEMA]), None);
    let scratch = Commands::about("runs/a", PLAN);
    assert!(
        scratch
            .filling(&missing, &[&DEVICE])
            .unwrap()
            .contains("--path '/mnt/my disk'")
    );
    assert_eq!(scratch.after_filling(&[&DEVICE]), None);
}

#[test]
fn an_unfinished_run_is_resumed_before_anything_is_repeated() {
    let commands = |plan: &str| Commands {
        is_unfinished: true,
        ..Commands::about("runs/a run", plan)
    };
    let resuming = commands(PLAN).resuming();
    assert_eq!(resuming.as_deref(), Some("outcrop run --resume 'runs/a run'"));
    let variants = commands("[run]\n[[plan]]\nvariant = \"a\"\n").resuming();
    assert_eq!(variants.as_deref(), Some("outcrop ab --resume 'runs/a run'"));
    assert_eq!(Commands::about("runs/a run", PLAN).resuming(), None);
}

#[test]
fn data_that_came_through_a_pipe_are_read_from_the_file_that_they_were_saved_in() {
    let plan = "[run]\ndata = \"-\"\n[[plan]]\nlayer = \"compression\"\n[plan.subject]\ndata = \"-\"\n\
        [[plan]]\nlayer = \"device\"\n[plan.subject]\nkind = \"scratch-file\"\n";
    let commands = Commands::about("runs/a", plan);
    assert_eq!(
        commands
            .again(&[compression::SCHEMA.name], More::Repetitions(9))
            .unwrap(),
        "outcrop run runs/a/plan.toml --layer compression --repetitions 9 < DATA"
    );
    assert!(
        commands
            .before_again(&[compression::SCHEMA.name])
            .contains("save them as DATA first")
    );
    assert_eq!(
        commands.again(&["device"], More::Repetitions(9)).unwrap(),
        "outcrop run runs/a/plan.toml --layer device --repetitions 9"
    );
    assert_eq!(commands.before_again(&["device"]), "");
    assert_eq!(
        commands.plans(&["codec-choice"], &[&compression::SCHEMA]),
        "outcrop run codec-choice --data - < DATA"
    );
}

#[test]
fn a_run_that_is_not_kept_or_has_no_plan_of_ours_cannot_be_measured_again_from_its_folder() {
    assert_eq!(
        Commands::about("", PLAN).again(&["kv"], More::Repetitions(9)),
        None
    );
    assert!(!Commands::about("", PLAN).is_imported() && !Commands::about("runs/a", PLAN).is_imported());
    assert!(Commands::about("runs/a", "# imported").is_imported());
    assert_eq!(Commands::about("", PLAN).report("--p99 2ms"), "--p99 2ms");
    assert_eq!(
        Commands::about("runs/a", "# imported").again(&["device"], More::Repetitions(9)),
        None
    );
}

#[test]
fn a_device_that_is_only_read_gets_no_command_that_writes_and_further_drives_are_measured_one_at_a_time() {
    let plan = |subject: &str| {
        format!("[run]\ndirectory = \"/mnt\"\n[[plan]]\nlayer = \"device\"\n[plan.subject]\n{subject}")
    };
    let of = |subject: &str, direction: Direction, more: &str| {
        Commands::about("runs/a", &plan(subject)).device(direction, more)
    };
    let read_only = "kind = \"read-only\"\npath = \"/mnt/f\"\n";
    assert_eq!(of(read_only, Direction::Write, "--read-write-mix 0:100"), None);
    assert_eq!(
        of(read_only, Direction::Read, "--queue-depth 1").as_deref(),
        Some("outcrop device --read-only /mnt/f --queue-depth 1")
    );
    let two = "kind = \"scratch-file\"\nalso = \"/srv\"\n";
    assert_eq!(
        of(two, Direction::Write, "--queue-depth 1").as_deref(),
        Some("outcrop device /mnt --also /srv --drives 1 --queue-depth 1")
    );
    assert_eq!(
        of(two, Direction::Write, "--drives 2").as_deref(),
        Some("outcrop device /mnt --also /srv --drives 2")
    );
}
