//! What a trial measured: plain structs that a lab turns into records.

use std::path::PathBuf;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Unavailable;
use outcrop_probe::Counters;
use outcrop_workload::keyed::OperationKind;
use serde::{Deserialize, Serialize};

use crate::store::{CompactionState, Counted, StoreCounters};
use crate::tables::Tables;
use crate::usage::Space;
use crate::wire;

/// Operations of one kind in one window of a phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// What was done.
    #[serde(with = "wire::kind")]
    pub kind: OperationKind,
    /// Number of the window within the measured time, from 0.
    pub index: u32,
    /// Operations that the engine completed in it, before the end of the measured time, whenever they were due.
    pub completed: u64,
    /// Closed loop: from the moment an operation is ready. Open loop: of the operations that were *due* in the measured time, from that
    /// moment; those that were never begun are in it with their age, a lower bound.
    #[serde(with = "wire::histogram")]
    pub latency: LatencyHistogram,
    /// Open loop only: from the moment it was really begun, of all operations that ended in it; the last window
    /// has those that ended later.
    #[serde(with = "wire::histogram")]
    pub service: LatencyHistogram,
}

/// What was counted in a whole phase, warm-up included, and what went wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Operations of all kinds.
    pub operations: u64,
    /// Bytes of keys and values that were stored.
    pub written_bytes: u64,
    /// Bytes of the values that came back.
    pub read_bytes: u64,
    /// Records that scans came by.
    pub scanned_records: u64,
    /// Values that were compared with what their key holds.
    pub verified: u64,
    /// Keys that were stored and not found.
    pub missing: u64,
    /// Values that were not those stored, or older than one that was acknowledged before.
    pub mismatches: u64,
    /// The first of either, in words.
    pub first_problem: Option<String>,
    /// Open loop: operations that were due in the measured time and not begun at its end.
    pub unfinished: u64,
}

impl Tally {
    /// Adds what another thread or process counted.
    pub fn merge(&mut self, other: &Self) {
        self.operations += other.operations;
        self.written_bytes += other.written_bytes;
        self.read_bytes += other.read_bytes;
        self.scanned_records += other.scanned_records;
        self.verified += other.verified;
        self.missing += other.missing;
        self.mismatches += other.mismatches;
        self.unfinished += other.unfinished;
        if self.first_problem.is_none() {
            self.first_problem.clone_from(&other.first_problem);
        }
    }
}

/// CPU time in user mode and in the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub kernel_ns: u64,
}

impl CpuTimes {
    /// User and kernel time.
    pub const fn total_ns(&self) -> u64 {
        self.user_ns + self.kernel_ns
    }
}

/// CPU time in the measured part of a phase, without what the driver took to wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuReport {
    /// All threads of the process, and of its server where the engine is one; unavailable where that of the server cannot be read.
    pub process: Result<CpuTimes, Unavailable>,
    /// The part that the driver's threads took: their calls into the engine are in it.
    pub callers_ns: u64,
    /// Open loop: what the driver's threads took to wait for due times; in none of the others.
    pub waiting_ns: u64,
}

impl CpuReport {
    /// User and kernel time.
    ///
    /// # Errors
    /// Why that of a server is not known.
    pub fn total_ns(&self) -> Counted {
        self.process.clone().map(|times| times.total_ns())
    }

    /// The part in the kernel.
    ///
    /// # Errors
    /// As [`CpuReport::total_ns`].
    pub fn kernel_ns(&self) -> Counted {
        self.process.clone().map(|times| times.kernel_ns)
    }

    /// What the engine's own threads took, or its server.
    ///
    /// # Errors
    /// As [`CpuReport::total_ns`].
    pub fn background_ns(&self) -> Counted {
        Ok(self.total_ns()?.saturating_sub(self.callers_ns))
    }

    fn merge(&mut self, other: Self) {
        match (&mut self.process, other.process) {
            (Ok(times), Ok(others)) => {
                times.user_ns += others.user_ns;
                times.kernel_ns += others.kernel_ns;
            }
            (process @ Ok(_), why) => *process = why,
            (Err(_), _) => {}
        }
        self.callers_ns += other.callers_ns;
        self.waiting_ns += other.waiting_ns;
    }
}

/// One phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseReport {
    /// The measured time.
    pub duration_ns: u64,
    /// Length of a window.
    pub interval_ns: u64,
    /// What was recorded, by window and kind.
    pub intervals: Vec<Interval>,
    /// Counts.
    pub tally: Tally,
    /// CPU time of the measured part.
    pub cpu: CpuReport,
    /// What the engine counted in the whole phase.
    pub counters: StoreCounters,
    /// A run in a closed loop: time of the driver's threads between the operations of the measured part, summed over them.
    pub between_ns: u64,
    /// A run in an open loop: of each operation that was due in the measured time and was begun, by how much it was begun after it was due
    /// and its thread was free.
    #[serde(with = "wire::histogram")]
    pub lateness: LatencyHistogram,
}

impl PhaseReport {
    /// Adds what another process measured at the same time.
    pub(crate) fn merge(&mut self, other: Self) {
        self.duration_ns = self.duration_ns.max(other.duration_ns);
        for theirs in other.intervals {
            let key = (theirs.index, theirs.kind);
            match self
                .intervals
                .binary_search_by_key(&key, |ours| (ours.index, ours.kind))
            {
                Ok(place) => {
                    self.intervals[place].completed += theirs.completed;
                    self.intervals[place].latency.merge(&theirs.latency);
                    self.intervals[place].service.merge(&theirs.service);
                }
                Err(place) => self.intervals.insert(place, theirs),
            }
        }
        self.tally.merge(&other.tally);
        self.cpu.merge(other.cpu);
        self.counters = self.counters.plus(&other.counters);
        self.between_ns += other.between_ns;
        self.lateness.merge(&other.lateness);
    }

    /// Operations that were completed in the measured time, whenever they were due.
    pub fn operations(&self) -> u64 {
        self.intervals.iter().map(|interval| interval.completed).sum()
    }

    /// Completed operations per second.
    pub fn throughput_per_second(&self) -> f64 {
        self.operations() as f64 * 1e9 / self.duration_ns.max(1) as f64
    }

    /// The kinds of operation that there were.
    pub fn kinds(&self) -> impl Iterator<Item = OperationKind> + '_ {
        let has = |kind: &OperationKind| self.intervals.iter().any(|interval| interval.kind == *kind);
        OperationKind::ALL.into_iter().filter(has)
    }

    /// Latencies of one kind over all windows; see [`Interval::latency`].
    pub fn latency(&self, kind: OperationKind) -> LatencyHistogram {
        self.merged(|interval| interval.kind == kind, |interval| &interval.latency)
    }

    /// Latencies of all kinds over all windows.
    pub fn latencies(&self) -> LatencyHistogram {
        self.merged(|_| true, |interval| &interval.latency)
    }

    /// Times from the real start, of all kinds; empty in a closed loop.
    pub fn service(&self) -> LatencyHistogram {
        self.merged(|_| true, |interval| &interval.service)
    }

    fn merged(
        &self,
        counts: impl Fn(&Interval) -> bool,
        of: impl Fn(&Interval) -> &LatencyHistogram,
    ) -> LatencyHistogram {
        let mut all = LatencyHistogram::new();
        for interval in self.intervals.iter().filter(|interval| counts(interval)) {
            all.merge(of(interval));
        }
        all
    }

    /// Operations of each whole window, in their order; a window in which nothing ended counts 0.
    pub fn windows(&self) -> Vec<u64> {
        let whole = (self.duration_ns / self.interval_ns.max(1)) as usize;
        let mut counts = vec![0; whole];
        for interval in &self.intervals {
            if let Some(count) = counts.get_mut(interval.index as usize) {
                *count += interval.completed;
            }
        }
        counts
    }

    /// Windows with less than a tenth of the median throughput; none where there are fewer than three.
    pub fn stalls(&self) -> Option<u64> {
        let windows = self.windows();
        let mut sorted = windows.clone();
        sorted.sort_unstable();
        let median = *sorted.get(sorted.len() / 2).filter(|_| sorted.len() > 2)?;
        Some(windows.iter().filter(|count| **count * 10 < median).count() as u64)
    }
}

/// The state of compaction between load and run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettlingReport {
    /// How long it was waited for.
    pub duration_ns: u64,
    /// What was left to do afterwards.
    pub left: CompactionState,
    /// What the engine counted from its opening until then.
    pub counters: StoreCounters,
    /// What its files held then.
    pub tables: Tables,
    /// Resident memory of the server then; none where the engine is in the process itself.
    pub server_resident_bytes: Option<Counted>,
}

/// What a process says of its load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadReport {
    /// The load with its flush.
    pub phase: PhaseReport,
    /// What the flush at its end took; the phase's time has it too.
    pub flush_ns: u64,
}

/// What a process says of its run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunReport {
    /// The run.
    pub phase: PhaseReport,
    /// What compaction had left to do at its end.
    pub left: CompactionState,
    /// Resident memory of the process, and of its server, at the highest.
    pub peak_resident_bytes: Counted,
}

/// What the block device counted in a stretch of time, whoever asked.
pub type DeviceTraffic = Result<Counters, Unavailable>;

/// Bytes of a stretch, from each point of view.
#[derive(Clone, Debug)]
pub struct Amounts {
    /// Keys and values that were stored.
    pub user_written_bytes: u64,
    /// Values that came back.
    pub user_read_bytes: u64,
    /// The engine's own counters.
    pub engine: StoreCounters,
    /// The block device's.
    pub device: DeviceTraffic,
}

/// One trial.
#[derive(Clone, Debug)]
pub struct KvReport {
    /// The engine with its version.
    pub identity: String,
    /// The files of the codecs that it was linked to, where they are libraries of the system.
    pub codec_libraries: Vec<PathBuf>,
    /// Time of opening the databases, in no other phase.
    pub opening_ns: u64,
    /// Time of closing them, in no other phase.
    pub closing_ns: u64,
    /// The load, of all processes.
    pub load: PhaseReport,
    /// The part of its time that the flush took, the longest of all processes.
    pub flush_ns: u64,
    /// The longest settling.
    pub settling_ns: u64,
    /// Bytes of compaction left before the run.
    pub debt_before: Counted,
    /// Whether nothing was running or pending then.
    pub is_settled: bool,
    /// Bytes of load and settling.
    pub load_amounts: Amounts,
    /// The block device's part of the load, until its sync had ended.
    pub loading_device: DeviceTraffic,
    /// The block device's part of the settling, until its sync had ended.
    pub settling_device: DeviceTraffic,
    /// What the engines' files held after settling.
    pub tables: Tables,
    /// Space that the databases took after settling.
    pub stored: Space,
    /// The same at the end, when they were closed.
    pub stored_after: Space,
    /// The run, of all processes.
    pub run: PhaseReport,
    /// Bytes of the run, warm-up included.
    pub run_amounts: Amounts,
    /// Bytes of compaction left after the run.
    pub debt_after: Counted,
    /// Resident memory of all servers after settling; none where the engine is in the processes themselves.
    pub server_resident_bytes: Option<Counted>,
    /// The highest resident memory of all processes together, servers included.
    pub peak_resident_bytes: Counted,
    /// Energy of the run, warm-up included.
    pub energy_j: Result<f64, Unavailable>,
    /// CPU time of the kernel's threads during the run and the sync after it: writeback, and what a filesystem compresses. Of the whole machine.
    pub kernel_threads_ns: Result<u64, Unavailable>,
    /// CPUs that the processes may use.
    pub cpus: usize,
    /// Share of the machine's CPU time that was busy from the request to run until the answer, whoever used it.
    pub machine_cpu_share: Result<f64, Unavailable>,
    /// Operations per second that an open loop's schedule asked for.
    pub offered_per_second: Option<f64>,
}
