//! `outcrop`: argument grammar and wiring. One module per subcommand, no measuring logic.
//!
//! stdout carries data, stderr progress and diagnosis. Exit codes are in [`exit`].

mod commands;
mod dry_run;
mod endurance;
mod exit;
mod grammar;
mod interrupt;
mod memory_limit;
mod output;
mod output_file;
mod progress;
mod session;
mod tips;
mod work;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};
use grammar::{Cli, Command};
use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = match Cli::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            let command = std::env::args_os().nth(1);
            let command = command.as_deref().and_then(|name| name.to_str());
            return exit::usage(&tips::corrected(error, command));
        }
    };
    output::set_command(&command_of(&matches));
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    interrupt::survive_file_size_limit();
    outcrop_column::arrow::silence_decoders();
    let result = match cli.command {
        Command::Profile(args) => commands::profile::run(&args),
        Command::Run(args) => commands::run::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Figure(args) => commands::figure::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Ab(args) => commands::ab::run(&args),
        Command::Device(args) => commands::device::run(&args),
        Command::Filesystem(args) => commands::filesystem::run(&args),
        Command::Codec(args) => commands::codec::run(&args),
        Command::Column(args) => commands::column::run(&args),
        Command::Kv(args) => commands::kv::run(&args),
        Command::KvWorker(args) => commands::kv::work(&args),
        Command::Cache(args) => commands::cache::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Workload(args) => commands::workload::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Results(args) => commands::results::run(&args),
        Command::Runs(args) => commands::runs::run(&args),
        Command::Plans(args) => commands::plans::run(&args),
        Command::References(args) => commands::references::run(&args),
        Command::Env(args) => commands::env::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
    };
    exit::of(result)
}

/// The names of the subcommands that were given: `cache load`.
fn command_of(matches: &ArgMatches) -> String {
    let levels = std::iter::successors(Some(matches), |matches| Some(matches.subcommand()?.1));
    let names: Vec<&str> = levels.filter_map(ArgMatches::subcommand_name).collect();
    names.join(" ")
}
