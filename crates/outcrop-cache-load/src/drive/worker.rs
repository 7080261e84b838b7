//! One thread of the driver: its connections, an epoll instance, and the loop that keeps them busy.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use outcrop_cache_client::Reply;
use outcrop_probe::Clock;
use outcrop_workload::keyed::RequestKind;
use rustix::event::epoll;
use rustix::time::{ClockId, TimerfdClockId, TimerfdFlags, clock_gettime, timerfd_create};

use super::book::{Book, Planned};
use super::feed::Feed;
use super::judge::{Judge, Marks};
use super::lane::{Lane, Pending, Received};
use crate::client::open;
use crate::error::CacheLoadError;
use crate::report::Tally;
use crate::spec::LoadSpec;

/// How long connecting may take, and how long a server may be silent while a cache is filled.
const SERVER_LIMIT: Duration = Duration::from_secs(30);
/// How long replies are waited for after the measured time.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
const TIMER: u64 = u64::MAX;

/// What all threads see.
pub(super) struct Shared<'a> {
    pub(super) spec: &'a LoadSpec,
    pub(super) book: &'a Book,
    pub(super) clock: &'a Clock,
    pub(super) stop: &'a AtomicBool,
    /// Answers so far, for progress.
    pub(super) answered: &'a AtomicU64,
}

/// A stretch of a load.
pub(super) struct Phase {
    pub(super) feed: Feed,
    /// Requests in flight on each connection.
    pub(super) pipeline: u32,
    /// Ticks from which due times count, and at which a closed loop sends its first requests.
    pub(super) start_ticks: u64,
    /// No request starts after this; none for a feed that ends by itself.
    pub(super) end_ticks: Option<u64>,
}

impl Phase {
    /// The moments at which an open loop counts the requests that wait; none where nothing is due by a schedule.
    pub(super) fn marks(&self) -> Option<Marks> {
        let end = self.end_ticks.filter(|_| self.feed.is_open_loop())?;
        Some(Marks {
            half_way: self.start_ticks + end.saturating_sub(self.start_ticks) / 2,
            end,
        })
    }
}

/// What a phase yielded on one thread.
pub(super) struct PhaseReport {
    pub(super) tally: Tally,
    pub(super) cpu_ns: u64,
    /// When the first requests of a closed loop were sent; in an open loop, when the first could be due.
    pub(super) began_ticks: u64,
    pub(super) ended_ticks: u64,
    /// When one more request would have been due, where a number of them was asked for in an open loop and all were sent.
    pub(super) next_due_ticks: Option<u64>,
}

pub(super) struct Worker {
    pub(super) lanes: Vec<Lane>,
    pub(super) epoll: OwnedFd,
    pub(super) timer: OwnedFd,
    pub(super) tally: Tally,
    pub(super) in_flight: usize,
    pub(super) broken: usize,
    next_lane: usize,
    /// When a connection had room again, after none had: what was due before waited for the server until then.
    freed_ticks: u64,
    /// Connections with something to send.
    dirty: Vec<usize>,
    key: Vec<u8>,
    last_reply_ticks: u64,
    objective_ticks: u64,
    ticks_per_ns: f64,
}

impl Worker {
    pub(super) fn connect(spec: &LoadSpec, connections: u32) -> Result<Self, CacheLoadError> {
        let system =
            |action: &'static str| move |error: rustix::io::Errno| CacheLoadError::system(action, error);
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system("make an epoll instance"))?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(system("make a timer"))?;
        let edges = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(TIMER), edges)
            .map_err(system("watch a timer"))?;
        let mut lanes = Vec::new();
        for index in 0..connections {
            let stream = open(&spec.target, SERVER_LIMIT)?;
            stream
                .set_nonblocking(true)
                .map_err(|error| CacheLoadError::system("make a socket non-blocking", error))?;
            let data = epoll::EventData::new_u64(u64::from(index));
            epoll::add(&epoll, &stream, data, edges | epoll::EventFlags::OUT)
                .map_err(system("watch a socket"))?;
            lanes.push(Lane::new(stream));
        }
        Ok(Self {
            lanes,
            epoll,
            timer,
            tally: Tally::default(),
            in_flight: 0,
            broken: 0,
            next_lane: 0,
            freed_ticks: 0,
            dirty: Vec::new(),
            key: Vec::new(),
            last_reply_ticks: 0,
            objective_ticks: 0,
            ticks_per_ns: 1.0,
        })
    }

    /// The server's address, by which its process is found.
    pub(super) fn peer_address(&self) -> Option<std::net::SocketAddr> {
        self.lanes.first().and_then(|lane| lane.stream.peer_addr().ok())
    }

    /// Ours, of the same connection.
    pub(super) fn local_address(&self) -> Option<std::net::SocketAddr> {
        self.lanes.first().and_then(|lane| lane.stream.local_addr().ok())
    }

    /// Runs a phase to its end and waits for the replies.
    pub(super) fn run(
        &mut self,
        shared: &Shared<'_>,
        mut phase: Phase,
    ) -> Result<PhaseReport, CacheLoadError> {
        let clock = shared.clock;
        let mut began_ticks = phase.start_ticks;
        if !phase.feed.is_open_loop() {
            began_ticks = self.wait_for_start(shared, &phase)?;
        }
        let cpu_before_ns = thread_cpu_ns();
        self.tally = Tally::default();
        self.freed_ticks = 0;
        self.last_reply_ticks = clock.ticks();
        self.ticks_per_ns = clock.ticks_in(Duration::from_secs(1)) as f64 / 1e9;
        self.objective_ticks = match shared.spec.objective {
            Some(objective) => clock.ticks_in(objective.limit.duration()),
            None => 0,
        };
        // A server that is silent for longer than this ends the phase.
        let patience_ticks = match phase.end_ticks {
            Some(_) => clock.ticks_in(DRAIN_LIMIT),
            None => clock.ticks_in(SERVER_LIMIT),
        };
        let mut events = Vec::with_capacity(self.lanes.len().clamp(16, 1024));
        if !phase.feed.is_open_loop() {
            self.prime(shared, &mut phase);
        }
        loop {
            let now = clock.ticks();
            let is_over =
                phase.end_ticks.is_some_and(|end| now >= end) || shared.stop.load(Ordering::Relaxed);
            if phase.feed.is_open_loop() {
                self.issue_due(shared, &mut phase, now);
            }
            self.flush(shared, &phase);
            if self.broken == self.lanes.len() {
                return Err(self.all_broken(shared));
            }
            if self.is_done(shared, &phase, is_over) {
                break;
            }
            let silent_since = self.last_reply_ticks.max(phase.end_ticks.unwrap_or(0));
            if now.saturating_sub(silent_since) > patience_ticks && self.in_flight > 0 {
                self.give_up(shared, &mut phase, now)?;
                break;
            }
            events.clear();
            self.wait(shared, &phase, now, &mut events)?;
            for event in &events {
                let lane = event.data.u64();
                if lane != TIMER {
                    self.serve(shared, &mut phase, lane as usize);
                }
            }
        }
        Ok(PhaseReport {
            tally: std::mem::take(&mut self.tally),
            cpu_ns: thread_cpu_ns().saturating_sub(cpu_before_ns),
            began_ticks,
            ended_ticks: clock.ticks(),
            next_due_ticks: phase.feed.end_ns().map(|end_ns| self.due_ticks(&phase, end_ns)),
        })
    }

    /// Fills every connection of a closed loop.
    fn prime(&mut self, shared: &Shared<'_>, phase: &mut Phase) {
        let now = shared.clock.ticks();
        for lane in 0..self.lanes.len() {
            self.refill(shared, phase, lane, now);
        }
    }

    /// Whether nothing is left to do: nothing in flight, and nothing more to come.
    fn is_done(&self, shared: &Shared<'_>, phase: &Phase, is_over: bool) -> bool {
        if self.in_flight > 0 {
            return shared.stop.load(Ordering::Relaxed);
        }
        if !phase.feed.is_open_loop() {
            // A closed loop with nothing in flight had nothing more to ask for.
            return true;
        }
        match phase.feed.next_due_ns() {
            None => true,
            Some(_) if shared.stop.load(Ordering::Relaxed) => true,
            Some(due_ns) => {
                is_over
                    && phase
                        .end_ticks
                        .is_some_and(|end| self.due_ticks(phase, due_ns) >= end)
            }
        }
    }

    /// A float carries a day to 0.02 ns, and is quicker than a division of 128 bits.
    pub(super) fn due_ticks(&self, phase: &Phase, due_ns: u64) -> u64 {
        phase.start_ticks + (due_ns as f64 * self.ticks_per_ns) as u64
    }

    /// Requests that all connections which still work may have in flight.
    pub(super) fn room(&self, phase: &Phase) -> usize {
        (self.lanes.len() - self.broken) * phase.pipeline as usize
    }

    /// Starts what is due and finds a connection with room; the rest stays due.
    fn issue_due(&mut self, shared: &Shared<'_>, phase: &mut Phase, now: u64) {
        let pipeline = phase.pipeline as usize;
        let room = self.room(phase);
        while self.in_flight < room
            && let Some(due_ns) = phase.feed.next_due_ns()
        {
            let due = self.due_ticks(phase, due_ns);
            if due > now || phase.end_ticks.is_some_and(|end| due >= end) {
                return;
            }
            let Some(lane) = self.lane_with_room(pipeline) else {
                return;
            };
            if let Some((_, planned)) = phase.feed.take(shared.book) {
                self.tally.due += 1;
                let late = now.saturating_sub(due.max(self.freed_ticks));
                self.tally.lateness.record(shared.clock.nanos(late));
                self.push(shared, lane, planned, due, now, false);
            }
        }
    }

    /// Round robin over connections that have room.
    fn lane_with_room(&mut self, pipeline: usize) -> Option<usize> {
        for _ in 0..self.lanes.len() {
            let lane = self.next_lane;
            self.next_lane = if lane + 1 == self.lanes.len() { 0 } else { lane + 1 };
            if !self.lanes[lane].is_broken && self.lanes[lane].pending.len() < pipeline {
                return Some(lane);
            }
        }
        None
    }

    #[inline]
    fn push(
        &mut self,
        shared: &Shared<'_>,
        index: usize,
        planned: Planned,
        intended: u64,
        now: u64,
        is_fill: bool,
    ) {
        let lane = &mut self.lanes[index];
        if lane.out().is_empty() {
            self.dirty.push(index);
        }
        shared.book.write(&planned, &mut self.key, lane.out());
        lane.pending.push_back(Pending {
            planned,
            intended_ticks: intended,
            ready_ticks: now,
            is_fill,
        });
        self.in_flight += 1;
    }

    /// Closed loop: asks for as much as came back.
    #[inline]
    fn refill(&mut self, shared: &Shared<'_>, phase: &mut Phase, lane: usize, now: u64) {
        if phase.end_ticks.is_some_and(|end| now >= end) || shared.stop.load(Ordering::Relaxed) {
            return;
        }
        while self.lanes[lane].pending.len() < phase.pipeline as usize {
            let Some(planned) = phase.feed.next(shared.book) else {
                return;
            };
            self.push(shared, lane, planned, now, now, false);
        }
    }

    fn flush(&mut self, shared: &Shared<'_>, phase: &Phase) {
        while let Some(index) = self.dirty.pop() {
            if !self.lanes[index].is_broken
                && let Err(error) = self.lanes[index].flush()
            {
                self.break_lane(shared, phase, index, &error.to_string());
            }
        }
    }

    /// Sends, receives and judges what one connection is ready for.
    fn serve(&mut self, shared: &Shared<'_>, phase: &mut Phase, index: usize) {
        if self.lanes[index].is_broken {
            return;
        }
        if let Err(error) = self.lanes[index].flush() {
            return self.break_lane(shared, phase, index, &error.to_string());
        }
        loop {
            let received = match self.lanes[index].receive() {
                Ok(received) => received,
                Err(error) => return self.break_lane(shared, phase, index, &error.to_string()),
            };
            let now = shared.clock.ticks();
            if let Err(why) = self.judge_replies(shared, phase, index, now) {
                return self.break_lane(shared, phase, index, &why);
            }
            if !phase.feed.is_open_loop() {
                let now = shared.clock.ticks();
                self.refill(shared, phase, index, now);
            }
            if received == Received::Drained {
                return;
            }
        }
    }

    fn judge_replies(
        &mut self,
        shared: &Shared<'_>,
        phase: &Phase,
        index: usize,
        now: u64,
    ) -> Result<(), String> {
        let is_over = phase.end_ticks.is_some_and(|end| now >= end);
        let marks = phase.marks();
        let mut judged = 0;
        let was_full = self.in_flight >= self.room(phase);
        // Sets on miss are asked for behind the loop, which borrows the connection.
        let mut fills: Vec<Planned> = Vec::new();
        let lane = &mut self.lanes[index];
        loop {
            let waits_for = lane.waits_for();
            match lane.next_reply(&shared.book.wire) {
                Ok(None) => break,
                Err(not) => {
                    let kind = waits_for.map_or("nothing", RequestKind::name);
                    return Err(format!(
                        "it answered a {kind} with `{}`; expected {}{}",
                        not.seen,
                        not.expected,
                        not.hint()
                    ));
                }
                Ok(Some((pending, reply))) => {
                    judged += 1;
                    let mut judge = Judge {
                        book: shared.book,
                        clock: shared.clock,
                        tally: &mut self.tally,
                        now,
                        is_over,
                        is_open_loop: phase.feed.is_open_loop(),
                        marks,
                        objective_ticks: self.objective_ticks,
                    };
                    judge.judge(&pending, reply);
                    let is_miss = pending.planned.kind == RequestKind::Get && reply == Reply::Miss;
                    if is_miss && shared.spec.sets_on_miss && !is_over {
                        fills.push(Planned {
                            kind: RequestKind::Set,
                            ..pending.planned
                        });
                    }
                }
            }
        }
        if judged > 0 {
            self.in_flight -= judged;
            self.last_reply_ticks = now;
            shared.answered.fetch_add(judged as u64, Ordering::Relaxed);
        }
        for planned in fills {
            self.push(shared, index, planned, now, now, true);
        }
        if was_full && self.in_flight < self.room(phase) {
            self.freed_ticks = now;
        }
        Ok(())
    }
}

/// CPU time of this thread.
fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
