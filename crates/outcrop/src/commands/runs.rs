//! `outcrop runs`, `outcrop runs prune` and `outcrop runs remove`: the run folders that there are.

use crate::commands::whole::whole;
use crate::exit::{Ending, bad_input};
use crate::output::{self, Cell, Format, Table};
use outcrop_measure::units::{TimeSpan, format_data};
use outcrop_report::number::counted;
use outcrop_results::run_list::{self, Keep, ListedRun};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  outcrop runs                              every run in ./runs, the newest first
  outcrop runs /srv/runs --format csv
  outcrop runs prune --keep 20              what would be removed
  outcrop runs prune --older 30d --yes      remove it
  outcrop runs remove runs/20261121T020304Z-profile --yes

A run that was interrupted is `unfinished`: outcrop run --resume RUN measures the rest.
`prune` takes the age of an imported run from its import, not from its results.
Only folders that Outcrop made are listed or removed. A run is removed with the pages and figures of its reports. Other files stay, copies of these under other names included, and so does their folder.";

/// List the runs in a folder, or remove some of them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// The folder that holds the run folders [default: runs]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The same, and also valid for `prune` and `remove`
    #[arg(long = "in", value_name = "DIR", global = true)]
    parent: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t, global = true)]
    format: Format,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Remove old runs: lists them first, and removes them only with --yes
    #[command(group = clap::ArgGroup::new("which").required(true))]
    Prune {
        /// Keep the N newest runs
        #[arg(long, value_name = "N", group = "which", value_parser = whole::<usize>)]
        keep: Option<usize>,
        /// Remove runs older than this: 30d, 12h
        #[arg(long, value_name = "TIME", group = "which", value_parser = age)]
        older: Option<TimeSpan>,
        /// Remove them; without it, nothing is removed
        #[arg(long)]
        yes: bool,
        /// List what would be removed, as without --yes
        #[arg(long, conflicts_with = "yes")]
        dry_run: bool,
    },
    /// Remove these runs: lists them first, and removes them only with --yes
    Remove {
        /// Run folders, or names of runs in the folder that holds them; with --in, a name is one in that folder
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<PathBuf>,
        /// Remove them; without it, nothing is removed
        #[arg(long)]
        yes: bool,
        /// List what would be removed, as without --yes
        #[arg(long, conflicts_with = "yes")]
        dry_run: bool,
    },
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    if let (Some(folder), Some(parent)) = (&args.folder, &args.parent) {
        return Err(bad_input(anyhow::anyhow!(
            "{} and --in {} are two folders that hold runs; give one of them",
            folder.display(),
            parent.display()
        )));
    }
    let parent = args.folder.as_deref().or(args.parent.as_deref());
    let parent = parent.unwrap_or(Path::new("runs"));
    if let Some(Action::Remove { runs, yes, .. }) = &args.action {
        let is_chosen = args.folder.is_some() || args.parent.is_some();
        let named = named(runs, parent, is_chosen)?;
        let surplus: Vec<&ListedRun> = named.iter().collect();
        return remove(&surplus, &counted(surplus.len(), "run"), *yes, args.format);
    }
    if !parent.is_dir() {
        return Err(bad_input(anyhow::anyhow!(
            "there is no folder {}; name the one that holds the runs: `outcrop runs DIR`",
            parent.display()
        )));
    }
    let runs = run_list::list(parent).map_err(bad_input)?;
    let Some(Action::Prune { keep, older, yes, .. }) = &args.action else {
        print(runs.iter(), args.format)?;
        return Ok(Ending::Done);
    };
    let keep = match (keep, older) {
        (Some(count), _) => Keep::Newest(*count),
        (None, Some(age)) => Keep::younger_than(age.0, outcrop_probe::clock::unix_now()),
        (None, None) => return Err(bad_input(anyhow::anyhow!("give --keep N or --older TIME"))),
    };
    let surplus = run_list::surplus(&runs, keep);
    remove(&surplus, &counted(runs.len(), "run"), *yes, args.format)
}

/// The runs of these names or paths, each once; `is_chosen` says that the user named the folder that holds them.
fn named(names: &[PathBuf], parent: &Path, is_chosen: bool) -> anyhow::Result<Vec<ListedRun>> {
    let (mut runs, mut places) = (Vec::new(), BTreeSet::new());
    for name in names {
        let dir = place(name, parent, is_chosen)?;
        let run = run_list::at(&dir).map_err(bad_input)?;
        // One folder has many spellings.
        if places.insert(std::fs::canonicalize(&dir).map_err(bad_input)?) {
            runs.push(run);
        }
    }
    Ok(runs)
}

/// Where a run is. A copy of it has the same name, so that a name is looked for where the user says, and nowhere else; a path is one from here.
fn place(name: &Path, parent: &Path, is_chosen: bool) -> anyhow::Result<PathBuf> {
    let mut parts = name.components();
    let is_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    let inside = parent.join(name);
    match (is_name, name.exists(), inside.exists()) {
        (true, ..) if is_chosen => Ok(inside),
        (true, true, true) => Err(bad_input(anyhow::anyhow!(
            "there are two runs of that name, ./{0} and {1}; give the path of the one that is to be removed",
            name.display(),
            inside.display()
        ))),
        (true, false, true) => Ok(inside),
        _ => Ok(name.to_owned()),
    }
}

/// Lists these runs, and removes them where that was asked for; `all` is how many they are of.
fn remove(surplus: &[&ListedRun], all: &str, yes: bool, format: Format) -> anyhow::Result<Ending> {
    print(surplus.iter().copied(), format)?;
    if !yes {
        let bytes: u64 = surplus.iter().map(|run| run.bytes).sum();
        let would = match surplus.len() {
            0 => "nothing to remove".to_owned(),
            count => format!(
                "{count} would be removed ({}); --yes removes {}",
                format_data(bytes as f64),
                if count == 1 { "it" } else { "them" }
            ),
        };
        output::note(&format!("{all}: {would}"));
        return Ok(Ending::Done);
    }
    let (mut bytes, mut gone, mut refused) = (0, 0, None);
    for run in surplus {
        match run_list::remove(run) {
            Ok(removed) => {
                (bytes, gone) = (bytes + removed.bytes, gone + 1);
                if !removed.left.is_empty() {
                    output::note(&format!(
                        "{}: the run is removed; its folder stays with other files: {}",
                        run.dir.display(),
                        removed.left.join(", ")
                    ));
                }
            }
            Err(error) => {
                if let Some(earlier) = refused.replace(error) {
                    output::note(&format!("error: {earlier}"));
                }
            }
        }
    }
    output::note(&format!("{all}: {gone} removed ({})", format_data(bytes as f64)));
    match refused {
        Some(error) => Err(error.into()),
        None => Ok(Ending::Done),
    }
}

/// Prints runs; on a terminal in lines that fit it.
fn print<'r>(runs: impl Iterator<Item = &'r ListedRun>, format: Format) -> anyhow::Result<()> {
    let table = table(runs);
    let (Format::Text, Some(width)) = (format, output::terminal_width()) else {
        return table.print(format);
    };
    // The name of a run begins with the time.
    let least = ["started_at", "subjects", "plans"];
    let (table, left_out) = table.fitted(width, &["plans", "subjects"], &least);
    table.print(format)?;
    if !left_out.is_empty() {
        output::note(&format!(
            "Left out, because the terminal has {width} columns: {}. A wider terminal and --format csv show them.",
            left_out.join(", ")
        ));
    }
    Ok(())
}

/// A time span, with days.
fn age(text: &str) -> Result<TimeSpan, String> {
    match text.strip_suffix('d').map(str::parse::<u32>) {
        Some(Ok(days)) => Ok(TimeSpan::seconds(u64::from(days) * 86_400)),
        _ => text
            .parse()
            .map_err(|error| format!("{error}; days are written as 30d")),
    }
}

/// Whether it has all trials of its plan. A run that is being measured lacks some, too.
fn state(run: &ListedRun) -> &'static str {
    match (&run.damage, run.is_unfinished) {
        (Some(_), _) => "damaged",
        (None, true) => "unfinished",
        (None, false) => "complete",
    }
}

fn table<'r>(runs: impl Iterator<Item = &'r ListedRun>) -> Table {
    let mut table = Table::new([
        ("run", "run"),
        ("started (UTC)", "started_at"),
        ("plans", "plans"),
        ("subjects", "subjects"),
        ("cells", "cells_count"),
        ("trials", "trials_count"),
        ("size", "size_B"),
        ("state", "state"),
    ]);
    for run in runs {
        let listed = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
        let started = run.started.map(|time| time.format("%Y-%m-%d %H:%M").to_string());
        let count = |count: usize| match &run.damage {
            None => Cell::number(count as f64, count.to_string()),
            Some(reason) => Cell::Absent(reason.clone()),
        };
        table.push(vec![
            Cell::text(&run.name),
            started.map_or_else(|| Cell::Absent("the name has no date".to_owned()), Cell::text),
            Cell::text(listed(&run.plans)),
            Cell::text(listed(&run.subjects)),
            count(run.cells),
            count(run.trials),
            Cell::number(run.bytes as f64, format_data(run.bytes as f64)),
            Cell::text(state(run)),
        ]);
    }
    table
}
