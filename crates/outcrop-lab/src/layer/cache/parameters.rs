//! What plans may say about caches: names, defaults, spellings, and the checks between them.

use std::str::FromStr;

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::{BenchSpec, Program, ServerKind, ServerSpec};
use outcrop_cache_load::{CacheLoadError, LoadSpec, Objective, RequestSource, Target, WarmUp};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::ByteSize;
use outcrop_workload::Content;
use outcrop_workload::keyed::{
    KeyPopularity, KeySize, KeySpace, KeyedWorkload, Preset, RequestMix, ValueSize,
};

use super::arrival::Arrivals;
use super::{LOOPBACK, protocol_of, url_of};
use crate::layer::parsed;
use crate::parameter::{Parameter, Refusal, Settings, hint};
use crate::plan::{Subject, TrialOptions};

pub(super) static SUBJECT: &[Parameter] = &[Parameter {
    name: "target",
    default: Some(LOOPBACK),
    canonical: target,
}];

const fn parameter(
    name: &'static str,
    default: Option<&'static str>,
    canonical: fn(&str) -> Result<String, String>,
) -> Parameter {
    Parameter {
        name,
        default,
        canonical,
    }
}

/// First those of the server, then those of the load.
pub(super) static WORKLOAD: &[Parameter] = &[
    parameter("server", None, |text| one_of(text, "server", &SERVERS)),
    parameter("build", None, build),
    parameter("memory", None, spelling::<ByteSize>),
    parameter("policy", None, spelling::<PolicyKind>),
    parameter("load_factor", None, load_factor),
    parameter("server_threads", None, |text| count(text, MOST_THREADS)),
    parameter("protocol", None, |text| {
        one_of(text, "protocol", &["memcached", "http"])
    }),
    parameter("oracle", Some("none"), |text| {
        one_of(text, "oracle", &["none", SIMULATOR])
    }),
    parameter("workload", Some("etc"), spelling::<Preset>),
    parameter("popularity", None, spelling::<KeyPopularity>),
    parameter("key_size", None, spelling::<KeySize>),
    parameter("value_size", None, spelling::<ValueSize>),
    parameter("request_mix", None, spelling::<RequestMix>),
    parameter("keys", Some("100000"), |text| count(text, KeySpace::MAX_KEYS)),
    parameter("content", Some("random"), spelling::<Content>),
    parameter("on_miss", Some("set"), |text| {
        one_of(text, "answer to a miss", &["set", "nothing"])
    }),
    parameter("fill", Some(EVERY_KEY), fill),
    parameter("arrival", Some("closed"), spelling::<Arrivals>),
    parameter("connections", Some("50"), |text| count(text, MOST_CONNECTIONS)),
    parameter("pipeline", Some("1"), |text| count(text, MOST_PIPELINE)),
    parameter("driver_threads", Some("1"), |text| count(text, MOST_THREADS)),
    parameter("objective", Some("p99<1ms"), spelling::<Objective>),
];

/// A parameter of a server, its default, and which servers have it.
type OfServer = (&'static str, &'static str, fn(&str) -> bool);

/// What a server has that the plan starts.
const OF_SERVERS: [OfServer; 6] = [
    ("memory", "64MiB", |_| true),
    ("build", THIS, is_ours),
    ("policy", "s3-fifo", is_ours),
    ("load_factor", "1.5", is_ours),
    ("server_threads", "1", |server| server != "redis"),
    ("protocol", "memcached", is_ours),
];

const OURS: &str = "outcrop";
const SERVERS: [&str; 4] = [OURS, "memcached", "redis", "$MEMCACHED"];
/// The build that stands for a server in this process.
const THIS: &str = "this";
const SIMULATOR: &str = "simulator";
const EVERY_KEY: &str = "every-key";
const MOST_THREADS: u64 = 256;
const MOST_CONNECTIONS: u64 = 50_000;
const MOST_PIPELINE: u64 = 4096;
/// The least that any of the servers takes.
const LEAST_MEMORY: ByteSize = ByteSize(1 << 20);

fn is_ours(server: &str) -> bool {
    server == OURS
}

fn one_of(text: &str, what: &str, known: &[&str]) -> Result<String, String> {
    if known.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("unknown {what} {text:?}; {}", hint(text, known)))
}

fn spelling<T: FromStr<Err: ToString> + ToString>(text: &str) -> Result<String, String> {
    let value = text.parse::<T>();
    value
        .map(|value| value.to_string())
        .map_err(|error| error.to_string())
}

fn count(text: &str, most: u64) -> Result<String, String> {
    match text.parse::<u64>() {
        Ok(count) if (1..=most).contains(&count) => Ok(count.to_string()),
        _ => Err(format!(
            "`{text}` is not accepted; expected a whole number from 1 to {most}"
        )),
    }
}

fn target(text: &str) -> Result<String, String> {
    if text == LOOPBACK {
        return Ok(text.to_owned());
    }
    let url = text.parse::<Target>();
    url.map(|url| url.to_string())
        .map_err(|error| format!("{error}; or \"{LOOPBACK}\" for servers that the plan starts"))
}

fn load_factor(text: &str) -> Result<String, String> {
    match text.parse::<f64>() {
        Ok(factor) if (0.1..=64.0).contains(&factor) => Ok(factor.to_string()),
        _ => Err(format!(
            "`{text}` is no load factor; expected 0.1 to 64 items per chain of the index, such as \"1.5\""
        )),
    }
}

/// The name of a folder below `target/`, and of nothing above it.
fn build(text: &str) -> Result<String, String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_name) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{text}` names no build; expected \"{THIS}\", or a folder below target/ such as \"release\""
    ))
}

fn fill(text: &str) -> Result<String, String> {
    let sets = text.strip_prefix("sets:").map(str::parse::<u64>);
    match (text, sets) {
        (EVERY_KEY | "nothing", _) => Ok(text.to_owned()),
        (_, Some(Ok(sets))) => Ok(format!("sets:{sets}")),
        _ => Err(format!(
            "`{text}` is not accepted; expected \"{EVERY_KEY}\", \"nothing\" or \"sets:COUNT\""
        )),
    }
}

/// Fills in what the server and the workload decide, and leaves out what a server does not have.
pub(super) fn complete(subject: &Subject, factors: &mut Settings) {
    if url_of(subject).is_some() {
        // What it is configured to is its owner's matter, and nobody knows its policy.
        for name in OF_SERVERS
            .map(|(name, _, _)| name)
            .into_iter()
            .chain(["server", "oracle"])
        {
            factors.remove(name);
        }
    } else {
        let server = factors
            .entry("server".to_owned())
            .or_insert_with(|| OURS.to_owned());
        let server = server.clone();
        for (name, default, has) in OF_SERVERS {
            if has(&server) {
                factors
                    .entry(name.to_owned())
                    .or_insert_with(|| default.to_owned());
            } else {
                factors.remove(name);
            }
        }
    }
    let preset = KeyedWorkload::of(parsed(&factors["workload"]));
    let of_preset = [
        ("popularity", preset.popularity.to_string()),
        ("key_size", preset.key_size.to_string()),
        ("value_size", preset.value_size.to_string()),
        ("request_mix", preset.mix.to_string()),
    ];
    for (name, value) in of_preset {
        factors.entry(name.to_owned()).or_insert(value);
    }
}

/// Lets the engine judge the trial, as it will when it starts.
pub(super) fn check(subject: &Subject, factors: &Settings, trial: &TrialOptions) -> Result<(), Refusal> {
    let spec = bench_spec(subject, factors, trial, Seed(0));
    if spec.server.memory_bytes < LEAST_MEMORY.0 {
        let seen = ByteSize(spec.server.memory_bytes);
        return Err(Refusal::of(
            "memory",
            format!("memory is {seen}; expected {LEAST_MEMORY} or more"),
        ));
    }
    let is_share = matches!(parsed(&factors["arrival"]), Arrivals::Share(..));
    if spec.is_simulated && (is_share || factors["fill"] != EVERY_KEY) {
        let message = format!(
            "the simulator needs fill = \"{EVERY_KEY}\" and an arrival that is no share of a closed loop, so that it can \
             repeat what the server was asked"
        );
        return Err(Refusal::of("oracle", message));
    }
    spec.load.validate().map_err(|error| {
        let parameter = match &error {
            CacheLoadError::Spec { field, .. } => match *field {
                "threads" => "driver_threads",
                "pipeline" => "pipeline",
                "arrival" => "arrival",
                _ => "connections",
            },
            _ => "connections",
        };
        Refusal::of(parameter, error.to_string())
    })?;
    tells_keys_apart(factors)
}

/// Keys of a fixed length have to have room for their numbers. Tables of other lengths are dear to make, and always have.
fn tells_keys_apart(factors: &Settings) -> Result<(), Refusal> {
    if !factors["key_size"].starts_with("fixed:") {
        return Ok(());
    }
    let one_byte = ValueSize::Fixed(ByteSize(1));
    KeySpace::new(parsed(&factors["keys"]), parsed(&factors["key_size"]), one_byte)
        .map(drop)
        .map_err(|error| Refusal::of("keys", error.to_string()))
}

fn workload_of(factors: &Settings) -> KeyedWorkload {
    KeyedWorkload {
        popularity: parsed(&factors["popularity"]),
        key_size: parsed(&factors["key_size"]),
        value_size: parsed(&factors["value_size"]),
        mix: parsed(&factors["request_mix"]),
    }
}

/// The trial of a cell, from checked factors; what its server does not have is at its default.
pub(super) fn bench_spec(
    subject: &Subject,
    factors: &Settings,
    trial: &TrialOptions,
    seed: Seed,
) -> BenchSpec {
    let (arrival, offered) = parsed::<Arrivals>(&factors["arrival"]).of_engine();
    let warm_up = match factors["fill"].as_str() {
        EVERY_KEY => WarmUp::Fill(trial.warm_up),
        "nothing" => WarmUp::For(trial.warm_up),
        sets => parsed(sets),
    };
    let any_port = Target::loopback(protocol_of(subject, factors), 0);
    BenchSpec {
        server: server_spec(subject, factors),
        load: LoadSpec {
            source: RequestSource::Generated {
                workload: workload_of(factors),
                key_count: parsed(&factors["keys"]),
            },
            sets_on_miss: factors["on_miss"] == "set",
            content: parsed(&factors["content"]),
            arrival,
            connections: parsed(&factors["connections"]),
            pipeline: parsed(&factors["pipeline"]),
            threads: parsed(&factors["driver_threads"]),
            warm_up,
            duration: trial.duration.duration(),
            objective: Some(parsed(&factors["objective"])),
            ..LoadSpec::new(any_port, seed)
        },
        offered,
        is_simulated: factors.get("oracle").is_some_and(|oracle| oracle == SIMULATOR),
    }
}

fn server_spec(subject: &Subject, factors: &Settings) -> ServerSpec {
    let text = |name: &str| factors.get(name).map(String::as_str);
    let default = ServerSpec::default();
    let kind = match (url_of(subject), text("server"), text("build")) {
        (Some(target), _, _) => ServerKind::At(target),
        (None, Some("memcached"), _) => ServerKind::Program(Program::Memcached),
        (None, Some("redis"), _) => ServerKind::Program(Program::Redis),
        (None, Some("$MEMCACHED"), _) => ServerKind::Program(Program::Named),
        (None, _, Some(build)) if build != THIS => ServerKind::Program(Program::Build(build.to_owned())),
        (None, _, _) => ServerKind::Embedded,
    };
    ServerSpec {
        kind,
        memory_bytes: text("memory").map_or(default.memory_bytes, |memory| parsed::<ByteSize>(memory).0),
        policy: text("policy").map_or(default.policy, parsed),
        load_factor: text("load_factor").map_or(default.load_factor, parsed),
        threads: text("server_threads").map_or(default.threads, parsed),
        is_http: text("protocol") == Some("http"),
    }
}
