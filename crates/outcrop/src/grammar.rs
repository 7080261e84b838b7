//! The top of the argument grammar: the list of subcommands, in the order of a user's day.

use crate::commands::{
    ab, cache, codec, column, compare, completions, device, env, figure, man, plans, profile, references,
    report, results, run, runs, workload,
};
use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  outcrop profile                       what this disk can do, in at most ten minutes
  outcrop profile /mnt/data --quick     the same for another filesystem, in 90 seconds
  outcrop run ssd-queue-depth           one question, answered in depth
  outcrop run --resume runs/2026…       go on after Ctrl-C, a crash or a full disk
  outcrop device --queue-depth 1,32     one-off: two depths, a table on stdout
  outcrop codec --data DIR --codec lz4,zstd:3 --block-size 4k,64k
  outcrop compare runs/A runs/B --fail-if 'p99 > +5%'
  outcrop ab ssd-queue-depth --a submission=refill --b submission=batch

Exit codes:
  0 success   1 a --fail-if condition was met   2 usage or bad input
  3 the measurement failed   130 interrupted (the run is kept and can be resumed)";

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
    /// Measure the storage stack at PATH and say what it can do and what to configure
    Profile(profile::Args),
    /// Run one or more plans, or resume a run that was interrupted
    Run(run::Args),
    /// Draw the report of a run again
    Report(report::Args),
    /// Write one figure of a run as PNG, PDF, SVG or CSV
    Figure(figure::Args),
    /// Compare a run with another run or a published reference
    Compare(compare::Args),
    /// Measure two variants of a plan in pairs, and compare them
    Ab(ab::Args),
    /// Measure a storage device once, with flags for each factor
    Device(device::Args),
    /// Measure codecs on your data once, with flags for each factor
    Codec(codec::Args),
    /// Encode a string column into one small, searchable file, and query it
    Column(column::Args),
    /// Serve a cache, or put load on one
    Cache(cache::Args),
    /// Describe a workload, or generate a column
    Workload(workload::Args),
    /// Export or compact the records of a run
    Results(results::Args),
    /// List the runs in a folder, or remove old ones
    Runs(runs::Args),
    /// List the plans that ship, or print one
    Plans(plans::Args),
    /// List the published references that ship, or print one
    References(references::Args),
    /// Show what this machine is and what may disturb a measurement on it
    Env(env::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the manual page
    Man(man::Args),
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
}
