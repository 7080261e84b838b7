//! What fio cannot have counted: such numbers are damage, and a sum or a ratio of them would hide it.

use super::document::{Direction, Job, Latency};

/// Why the numbers of a job cannot be; none where they can.
pub(super) fn impossible(job: &Job) -> Option<String> {
    let directions = [
        ("read", &job.read),
        ("write", &job.write),
        ("trim", &job.trim),
        ("mixed", &job.mixed),
    ];
    let of_directions = directions.into_iter().find_map(|(name, direction)| {
        let why = in_direction(direction.as_ref()?)?;
        Some(format!("{name}: {why}"))
    });
    let of_syncs = || {
        let syncs = job.sync.as_ref()?;
        let count = syncs.total_ios.and_then(|count| below_zero("total_ios", count));
        let why = count.or_else(|| in_latency("lat_ns", syncs.lat_ns.as_ref()?))?;
        Some(format!("sync: {why}"))
    };
    of_directions.or_else(of_syncs)
}

fn in_direction(direction: &Direction) -> Option<String> {
    let mut sums = [
        ("total_ios", direction.total_ios),
        ("io_bytes", direction.io_bytes),
        ("runtime", direction.runtime),
        ("iops", direction.iops),
    ]
    .into_iter();
    let latencies = [
        ("clat_ns", &direction.clat_ns),
        ("lat_ns", &direction.lat_ns),
        ("clat", &direction.clat),
        ("lat", &direction.lat),
        ("lat_with_sync_ns", &direction.lat_with_sync_ns),
    ];
    let sum = sums.find_map(|(key, value)| below_zero(key, value));
    sum.or_else(|| more_operations_than_bytes(direction)).or_else(|| {
        let mut latencies = latencies.into_iter();
        latencies.find_map(|(key, latency)| in_latency(key, latency.as_ref()?))
    })
}

/// Each operation moves at least a byte; bandwidth is a whole number of bytes or KiB per second, rounded down.
fn more_operations_than_bytes(direction: &Direction) -> Option<String> {
    let bytes_per_second = match direction.bw_bytes {
        Some(bytes) => bytes + 1.0,
        None => (direction.bw + 1.0) * 1024.0,
    };
    let moves_any = bytes_per_second > 1024.0;
    let bandwidth = match direction.bw_bytes {
        Some(bytes) => format!("{bytes} B/s"),
        None => format!("{} KiB/s", direction.bw),
    };
    // What some versions leave out reads as 0.
    let (bytes, unit) = match direction.bw_bytes {
        Some(_) => (direction.io_bytes, "B"),
        None => ((direction.io_bytes + 1.0) * 1024.0, "KiB"),
    };
    let is_counted = direction.io_bytes > 0.0;
    if moves_any && is_counted && direction.total_ios > bytes {
        return Some(format!(
            "total_ios of {} with io_bytes of {} {unit} is impossible; each operation moves a byte at least",
            direction.total_ios, direction.io_bytes
        ));
    }
    (moves_any && direction.iops > bytes_per_second).then(|| {
        format!(
            "iops of {} at a bandwidth of {bandwidth} is impossible; each operation moves a byte at least",
            direction.iops
        )
    })
}

fn in_latency(key: &str, latency: &Latency) -> Option<String> {
    let figures = [
        ("mean", Some(latency.mean)),
        ("max", Some(latency.max)),
        ("N", latency.count),
    ];
    let mut figures = figures.into_iter();
    let figure = figures.find_map(|(name, value)| below_zero(&format!("{key}.{name}"), value?));
    // A mean is a sum of rounded numbers; fio 2 leaves the maximum out of some latencies.
    let is_above = latency.max > 0.0 && latency.mean > latency.max * 1.001;
    let above = || {
        let (mean, max) = (latency.mean, latency.max);
        is_above.then(|| format!("{key}.mean ({mean}) is above {key}.max ({max}), which is impossible"))
    };
    figure.or_else(above).or_else(|| in_percentiles(key, latency))
}

/// A percentile that is below zero, or below a lower one.
fn in_percentiles(key: &str, latency: &Latency) -> Option<String> {
    let listed = latency.percentile.iter().flatten();
    let percents = listed.filter_map(|(name, value)| Some((name.parse::<f64>().ok()?, *value)));
    // Version 2 fills its list up with `0.00`.
    let mut row: Vec<(f64, f64)> = percents
        .filter(|(percent, _)| *percent > 0.0 && *percent < 100.0)
        .collect();
    row.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let negative = row
        .iter()
        .find_map(|(percent, value)| below_zero(&format!("p{percent} of {key}"), *value));
    negative.or_else(|| {
        let falls = |pair: &&[(f64, f64)]| matches!(pair, [(_, before), (_, after)] if after < before);
        let [(low, before), (high, after)] = row.windows(2).find(falls)? else {
            return None;
        };
        Some(format!(
            "p{high} of {key} ({after}) is below p{low} ({before}), which is impossible"
        ))
    })
}

fn below_zero(what: &str, value: f64) -> Option<String> {
    (value < 0.0).then(|| format!("{what} of {value} is impossible; expected 0 or more"))
}
