//! What one trial measured: plain structs that a lab turns into records.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Unavailable;
use outcrop_probe::Stopwatch;

use crate::btrfs_tree::Stored;
use crate::costs::{Costs, process_ns};
use crate::error::FilesystemError;
use crate::extents::Extents;
use crate::image::RawLatency;

/// Everything that a trial measured.
#[derive(Clone, Debug)]
pub struct JobReport {
    /// The loop device before there was a filesystem on it; none in a directory of the user's.
    pub raw: Option<RawLatency>,
    /// Options of the filesystem as the kernel shows them.
    pub options: Option<String>,
    /// The program that made it, and its version.
    pub maker: Option<String>,
    /// Writing the files, with fsync and syncfs; none where a program built the image.
    pub written: Option<Phase>,
    /// How long building a read-only image took.
    pub build_ns: Option<u64>,
    /// Bytes of the files.
    pub file_bytes: u64,
    /// Space that the files take, metadata included, by statfs after a remount.
    pub used_bytes: Result<u64, Unavailable>,
    /// Where the bytes lie.
    pub extents: Result<Extents, Unavailable>,
    /// What btrfs stores, without metadata.
    pub stored: Result<Stored, Unavailable>,
    /// Pages in memory before the first pass, and after the last.
    pub pages: (Result<u64, Unavailable>, Result<u64, Unavailable>),
    /// Bytes written to the device from the first to the last of the trial: files, ageing, the operation and metadata. Of a directory
    /// also those of other processes.
    pub device_written_bytes: Result<u64, Unavailable>,
    /// The operation itself.
    pub operation: Phase,
    /// Files per second that were created, of small files.
    pub created_per_second: Option<f64>,
    /// Why memory, rather than a disk, may have served the reads: the directory's filesystem lies on a loop device without direct
    /// I/O.
    pub page_cache_below: Option<String>,
    /// What a reader of the figures must know.
    pub notes: Vec<String>,
}

/// Operations of one kind, over all passes.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Completed.
    pub operations: u64,
    /// Bytes asked for, or written.
    pub bytes: u64,
    /// From the start to the end of every pass, what makes data durable included.
    pub duration_ns: u64,
    /// Of each operation; under offered load from when it was due.
    pub latency: LatencyHistogram,
    /// Under offered load: from its real start.
    pub service: Option<LatencyHistogram>,
    /// Under offered load: by how much each was begun after it was due and its job was free.
    pub lateness: Option<LatencyHistogram>,
    /// Operations that were due in the passes and not begun.
    pub unfinished: u64,
    /// The rate of the schedule, where there is one.
    pub requested_per_second: Option<f64>,
    /// Requests in flight on average, by when jobs began and ended, not by latencies.
    pub achieved_depth: f64,
    /// What it cost.
    pub costs: Costs,
    /// Passes over the files.
    pub passes: u32,
}

impl Phase {
    /// Nothing yet.
    pub fn empty() -> Self {
        Self {
            operations: 0,
            bytes: 0,
            duration_ns: 0,
            latency: LatencyHistogram::new(),
            service: None,
            lateness: None,
            unfinished: 0,
            requested_per_second: None,
            achieved_depth: 0.0,
            costs: Costs::NONE,
            passes: 0,
        }
    }

    /// Completed operations per second.
    pub fn per_second(&self) -> f64 {
        self.operations as f64 * 1e9 / self.duration_ns.max(1) as f64
    }

    /// Bytes per second.
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.duration_ns.max(1) as f64
    }

    /// Does what belongs to the operations and comes after them: makes durable what they wrote.
    pub(crate) fn end_with(
        &mut self,
        work: impl FnOnce() -> Result<(), FilesystemError>,
    ) -> Result<(), FilesystemError> {
        let (watch, before_ns) = (Stopwatch::start(), process_ns());
        work()?;
        self.costs.process_ns += process_ns().saturating_sub(before_ns);
        self.duration_ns += watch.elapsed_ns();
        Ok(())
    }

    /// Takes what was counted between two edges. The process's time stays that of the operations: there is more between the edges.
    pub(crate) fn cost(&mut self, between: Costs) {
        let process_ns = self.costs.process_ns;
        self.costs = Costs {
            process_ns,
            around_ns: between.process_ns.saturating_sub(process_ns),
            ..between
        };
    }

    /// Adds another pass of the same operation.
    pub fn add(&mut self, pass: &Self) {
        let total_ns = (self.duration_ns + pass.duration_ns).max(1) as f64;
        self.achieved_depth = (self.achieved_depth * self.duration_ns as f64
            + pass.achieved_depth * pass.duration_ns as f64)
            / total_ns;
        self.operations += pass.operations;
        self.bytes += pass.bytes;
        self.duration_ns += pass.duration_ns;
        self.latency.merge(&pass.latency);
        for (sum, part) in [
            (&mut self.service, &pass.service),
            (&mut self.lateness, &pass.lateness),
        ] {
            if let Some(part) = part {
                sum.get_or_insert_with(LatencyHistogram::new).merge(part);
            }
        }
        self.unfinished += pass.unfinished;
        self.requested_per_second = pass.requested_per_second.or(self.requested_per_second);
        self.costs.add(&pass.costs);
        self.passes += pass.passes;
    }
}
