//! `outcrop completions SHELL`.

use crate::exit::Ending;
use crate::grammar::Cli;
use clap::CommandFactory as _;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  outcrop completions bash > /etc/bash_completion.d/outcrop")]
pub(crate) struct Args {
    /// bash, zsh, fish, elvish or powershell
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "outcrop", &mut script);
    crate::output::print(&String::from_utf8_lossy(&script))?;
    Ok(Ending::Done)
}
