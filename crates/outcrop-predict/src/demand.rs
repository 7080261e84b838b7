//! What one operation takes at each station, with and without a component.

use crate::application::{Application, Device, Split};
use crate::component::{Component, Direction, Place};
use crate::curve::{Curve, Read};
use crate::model::NotPredictable;
use std::fmt;

/// What can limit a throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Station {
    /// The clients' own waiting: no station is full.
    Clients,
    /// The cores.
    Cpu,
    /// The threads that flush and compact.
    BackgroundThreads,
    /// The component, compressing.
    Compress,
    /// The component, decompressing.
    Decompress,
    /// The component, where both directions share its units.
    Component,
    /// Reads of the drive.
    DeviceReads,
    /// Writes to the drive.
    DeviceWrites,
}

impl Station {
    /// What limits a throughput, behind "limited by": `the cores`.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Clients => "the clients' own waiting",
            Self::Cpu => "the cores",
            Self::BackgroundThreads => "the threads that flush and compact",
            Self::Compress => "its compression",
            Self::Decompress => "its decompression",
            Self::Component => "its compression and decompression together",
            Self::DeviceReads => "reads of the drive",
            Self::DeviceWrites => "writes to the drive",
        }
    }
}

impl fmt::Display for Station {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Clients => "clients",
            Self::Cpu => "cpu",
            Self::BackgroundThreads => "background threads",
            Self::Compress => "compress",
            Self::Decompress => "decompress",
            Self::Component => "compress and decompress",
            Self::DeviceReads => "device reads",
            Self::DeviceWrites => "device writes",
        })
    }
}

/// What one operation takes of a station, all of its units together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StationLoad {
    /// Which one.
    pub station: Station,
    /// Time per operation divided by the units, in nanoseconds: its inverse is the most that the station can do.
    pub demand_ns: f64,
}

/// An operation with a component, or without.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    /// What a client waits for the component, in nanoseconds.
    pub(crate) wait_ns: f64,
    /// Requests to the component that a client waits for.
    requests: f64,
    /// The part of it that takes CPU time.
    pub(crate) wait_on_cpu_ns: f64,
    /// CPU time of the component per operation, background included.
    pub(crate) cpu_ns: f64,
    /// Whether there is more CPU time of it, which nobody published.
    pub(crate) is_cpu_unknown: bool,
    /// Stations with a known limit.
    pub(crate) stations: Vec<StationLoad>,
    /// Queues of the component in the clients' path: time at a server, and servers.
    pub(crate) queues: Vec<(f64, u32)>,
    /// How far the waiting may be off, in nanoseconds.
    pub(crate) wait_error_ns: f64,
    /// What was assumed.
    pub(crate) assumptions: Vec<String>,
}

/// How long a client takes to go on after a request to an accelerator that it does not poll, where the file does not say it. Measured once, on a
/// virtual machine. A library that sleeps between polls takes as long: QATzip sleeps 10 µs and more, to which the kernel adds up to 50.
///
/// *Source*: `benchmarks/record/prediction.md`, 2026-11-23; QATzip, `g_polling_interval`; Linux, `PR_SET_TIMERSLACK`.
const USUAL_WAKE_NS: f64 = 43_000.0;

/// Blocks of one direction per operation, and the figures of the component for them.
struct Work<'a> {
    name: &'static str,
    station: Station,
    blocks: Split,
    block_bytes: Option<f64>,
    direction: &'a Direction,
}

/// Time of one block, and what the component can do at most.
struct BlockTime {
    latency: Read,
    /// Time per block of all units together, where a limit is known.
    at_most: Option<f64>,
    units: f64,
    /// Whether it is a throughput that nobody said a number of cores with.
    is_by_one_core: bool,
}

impl Demand {
    /// What an operation takes with this component.
    pub(crate) fn with(application: &Application, component: &Component) -> Result<Self, NotPredictable> {
        let mut demand = Self::default();
        let mut missing = NotPredictable::default();
        let mut background_ns = 0.0;
        for work in works(application, component, &mut demand.assumptions, &mut missing) {
            if work.blocks.total() == 0.0 {
                continue;
            }
            match block_time(&work, component) {
                Ok(time) => background_ns += demand.add(&work, &time, component),
                Err(reason) => missing.because(reason),
            }
        }
        if component.place == Place::Cpu
            && background_ns > 0.0
            && application.cores.is_none()
            && application.background_threads.is_none()
        {
            missing.because(
                "what limits background work (cores, with cpu or cpu_utilisation, or background_threads)",
            );
        }
        missing.or_nothing()?;
        demand.add_wake(application, component);
        demand.note_handing_over(application, component);
        if component.is_shared {
            demand.share_units();
        }
        demand.add_host(application, Some(component), background_ns);
        Ok(demand)
    }

    /// What an operation takes without compression.
    pub(crate) fn without(application: &Application) -> Self {
        let mut demand = Self::default();
        demand.add_host(application, None, 0.0);
        demand
    }

    /// Adds the blocks of one direction; the time that background threads take for them.
    fn add(&mut self, work: &Work<'_>, time: &BlockTime, component: &Component) -> f64 {
        let latency_ns = time.latency.value;
        let wait_ns = work.blocks.foreground * latency_ns;
        let on_cpu = match component.place {
            Place::Cpu => latency_ns,
            _ if component.is_polled => latency_ns + component.cpu_per_block_ns.unwrap_or(0.0),
            _ => component.cpu_per_block_ns.unwrap_or(0.0),
        };
        let is_handed_over = component.place == Place::Accelerator && !component.is_polled;
        self.is_cpu_unknown |= is_handed_over && component.cpu_per_block_ns.is_none();
        self.requests += work.blocks.foreground;
        self.wait_ns += wait_ns;
        self.wait_error_ns += wait_ns * time.latency.relative_error;
        self.cpu_ns += work.blocks.total() * on_cpu;
        if component.place == Place::Cpu || component.is_polled {
            self.wait_on_cpu_ns += wait_ns;
        }
        if let Some(at_most) = time.at_most {
            self.stations.push(StationLoad {
                station: work.station,
                demand_ns: work.blocks.total() * at_most,
            });
            if component.place != Place::Cpu {
                let served = (at_most * time.units).min(latency_ns);
                let queue = (
                    work.blocks.foreground * served,
                    time.units.round().max(1.0) as u32,
                );
                self.queues.push(queue);
            }
        }
        if time.latency.is_extrapolated {
            self.assumptions.push(format!(
                "no figure to {} blocks of that size: taken from other sizes",
                work.name
            ));
        }
        if time.is_by_one_core {
            self.assumptions.push(format!(
                "the throughput at which {} can {} is that of one core: units are not given",
                component.name, work.name
            ));
        }
        match component.place {
            // A drive's queue is deep enough for writers that do not wait.
            Place::Drive => 0.0,
            Place::Cpu | Place::Accelerator => work.blocks.background * latency_ns,
        }
    }

    /// Adds what a request to an accelerator takes its client beyond the accelerator's own time. Background threads may have several requests
    /// under way, and need not wake for each.
    fn add_wake(&mut self, application: &Application, component: &Component) {
        let is_asleep = component.place == Place::Accelerator && !component.is_polled;
        if !is_asleep || self.requests == 0.0 {
            return;
        }
        let name = &component.name;
        let wake_ns = application.wake_ns.unwrap_or(USUAL_WAKE_NS);
        self.wait_ns += self.requests * wake_ns;
        if application.wake_ns.is_none() {
            // None at all, or twice that.
            self.wait_error_ns += self.requests * wake_ns;
            self.assumptions.push(format!(
                "a client goes on {:.0} µs after {name} is done, as a waking thread did on a virtual machine: wake_time is not given (0 where it \
                 polls)",
                wake_ns / 1e3
            ));
        }
    }

    /// Says what CPU time is not counted.
    fn note_handing_over(&mut self, application: &Application, component: &Component) {
        if self.is_cpu_unknown && application.cores.is_some() {
            self.assumptions.push(format!(
                "the CPU time of handing blocks to {} is not counted: cpu_per_block is not given",
                component.name
            ));
        }
    }

    /// Both directions on the same units: what they take adds up.
    fn share_units(&mut self) {
        let is_own = |load: &StationLoad| matches!(load.station, Station::Compress | Station::Decompress);
        let demand_ns = self
            .stations
            .iter()
            .filter(|load| is_own(load))
            .map(|load| load.demand_ns);
        let demand_ns: f64 = demand_ns.sum();
        self.stations.retain(|load| !is_own(load));
        if demand_ns > 0.0 {
            let station = Station::Component;
            self.stations.push(StationLoad { station, demand_ns });
        }
        let time_ns: f64 = self.queues.iter().map(|(time_ns, _)| time_ns).sum();
        if let Some(units) = self.queues.iter().map(|(_, units)| *units).max() {
            self.queues = vec![(time_ns, units)];
        }
    }

    /// Adds cores, background threads and the drive.
    fn add_host(&mut self, application: &Application, component: Option<&Component>, background_ns: f64) {
        let own_ns = application.cpu_ns.unwrap_or_default();
        if let Some(cores) = application.cores {
            self.push(Station::Cpu, (own_ns.total() + self.cpu_ns) / cores);
            if application.cpu_ns.is_none() {
                let text = "the application's CPU time is not given: cores are counted for the codec alone";
                self.assumptions.push(text.to_owned());
            }
        }
        if let Some(threads) = application.background_threads {
            self.push(
                Station::BackgroundThreads,
                (own_ns.background + background_ns) / threads,
            );
        }
        let stored = component.map_or(1.0, |component| stored_share(application, component));
        let bytes = |device: Option<Device>| device.map(|device| device.requests.total() * device.size_bytes);
        let drive = [
            (
                Station::DeviceReads,
                bytes(application.device_reads),
                application.bandwidth.read,
            ),
            (
                Station::DeviceWrites,
                bytes(application.device_writes),
                application.bandwidth.write,
            ),
        ];
        for (station, bytes, bandwidth) in drive {
            if let (Some(bytes), Some(bandwidth)) = (bytes, bandwidth) {
                self.push(station, bytes * stored / bandwidth * 1e9);
            }
        }
    }

    fn push(&mut self, station: Station, demand_ns: f64) {
        if demand_ns > 0.0 {
            self.stations.push(StationLoad { station, demand_ns });
        }
    }

    /// The station that would be full first.
    pub(crate) fn fullest(&self) -> Option<StationLoad> {
        let loads = self.stations.iter().copied();
        loads.max_by(|one, other| one.demand_ns.total_cmp(&other.demand_ns))
    }

    /// What one operation takes of a station.
    pub(crate) fn of(&self, station: Station) -> f64 {
        let load = self.stations.iter().find(|load| load.station == station);
        load.map_or(0.0, |load| load.demand_ns)
    }
}

/// The part of the uncompressed bytes that reaches the drive. A drive that compresses receives all of them.
pub(crate) fn stored_share(application: &Application, component: &Component) -> f64 {
    match (component.place, component.ratio_at(application.block_size_bytes)) {
        (Place::Cpu | Place::Accelerator, Some(ratio)) if ratio > 0.0 => 1.0 / ratio,
        _ => 1.0,
    }
}

/// The blocks of both directions, as the component sees them.
fn works<'a>(
    application: &Application,
    component: &'a Component,
    assumptions: &mut Vec<String>,
    missing: &mut NotPredictable,
) -> [Work<'a>; 2] {
    let (reads, writes) = (application.device_reads, application.device_writes);
    if application.decompressed.is_none()
        && application.compressed.is_none()
        && reads.is_none()
        && writes.is_none()
    {
        missing.because("the blocks that an operation decompresses and compresses (decompressed_blocks, compressed_blocks)");
    }
    if component.place == Place::Drive
        && let Some(reason) = &application.device_unknown
    {
        missing.because(format!(
            "the bytes of an operation that reach the drive ({reason})"
        ));
    }
    let mut blocks = |of_device: Option<Device>, own: Option<Split>, what: &str| match of_device {
        Some(device) if component.place == Place::Drive => (device.requests, Some(device.size_bytes)),
        _ => {
            if component.place == Place::Drive && own.is_some_and(|own| own.total() > 0.0) {
                assumptions.push(format!("device {what}s are not given: each block counts as one"));
            }
            (own.unwrap_or_default(), application.block_size_bytes)
        }
    };
    let (decompressed, read_bytes) = blocks(reads, application.decompressed, "read");
    let (compressed, write_bytes) = blocks(writes, application.compressed, "write");
    [
        Work {
            name: "decompress",
            station: Station::Decompress,
            blocks: decompressed,
            block_bytes: read_bytes,
            direction: &component.decompress,
        },
        Work {
            name: "compress",
            station: Station::Compress,
            blocks: compressed,
            block_bytes: write_bytes,
            direction: &component.compress,
        },
    ]
}

/// The time of one block, from a latency, or from a throughput and the units that gave it.
fn block_time(work: &Work<'_>, component: &Component) -> Result<BlockTime, String> {
    let name = work.name;
    let Some(bytes) = work.block_bytes else {
        return Err("the block size (block_size)".to_owned());
    };
    let Direction {
        latency,
        throughput,
        units,
    } = work.direction;
    let of_all = throughput
        .as_ref()
        .map(|curve: &Curve| curve.block_time_at(bytes));
    let is_by_one_core = component.place == Place::Cpu && latency.is_none() && units.is_none();
    let latency = match (latency, of_all, units) {
        (Some(latency), ..) => latency.time_at(bytes),
        (None, Some(all), Some(units)) => Read {
            value: all.value * units,
            ..all
        },
        // The speed of a codec is one core's unless the file says how many gave it.
        (None, Some(all), None) if is_by_one_core => all,
        (None, Some(_), None) => {
            return Err(format!(
                "how long {} takes to {name} one block: {name}_latency, or units with {name}_throughput",
                component.name
            ));
        }
        (None, None, _) => {
            return Err(format!(
                "how fast {} can {name}: {name}_latency or {name}_throughput",
                component.name
            ));
        }
    };
    let at_most = match (of_all, units) {
        (Some(_), None) if is_by_one_core => None,
        (Some(all), _) => Some(all.value),
        (None, Some(units)) if component.place != Place::Cpu => Some(latency.value / units),
        _ => None,
    };
    let units = units.unwrap_or(1.0);
    Ok(BlockTime {
        latency,
        at_most,
        units,
        is_by_one_core,
    })
}
