//! A run's cold reads of btrfs as applications, and what compressing them adds as components.
//!
//! A small read of a compressed extent reads all of it from the device, decompresses all of it, and fills the page cache with all of it. Its
//! time is that of the uncompressed read, plus what the device takes longer, plus what the filesystem adds to a read of a whole extent beyond
//! what it adds to a small one, plus the codec's time of an extent. The device's times are raw reads of the same device, on a line through
//! 4 KiB and 128 KiB.

use std::collections::BTreeMap;

use outcrop_measure::units::format_bytes;
use outcrop_predict::{Application, Component, Curve, Direction, Measured, MeasuredFigure, Place, Split};
use outcrop_schema::FactorRef;
use outcrop_schema::filesystem::{
    CODEC_TIME, COMPRESS_POLICY, COMPRESSION, COMPRESSION_BLOCK_SIZE, EXTENT_TIME, FILESYSTEM,
    FILESYSTEM_TIME, IO_BLOCK_SIZE, IOPS, JOBS, OPERATION, PREDICTED_SPACE, QUEUE_DEPTH, RAW_LATENCY_4K,
    RAW_LATENCY_128K, WAKE_TIME,
};
use outcrop_workload::filesystem::{FileCompression, FileOperation, FilesystemKind};

use super::system::{MeasuredSystem, algorithm_of};
use crate::cell::Cell;

/// In what a compressed cell differs from its uncompressed one.
static COMPRESSING: [FactorRef; 4] = [
    &FILESYSTEM,
    &COMPRESSION,
    &COMPRESSION_BLOCK_SIZE,
    &COMPRESS_POLICY,
];
const EXTENT_BYTES: f64 = 131_072.0;
const SMALL_BYTES: f64 = 4096.0;

/// Reads one at a time that the run has both with and without compression; none where it has not.
pub(super) fn system(cells: &[Cell<'_>]) -> Option<MeasuredSystem> {
    let reads = || cells.iter().filter(|cell| is_single_read_of_btrfs(cell));
    // One device below all cells: their medians together are steadier than each alone.
    let middle = |metric| median(reads().filter_map(|cell| cell.value(metric)).collect());
    let (small, large) = (middle(&RAW_LATENCY_4K)?, middle(&RAW_LATENCY_128K)?);
    let per_byte = (large - small).max(0.0) / (EXTENT_BYTES - SMALL_BYTES);
    let mut system = MeasuredSystem::default();
    let mut added: BTreeMap<String, (Vec<(f64, f64)>, String)> = BTreeMap::new();
    for plain in reads().filter(|cell| !is_compressed(cell)) {
        let Some(application) = application(plain) else {
            continue;
        };
        let compressed = reads().filter(|cell| is_compressed(cell) && cell.is_like(plain, &COMPRESSING));
        for cell in compressed {
            let Some((point, throughput)) = time_added(cell, per_byte).zip(cell.value(&IOPS)) else {
                continue;
            };
            let name = name(cell);
            system.measured.push(Measured {
                application: application.name.clone(),
                component: name.clone(),
                clients: None,
                figure: MeasuredFigure::Throughput(throughput),
            });
            let (points, _) = added
                .entry(name)
                .or_insert_with(|| (Vec::new(), algorithm_of(cell.spelling(&COMPRESSION))));
            points.push(point);
        }
        system.applications.push(application);
    }
    let component = |(name, (points, algorithm))| {
        Some(Component {
            name,
            place: Place::Cpu,
            algorithm: Some(algorithm),
            decompress: Direction {
                latency: Some(Curve::points(points).ok()?),
                ..Direction::default()
            },
            source: Some(
                "measured: the times of an extent, of the codec, the device, the page cache and a wake-up"
                    .to_owned(),
            ),
            ..Component::default()
        })
    };
    system.components = added.into_iter().filter_map(component).collect();
    (!system.measured.is_empty()).then_some(system)
}

fn is_single_read_of_btrfs(cell: &Cell<'_>) -> bool {
    let kind = cell.get(&FILESYSTEM).map(|choice| choice.kind);
    kind == Some(FilesystemKind::Btrfs)
        && cell.is(&OPERATION, &FileOperation::RandomRead)
        && cell.is(&JOBS, &1)
        && cell.is(&QUEUE_DEPTH, &1)
        && cell.value(&IOPS).is_some()
}

fn is_compressed(cell: &Cell<'_>) -> bool {
    cell.get(&COMPRESSION)
        .is_some_and(|compression| FileCompression::is_on(*compression))
}

fn name(cell: &Cell<'_>) -> String {
    format!("{} {}", FilesystemKind::Btrfs, cell.spelling(&COMPRESSION))
}

/// Cores do not limit it: one client waits, and most of the time that compression adds is that of the device and of a wake-up.
fn application(plain: &Cell<'_>) -> Option<Application> {
    let block_bytes = plain.get(&IO_BLOCK_SIZE)?.0 as f64;
    let size = format_bytes(block_bytes as u64);
    Some(Application {
        name: format!("{}, cold reads of {size}", FilesystemKind::Btrfs),
        clients: Some(1.0),
        throughput: Some(plain.value(&IOPS)?),
        block_size_bytes: Some(block_bytes),
        decompressed: Some(Split {
            foreground: 1.0,
            background: 0.0,
        }),
        source: Some("measured".to_owned()),
        ..Application::default()
    })
}

/// How much longer a thread takes to wake after another one worked, where the run measured it.
pub(super) fn wake_time(cells: &[Cell<'_>]) -> Option<f64> {
    median(cells.iter().filter_map(|cell| cell.value(&WAKE_TIME)).collect())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Bytes of a read, and the time that compression adds to it on a device that takes so long for a further byte.
fn time_added(cell: &Cell<'_>, per_byte: f64) -> Option<(f64, f64)> {
    let block_bytes = cell.get(&IO_BLOCK_SIZE)?.0 as f64;
    let stored_bytes = EXTENT_BYTES / cell.value(&PREDICTED_SPACE)?;
    let device_ns = (stored_bytes - block_bytes) * per_byte;
    let filling_ns = (cell.value(&EXTENT_TIME)? - cell.value(&FILESYSTEM_TIME)?).max(0.0);
    // Runs recorded before it was measured are predicted without it.
    let codec_ns = cell.value(&CODEC_TIME)? + cell.value(&WAKE_TIME).unwrap_or(0.0);
    Some((block_bytes, codec_ns + device_ns + filling_ns))
}
