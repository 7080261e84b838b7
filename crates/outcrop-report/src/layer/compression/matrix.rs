//! Codec × block size: the numbers behind the figures.

use std::collections::BTreeSet;

use outcrop_measure::units::format_bytes;

use super::cell::Cell;
use super::wishes::{candidates, held_fixed};
use crate::section::{Matrix, MatrixMetric, Missing};

/// Metrics of the matrix, with the words for a reader.
const METRICS: [(&str, &str); 7] = [
    ("Ratio", "compression_ratio"),
    ("Compress speed", "compress_speed"),
    ("Decompress speed", "decompress_speed"),
    ("Compress latency p99", "compress_latency_p99"),
    ("Decompress latency p99", "decompress_latency_p99"),
    ("CPU per byte, compressing", "compress_cpu_per_byte"),
    ("CPU per byte, decompressing", "decompress_cpu_per_byte"),
];

/// The matrix of the cells that the answer is chosen from.
pub(super) fn all(cells: &[Cell<'_>]) -> (Vec<Matrix>, Vec<Missing>) {
    const TITLE: &str = "Codec × block size";
    let all = candidates(cells);
    let mut codecs: Vec<&str> = Vec::new();
    for one in &all {
        if !codecs.contains(&one.cell.codec.as_str()) {
            codecs.push(&one.cell.codec);
        }
    }
    let sizes: BTreeSet<u64> = all.iter().map(|one| one.cell.block_size_bytes).collect();
    if codecs.len() < 2 && sizes.len() < 2 {
        let missing = Missing {
            title: TITLE.to_owned(),
            reason: "no two codecs and no two block sizes were measured on the same data.".to_owned(),
            plan: "throughput-latency".to_owned(),
        };
        return (Vec::new(), vec![missing]);
    }
    let at = |codec: &str, size: u64, metric: &str| {
        let cell = all
            .iter()
            .find(|one| one.cell.codec == codec && one.cell.block_size_bytes == size)?;
        cell.cell.number(metric).cloned()
    };
    let metrics = METRICS.iter().map(|(name, metric)| MatrixMetric {
        name: (*name).to_owned(),
        cells: codecs
            .iter()
            .map(|codec| sizes.iter().map(|size| at(codec, *size, metric)).collect())
            .collect(),
    });
    let has_value = |metric: &MatrixMetric| metric.cells.iter().flatten().any(Option::is_some);
    let matrix = Matrix {
        title: held_fixed(&all),
        row_factor: "codec".to_owned(),
        column_factor: "block".to_owned(),
        rows: codecs.iter().map(|codec| (*codec).to_owned()).collect(),
        columns: sizes.iter().map(|size| format_bytes(*size)).collect(),
        metrics: metrics.filter(has_value).collect(),
    };
    (vec![matrix], Vec::new())
}
