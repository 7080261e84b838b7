//! `outcrop cache load`: asks a cache for what a workload asks for, and says what it gave.

use std::io::IsTerminal as _;
use std::sync::Arc;

use crate::exit::{Ending, bad_input};
use crate::output::{Cell, Format, Table, note};
use outcrop_cache_load::{
    CacheLoadError, LoadProgress, LoadReport, LoadSpec, Objective, RequestSource, Target, WarmUp, run_load,
    search_rate,
};
use outcrop_measure::units::{format_bandwidth, format_count, format_nanoseconds, format_ratio};
use outcrop_measure::{Seed, TimeSpan, percentile};
use outcrop_probe::Clock;
use outcrop_workload::keyed::{
    KEY_PREFIX, KeyPopularity, KeySize, KeyedWorkload, Preset, RequestKind, RequestMix, Trace, ValueSize,
};
use outcrop_workload::{Arrival, Content};

const EXAMPLES: &str = "\
Examples:
  outcrop cache load                                              ETC on memcached here, closed loop
  outcrop cache load --target redis://127.0.0.1 --pipeline 16     on Redis, 16 requests in flight
  outcrop cache load --arrival poisson:20k --objective 'p95<1ms'  open loop, from the intended start
  outcrop cache load --search 'p95<1ms'                           the highest rate within the limit
  outcrop cache load --trace requests.csv                         time, key, op, key and value size

It writes keys that begin with `oc-` (a trace: its own), and never empties a server unless --flush says so.";

/// Measure a cache under load: memcached, Redis, HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The server: memcached://HOST:PORT, redis://HOST:PORT, http://HOST:PORT
    #[arg(long, default_value = "memcached://127.0.0.1:11211", value_name = "URL")]
    target: Target,
    /// etc, etc-lite
    #[arg(long, default_value = "etc")]
    workload: Preset,
    /// Replay a trace instead: CSV of time, key, operation, key size, value size, ttl
    #[arg(long, value_name = "FILE", conflicts_with_all = ["keys", "arrival", "search"])]
    trace: Option<std::path::PathBuf>,
    /// Replay the trace at its own times (open loop)
    #[arg(long, requires = "trace")]
    trace_times: bool,
    /// Different keys
    #[arg(long, default_value_t = 100_000)]
    keys: u64,
    /// Instead of the workload's: etc, etc-lite, zipfian:THETA, uniform
    #[arg(long)]
    popularity: Option<KeyPopularity>,
    /// Instead of the workload's: etc, etc-lite, fixed:BYTES
    #[arg(long)]
    key_size: Option<KeySize>,
    /// Instead of the workload's: etc, etc-lite, fixed:BYTES
    #[arg(long)]
    value_size: Option<ValueSize>,
    /// Instead of the workload's: gets, sets and deletes, as in 30:1, 30:1:15 or 50:22:1
    #[arg(long)]
    mix: Option<RequestMix>,
    /// Do not set the key of a get that missed
    #[arg(long)]
    no_set_on_miss: bool,
    /// What values contain: random, zeros, entropy:BITS, compressible:RATIO
    #[arg(long, default_value = "random")]
    content: Content,
    /// closed, constant:RATE, poisson:RATE, etc:RATE
    #[arg(long, default_value = "closed")]
    arrival: Arrival,
    /// Requests per second at constant intervals, as in 20k: short for --arrival constant:RATE
    #[arg(long, conflicts_with = "arrival", value_parser = constant_rate)]
    rate: Option<Arrival>,
    /// Connections
    #[arg(long, default_value_t = 50)]
    connections: u32,
    /// Requests in flight on each connection
    #[arg(long, default_value_t = 1)]
    pipeline: u32,
    /// Threads of the driver
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// Let the threads move between CPUs
    #[arg(long)]
    no_pin: bool,
    /// auto (fill, then until the hit ratio stands still), fill:TIME (fill, then the load so long), none, sets:COUNT or a time
    #[arg(long, default_value = "auto")]
    warm_up: WarmUp,
    /// Measured time
    #[arg(long, default_value = "5s", value_name = "TIME")]
    duration: TimeSpan,
    /// Count goodput by this, as in p95<1ms
    #[arg(long)]
    objective: Option<Objective>,
    /// Search the highest rate that keeps this, as in p95<1ms
    #[arg(long, value_name = "OBJECTIVE", conflicts_with = "objective")]
    search: Option<Objective>,
    /// Empty the whole server first
    #[arg(long)]
    flush: bool,
    /// Print the latency distribution of every kind of request instead
    #[arg(long)]
    cdf: bool,
    /// Seed of every random choice
    #[arg(long, default_value = "1")]
    seed: Seed,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn constant_rate(text: &str) -> Result<Arrival, outcrop_workload::WorkloadError> {
    format!("constant:{text}").parse()
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let spec = spec(args)?;
    spec.validate().map_err(bad_input)?;
    announce(args, &spec);
    let clock = Clock::new();
    let stop = crate::interrupt::stop_flag()?;
    let mut progress = progress();
    if args.search.is_some() {
        return search(&spec, args.format, &clock, &stop, &mut progress);
    }
    let report = run_load(&spec, &clock, &stop, &mut progress).map_err(classified)?;
    if args.cdf { cdf(&report) } else { summary(&report) }.print(args.format)?;
    conclude(&report)
}

fn search(
    spec: &LoadSpec,
    format: Format,
    clock: &Clock,
    stop: &std::sync::atomic::AtomicBool,
    progress: &mut dyn FnMut(LoadProgress),
) -> anyhow::Result<Ending> {
    let found = search_rate(spec, clock, stop, progress).map_err(classified)?;
    let mut table = Table::new([
        ("offered", "offered_1/s"),
        ("answered", "throughput_1/s"),
        ("objective", "objective"),
        ("kept", "kept"),
        (found.objective.percentile.name, "latency_ns"),
    ]);
    for step in &found.steps {
        let latency = step.report.tally.latency();
        table.push(vec![
            per_second(step.requested_per_second),
            per_second(step.report.throughput_per_second()),
            Cell::text(found.objective.to_string()),
            Cell::text(if step.is_kept { "yes" } else { "no" }),
            latency_cell(
                latency.percentile(found.objective.percentile.quantile),
                latency.count(),
            ),
        ]);
    }
    table.print(format)?;
    note(&match found.best() {
        Some(best) => format!(
            "highest rate that kept {}: {}/s (closed loop: {}/s)",
            found.objective,
            format_count(best.requested_per_second),
            format_count(found.closed_loop.throughput_per_second())
        ),
        None => format!("no rate kept {}", found.objective),
    });
    Ok(if found.closed_loop.is_interrupted {
        Ending::Interrupted
    } else {
        Ending::Done
    })
}

/// A spec that cannot be is the user's; a server that does not answer is a failed measurement.
fn classified(error: CacheLoadError) -> anyhow::Error {
    match error {
        CacheLoadError::Spec { .. } | CacheLoadError::Target { .. } => bad_input(error),
        error => error.into(),
    }
}

fn spec(args: &Args) -> anyhow::Result<LoadSpec> {
    let source = match &args.trace {
        Some(path) => {
            let file = std::fs::File::open(path)
                .map_err(|error| bad_input(anyhow::anyhow!("cannot open {}: {error}", path.display())))?;
            let trace = Trace::read(std::io::BufReader::new(file)).map_err(bad_input)?;
            RequestSource::Trace {
                trace: Arc::new(trace),
                keeps_times: args.trace_times,
            }
        }
        None => {
            let preset = KeyedWorkload::of(args.workload);
            let workload = KeyedWorkload {
                popularity: args.popularity.unwrap_or(preset.popularity),
                key_size: args.key_size.unwrap_or(preset.key_size),
                value_size: args.value_size.unwrap_or(preset.value_size),
                mix: args.mix.unwrap_or(preset.mix),
            };
            RequestSource::Generated {
                workload,
                key_count: args.keys,
            }
        }
    };
    Ok(LoadSpec {
        source,
        sets_on_miss: !args.no_set_on_miss && args.trace.is_none(),
        content: args.content,
        arrival: args.rate.unwrap_or(args.arrival),
        connections: args.connections,
        pipeline: args.pipeline,
        threads: args.threads,
        is_pinned: !args.no_pin,
        warm_up: args.warm_up,
        duration: args.duration.duration(),
        objective: args.objective.or(args.search),
        flushes_first: args.flush,
        ..LoadSpec::new(args.target.clone(), args.seed)
    })
}

fn announce(args: &Args, spec: &LoadSpec) {
    let written = match &spec.source {
        RequestSource::Generated { key_count, .. } => {
            format!("up to {key_count} keys that begin with `{KEY_PREFIX}` will be written")
        }
        RequestSource::Trace { trace, .. } => {
            format!("up to {} keys of the trace will be written", trace.key_count())
        }
    };
    let flush = if args.flush { "; it is EMPTIED first" } else { "" };
    note(&format!("{}: {written}{flush} · seed {}", spec.target, spec.seed));
}

fn progress() -> impl FnMut(LoadProgress) {
    let is_terminal = std::io::stderr().is_terminal();
    let mut last = String::new();
    move |step| {
        let line = match step {
            LoadProgress::Filling { .. } if !is_terminal => "filling".to_owned(),
            LoadProgress::Filling { done, total } => format!("filling: {done} of {total} keys"),
            LoadProgress::Settling { .. } if !is_terminal => "settling".to_owned(),
            LoadProgress::Settling { hit_ratio: None } => "settling".to_owned(),
            LoadProgress::Settling {
                hit_ratio: Some(ratio),
            } => format!("settling: hit ratio {ratio:.3}"),
            LoadProgress::Measuring { .. } if !is_terminal => "measuring".to_owned(),
            LoadProgress::Measuring { elapsed, total, .. } => {
                format!(
                    "measuring: {:.0} of {:.0} s",
                    elapsed.as_secs_f64(),
                    total.as_secs_f64()
                )
            }
        };
        if line != last {
            note(&line);
            last = line;
        }
    }
}

fn conclude(report: &LoadReport) -> anyhow::Result<Ending> {
    if report.is_driver_the_limit() {
        note(&format!(
            "the driver was the bottleneck: a thread of it was busy {:.0} % of the time; give it --threads, or read \
             these figures as its own",
            report.driver_cpu.busiest_share * 100.0
        ));
    }
    if report.warm_up.is_steady == Some(false) {
        note("warning: the hit ratio had not stood still when measuring began");
    }
    for problem in report.problems() {
        note(&format!("error: {problem}"));
    }
    anyhow::ensure!(
        report.tally.mismatches == 0,
        "values came back that had not been stored"
    );
    Ok(if report.is_interrupted {
        Ending::Interrupted
    } else {
        Ending::Done
    })
}

fn per_second(value: f64) -> Cell {
    Cell::number(value, format!("{}/s", format_count(value)))
}

fn latency_cell(latency_ns: Option<u64>, count: u64) -> Cell {
    match latency_ns {
        Some(ns) => Cell::number(ns as f64, format_nanoseconds(ns as f64)),
        None => Cell::Absent(format!("n = {count} does not support it")),
    }
}

/// Every figure as a row of name, value and unit.
fn summary(report: &LoadReport) -> Table {
    let mut table = Table::new([("what", "what"), ("value", "value"), ("", "unit")]);
    let mut row =
        |what: &str, value: Cell, unit: &str| table.push(vec![Cell::text(what), value, Cell::text(unit)]);
    let tally = &report.tally;
    row(
        "loop",
        Cell::text(if report.is_open_loop {
            "open loop"
        } else {
            "closed loop"
        }),
        "",
    );
    if let Some(rate) = report.requested_per_second {
        row("offered", per_second(rate), "1/s");
    }
    row("throughput", per_second(report.throughput_per_second()), "1/s");
    if let (Some(goodput), Some(objective)) = (report.goodput_per_second(), report.objective) {
        row(&format!("goodput ({objective})"), per_second(goodput), "1/s");
        let is_met = report.meets_objective() == Some(true);
        row(
            &format!("{objective} kept"),
            Cell::text(if is_met { "yes" } else { "no" }),
            "",
        );
    }
    for (name, ratio) in [
        ("hit ratio", tally.hit_ratio()),
        ("byte hit ratio", tally.byte_hit_ratio()),
    ] {
        let none = || Cell::Absent("no get was answered".to_owned());
        row(
            name,
            ratio.map_or_else(none, |ratio| Cell::number(ratio, format!("{ratio:.4}"))),
            "ratio",
        );
    }
    let seconds = report.duration_ns as f64 / 1e9;
    let read = tally.hit_bytes as f64 / seconds;
    row("values read", Cell::number(read, format_bandwidth(read)), "B/s");
    let all = tally.latency();
    for known in percentile::STANDARD {
        row(
            &format!("latency {}", known.name),
            latency_cell(all.percentile(known.quantile), all.count()),
            "ns",
        );
    }
    row("latency max", latency_cell(all.max(), all.count()), "ns");
    for kind in RequestKind::ALL {
        let of = tally.kind(kind);
        if of.operations > 0 {
            row(
                &format!("{}s", kind.name()),
                Cell::number(of.operations as f64, of.operations.to_string()),
                "count",
            );
            row(
                &format!("{} p99", kind.name()),
                latency_cell(of.latency.percentile(0.99), of.latency.count()),
                "ns",
            );
        }
    }
    push_cost(report, &mut row);
    table
}

/// What driver, server and warm-up took.
fn push_cost(report: &LoadReport, row: &mut impl FnMut(&str, Cell, &str)) {
    let nanoseconds = |ns: f64| Cell::number(ns, format_nanoseconds(ns));
    let none = || Cell::Absent("nothing was answered".to_owned());
    row(
        "driver CPU",
        report
            .driver_cpu_per_operation_ns()
            .map_or_else(none, nanoseconds),
        "ns/op",
    );
    let share = report.driver_cpu.busiest_share;
    row(
        "driver CPU share",
        Cell::number(share, format_ratio(share)),
        "ratio",
    );
    match report.server_cpu_per_operation_ns() {
        Ok(ns) => row("server CPU", nanoseconds(ns), "ns/op"),
        Err(why) => row("server CPU", Cell::Absent(why.reason), "ns/op"),
    }
    let warm_up = &report.warm_up;
    row(
        "warm-up sets",
        Cell::number(warm_up.sets as f64, warm_up.sets.to_string()),
        "count",
    );
    let warm_up_s = warm_up.duration.as_secs_f64();
    row(
        "warm-up",
        Cell::number(warm_up_s, format!("{warm_up_s:.2} s")),
        "s",
    );
}

/// The cumulative distribution of each kind's latency.
fn cdf(report: &LoadReport) -> Table {
    let mut table = Table::new([
        ("request", "request"),
        ("latency", "latency_ns"),
        ("share at or below", "share_ratio"),
    ]);
    for kind in RequestKind::ALL {
        for point in report.tally.kind(kind).latency.ccdf() {
            let share = 1.0 - point.fraction_above;
            table.push(vec![
                Cell::text(kind.name()),
                Cell::number(
                    point.latency_ns as f64,
                    format_nanoseconds(point.latency_ns as f64),
                ),
                Cell::number(share, format!("{share:.6}")),
            ]);
        }
    }
    table
}
