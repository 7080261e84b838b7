//! Runs of the cache layer whose truth is known: nothing here was measured.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Provenance;
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, RunView, TrialEntry, Value};
use outcrop_schema::cache::{
    ANSWERED, ARRIVAL, BUILD, Build, CONNECTIONS, DRIVER_CPU, EVICTIONS, HIT_RATIO, LATENCY, LOAD_FACTOR,
    MEMORY, MISMATCHES, OFFERED, PIPELINE, POLICY, Policy, REQUEST_MIX, SCHEMA, SERVED_BY, SERVER,
    SERVER_CPU, SERVER_THREADS, SIMULATED_HIT_RATIO, Server, THROUGHPUT, UNFINISHED,
};
use outcrop_schema::{FactorRef, Settings, Vocabulary};

/// A run, cell by cell; a cell is the baseline but for the factors that are given.
pub(crate) struct Builder {
    pub(crate) run: RunView,
}

pub(crate) type Factors<'f> = &'f [(FactorRef, &'f str)];

/// What the layer decides for our server, and the defaults of everything else.
fn baseline() -> Settings {
    let mut factors = Settings::defaults(SCHEMA.workload);
    factors.set(&SERVER, Server::Outcrop);
    factors.set(&BUILD, Build::This);
    factors.set(&POLICY, Policy::S3Fifo);
    factors.set(&LOAD_FACTOR, 1.5);
    factors.set(&SERVER_THREADS, 1);
    factors.set(&MEMORY, "64MiB".parse().expect("it is a size"));
    factors.set(&REQUEST_MIX, "30:1".parse().expect("it is a mix"));
    factors
}

/// What a peer does not have.
const OURS_ALONE: [FactorRef; 3] = [&BUILD, &POLICY, &LOAD_FACTOR];

const PLAN: &str = r#"
[run]
seed = "0x2a"
effort = "quick"

[[plan]]
name = "cache-peers"
layer = "cache"
design = "every-combination"

[[plan]]
name = "cache-sensitivity"
layer = "cache"
design = "one-at-a-time"
"#;

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            run: RunView {
                dir: "runs/20261121T020000Z-caches".into(),
                name: "20261121T020000Z-caches".into(),
                plan: PLAN.into(),
                environment: serde_json::Value::Null,
                trials: Vec::new(),
                torn_bytes: 0,
                vocabulary: Vocabulary::default(),
            },
        }
    }

    /// Three trials: hits, their simulation, answers per second, CPU per answer in nanoseconds.
    pub(crate) fn cell(
        mut self,
        plan: &str,
        changes: Factors<'_>,
        hits: (f64, f64),
        throughput: f64,
        cpu_ns: f64,
    ) -> Self {
        let mut factors = baseline();
        for (factor, text) in changes {
            factors.insert(factor.name, factor.read(text).expect("the factor accepts it"));
        }
        if factors.value(&SERVER) != &Server::Outcrop {
            OURS_ALONE.iter().for_each(|factor| factors.remove(factor));
        }
        let in_flight = f64::from(factors.value(&CONNECTIONS) * factors.value(&PIPELINE));
        let is_closed = factors.spelling(&ARRIVAL) == ARRIVAL.default;
        let latency_ns = if is_closed {
            in_flight / throughput * 1e9
        } else {
            2e5
        };
        for repetition in 0..3_u32 {
            let noise = 1.0 + 0.01 * (f64::from(repetition) - 1.0);
            let mut values = values(hits, throughput * noise, cpu_ns * noise, latency_ns);
            if !is_closed {
                values.push(Value::measured(OFFERED, throughput));
            }
            self.push(plan, &factors, repetition, values, latency_ns);
        }
        self
    }

    fn push(&mut self, plan: &str, factors: &Settings, repetition: u32, values: Vec<Value>, latency_ns: f64) {
        let mut histogram = LatencyHistogram::new();
        for step in 1..=200_u64 {
            histogram.record((latency_ns * step as f64 / 100.0) as u64);
        }
        let histogram = HistogramEntry::new("get", HistogramKind::Latency, 0, 0.0, 0.5, &histogram);
        let number = self.run.trials.len() as u32;
        self.run.trials.push(TrialEntry {
            trial: number,
            cell: format!("{factors:?}"),
            layer: SCHEMA.name.into(),
            subject: "servers on the loopback interface".into(),
            plans: vec![plan.into()],
            repetition,
            seed: u64::from(number),
            factors: factors.spellings(),
            started_at: "2026-11-21T02:00:00.123456Z".into(),
            duration_s: 0.5,
            data: None,
            variant: None,
            took_s: None,
            others_cpu_share: None,
            outcome: Outcome::Completed,
            values,
            histograms: vec![histogram],
            notes: vec![SERVED_BY.remark("server: outcrop 0.1.0 in this process")],
        });
    }

    /// A server that was not on the machine.
    pub(crate) fn absent(mut self, server: &str) -> Self {
        self = self.cell("cache-peers", &[(&SERVER, server)], (1.0, 1.0), 1.0, 1.0);
        let count = self.run.trials.len();
        for trial in &mut self.run.trials[count - 3..] {
            let reason = format!("{server} is not in PATH: install it");
            trial.values = vec![Value::unavailable(THROUGHPUT, reason)];
            trial.histograms.clear();
        }
        self
    }
}

fn values(hits: (f64, f64), throughput: f64, cpu_ns: f64, latency_ns: f64) -> Vec<Value> {
    let mut values: Vec<Value> = [
        (THROUGHPUT, throughput),
        (ANSWERED, throughput),
        (HIT_RATIO, hits.0),
        (SERVER_CPU, cpu_ns),
        (DRIVER_CPU, 4000.0),
        (LATENCY.mean, latency_ns),
        (LATENCY.p50, latency_ns * 0.9),
        (LATENCY.p95, latency_ns * 1.5),
        (LATENCY.p99, latency_ns * 2.0),
        (EVICTIONS, if hits.0 < 1.0 { 100.0 } else { 0.0 }),
        (UNFINISHED, 0.0),
        (MISMATCHES, 0.0),
    ]
    .map(|(metric, value)| Value::measured(metric, value))
    .into();
    values.push(Value::of(SIMULATED_HIT_RATIO, Ok(hits.1), Provenance::Modelled));
    values
}

pub(crate) fn policies() -> Builder {
    let mut builder = Builder::new();
    for (memory, lru, s3_fifo) in [
        ("8MiB", 0.80, 0.84),
        ("16MiB", 0.90, 0.93),
        ("32MiB", 0.985, 0.99),
    ] {
        for (policy, hits) in [("lru", lru), ("s3-fifo", s3_fifo)] {
            let changes: Factors<'_> = &[(&MEMORY, memory), (&POLICY, policy)];
            builder = builder.cell("cache-policies", changes, (hits, hits + 0.001), 1e5, 6000.0);
        }
    }
    builder
}

pub(crate) fn peers() -> Builder {
    let mut builder = Builder::new();
    for (server, cpu_ns) in [("outcrop", 5500.0), ("memcached", 5900.0), ("redis", 6200.0)] {
        for (pipeline, factor) in [("1", 1.0), ("32", 0.15)] {
            for (arrival, throughput) in [("closed", 1e5), ("poisson:30%", 3e4), ("poisson:60%", 6e4)] {
                let changes: Factors<'_> = &[(&SERVER, server), (&PIPELINE, pipeline), (&ARRIVAL, arrival)];
                let cpu_ns = cpu_ns * factor;
                builder = builder.cell("cache-peers", changes, (1.0, 1.0), throughput / factor, cpu_ns);
            }
        }
        for connections in ["1", "256"] {
            let changes: Factors<'_> = &[(&SERVER, server), (&CONNECTIONS, connections)];
            builder = builder.cell("cache-peers", changes, (1.0, 1.0), 9e4, cpu_ns);
        }
    }
    builder
}
