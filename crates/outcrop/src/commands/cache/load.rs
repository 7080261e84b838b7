//! `outcrop cache load`: asks a cache for what a workload asks for, and says what it gave.

mod distribution;
mod files;
mod json;
mod replayed;
mod search;
mod table;

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::num::NonZeroU64;
use std::sync::Arc;

use crate::commands::whole::{from_one, whole};
use crate::exit::{Ending, bad_input};
use crate::output::{Format, note, print};
use indicatif::{ProgressBar, ProgressFinish};
use outcrop_cache_load::{
    CacheLoadError, LoadProgress, LoadReport, LoadSpec, Objective, RequestSource, Target, WarmUp, run_load,
};
use outcrop_measure::units::format_nanoseconds;
use outcrop_measure::{LatencyHistogram, Seed, TimeSpan};
use outcrop_probe::Clock;
use outcrop_schema::lateness;
use outcrop_workload::keyed::{
    KEY_PREFIX, KeyPopularity, KeySize, KeyedWorkload, Preset, RequestMix, Trace, ValueSize,
};
use outcrop_workload::{Arrival, Content};

const EXAMPLES: &str = "\
Examples:
  outcrop cache load                                              ETC, closed loop, local memcached
  outcrop cache load --target redis://127.0.0.1 --pipeline 16     Redis, 16 requests in flight
  outcrop cache load --arrival poisson:20k --objective 'p95<1ms'  open loop, from the intended start
  outcrop cache load --search 'p95<1ms'                           highest rate with p95 below 1 ms
  outcrop cache load --requests 15000 --out load                  15,000 requests, results as files
  outcrop cache load --trace requests.csv --set-on-miss           replay a trace

It writes keys that begin with `oc-` (a trace writes its own keys). It never empties a server without --flush.";

/// How long a load is measured unless it is said.
const DURATION: TimeSpan = TimeSpan::seconds(5);

/// What a trace decides: its requests, keys and sizes are its own, and so are its times.
const NOT_WITH_A_TRACE: [&str; 9] = [
    "workload",
    "keys",
    "popularity",
    "key_size",
    "value_size",
    "mix",
    "arrival",
    "rate",
    "search",
];

/// Measure a cache under load: memcached, Redis, HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The server: memcached://HOST:PORT, redis://HOST:PORT, http://HOST:PORT
    #[arg(long, default_value = "memcached://127.0.0.1:11211", value_name = "URL")]
    target: Target,
    /// Workload: etc, etc-lite
    #[arg(long, default_value = "etc")]
    workload: Preset,
    /// Replay a trace instead: CSV with time,key,operation,key size,value size,ttl; with time,key,size; or with keys.
    /// Times and ttl are in seconds
    #[arg(long, value_name = "FILE", conflicts_with_all = NOT_WITH_A_TRACE)]
    trace: Option<std::path::PathBuf>,
    /// Replay the trace at its own times (open loop)
    #[arg(long, requires = "trace")]
    trace_times: bool,
    /// Number of distinct keys, as in 100000 or 1M: k, M and G are powers of 1000
    #[arg(long, default_value_t = 100_000, value_parser = whole::<u64>)]
    keys: u64,
    /// Key popularity [default: the workload's]: etc, etc-lite, zipfian:THETA, uniform
    #[arg(long)]
    popularity: Option<KeyPopularity>,
    /// Key sizes [default: the workload's]: etc, etc-lite, fixed:BYTES
    #[arg(long)]
    key_size: Option<KeySize>,
    /// Value sizes [default: the workload's]: etc, etc-lite, mixgraph, fixed:BYTES
    #[arg(long)]
    value_size: Option<ValueSize>,
    /// Ratio of gets, sets and deletes [default: the workload's], as in 30:1, 30:1:15 or 50:22:1
    #[arg(long)]
    mix: Option<RequestMix>,
    /// Do not set a key after a miss (a trace does not, unless --set-on-miss is given)
    #[arg(long)]
    no_set_on_miss: bool,
    /// With --trace: set the key after a miss, as an application in front of a database does
    #[arg(long, requires = "trace", conflicts_with = "no_set_on_miss")]
    set_on_miss: bool,
    /// Number of distinct values: key k has value k mod COUNT [default: each key its own]
    #[arg(long, value_name = "COUNT", conflicts_with = "trace", value_parser = from_one)]
    value_pool: Option<NonZeroU64>,
    /// Content of values: random, zeros, entropy:BITS, compressible:RATIO
    #[arg(long, default_value = "random")]
    content: Content,
    /// Arrival process [default: closed]: closed, constant:RATE, poisson:RATE, etc:RATE, sine:RATE:SWING:PERIOD. With --search, which chooses
    /// the rates, without a rate [default: poisson]: constant, poisson, etc
    #[arg(long, value_parser = asked_arrival)]
    arrival: Option<AskedArrival>,
    /// Requests per second at constant intervals, as in 20k: short for --arrival constant:RATE; not with --search, which chooses the rates
    #[arg(long, conflicts_with = "arrival", value_parser = constant_rate)]
    rate: Option<Arrival>,
    /// Number of connections
    #[arg(long, default_value_t = 50, value_parser = whole::<u32>)]
    connections: u32,
    /// Requests in flight on each connection
    #[arg(long, default_value_t = 1, value_parser = whole::<u32>)]
    pipeline: u32,
    /// Threads of the driver
    #[arg(long, default_value_t = 1, value_parser = whole::<u32>)]
    threads: u32,
    /// Do not pin driver threads to CPUs
    #[arg(long)]
    no_pin: bool,
    /// Warm-up: auto (fill, then load until the hit ratio stops changing), fill:TIME (fill, then load for TIME), sets:COUNT, a time, or none
    #[arg(long, default_value = "auto")]
    warm_up: WarmUp,
    /// Duration of the measurement [default: 5s; a trace is replayed to its end]
    #[arg(long, value_name = "TIME")]
    duration: Option<TimeSpan>,
    /// Measure COUNT requests, as in 15000 or 1M, instead of a duration; sets on miss are not counted
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["duration", "search"], value_parser = from_one)]
    requests: Option<NonZeroU64>,
    /// Write the figures and the latency distributions into this new folder: load.json, load.csv, latencies.csv, latencies.svg
    #[arg(long, value_name = "DIR", conflicts_with = "search")]
    out: Option<std::path::PathBuf>,
    /// Latency objective that goodput is counted by, as in p95<1ms
    #[arg(long)]
    objective: Option<Objective>,
    /// Find the highest rate that meets this objective, as in p95<1ms. Requests arrive by the process of --arrival (Poisson unless given); each
    /// step lasts --duration or longer
    #[arg(long, value_name = "OBJECTIVE", conflicts_with = "objective")]
    search: Option<Objective>,
    /// Remove every item from the server first
    #[arg(long)]
    flush: bool,
    /// Print only the latency distribution of each request type, at every latency that occurred
    #[arg(long, conflicts_with = "search")]
    cdf: bool,
    /// Seed of every random choice
    #[arg(long, default_value = "1")]
    seed: Seed,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Arrivals as the flag has them.
#[derive(Clone, Copy, Debug)]
struct AskedArrival {
    arrival: Arrival,
    /// Whether the rate is the user's: without one, a search chooses it.
    has_rate: bool,
}

fn asked_arrival(text: &str) -> Result<AskedArrival, outcrop_workload::WorkloadError> {
    let has_rate = !["constant", "poisson", "etc"].contains(&text);
    let spelled = match has_rate {
        true => text.to_owned(),
        false => format!("{text}:1"),
    };
    let arrival = spelled.parse()?;
    Ok(AskedArrival { arrival, has_rate })
}

/// The arrivals that were asked for. What a search would not use is refused.
fn arrival(args: &Args) -> anyhow::Result<Arrival> {
    let refuse = |text: String| Err(bad_input(anyhow::anyhow!(text)));
    let Some(asked) = args.arrival else {
        return match args.rate {
            Some(_) if args.search.is_some() => refuse(
                "--rate: --search chooses the rates itself; leave it out, or give the arrival process alone, as in --arrival constant"
                    .to_owned(),
            ),
            rate => Ok(rate.unwrap_or(Arrival::Closed)),
        };
    };
    let process = asked.arrival.process();
    match (args.search.is_some(), asked.has_rate, asked.arrival) {
        (true, _, Arrival::Closed) => refuse(
            "--arrival closed: --search offers rates, and a closed loop has none; give --arrival poisson, constant or etc".to_owned(),
        ),
        // The rate of a sine says what its swing is a part of.
        (_, true, Arrival::Sine { .. }) | (true, false, _) | (false, true, _) => Ok(asked.arrival),
        (true, true, given) => refuse(format!(
            "--arrival {given}: --search chooses the rates itself; give the process alone: --arrival {process}"
        )),
        (false, false, _) => refuse(format!(
            "--arrival {process}: it has no rate; give one, as in {process}:20k (only --search chooses rates itself)"
        )),
    }
}

fn constant_rate(text: &str) -> Result<Arrival, outcrop_workload::WorkloadError> {
    format!("constant:{text}").parse()
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let spec = spec(args)?;
    spec.validate().map_err(bad_input)?;
    if let Some(folder) = &args.out {
        files::check(folder)?;
    }
    announce(args, &spec);
    let clock = Clock::new();
    let stop = crate::interrupt::stop_flag()?;
    let mut progress = progress();
    if args.search.is_some() {
        return search::run(&spec, args.format, &clock, &stop, progress);
    }
    let report = run_load(&spec, &clock, &stop, &mut progress).map_err(classified)?;
    // The line of progress goes before anything else is said.
    drop(progress);
    if let Some(folder) = &args.out {
        files::write(folder, &spec, &report)?;
    }
    show(args, &spec, &report)?;
    conclude(&spec, &report)
}

/// Figures and distribution; the distribution alone where that was asked for.
fn show(args: &Args, spec: &LoadSpec, report: &LoadReport) -> anyhow::Result<()> {
    if args.format == Format::Json {
        let rows = match args.cdf {
            true => distribution::cdf(report),
            false => table::summary(spec, report, Format::Json),
        };
        return print(&json::document(&rows, spec, report)?);
    }
    if args.cdf {
        return distribution::cdf(report).print(args.format);
    }
    if args.format == Format::Csv {
        return distribution::with_figures(spec, report).print(Format::Csv);
    }
    table::summary(spec, report, Format::Text).print(Format::Text)?;
    match distribution::picture(report) {
        Some(picture) => print(&format!("\n{}", picture.to_text())),
        None => Ok(()),
    }
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
            let file = outcrop_probe::user_file::open(path)
                .map_err(|error| bad_input(anyhow::anyhow!("cannot open {}: {error}", path.display())))?;
            let trace = Trace::read(std::io::BufReader::new(file)).map_err(bad_input)?;
            if args.trace_times && !trace.has_times() {
                let text = "--trace-times: the trace has only keys; give a trace of time,key,size";
                return Err(bad_input(anyhow::anyhow!(text)));
            }
            if args.set_on_miss && !trace.has_sizes() {
                let text = "--set-on-miss: the trace has no value sizes; give a trace of time,key,size";
                return Err(bad_input(anyhow::anyhow!(text)));
            }
            RequestSource::Trace {
                trace: Arc::new(trace),
                keeps_times: args.trace_times,
                is_whole: args.duration.is_none() && args.requests.is_none(),
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
        sets_on_miss: args.set_on_miss || (args.trace.is_none() && !args.no_set_on_miss),
        value_count: args.value_pool,
        content: args.content,
        arrival: arrival(args)?,
        connections: args.connections,
        pipeline: args.pipeline,
        threads: args.threads,
        is_pinned: !args.no_pin,
        warm_up: args.warm_up,
        duration: args.duration.unwrap_or(DURATION).duration(),
        requests: args.requests,
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

/// What goes on, on stderr: one line that is overwritten on a terminal; each phase once in a log, however often a search comes back to it.
fn progress() -> impl FnMut(LoadProgress) {
    let is_terminal = std::io::stderr().is_terminal();
    let bar = match is_terminal {
        true => ProgressBar::new_spinner().with_finish(ProgressFinish::AndClear),
        false => ProgressBar::hidden(),
    };
    let mut told = BTreeSet::new();
    move |step| {
        if is_terminal {
            bar.set_message(line_of(step));
            bar.tick();
            return;
        }
        let phase = match step {
            LoadProgress::Filling { .. } => "filling",
            LoadProgress::Settling { .. } => "settling",
            LoadProgress::Measuring { .. } => "measuring",
        };
        if told.insert(phase) {
            note(phase);
        }
    }
}

fn line_of(step: LoadProgress) -> String {
    match step {
        LoadProgress::Filling { done, total } => format!("filling: {done} of {total} keys"),
        LoadProgress::Settling { hit_ratio: None } => "settling".to_owned(),
        LoadProgress::Settling {
            hit_ratio: Some(ratio),
        } => format!("settling: hit ratio {ratio:.3}"),
        LoadProgress::Measuring {
            elapsed,
            total: Some(total),
            ..
        } => format!(
            "measuring: {:.0} of {:.0} s",
            elapsed.min(total).as_secs_f64(),
            total.as_secs_f64()
        ),
        LoadProgress::Measuring { answered, .. } => {
            format!("measuring: {answered} requests answered")
        }
    }
}

/// What others did to a measurement, and what to do about it.
fn disturbed(share: f64) -> String {
    format!(
        "other programs used {:.0} % of the CPUs meanwhile; stop them and measure again",
        share * 100.0
    )
}

/// That the driver itself was late, where that is a great part of the latencies.
fn late(report: &LoadReport) -> Option<String> {
    let at = |histogram: &LatencyHistogram, quantile| histogram.percentile(quantile).map(|ns| ns as f64);
    let late_ns = at(&report.tally.lateness, 0.99)?;
    let service_ns = at(&report.tally.service(), 0.5)?;
    lateness::is_late(late_ns, service_ns).then(|| {
        format!(
            "this machine sent requests late (p99 {}), and the latencies include that delay; once sent, a request took {} in the median",
            format_nanoseconds(late_ns),
            format_nanoseconds(service_ns)
        )
    })
}

fn conclude(spec: &LoadSpec, report: &LoadReport) -> anyhow::Result<Ending> {
    if report.is_driver_the_limit() {
        note(&format!(
            "the load driver was the bottleneck: one of its threads was busy {:.0} % of the time; raise --threads, or read these figures as the driver's",
            report.driver_cpu.busiest_share * 100.0
        ));
    }
    if let Some((replayed, all)) = report.part_of_trace() {
        let more = replayed::more(report.is_interrupted, spec.requests.is_some(), spec.is_timed());
        note(&format!(
            "warning: {replayed} of the {all} requests of the trace were replayed, and the figures are of these{more}"
        ));
    }
    let of_trace = spec.trace_requests().zip(spec.requests);
    if let Some((all, asked)) = of_trace.filter(|(all, asked)| *all < asked.get()) {
        note(&format!(
            "warning: the trace has {all} requests, and --requests asks for {asked}: no more than {all} were made"
        ));
    }
    if report.warm_up.is_steady == Some(false) {
        note("warning: the hit ratio was still changing when the measurement began");
    }
    // What voids the figures ends the command as an error; the others qualify them.
    let word = if report.is_void() { "error" } else { "warning" };
    for problem in report.problems() {
        note(&format!("{word}: {problem}"));
    }
    if let Some(share) = report.disturbance() {
        note(&format!("warning: {}", disturbed(share)));
    }
    if let Some(late) = late(report) {
        note(&format!("warning: {late}"));
    }
    let tally = &report.tally;
    anyhow::ensure!(
        tally.other_lengths == 0 || tally.other_lengths < tally.mismatches,
        "the cache holds values of an earlier load with other value sizes; empty it with --flush, or give that load's --value-size"
    );
    anyhow::ensure!(
        tally.mismatches == 0,
        "the server returned values that were not stored"
    );
    anyhow::ensure!(!report.is_void(), "these figures say nothing about the cache");
    Ok(if report.is_interrupted {
        Ending::Interrupted
    } else {
        Ending::Done
    })
}
