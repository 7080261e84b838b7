//! `outcrop env [PATH]`: the machine's fingerprint, as every run stores it.

use crate::exit::{Ending, bad_input};
use crate::output::{self, Cell, Format, Table, note};
use outcrop_probe::environment::Environment;
use std::path::PathBuf;

/// Show what this machine is and what may disturb a measurement on it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  outcrop env\n  outcrop env /mnt/data --format json | jq .environment")]
pub(crate) struct Args {
    /// Describe the storage that holds this path
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    if let Err(error) = std::fs::metadata(&args.path) {
        return Err(bad_input(anyhow::anyhow!(
            "cannot read {}: {error}",
            args.path.display()
        )));
    }
    let environment = Environment::read(&args.path);
    if args.format == Format::Json {
        let machine = serde_json::to_value(&environment)?;
        output::print(&output::pretty_json(&output::envelope().on(machine))?)?;
    } else {
        let mut table = Table::new([("section", "section"), ("what", "name"), ("value", "value")]);
        for (section, name, text) in environment.describe() {
            table.push(vec![Cell::text(section), Cell::text(name), Cell::text(text)]);
        }
        table.print(args.format)?;
    }
    for warning in environment.warnings() {
        note(&format!("warning: {warning}"));
    }
    Ok(Ending::Done)
}
