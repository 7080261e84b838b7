//! What components predict: latency, throughput and space of compressed btrfs from the device's and the codec's own figures.
//!
//! L = L_dev(ē) + D(E) + H; X(N) = min(N ÷ L, P ÷ (C₀ + D)); space = Σ ⌈c⌉₄ₖ ÷ n. ē is the mean stored size of an extent, D the time
//! to decompress one with a context of its own and cold caches, H and C₀ what the same filesystem adds to uncompressed reads.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_codec::{CodecSpec, ContextUse};
use outcrop_compress::{Blocks, Sample, run_job};
use outcrop_probe::Clock;
use outcrop_workload::Caches;
use outcrop_workload::filesystem::{Algorithm, FileCompression};

use crate::error::FilesystemError;
use crate::filesystem::BTRFS_EXTENT_BYTES;
use crate::image::RawLatency;
use crate::report::JobReport;

/// Sectors that btrfs stores in.
const SECTOR_BYTES: u64 = 4096;
/// How long the codec is timed.
const CODEC_TIME: Duration = Duration::from_millis(300);

/// What the codec does with the extents of the data, measured without any filesystem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// Mean time to decompress one extent.
    pub decompress_ns: f64,
    /// Stored bytes of an extent on average, in whole sectors.
    pub stored_bytes: f64,
    /// Original over stored bytes.
    pub ratio: f64,
}

impl Component {
    /// Times the library's codec over the extents of the data: a fresh context for each, cold caches, as btrfs does it.
    ///
    /// *Cost*: compresses the data once, and 0.3 s.
    ///
    /// # Errors
    /// This build has no codec of that name (lzo), or `stop` was raised.
    pub fn measure(
        data: &[u8],
        compression: FileCompression,
        clock: &Clock,
        stop: &AtomicBool,
    ) -> Result<Self, FilesystemError> {
        let level = compression.level.unwrap_or(3);
        let name = match compression.algorithm {
            Algorithm::Zstd => format!("zstd:{level}"),
            Algorithm::Zlib => format!("zlib:{level}"),
            other => {
                return Err(FilesystemError::Unavailable(format!(
                    "this build has no codec {other} to predict from"
                )));
            }
        };
        let codec: CodecSpec = name
            .parse()
            .map_err(|error: outcrop_codec::CodecError| FilesystemError::Unavailable(error.to_string()))?;
        let sample = Sample::generated(data.to_vec(), "data");
        let blocks = Blocks::cut(&sample, BTRFS_EXTENT_BYTES as usize);
        let spec = outcrop_compress::JobSpec {
            context: ContextUse::Fresh,
            caches: Caches::Cold,
            ..outcrop_compress::JobSpec::new(codec, CODEC_TIME)
        };
        let report = run_job(&blocks, &spec, None, clock, stop)?;
        let originals = data
            .chunks(BTRFS_EXTENT_BYTES as usize)
            .map(|extent| extent.len() as u64);
        let stored = |(length, original): (&u32, u64)| {
            let stored = u64::from(*length).next_multiple_of(SECTOR_BYTES);
            // An extent that does not become a sector smaller stays as it is.
            stored.min(original.next_multiple_of(SECTOR_BYTES))
        };
        let stored: u64 = report.size.lengths.iter().zip(originals).map(stored).sum();
        let decompress_ns = report
            .decompress
            .latency
            .mean()
            .ok_or_else(|| FilesystemError::Unavailable("no extent was decompressed".to_owned()))?;
        Ok(Self {
            decompress_ns,
            stored_bytes: stored as f64 / report.size.lengths.len().max(1) as f64,
            ratio: data.len() as f64 / stored.max(1) as f64,
        })
    }
}

/// What the same filesystem adds to reads of uncompressed files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baseline {
    /// Median latency of a cold read beyond that of the device.
    pub overhead_ns: f64,
    /// CPU time of a read, kernel threads included.
    pub cpu_ns: f64,
}

impl Baseline {
    /// From a trial of the same reads without compression.
    ///
    /// # Errors
    /// The trial lacks a figure that is needed.
    pub fn of(report: &JobReport, io_block_bytes: u64) -> Result<Self, FilesystemError> {
        let missing =
            || FilesystemError::Unavailable("the reads without compression gave no latency".to_owned());
        let raw = report
            .raw
            .as_ref()
            .and_then(|raw| raw.median_ns(io_block_bytes as f64));
        let latency_ns = report.operation.latency.quantile(0.5).ok_or_else(missing)? as f64;
        let cpu_ns = report.operation.costs.cpu_ns()? as f64;
        Ok(Self {
            overhead_ns: (latency_ns - raw.ok_or_else(missing)?).max(0.0),
            cpu_ns: cpu_ns / report.operation.operations.max(1) as f64,
        })
    }
}

/// What a configuration should reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Median latency of a cold read with nothing else in flight.
    pub latency_ns: f64,
    /// Reads per second with this many in flight.
    pub iops: f64,
    /// Original over stored bytes, without metadata.
    pub space_ratio: f64,
}

impl Prediction {
    /// Adds the parts up.
    pub fn of(
        raw: &RawLatency,
        codec: &Component,
        baseline: &Baseline,
        in_flight: f64,
        cpus: usize,
    ) -> Option<Self> {
        let device_ns = raw.median_ns(codec.stored_bytes)?;
        let latency_ns = device_ns + codec.decompress_ns + baseline.overhead_ns;
        let by_latency = in_flight * 1e9 / latency_ns;
        let by_cpu = cpus as f64 * 1e9 / (baseline.cpu_ns + codec.decompress_ns);
        Some(Self {
            latency_ns,
            iops: by_latency.min(by_cpu),
            space_ratio: codec.ratio,
        })
    }
}
