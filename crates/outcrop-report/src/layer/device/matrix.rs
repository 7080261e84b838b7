//! The matrices: access size × queue depth, one per mix.

use std::collections::BTreeSet;

use outcrop_measure::metric::Unit;
use outcrop_measure::units::format_bytes;

use super::cell::{Cell, Direction};
use crate::number::Number;
use crate::section::{Matrix, MatrixMetric, Missing};

/// The mixes of the studies that these tables replace, as shares of reads.
const MIXES: [u8; 4] = [100, 0, 50, 70];

/// Every matrix that the cells fill with at least two rows and two columns; the others as missing.
pub(super) fn all(cells: &[Cell<'_>]) -> (Vec<Matrix>, Vec<Missing>) {
    let mut matrices = Vec::new();
    let mut missing = Vec::new();
    for read_percent in MIXES {
        match matrix(cells, read_percent) {
            Some(matrix) => matrices.push(matrix),
            None => missing.push(Missing {
                title: title(read_percent),
                reason: "fewer than two access sizes and two queue depths were measured with this mix."
                    .to_owned(),
                plan: "ssd-matrix".to_owned(),
            }),
        }
    }
    (matrices, missing)
}

fn title(read_percent: u8) -> String {
    let words = match read_percent {
        100 => "reads only",
        0 => "writes only",
        _ => "reads and writes in one stream",
    };
    format!("{read_percent}:{}, {words}", 100 - read_percent)
}

fn matrix(cells: &[Cell<'_>], read_percent: u8) -> Option<Matrix> {
    let wanted: Vec<&Cell<'_>> = cells
        .iter()
        .filter(|cell| cell.read_percent == Some(read_percent) && cell.access_pattern == "random")
        .filter(|cell| cell.jobs == 1 && cell.is_closed_loop())
        .collect();
    let (sizes, depths) = grid(&wanted);
    if sizes.len() < 2 || depths.len() < 2 {
        return None;
    }
    let at = |size: u64, depth: u32| {
        wanted
            .iter()
            .find(|cell| cell.block_size_bytes == Some(size) && cell.queue_depth == Some(depth))
            .copied()
    };
    let metric = |(name, number): (&str, Pick)| MatrixMetric {
        name: name.to_owned(),
        cells: sizes
            .iter()
            .map(|size| {
                depths
                    .iter()
                    .map(|depth| at(*size, *depth).and_then(|cell| number(cell)))
                    .collect()
            })
            .collect(),
    };
    Some(Matrix {
        title: title(read_percent),
        row_factor: "access size".to_owned(),
        column_factor: "queue depth".to_owned(),
        rows: sizes.iter().map(|size| format_bytes(*size)).collect(),
        columns: depths.iter().map(|depth| format!("QD {depth}")).collect(),
        metrics: metrics().map(metric).to_vec(),
    })
}

/// The sizes and depths that were measured in combination: a curve along one of them does not make a table.
fn grid(cells: &[&Cell<'_>]) -> (BTreeSet<u64>, BTreeSet<u32>) {
    let pairs: BTreeSet<(u64, u32)> = cells
        .iter()
        .filter_map(|cell| Some((cell.block_size_bytes?, cell.queue_depth?)))
        .collect();
    let with_size = |size: u64| pairs.iter().filter(|pair| pair.0 == size).count();
    let sizes: BTreeSet<u64> = pairs
        .iter()
        .map(|pair| pair.0)
        .filter(|size| with_size(*size) >= 2)
        .collect();
    let with_depth = |depth: u32| {
        pairs
            .iter()
            .filter(|pair| pair.1 == depth && sizes.contains(&pair.0))
            .count()
    };
    let depths = pairs
        .iter()
        .map(|pair| pair.1)
        .filter(|depth| with_depth(*depth) >= 2)
        .collect();
    (sizes, depths)
}

/// How a metric is read from a cell.
type Pick = fn(&Cell<'_>) -> Option<Number>;

fn metrics() -> [(&'static str, Pick); 5] {
    [
        ("IOPS", |cell| {
            cell.number("iops").map(|number| number.clone().named("IOPS"))
        }),
        ("bandwidth", |cell| cell.number("bandwidth").cloned()),
        ("p50 latency", |cell| latency(cell, "latency_p50")),
        ("p99 latency", |cell| latency(cell, "latency_p99")),
        ("CPU per operation", |cell| {
            cell.number("cpu_per_operation")
                .filter(|number| number.unit == Unit::NanosecondsPerOperation)
                .cloned()
        }),
    ]
}

/// The latency over both directions, or of the only one that there is.
fn latency(cell: &Cell<'_>, metric: &str) -> Option<Number> {
    let both = cell.number(metric).cloned();
    both.or_else(|| {
        let direction = Direction::BOTH
            .into_iter()
            .find(|way| cell.read_percent == Some(way.read_percent()))?;
        cell.directed(direction, metric).cloned()
    })
}
