//! `outcrop workload column`: a string column of a wanted cardinality, skew and order, as text.

use crate::exit::bad_input;
use crate::output::{note, stdout};
use crate::output_file::{Force, is_stdout};
use crate::work::LongWork;
use outcrop_measure::seed::Seed;
use outcrop_workload::column::{ColumnSpec, RowOrder};
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop workload column --rows 1000000 --distinct 5000 --skew 1.0 -o words.txt
  outcrop workload column --rows 139999654 --distinct 975773 | outcrop column encode - -o words.ocol")]
pub(super) struct Column {
    /// Number of rows, one word per line
    #[arg(long, value_name = "COUNT")]
    rows: u64,
    /// Words to draw from; with many rows per word, every word occurs
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    distinct: u32,
    /// Exponent of the Zipf distribution of their frequencies; 0 is uniform
    #[arg(long, default_value_t = 0.0)]
    skew: f64,
    /// Order of the rows: random, clustered, sorted
    #[arg(long, default_value_t)]
    order: RowOrder,
    /// Seed of the words and of the rows
    #[arg(long, default_value = "1")]
    seed: Seed,
    /// The file to write, or - for stdout [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

pub(super) fn write(args: &Column) -> anyhow::Result<()> {
    if !(0.0..=16.0).contains(&args.skew) {
        return Err(bad_input(anyhow::anyhow!(
            "skew {}: expected a number from 0 (uniform) to 16",
            args.skew
        )));
    }
    let spec = ColumnSpec {
        row_count: args.rows,
        distinct: args.distinct,
        skew: args.skew,
        order: args.order,
        seed: args.seed,
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let work = LongWork::on_stderr();
    let generated = |done| work.advance("generating", done, args.rows);
    match args.output.as_deref().filter(|path| !is_stdout(path)) {
        Some(path) => args
            .force
            .write(path, |mut out| Ok(spec.write_text(&mut out, threads, generated)?))?,
        None => {
            let mut out = stdout();
            spec.write_text(&mut out, threads, generated)?;
            out.flush()?;
        }
    }
    drop(work);
    note(&format!(
        "{} rows of {} words, skew {}, {}, seed {}",
        args.rows, args.distinct, args.skew, args.order, args.seed
    ));
    Ok(())
}
