//! One thread of the driver: draws operations, times them, and verifies what comes back.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_probe::Clock;
use outcrop_probe::cpu_time::thread_time_ns;
use outcrop_workload::Schedule;
use outcrop_workload::keyed::{Operation, OperationKind, RecordValues, StoreLoad};

use super::Witness;
use super::recorder::{Intervals, Recorder};
use super::timing::{Span, monotonic_ns, wait_until_ns};
use crate::error::KvError;
use crate::report::Tally;
use crate::spec::KvSpec;
use crate::store::{Session, Store};

/// A thread that is this early waits by reading the counter: the kernel's timers are no more exact than that.
const POLLED_WAIT_NS: u64 = 60_000;

/// What all threads of a process see.
pub(super) struct Shared<'d> {
    pub(super) spec: &'d KvSpec,
    pub(super) store: &'d dyn Store,
    pub(super) load: &'d StoreLoad,
    pub(super) values: &'d RecordValues,
    pub(super) clock: &'d Clock,
    pub(super) intervals: &'d Intervals,
    pub(super) span: Span,
    pub(super) witness: Option<&'d dyn Witness>,
    pub(super) process: u32,
    /// Whether values can come back at all.
    pub(super) keeps_values: bool,
    /// Raised when a thread fails, so that the others end.
    pub(super) has_failed: AtomicBool,
}

/// Ticks at which an operation began and ended.
type Times = (u64, u64);

pub(super) struct Worker<'d> {
    shared: &'d Shared<'d>,
    thread: u32,
    session: Box<dyn Session + 'd>,
    key: Vec<u8>,
    value: Vec<u8>,
    /// Values that a scan came by, one behind the other, and where each ends.
    scanned: Vec<u8>,
    scanned_ends: Vec<usize>,
    tally: Tally,
}

impl<'d> Worker<'d> {
    pub(super) fn new(shared: &'d Shared<'d>, thread: u32) -> Result<Self, KvError> {
        Ok(Self {
            shared,
            thread,
            session: shared.store.session()?,
            key: Vec::new(),
            value: Vec::with_capacity(shared.values.longest_bytes()),
            scanned: Vec::new(),
            scanned_ends: Vec::new(),
            tally: Tally::default(),
        })
    }

    fn recorder(&self, is_open_loop: bool) -> Recorder<'d> {
        let Shared {
            intervals,
            clock,
            span,
            ..
        } = self.shared;
        Recorder::new(intervals, clock, span, is_open_loop)
    }

    fn has_to_stop(&self) -> bool {
        self.shared.has_failed.load(Ordering::Relaxed)
    }

    /// Stores a range of records; gives the counts and the CPU time.
    pub(super) fn load(mut self, range: Range<u64>) -> Result<(Tally, u64), KvError> {
        let cpu_before_ns = thread_time_ns();
        let mut recorder = self.recorder(false);
        for key_id in range {
            if self.has_to_stop() {
                break;
            }
            self.write_key(key_id);
            self.write_value(key_id, RecordValues::LOADED);
            let (begun, done) = self.put(key_id, RecordValues::LOADED)?;
            self.tally.operations += 1;
            recorder.record(self.shared.clock, OperationKind::Insert, begun, begun, done);
        }
        recorder.hand_over();
        Ok((self.tally, thread_time_ns() - cpu_before_ns))
    }

    /// Runs the workload until the span's end; gives the counts and the CPU time of the measured part.
    pub(super) fn run(mut self) -> Result<(Tally, u64), KvError> {
        let shared = self.shared;
        let schedule = shared.spec.arrival.schedule_of_job(
            shared.process * shared.spec.threads + self.thread,
            shared.spec.processes * shared.spec.threads,
            shared.spec.seed.derive("arrivals"),
        );
        self.wait_until(shared.span.start)?;
        let cpu_before_ns = match schedule {
            None => self.run_closed()?,
            Some(schedule) => self.run_open(schedule)?,
        };
        Ok((self.tally, thread_time_ns().saturating_sub(cpu_before_ns)))
    }

    /// One operation after the other; gives the CPU time at which measuring started.
    fn run_closed(&mut self) -> Result<u64, KvError> {
        let Shared { clock, span, .. } = *self.shared;
        let mut recorder = self.recorder(false);
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
                recorder.record(clock, operation.kind, begun, begun, done);
            }
            now = done;
        }
        recorder.hand_over();
        Ok(cpu_before_ns.unwrap_or_else(thread_time_ns))
    }

    /// Operations by a schedule; gives the CPU time at which measuring started.
    fn run_open(&mut self, mut schedule: Schedule) -> Result<u64, KvError> {
        let Shared { clock, span, .. } = *self.shared;
        let mut recorder = self.recorder(true);
        let mut operations = self.shared.load.operations(self.thread);
        let mut cpu_before_ns = None;
        while !self.has_to_stop() {
            let due_ns = schedule.next_ns();
            let due = span.start + clock.ticks_in(std::time::Duration::from_nanos(due_ns));
            if due >= span.end {
                break;
            }
            if due >= span.measured && cpu_before_ns.is_none() {
                cpu_before_ns = Some(thread_time_ns());
            }
            self.wait_until(due)?;
            let operation = operations.next_operation().map_err(too_many)?;
            if clock.ticks() >= span.end {
                // It was due and finds no thread: it counts with its age, a lower bound.
                self.tally.unfinished += 1;
                recorder.record(clock, operation.kind, due, span.end, span.end);
                continue;
            }
            let (begun, done) = self.perform(&operation)?;
            if due >= span.measured {
                recorder.record(clock, operation.kind, due, begun, done);
            }
        }
        recorder.hand_over();
        Ok(cpu_before_ns.unwrap_or_else(thread_time_ns))
    }

    /// Waits until the counter has this value, the last stretch by reading it.
    fn wait_until(&self, ticks: u64) -> Result<(), KvError> {
        let clock = self.shared.clock;
        let ahead_ns = clock.nanos(ticks.saturating_sub(clock.ticks()));
        if ahead_ns > POLLED_WAIT_NS {
            wait_until_ns(monotonic_ns() + ahead_ns - POLLED_WAIT_NS / 2)?;
        }
        while clock.ticks() < ticks {
            std::hint::spin_loop();
        }
        Ok(())
    }

    #[inline]
    fn perform(&mut self, operation: &Operation) -> Result<Times, KvError> {
        self.tally.operations += 1;
        self.write_key(operation.key_id);
        match operation.kind {
            OperationKind::Read => self.read(operation.key_id),
            OperationKind::Update | OperationKind::Insert => {
                self.write_value(operation.key_id, operation.version);
                let times = self.put(operation.key_id, operation.version)?;
                if operation.kind == OperationKind::Insert {
                    self.shared.load.acknowledge(operation.key_id);
                }
                Ok(times)
            }
            OperationKind::ReadModifyWrite => {
                self.write_value(operation.key_id, operation.version);
                let (begun, _) = self.read(operation.key_id)?;
                let (_, done) = self.put(operation.key_id, operation.version)?;
                Ok((begun, done))
            }
            OperationKind::Scan => self.scan(operation),
        }
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
                if let Err(mismatch) = self.shared.values.verify(key_id, bytes) {
                    self.tally.mismatches += 1;
                    let problem = || format!("key {}: {mismatch}", self.key.escape_ascii());
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
        let clock = self.shared.clock;
        self.scanned.clear();
        self.scanned_ends.clear();
        let begun = clock.ticks();
        let (scanned, ends) = (&mut self.scanned, &mut self.scanned_ends);
        // A reader keeps what it scans; verifying is ours, and comes behind the clock.
        let records = self
            .session
            .scan(&self.key, operation.scan_length, &mut |_, value| {
                scanned.extend_from_slice(value);
                ends.push(scanned.len());
            })?;
        let done = clock.ticks();
        self.tally.scanned_records += u64::from(records);
        self.tally.read_bytes += self.scanned.len() as u64;
        let mut start = 0;
        for end in &self.scanned_ends {
            self.tally.verified += 1;
            if let Err(mismatch) = self.shared.values.verify_any(&self.scanned[start..*end]) {
                self.tally.mismatches += 1;
                let problem = || format!("a scan from key {}: {mismatch}", self.key.escape_ascii());
                self.tally.first_problem.get_or_insert_with(problem);
            }
            start = *end;
        }
        Ok((begun, done))
    }
}

fn too_many(error: impl std::fmt::Display) -> KvError {
    KvError::system("draw an operation", error)
}
