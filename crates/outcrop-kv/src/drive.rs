//! One database under load: what a process of a trial does.

mod cpu;
mod newest;
mod recorder;
mod scanned;
mod timing;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_measure::Seed;
use outcrop_measure::metric::Unavailable;
use outcrop_probe::Clock;
use outcrop_workload::keyed::{OperationKind, RecordValues, StoreLoad, StoreLoadSpec};
use outcrop_workload::store::Settling;

use self::cpu::Used;
use self::newest::NewestVersions;
use self::recorder::Intervals;
use self::timing::Span;
pub use self::timing::Timing;
pub(crate) use self::timing::{monotonic_ns, wait_until_ns};
use self::worker::{Done, Shared, Worker};
use crate::engine;
use crate::error::KvError;
use crate::report::{CpuReport, CpuTimes, LoadReport, PhaseReport, RunReport, SettlingReport};
use crate::spec::{KvSpec, ValueSource};
use crate::store::{Opening, Store};

/// Told of every write once the engine acknowledged it: tests of durability ask for it.
pub trait Witness: Sync {
    /// This version of this key was stored.
    fn acknowledged(&self, key_id: u64, version: u64);
}

/// Between two looks at whether compaction has settled.
const LOOK: Duration = Duration::from_millis(20);
/// Between two looks at whether a thread has failed.
const FAILURE_LOOK: Duration = Duration::from_millis(100);
/// So many looks in a row have to find nothing to do: a finished compaction may ask for the next one.
const QUIET_LOOKS: u32 = 5;
/// A tree that has not settled by then never does.
const SETTLING_LIMIT: Duration = Duration::from_secs(600);
/// The counters of two cores differ by less.
const CLOCK_SKEW: Duration = Duration::from_micros(1);

/// An open database with its workload.
pub struct Database<'s> {
    spec: &'s KvSpec,
    store: Box<dyn Store>,
    load: StoreLoad,
    values: RecordValues,
    newest: NewestVersions,
    clock: Clock,
    process: u32,
}

impl<'s> Database<'s> {
    /// Opens the database of one process of a trial.
    ///
    /// # Errors
    /// As [`engine::open`]; also a workload that does not fit its records.
    pub fn open(spec: &'s KvSpec, directory: &Path, process: u32, opening: Opening) -> Result<Self, KvError> {
        spec.validate()?;
        Self::over(spec, engine::open(&spec.opened()?, directory, opening)?, process)
    }

    /// The same over a store that is open: one of a caller's own, which must do what a sorted map does.
    ///
    /// # Errors
    /// A workload that does not fit its records.
    pub fn over(spec: &'s KvSpec, store: Box<dyn Store>, process: u32) -> Result<Self, KvError> {
        let seed = spec.seed.derive("process").derive_index(u64::from(process));
        let load = StoreLoad::new(StoreLoadSpec {
            workload: spec.workload,
            requests: spec.requests,
            records: spec.records,
            operations: spec.expected_operations(),
            seed,
        })
        .map_err(|error| KvError::spec("records", spec.records, error.to_string()))?;
        let clock = Clock::new();
        let skew = if spec.threads > 1 {
            clock.ticks_in(CLOCK_SKEW)
        } else {
            0
        };
        Ok(Self {
            spec,
            store,
            load,
            values: values(spec, seed)?,
            newest: NewestVersions::of(followed(spec), skew),
            clock,
            process,
        })
    }

    /// The engine with its version.
    pub fn identity(&self) -> String {
        self.store.identity()
    }

    /// The files of the codecs that its engine was linked to, where they are libraries of the system.
    pub fn codec_libraries(&self) -> Vec<PathBuf> {
        self.store.codec_libraries()
    }

    /// The values that its keys hold.
    pub const fn values(&self) -> &RecordValues {
        &self.values
    }

    /// Its keys.
    pub const fn keys(&self) -> &StoreLoad {
        &self.load
    }

    /// Its store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Stores every record and flushes.
    ///
    /// # Errors
    /// What the engine says.
    pub fn load(&self, timing: Timing, witness: Option<&dyn Witness>) -> Result<LoadReport, KvError> {
        let before = self.store.counters();
        let intervals = Intervals::new(self.spec.interval);
        let span = Span::open_ended(&self.clock, timing);
        let threads = self.spec.threads;
        let shared = self.shared(&intervals, span, witness);
        wait_until_ns(timing.start_ns)?;
        let server = self.store.server();
        let cpu_before = Used::now(server.as_ref());
        let done = in_threads("load", threads, &shared.has_failed, |thread| {
            let range = self.load.loaded(thread, threads);
            Worker::new(&shared, thread)?.load(range)
        })?;
        let loaded = self.clock.ticks();
        self.store.flush()?;
        let ended = self.clock.ticks();
        let cpu = Used::now(server.as_ref()).since(&cpu_before);
        let counters = self.store.counters().since(&before);
        self.check_held()?;
        Ok(LoadReport {
            phase: PhaseReport {
                duration_ns: self.clock.nanos(ended.saturating_sub(span.start)),
                interval_ns: self.spec.interval.as_nanos() as u64,
                intervals: intervals.into_reports(),
                tally: done.tally,
                cpu: CpuReport {
                    process: cpu,
                    callers_ns: done.cpu_ns,
                    waiting_ns: 0,
                },
                counters,
                between_ns: 0,
                lateness: done.lateness,
            },
            flush_ns: self.clock.nanos(ended - loaded),
        })
    }

    /// Refuses to go on with a server that holds less than it was given: the run would measure how fast it finds nothing.
    fn check_held(&self) -> Result<(), KvError> {
        let loaded = self.spec.records;
        match self.store.records()? {
            Some(held) if held < loaded => Err(KvError::Dropped {
                engine: self.store.identity(),
                held,
                loaded,
            }),
            _ => Ok(()),
        }
    }

    /// Waits between load and run, as the spec says.
    ///
    /// # Errors
    /// The kernel refuses to wait, or the filesystem to remove files.
    pub fn settle(&self) -> Result<SettlingReport, KvError> {
        let begun_ns = monotonic_ns();
        let elapsed = || Duration::from_nanos(monotonic_ns() - begun_ns);
        match self.spec.settling {
            Settling::None => {}
            Settling::Rest(span) => wait_until_ns(begun_ns + span.0.as_nanos() as u64)?,
            Settling::Compacted => {
                let mut quiet = 0;
                while quiet < QUIET_LOOKS && elapsed() < SETTLING_LIMIT {
                    quiet = match self.store.compaction().is_busy {
                        true => 0,
                        false => quiet + 1,
                    };
                    // Nothing of an engine's can be waited for that every engine has.
                    wait_until_ns(monotonic_ns() + LOOK.as_nanos() as u64)?;
                }
                self.store.remove_replaced_files()?;
            }
        }
        Ok(SettlingReport {
            duration_ns: elapsed().as_nanos() as u64,
            left: self.store.compaction(),
            counters: self.store.counters(),
            tables: self.store.tables(),
            server_resident_bytes: self
                .store
                .server()
                .map(|server| Ok(server.memory()?.resident_bytes)),
        })
    }

    /// Runs the workload for the spec's warm-up and duration.
    ///
    /// # Errors
    /// What the engine says.
    pub fn run(&self, timing: Timing, witness: Option<&dyn Witness>) -> Result<RunReport, KvError> {
        let before = self.store.counters();
        let intervals = Intervals::new(self.spec.interval);
        let span = Span::of(&self.clock, timing, self.spec.warm_up, self.spec.duration);
        let shared = self.shared(&intervals, span, witness);
        let (measured, done) = std::thread::scope(|scope| {
            let threads = scope.spawn(|| {
                in_threads("run", self.spec.threads, &shared.has_failed, |thread| {
                    Worker::new(&shared, thread)?.run()
                })
            });
            let measured = self.measured_cpu(timing, &shared.has_failed);
            let ran = threads
                .join()
                .map_err(|_| KvError::system("run the workload", "a thread of the driver panicked"))?;
            // What a thread met comes first.
            let ran = ran?;
            Ok::<_, KvError>((measured?, ran))
        })?;
        Ok(RunReport {
            phase: PhaseReport {
                duration_ns: self.spec.duration.as_nanos() as u64,
                interval_ns: self.spec.interval.as_nanos() as u64,
                intervals: intervals.into_reports(),
                cpu: without_waiting(measured, &done),
                between_ns: done.between_ns,
                lateness: done.lateness,
                tally: done.tally,
                counters: self.store.counters().since(&before),
            },
            left: self.store.compaction(),
            peak_resident_bytes: cpu::peak_resident_bytes(self.store.server().as_ref()),
        })
    }

    /// CPU time of the process, and of a server, between the ends of the measured time.
    fn measured_cpu(
        &self,
        timing: Timing,
        has_failed: &AtomicBool,
    ) -> Result<Result<CpuTimes, Unavailable>, KvError> {
        let start_ns = timing.start_ns + self.spec.warm_up.as_nanos() as u64;
        let server = self.store.server();
        wait_unless(has_failed, start_ns)?;
        let before = Used::now(server.as_ref());
        wait_unless(has_failed, start_ns + self.spec.duration.as_nanos() as u64)?;
        Ok(Used::now(server.as_ref()).since(&before))
    }

    fn shared<'d>(
        &'d self,
        intervals: &'d Intervals,
        span: Span,
        witness: Option<&'d dyn Witness>,
    ) -> Shared<'d> {
        Shared {
            spec: self.spec,
            store: &*self.store,
            load: &self.load,
            values: &self.values,
            clock: &self.clock,
            intervals,
            newest: &self.newest,
            span,
            witness,
            process: self.process,
            keeps_values: engine::keeps_values(self.spec.options.engine),
            has_failed: AtomicBool::new(false),
        }
    }
}

/// Waits until a moment, or until a thread has failed: its error is not held back until the end of the run.
fn wait_unless(has_failed: &AtomicBool, moment_ns: u64) -> Result<(), KvError> {
    while monotonic_ns() < moment_ns && !has_failed.load(Ordering::Relaxed) {
        wait_until_ns(moment_ns.min(monotonic_ns() + FAILURE_LOOK.as_nanos() as u64))?;
    }
    Ok(())
}

/// CPU time of a process without what its threads spent on waiting for due times, which is not the engine's work.
///
/// The kernel tells user from kernel time by samples, so that the parts are less certain than their sum.
fn without_waiting(process: Result<CpuTimes, Unavailable>, done: &Done) -> CpuReport {
    let waiting_ns = done.waiting.total_ns();
    let process = process.map(|times| {
        let total_ns = times.total_ns().saturating_sub(waiting_ns);
        let kernel_ns = times.kernel_ns.saturating_sub(done.waiting.asleep_ns);
        let kernel_ns = kernel_ns.min(total_ns);
        CpuTimes {
            user_ns: total_ns - kernel_ns,
            kernel_ns,
        }
    });
    CpuReport {
        process,
        callers_ns: done.cpu_ns,
        waiting_ns,
    }
}

/// Records whose versions matter: none where none of them is ever written again.
fn followed(spec: &KvSpec) -> u64 {
    let mix = spec.workload.mix();
    let is_rewritten = mix.has(OperationKind::Update) || mix.has(OperationKind::ReadModifyWrite);
    if engine::keeps_values(spec.options.engine) && is_rewritten {
        spec.records
    } else {
        0
    }
}

fn values(spec: &KvSpec, seed: Seed) -> Result<RecordValues, KvError> {
    match &spec.values {
        ValueSource::Content(content) => Ok(RecordValues::of_content(*content, spec.value_size, seed)),
        ValueSource::CutFrom(bytes) => RecordValues::cut_from(bytes.clone(), spec.value_size, seed)
            .map_err(|error| KvError::spec("data", format!("{} B", bytes.len()), error.to_string())),
    }
}

/// Runs a job on this many threads and adds up what they counted, with their CPU time. One that fails stops the others.
///
/// Who looks at the process from outside (`top -H`) sees by the names of the threads which phase it is in.
fn in_threads(
    phase: &str,
    threads: u32,
    has_failed: &AtomicBool,
    job: impl Fn(u32) -> Result<Done, KvError> + Sync,
) -> Result<Done, KvError> {
    let job = |thread| {
        let done = job(thread);
        if done.is_err() {
            has_failed.store(true, Ordering::Relaxed);
        }
        done
    };
    let results: Vec<Result<Done, KvError>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                std::thread::Builder::new()
                    .name(format!("{phase}-{thread}"))
                    .spawn_scoped(scope, {
                        let job = &job;
                        move || job(thread)
                    })
                    .map_err(|error| KvError::system("start a thread", error))
            })
            .collect();
        let join = |handle: Result<std::thread::ScopedJoinHandle<'_, _>, KvError>| {
            let panicked = |_| KvError::system("run the workload", "a thread of the driver panicked");
            handle?.join().map_err(panicked)?
        };
        handles.into_iter().map(join).collect()
    });
    let mut all = Done::default();
    for result in results {
        all.merge(&result?);
    }
    Ok(all)
}
