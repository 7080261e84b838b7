//! [`Application`]: one operation of a program without compression.

/// An amount per operation: what a client waits for, and what is done behind its back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Split {
    /// In the client's path.
    pub foreground: f64,
    /// By other threads: flush, compaction, writeback.
    pub background: f64,
}

impl Split {
    /// Both parts.
    pub const fn total(self) -> f64 {
        self.foreground + self.background
    }
}

/// Requests to the drive per operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// How many.
    pub requests: Split,
    /// Uncompressed bytes of each.
    pub size_bytes: f64,
}

/// What the drive can do, in bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bandwidth {
    /// Reading.
    pub read: Option<f64>,
    /// Writing.
    pub write: Option<f64>,
}

/// What a published throughput contains that is no operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    /// Time of opening and closing, in nanoseconds; none where it was not published.
    pub time_ns: Option<f64>,
    /// Operations of the run, by all clients.
    pub operations: Option<f64>,
}

/// Readings of a power meter, in watts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// Before the load.
    pub idle: f64,
    /// Under the load.
    pub loaded: f64,
    /// The meter's step.
    pub step: f64,
}

/// One operation of a program without compression, with the load that it was measured under.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Application {
    /// What people call it.
    pub name: String,
    /// Clients that each wait for their operation (threads, connections, or requests in flight).
    pub clients: Option<f64>,
    /// Numbers of clients to predict for; the measured one where empty.
    pub predict_clients: Vec<u32>,
    /// Operations per second with that many clients.
    pub throughput: Option<f64>,
    /// How far the throughput may be off, as a fraction.
    pub throughput_error: f64,
    /// Mean time of an operation with that many clients, in nanoseconds.
    pub latency_ns: Option<f64>,
    /// Time of an operation while nothing else runs, in nanoseconds.
    pub unloaded_latency_ns: Option<f64>,
    /// Time between an operation's end and the client's next one, in nanoseconds.
    pub think_time_ns: f64,
    /// CPU time of an operation, in nanoseconds.
    pub cpu_ns: Option<Split>,
    /// How busy the cores were under this load, 0 to 1: gives the CPU time where that is not known itself.
    pub cpu_utilisation: Option<f64>,
    /// Cores that all of it runs on.
    pub cores: Option<f64>,
    /// Threads that do the background work.
    pub background_threads: Option<f64>,
    /// Uncompressed bytes of a block.
    pub block_size_bytes: Option<f64>,
    /// Blocks decompressed per operation.
    pub decompressed: Option<Split>,
    /// Blocks compressed per operation.
    pub compressed: Option<Split>,
    /// Reads of the drive.
    pub device_reads: Option<Device>,
    /// Writes to the drive.
    pub device_writes: Option<Device>,
    /// Bytes that an operation moves, for throughputs that are published in bytes per second.
    pub operation_size_bytes: Option<f64>,
    /// Time between the end of a request to an accelerator and the moment when its waiter goes on, in nanoseconds; 0 where it polls.
    pub wake_ns: Option<f64>,
    /// Why nobody knows what reaches the drive, of a load that was measured: then nothing is predicted of a drive. Where it is none, and reads or
    /// writes are not given either, each block counts as one, which is said as an assumption.
    pub device_unknown: Option<String>,
    /// Time that an operation waits for the drive, in nanoseconds.
    pub device_wait_ns: Option<f64>,
    /// What the drive can do.
    pub bandwidth: Bandwidth,
    /// Said of a throughput that contains more than operations.
    pub opening: Option<Opening>,
    /// Power under this load.
    pub power: Option<Power>,
    /// Who published or measured the figures.
    pub source: Option<String>,
}
