//! The cache layer: our server, another program, or a server at a URL, under a load of requests by key.

mod values;

use outcrop_measure::units::ByteSize;
use outcrop_workload::keyed::{
    KeyPopularity, KeySize, KeySpace, Objective, Preset, RequestKind, RequestMix, ValueSize,
};
use outcrop_workload::{Arrivals, Content};

use crate::factor::{Factor, FactorRef, Label, OF_WORKLOAD, Role};
use crate::lateness;
use crate::layer::{LayerSchema, TableColumn};
use crate::metrics::{Latencies, latencies, metrics};
use crate::parse::{count, small_count, spelled};
use crate::remark::RemarkKind;

pub use values::{
    Build, DistinctValues, Fill, ItemMemory, OnMiss, Oracle, Policy, Protocol, Requests, ServedBy, Server,
};

/// The layer.
pub static SCHEMA: LayerSchema = LayerSchema {
    subject: &[&TARGET],
    workload: &[
        &SERVER,
        &BUILD,
        &MEMORY,
        &ITEM_MEMORY,
        &POLICY,
        &LOAD_FACTOR,
        &SERVER_THREADS,
        &PROTOCOL,
        &ORACLE,
        &WORKLOAD,
        &POPULARITY,
        &KEY_SIZE,
        &VALUE_SIZE,
        &REQUEST_MIX,
        &KEYS,
        &VALUE_POOL,
        &CONTENT,
        &ON_MISS,
        &FILL,
        &CONNECTIONS,
        &PIPELINE,
        &ARRIVAL,
        &DRIVER_THREADS,
        &REQUESTS,
        &OBJECTIVE,
    ],
    metrics: &[
        PLAIN,
        lateness::METRICS,
        &LATENCY.all(),
        &GET_LATENCY.all(),
        &HIT_LATENCY.all(),
        &MISS_LATENCY.all(),
        &SET_LATENCY.all(),
        &DELETE_LATENCY.all(),
        &SERVICE_LATENCY.all(),
    ],
    headline: &[THROUGHPUT, LATENCY.p99, HIT_RATIO],
    table: TABLE,
    remarks: &[SERVED_BY, ABSENT, PROBLEM, DRIVER_LIMIT, SHARED_CPU],
    server: Some(&TARGET),
    rests_on,
    ..LayerSchema::named("cache")
};

/// How many requests hit depends on how many of the keys the memory holds.
static HITS_REST_ON: &[&[FactorRef]] = &[&[&MEMORY, &ITEM_MEMORY], &[&KEYS]];

fn rests_on(metric: &str) -> &'static [&'static [FactorRef]] {
    match [HIT_RATIO, HITS_PER_REQUEST, BYTE_HIT_RATIO]
        .iter()
        .any(|one| one.name == metric)
    {
        true => HITS_REST_ON,
        false => &[],
    }
}

/// Columns of a table of cells.
const TABLE: &[TableColumn] = &[
    TableColumn::new(THROUGHPUT, "throughput", 0),
    TableColumn::new(OFFERED, "offered", 1),
    TableColumn::new(GOODPUT, "goodput", 5),
    TableColumn::share(HIT_RATIO, "hits", 2),
    TableColumn::new(LATENCY.p50, "p50", 3),
    TableColumn::new(LATENCY.p99, "p99", 1),
    TableColumn::new(LATENCY.p99_9, "p99.9", 6),
    TableColumn::new(SERVER_CPU, "server CPU", 7),
];

/// What only servers have that a plan starts: peers are alike but for these.
pub static OF_SERVERS: &[FactorRef] = &[
    &SERVER,
    &BUILD,
    &ITEM_MEMORY,
    &POLICY,
    &LOAD_FACTOR,
    &PROTOCOL,
    &SERVER_THREADS,
    &ORACLE,
];

const MOST_THREADS: u32 = 256;
const MOST_CONNECTIONS: u32 = 50_000;
const MOST_PIPELINE: u32 = 4096;

/// Who answers.
pub static TARGET: Factor<ServedBy> = Factor::new("target", "The server that is measured", spelled)
    .default("loopback")
    .accepts(
        "`\"loopback\"` (servers that the plan starts), or a URL: `\"memcached://HOST:PORT\"`, `\"redis://…\"`, `\"http://…\"`; keys \
         that begin with `oc-` are written to it, and it is never emptied",
    )
    .role(Role::Implementation);

/// Which server.
pub static SERVER: Factor<Server> = Factor::new("server", "Server program to start", spelled)
    .decided("`\"outcrop\"`")
    .accepts(
        "`\"outcrop\"` (in this process), `\"memcached\"`, `\"redis\"` (found in `PATH`), `\"$MEMCACHED\"` (what that variable names)",
    )
    .label(Label::Always("{}"))
    .role(Role::Implementation);
/// Which build of ours.
pub static BUILD: Factor<Build> = Factor::new("build", "Build of Outcrop's own server", spelled)
    .decided("`\"this\"`")
    .accepts(
        "outcrop: `\"this\"`, or a folder below `target/` whose `outcrop` is started instead: `\"release\"`",
    )
    .role(Role::Implementation);
/// The server's limit.
pub static MEMORY: Factor<ByteSize> = Factor::new("memory", "Memory limit of the server", spelled)
    .decided("`\"64MiB\"`")
    .accepts("the server's limit, 1 MiB or more")
    .label(Label::Always("{}"));
/// The limit of the items alone.
pub static ITEM_MEMORY: Factor<ItemMemory> =
    Factor::new("item_memory", "Limit for the bytes of items alone", spelled)
        .default("unlimited")
        .accepts(
            "outcrop: `\"unlimited\"` (what `memory` leaves), or the bytes of all items, from 64 B: header, key and value",
        )
        .label(Label::Unusual("items of {}"));
/// What is evicted.
pub static POLICY: Factor<Policy> = Factor::new("policy", "Eviction policy", spelled)
    .decided("`\"s3-fifo\"`")
    .accepts("outcrop: `\"none\"`, `\"fifo\"`, `\"lru\"`, `\"sieve\"`, `\"s3-fifo\"`, `\"w-tinylfu\"`")
    .label(Label::Always("{}"))
    .role(Role::Implementation);
/// How full the index gets.
pub static LOAD_FACTOR: Factor<f64> = Factor::new("load_factor", "Items per hash chain", load_factor)
    .decided("`\"1.5\"`")
    .accepts("outcrop: items per chain of the index")
    .role(Role::Implementation);
/// Threads that serve.
pub static SERVER_THREADS: Factor<u32> =
    Factor::new("server_threads", "Server threads", small_count::<MOST_THREADS>)
        .decided("`1`")
        .accepts("outcrop, memcached")
        .role(Role::Implementation);
/// How ours is asked.
pub static PROTOCOL: Factor<Protocol> = Factor::new("protocol", "Protocol of Outcrop's own server", spelled)
    .decided("`\"memcached\"`")
    .accepts("outcrop: `\"memcached\"`, `\"http\"`")
    .role(Role::Implementation);
/// What the hit ratio is checked against.
pub static ORACLE: Factor<Oracle> =
    Factor::new("oracle", "Oracle that the hit ratio is checked against", spelled)
        .default("none")
        .accepts("`\"none\"`, `\"simulator\"` (the policy simulated with as many items as the server held)")
        .role(Role::Implementation);
/// The workload by name.
pub static WORKLOAD: Factor<Preset> = Factor::new("workload", "The workload by name", spelled)
    .default("etc")
    .accepts("`\"etc\"`, `\"etc-lite\"`: the next four, unless they are given")
    .label(Label::Always("{}"))
    .open();
/// Which keys are asked for how often.
pub static POPULARITY: Factor<KeyPopularity> = Factor::new("popularity", "Key popularity", spelled)
    .decided(OF_WORKLOAD)
    .accepts("`\"etc\"`, `\"etc-lite\"`, `\"zipfian:0.99\"`, `\"uniform\"`");
/// How long keys are.
pub static KEY_SIZE: Factor<KeySize> = Factor::new("key_size", "Key sizes", spelled)
    .decided(OF_WORKLOAD)
    .accepts("`\"etc\"`, `\"etc-lite\"`, `\"fixed:100B\"`");
/// How long values are.
pub static VALUE_SIZE: Factor<ValueSize> = Factor::new("value_size", "Value sizes", spelled)
    .decided(OF_WORKLOAD)
    .accepts("`\"etc\"`, `\"etc-lite\"`, `\"mixgraph\"`, `\"fixed:100B\"`");
/// What is asked.
pub static REQUEST_MIX: Factor<RequestMix> =
    Factor::new("request_mix", "Ratio of gets, sets and deletes", spelled)
        .decided(OF_WORKLOAD)
        .accepts("gets, sets and deletes: `\"30:1\"`, `\"30:1:15\"`");
/// How many keys there are.
pub static KEYS: Factor<u64> =
    Factor::new("keys", "Number of distinct keys", count::<{ KeySpace::MAX_KEYS }>)
        .default("100000")
        .accepts("distinct keys")
        .label(Label::Always("{} keys"));
/// How many values there are.
pub static VALUE_POOL: Factor<DistinctValues> =
    Factor::new("value_pool", "Number of distinct values", spelled)
        .default("one-per-key")
        .accepts("`\"one-per-key\"`, or a pool of N values: key k has value k mod N")
        .label(Label::Unusual("{} values"));
/// What values contain.
pub static CONTENT: Factor<Content> = Factor::new("content", "Content of values", spelled)
    .default("random")
    .accepts("what values contain: `\"random\"`, `\"zeros\"`, `\"entropy:4\"`, `\"compressible:2\"`");
/// What follows a miss.
pub static ON_MISS: Factor<OnMiss> = Factor::new("on_miss", "Action after a miss", spelled)
    .default("set")
    .accepts("`\"set\"` (look-aside), `\"nothing\"`");
/// What the cache holds before.
pub static FILL: Factor<Fill> = Factor::new("fill", "Fill of the cache before the warm-up", spelled)
    .default("every-key")
    .accepts("before `trial.warm_up`: `\"every-key\"` (once, the most popular last), `\"nothing\"`; `\"sets:1000\"` (only these sets)");
/// Connections.
pub static CONNECTIONS: Factor<u32> = Factor::new(
    "connections",
    "Number of connections",
    small_count::<MOST_CONNECTIONS>,
)
.default("50")
.accepts("connections")
.label(Label::Always("{} connections"));
/// Requests in flight on each.
pub static PIPELINE: Factor<u32> = Factor::new(
    "pipeline",
    "Requests in flight on each connection",
    small_count::<MOST_PIPELINE>,
)
.default("1")
.accepts("requests in flight on each connection")
.label(Label::Unusual("× {}"));
/// When requests are due.
pub static ARRIVAL: Factor<Arrivals> = Factor::new("arrival", "Closed loop, or an open loop at a rate", spelled)
    .default("closed")
    .accepts(
        "`\"closed\"`; open loop: `\"constant:20k\"`, `\"poisson:20k\"`, `\"etc:20k\"`, `\"sine:20k:5k:10s\"` (mean, swing and period) per second, or a share of what a closed loop \
         gets: `\"poisson:50%\"`",
    )
    .label(Label::Unusual("{}"))
    .role(Role::Condition)
    .assumed("closed");
/// Threads of the driver.
pub static DRIVER_THREADS: Factor<u32> = Factor::new(
    "driver_threads",
    "Threads of the driver",
    small_count::<MOST_THREADS>,
)
.default("1")
.accepts("threads of the driver");
/// When the load ends.
pub static REQUESTS: Factor<Requests> = Factor::new("requests", "Number of requests to measure", spelled)
    .default("unlimited")
    .accepts(
            "`\"unlimited\"` (the trial ends by its duration), or N requests instead of a duration; sets on miss are not counted",
        )
    .label(Label::Unusual("{} requests"));
/// By which goodput is counted.
pub static OBJECTIVE: Factor<Objective> = Factor::new(
    "objective",
    "Latency objective that goodput is counted by",
    spelled,
)
.default("p99<1ms")
.accepts("a percentile below a time");

fn load_factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (0.1..=64.0).contains(&factor) => Ok(factor),
        _ => Err(format!(
            "`{text}` is not a load factor; expected 0.1 to 64 items per chain of the index, such as \"1.5\""
        )),
    }
}

metrics! { PLAIN:
    THROUGHPUT = "throughput", PerSecond, Higher, Trial, "answers per second of measured time, of all kinds of request; refusals are left out";
    GOODPUT = "goodput", PerSecond, Higher, Trial, "answers per second that came within the objective's limit";
    ANSWERED = "answered_load", PerSecond, Higher, Trial, "answers per second to the workload's requests: sets on miss are left out, so that it compares with the offered load";
    OFFERED = "offered_load", PerSecond, Neither, Trial, "requests per second in the schedule of an open loop";
    CLOSED_LOOP = "closed_loop_throughput", PerSecond, Higher, Trial, "throughput of the closed loop that the offered load is a share of";
    HIT_RATIO = "hit_ratio", Ratio, Higher, Trial, "gets that found a value over all gets";
    HITS_PER_REQUEST = "hits_per_request", Ratio, Neither, Trial, "gets that found a value over requests of all kinds, sets on miss left out: some studies call this the hit ratio";
    PUBLISHED_HIT_RATIO = "hit_ratio_as_published", Ratio, Higher, Trial, "a published hit ratio that does not say what it divides by";
    BYTE_HIT_RATIO = "byte_hit_ratio", Ratio, Higher, Trial, "bytes of the values found over those of all values requested";
    SIMULATED_HIT_RATIO = "simulated_hit_ratio", Ratio, Neither, Trial, "hit ratio of a textbook simulation of the policy with as many items as the server held";
    SERVER_CPU = "server_cpu_per_request", NanosecondsPerOperation, Lower, Trial, "CPU time of the server, kernel included, per answer; refusals are answers here";
    DRIVER_CPU = "driver_cpu_per_request", NanosecondsPerOperation, Neither, Trial, "CPU time of the driver's threads per answer; refusals are answers here";
    DRIVER_BUSY = "driver_busy_share", Ratio, Neither, Trial, "CPU time of the driver's busiest thread over the measured time; near 1 the driver is the limit";
    ITEMS = "items_held", Count, Higher, Trial, "items that the server held at the end, by its own count";
    EVICTIONS = "evictions", Count, Neither, Trial, "items evicted for lack of memory since the server started";
    STORE_BYTES = "store_memory", Bytes, Neither, Trial, "memory that the server counts against its limit; servers count different things";
    RESIDENT_BYTES = "resident_memory", Bytes, Lower, Trial, "resident memory of the server's process at the end";
    UNFINISHED = "unfinished_requests", Count, Lower, Trial, "requests that were due or sent, and never answered";
    REFUSED = "refused_requests", Count, Lower, Trial, "requests that the server refused, including those of the fill";
    REFUSED_SHARE = "refused_share", Ratio, Lower, Trial, "share of refusals among the server's answers in the measured time";
    MISMATCHES = "mismatched_values", Count, Lower, Trial, "values that differed from those stored";
    WARM_UP_SETS = "warm_up_sets", Count, Neither, Trial, "sets that filled the cache before measuring";
    WARM_UP_REQUESTS = "warm_up_requests", Count, Neither, Trial, "requests of the load itself before measuring";
}

/// Time of a request of any kind, under an open loop from its intended start.
pub const LATENCY: Latencies = latencies!("latency", "the latency of a request");
const GET_LATENCY: Latencies = latencies!("get_latency", "the latency of a get");
/// Time of a get that found a value.
pub const HIT_LATENCY: Latencies = latencies!("get_hit_latency", "the latency of a get that found a value");
/// Time of a get that found none.
pub const MISS_LATENCY: Latencies = latencies!(
    "get_miss_latency",
    "the latency of a get that found no value, without the set that may follow"
);
const SET_LATENCY: Latencies = latencies!("set_latency", "the latency of a set");
const DELETE_LATENCY: Latencies = latencies!("delete_latency", "the latency of a delete");
/// Time of a request from its real start; open loops only.
pub const SERVICE_LATENCY: Latencies = latencies!("service_latency", "the time from a request's real start");

/// Time of a request of one kind.
pub const fn latency_of(kind: RequestKind) -> Latencies {
    match kind {
        RequestKind::Get => GET_LATENCY,
        RequestKind::Set => SET_LATENCY,
        RequestKind::Delete => DELETE_LATENCY,
    }
}

/// Which server it was.
pub const SERVED_BY: RemarkKind =
    RemarkKind::new("served-by", "the server with its version and place", "server: ");
/// It is not on this machine.
pub const ABSENT: RemarkKind = RemarkKind::new(
    "not-measured",
    "the server is not on this machine",
    "not measured: ",
);
/// Requests went wrong.
pub const PROBLEM: RemarkKind = RemarkKind::new(
    "load-problem",
    "requests failed, were refused or never answered",
    "",
);
/// The driver could do no more.
pub const DRIVER_LIMIT: RemarkKind = RemarkKind::new(
    "driver-is-the-limit",
    "the driver had no CPU time to spare",
    "the driver had no CPU time to spare",
);
/// Server and driver had one CPU.
pub const SHARED_CPU: RemarkKind = RemarkKind::new(
    "cpu-is-shared",
    "server and driver had to share a CPU",
    "had to share a CPU",
);
