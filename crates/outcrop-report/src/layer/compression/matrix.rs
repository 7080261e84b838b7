//! Codec × block size: the numbers behind the figures.

use std::collections::BTreeMap;

use outcrop_measure::metric::Metric;
use outcrop_schema::compression::{CODEC, COMPRESSION_RATIO, CPU_PER_BYTE, LATENCY, SPEED};

use super::cell::CompressionCell;
use super::wishes::{candidates, held_fixed};
use crate::cell::Cell;
use crate::section::{LeastEffort, Matrix, MatrixMetric, Missing};

/// Metrics of the matrix, with the words for a reader.
const METRICS: [(&str, Metric); 7] = [
    ("Ratio", COMPRESSION_RATIO),
    ("Compress speed", SPEED.compress),
    ("Decompress speed", SPEED.decompress),
    ("Compress latency p99", LATENCY.compress.p99),
    ("Decompress latency p99", LATENCY.decompress.p99),
    ("CPU per byte, compressing", CPU_PER_BYTE.compress),
    ("CPU per byte, decompressing", CPU_PER_BYTE.decompress),
];

/// The matrix of the cells that the answer is chosen from.
pub(super) fn all(cells: &[Cell<'_>]) -> (Vec<Matrix>, Vec<Missing>) {
    let all = candidates(cells);
    let mut codecs: Vec<&str> = all.iter().map(|one| one.cell.spelling(&CODEC)).collect();
    codecs.dedup();
    let sizes: BTreeMap<u64, String> = all
        .iter()
        .map(|one| (one.cell.size_bytes(), one.cell.size()))
        .collect();
    if codecs.len() < 2 && sizes.len() < 2 {
        let missing = Missing {
            title: "Codec × block size".to_owned(),
            reason: "no two codecs and no two block sizes were measured on the same data.".to_owned(),
            plan: "throughput-latency".to_owned(),
            effort: LeastEffort::Quick,
            generates_data: false,
        };
        return (Vec::new(), vec![missing]);
    }
    let at = |codec: &str, size: u64, metric: &Metric| {
        let is_there = |cell: &&Cell<'_>| cell.spelling(&CODEC) == codec && cell.size_bytes() == size;
        let cell = all.iter().map(|one| one.cell).find(is_there)?;
        cell.number(metric).cloned()
    };
    let table = |(name, metric): &(&str, Metric)| MatrixMetric {
        name: (*name).to_owned(),
        cells: codecs
            .iter()
            .map(|codec| sizes.keys().map(|size| at(codec, *size, metric)).collect())
            .collect(),
    };
    let has_value = |metric: &MatrixMetric| metric.cells.iter().flatten().any(Option::is_some);
    let matrix = Matrix {
        title: held_fixed(&all).unwrap_or_default(),
        row_factor: CODEC.words(),
        column_factor: "block".to_owned(),
        rows: codecs.iter().map(|codec| (*codec).to_owned()).collect(),
        metrics: METRICS.iter().map(table).filter(has_value).collect(),
        columns: sizes.into_values().collect(),
    };
    (vec![matrix], Vec::new())
}
