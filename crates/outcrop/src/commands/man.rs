//! `outcrop man`: the manual page, made from the same grammar as `--help`.

use crate::exit::Ending;
use crate::grammar::Cli;
use clap::CommandFactory as _;

/// Print the manual page
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  outcrop man | man -l -\n  outcrop man run > outcrop-run.1")]
pub(crate) struct Args {
    /// Print the page of this subcommand [default: that of outcrop itself]
    subcommand: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let root = Cli::command();
    let page = match &args.subcommand {
        None => root,
        Some(name) => root
            .find_subcommand(name)
            .cloned()
            .map(|command| {
                command
                    .name("outcrop")
                    .bin_name(format!("outcrop {name}"))
                    .display_name(format!("outcrop-{name}"))
            })
            .ok_or_else(|| {
                crate::exit::bad_input(anyhow::anyhow!(
                    "there is no subcommand `{name}`; `outcrop --help` lists them"
                ))
            })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    crate::output::print(&String::from_utf8_lossy(&text))?;
    Ok(Ending::Done)
}
