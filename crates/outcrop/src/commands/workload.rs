//! `outcrop workload describe|column`: what the generators behind a spelling really do, and columns to encode.

mod column;

use crate::exit::{Ending, bad_input};
use crate::output::{Cell, Format, Table};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::{ByteSize, format_bytes, format_iops, format_nanoseconds};
use outcrop_workload::{AccessPattern, Arrival, BlockSpace, Content, Description, ReadWriteMix, Workload};

/// Describe a workload, or generate a column
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  outcrop workload describe --access-pattern zipfian:0.99 --size 1GiB --arrival poisson:10k"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Draw operations and describe them: offsets, times and content
    #[command(
        after_help = "Example:\n  outcrop workload describe --access-pattern strided:64KiB --io-block-size 4k"
    )]
    Describe(Describe),
    /// Write a generated string column as text, with a given cardinality, skew and order
    Column(column::Column),
}

#[derive(Debug, clap::Args)]
struct Describe {
    /// Access pattern: random, sequential, zipfian:THETA, strided:BYTES
    #[arg(long, default_value = "random", value_name = "PATTERN")]
    access_pattern: AccessPattern,
    /// Reads and writes in per cent
    #[arg(long, default_value = "100:0", value_name = "R:W")]
    read_write_mix: ReadWriteMix,
    /// Arrival process: closed, constant:RATE, poisson:RATE, etc:RATE, sine:RATE:SWING:PERIOD
    #[arg(long, default_value = "closed")]
    arrival: Arrival,
    /// Content: random, zeros, entropy:BITS, compressible:RATIO
    #[arg(long, default_value = "random")]
    content: Content,
    /// Bytes per operation
    #[arg(long, default_value = "4KiB", value_name = "BYTES")]
    io_block_size: ByteSize,
    /// Span that is accessed
    #[arg(long, default_value = "1GiB", value_name = "BYTES")]
    size: ByteSize,
    /// Number of operations to draw
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    operations: u64,
    /// Seed of the generators
    #[arg(long, default_value = "1")]
    seed: Seed,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let args = match &args.action {
        Action::Describe(args) => args,
        Action::Column(args) => {
            column::write(args)?;
            return Ok(Ending::Done);
        }
    };
    let workload = Workload {
        access_pattern: args.access_pattern,
        read_write_mix: args.read_write_mix,
        arrival: args.arrival,
        content: args.content,
        space: BlockSpace::of_span(args.size.0, args.io_block_size.0),
    };
    let found = workload.describe(args.operations, args.seed).map_err(bad_input)?;
    table(&found, workload.space).print(args.format)?;
    Ok(Ending::Done)
}

fn table(found: &Description, space: BlockSpace) -> Table {
    let mut table = Table::new([("what", "what"), ("value", "value"), ("unit", "unit")]);
    let mut row = |what: &str, value: f64, shown: String, unit: &str| {
        table.push(vec![
            Cell::text(what),
            Cell::number(value, shown),
            Cell::text(unit),
        ]);
    };
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    row(
        "operations drawn (n)",
        found.operation_count as f64,
        found.operation_count.to_string(),
        "count",
    );
    row(
        "blocks in the span",
        space.block_count as f64,
        space.block_count.to_string(),
        "count",
    );
    row(
        "distinct blocks visited",
        found.distinct_block_count as f64,
        found.distinct_block_count.to_string(),
        "count",
    );
    row(
        "operations on the hottest 1 % of blocks",
        found.hottest_percent_share,
        percent(found.hottest_percent_share),
        "ratio",
    );
    row(
        "operations on the hottest 10 % of blocks",
        found.hottest_tenth_share,
        percent(found.hottest_tenth_share),
        "ratio",
    );
    row("reads", found.read_share, percent(found.read_share), "ratio");
    row(
        "order-0 entropy of the content",
        found.content_entropy_bits,
        format!("{:.3}", found.content_entropy_bits),
        "bit/B",
    );
    for (index, offset) in found.first_offsets_bytes.iter().enumerate() {
        row(
            &format!("offset of operation {index}"),
            *offset as f64,
            format_bytes(*offset),
            "B",
        );
    }
    arrivals(&mut table, found);
    table
}

/// When operations start: the schedule, or that a closed loop has none.
fn arrivals(table: &mut Table, found: &Description) {
    let (Some(starts), Some(rate)) = (&found.first_starts_ns, found.rate_per_second) else {
        table.push(vec![
            Cell::text("arrivals"),
            Cell::Absent("a closed loop starts an operation when another one ends".to_owned()),
            Cell::text("ns"),
        ]);
        return;
    };
    let mut row = |what: String, value: f64, shown: String, unit: &str| {
        table.push(vec![
            Cell::text(what),
            Cell::number(value, shown),
            Cell::text(unit),
        ]);
    };
    row("mean arrival rate".to_owned(), rate, format_iops(rate), "1/s");
    for (index, start) in starts.iter().enumerate() {
        let start_ns = *start as f64;
        row(
            format!("intended start of operation {index}"),
            start_ns,
            format_nanoseconds(start_ns),
            "ns",
        );
    }
}
