//! From a job's report to the values of a record.

use outcrop_device::{IntervalReport, JobReport, OperationReport};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Measurement, Metric, Provenance, Unavailable, Unit};
use outcrop_measure::percentile::{self, Percentile};
use outcrop_measure::steady_state::{self, SteadyState};
use outcrop_probe::Reading;
use outcrop_results::Value;
use outcrop_workload::ReadWriteMix;

use super::metrics::{self, Direction};

/// All values of a completed job.
pub(super) fn values(
    report: &JobReport,
    mix: ReadWriteMix,
    energy_j: Result<f64, Unavailable>,
) -> Vec<Value> {
    let total = report.total();
    let mut values = Vec::new();
    for (direction, operations) in directions(&total, mix) {
        values.extend(throughput(report, direction, &operations));
        values.extend(latencies(direction, "latency", &operations.latency));
        if let Some(service) = &operations.service {
            values.extend(latencies(direction, "service_latency", service));
        }
    }
    let operations = total.reads.operations + total.writes.operations;
    let mut measurements = vec![
        cpu_per_operation(report, operations),
        io_worker_cpu_share(report),
        Measurement::measured(metrics::ACHIEVED_QUEUE_DEPTH, report.achieved_queue_depth),
        device_bytes_ratio(report),
        energy_per_operation(report, energy_j),
        steady_state(report),
        Measurement::measured(
            metrics::ERRORS,
            (report.errors.reads + report.errors.writes) as f64,
        ),
    ];
    if let Some(arrival) = &report.arrival {
        measurements.push(Measurement::measured(
            metrics::ARRIVAL_REQUESTED,
            arrival.requested_per_second,
        ));
        measurements.push(Measurement::measured(
            metrics::ARRIVAL_UNFINISHED,
            arrival.unfinished as f64,
        ));
    }
    values.extend(measurements.iter().map(Value::from));
    values
}

/// Reads and writes together, and each of them that the mix has.
fn directions(total: &IntervalReport, mix: ReadWriteMix) -> Vec<(Direction, OperationReport)> {
    let mut both = total.reads.clone();
    both.merge(&total.writes);
    let mut directions = vec![(Direction::Both, both)];
    if mix.has_reads() {
        directions.push((Direction::Read, total.reads.clone()));
    }
    if mix.has_writes() {
        directions.push((Direction::Write, total.writes.clone()));
    }
    directions
}

/// Operations and bytes per second of measured time.
///
/// Under open-loop load operations are counted by when they were due, some completing only in the drain; there the
/// rate is what was seen to complete in the measured time, in each direction's share.
fn throughput(report: &JobReport, direction: Direction, operations: &OperationReport) -> [Value; 2] {
    let seconds = report.duration_ns as f64 / 1e9;
    let sustained = match &report.arrival {
        Some(arrival) if arrival.completed > 0 => {
            arrival.achieved_per_second * seconds / arrival.completed as f64
        }
        _ => 1.0,
    };
    let value = |metric: Metric, count: u64| {
        let per_second = count as f64 * sustained / seconds;
        let value = Value::from(&Measurement::measured(metric, per_second));
        Value {
            metric: direction.name(metric.name),
            ..value
        }
    };
    [
        value(metrics::IOPS, operations.operations),
        value(metrics::BANDWIDTH, operations.bytes),
    ]
}

/// Mean, percentiles and maximum of one histogram.
fn latencies(direction: Direction, stem: &str, histogram: &LatencyHistogram) -> Vec<Value> {
    let none = || Unavailable::because(format!("no {} completed", direction.noun()));
    let mut values = vec![nanoseconds(
        direction,
        &format!("{stem}_mean"),
        histogram.mean().ok_or_else(none),
    )];
    for Percentile {
        name,
        identifier,
        quantile,
    } in percentile::STANDARD
    {
        let value = histogram.percentile(quantile).map(|latency_ns| latency_ns as f64);
        let why = || Unavailable::because(format!("n = {} supports no {name}", histogram.count()));
        values.push(nanoseconds(
            direction,
            &format!("{stem}_{identifier}"),
            value.ok_or_else(why),
        ));
    }
    let max = histogram.max().map(|latency_ns| latency_ns as f64);
    values.push(nanoseconds(
        direction,
        &format!("{stem}_max"),
        max.ok_or_else(none),
    ));
    values
}

fn nanoseconds(direction: Direction, stem: &str, value: Result<f64, Unavailable>) -> Value {
    let (value, source) = match value {
        Ok(value) => (Some(value), None),
        Err(why) => (None, Some(why.reason)),
    };
    Value {
        metric: direction.name(stem),
        unit: Unit::Nanoseconds,
        value,
        provenance: Provenance::Measured,
        source,
    }
}

fn cpu_per_operation(report: &JobReport, operations: u64) -> Measurement {
    if operations == 0 {
        return Measurement::unavailable(
            metrics::CPU_PER_OPERATION,
            Unavailable::because("no operation completed"),
        );
    }
    Measurement::measured(
        metrics::CPU_PER_OPERATION,
        report.cpu.total_ns() as f64 / operations as f64,
    )
}

fn io_worker_cpu_share(report: &JobReport) -> Measurement {
    let metric = metrics::IO_WORKER_CPU_SHARE;
    match (&report.cpu.io_workers_ns, report.cpu.total_ns()) {
        (Reading::Unavailable(why), _) => Measurement::unavailable(metric, why.clone()),
        (Reading::Known(_), 0) => {
            Measurement::unavailable(metric, Unavailable::because("no CPU time was counted"))
        }
        (Reading::Known(workers_ns), total_ns) => {
            Measurement::measured(metric, *workers_ns as f64 / total_ns as f64)
        }
    }
}

fn device_bytes_ratio(report: &JobReport) -> Measurement {
    let ours = report.traffic.read_bytes + report.traffic.written_bytes;
    let metric = metrics::DEVICE_BYTES_RATIO;
    match &report.device_counters {
        Err(why) => Measurement::unavailable(metric, why.clone()),
        Ok(_) if ours == 0 => {
            Measurement::unavailable(metric, Unavailable::because("no operation completed"))
        }
        Ok(kernel) => Measurement::measured(
            metric,
            (kernel.read_bytes + kernel.written_bytes) as f64 / ours as f64,
        ),
    }
}

/// The meter runs from before the warm-up until after the drain, so all of the job's operations share its energy.
fn energy_per_operation(report: &JobReport, energy_j: Result<f64, Unavailable>) -> Measurement {
    let operations = report.traffic.reads + report.traffic.writes;
    let per_operation = match energy_j {
        Ok(_) if operations == 0 => Err(Unavailable::because("no operation completed")),
        energy_j => energy_j.map(|joules| joules / operations as f64),
    };
    Measurement {
        metric: metrics::ENERGY_PER_OPERATION,
        value: per_operation,
        provenance: Provenance::Measured,
    }
}

/// The rule of the SNIA PTS over the trial's intervals, each taken as a round. The last interval may be cut short and
/// counts by its own length.
fn steady_state(report: &JobReport) -> Measurement {
    let rounds: Vec<f64> = report
        .intervals
        .iter()
        .filter(|interval| interval.duration_ns > 0)
        .map(|interval| {
            let operations = interval.reads.operations + interval.writes.operations;
            operations as f64 * 1e9 / interval.duration_ns as f64
        })
        .collect();
    let metric = metrics::STEADY_STATE;
    match steady_state::steady_state(&rounds) {
        SteadyState::Reached(_) => Measurement::derived(metric, 1.0),
        SteadyState::NotReached(_) => Measurement::derived(metric, 0.0),
        SteadyState::TooFewRounds { rounds } => Measurement::unavailable(
            metric,
            Unavailable::because(format!("{rounds} intervals; the rule takes at least 5")),
        ),
    }
}
