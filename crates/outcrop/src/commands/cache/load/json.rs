//! A load as the one cell of a JSON document.

use outcrop_cache_load::{LoadReport, LoadSpec, RequestSource};
use outcrop_measure::metric::{Metric, Unavailable};
use outcrop_measure::percentile;
use outcrop_probe::environment::Environment;
use outcrop_results::{CellJson, FigureJson};
use outcrop_schema::cache::{self, SCHEMA};
use outcrop_schema::{Settings, lateness};

use super::distribution::cdf;
use crate::output::{Table, pretty_json};

/// The document of a load: a table's rows, the load as its cell, and the distribution of its latencies.
pub(super) fn document(rows: &Table, spec: &LoadSpec, report: &LoadReport) -> anyhow::Result<String> {
    let distribution = cdf(report).in_envelope().rows;
    let document = rows
        .in_envelope()
        .with_cells(vec![cell(spec, report)])
        .with_detail("distribution", distribution)
        .with_detail("seed", spec.seed.to_string())
        // Of the machine that sends the load; a server elsewhere is another one.
        .on(serde_json::to_value(
            Environment::read(&std::env::current_dir()?),
        )?);
    pretty_json(&document)
}

/// The load with its settings and its figures, each measured once.
fn cell(spec: &LoadSpec, report: &LoadReport) -> CellJson {
    let target = spec.target.to_string();
    let mut cell = CellJson::one_off(&SCHEMA, target, &settings(spec));
    for (metric, value) in figures(report) {
        let figure = match value {
            Ok(value) => FigureJson::once(value, metric.unit),
            Err(why) => FigureJson::unavailable(metric.unit, why.reason),
        };
        cell = cell.with(&metric, figure);
    }
    cell
}

/// Every setting that a plan has a factor for. All of them are spellings that their factor reads.
fn settings(spec: &LoadSpec) -> Settings {
    let mut settings = Settings::default();
    if let RequestSource::Generated { workload, key_count } = &spec.source {
        settings.set(&cache::KEYS, *key_count);
        settings.set(&cache::VALUE_POOL, cache::DistinctValues(spec.value_count));
        settings.set(&cache::POPULARITY, workload.popularity);
        settings.set(&cache::KEY_SIZE, workload.key_size);
        settings.set(&cache::VALUE_SIZE, workload.value_size);
        settings.set(&cache::REQUEST_MIX, workload.mix);
    }
    let on_miss = if spec.sets_on_miss {
        cache::OnMiss::Set
    } else {
        cache::OnMiss::Nothing
    };
    settings.set(&cache::ON_MISS, on_miss);
    settings.set(&cache::CONTENT, spec.content);
    settings.set(&cache::CONNECTIONS, spec.connections);
    settings.set(&cache::PIPELINE, spec.pipeline);
    settings.set(&cache::DRIVER_THREADS, spec.threads);
    settings.set(&cache::REQUESTS, cache::Requests(spec.requests));
    // The times of a trace are no process of arrivals.
    if !spec.has_own_times() {
        settings.set(&cache::ARRIVAL, outcrop_workload::Arrivals::Given(spec.arrival));
    }
    if let Some(objective) = spec.objective {
        settings.set(&cache::OBJECTIVE, objective);
    }
    settings
}

fn figures(report: &LoadReport) -> Vec<(Metric, Result<f64, Unavailable>)> {
    let tally = &report.tally;
    let none = |why: &'static str| move || Unavailable::because(why);
    let (no_get, no_answer) = (none("no get was answered"), none("nothing was answered"));
    let mut all = vec![
        (cache::THROUGHPUT, Ok(report.throughput_per_second())),
        (cache::ANSWERED, Ok(report.answered_per_second())),
        (cache::HIT_RATIO, tally.hit_ratio().ok_or_else(no_get)),
        (
            cache::HITS_PER_REQUEST,
            tally.hits_per_request().ok_or_else(no_answer),
        ),
        (cache::BYTE_HIT_RATIO, tally.byte_hit_ratio().ok_or_else(no_get)),
        (cache::SERVER_CPU, report.server_cpu_per_operation_ns()),
        (
            cache::DRIVER_CPU,
            report.driver_cpu_per_operation_ns().ok_or_else(no_answer),
        ),
        (cache::DRIVER_BUSY, Ok(report.driver_cpu.busiest_share)),
        (cache::UNFINISHED, Ok(tally.unfinished as f64)),
        (cache::REFUSED_SHARE, tally.refused_share().ok_or_else(no_answer)),
        (cache::MISMATCHES, Ok(tally.mismatches as f64)),
        (cache::WARM_UP_SETS, Ok(report.warm_up.sets as f64)),
    ];
    all.extend(report.goodput_per_second().map(|rate| (cache::GOODPUT, Ok(rate))));
    all.extend(report.requested_per_second.map(|rate| (cache::OFFERED, Ok(rate))));
    if report.is_open_loop {
        all.extend(lateness::figures(&tally.lateness));
    }
    for (metrics, latency) in [
        (cache::LATENCY, &tally.latency()),
        (cache::HIT_LATENCY, &tally.hit_latency),
        (cache::MISS_LATENCY, &tally.miss_latency),
    ] {
        for known in percentile::STANDARD {
            let value = latency.percentile(known.quantile).map(|ns| ns as f64);
            let why = || Unavailable::because(format!("{} operations are too few for it", latency.count()));
            all.extend(metrics.of(&known).map(|metric| (metric, value.ok_or_else(why))));
        }
    }
    all
}
