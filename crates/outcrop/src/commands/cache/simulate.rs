//! `outcrop cache simulate`: the miss-ratio curve of a trace.

use std::io::{IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use outcrop_cache_bench::{CurvePoint, CurveSpec, MemorySizes, Policies, miss_ratio_curve};
use outcrop_measure::units::{ByteSize, format_bytes};
use outcrop_report::{FileFormat, Label};
use outcrop_workload::keyed::Trace;

use crate::exit::{Ending, bad_input};
use crate::output::{Cell, Format, Table, note};

const EXAMPLES: &str = "\
Examples:
  outcrop cache simulate trace.csv --memory 64MiB..8GiB                 every policy
  outcrop cache simulate trace.csv --memory 1GiB --policy lru,s3-fifo
  outcrop cache simulate trace.csv --memory 64MiB..8GiB --svg miss.svg  the curve as a picture
  outcrop cache simulate keys.txt --value-size 100B --memory 1MiB..64MiB --format csv

A line of a trace is: time,key,operation,key size,value size,ttl; or time,key,size; or a key.
An object counts with its key, its value and --overhead. Caches begin empty. Simulated, not measured: no server runs.
Memory: 32 bytes a request, each key twice while the trace is read, then 56 bytes a key and thread.";

/// Width of the picture: that of a page's text.
const WIDTH_MM: f64 = 150.0;

/// Replay a trace on simulated caches: the miss ratio by memory and policy
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The trace: CSV of requests in the order of time
    trace: PathBuf,
    /// Memory limits: a range of doublings (64MiB..8GiB) or a list (64MiB,96MiB)
    #[arg(long, default_value = "64MiB..8GiB", value_name = "SIZES")]
    memory: MemorySizes,
    /// all, or some of none, fifo, lru, sieve, s3-fifo, w-tinylfu separated by commas
    #[arg(long, default_value = "all", value_name = "POLICIES")]
    policy: Policies,
    /// Memory that each object takes in addition to its key and value
    #[arg(long, default_value = "32B", value_name = "BYTES")]
    overhead: ByteSize,
    /// Size of values whose size the trace does not give
    #[arg(long, value_name = "BYTES")]
    value_size: Option<ByteSize>,
    /// Do not set the key of a get that missed
    #[arg(long)]
    no_set_on_miss: bool,
    /// Read only the first N requests of the trace
    #[arg(long, value_name = "N")]
    requests: Option<u64>,
    /// Simulations at once [default: the cores there are]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Draw the curve into a new file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let stop = crate::interrupt::stop_flag()?;
    let trace = read(&args.trace, args.requests.unwrap_or(u64::MAX))?;
    let spec = spec(args, &trace)?;
    let facts = spec.facts(&trace);
    if facts.gets == 0 {
        return Err(bad_input(anyhow::anyhow!(
            "{}: no request is a get, so that nothing can hit or miss",
            args.trace.display()
        )));
    }
    let share = |part: u64| part as f64 / facts.gets as f64 * 100.0;
    note(&format!(
        "{} requests, {} keys, {} gets · first requests of a key, which miss in every cache: {:.1} % of gets · all objects take {}",
        trace.entries().len(),
        trace.key_count(),
        facts.gets,
        share(facts.first_gets),
        format_bytes(facts.all_bytes),
    ));
    if facts.keys_without_size > 0 {
        let size = ByteSize(u64::from(spec.value_size_bytes));
        note(&format!(
            "values of {} keys have no size in the trace and count as {size}",
            facts.keys_without_size
        ));
    }
    let needed = format_bytes(spec.memory_needed(&trace));
    note(&format!(
        "simulating with {} threads in {needed} of memory, in addition to the trace",
        spec.threads
    ));
    let mut progress = progress();
    let Some(points) = miss_ratio_curve(&trace, &spec, &stop, &mut progress) else {
        return Ok(Ending::Interrupted);
    };
    table(&points, &spec, args.format).print(args.format)?;
    if let Some(path) = &args.svg {
        draw(path, &points, &spec, args)?;
    }
    Ok(Ending::Done)
}

fn spec(args: &Args, trace: &Trace) -> anyhow::Result<CurveSpec> {
    let bytes = |what: &str, size: ByteSize| {
        u32::try_from(size.0)
            .ok()
            .filter(|bytes| *bytes <= 1 << 30)
            .ok_or_else(|| bad_input(anyhow::anyhow!("{what} {size}: expected at most 1GiB")))
    };
    let value_size_bytes = match args.value_size {
        Some(size) => bytes("--value-size", size)?,
        None if !trace.has_sizes() => {
            return Err(bad_input(anyhow::anyhow!(
                "{}: the trace gives no sizes, so that memory means nothing; say how large values are with --value-size, such as \
                 --value-size 100B",
                args.trace.display()
            )));
        }
        None => 0,
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let tasks = args.memory.0.len() * args.policy.0.len();
    Ok(CurveSpec {
        memory_bytes: args.memory.0.clone(),
        policies: args.policy.0.clone(),
        overhead_bytes: bytes("--overhead", args.overhead)?,
        value_size_bytes,
        sets_on_miss: !args.no_set_on_miss,
        threads: args.threads.map_or(cores, usize::from).min(tasks),
    })
}

/// Reads the trace, and says how far it is.
fn read(path: &Path, most: u64) -> anyhow::Result<Trace> {
    let file = std::fs::File::open(path)
        .map_err(|error| bad_input(anyhow::anyhow!("cannot open {}: {error}", path.display())))?;
    let total = file.metadata().map_or(0, |metadata| metadata.len());
    let watched = Watched {
        file,
        done: 0,
        total,
        told_percent: 0,
    };
    let trace = Trace::read_first(std::io::BufReader::with_capacity(1 << 20, watched), most);
    trace.map_err(|error| bad_input(anyhow::anyhow!("{}: {error}", path.display())))
}

/// A file that tells how far it is read, every tenth of it.
struct Watched {
    file: std::fs::File,
    done: u64,
    total: u64,
    told_percent: u64,
}

/// Shorter files are read at once.
const LONG_BYTES: u64 = 64 << 20;

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.done += count as u64;
        let percent = (self.done * 10).checked_div(self.total).unwrap_or(0) * 10;
        if self.total >= LONG_BYTES && percent > self.told_percent {
            self.told_percent = percent;
            note(&format!("reading the trace: {percent} %"));
        }
        Ok(count)
    }
}

fn progress() -> impl FnMut(f64) {
    // On a terminal a line for each per cent is too many as well.
    let step = if std::io::stderr().is_terminal() { 5 } else { 20 };
    let mut told = 0;
    move |share| {
        let percent = (share * 100.0) as u64 / step * step;
        if percent > told {
            told = percent;
            note(&format!("simulating: {percent} %"));
        }
    }
}

/// For people a row for each limit and a column for each policy; for programs a row for each pair.
fn table(points: &[CurvePoint], spec: &CurveSpec, format: Format) -> Table {
    if format != Format::Text {
        return long_table(points);
    }
    let names = spec
        .policies
        .iter()
        .map(|policy| (policy.to_string(), policy.to_string()));
    let head = std::iter::once(("miss ratio at".to_owned(), "memory_B".to_owned()));
    let mut table = Table::new(head.chain(names));
    for (row, memory_bytes) in spec.memory_bytes.iter().enumerate() {
        let of_policy = points.chunks(spec.memory_bytes.len()).map(|column| &column[row]);
        let cells = of_policy.map(|point| ratio(point.miss_ratio(), "no get"));
        let memory = Cell::text(ByteSize(*memory_bytes).to_string());
        table.push(std::iter::once(memory).chain(cells).collect());
    }
    table
}

fn long_table(points: &[CurvePoint]) -> Table {
    let mut table = Table::new([
        ("policy", "policy"),
        ("memory", "memory_B"),
        ("miss ratio", "miss_ratio"),
        ("byte miss ratio", "byte_miss_ratio"),
        ("gets", "gets"),
        ("hits", "hits"),
        ("objects held", "objects_held"),
        ("held", "held_B"),
    ]);
    for point in points {
        let number = |value: u64| Cell::number(value as f64, value.to_string());
        table.push(vec![
            Cell::text(point.policy.to_string()),
            number(point.memory_bytes),
            ratio(point.miss_ratio(), "no get"),
            ratio(point.byte_miss_ratio(), "no value has a size"),
            number(point.gets),
            number(point.hits),
            number(point.items),
            number(point.held_bytes),
        ]);
    }
    table
}

fn ratio(value: Option<f64>, reason: &str) -> Cell {
    value.map_or_else(
        || Cell::Absent(reason.to_owned()),
        |ratio| Cell::number(ratio, format!("{ratio:.4}")),
    )
}

/// Draws the curve into a file that was not there.
fn draw(path: &Path, points: &[CurvePoint], spec: &CurveSpec, args: &Args) -> anyhow::Result<()> {
    let lines: Vec<outcrop_report::PolicyCurve> = points
        .chunks(spec.memory_bytes.len())
        .map(|line| {
            let ratios = line
                .iter()
                .filter_map(|point| Some((point.memory_bytes, point.miss_ratio()?)));
            (line[0].policy.to_string(), ratios.collect())
        })
        .collect();
    let caption = format!(
        "Simulated from an empty cache: {}; an object takes its key, its value and {}.",
        args.trace.display(),
        args.overhead
    );
    let figure = outcrop_report::miss_ratio_figure(&caption, &lines).context("there is nothing to draw")?;
    let mut file = std::fs::File::create_new(path).map_err(|error| {
        bad_input(anyhow::anyhow!(
            "cannot create {}: {error}; --svg writes a new file",
            path.display()
        ))
    })?;
    let label = Label {
        subject: caption,
        origin: concat!("simulated by outcrop ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    let drawn = figure.to_file(FileFormat::Svg, WIDTH_MM, &label)?;
    std::io::Write::write_all(&mut file, &drawn)?;
    note(&format!("drawn: {}", path.display()));
    Ok(())
}
