//! Results as the older layout has them, and what the tests ask of trials.

use std::path::{Path, PathBuf};

use outcrop_fio::{ImportOptions, Imported, import};
use outcrop_results::{RunView, TrialEntry, Value};

/// A report of fio 2: microseconds, KiB, no options. Every figure follows from the arguments.
pub(crate) fn older(iops: f64, size_kib: u64, reads: f64) -> String {
    let direction = |share: f64| {
        let iops = iops * share;
        let operations = (iops * 10.0) as u64;
        let latency_us = if share > 0.0 { 1e6 / iops } else { 0.0 };
        let statistics = |times: f64| {
            format!(
                r#""min": {}, "max": {}, "mean": {:.2}, "stddev": 1.5"#,
                (latency_us * 0.5) as u64,
                (latency_us * times * 9.0) as u64,
                latency_us * times
            )
        };
        let percentiles: Vec<String> = [1.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99]
            .map(|percent| {
                format!(
                    r#""{percent:.6}": {}"#,
                    (latency_us * (0.9 + percent / 100.0)) as u64
                )
            })
            .into();
        format!(
            r#"{{"io_bytes": {}, "bw": {}, "iops": {iops:.2}, "runtime": 10000, "total_ios": {operations}, "short_ios": 0, "drop_ios": 0,
            "slat": {{"min": 1, "max": 9, "mean": 2.0, "stddev": 0.5}},
            "clat": {{{}, "percentile": {{{}, "0.00": 0, "0.00": 0}}}},
            "lat": {{{}}}, "bw_min": 1, "bw_max": 2, "bw_agg": 100.0, "bw_mean": 1.5, "bw_dev": 0.5}}"#,
            operations * size_kib,
            (iops * size_kib as f64) as u64,
            statistics(1.0),
            percentiles.join(", "),
            statistics(1.02),
        )
    };
    format!(
        r#"{{
  "fio version" : "fio-2.2.10",
  "jobs" : [{{
    "jobname" : "bench", "groupid" : 0, "error" : 0, "eta" : 0, "elapsed" : 11,
    "read" : {},
    "write" : {},
    "trim" : {},
    "usr_cpu" : 3.1, "sys_cpu" : 9.2, "ctx" : 12, "majf" : 0, "minf" : 8,
    "iodepth_level" : {{"1" : 0.1, "32" : 99.9, ">=64" : 0.0}}
  }}],
  "disk_util" : []
}}
"#,
        direction(reads),
        direction(1.0 - reads),
        direction(0.0),
    )
}

/// Imports paths, and takes them to be importable.
pub(crate) fn imported(paths: &[&Path]) -> Imported {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    import(&paths, &ImportOptions::default()).unwrap()
}

/// The run that imported results make.
pub(crate) fn run_of(imported: &Imported, parent: &Path) -> RunView {
    let dir = imported.write_run(parent, "fio", "2026-11-23T01:00:00Z").unwrap();
    RunView::load(&dir).unwrap()
}

pub(crate) fn value<'t>(trial: &'t TrialEntry, metric: &str) -> &'t Value {
    let found = trial.values.iter().find(|value| value.metric == metric);
    found.unwrap_or_else(|| panic!("no {metric} in {:?}", trial.factors))
}

/// The figure of a metric; it must be there.
pub(crate) fn figure(trial: &TrialEntry, metric: &str) -> f64 {
    let value = value(trial, metric);
    value
        .value
        .unwrap_or_else(|| panic!("{metric}: {}", value.source.as_deref().unwrap_or_default()))
}

/// Why a metric has no figure.
pub(crate) fn reason<'t>(trial: &'t TrialEntry, metric: &str) -> &'t str {
    let value = value(trial, metric);
    assert_eq!(value.value, None, "{metric}");
    value.source.as_deref().unwrap()
}
