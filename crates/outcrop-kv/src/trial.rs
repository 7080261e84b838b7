//! One trial: processes with a database each, their phases together, and what the device saw meanwhile.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_measure::Rate;
use outcrop_measure::metric::Unavailable;
use outcrop_probe::energy::Meter;
use outcrop_probe::{BlockDevice, Clock, Counters, KernelThreads, MachineCpu};

use crate::answers::{self, Watch};
use crate::drive::Timing;
use crate::error::KvError;
use crate::folder::DatabaseFolder;
use crate::guard::Guard;
use crate::memory_file;
use crate::memory_limit::MemoryLimit;
use crate::page_cache;
use crate::process::{Worker, WorkerProgram};
use crate::report::{Amounts, DeviceTraffic, KvReport, LoadReport, PhaseReport, RunReport, SettlingReport};
use crate::spec::{KvSpec, PageCache, ValueSource};
use crate::store::{Counted, StoreCounters};
use crate::tables::Tables;
use crate::usage::Space;
use crate::wire::{Answer, Request};

/// From the word to start until the start: all processes have read it by then.
const START_WAIT: Duration = Duration::from_millis(20);
/// More of them take longer.
const START_WAIT_PER_PROCESS: Duration = Duration::from_millis(1);
/// A database whose threads all wait for so long, and not for a CPU or a device, is given up: longer than any pause between two operations.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Where a trial takes place.
pub struct Site<'s> {
    /// The databases are made in a folder of their own in it, and what the trial needs besides.
    pub directory: &'s Path,
    /// A filesystem for the databases alone; none for that of the directory.
    pub ground: Option<Ground<'s>>,
    /// Raised when the user wants to stop.
    pub stop: &'s AtomicBool,
    /// How long all threads of a database may wait for anything but a CPU or a device while it works: [`PATIENCE`].
    pub patience: Duration,
    /// How processes are started.
    pub program: &'s WorkerProgram,
}

/// An empty filesystem that holds the databases of a trial and nothing else.
///
/// What they take is what is used on it: where a filesystem compresses, the files themselves do not say.
#[derive(Clone, Copy)]
pub struct Ground<'s> {
    /// Its root, for every process of this user.
    pub root: &'s Path,
    /// The block device below it.
    pub device: &'s BlockDevice,
    /// Space in use on it; what is not yet synced does not count.
    pub used_bytes: &'s dyn Fn() -> Result<u64, Unavailable>,
}

/// How far a trial is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Databases are being made and loaded.
    Loading,
    /// The workload runs.
    Running,
}

/// Makes the databases, loads, settles and runs them, and removes them.
///
/// # Errors
/// What the spec, the engine, the filesystem or the kernel refuses. Nothing of the trial is left behind.
pub fn run(spec: &KvSpec, site: &Site<'_>, progress: &mut dyn FnMut(Progress)) -> Result<KvReport, KvError> {
    spec.validate()?;
    // First here and last to go.
    let guard = Guard::start(site.program, site.directory)?;
    let folder = DatabaseFolder::create(site.directory)?;
    let device = match &site.ground {
        Some(ground) => Ok(ground.device.clone()),
        None => BlockDevice::holding(folder.path()),
    };
    let mut trial = Trial {
        spec,
        site,
        counters: Box::new(move || device.as_ref().map_err(Clone::clone)?.counters()),
        workers: start(spec, site, &guard, &folder)?,
        folder: &folder,
    };
    progress(Progress::Loading);
    let clock = Clock::new();
    let started = clock.now_ns();
    let engine = trial.open()?;
    let opening_ns = clock.now_ns() - started;
    let loaded = trial.load()?;
    progress(Progress::Running);
    let ran = trial.run()?;
    let closing = clock.now_ns();
    trial.close()?;
    let closing_ns = clock.now_ns() - closing;
    // The processes are gone: nothing is open that takes space without a name.
    trial.workers.clear();
    let stored_after = trial.stored()?;
    let ends = Ends {
        opening_ns,
        closing_ns,
    };
    report(spec, engine, &ends, loaded, ran, stored_after)
}

/// Which engine it is, and which libraries its codecs are.
struct Engine {
    identity: String,
    codec_libraries: Vec<PathBuf>,
}

/// What is no part of load and run.
struct Ends {
    opening_ns: u64,
    closing_ns: u64,
}

/// What the load of all processes yielded.
struct Loaded {
    reports: Vec<LoadReport>,
    settled: Vec<SettlingReport>,
    /// Of the load, of the settling, and of both.
    devices: [DeviceTraffic; 3],
    stored: Space,
}

/// What their run yielded.
struct Ran {
    reports: Vec<RunReport>,
    device: DeviceTraffic,
    energy_j: Result<f64, Unavailable>,
    kernel_threads_ns: Result<u64, Unavailable>,
    machine_cpu_share: Result<f64, Unavailable>,
}

struct Trial<'t> {
    spec: &'t KvSpec,
    site: &'t Site<'t>,
    counters: Box<dyn Fn() -> Result<Counters, Unavailable> + 't>,
    folder: &'t DatabaseFolder,
    workers: Vec<Worker>,
}

fn start(
    spec: &KvSpec,
    site: &Site<'_>,
    guard: &Guard,
    folder: &DatabaseFolder,
) -> Result<Vec<Worker>, KvError> {
    (0..spec.processes)
        .map(|_| {
            let limit = spec.memory_limit_bytes;
            let limit = limit.map(MemoryLimit::create).transpose()?;
            Worker::start(site.program, guard, databases(site, folder), limit)
        })
        .collect()
}

/// The directory whose filesystem has the databases and, where others use it as well, nothing else below it.
fn databases<'t>(site: &Site<'t>, folder: &'t DatabaseFolder) -> &'t Path {
    site.ground.map_or(folder.path(), |ground| ground.root)
}

impl Trial<'_> {
    fn timing(&self) -> Timing {
        Timing::after(START_WAIT + START_WAIT_PER_PROCESS * self.spec.processes)
    }

    /// The database of one process.
    fn database(&self, process: u32) -> PathBuf {
        match &self.site.ground {
            Some(ground) => ground.root.join(format!("p{process}")),
            None => self.folder.database(process),
        }
    }

    fn databases(&self) -> &Path {
        databases(self.site, self.folder)
    }

    /// Space that the databases take.
    fn stored(&self) -> Result<Space, KvError> {
        let engine = self.spec.options.engine;
        let mut stored = Space::default();
        for process in 0..self.spec.processes {
            let of_one = Space::of(&self.database(process), engine)?;
            stored.bytes += of_one.bytes;
            stored.log_bytes += of_one.log_bytes;
        }
        let Some(ground) = &self.site.ground else {
            return Ok(stored);
        };
        page_cache::sync(ground.root)?;
        let used = (ground.used_bytes)();
        let bytes =
            used.map_err(|why| KvError::system("read the space that the databases take", why.reason))?;
        Ok(Space { bytes, ..stored })
    }

    /// Asks every process the same, and waits for all their answers.
    fn ask_all(&mut self, request: impl Fn(u32) -> Request) -> Result<Vec<Answer>, KvError> {
        self.ask_each(request, None)
    }

    /// The same of what processes do without a rest: not for ever where they do nothing.
    fn ask_to_work(
        &mut self,
        phase: &'static str,
        request: impl Fn(u32) -> Request,
    ) -> Result<Vec<Answer>, KvError> {
        let patience = self.site.patience;
        self.ask_each(request, Some(&Watch { phase, patience }))
    }

    fn ask_each(
        &mut self,
        request: impl Fn(u32) -> Request,
        watch: Option<&Watch>,
    ) -> Result<Vec<Answer>, KvError> {
        for (process, worker) in (0..).zip(&self.workers) {
            worker.ask(&request(process))?;
        }
        answers::of_all(&mut self.workers, self.site.stop, watch)
    }

    /// Opens the databases; all of one engine.
    fn open(&mut self) -> Result<Engine, KvError> {
        // Kept until the processes share them.
        let pool = match &self.spec.values {
            ValueSource::Content(_) => None,
            ValueSource::CutFrom(bytes) => {
                let pool = memory_file::sealed("outcrop-kv-values", bytes);
                Some(pool.map_err(|error| KvError::system("keep values in memory", error))?)
            }
        };
        let value_bytes = pool.as_ref().map(memory_file::path_elsewhere);
        let spec = self.spec;
        let databases: Vec<PathBuf> = (0..spec.processes)
            .map(|process| self.database(process))
            .collect();
        let answers = self.ask_all(|process| Request::Open {
            spec: Box::new(spec.clone()),
            directory: databases[process as usize].clone(),
            process,
            value_bytes: value_bytes.clone(),
        })?;
        let engine = answers.into_iter().find_map(|answer| match answer {
            Answer::Opened {
                identity,
                codec_libraries,
            } => Some(Engine {
                identity,
                codec_libraries,
            }),
            _ => None,
        });
        engine.ok_or_else(out_of_turn)
    }

    /// Load, sync, settle, and the drop of our own page cache.
    fn load(&mut self) -> Result<Loaded, KvError> {
        let before = (self.counters)();
        let timing = self.timing();
        let loaded = self.ask_to_work("loaded records", |_| Request::Load(timing))?;
        page_cache::sync(self.databases())?;
        let between_phases = (self.counters)();
        let settled = self.ask_all(|_| Request::Settle)?;
        // What compaction wrote meanwhile: pages that are not on the device can be neither counted nor dropped.
        page_cache::sync(self.databases())?;
        let after = (self.counters)();
        let devices = [
            between(&before, &between_phases),
            between(&between_phases, &after),
            between(&before, &after),
        ];
        if self.spec.page_cache == PageCache::Dropped {
            page_cache::forget(self.databases())?;
        }
        let loads = loaded.into_iter().map(|answer| match answer {
            Answer::Loaded(report) => Ok(*report),
            _ => Err(out_of_turn()),
        });
        let settled = settled.into_iter().map(|answer| match answer {
            Answer::Settled(report) => Ok(*report),
            _ => Err(out_of_turn()),
        });
        Ok(Loaded {
            reports: loads.collect::<Result<_, _>>()?,
            settled: settled.collect::<Result<_, _>>()?,
            devices,
            stored: self.stored()?,
        })
    }

    fn run(&mut self) -> Result<Ran, KvError> {
        let before = (self.counters)();
        let threads_before = KernelThreads::now();
        let meter = Meter::start();
        let timing = self.timing();
        let machine_before = MachineCpu::now();
        let answers = self.ask_to_work("ran the workload", |_| Request::Run(timing))?;
        let machine_cpu_share =
            machine_before.and_then(|before| MachineCpu::now()?.busy_share_since(&before));
        let energy_j = meter.and_then(Meter::stop).map(|energy| energy.total.0);
        page_cache::sync(self.databases())?;
        let device = between(&before, &(self.counters)());
        let kernel_threads_ns = threads_before.and_then(|before| Ok(KernelThreads::now()?.since(&before)));
        let reports = answers.into_iter().map(|answer| match answer {
            Answer::Ran(report) => Ok(*report),
            _ => Err(out_of_turn()),
        });
        Ok(Ran {
            reports: reports.collect::<Result<_, _>>()?,
            device,
            energy_j,
            kernel_threads_ns,
            machine_cpu_share,
        })
    }

    fn close(&mut self) -> Result<(), KvError> {
        self.ask_all(|_| Request::Close).map(drop)
    }
}

fn out_of_turn() -> KvError {
    KvError::system("understand another process", "it answered a different request")
}

fn between(before: &DeviceTraffic, after: &DeviceTraffic) -> DeviceTraffic {
    match (before, after) {
        (Ok(before), Ok(after)) => Ok(after.since(before)),
        (Err(why), _) | (_, Err(why)) => Err(why.clone()),
    }
}

/// What the settling of all processes yielded.
struct Settled {
    settling_ns: u64,
    debt: Counted,
    is_settled: bool,
    counters: StoreCounters,
    tables: Tables,
    server_resident_bytes: Option<Counted>,
}

impl Settled {
    /// That of all processes; none where there is none.
    fn of(reports: Vec<SettlingReport>) -> Option<Self> {
        let settled = reports.into_iter().map(|report| Self {
            settling_ns: report.duration_ns,
            debt: report.left.debt_bytes,
            is_settled: !report.left.is_busy,
            counters: report.counters,
            tables: report.tables,
            server_resident_bytes: report.server_resident_bytes,
        });
        settled.reduce(|one, other| Self {
            settling_ns: one.settling_ns.max(other.settling_ns),
            debt: [one.debt, other.debt].into_iter().sum(),
            is_settled: one.is_settled && other.is_settled,
            counters: one.counters.plus(&other.counters),
            tables: one.tables.plus(&other.tables),
            server_resident_bytes: (one.server_resident_bytes)
                .zip(other.server_resident_bytes)
                .map(|both| [both.0, both.1].into_iter().sum()),
        })
    }
}

/// The phase of all processes together; none where there is none.
fn joined(phases: impl Iterator<Item = PhaseReport>) -> Option<PhaseReport> {
    phases.reduce(|mut one, other| {
        one.merge(other);
        one
    })
}

fn amounts(phase: &PhaseReport, engine: StoreCounters, device: DeviceTraffic) -> Amounts {
    Amounts {
        user_written_bytes: phase.tally.written_bytes,
        user_read_bytes: phase.tally.read_bytes,
        engine,
        device,
    }
}

fn report(
    spec: &KvSpec,
    engine: Engine,
    ends: &Ends,
    loaded: Loaded,
    ran: Ran,
    stored_after: Space,
) -> Result<KvReport, KvError> {
    let none = || KvError::system("add up", "no process answered");
    let flush_ns = loaded.reports.iter().map(|report| report.flush_ns).max();
    let settled = Settled::of(loaded.settled).ok_or_else(none)?;
    let reports = ran.reports.iter();
    let debt_after = reports.clone().map(|report| report.left.debt_bytes.clone()).sum();
    let peak_resident_bytes = reports.map(|report| report.peak_resident_bytes.clone()).sum();
    let load = joined(loaded.reports.into_iter().map(|report| report.phase)).ok_or_else(none)?;
    let run = joined(ran.reports.into_iter().map(|report| report.phase)).ok_or_else(none)?;
    let [loading_device, settling_device, load_device] = loaded.devices;
    Ok(KvReport {
        identity: engine.identity,
        codec_libraries: engine.codec_libraries,
        opening_ns: ends.opening_ns,
        closing_ns: ends.closing_ns,
        load_amounts: amounts(&load, settled.counters, load_device),
        loading_device,
        settling_device,
        tables: settled.tables,
        run_amounts: amounts(&run, run.counters.clone(), ran.device),
        load,
        flush_ns: flush_ns.unwrap_or(0),
        settling_ns: settled.settling_ns,
        debt_before: settled.debt,
        is_settled: settled.is_settled,
        stored: loaded.stored,
        stored_after,
        run,
        debt_after,
        server_resident_bytes: settled.server_resident_bytes,
        peak_resident_bytes,
        energy_j: ran.energy_j,
        kernel_threads_ns: ran.kernel_threads_ns,
        cpus: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        machine_cpu_share: ran.machine_cpu_share,
        offered_per_second: spec.arrival.per_second().map(Rate::per_second),
    })
}
