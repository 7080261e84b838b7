//! How long a run will take and what it will write: arithmetic before the first operation.

use std::collections::BTreeSet;
use std::time::Duration;

use outcrop_measure::steady_state::WINDOW_ROUNDS;

use crate::cell::{Cell, TrialOptions};

/// What one step (a preparation, a trial) is expected to cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// Time.
    pub time: Duration,
    /// Bytes written to the subject where its speed decides, by a fast device.
    pub bytes_written: u64,
    /// Bytes that a usual device would take in that time.
    pub likely_bytes_written: u64,
    /// Bytes that even a slow device would take in that time.
    pub least_bytes_written: u64,
}

/// A device assumed for an estimate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AssumedDevice {
    /// Its bandwidth.
    pub(crate) bytes_per_second: f64,
    /// Latency of a single access.
    pub(crate) latency: Duration,
}

impl AssumedDevice {
    /// The fastest one: an upper bound on what trials write.
    pub(crate) const FASTEST: Self = Self {
        bytes_per_second: 3e9,
        latency: Duration::from_micros(20),
    };
    /// A usual SSD: between a SATA drive and a fast NVMe drive.
    pub(crate) const USUAL: Self = Self {
        bytes_per_second: 500e6,
        latency: Duration::from_micros(80),
    };
    /// A slow one: a disk, or a small volume of a cloud.
    pub(crate) const SLOW: Self = Self {
        bytes_per_second: 125e6,
        latency: Duration::from_millis(1),
    };
}

/// What a whole run is expected to cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Different cells.
    pub cells: usize,
    /// Trials: every repetition of every cell.
    pub trials: usize,
    /// Time to make the subjects.
    pub preparation: Duration,
    /// Time of all trials: warm-up, measured time and what lies between.
    pub measuring: Duration,
    /// Bytes written to make the subjects, exact.
    pub bytes_written_preparing: u64,
    /// Bytes that the trials would write to a fast device: see [`Self::ASSUMPTION`].
    pub bytes_written_measuring: u64,
    /// Bytes that the trials would write to a usual device: see [`Self::ASSUMPTION`].
    pub likely_bytes_written_measuring: u64,
    /// Bytes that the trials would write even to a slow device: see [`Self::SLOW`]. Rounds that end when they are steady are as few as that
    /// takes.
    pub least_bytes_written_measuring: u64,
}

impl Estimate {
    /// How bytes and times are estimated, in a clause for `--dry-run`.
    pub const ASSUMPTION: &str = "assuming 80 µs latency and 500 MB/s for a usual device, and 20 µs and 3 GB/s for a fast one; files are created at 200 MB/s";
    /// The slow device of an estimate in words.
    pub const SLOW: &str = "125 MB/s and 1 ms latency (a slow drive)";
    /// The usual one.
    pub const USUAL: &str = "500 MB/s and 80 µs latency (a usual SSD)";
    /// The same of what takes a processor's time, for runs of other layers than devices.
    pub const ASSUMPTION_OF_CPU: &str = "codecs and columns run as on a slow core";

    /// Preparation and trials together.
    pub fn total(&self) -> Duration {
        self.preparation + self.measuring
    }

    /// All bytes that would be written to a fast device.
    pub const fn bytes_written(&self) -> u64 {
        self.bytes_written_preparing
            .saturating_add(self.bytes_written_measuring)
    }

    /// All bytes that would be written to a usual device.
    pub const fn likely_bytes_written(&self) -> u64 {
        self.bytes_written_preparing
            .saturating_add(self.likely_bytes_written_measuring)
    }

    /// All bytes that would be written even to a slow device.
    pub const fn least_bytes_written(&self) -> u64 {
        self.bytes_written_preparing
            .saturating_add(self.least_bytes_written_measuring)
    }
}

/// Adds up what the cells of a run cost; a subject that several plans share is prepared once.
pub(crate) fn estimate(cells: &[Cell]) -> Estimate {
    let mut known = BTreeSet::new();
    let mut preparation = Vec::new();
    for cell in cells {
        if known.insert((cell.layer.name(), &cell.subject)) {
            let is_like = |other: &&Cell| other.layer == cell.layer && other.subject == cell.subject;
            let its: Vec<&Cell> = cells.iter().filter(is_like).collect();
            preparation.push((cell.layer.forecast_preparation(&cell.subject, &its), 1, 1));
        }
    }
    let preparation = sum(preparation.into_iter());
    let trials = sum(cells.iter().map(|cell| {
        let forecast = cell.layer.forecast_trial(cell);
        (forecast, cell.trial.repetitions, fewest(&cell.trial))
    }));
    Estimate {
        cells: cells.len(),
        trials: cells.iter().map(|cell| cell.trial.repetitions as usize).sum(),
        preparation: preparation.time,
        measuring: trials.time,
        bytes_written_preparing: preparation.bytes_written,
        bytes_written_measuring: trials.bytes_written,
        likely_bytes_written_measuring: trials.likely_bytes_written,
        least_bytes_written_measuring: trials.least_bytes_written,
    }
}

/// How many trials of a cell there are at least.
fn fewest(trial: &TrialOptions) -> u32 {
    match trial.stops_when_steady {
        true => trial.repetitions.min(WINDOW_ROUNDS as u32),
        false => trial.repetitions,
    }
}

/// Adds up forecasts with how often each is, and how often at least.
fn sum(forecasts: impl Iterator<Item = (Forecast, u32, u32)>) -> Forecast {
    forecasts.fold(Forecast::default(), |sum, (forecast, count, fewest)| Forecast {
        time: sum.time + forecast.time * count,
        bytes_written: sum
            .bytes_written
            .saturating_add(forecast.bytes_written.saturating_mul(count.into())),
        likely_bytes_written: sum
            .likely_bytes_written
            .saturating_add(forecast.likely_bytes_written.saturating_mul(count.into())),
        least_bytes_written: sum
            .least_bytes_written
            .saturating_add(forecast.least_bytes_written.saturating_mul(fewest.into())),
    })
}
