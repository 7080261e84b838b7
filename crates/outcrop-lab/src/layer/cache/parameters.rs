//! What plans say about caches, in the engine's terms: what servers decide, and the checks between factors.

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::{BenchSpec, Offered, Program, ServerKind, ServerSpec};
use outcrop_cache_load::{CacheLoadError, LoadSpec, RequestSource, Target, WarmUp};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::ByteSize;
use outcrop_schema::cache::{self, Build, Fill, OnMiss, Oracle, Policy, Server};
use outcrop_schema::{FactorRef, Settings};
use outcrop_workload::Arrivals;
use outcrop_workload::keyed::{KeySize, KeySpace, KeyedWorkload, ValueSize};

use super::url_of;
use crate::cell::{Subject, TrialOptions};
use crate::layer::Refusal;

/// The least memory that any of the servers takes, and the unit of memcached's.
const LEAST_MEMORY: ByteSize = ByteSize(1 << 20);

/// Fills in what the server and the workload decide, and leaves out what a server does not have.
pub(super) fn complete(subject: &Subject, factors: &mut Settings) {
    if url_of(subject).is_some() {
        // What it is configured to is its owner's matter, and nobody knows its policy.
        factors.remove(&cache::MEMORY);
        for factor in cache::OF_SERVERS {
            factors.remove(factor.about());
        }
    } else {
        complete_server(factors);
    }
    let preset = KeyedWorkload::of(*factors.value(&cache::WORKLOAD));
    factors.set_default(&cache::POPULARITY, preset.popularity);
    factors.set_default(&cache::KEY_SIZE, preset.key_size);
    factors.set_default(&cache::VALUE_SIZE, preset.value_size);
    factors.set_default(&cache::REQUEST_MIX, preset.mix);
}

/// Completes the settings of a server that the plan starts; factors that only our server has are removed for other servers.
fn complete_server(factors: &mut Settings) {
    let default = ServerSpec::default();
    factors.set_default(&cache::SERVER, Server::default());
    factors.set_default(&cache::MEMORY, ByteSize(default.memory_bytes));
    let server = *factors.value(&cache::SERVER);
    if server == Server::Redis {
        factors.remove(&cache::SERVER_THREADS);
    } else {
        factors.set_default(&cache::SERVER_THREADS, default.threads);
    }
    if server == Server::Outcrop {
        factors.set_default(&cache::BUILD, Build::default());
        factors.set_default(&cache::POLICY, Policy::default());
        factors.set_default(&cache::LOAD_FACTOR, default.load_factor);
        factors.set_default(&cache::PROTOCOL, cache::Protocol::default());
    } else {
        let ours: [FactorRef; 5] = [
            &cache::BUILD,
            &cache::ITEM_MEMORY,
            &cache::POLICY,
            &cache::LOAD_FACTOR,
            &cache::PROTOCOL,
        ];
        ours.iter().for_each(|factor| factors.remove(factor.about()));
    }
}

/// Lets the engine judge the trial, as it will when it starts.
pub(super) fn check(subject: &Subject, factors: &Settings, trial: &TrialOptions) -> Result<(), Refusal> {
    let spec = bench_spec(subject, factors, trial, Seed(0));
    if spec.server.memory_bytes < LEAST_MEMORY.0 {
        let seen = ByteSize(spec.server.memory_bytes);
        return Err(Refusal::of(
            &cache::MEMORY,
            format!("memory is {seen}; expected {LEAST_MEMORY} or more"),
        ));
    }
    let is_memcached = matches!(
        factors.get(&cache::SERVER),
        Some(Server::Memcached | Server::NamedMemcached)
    );
    if is_memcached && !spec.server.memory_bytes.is_multiple_of(LEAST_MEMORY.0) {
        let seen = ByteSize(spec.server.memory_bytes);
        return Err(Refusal::of(
            &cache::MEMORY,
            format!("memory is {seen}, and memcached takes whole MiB; expected such as 8MiB"),
        ));
    }
    let is_share = matches!(factors.value(&cache::ARRIVAL), Arrivals::Share(..));
    if spec.is_simulated && (is_share || *factors.value(&cache::FILL) != Fill::EveryKey) {
        let message = format!(
            "the simulator needs fill = \"{}\", and an arrival other than a share of a closed loop, to replay the server's requests",
            Fill::EveryKey
        );
        return Err(Refusal::of(&cache::ORACLE, message));
    }
    spec.load.validate().map_err(|error| {
        let factor: FactorRef = match &error {
            CacheLoadError::Spec { field, .. } => match *field {
                "threads" => &cache::DRIVER_THREADS,
                "pipeline" => &cache::PIPELINE,
                "arrival" => &cache::ARRIVAL,
                "requests" => &cache::REQUESTS,
                _ => &cache::CONNECTIONS,
            },
            _ => &cache::CONNECTIONS,
        };
        Refusal::of(factor, error.to_string())
    })?;
    tells_keys_apart(factors)
}

/// Keys of a fixed length need room for their numbers. Tables of other lengths are expensive to make, and always have it.
fn tells_keys_apart(factors: &Settings) -> Result<(), Refusal> {
    let key_size = *factors.value(&cache::KEY_SIZE);
    if !matches!(key_size, KeySize::Fixed(_)) {
        return Ok(());
    }
    KeySpace::new(
        *factors.value(&cache::KEYS),
        key_size,
        ValueSize::Fixed(ByteSize(1)),
    )
    .map(drop)
    .map_err(|error| Refusal::of(&cache::KEYS, error.to_string()))
}

/// The trial of a cell; what its server does not have is at its default.
pub(super) fn bench_spec(
    subject: &Subject,
    factors: &Settings,
    trial: &TrialOptions,
    seed: Seed,
) -> BenchSpec {
    let (arrival, offered) = match *factors.value(&cache::ARRIVAL) {
        Arrivals::Given(arrival) => (arrival, Offered::AsGiven),
        Arrivals::Share(arrival, percent) => (arrival, Offered::ShareOfClosedLoop(percent / 100.0)),
    };
    let server = server_spec(subject, factors);
    // All that matters of the target before the server has its port.
    let any_port = Target::loopback(server.protocol(), 0);
    BenchSpec {
        load: LoadSpec {
            source: RequestSource::Generated {
                workload: KeyedWorkload {
                    popularity: *factors.value(&cache::POPULARITY),
                    key_size: *factors.value(&cache::KEY_SIZE),
                    value_size: *factors.value(&cache::VALUE_SIZE),
                    mix: *factors.value(&cache::REQUEST_MIX),
                },
                key_count: *factors.value(&cache::KEYS),
            },
            sets_on_miss: *factors.value(&cache::ON_MISS) == OnMiss::Set,
            value_count: factors.value(&cache::VALUE_POOL).0,
            content: *factors.value(&cache::CONTENT),
            arrival,
            connections: *factors.value(&cache::CONNECTIONS),
            pipeline: *factors.value(&cache::PIPELINE),
            threads: *factors.value(&cache::DRIVER_THREADS),
            warm_up: match *factors.value(&cache::FILL) {
                Fill::EveryKey => WarmUp::Fill(trial.warm_up),
                Fill::Nothing => WarmUp::For(trial.warm_up),
                Fill::Sets(sets) => WarmUp::Sets(sets),
            },
            duration: trial.duration.duration(),
            requests: factors.value(&cache::REQUESTS).0,
            objective: Some(*factors.value(&cache::OBJECTIVE)),
            ..LoadSpec::new(any_port, seed)
        },
        server,
        offered,
        is_simulated: factors.get(&cache::ORACLE) == Some(&Oracle::Simulator),
    }
}

fn server_spec(subject: &Subject, factors: &Settings) -> ServerSpec {
    let default = ServerSpec::default();
    let kind = match (
        url_of(subject),
        factors.get(&cache::SERVER),
        factors.get(&cache::BUILD),
    ) {
        (Some(target), _, _) => ServerKind::At(target),
        (None, Some(Server::Memcached), _) => ServerKind::Program(Program::Memcached),
        (None, Some(Server::Redis), _) => ServerKind::Program(Program::Redis),
        (None, Some(Server::NamedMemcached), _) => ServerKind::Program(Program::Named),
        (None, _, Some(Build::Folder(build))) => ServerKind::Program(Program::Build(build.clone())),
        (None, _, _) => ServerKind::Embedded,
    };
    ServerSpec {
        kind,
        memory_bytes: factors
            .get(&cache::MEMORY)
            .map_or(default.memory_bytes, |memory| memory.0),
        item_memory_bytes: factors
            .get(&cache::ITEM_MEMORY)
            .and_then(|memory| memory.0)
            .map(ByteSize::bytes),
        policy: factors
            .get(&cache::POLICY)
            .map_or(default.policy, |policy| kind_of(*policy)),
        load_factor: factors
            .get(&cache::LOAD_FACTOR)
            .copied()
            .unwrap_or(default.load_factor),
        threads: factors
            .get(&cache::SERVER_THREADS)
            .copied()
            .unwrap_or(default.threads),
        is_http: factors.get(&cache::PROTOCOL) == Some(&cache::Protocol::Http),
    }
}

/// The server's own word: it is used without the lab, and knows no vocabulary but its own.
const fn kind_of(policy: Policy) -> PolicyKind {
    match policy {
        Policy::None => PolicyKind::None,
        Policy::Fifo => PolicyKind::Fifo,
        Policy::Lru => PolicyKind::Lru,
        Policy::Sieve => PolicyKind::Sieve,
        Policy::S3Fifo => PolicyKind::S3Fifo,
        Policy::TinyLfu => PolicyKind::TinyLfu,
    }
}
