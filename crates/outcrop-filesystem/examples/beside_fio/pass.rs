//! What one pass of one tool said and cost.

use std::error::Error;

use outcrop_filesystem::{Costs, Prepared};
use outcrop_measure::seed::Seed;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Where a tool's reader runs. The kernel's threads go where the kernel likes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// On this CPU.
    Bound(usize),
    /// Where the scheduler likes.
    Free,
}

/// One pass.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    pub(crate) iops: f64,
    pub(crate) operations: f64,
    /// CPU time of the reader, from before its first read until after its last.
    pub(crate) process_ns: f64,
    /// The same as fio prints it, which cuts it off; of ours there is nothing cut off.
    pub(crate) printed_ns: f64,
    pub(crate) kernel_ns: f64,
    pub(crate) read_bytes: f64,
    /// Interrupts by which one CPU wakes or calls another.
    pub(crate) interrupts: f64,
}

impl Pass {
    /// One pass of ours.
    ///
    /// The main thread is bound meanwhile, and its reader with it; it waits for the reader and does nothing.
    pub(crate) fn of_ours(
        prepared: &Prepared<'_>,
        placement: Placement,
        cpus: &[usize],
        seed: Seed,
    ) -> Result<Self, Box<dyn Error>> {
        if let Placement::Bound(cpu) = placement {
            bind(&[cpu])?;
        }
        let before = interrupts();
        let phase = prepared.pass(seed);
        let interrupts = interrupts() - before;
        bind(cpus)?;
        let phase = phase?;
        let process_ns = phase.costs.process_ns as f64;
        Self::of(
            phase.per_second(),
            phase.operations,
            (process_ns, process_ns),
            (&phase.costs, interrupts),
        )
    }

    /// A pass whose reader took `process_ns`, and as its tool prints it `printed_ns`.
    pub(crate) fn of(
        iops: f64,
        operations: u64,
        (process_ns, printed_ns): (f64, f64),
        (costs, interrupts): (&Costs, f64),
    ) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            iops,
            operations: operations.max(1) as f64,
            process_ns,
            printed_ns,
            kernel_ns: costs.kernel_ns.clone()? as f64,
            read_bytes: costs.device.clone()?.read_bytes as f64,
            interrupts,
        })
    }

    /// The same without what a tool costs that starts and reads a single block.
    pub(crate) fn less(self, start: &Self) -> Self {
        Self {
            kernel_ns: self.kernel_ns - start.kernel_ns,
            read_bytes: self.read_bytes - start.read_bytes,
            interrupts: self.interrupts - start.interrupts,
            ..self
        }
    }

    pub(crate) fn process_us(&self) -> f64 {
        self.process_ns / self.operations / 1e3
    }

    pub(crate) fn printed_us(&self) -> f64 {
        self.printed_ns / self.operations / 1e3
    }

    pub(crate) fn kernel_us(&self) -> f64 {
        self.kernel_ns / self.operations / 1e3
    }

    pub(crate) fn amplification(&self) -> f64 {
        self.read_bytes / (self.operations * 4096.0)
    }

    pub(crate) fn interrupts_each(&self) -> f64 {
        self.interrupts / self.operations
    }
}

/// Binds this thread to these CPUs, with the threads and processes that it starts from now on.
fn bind(cpus: &[usize]) -> Result<(), Box<dyn Error>> {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    Ok(sched_setaffinity(None, &set)?)
}

/// Interrupts so far that CPUs sent to each other, to wake one (RES) or to have it do something (CAL); not a number where the machine
/// names them otherwise.
pub(crate) fn interrupts() -> f64 {
    let text = std::fs::read_to_string("/proc/interrupts").unwrap_or_default();
    let mut rows = text.lines().map(str::trim_start).filter(|line| {
        let name = line.split(':').next();
        matches!(name, Some("RES" | "CAL"))
    });
    let sum = |line: &str| -> f64 {
        let counts = line.split_ascii_whitespace();
        counts.filter_map(|count| count.parse::<f64>().ok()).sum()
    };
    rows.next()
        .map_or(f64::NAN, |first| sum(first) + rows.map(sum).sum::<f64>())
}
