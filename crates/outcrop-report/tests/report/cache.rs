//! Findings, answer and figures of the cache layer on runs whose truth is known: nothing here was measured.

use std::collections::BTreeMap;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Provenance, Unit};
use outcrop_report::section::FigureSlot;
use outcrop_report::{Finding, Report, Verdict};
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, RunView, TrialEntry, Value};

use crate::markup::elements;

/// A run, cell by cell; a cell is the baseline but for the factors that are given.
pub(crate) struct Builder {
    pub(crate) run: RunView,
}

type Factors<'f> = &'f [(&'f str, &'f str)];

const BASELINE: [(&str, &str); 14] = [
    ("server", "outcrop"),
    ("build", "this"),
    ("memory", "64MiB"),
    ("policy", "s3-fifo"),
    ("load_factor", "1.5"),
    ("server_threads", "1"),
    ("workload", "etc"),
    ("keys", "100000"),
    ("request_mix", "30:1"),
    ("content", "random"),
    ("arrival", "closed"),
    ("connections", "50"),
    ("pipeline", "1"),
    ("objective", "p99<1ms"),
];

/// What a peer does not have.
const OURS_ALONE: [&str; 3] = ["build", "policy", "load_factor"];

impl Builder {
    fn new() -> Self {
        Self {
            run: RunView {
                dir: "runs/20261121T020000Z-caches".into(),
                name: "20261121T020000Z-caches".into(),
                plan: "[run]\nseed = \"0x2a\"\neffort = \"quick\"\n".into(),
                environment: serde_json::Value::Null,
                trials: Vec::new(),
                torn_bytes: 0,
            },
        }
    }

    /// Three trials: hits, their simulation, answers per second, CPU per answer in nanoseconds.
    fn cell(
        mut self,
        plan: &str,
        changes: Factors<'_>,
        hits: (f64, f64),
        throughput: f64,
        cpu_ns: f64,
    ) -> Self {
        let mut factors: BTreeMap<String, String> = BASELINE
            .iter()
            .chain(changes)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        if factors["server"] != "outcrop" {
            OURS_ALONE.iter().for_each(|name| drop(factors.remove(*name)));
        }
        let number = |name: &str| -> f64 { factors[name].parse().expect("it is a number") };
        let in_flight = number("connections") * number("pipeline");
        let is_closed = factors["arrival"] == "closed";
        let latency_ns = if is_closed {
            in_flight / throughput * 1e9
        } else {
            2e5
        };
        for repetition in 0..3_u32 {
            let noise = 1.0 + 0.01 * (f64::from(repetition) - 1.0);
            let mut values = values(hits, throughput * noise, cpu_ns * noise, latency_ns);
            if !is_closed {
                values.push(value("offered_load", Unit::PerSecond, throughput));
            }
            self.push(plan, &factors, repetition, values, latency_ns);
        }
        self
    }

    fn push(
        &mut self,
        plan: &str,
        factors: &BTreeMap<String, String>,
        repetition: u32,
        values: Vec<Value>,
        latency_ns: f64,
    ) {
        let mut histogram = LatencyHistogram::new();
        for step in 1..=200_u64 {
            histogram.record((latency_ns * step as f64 / 100.0) as u64);
        }
        let histogram = HistogramEntry::new("get", HistogramKind::Latency, 0, 0.0, 0.5, &histogram);
        let number = self.run.trials.len() as u32;
        self.run.trials.push(TrialEntry {
            trial: number,
            cell: format!("{factors:?}"),
            layer: "cache".into(),
            subject: "servers on the loopback interface".into(),
            plans: vec![plan.into()],
            repetition,
            seed: u64::from(number),
            factors: factors.clone(),
            started_at: "2026-11-21T02:00:00.123456Z".into(),
            duration_s: 0.5,
            outcome: Outcome::Completed,
            values,
            histograms: vec![histogram],
            notes: vec!["server: outcrop 0.1.0 in this process".into()],
        });
    }

    /// A server that was not on the machine.
    fn absent(mut self, server: &str) -> Self {
        self = self.cell("cache-peers", &[("server", server)], (1.0, 1.0), 1.0, 1.0);
        let count = self.run.trials.len();
        for trial in &mut self.run.trials[count - 3..] {
            trial.values.truncate(1);
            trial.values[0].value = None;
            trial.values[0].source = Some(format!("{server} is not in PATH: install it"));
            trial.histograms.clear();
        }
        self
    }
}

fn value(metric: &str, unit: Unit, value: f64) -> Value {
    Value {
        metric: metric.to_owned(),
        unit,
        value: Some(value),
        provenance: if metric.starts_with("simulated") {
            Provenance::Modelled
        } else {
            Provenance::Measured
        },
        source: None,
    }
}

fn values(hits: (f64, f64), throughput: f64, cpu_ns: f64, latency_ns: f64) -> Vec<Value> {
    vec![
        value("throughput", Unit::PerSecond, throughput),
        value("hit_ratio", Unit::Ratio, hits.0),
        value("simulated_hit_ratio", Unit::Ratio, hits.1),
        value("server_cpu_per_request", Unit::NanosecondsPerOperation, cpu_ns),
        value("driver_cpu_per_request", Unit::NanosecondsPerOperation, 4000.0),
        value("latency_mean", Unit::Nanoseconds, latency_ns),
        value("latency_p50", Unit::Nanoseconds, latency_ns * 0.9),
        value("latency_p95", Unit::Nanoseconds, latency_ns * 1.5),
        value("latency_p99", Unit::Nanoseconds, latency_ns * 2.0),
        value("evictions", Unit::Count, if hits.0 < 1.0 { 100.0 } else { 0.0 }),
        value("unfinished_requests", Unit::Count, 0.0),
        value("mismatched_values", Unit::Count, 0.0),
    ]
}

fn policies() -> Builder {
    let mut builder = Builder::new();
    for (memory, lru, s3_fifo) in [
        ("8MiB", 0.80, 0.84),
        ("16MiB", 0.90, 0.93),
        ("32MiB", 0.985, 0.99),
    ] {
        for (policy, hits) in [("lru", lru), ("s3-fifo", s3_fifo)] {
            let changes = [("memory", memory), ("policy", policy)];
            builder = builder.cell("cache-policies", &changes, (hits, hits + 0.001), 1e5, 6000.0);
        }
    }
    builder
}

pub(crate) fn peers() -> Builder {
    let mut builder = Builder::new();
    for (server, cpu_ns) in [("outcrop", 5500.0), ("memcached", 5900.0), ("redis", 6200.0)] {
        for (pipeline, factor) in [("1", 1.0), ("32", 0.15)] {
            for (arrival, throughput) in [("closed", 1e5), ("poisson:30%", 3e4), ("poisson:60%", 6e4)] {
                let changes = [("server", server), ("pipeline", pipeline), ("arrival", arrival)];
                let cpu_ns = cpu_ns * factor;
                builder = builder.cell("cache-peers", &changes, (1.0, 1.0), throughput / factor, cpu_ns);
            }
        }
        for connections in ["1", "256"] {
            let changes = [("server", server), ("connections", connections)];
            builder = builder.cell("cache-peers", &changes, (1.0, 1.0), 9e4, cpu_ns);
        }
    }
    builder
}

fn finding(run: &RunView, id: &str) -> Finding {
    let report = Report::of(run);
    let found = report.layers[0].findings.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no finding {id}")).clone()
}

fn advice(run: &RunView, topic: &str) -> String {
    let report = Report::of(run);
    let claims = &report.layers[0].answer.advice;
    let claim = claims.iter().find(|claim| claim.topic == topic);
    claim
        .unwrap_or_else(|| panic!("no advice on {topic}: {claims:?}"))
        .text
        .clone()
}

#[test]
fn the_policy_and_the_memory_to_configure_are_named_with_what_they_are_worth() {
    let run = policies().run;
    let policy = advice(&run, "Policy");
    assert!(
        policy.starts_with("s3-fifo hits 84.0 % at 8MiB (clear)") && policy.contains("lru 80.0 %"),
        "{policy}"
    );
    let memory = advice(&run, "Memory");
    assert!(memory.contains("32MiB is the least within a point"), "{memory}");
    assert_eq!(finding(&run, "cache-hits-as-simulated").verdict, Verdict::Holds);
    assert_eq!(finding(&run, "cache-s3-fifo-beside-lru").verdict, Verdict::Holds);
}

#[test]
fn a_store_that_is_not_its_policy_and_a_policy_that_is_behind_are_found() {
    let changes = [("memory", "1MiB"), ("policy", "lru")];
    let run = policies().cell("cache-policies", &changes, (0.5, 0.6), 1e5, 6000.0);
    let changes = [("memory", "1MiB"), ("policy", "s3-fifo")];
    let run = run
        .cell("cache-policies", &changes, (0.45, 0.45), 1e5, 6000.0)
        .run;
    let simulated = finding(&run, "cache-hits-as-simulated");
    assert_eq!(simulated.verdict, Verdict::DoesNotHold);
    assert!(
        simulated.tested.contains("most lru at 1MiB (-10.00 points)"),
        "{}",
        simulated.tested
    );
    assert_eq!(
        finding(&run, "cache-s3-fifo-beside-lru").verdict,
        Verdict::DoesNotHold
    );
}

#[test]
fn peers_are_compared_under_the_same_load_only() {
    let run = peers().run;
    let cpu = finding(&run, "cache-less-cpu-than-peers");
    assert_eq!(cpu.verdict, Verdict::Holds);
    assert!(cpu.tested.contains("in 8 pairs of cells"), "{}", cpu.tested);
    assert!(advice(&run, "Beside peers").contains("0.93 × memcached, 0.89 × redis"));
    assert_eq!(finding(&run, "cache-littles-law").verdict, Verdict::Holds);
    assert_eq!(finding(&run, "cache-open-loop-answered").verdict, Verdict::Holds);
    assert!(matches!(
        finding(&run, "cache-hits-more-than-peers").verdict,
        Verdict::NotTestable(_)
    ));
    let dear = peers().cell(
        "cache-peers",
        &[("server", "memcached"), ("pipeline", "32"), ("connections", "8")],
        (1.0, 1.0),
        1e5,
        100.0,
    );
    let ours = [("pipeline", "32"), ("connections", "8")];
    let run = dear.cell("cache-peers", &ours, (1.0, 1.0), 1e5, 900.0).run;
    assert_eq!(
        finding(&run, "cache-less-cpu-than-peers").verdict,
        Verdict::DoesNotHold
    );
}

#[test]
fn answers_are_held_against_what_their_own_trial_offered() {
    let mut run = Builder::new()
        .cell(
            "cache-peers",
            &[("arrival", "poisson:50%")],
            (1.0, 1.0),
            5e4,
            6000.0,
        )
        .run;
    // Shares of closed loops that went differently; the machine stalled in one. The medians of the columns are 47,000 and 50,000.
    for (trial, (answered, offered)) in
        run.trials
            .iter_mut()
            .zip([(5e4, 5e4), (4.7e4, 5.8e4), (3.2e4, 3.2e4)])
    {
        for value in &mut trial.values {
            match value.metric.as_str() {
                "throughput" => value.value = Some(answered),
                "offered_load" => value.value = Some(offered),
                _ => {}
            }
        }
    }
    assert_eq!(finding(&run, "cache-open-loop-answered").verdict, Verdict::Holds);
}

#[test]
fn distributions_of_several_servers_are_those_under_the_same_loads() {
    let mut builder = Builder::new();
    for server in ["outcrop", "memcached", "redis"] {
        // By their spelling the last would come before the second.
        for (arrival, throughput) in [
            ("closed", 2e5),
            ("poisson:30%", 6e4),
            ("poisson:60%", 1.2e5),
            ("poisson:100%", 2e5),
        ] {
            let changes = [("server", server), ("arrival", arrival)];
            builder = builder.cell("cache-peers", &changes, (1.0, 1.0), throughput, 6000.0);
        }
    }
    let report = Report::of(&builder.run);
    let page = report.layers[0].figures.iter().find_map(|slot| match slot {
        FigureSlot::Drawn(figure) if figure.id == "cache-latency-cdf" => Some(figure.svg.clone()),
        _ => None,
    });
    let page = page.expect("it is drawn");
    let lines = |words: &str| {
        ["outcrop", "memcached", "redis"].map(|server| {
            page.lines()
                .filter(|line| line.contains(server) && line.contains(words))
                .count()
                > 0
        })
    };
    assert_eq!(lines("closed loop"), [true; 3], "{page}");
    assert_eq!(lines("poisson:30%"), [true; 3], "{page}");
    assert!(
        !page.contains("poisson:100%") && !page.contains("poisson:60%"),
        "{page}"
    );
}

#[test]
fn a_server_that_is_not_there_is_said_and_the_rest_is_reported() {
    let report = Report::of(&peers().absent("$MEMCACHED").run);
    let cautions = &report.layers[0].answer.cautions;
    assert!(
        cautions
            .iter()
            .any(|caution| caution.text.contains("$MEMCACHED is not in PATH")),
        "{cautions:?}"
    );
    elements(&report.to_html()).unwrap();
}

#[test]
fn every_figure_is_drawn_where_its_cells_are_there_and_names_its_loop() {
    let mut builder = policies();
    builder.run.trials.extend(peers().run.trials);
    for change in [
        ("memory", "4MiB"),
        ("load_factor", "16"),
        ("server_threads", "2"),
        ("content", "zeros"),
    ] {
        builder = builder.cell("cache-sensitivity", &[change], (0.9, 0.9), 9e4, 6100.0);
    }
    let run = builder
        .cell("cache-sensitivity", &[], (1.0, 1.0), 1e5, 6000.0)
        .run;
    let report = Report::of(&run);
    let mut drawn = Vec::new();
    for slot in &report.layers[0].figures {
        match slot {
            FigureSlot::Drawn(figure) => {
                drawn.push((figure.id.as_str(), figure.caption.clone() + &figure.alt_text));
            }
            FigureSlot::Missing(missing) => panic!("{} is missing: {}", missing.title, missing.reason),
        }
    }
    assert_eq!(drawn.len(), 6);
    for (id, words) in drawn.iter().filter(|(id, _)| *id != "cache-hit-ratio") {
        assert!(
            words.contains("closed loop") || words.contains("open loop"),
            "{id}: {words}"
        );
    }
    elements(&report.to_html()).unwrap();
    assert!(
        report
            .screen(80, false)
            .lines()
            .all(|line| line.chars().count() <= 80)
    );
}

#[test]
fn a_run_of_one_cell_says_which_plans_would_fill_the_page() {
    let report = Report::of(&Builder::new().cell("mine", &[], (1.0, 1.0), 1e5, 6000.0).run);
    let missing: Vec<&str> = report.layers[0]
        .figures
        .iter()
        .filter_map(|slot| match slot {
            FigureSlot::Missing(missing) => Some(missing.plan.as_str()),
            FigureSlot::Drawn(_) => None,
        })
        .collect();
    for plan in ["cache-policies", "cache-peers", "cache-sensitivity"] {
        assert!(missing.contains(&plan), "{missing:?}");
    }
}
