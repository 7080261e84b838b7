//! The top of the argument grammar: the list of subcommands, in the order of a user's day.

use crate::commands::{
    ab, cache, codec, column, compare, completions, device, env, figure, filesystem, import, kv, man, plans,
    predict, profile, references, report, results, run, runs, workload,
};
use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  outcrop profile                       this disk, in at most ten minutes
  outcrop profile /mnt/data --quick     another filesystem, in at most 90 seconds
  outcrop run ssd-queue-depth           one plan, measured in depth
  outcrop run --resume runs/2026…       resume after Ctrl-C, a crash or a full disk
  outcrop device --queue-depth 1,32     two queue depths, as a table
  outcrop codec --data DIR --codec lz4,zstd:3 --block-size 4k,64k
  outcrop compare runs/A runs/B --fail-if 'p99 > +5%'
  outcrop ab ssd-queue-depth --a submission=refill --b submission=batch

Exit codes:
  0 success   1 a --fail-if condition was met, `device --verify` found a fault, or a key was missing
  2 usage or bad input   3 the measurement failed, or nothing could be measured
  130 interrupted (the run can be resumed)";

/// Measure every layer of a storage stack with the same workloads, clocks and statistics.
#[derive(Debug, Parser)]
#[command(name = "outcrop", version, after_help = EXAMPLES, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One noun, one module in `commands/`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure the storage stack at PATH: what it can do, and what to configure
    Profile(profile::Args),
    /// Run one or more plans, or resume a run that was interrupted
    Run(run::Args),
    /// Print the summary of a run and write its report again
    Report(report::Args),
    /// Write one figure of a run as PNG, PDF, SVG or CSV
    Figure(figure::Args),
    /// Compare a run with another run or a published reference
    Compare(compare::Args),
    /// Measure two variants of a plan in pairs, and compare them
    Ab(ab::Args),
    /// Measure a storage device, with a flag for each factor
    Device(Box<device::Args>),
    /// Measure filesystems, with a flag for each factor
    Filesystem(filesystem::Args),
    /// Measure codecs on your data, with a flag for each factor
    Codec(codec::Args),
    /// Encode a string column into one small, searchable file, and query it
    Column(column::Args),
    /// Measure key-value engines, with a flag for each factor
    Kv(kv::Args),
    /// Serve a cache, or put load on one
    Cache(cache::Args),
    /// Predict how compression in a given place affects an application
    Predict(predict::Args),
    /// Describe a workload, or generate a column
    Workload(workload::Args),
    /// Turn the results of another program into a run
    Import(import::Args),
    /// Export or compact the records of a run
    Results(results::Args),
    /// List the runs in a folder, or remove some of them
    Runs(runs::Args),
    /// List the shipped plans, or print one
    Plans(plans::Args),
    /// List the shipped references (published figures), or print one
    References(references::Args),
    /// Show this machine and what may disturb a measurement on it
    Env(env::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the manual page
    Man(man::Args),
    /// Hold one database for a trial of the key-value layer
    #[command(hide = true, name = outcrop_lab::layer::kv::WORKER_COMMAND)]
    KvWorker(kv::WorkerArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    /// Calls `action` with each command below `command` and itself.
    fn for_each(command: &clap::Command, action: &mut impl FnMut(&clap::Command)) {
        action(command);
        command
            .get_subcommands()
            .for_each(|below| for_each(below, action));
    }

    #[test]
    fn no_example_of_the_help_is_wider_than_help_is_at_most() {
        let mut example_count = 0;
        for_each(&Cli::command(), &mut |command| {
            let text = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            for line in text.lines().filter(|line| line.starts_with("  ")) {
                example_count += 1;
                assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
            }
        });
        assert!(example_count > 50, "{example_count} examples");
    }

    /// What `--help` prints for a command, by the names that lead to it, on a terminal of 100 columns.
    fn help_of(names: &[&str]) -> String {
        let words = ["outcrop"].iter().chain(names).chain(&["--help"]);
        let asked = Cli::command().term_width(100).try_get_matches_from(words);
        match asked {
            Err(help) => help.render().to_string(),
            Ok(_) => unreachable!("--help never runs a command"),
        }
    }

    /// The help of a command and of all below it that are shown.
    fn add_help_of(command: &clap::Command, names: &[&str], text: &mut String) {
        text.push_str(&format!("=== outcrop {} --help\n\n", names.join(" ")));
        text.push_str(&help_of(names));
        text.push('\n');
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            add_help_of(below, &[names, &[below.get_name()]].concat(), text);
        }
    }

    #[test]
    fn every_help_text_reads_as_it_was_last_read_aloud() {
        insta::assert_snapshot!("help", help_of(&[]));
        for command in Cli::command()
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
        {
            let mut text = String::new();
            add_help_of(command, &[command.get_name()], &mut text);
            insta::assert_snapshot!(format!("help-{}", command.get_name()), text);
        }
    }
}
