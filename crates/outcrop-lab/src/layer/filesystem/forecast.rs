//! What trials will take: arithmetic with the speeds of a slow machine.

use std::collections::BTreeSet;
use std::time::Duration;

use outcrop_filesystem::image_bytes;
use outcrop_schema::filesystem::{AGE, COMPRESSION, OPERATION, SAMPLE_SIZE};
use outcrop_workload::filesystem::{Age, Algorithm, FileCompression, FileOperation, FilesystemKind};

use super::parameters::{baselines_of, is_directory, kind_of};
use crate::cell::{Cell, Subject};
use crate::estimate::Forecast;

/// Images are written this fast: slower than most SSDs.
const FILL_BYTES_PER_SECOND: f64 = 400e6;
/// mkfs, loop device, mount, read-back of options, remount, and counters.
const MAKING: Duration = Duration::from_millis(300);
/// Between the passes files are evicted and compared.
const BETWEEN_PASSES: f64 = 1.3;
/// Files are written uncompressed this fast, in MB/s …
const WRITE_MB_PER_SECOND: f64 = 500.0;
/// … and an image is at least built so.
const BUILD_MB_PER_SECOND: f64 = 120.0;
/// Metadata, journals and superblocks that mkfs and remounts write.
const METADATA_BYTES: u64 = 24 << 20;
/// Ageing is sixteen synced rounds.
const AGEING: Duration = Duration::from_millis(900);

/// The image of a run, and what predictions need besides, which is measured once.
pub(super) fn preparation(subject: &Subject, cells: &[&Cell]) -> Forecast {
    if is_directory(subject) {
        return Forecast::default();
    }
    let keys: BTreeSet<String> = cells.iter().flat_map(|cell| baselines_of(cell)).collect();
    let baselines = baselines(subject, keys.len());
    let image_bytes = image_bytes(subject.settings.value(&SAMPLE_SIZE).0);
    let bytes_written = image_bytes + baselines.bytes_written;
    Forecast {
        time: Duration::from_secs_f64(image_bytes as f64 / FILL_BYTES_PER_SECOND),
        bytes_written,
        likely_bytes_written: bytes_written,
        least_bytes_written: bytes_written,
    }
}

/// What so many trials without compression write that predictions start from.
pub(super) fn baselines(subject: &Subject, count: usize) -> Forecast {
    let each = subject.settings.value(&SAMPLE_SIZE).0 + METADATA_BYTES;
    let bytes_written = each * count as u64;
    Forecast {
        time: Duration::ZERO,
        bytes_written,
        likely_bytes_written: bytes_written,
        least_bytes_written: bytes_written,
    }
}

/// One trial: making, writing and reading.
pub(super) fn trial(cell: &Cell) -> Forecast {
    let factors = &cell.factors;
    let data_bytes = cell.subject.settings.value(&SAMPLE_SIZE).0;
    let megabytes = data_bytes as f64 / 1e6;
    let compression = factors
        .get(&COMPRESSION)
        .copied()
        .unwrap_or(FileCompression::NONE);
    let is_built = kind_of(factors).is_some_and(FilesystemKind::is_read_only);
    let fastest = if is_built {
        BUILD_MB_PER_SECOND
    } else {
        WRITE_MB_PER_SECOND
    };
    let writing = Duration::from_secs_f64(megabytes / fastest.min(compress_mb_per_second(compression)));
    let duration = cell.trial.duration.0;
    let operation = factors.value(&OPERATION);
    let measured = match operation {
        FileOperation::Write | FileOperation::SmallFiles => Duration::ZERO,
        _ => duration.mul_f64(BETWEEN_PASSES),
    };
    let ageing = match factors.get(&AGE) {
        Some(Age::Overwritten(_)) => AGEING,
        _ => Duration::ZERO,
    };
    // Overwrites of 4 KiB with a sync each cost tens of times their bytes; a second of them writes less than the data.
    let overwritten = if operation.writes() { data_bytes * 4 } else { 0 };
    let bytes_written = data_bytes + METADATA_BYTES + overwritten;
    Forecast {
        time: MAKING + writing + ageing + measured,
        bytes_written,
        likely_bytes_written: data_bytes + METADATA_BYTES,
        least_bytes_written: data_bytes + METADATA_BYTES,
    }
}

/// Of two slow cores together.
fn compress_mb_per_second(compression: FileCompression) -> f64 {
    let level = compression.level.unwrap_or(3);
    match (compression.algorithm, level) {
        (Algorithm::None, _) => f64::INFINITY,
        (Algorithm::Zstd, ..=2) | (Algorithm::Lzo | Algorithm::Lz4, _) => 350.0,
        (Algorithm::Zstd, 3..=4) => 250.0,
        (Algorithm::Zstd, 5..=9) | (Algorithm::Zlib, ..=3) => 80.0,
        (Algorithm::Zlib, ..=6) => 40.0,
        (Algorithm::Zlib | Algorithm::Lz4hc, _) => 25.0,
        (Algorithm::Zstd, 10..=15) => 14.0,
        (Algorithm::Zstd | Algorithm::Xz, _) => 4.0,
    }
}
