//! What a trial will take: arithmetic with the speeds of a slow machine, one that encodes 100 MB/s of text a thread.

use std::path::Path;
use std::time::Duration;

use outcrop_column::{Index, Profile};
use outcrop_column_bench::tabular::file_of;
use outcrop_column_bench::{BenchSpec, Format, Operation, SearchMode};

use super::parameters::bench_spec;
use super::{ALL_ROWS, GENERATED};
use crate::cell::Cell;
use crate::estimate::Forecast;
use crate::layer::parsed;

/// Making a row, and the words twice.
const GENERATE_ROW_NS: f64 = 30.0;
const GENERATE_WORD_NS: f64 = 1500.0;
/// Reading a row of a delimited file.
const READ_ROW_NS: f64 = 150.0;
/// Bytes of a row of a file nobody has looked at.
const ASSUMED_ROW_BYTES: u64 = 32;
/// Encoding a row by profile, and what postings add.
const ENCODE_ROW_NS: [(&str, f64); 3] = [("smallest", 600.0), ("balanced", 120.0), ("fastest", 80.0)];
const POSTINGS_ROW_NS: f64 = 60.0;
/// Trying the packed forms of a small column: several settings of a strong codec over all of its text, 0.7 to 11 µs a byte of 39 real columns and made ones.
const PACK_BYTE_NS: f64 = 4000.0;
/// Text of a packed column at most, and that of a row of one that nobody has looked at.
const PACKED_BYTES: f64 = (2 << 20) as f64;
const ASSUMED_VALUE_BYTES: f64 = 8.0;
/// Compressing a row of text by a strong codec, and any other.
const STRONG_TEXT_ROW_NS: f64 = 4000.0;
const TEXT_ROW_NS: f64 = 100.0;
/// Checking a row before measuring: decoded and compared, and passed over once.
const CHECK_ROW_NS: f64 = 25.0;
/// Building postings in memory.
const PRELOAD_ROW_NS: f64 = 40.0;
/// Between trials.
const OVERHEAD: Duration = Duration::from_millis(15);

pub(super) fn trial(cell: &Cell) -> Forecast {
    let spec = bench_spec(&cell.factors, &cell.trial, outcrop_measure::seed::Seed(0));
    let rows = rows_of(cell);
    let is_generated = cell.subject.settings["kind"] == GENERATED;
    let make = if is_generated {
        rows * GENERATE_ROW_NS + parsed::<f64>(cell.factor("distinct")) * GENERATE_WORD_NS
    } else {
        rows * READ_ROW_NS
    };
    let row_ns = match spec.format {
        Format::Text(codec) => {
            let spelling = codec.to_string();
            let level = spelling.split(':').nth(1).and_then(|level| level.parse().ok());
            if level.is_some_and(|level: i32| level > 9) {
                STRONG_TEXT_ROW_NS
            } else {
                TEXT_ROW_NS
            }
        }
        Format::Ocol => {
            let profile = cell.factor("profile");
            let encode = ENCODE_ROW_NS.iter().find(|(name, _)| *name == profile);
            let postings = if cell.factor("index") == "none" {
                0.0
            } else {
                POSTINGS_ROW_NS
            };
            encode.map_or(0.0, |(_, ns)| *ns) + postings
        }
    };
    let encode = Duration::from_secs_f64((rows * row_ns + packing_ns(&spec, rows)) / 1e9);
    let check = Duration::from_secs_f64(rows * CHECK_ROW_NS / 1e9);
    let preload = if spec.mode == SearchMode::InMemory && spec.operation.is_search() {
        Duration::from_secs_f64(rows * PRELOAD_ROW_NS / 1e9)
    } else {
        Duration::ZERO
    };
    let (warm_up, duration) = (spec.warm_up, spec.duration);
    let measuring = if spec.operation == Operation::Encode {
        // Once for memory, once for the encodings; each time span ends with the encode that it is over in.
        encode * 2 + (warm_up + encode / 2) + (duration + encode / 2)
    } else {
        encode + check + preload + warm_up + duration
    };
    // Made once, then kept for the other repetitions.
    let make = make / f64::from(cell.trial.repetitions.max(1));
    Forecast {
        time: Duration::from_secs_f64(make / 1e9) + measuring + OVERHEAD,
        bytes_written: 0,
    }
}

/// What the smallest profile does to a column that may be packed.
fn packing_ns(spec: &BenchSpec, rows: f64) -> f64 {
    let text_bytes = rows * ASSUMED_VALUE_BYTES;
    let asked_for = (spec.format, spec.profile, spec.index) == (Format::Ocol, Profile::Smallest, Index::None);
    if asked_for && text_bytes <= PACKED_BYTES {
        text_bytes * PACK_BYTE_NS
    } else {
        0.0
    }
}

/// Rows of the cell's column; of a whole file, what its size suggests.
fn rows_of(cell: &Cell) -> f64 {
    let rows = cell.factor("rows");
    if rows != ALL_ROWS {
        return parsed(rows);
    }
    let path = file_of(Path::new(&cell.subject.settings["path"]), cell.factor("column"));
    let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
    (bytes / ASSUMED_ROW_BYTES) as f64
}
