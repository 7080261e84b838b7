//! What components predict: latency, throughput and space of compressed btrfs from the device's and the codec's own figures.
//!
//! L = L_dev(ē) + D(E) + H(E) + W(D); X(N) = min(N ÷ L, P ÷ (C₀ + D)); space = Σ ⌈c⌉₄ₖ ÷ n. ē is the mean stored size of a compressed extent, D
//! the time to decompress one page by page with a new context and cold caches. H and C₀ are what the same filesystem adds to
//! uncompressed reads, of a whole extent: however little of a compressed extent is read, all of it goes to the page cache. W is by how
//! much longer a reader takes to wake whose CPU idled while another one decompressed.
//! Extents that btrfs leaves as they are cost a read of the block alone: L and C are then means over both kinds.

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
use crate::wake::added_wake_ns;

/// Sectors that btrfs stores in.
const SECTOR_BYTES: u64 = 4096;
/// Extents that btrfs compresses in one go (`SZ_512K` in `run_delalloc_compressed`, fs/btrfs/inode.c).
const CHUNK_EXTENTS: usize = 4;
/// How long the codec is timed.
const CODEC_TIME: Duration = Duration::from_millis(300);

/// What the codec does with the extents of the data, measured without any filesystem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// Mean time to decompress one extent.
    pub decompress_ns: f64,
    /// By how much a wake-up after that time takes longer than after a short one.
    pub wake_ns: f64,
    /// Stored bytes of a compressed extent on average, in whole sectors.
    pub stored_bytes: f64,
    /// The share of the data that btrfs stores compressed.
    pub compressed_share: f64,
    /// Original over stored bytes.
    pub ratio: f64,
}

/// What btrfs stores of data whose compressed extents are so long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StoredExtents {
    /// In whole sectors, of everything.
    bytes: u64,
    /// Of the extents that stay compressed: how many, their original bytes and what is stored of them.
    compressed: u64,
    compressed_original_bytes: u64,
    compressed_bytes: u64,
}

impl StoredExtents {
    /// Applies the kernel's rule to the lengths that a codec made of consecutive extents of `total_bytes`.
    ///
    /// btrfs compresses 512 KiB in one go, extent by extent. The first of them that would not become a sector smaller stays as it is,
    /// and so does the rest of the 512 KiB, whatever it would compress to.
    ///
    /// *Source*: Linux 6.18, fs/btrfs/inode.c, `compress_file_range`: `mark_incompressible` adds one uncompressed extent up to the end of
    /// the chunk.
    fn of(lengths: &[u32], total_bytes: u64) -> Self {
        let mut stored = Self::default();
        let mut left = total_bytes;
        for chunk in lengths.chunks(CHUNK_EXTENTS) {
            let mut is_raw = false;
            for length in chunk {
                let original = left.min(BTRFS_EXTENT_BYTES);
                left -= original;
                let whole = original.next_multiple_of(SECTOR_BYTES);
                let compressed = u64::from(*length).next_multiple_of(SECTOR_BYTES);
                is_raw |= compressed + SECTOR_BYTES > whole;
                if is_raw {
                    stored.bytes += whole;
                } else {
                    stored.bytes += compressed;
                    stored.compressed += 1;
                    stored.compressed_original_bytes += original;
                    stored.compressed_bytes += compressed;
                }
            }
        }
        stored
    }
}

impl Component {
    /// Times the library's codec over the extents of the data: a new context for each, page by page, cold caches, as btrfs does it.
    ///
    /// *Cost*: compresses the data once, 0.3 s, and 200 times what an extent takes.
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
            context: ContextUse::InPages,
            caches: Caches::Cold,
            ..outcrop_compress::JobSpec::new(codec, CODEC_TIME)
        };
        let report = run_job(&blocks, &spec, None, clock, stop)?;
        let total_bytes = data.len() as u64;
        let stored = StoredExtents::of(&report.size.lengths, total_bytes);
        let decompress_ns = report
            .decompress
            .latency
            .mean()
            .ok_or_else(|| FilesystemError::Unavailable("no extent was decompressed".to_owned()))?;
        Ok(Self {
            decompress_ns,
            wake_ns: added_wake_ns(Duration::from_nanos(decompress_ns as u64), clock),
            stored_bytes: stored.compressed_bytes as f64 / stored.compressed.max(1) as f64,
            compressed_share: stored.compressed_original_bytes as f64 / total_bytes.max(1) as f64,
            ratio: total_bytes as f64 / stored.bytes.max(1) as f64,
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
    /// From a trial of reads of `io_block_bytes` without compression.
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
    /// Adds the parts up, of reads of `io_block_bytes`; `baseline` is that of such reads, `of_extent` that of whole extents.
    pub fn of(
        raw: &RawLatency,
        codec: &Component,
        baseline: &Baseline,
        of_extent: &Baseline,
        io_block_bytes: u64,
        in_flight: f64,
        cpus: usize,
    ) -> Option<Self> {
        let of_compressed =
            raw.median_ns(codec.stored_bytes)? + codec.decompress_ns + codec.wake_ns + of_extent.overhead_ns;
        let of_raw = raw.median_ns(io_block_bytes as f64)? + baseline.overhead_ns;
        let share = codec.compressed_share;
        let mean = |compressed: f64, raw: f64| share * compressed + (1.0 - share) * raw;
        let by_latency = in_flight * 1e9 / mean(of_compressed, of_raw);
        let cpu_ns = mean(of_extent.cpu_ns + codec.decompress_ns, baseline.cpu_ns);
        let by_cpu = cpus as f64 * 1e9 / cpu_ns;
        Some(Self {
            // The median is that of the more frequent kind.
            latency_ns: if share >= 0.5 { of_compressed } else { of_raw },
            iops: by_latency.min(by_cpu),
            space_ratio: codec.ratio,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EXTENT: u32 = BTRFS_EXTENT_BYTES as u32;

    #[test]
    fn an_extent_that_does_not_compress_takes_the_rest_of_its_512_kib_with_it() {
        // The second of the first four; the rest compress to two sectors.
        let lengths = [5000, EXTENT, 5000, 5000, 5000, 5000];
        let stored = StoredExtents::of(&lengths, 6 * BTRFS_EXTENT_BYTES);
        assert_eq!(stored.compressed, 3);
        assert_eq!(stored.bytes, 3 * 8192 + 3 * BTRFS_EXTENT_BYTES);
        // One sector less is not enough to be raw, none less is.
        let saves_one = [EXTENT - 4096];
        assert_eq!(StoredExtents::of(&saves_one, BTRFS_EXTENT_BYTES).compressed, 1);
        assert_eq!(
            StoredExtents::of(&[EXTENT - 4095], BTRFS_EXTENT_BYTES).compressed,
            0
        );
    }

    proptest! {
        #[test]
        fn stored_bytes_are_whole_sectors_and_at_most_the_data(
            lengths in prop::collection::vec(1_u32..EXTENT + 200, 1..40),
            short in 1_u64..BTRFS_EXTENT_BYTES,
        ) {
            let total = (lengths.len() as u64 - 1) * BTRFS_EXTENT_BYTES + short;
            let stored = StoredExtents::of(&lengths, total);
            prop_assert!(stored.bytes.is_multiple_of(SECTOR_BYTES));
            prop_assert!(stored.bytes <= total.next_multiple_of(SECTOR_BYTES));
            prop_assert!(stored.compressed_bytes <= stored.bytes);
            prop_assert!(stored.compressed_original_bytes <= total);
        }
    }
}
