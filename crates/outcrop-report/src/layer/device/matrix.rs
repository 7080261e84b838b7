//! The matrices: access size × queue depth, one per mix.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use outcrop_measure::ByteSize;
use outcrop_measure::units::format_bytes;
use outcrop_schema::device::{BANDWIDTH, CPU_PER_OPERATION, IO_BLOCK_SIZE, IOPS, QUEUE_DEPTH, SYNC};

use super::cell::{DeviceCell, P50, P99};
use crate::cell::{Cell, families};
use crate::number::Number;
use crate::section::{LeastEffort, Matrix, MatrixMetric, Missing};

/// The mixes of the studies that these tables replace: shares of reads, in words.
const MIXES: [(u8, &str); 4] = [
    (100, "reads only"),
    (0, "writes only"),
    (50, "reads and writes in one stream"),
    (70, "reads and writes in one stream"),
];

/// Every matrix that the cells fill with at least two rows and two columns; the others as missing.
pub(super) fn all(cells: &[Cell<'_>]) -> (Vec<Matrix>, Vec<Missing>) {
    let (mut matrices, mut missing) = (Vec::new(), Vec::new());
    for (read_percent, words) in MIXES {
        let wanted = cells
            .iter()
            .filter(|cell| cell.read_percent() == Some(read_percent) && cell.jobs() == 1)
            .filter(|cell| cell.is_random() && cell.is_closed_loop());
        let mut families = families(wanted, &[&IO_BLOCK_SIZE, &QUEUE_DEPTH]);
        families.sort_by_key(|family| (family[0].is_synced(), Reverse(family.len())));
        let title = format!("{read_percent}:{}, {words}", 100 - read_percent);
        let of_mix = of_each_sync(&families, &title);
        if of_mix.is_empty() {
            missing.push(Missing {
                title,
                reason: "no two access sizes were measured at the same two queue depths with this mix (random, one job, closed loop)."
                    .to_owned(),
                plan: "ssd-matrix".to_owned(),
                // A quick matrix has the pure runs alone.
                effort: match read_percent {
                    0 | 100 => LeastEffort::Quick,
                    _ => LeastEffort::Default,
                },
                generates_data: false,
            });
        }
        matrices.extend(of_mix);
    }
    (matrices, missing)
}

/// A matrix for each sync policy, named where there are several: one table of several policies would hide which one a cell is of.
fn of_each_sync(families: &[Vec<&Cell<'_>>], title: &str) -> Vec<Matrix> {
    let mut done = BTreeSet::new();
    let mut matrices = Vec::new();
    for family in families {
        let first = family[0];
        let sync = first.spelling(&SYNC);
        let title = format!("{title}{}", first.circumstances());
        if !done.contains(sync)
            && let Some(matrix) = matrix(family, &title)
        {
            done.insert(sync);
            matrices.push(matrix);
        }
    }
    matrices
}

fn matrix(family: &[&Cell<'_>], title: &str) -> Option<Matrix> {
    let place = |cell: &Cell<'_>| Some((*cell.get(&IO_BLOCK_SIZE)?, *cell.get(&QUEUE_DEPTH)?));
    let (sizes, depths) = grid(&family.iter().filter_map(|cell| place(cell)).collect());
    if sizes.len() < 2 || depths.len() < 2 {
        return None;
    }
    let at = |size: ByteSize, depth: u32| {
        let mut cells = family.iter();
        cells.find(|cell| place(cell) == Some((size, depth))).copied()
    };
    let metric = |(name, pick): (&str, Pick)| {
        let number = |size, depth| at(size, depth).and_then(pick).cloned();
        let row = |size: &ByteSize| depths.iter().map(|depth| number(*size, *depth)).collect();
        MatrixMetric {
            name: name.to_owned(),
            cells: sizes.iter().map(row).collect(),
        }
    };
    Some(Matrix {
        title: title.to_owned(),
        row_factor: "access size".to_owned(),
        column_factor: "queue depth".to_owned(),
        rows: sizes.iter().map(|size| format_bytes(size.0)).collect(),
        columns: depths.iter().map(|depth| format!("QD {depth}")).collect(),
        metrics: METRICS.map(metric).to_vec(),
    })
}

/// The sizes and depths that were measured in combination: a curve along one of them does not make a table.
fn grid(pairs: &BTreeSet<(ByteSize, u32)>) -> (BTreeSet<ByteSize>, BTreeSet<u32>) {
    let with_size = |size| pairs.iter().filter(|pair| pair.0 == size).count();
    let rows: Vec<_> = pairs.iter().filter(|pair| with_size(pair.0) >= 2).collect();
    let with_depth = |depth| rows.iter().filter(|pair| pair.1 == depth).count();
    let sizes = rows.iter().map(|pair| pair.0).collect();
    let depths = rows.iter().map(|pair| pair.1);
    (sizes, depths.filter(|depth| with_depth(*depth) >= 2).collect())
}

/// How a metric is read from a cell.
type Pick = for<'c> fn(&'c Cell<'_>) -> Option<&'c Number>;

const METRICS: [(&str, Pick); 5] = [
    ("IOPS", |cell| cell.number(&IOPS.both)),
    (BANDWIDTH.both.name, |cell| cell.number(&BANDWIDTH.both)),
    ("p50 latency", |cell| cell.latency(&P50)),
    ("p99 latency", |cell| cell.latency(&P99)),
    ("CPU per operation", |cell| cell.number(&CPU_PER_OPERATION)),
];
