//! One job on its thread: the stream of requests, and what is done with each completion.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use outcrop_probe::clock::Clock;
use outcrop_workload::{Durability, Submission};

use crate::engine::{Completion, Engine, Wait};
use crate::error::DeviceError;
use crate::job::hand_over::HandOvers;
use crate::job::recorder::{Record, Recorder};
use crate::job::request_stream::RequestStream;
use crate::job::timeline::Timeline;
use crate::job::write_buffers::WriteBuffers;
use crate::memory::{Buffer, BufferRegion};
use crate::report::Ended;
use crate::slots::{Flight, SlotTable, Step};
use crate::spec::JobSpec;

/// What all jobs of a run share.
pub(crate) struct JobContext<'a> {
    pub(crate) spec: &'a JobSpec,
    pub(crate) span_bytes: u64,
    /// How many jobs there are on the targets before this one.
    pub(crate) jobs_before: u32,
    /// To which the threads are bound, where that was asked for.
    pub(crate) cpus: Option<&'a [u32]>,
    pub(crate) clock: &'a Clock,
    /// The caller's flag.
    pub(crate) stop: &'a AtomicBool,
    /// Raised when one job cannot go on, so that the others end too.
    pub(crate) halt: &'a AtomicBool,
    pub(crate) writes: &'a WriteAllowance,
}

/// How much the jobs may still write, where that is limited.
#[derive(Debug)]
pub(crate) struct WriteAllowance {
    left_bytes: Option<AtomicU64>,
    is_exhausted: AtomicBool,
}

impl WriteAllowance {
    pub(crate) fn of(limit_bytes: Option<u64>) -> Self {
        Self {
            left_bytes: limit_bytes.map(AtomicU64::new),
            is_exhausted: AtomicBool::new(false),
        }
    }

    /// Takes `bytes` from what is left; false, from then on for ever, when there is less.
    #[inline]
    fn take(&self, bytes: u64) -> bool {
        let Some(left_bytes) = &self.left_bytes else {
            return true;
        };
        let taken = left_bytes.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(bytes)
        });
        if taken.is_err() {
            self.is_exhausted.store(true, Ordering::Relaxed);
        }
        taken.is_ok()
    }

    fn is_exhausted(&self) -> bool {
        self.is_exhausted.load(Ordering::Relaxed)
    }
}

/// After this many failed requests a job measures the error path and nothing else.
const MAX_ERRORS: u64 = 1000;
/// How long requests in flight are waited for at the end.
const DRAIN_LIMIT: Duration = Duration::from_secs(30);
/// How often a job that is not waiting looks whether it has to end. At depth 1 the CPU idles between two requests, and each
/// flag is on a cache line of its own that has to be fetched anew afterwards.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// With this many requests made ready while reaping, they are handed over before reaping goes on.
///
/// When many completions are seen at once, handing over their successors only at the end makes them travel as
/// one burst, which comes back as one burst: the device idles in between. Handing over each alone (as fio
/// does by default) costs a system call per request. Measured on a busy two-core virtual machine at depth 32,
/// 4 KiB random reads: one burst 76 k IOPS at 3.3 µs of CPU per I/O, each alone 84 k at 3.2 µs, groups of four
/// 95 k at 2.7 µs, groups of eight no different from those.
const HAND_OVER_EVERY: u32 = 4;

/// The memory of one job, before its engine exists.
pub(crate) struct Preparation {
    pub(crate) slots: SlotTable,
    stream: RequestStream,
    read_buffers: Vec<Buffer>,
    write_buffers: Option<WriteBuffers>,
    write_region: u16,
}

impl Preparation {
    /// Maps buffers, fills those for writes, and starts the generators.
    pub(crate) fn new(context: &JobContext<'_>, index: u32) -> Result<Self, DeviceError> {
        let spec = context.spec;
        let stream = RequestStream::new(context, index)?;
        let mut regions = Vec::new();
        let mut read_buffers = Vec::new();
        if spec.read_write_mix.has_reads() {
            let region = BufferRegion::map(spec.queue_depth, spec.io_block_size_bytes)?;
            read_buffers = region.buffers().collect();
            regions.push(region);
        }
        let write_region = regions.len() as u16;
        let mut write_buffers = None;
        if spec.read_write_mix.has_writes() {
            let seed = spec.seed.derive("writes").derive_index(u64::from(index));
            let (buffers, region) =
                WriteBuffers::new(spec.queue_depth, spec.io_block_size_bytes, &spec.content, seed)?;
            write_buffers = Some(buffers);
            regions.push(region);
        }
        let slots = SlotTable::new(spec.queue_depth, spec.io_block_size_bytes as u32, regions);
        Ok(Self {
            slots,
            stream,
            read_buffers,
            write_buffers,
            write_region,
        })
    }
}

/// One job in progress.
///
/// What every request needs is kept here, and not behind `context`, for the reason given at [`LOOK_EVERY`].
pub(crate) struct Worker<'a, E> {
    pub(crate) engine: E,
    pub(crate) context: &'a JobContext<'a>,
    clock: &'a Clock,
    io_block_size_bytes: u64,
    is_open_loop: bool,
    /// When to look next whether to end, in ticks.
    look_at: u64,
    look_every: u64,
    pub(crate) timeline: Timeline,
    pub(crate) recorder: Recorder<'a>,
    pub(crate) ended: Ended,
    prepared: Preparation,
    /// Requests that the kernel has: those handed over and not yet reaped.
    submitted: u32,
    /// Requests made ready since the last handing over.
    ready: u32,
    hand_over_every: u32,
    /// Writes since one that a sync follows.
    writes_unsynced: u32,
    /// Where submissions are timed apart.
    hand_overs: Option<HandOvers>,
}

impl<'a, E: Engine> Worker<'a, E> {
    pub(crate) fn new(
        engine: E,
        context: &'a JobContext<'a>,
        timeline: Timeline,
        prepared: Preparation,
    ) -> Self {
        let recorder = Recorder::new(context.clock, timeline, context.spec);
        Self {
            engine,
            context,
            clock: context.clock,
            io_block_size_bytes: context.spec.io_block_size_bytes,
            is_open_loop: context.spec.arrival.is_open_loop(),
            look_at: 0,
            look_every: context.clock.ticks_in(LOOK_EVERY),
            timeline,
            recorder,
            ended: Ended::Completed,
            prepared,
            submitted: 0,
            ready: 0,
            hand_over_every: match context.spec.submission {
                Submission::Refill => HAND_OVER_EVERY,
                Submission::Batch => u32::MAX,
            },
            writes_unsynced: 0,
            hand_overs: HandOvers::of(context.spec),
        }
    }

    /// Requests without a completion yet.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.prepared.slots.in_flight()
    }

    /// The direction of the next request, without issuing it.
    pub(crate) fn skip_request(&mut self) -> bool {
        self.prepared.stream.next().1
    }

    /// Makes the next request of the stream ready in an empty slot.
    ///
    /// Always inlined, with what it calls: a request that is put together for a call, and copied into its slot there, is read in larger
    /// pieces than it was written in, which the CPU can do only when all stores before are done.
    #[inline(always)]
    pub(crate) fn issue(&mut self, slot: u32, due: u64, now: u64) -> Result<(), DeviceError> {
        let prepared = &mut self.prepared;
        let (offset, is_write) = prepared.stream.next();
        if is_write && !self.context.writes.take(self.io_block_size_bytes) {
            // The slot stays empty: whoever asks next whether to stop is told to.
            self.look_at = 0;
            return Ok(());
        }
        let (buffer, region) = if is_write {
            let buffers = prepared.write_buffers.as_mut().ok_or_else(no_buffer)?;
            let mut buffer = buffers.take().ok_or_else(no_buffer)?;
            buffers.stamp(prepared.slots.bytes_mut(prepared.write_region, &mut buffer));
            (buffer, prepared.write_region)
        } else {
            (prepared.read_buffers.pop().ok_or_else(no_buffer)?, 0)
        };
        let step = if is_write {
            self.step_of_write()
        } else {
            Step::Transfer
        };
        let flight = Flight {
            buffer,
            region,
            is_write,
            offset,
            started: now,
            due,
            step,
        };
        self.board(slot, flight, now)
    }

    /// What the next write has to do.
    #[inline]
    fn step_of_write(&mut self) -> Step {
        match self.context.spec.sync {
            Durability::None => Step::Transfer,
            Durability::Dsync => Step::TransferThrough,
            Durability::After { writes, call } => {
                self.writes_unsynced += 1;
                if self.writes_unsynced < writes.get() {
                    return Step::Transfer;
                }
                self.writes_unsynced = 0;
                Step::TransferThenSync(call)
            }
        }
    }

    /// Makes a request ready, and hands over when enough are.
    #[inline(always)]
    fn board(&mut self, slot: u32, flight: Flight, now: u64) -> Result<(), DeviceError> {
        if self.hand_overs.is_some() {
            self.note_ready(slot, flight.step);
        }
        self.prepared.slots.board(&mut self.engine, slot, flight)?;
        self.ready += 1;
        if self.ready >= self.hand_over_every {
            self.submit(Wait::Nothing, now)?;
        }
        Ok(())
    }

    /// Hands over what is ready, waits, and accounts for the depth. `now` is a recent reading of the clock.
    #[inline]
    pub(crate) fn submit(&mut self, wait: Wait, now: u64) -> Result<(), DeviceError> {
        self.recorder.observe_depth(now, self.submitted);
        self.submitted = self.in_flight();
        self.ready = 0;
        if self.hand_overs.is_some() && self.hand_over_apart()? && wait == Wait::Nothing {
            return Ok(());
        }
        self.engine.submit(wait)
    }

    /// Notes that a request waits to be handed over.
    ///
    /// What is done only where submissions are timed apart is kept out of the loop that all others run: between two
    /// requests of depth 1 the CPU sleeps, and what it has to fetch anew afterwards is paid with each.
    #[cold]
    #[inline(never)]
    fn note_ready(&mut self, slot: u32, step: Step) {
        // The time of a sync belongs to the completion of its write.
        if let (Some(hand_overs), false) = (&mut self.hand_overs, matches!(step, Step::Sync { .. })) {
            hand_overs.make_ready(slot);
        }
    }

    /// Hands over what is ready, in a call by itself: one that also waits returns when completions are there. False where nothing
    /// was ready.
    #[cold]
    #[inline(never)]
    fn hand_over_apart(&mut self) -> Result<bool, DeviceError> {
        let Some(hand_overs) = self.hand_overs.as_mut().filter(|all| all.is_any_ready()) else {
            return Ok(false);
        };
        self.engine.submit(Wait::Nothing)?;
        hand_overs.complete(self.clock.ticks());
        Ok(true)
    }

    /// The next operation that is complete, recorded; `None` when there is none for now. Returns the slot and the time at
    /// which the completion was seen: the one reading of the clock for this request.
    #[inline]
    pub(crate) fn reap(&mut self) -> Result<Option<(u32, u64)>, DeviceError> {
        while let Some(completion) = self.engine.reap() {
            let now = self.clock.ticks();
            self.recorder.observe_depth(now, self.submitted);
            self.submitted -= u32::from(self.submitted > 0);
            if self.settle(completion, now)? {
                return Ok(Some((completion.slot, now)));
            }
        }
        Ok(None)
    }

    /// Whether the slot is empty now, rather than taken by the sync that follows its write.
    #[inline]
    fn settle(&mut self, completion: Completion, now: u64) -> Result<bool, DeviceError> {
        let Some(flight) = self.prepared.slots.land(completion.slot) else {
            debug_assert!(false, "a completion for the empty slot {}", completion.slot);
            return Ok(false);
        };
        let expected = match flight.step {
            Step::Sync { .. } => 0,
            _ => self.io_block_size_bytes,
        };
        let is_whole = i64::from(completion.result) == expected as i64;
        if let (Step::TransferThenSync(call), true) = (flight.step, is_whole) {
            let step = Step::Sync { call, written: now };
            self.board(completion.slot, Flight { step, ..flight }, now)?;
            return Ok(false);
        }
        if !is_whole {
            self.look_at = 0;
            self.recorder.fail(&flight, completion.result, || {
                describe_failure(&flight, completion.result, expected)
            });
        } else {
            if self.is_open_loop {
                self.recorder.complete_open(&flight, now);
            } else {
                self.recorder.complete_closed(&flight, now);
            }
            if let Some(hand_overs) = &self.hand_overs {
                let handed_over = hand_overs.of_slot(completion.slot);
                self.recorder.complete_in_parts(&flight, handed_over, now);
            }
        }
        let Flight { buffer, is_write, .. } = flight;
        match (&mut self.prepared.write_buffers, is_write) {
            (Some(buffers), true) => buffers.give_back(buffer),
            _ => self.prepared.read_buffers.push(buffer),
        }
        Ok(true)
    }

    /// Whether the job has to end before its time. `now` is a recent reading of the clock.
    #[inline]
    pub(crate) fn must_stop(&mut self, now: u64) -> bool {
        now >= self.look_at && self.look_whether_to_stop(now)
    }

    /// Decides how the job is said to have ended, if it has to.
    #[cold]
    #[inline(never)]
    fn look_whether_to_stop(&mut self, now: u64) -> bool {
        self.look_at = now.saturating_add(self.look_every);
        if self.context.stop.load(Ordering::Relaxed) {
            self.ended = Ended::Interrupted;
            return true;
        }
        if self.context.writes.is_exhausted() {
            self.ended = Ended::WriteLimit;
            return true;
        }
        if self.recorder.errors.reads + self.recorder.errors.writes >= MAX_ERRORS {
            self.ended = Ended::Failed;
            self.context.halt.store(true, Ordering::Relaxed);
            return true;
        }
        if self.context.halt.load(Ordering::Relaxed) {
            self.ended = Ended::Failed;
            return true;
        }
        false
    }

    /// Waits until nothing is in flight.
    ///
    /// # Errors
    /// [`DeviceError::Hung`] after [`DRAIN_LIMIT`]; the slot table then keeps the memory for ever.
    pub(crate) fn drain(&mut self) -> Result<(), DeviceError> {
        let give_up = self
            .context
            .clock
            .ticks()
            .saturating_add(self.context.clock.ticks_in(DRAIN_LIMIT));
        while self.in_flight() > 0 {
            self.submit(Wait::Completions(1), self.context.clock.ticks())?;
            while self.reap()?.is_some() {}
            if self.in_flight() > 0 && self.context.clock.ticks() > give_up {
                return Err(DeviceError::Hung {
                    in_flight: self.in_flight(),
                    waited_s: DRAIN_LIMIT.as_secs(),
                });
            }
        }
        Ok(())
    }

    /// The record of a drained job.
    pub(crate) fn finish(self) -> (Ended, Record) {
        let now = self.context.clock.ticks();
        (self.ended, self.recorder.finish(now))
    }
}

/// There are as many buffers as slots, so this is a fault of ours, reported rather than hidden.
#[cold]
fn no_buffer() -> DeviceError {
    DeviceError::Thread {
        reason: "no buffer is free although a slot is".to_owned(),
    }
}

#[cold]
fn describe_failure(flight: &Flight, result: i32, expected: u64) -> String {
    let verb = if flight.is_write { "write" } else { "read" };
    let offset = flight.offset;
    if let (Step::Sync { .. }, true) = (flight.step, result < 0) {
        let error = std::io::Error::from_raw_os_error(-result);
        return format!("sync after the write at offset {offset}: {error}");
    }
    if result < 0 {
        let error = std::io::Error::from_raw_os_error(-result);
        format!("{verb} of {expected} bytes at offset {offset}: {error}")
    } else {
        format!("short {verb} at offset {offset}: {result} of {expected} bytes")
    }
}
