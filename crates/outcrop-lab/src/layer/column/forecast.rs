//! What a trial will take: arithmetic with the speeds of a slow machine, one that encodes 100 MB/s of text a thread.

use std::path::Path;
use std::time::Duration;

use outcrop_column_bench::READ_LIMIT;
use outcrop_column_bench::tabular::{Extent, extent_of};
use outcrop_schema::Settings;
use outcrop_schema::column::{
    COLUMN, DISTINCT, FORMAT, Format, INDEX, Index, OPERATION, PATH, PROFILE, Profile, ROWS, Rows,
    SEARCH_MODE, TEXT_LIMIT,
};
use outcrop_workload::column::{Operation, SearchMode};

use super::parameters;
use crate::cell::Cell;
use crate::estimate::Forecast;

/// Making a row, and the words twice.
const GENERATE_ROW_NS: f64 = 30.0;
const GENERATE_WORD_NS: f64 = 1500.0;
/// Reading a row of a file; of Parquet, a page or more is decoded for the first.
const READ_ROW_NS: f64 = 150.0;
const LEAST_ROWS_READ: f64 = 500_000.0;
/// What a file costs that cannot be looked at now.
const ASSUMED: Extent = Extent {
    row_count: 1 << 20,
    text_bytes: 32 << 20,
    file_bytes: 32 << 20,
    distinct_bytes: 32 << 20,
    read_bytes: 32 << 20,
};
/// Sorting and compressing a byte of a value that hardly repeats: orders' comments take 2 µs a row of 49 bytes.
const DISTINCT_BYTE_NS: f64 = 50.0;
/// Of a whole column: reading, encoding, decoding and writing as Parquet, by row; and what the values add.
const fn whole_row_ns(profile: Profile) -> f64 {
    match profile {
        Profile::Smallest => 600.0,
        Profile::Balanced => 200.0,
        Profile::Fastest => 150.0,
    }
}
const fn whole_distinct_byte_ns(profile: Profile) -> f64 {
    match profile {
        Profile::Smallest => 480.0,
        Profile::Balanced => 80.0,
        Profile::Fastest => 60.0,
    }
}
/// Hashing a byte of text twice.
const WHOLE_BYTE_NS: f64 = 5.0;
/// Reading a byte of the file, and finding its fields.
const READ_BYTE_NS: f64 = 6.0;
/// How much more than its limit of text a whole column takes: the rest of a row group.
const BEYOND_LIMIT: f64 = 1.5;
/// Encoding a row by profile, and what postings add.
const fn encode_row_ns(profile: Profile) -> f64 {
    match profile {
        Profile::Smallest => 600.0,
        Profile::Balanced => 120.0,
        Profile::Fastest => 80.0,
    }
}
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
    let factors = &cell.factors;
    let operation = *factors.value(&OPERATION);
    if operation == Operation::Size {
        return Forecast {
            time: Duration::from_secs_f64(whole_ns(cell) / 1e9) + OVERHEAD,
            ..Forecast::default()
        };
    }
    let rows = rows_of(cell);
    let make = match factors.get(&DISTINCT) {
        Some(distinct) => rows * GENERATE_ROW_NS + f64::from(*distinct) * GENERATE_WORD_NS,
        None => rows.max(LEAST_ROWS_READ) * READ_ROW_NS,
    };
    let row_ns = match factors.value(&FORMAT) {
        Format::Text(codec) if codec.level().is_some_and(|level| level > 9) => STRONG_TEXT_ROW_NS,
        Format::Text(_) => TEXT_ROW_NS,
        Format::Ocol => {
            let postings = match factors.value(&INDEX) {
                Index::None => 0.0,
                Index::Postings | Index::Only => POSTINGS_ROW_NS,
            };
            encode_row_ns(*factors.value(&PROFILE)) + postings + distinct_row_ns(cell)
        }
    };
    let encode = Duration::from_secs_f64((rows * row_ns + packing_ns(factors, rows)) / 1e9);
    let check = Duration::from_secs_f64(rows * CHECK_ROW_NS / 1e9);
    let mode = factors.get(&SEARCH_MODE).copied().unwrap_or_default();
    let preload = if mode == SearchMode::InMemory && operation.is_search() {
        Duration::from_secs_f64(rows * PRELOAD_ROW_NS / 1e9)
    } else {
        Duration::ZERO
    };
    let (warm_up, duration) = (cell.trial.warm_up.0, cell.trial.duration.0);
    let measuring = if operation == Operation::Encode {
        // Once for memory, once for the encodings; each time span ends with the encode that it is over in.
        encode * 2 + (warm_up + encode / 2) + (duration + encode / 2)
    } else {
        encode + check + preload + warm_up + duration
    };
    // Made once, then kept for the other repetitions.
    let make = make / f64::from(cell.trial.repetitions.max(1));
    Forecast {
        time: Duration::from_secs_f64(make / 1e9) + measuring + OVERHEAD,
        ..Forecast::default()
    }
}

/// What the smallest profile does to a column that may be packed.
fn packing_ns(factors: &Settings, rows: f64) -> f64 {
    let text_bytes = rows * ASSUMED_VALUE_BYTES;
    let is_asked_for =
        factors.get(&PROFILE) == Some(&Profile::Smallest) && factors.get(&INDEX) == Some(&Index::None);
    if is_asked_for && text_bytes <= PACKED_BYTES {
        text_bytes * PACK_BYTE_NS
    } else {
        0.0
    }
}

/// Rows of the cell's column; of a whole file, what its beginning or its footer suggests.
fn rows_of(cell: &Cell) -> f64 {
    match cell.factors.value(&ROWS) {
        Rows::Count(rows) => *rows as f64,
        Rows::All => extent(cell).row_count as f64,
    }
}

/// How much of the cell's column there is in its file.
fn extent(cell: &Cell) -> Extent {
    let path = Path::new(cell.subject.settings.value(&PATH));
    let column: &String = cell.factors.value(&COLUMN);
    extent_of(path, &parameters::given(&cell.subject.settings), column).unwrap_or(ASSUMED)
}

/// What values that hardly repeat add to a row of a file.
fn distinct_row_ns(cell: &Cell) -> f64 {
    if cell.factors.has(&DISTINCT) {
        return 0.0;
    }
    let extent = extent(cell);
    extent.distinct_bytes as f64 / extent.row_count.max(1) as f64 * DISTINCT_BYTE_NS
}

/// The whole of the cell's column, up to its limit.
fn whole_ns(cell: &Cell) -> f64 {
    let (factors, profile) = (&cell.factors, *cell.factors.value(&PROFILE));
    if let Some(distinct) = factors.get(&DISTINCT) {
        let words_bytes = f64::from(*distinct) * ASSUMED_VALUE_BYTES;
        return rows_of(cell) * (whole_row_ns(profile) + GENERATE_ROW_NS)
            + words_bytes * whole_distinct_byte_ns(profile);
    }
    let extent = extent(cell);
    let text_bytes = extent.text_bytes as f64;
    let limit = factors.value(&TEXT_LIMIT).0 as f64;
    let of_text = limit * BEYOND_LIMIT / text_bytes.max(1.0);
    let of_file = limit * READ_LIMIT as f64 / extent.read_bytes.max(1) as f64;
    let part = of_text.min(of_file).min(1.0);
    let packing = if profile == Profile::Smallest && text_bytes <= PACKED_BYTES {
        text_bytes * PACK_BYTE_NS
    } else {
        0.0
    };
    let whole = extent.row_count as f64 * whole_row_ns(profile)
        + extent.distinct_bytes as f64 * whole_distinct_byte_ns(profile)
        + text_bytes * WHOLE_BYTE_NS
        + extent.read_bytes as f64 * READ_BYTE_NS;
    whole * part + packing
}
