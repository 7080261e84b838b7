//! `outcrop codec`: codecs on the user's data, one-off, a flag for each factor; `outcrop codec list` and `table`.

use super::factor_flags::{FactorFlags, OneOff, help_of};
use super::plan_flags::PlanFlags;
use crate::exit::Ending;
use crate::output::{self, Cell, Format, Table};
use crate::session;
use outcrop_lab::{Draft, PlanOptions, PlanSet, one_off};
use outcrop_schema::compression::{self, Measurement};
use outcrop_schema::{FactorRef, LayerSchema};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  outcrop codec                             lz4 and three levels of zstd, on built-in data
  outcrop codec --data /srv/dump --codec lz4,zstd:1,zstd:3 --block-size 4k,64k
  pg_dump shop | outcrop codec --data -     read stdin; large input is sampled
  outcrop codec --data dump.sql --threads 1,all --context reused,fresh
  outcrop codec --content entropy:1,entropy:4 --caches warm,cold --format csv
  outcrop codec list                        the codecs of this build and their settings
  outcrop codec table runs/… --format csv   the table of an earlier run, as CSV

Several values, separated by commas, make a factor: every combination is a cell. Each cell is measured five times, \
for 500 ms after 50 ms of warm-up; --repetitions, --duration and --warm-up change that. Data are only read. Every \
compressed block is decompressed and compared. zstd@system, lz4@system, snappy@system and deflate-zlib@system are \
the system's own libraries, called as RocksDB calls them.";

/// Measure codecs on your data, with a flag for each factor
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
// Codecs write nothing to a device.
#[command(mut_arg("max_written", |arg| arg.hide(true)), mut_arg("tbw", |arg| arg.hide(true)))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// A file, a directory, a block device, or - for stdin; .gz, .zst, .xz, .bz2 and .lz4 are decompressed first [default: the embedded
    /// sample, the Snappy test set]
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    #[arg(long, value_name = "BYTES", help = help_of(&compression::SAMPLE_SIZE))]
    sample_size: Option<String>,
    #[command(flatten)]
    factors: FactorFlags<Codecs>,
    /// Time the stages of zstd instead: match finding, literals, sequences
    #[arg(long, conflicts_with = compression::MEASUREMENT.name)]
    stages: bool,
    #[command(flatten)]
    flags: PlanFlags,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List every codec of this build, its settings and its library
    List {
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Print the codec table of an earlier run: a row per cell, medians with intervals
    Table {
        /// The run folder
        run: PathBuf,
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
}

#[derive(Debug)]
pub(crate) struct Codecs;

impl OneOff for Codecs {
    const SCHEMA: &'static LayerSchema = one_off::CODEC.schema;
    const DEFAULTS: &'static [(FactorRef, &'static [&'static str])] = one_off::CODEC.defaults;
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.command {
        Some(Command::List { format }) => {
            list(*format)?;
            return Ok(Ending::Done);
        }
        Some(Command::Table { run, format }) => {
            session::print_layer(run, &compression::SCHEMA, *format)?;
            return Ok(Ending::Done);
        }
        None => {}
    }
    let options = one_off::CODEC.timed(PlanOptions {
        data: args.data.clone(),
        ..args.flags.options()
    });
    let set = PlanSet::from_drafts(vec![draft(args)], &options).map_err(session::lab_error)?;
    session::start(&set, one_off::CODEC.name, &args.flags)
}

fn draft(args: &Args) -> Draft {
    let mut draft = one_off::CODEC.draft("outcrop codec");
    if let Some(size) = &args.sample_size {
        draft = draft.with_subject(&compression::SAMPLE_SIZE, size, "--sample-size");
    }
    if args.stages {
        let stages = [Measurement::Stages.name()];
        draft = draft.with_workload(&compression::MEASUREMENT, stages, "--stages");
        // Only zstd has stages.
        return args.factors.write_over(draft);
    }
    args.factors.write_over_defaults(draft)
}

fn list(format: Format) -> anyhow::Result<()> {
    let mut table = Table::new([
        ("codec", "codec"),
        ("library", "library"),
        ("what it is", "summary"),
        ("write", "accepted"),
    ]);
    for family in outcrop_codec::families() {
        let library = match family.library() {
            Ok(library) => Cell::text(library.to_string()),
            Err(absent) => {
                output::note(&format!("note: {absent}"));
                Cell::Absent(absent.to_string())
            }
        };
        table.push(vec![
            Cell::text(family.name),
            library,
            Cell::text(family.summary),
            Cell::text(family.accepted),
        ]);
    }
    table.print(format)
}
