//! One thread of the driver: draws operations, times them, and verifies what comes back.

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::Rate;
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_probe::Clock;
use outcrop_probe::cpu_time::thread_time_ns;
use outcrop_workload::Schedule;
use outcrop_workload::keyed::{Operation, OperationKind, RecordValues, StoreLoad};

use super::Witness;
use super::newest::{NewestVersions, Stale, Write};
use super::recorder::{Intervals, Recorder};
use super::scanned::{Scanned, Stored};
use super::timing::{Span, Waiting, monotonic_ns, wait_until_ns};
use crate::error::KvError;
use crate::report::Tally;
use crate::spec::KvSpec;
use crate::store::{Session, Store};

/// A thread that is this early waits by reading the counter: the kernel's timers are no more exact than that.
const POLLED_WAIT_NS: u64 = 60_000;

/// Operations of an overloaded schedule that are drawn one by one at its end: more would take longer than the trial.
const MOST_DRAWN: u64 = 1_000_000;
/// Portions in which the others are counted.
const PORTIONS: u64 = 4096;

/// What all threads of a process see.
pub(super) struct Shared<'d> {
    pub(super) spec: &'d KvSpec,
    pub(super) store: &'d dyn Store,
    pub(super) load: &'d StoreLoad,
    pub(super) values: &'d RecordValues,
    pub(super) clock: &'d Clock,
    pub(super) intervals: &'d Intervals,
    pub(super) newest: &'d NewestVersions,
    pub(super) span: Span,
    pub(super) witness: Option<&'d dyn Witness>,
    pub(super) process: u32,
    /// Whether values can come back at all.
    pub(super) keeps_values: bool,
    /// Raised when a thread fails, so that the others end.
    pub(super) has_failed: AtomicBool,
}

/// What a thread has done.
#[derive(Default)]
pub(super) struct Done {
    pub(super) tally: Tally,
    /// Its CPU time in the measured part, without waiting.
    pub(super) cpu_ns: u64,
    pub(super) waiting: Waiting,
    /// Closed loop: time between the operations that were recorded.
    pub(super) between_ns: u64,
    /// Open loop: how late the thread itself began operations.
    pub(super) lateness: LatencyHistogram,
}

impl Done {
    pub(super) fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.cpu_ns += other.cpu_ns;
        self.waiting.add(other.waiting);
        self.between_ns += other.between_ns;
        self.lateness.merge(&other.lateness);
    }
}

/// Ticks at which an operation began and ended.
type Times = (u64, u64);

pub(super) struct Worker<'d> {
    shared: &'d Shared<'d>,
    thread: u32,
    session: Box<dyn Session + 'd>,
    key: Vec<u8>,
    value: Vec<u8>,
    scanned: Scanned,
    tally: Tally,
    /// What waiting took in the measured part.
    waiting: Waiting,
    /// Time between the operations of a closed loop, in ticks.
    between: u64,
    lateness: LatencyHistogram,
}

impl<'d> Worker<'d> {
    pub(super) fn new(shared: &'d Shared<'d>, thread: u32) -> Result<Self, KvError> {
        Ok(Self {
            shared,
            thread,
            session: shared.store.session()?,
            key: Vec::new(),
            value: Vec::with_capacity(shared.values.longest_bytes()),
            scanned: Scanned::default(),
            tally: Tally::default(),
            waiting: Waiting::default(),
            between: 0,
            lateness: LatencyHistogram::new(),
        })
    }

    fn recorder(&self) -> Recorder<'d> {
        let Shared {
            intervals,
            clock,
            span,
            ..
        } = self.shared;
        Recorder::new(intervals, clock, span)
    }

    fn has_to_stop(&self) -> bool {
        self.shared.has_failed.load(Ordering::Relaxed)
    }

    /// Stores a range of records; gives the counts and the CPU time.
    pub(super) fn load(mut self, range: Range<u64>) -> Result<Done, KvError> {
        let cpu_before_ns = thread_time_ns();
        let mut recorder = self.recorder();
        for key_id in range {
            if self.has_to_stop() {
                break;
            }
            self.write_key(key_id);
            self.write_value(key_id, RecordValues::LOADED);
            let (begun, done) = self.put(key_id, RecordValues::LOADED)?;
            self.tally.operations += 1;
            recorder.record(self.shared.clock, OperationKind::Insert, begun, done);
        }
        recorder.hand_over();
        Ok(self.done(thread_time_ns() - cpu_before_ns))
    }

    /// Runs the workload until the span's end; gives the counts and the CPU time of the measured part.
    pub(super) fn run(mut self) -> Result<Done, KvError> {
        let shared = self.shared;
        // By default the kernel may wake a thread 50 µs late, which would be in an open loop's latency. A refusal leaves that.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let schedule = shared.spec.arrival.schedule_of_job(
            shared.process * shared.spec.threads + self.thread,
            shared.spec.processes * shared.spec.threads,
            shared.spec.seed.derive("arrivals"),
        );
        self.wait_until(shared.span.start)?;
        let cpu_ns = match schedule {
            None => self.run_closed()?,
            Some(schedule) => self.run_open(schedule)?,
        };
        Ok(self.done(cpu_ns))
    }

    fn done(self, cpu_ns: u64) -> Done {
        Done {
            tally: self.tally,
            cpu_ns: cpu_ns.saturating_sub(self.waiting.total_ns()),
            waiting: self.waiting,
            between_ns: self.shared.clock.nanos(self.between),
            lateness: self.lateness,
        }
    }

    /// One operation after the other; gives the CPU time of the measured part.
    fn run_closed(&mut self) -> Result<u64, KvError> {
        let Shared { clock, span, .. } = *self.shared;
        let mut recorder = self.recorder();
        let mut operations = self.shared.load.operations(self.thread);
        let mut cpu_before_ns = None;
        let mut now = clock.ticks();
        while now < span.end && !self.has_to_stop() {
            if now >= span.measured && cpu_before_ns.is_none() {
                cpu_before_ns = Some(thread_time_ns());
            }
            let operation = operations.next_operation().map_err(too_many)?;
            let (begun, done) = self.perform(&operation)?;
            if done >= span.measured && done < span.end {
                recorder.record(clock, operation.kind, begun, done);
                self.between += begun.saturating_sub(now);
            }
            now = done;
        }
        recorder.hand_over();
        Ok(since(cpu_before_ns))
    }

    /// Operations by a schedule; gives the CPU time of the measured part, waiting included.
    fn run_open(&mut self, mut schedule: Schedule) -> Result<u64, KvError> {
        let Shared { clock, span, .. } = *self.shared;
        let mut recorder = self.recorder();
        let mut operations = self.shared.load.operations(self.thread);
        let mut cpu_before_ns = None;
        let mut due_at =
            move || span.start + clock.ticks_in(std::time::Duration::from_nanos(schedule.next_ns()));
        let mut due = due_at();
        // Until the store has done the last operation, the next one waits for the store; only from here on does it wait for us.
        let mut freed = 0;
        while due < span.end && !self.has_to_stop() {
            // A wait that ends in the measured time is waited in it but for the first stretch, which sleeps.
            if due.max(clock.ticks()) >= span.measured && cpu_before_ns.is_none() {
                cpu_before_ns = Some(thread_time_ns());
            }
            let waited = self.wait_until(due)?;
            if cpu_before_ns.is_some() {
                self.waiting.add(waited);
            }
            if clock.ticks() >= span.end {
                break;
            }
            let operation = operations.next_operation().map_err(too_many)?;
            let (begun, done) = self.perform(&operation)?;
            recorder.record_due(clock, operation.kind, due, begun, done);
            if due >= span.measured {
                let late = begun.saturating_sub(due.max(freed));
                self.lateness.record(clock.nanos(late));
            }
            freed = done;
            due = due_at();
        }
        let cpu_ns = since(cpu_before_ns);
        // What was due and found no thread counts with its age, a lower bound; what was due in the warm-up is in no latency.
        let mut drawn = 0;
        while due < span.end && drawn < MOST_DRAWN && !self.has_to_stop() {
            if due >= span.measured {
                self.tally.unfinished += 1;
                recorder.record_not_begun(clock, operations.next_kind(), (due, 1));
            }
            due = due_at();
            drawn += 1;
        }
        if due < span.end && !self.has_to_stop() {
            let kinds = std::iter::from_fn(|| Some(operations.next_kind()));
            self.count_not_begun(&mut recorder, due.max(span.measured), kinds);
        }
        recorder.hand_over();
        Ok(cpu_ns)
    }

    /// Counts what is due from a moment until the end by the rate, where it is too much to be drawn one by one: spread evenly, in portions.
    fn count_not_begun(
        &mut self,
        recorder: &mut Recorder<'_>,
        from: u64,
        kinds: impl Iterator<Item = OperationKind>,
    ) {
        let Shared {
            clock, span, spec, ..
        } = *self.shared;
        let ticks = span.end.saturating_sub(from);
        let threads = f64::from(spec.threads) * f64::from(spec.processes);
        let rate = spec.arrival.per_second().map_or(0.0, Rate::per_second) / threads;
        let due = (rate * clock.nanos(ticks) as f64 / 1e9) as u64;
        self.tally.unfinished += due;
        let part = |of: u64, index: u64| (u128::from(of) * u128::from(index) / u128::from(PORTIONS)) as u64;
        for (index, kind) in (0..PORTIONS).zip(kinds) {
            let count = part(due, index + 1) - part(due, index);
            // In the middle of its stretch.
            let at = from + part(ticks, 2 * index + 1) / 2;
            recorder.record_not_begun(clock, kind, (at, count));
        }
    }

    /// Waits until the counter has this value, the last stretch by reading it; gives the CPU time that this took.
    ///
    /// *Cost*: nothing where it has that value already; else two system calls that read the thread's CPU time, three where it sleeps.
    fn wait_until(&self, ticks: u64) -> Result<Waiting, KvError> {
        let clock = self.shared.clock;
        let ahead = ticks.saturating_sub(clock.ticks());
        if ahead == 0 {
            return Ok(Waiting::default());
        }
        let begun_ns = thread_time_ns();
        let mut awake_ns = begun_ns;
        let ahead_ns = clock.nanos(ahead);
        if ahead_ns > POLLED_WAIT_NS {
            wait_until_ns(monotonic_ns() + ahead_ns - POLLED_WAIT_NS / 2)?;
            awake_ns = thread_time_ns();
        }
        while clock.ticks() < ticks {
            std::hint::spin_loop();
        }
        Ok(Waiting {
            asleep_ns: awake_ns.saturating_sub(begun_ns),
            polling_ns: thread_time_ns().saturating_sub(awake_ns),
        })
    }

    #[inline]
    fn perform(&mut self, operation: &Operation) -> Result<Times, KvError> {
        self.tally.operations += 1;
        self.write_key(operation.key_id);
        match operation.kind {
            OperationKind::Read => self.read(operation.key_id),
            OperationKind::Update | OperationKind::Insert => {
                let write = self.begin_write(operation);
                let times = self.put(operation.key_id, write.version)?;
                self.shared.newest.end(operation.key_id, write, times.1);
                if operation.kind == OperationKind::Insert {
                    self.shared.load.acknowledge(operation.key_id);
                }
                Ok(times)
            }
            OperationKind::ReadModifyWrite => {
                let write = self.begin_write(operation);
                let (begun, _) = self.read(operation.key_id)?;
                let (_, done) = self.put(operation.key_id, write.version)?;
                self.shared.newest.end(operation.key_id, write, done);
                Ok((begun, done))
            }
            OperationKind::Scan => self.scan(operation),
        }
    }

    /// Numbers the write and makes its value, ahead of the clock.
    #[inline]
    fn begin_write(&mut self, operation: &Operation) -> Write {
        let write = self.shared.newest.begin(operation.key_id, operation.version);
        self.write_value(operation.key_id, write.version);
        write
    }

    #[inline]
    fn write_key(&mut self, key_id: u64) {
        self.key.clear();
        self.shared.load.write_key(key_id, &mut self.key);
    }

    #[inline]
    fn write_value(&mut self, key_id: u64, version: u64) {
        self.value.clear();
        self.shared.values.write(key_id, version, &mut self.value);
    }

    #[inline]
    fn read(&mut self, key_id: u64) -> Result<Times, KvError> {
        let clock = self.shared.clock;
        let begun = clock.ticks();
        let found = self.session.get(&self.key)?;
        let done = clock.ticks();
        if !self.shared.keeps_values {
            return Ok((begun, done));
        }
        match found {
            None => {
                self.tally.missing += 1;
                let key = || format!("key {} is not there", self.key.escape_ascii());
                self.tally.first_problem.get_or_insert_with(key);
            }
            Some(bytes) => {
                self.tally.read_bytes += bytes.len() as u64;
                self.tally.verified += 1;
                let wrong = match self.shared.values.verify(key_id, bytes) {
                    Ok(Some(version)) => self
                        .shared
                        .newest
                        .check(key_id, version, begun)
                        .err()
                        .map(|newer| older(version, newer)),
                    Ok(None) => None,
                    Err(mismatch) => Some(mismatch.to_string()),
                };
                if let Some(wrong) = wrong {
                    self.tally.mismatches += 1;
                    let problem = || format!("key {}: {wrong}", self.key.escape_ascii());
                    self.tally.first_problem.get_or_insert_with(problem);
                }
            }
        }
        Ok((begun, done))
    }

    #[inline]
    fn put(&mut self, key_id: u64, version: u64) -> Result<Times, KvError> {
        let clock = self.shared.clock;
        let begun = clock.ticks();
        self.session.put(&self.key, &self.value)?;
        let done = clock.ticks();
        self.tally.written_bytes += (self.key.len() + self.value.len()) as u64;
        if let Some(witness) = self.shared.witness {
            witness.acknowledged(key_id, version);
        }
        Ok((begun, done))
    }

    fn scan(&mut self, operation: &Operation) -> Result<Times, KvError> {
        let Shared {
            clock,
            load,
            values,
            newest,
            ..
        } = *self.shared;
        self.scanned.clear();
        let begun = clock.ticks();
        let scanned = &mut self.scanned;
        // A reader keeps what it scans; verifying is ours, and comes behind the clock.
        let mut keep = |key: &[u8], value: &[u8]| scanned.push(key, value);
        let records = self.session.scan(&self.key, operation.scan_length, &mut keep)?;
        let done = clock.ticks();
        self.tally.scanned_records += u64::from(records);
        let stored = Stored { load, values, newest };
        if let Some(wrong) = self.scanned.compare(stored, begun, &mut self.tally) {
            let problem = || format!("a scan from key {}: {wrong}", self.key.escape_ascii());
            self.tally.first_problem.get_or_insert_with(problem);
        }
        Ok((begun, done))
    }
}

/// The CPU time of this thread since it was this much; none where measuring never started.
fn since(before_ns: Option<u64>) -> u64 {
    before_ns.map_or(0, |before_ns| thread_time_ns().saturating_sub(before_ns))
}

pub(super) fn older(version: u64, newer: Stale) -> String {
    format!(
        "version {version}, although version {} was acknowledged before the read began",
        newer.acknowledged
    )
}

fn too_many(error: impl std::fmt::Display) -> KvError {
    KvError::system("draw an operation", error)
}
