//! `outcrop cache simulate`: the miss-ratio curve of a trace.

mod advice;
mod fall;
mod picture;
#[cfg(test)]
mod tests;

use std::io::{IsTerminal as _, Read};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use outcrop_cache_bench::{CurvePoint, CurveSpec, MemorySizes, Policies, TraceFacts, miss_ratio_curve};
use outcrop_measure::units::{ByteSize, format_bytes, format_data};
use outcrop_probe::user_file;
use outcrop_report::number::counted;
use outcrop_workload::keyed::Trace;
use outcrop_workload::word::quoted;

use crate::commands::whole::from_one;
use crate::exit::{Ending, bad_input};
use crate::output::{Cell, Format, Table, note, pretty_json, print};
use crate::output_file::{Force, refuse_input, refuse_stdout};

const EXAMPLES: &str = "\
Examples:
  outcrop cache simulate trace.csv                                      every policy
  outcrop cache simulate trace.csv --memory 1GiB --policy lru,s3-fifo
  outcrop cache simulate trace.csv --memory 64MiB..8GiB --svg miss.svg  also draw the curve
  outcrop cache simulate keys.txt --value-size 100B --memory 1MiB..64MiB --format csv

Each line of a trace is time,key,operation,key size,value size,ttl; or time,key,size; or a key. Times and ttl are in \
seconds, sizes in bytes. A get without a value size or a ttl has that of its key's sets.
The size of an object is its key, its value and --overhead. Caches start empty. Simulated, not measured: no server runs, \
and a server holds fewer items in as much memory, because part of it stays free.
The answer is the smallest limit at which a policy misses at most one percentage point more than the lowest miss ratio simulated, \
and the best policy there.
The simulation itself takes 32 bytes per request, each key twice while the trace is read, then 56 bytes per key and thread.";

/// Replay a trace on simulated caches: the miss ratio by memory and policy
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The trace: CSV of requests, ordered by time
    trace: PathBuf,
    /// Memory limits: a range of doublings (64MiB..8GiB) or a list (64MiB,96MiB) [default: seven doublings, up to a size
    /// that holds every object]
    #[arg(long, value_name = "SIZES")]
    memory: Option<MemorySizes>,
    /// Eviction policies: all, or some of none, fifo, lru, sieve, s3-fifo, w-tinylfu, separated by commas; none evicts
    /// nothing: a full cache refuses to store
    #[arg(long, default_value = "all", value_name = "POLICIES")]
    policy: Policies,
    /// Memory overhead of each object, in addition to its key and value
    #[arg(long, default_value = "32B", value_name = "BYTES")]
    overhead: ByteSize,
    /// Value size where the trace does not give one
    #[arg(long, value_name = "BYTES")]
    value_size: Option<ByteSize>,
    /// Do not set a key after a miss
    #[arg(long)]
    no_set_on_miss: bool,
    /// Read only the first N requests of the trace, as in 100000 or 1M
    #[arg(long, value_name = "N", value_parser = from_one)]
    requests: Option<NonZeroU64>,
    /// Simulations that run in parallel [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Also draw the curve as an SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Also draw the curve as a PNG file, 300 dots per inch
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Also draw the curve as a PDF file, for LaTeX and print
    #[arg(long, value_name = "FILE")]
    pdf: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    for (path, _) in args.pictures() {
        refuse_stdout(path, "the curve")?;
        refuse_input(&args.trace, path)?;
        args.force.check(path)?;
    }
    let (trace, is_plain) = read(&args.trace, args.requests.map_or(u64::MAX, NonZeroU64::get))?;
    // Whoever waits for a trace is ended by the first signal: there is nothing to keep yet.
    let stop = crate::interrupt::stop_flag()?;
    let mut spec = spec(args, &trace)?;
    let facts = spec.facts(&trace);
    let memory = args.memory.clone();
    spec.memory_bytes = memory.unwrap_or_else(|| MemorySizes::around(facts.all_bytes)).0;
    spec.threads = spec.threads.min(spec.memory_bytes.len() * spec.policies.len());
    if facts.gets == 0 {
        return Err(bad_input(anyhow::anyhow!(
            "{}: the trace has no get, so it has no hits and no misses",
            args.trace.display()
        )));
    }
    if facts.all_bytes == 0 {
        return Err(bad_input(anyhow::anyhow!(
            "{}: the trace has no set, so with --no-set-on-miss nothing is ever stored and every get misses; leave it out",
            args.trace.display()
        )));
    }
    note(&format!(
        "{}, {}, {} · compulsory misses (first request of a key): {} of gets · all objects take {}, each with its key and {} of overhead",
        counted(trace.entries().len(), "request"),
        counted(trace.key_count() as usize, "key"),
        counted(facts.gets as usize, "get"),
        advice::spelled(facts.first_gets as f64 / facts.gets as f64),
        format_data(facts.all_bytes as f64),
        format_bytes(args.overhead.0),
    ));
    if facts.keys_without_size > 0 {
        let size = format_bytes(u64::from(spec.value_size_bytes));
        note(&format!(
            "the trace gives no value size for {}; they count as {size} each{}",
            counted(facts.keys_without_size as usize, "key"),
            // What only gets name is never stored then, but it is asked for.
            if spec.sets_on_miss {
                ""
            } else {
                " in the byte miss ratio, and in memory where they are set"
            }
        ));
    }
    let needed = format_data(spec.memory_needed(&trace) as f64);
    note(&format!(
        "simulating with {} and {needed} of memory, in addition to the trace",
        counted(spec.threads, "thread")
    ));
    let mut progress = progress();
    let Some(points) = miss_ratio_curve(&trace, &spec, &stop, &mut progress) else {
        return Ok(Ending::Interrupted);
    };
    let expires = trace.entries().iter().any(|entry| entry.ttl_s > 0);
    let is_replayed = is_plain && trace.has_sizes() && facts.keys_without_size == 0;
    let replay = replay(args, is_replayed, expires);
    answer(&points, &spec, (&facts, replay), args)?;
    picture::draw(&points, &spec, args, trace.entries().len())?;
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
                "{}: the trace gives no sizes, so a memory limit has no meaning; give the value size with --value-size, such as \
                 --value-size 100B",
                args.trace.display()
            )));
        }
        None => 0,
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(CurveSpec {
        memory_bytes: Vec::new(),
        policies: args.policy.0.clone(),
        overhead_bytes: bytes("--overhead", args.overhead)?,
        value_size_bytes,
        sets_on_miss: !args.no_set_on_miss,
        threads: args.threads.map_or(cores, usize::from),
    })
}

/// What the figures are not, and the command that shows what a server does with the trace, where one replays what was simulated: of a trace
/// whose items expire, why there is none.
fn replay(args: &Args, is_replayed: bool, expires: bool) -> String {
    let said = "A server may hold fewer items in as much memory, and then miss more";
    if !is_replayed || args.requests.is_some() {
        return format!("{said}.");
    }
    if expires {
        return format!(
            "{said}. The trace has a ttl, so no replay is suggested: without --trace-times, cache load replays as fast as it can, and less \
             expires than in the trace's own time."
        );
    }
    let set_on_miss = if args.no_set_on_miss { "" } else { " --set-on-miss" };
    let trace = quoted(&args.trace.display().to_string());
    format!(
        "{said}: start yours with that memory and policy, and replay the trace with `outcrop cache load --trace {trace}{set_on_miss}`."
    )
}

/// Reads the trace, and says how far it is; with whether it is a file of plain text, which can be read again as it is.
fn read(path: &Path, most: u64) -> anyhow::Result<(Trace, bool)> {
    let file = user_file::open(path)
        .map_err(|error| bad_input(anyhow::anyhow!("cannot open {}: {error}", path.display())))?;
    let (total, is_file) = file
        .metadata()
        .map_or((0, false), |metadata| (metadata.len(), metadata.is_file()));
    let failed = |error: &dyn std::fmt::Display| bad_input(anyhow::anyhow!("{}: {error}", path.display()));
    let watched = Watched {
        file,
        done: 0,
        total,
        told_percent: 0,
    };
    let name = path.display().to_string();
    let watched = std::io::BufReader::with_capacity(1 << 20, watched);
    let input = outcrop_input::Input::open(name, watched).map_err(|error| failed(&error))?;
    if let Some(container) = input.container() {
        return Err(failed(&format!(
            "this is a {} file, and a trace is lines of text; write its requests to a CSV file first",
            container.name
        )));
    }
    let compression = input.compression();
    if let Some(compression) = compression {
        note(&format!(
            "{}: {compression}, decompressed on reading",
            path.display()
        ));
    }
    let trace = Trace::read_first(input, most).map_err(|error| failed(&error))?;
    Ok((trace, is_file && compression.is_none()))
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

/// Prints what to take, and the curve.
fn answer(
    points: &[CurvePoint],
    spec: &CurveSpec,
    (facts, replay): (&TraceFacts, String),
    args: &Args,
) -> anyhow::Result<()> {
    let format = args.format;
    let mut advice = advice::sentences(points, facts);
    // Of a trace that no cache helps, a server shows no more.
    if let Some(sentences) = &mut advice
        && facts.first_gets < facts.gets
    {
        sentences.push(replay);
    }
    let table = table(points, spec, format);
    match (format, advice) {
        (Format::Text, Some(advice)) => {
            // The answer first: the table may be longer than a screen.
            print(&format!("{}\n\n", advice.join("\n")))?;
            table.print(format)
        }
        (Format::Json, advice) => {
            let mut envelope = table.in_envelope();
            envelope.subjects = vec![args.trace.display().to_string()];
            let sentences = advice.unwrap_or_default();
            envelope.advice = sentences.iter().map(|sentence| claim(sentence)).collect();
            print(&pretty_json(&envelope)?)
        }
        (Format::Text | Format::Csv, _) => table.print(format),
    }
}

/// A sentence of the advice as the JSON of every command has it.
fn claim(sentence: &str) -> serde_json::Value {
    let topics = ["Memory", "Policy"].into_iter();
    let mut named =
        topics.filter_map(|topic| Some((topic, sentence.strip_prefix(topic)?.strip_prefix(": ")?)));
    let (topic, text) = named.next().unwrap_or(("Misses by memory", sentence));
    serde_json::json!({ "layer": outcrop_schema::cache::SCHEMA.name, "topic": topic, "text": text })
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
    let head = std::iter::once(("miss ratio by memory".to_owned(), "memory_B".to_owned()));
    let mut table = Table::new(head.chain(names));
    for (row, memory_bytes) in spec.memory_bytes.iter().enumerate() {
        let of_policy = points.chunks(spec.memory_bytes.len()).map(|column| &column[row]);
        let cells = of_policy.map(|point| ratio(point.miss_ratio(), "no get"));
        let memory = Cell::text(format_bytes(*memory_bytes));
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
