//! What an operation cost, read at its edges: the device's counters, the process's own account, CPU time of both sides.

use outcrop_measure::metric::Unavailable;
use outcrop_probe::{BlockDevice, Counters, KernelThreads, MachineCpu, ProcessIo, process_time_ns};

/// What an operation cost, over all of its passes.
#[derive(Clone, Debug)]
pub struct Costs {
    /// What reached the block device below the filesystem.
    pub device: Result<Counters, Unavailable>,
    /// Bytes that were fetched from storage for this process, by its own account.
    pub own_read_bytes: Result<u64, Unavailable>,
    /// CPU time of this process in the operations, from the common start to the end of the last one.
    pub process_ns: u64,
    /// Its other CPU time between the readings: threads that begin and end, memory.
    pub around_ns: u64,
    /// CPU time of the kernel's threads.
    pub kernel_ns: Result<u64, Unavailable>,
    /// CPU time of the whole machine, in ticks of 10 ms.
    pub machine_ns: Result<u64, Unavailable>,
}

impl Costs {
    /// Nothing yet.
    pub const NONE: Self = Self {
        device: Ok(NO_COUNTERS),
        own_read_bytes: Ok(0),
        process_ns: 0,
        around_ns: 0,
        kernel_ns: Ok(0),
        machine_ns: Ok(0),
    };

    /// CPU time of the process and of the kernel's threads.
    ///
    /// # Errors
    /// That of the kernel's threads is not known.
    pub fn cpu_ns(&self) -> Result<u64, Unavailable> {
        self.kernel_ns
            .clone()
            .map(|kernel_ns| kernel_ns + self.process_ns)
    }

    /// CPU time of the rest of the machine.
    ///
    /// # Errors
    /// That of the kernel's threads or of the whole machine is not known.
    pub fn foreign_ns(&self) -> Result<u64, Unavailable> {
        let known_ns = self.cpu_ns()? + self.around_ns;
        Ok(self.machine_ns.clone()?.saturating_sub(known_ns))
    }

    /// Adds those of another pass.
    pub fn add(&mut self, other: &Self) {
        self.device = match (&self.device, &other.device) {
            (Ok(ours), Ok(theirs)) => Ok(sum(ours, theirs)),
            (Err(why), _) | (_, Err(why)) => Err(why.clone()),
        };
        self.own_read_bytes = both(&self.own_read_bytes, &other.own_read_bytes);
        self.process_ns += other.process_ns;
        self.around_ns += other.around_ns;
        self.kernel_ns = both(&self.kernel_ns, &other.kernel_ns);
        self.machine_ns = both(&self.machine_ns, &other.machine_ns);
    }
}

const NO_COUNTERS: Counters = Counters {
    reads: 0,
    read_bytes: 0,
    writes: 0,
    written_bytes: 0,
    discards: 0,
    discarded_bytes: 0,
    flushes: 0,
    in_flight: 0,
    busy_ms: 0,
    weighted_ms: 0,
};

fn both(ours: &Result<u64, Unavailable>, theirs: &Result<u64, Unavailable>) -> Result<u64, Unavailable> {
    Ok(ours.clone()? + theirs.clone()?)
}

fn sum(ours: &Counters, theirs: &Counters) -> Counters {
    Counters {
        reads: ours.reads + theirs.reads,
        read_bytes: ours.read_bytes + theirs.read_bytes,
        writes: ours.writes + theirs.writes,
        written_bytes: ours.written_bytes + theirs.written_bytes,
        discards: ours.discards + theirs.discards,
        discarded_bytes: ours.discarded_bytes + theirs.discarded_bytes,
        flushes: ours.flushes + theirs.flushes,
        in_flight: theirs.in_flight,
        busy_ms: ours.busy_ms + theirs.busy_ms,
        weighted_ms: ours.weighted_ms + theirs.weighted_ms,
    }
}

/// The readings at one edge. *Cost*: about 4 ms, outside of the measured time.
#[derive(Debug)]
pub(crate) struct Edge {
    device: Result<Counters, Unavailable>,
    own: Result<ProcessIo, Unavailable>,
    /// Before the other readings, which cost CPU time themselves, and after them.
    process_ns: [u64; 2],
    kernel: Result<KernelThreads, Unavailable>,
    machine: Result<u64, Unavailable>,
}

impl Edge {
    /// Reads everything now.
    pub(crate) fn now(device: &Result<BlockDevice, Unavailable>) -> Self {
        let first_ns = process_ns();
        let device = device
            .as_ref()
            .map_err(Clone::clone)
            .and_then(BlockDevice::counters);
        let own = ProcessIo::now();
        let (kernel, machine) = (KernelThreads::now(), MachineCpu::now().map(|cpu| cpu.busy_ns));
        Self {
            device,
            own,
            kernel,
            machine,
            process_ns: [first_ns, process_ns()],
        }
    }

    /// What was used since `earlier`, by the process in all: see [`Phase::cost`](crate::Phase).
    pub(crate) fn since(&self, earlier: &Self) -> Costs {
        Costs {
            device: difference(&self.device, &earlier.device, Counters::since),
            own_read_bytes: difference(&self.own, &earlier.own, |now, before| {
                now.read_bytes.saturating_sub(before.read_bytes)
            }),
            process_ns: self.process_ns[0].saturating_sub(earlier.process_ns[1]),
            around_ns: 0,
            kernel_ns: difference(&self.kernel, &earlier.kernel, KernelThreads::since),
            machine_ns: difference(&self.machine, &earlier.machine, |now, before| {
                now.saturating_sub(*before)
            }),
        }
    }
}

/// CPU time of this process so far, that of the kernel's io_uring workers for it included. *Cost*: one system call.
pub(crate) fn process_ns() -> u64 {
    let (user_ns, system_ns) = process_time_ns();
    user_ns + system_ns
}

fn difference<T, D>(
    now: &Result<T, Unavailable>,
    before: &Result<T, Unavailable>,
    of: impl Fn(&T, &T) -> D,
) -> Result<D, Unavailable> {
    match (now, before) {
        (Ok(now), Ok(before)) => Ok(of(now, before)),
        (Err(why), _) | (_, Err(why)) => Err(why.clone()),
    }
}
