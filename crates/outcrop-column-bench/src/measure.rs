//! The measuring loop: an operation again and again, each against the clock.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_probe::{Clock, CpuTime};

use crate::error::BenchError;
use crate::report::{BenchReport, SizeReport};
use crate::spec::BenchSpec;

/// Where trials run.
#[derive(Clone, Copy, Debug)]
pub struct Site<'s> {
    /// Where files without a name are made.
    pub directory: &'s Path,
    /// The clock.
    pub clock: &'s Clock,
    /// Raised when the user wants to stop.
    pub stop: &'s AtomicBool,
}

/// What a loop saw.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) operations: u64,
    pub(crate) rows: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) latency: LatencyHistogram,
}

impl Measured {
    /// A report of what every operation has.
    pub(crate) fn report(self, size: SizeReport) -> BenchReport {
        BenchReport {
            size,
            operations: self.operations,
            rows: self.rows,
            elapsed_ns: self.elapsed_ns,
            cpu_ns: self.cpu_ns,
            latency: self.latency,
            encode_peak_memory_bytes: None,
            open_ns: None,
            cold_reads: None,
            kernels: None,
        }
    }
}

/// Warms up, then does `operation` until the time is over, at least once. It is given a running number and
/// returns how many rows it visited.
///
/// *Cost*: two readings of the clock and 2 ns an operation, about 30 ns, which are in its latency once.
pub(crate) fn repeat(
    spec: &BenchSpec,
    site: &Site<'_>,
    mut operation: impl FnMut(u64) -> Result<u64, BenchError>,
) -> Result<Measured, BenchError> {
    let clock = site.clock;
    let mut number = 0;
    let warm_up_end = clock.ticks() + clock.ticks_in(spec.warm_up);
    while clock.ticks() < warm_up_end {
        stopped(site)?;
        operation(number)?;
        number += 1;
    }
    let mut measured = Measured {
        operations: 0,
        rows: 0,
        elapsed_ns: 0,
        cpu_ns: 0,
        latency: LatencyHistogram::new(),
    };
    let cpu = CpuTime::now();
    let start = clock.ticks();
    let end = start + clock.ticks_in(spec.duration);
    let mut before = start;
    loop {
        measured.rows += operation(number)?;
        let after = clock.ticks();
        measured.latency.record(clock.nanos(after - before));
        measured.operations += 1;
        number += 1;
        if after >= end {
            measured.elapsed_ns = clock.nanos(after - start);
            break;
        }
        stopped(site)?;
        before = clock.ticks();
    }
    measured.cpu_ns = CpuTime::now().since(&cpu).total_ns();
    Ok(measured)
}

/// Ends a trial that the user, or the time that the run may take, wants to end.
pub(crate) fn stopped(site: &Site<'_>) -> Result<(), BenchError> {
    if site.stop.load(Ordering::Relaxed) {
        Err(BenchError::Interrupted)
    } else {
        Ok(())
    }
}
