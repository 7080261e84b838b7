//! A worker: one thread, one epoll, its share of the connections.

mod shortage;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use outcrop_probe::Clock;
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::accept::{Acceptor, LISTENERS};
use super::budget::Budget;
use super::connection::{Connection, Outcome, Scratch, Terms};
use super::precedence::{Moment, Precedence};
use super::session::{Protocol, Session};
use super::tls::Tls;
use crate::counters::WorkerCounters;
use crate::error::CacheError;
use crate::protocol::seconds::Now;
use crate::protocol::{Context, REPLY_BATCH_BYTES};
use crate::service::Service;
use crate::store::Store;

/// Read at once.
const INPUT_BYTES: usize = 64 << 10;
/// Items of each shard that are read every second to find those that have ended, where nothing is evicted.
const SWEEP_ITEMS: usize = 64 << 10;
/// Events taken at once.
const EVENTS: usize = 256;
/// The first seconds of the store's clock have always passed.
const FIRST_SECOND: u64 = 2;
/// How long the end waits for one more request.
const PATIENCE: Duration = Duration::from_millis(50);
/// epoll's name for the mailbox; connections have their numbers, which are below it.
const MAILBOX: u64 = 1 << 32;
/// The timer that rings every second. Waiting with a limit of its own would set and unset one at every wait.
const TIMER: u64 = MAILBOX + 1;

/// How connections come to a worker from another thread.
#[derive(Debug)]
pub(crate) struct Mailbox {
    arrived: Mutex<VecDeque<(OwnedFd, Protocol)>>,
    bell: OwnedFd,
}

impl Mailbox {
    pub(crate) fn new() -> Result<Self, CacheError> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self {
            arrived: Mutex::default(),
            bell: bell.map_err(|errno| CacheError::System {
                what: "eventfd",
                source: errno.into(),
            })?,
        })
    }

    fn send(&self, socket: OwnedFd, protocol: Protocol) {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        arrived.push_back((socket, protocol));
        drop(arrived);
        self.ring();
    }

    /// Wakes the worker.
    pub(crate) fn ring(&self) {
        // Full means that it rings already.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }
}

/// What all workers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) service: Service,
    pub(crate) budget: Budget,
    pub(crate) tls: Option<Arc<rustls::ServerConfig>>,
    pub(crate) mailboxes: Box<[Mailbox]>,
    pub(crate) is_stopping: AtomicBool,
    pub(crate) clock: Clock,
    pub(crate) epoch_unix_s: i64,
    pub(crate) request_timeout_s: u32,
    pub(crate) grace_ns: u64,
    pub(crate) drain_timeout_s: u32,
}

impl Shared {
    fn now(&self, now_ns: u64) -> Now {
        Now {
            second: (now_ns / 1_000_000_000 + FIRST_SECOND) as u32,
            epoch_unix_s: self.epoch_unix_s - FIRST_SECOND as i64,
        }
    }
}

/// See the module.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    number: usize,
    epoll: OwnedFd,
    timer: OwnedFd,
    connections: Vec<Option<Box<Connection>>>,
    vacant: Vec<usize>,
    scratch: Scratch,
    /// Memory of the connections' buffers.
    held_bytes: usize,
    /// When a connection was last let act.
    moment: Moment,
    /// When the clock was last read.
    now_ns: u64,
    /// Those that hold memory.
    precedence: Precedence,
    acceptor: Option<Acceptor>,
}

impl Worker {
    pub(crate) fn new(
        shared: Arc<Shared>,
        number: usize,
        acceptor: Option<Acceptor>,
    ) -> Result<Self, CacheError> {
        let fail = |errno: rustix::io::Errno| CacheError::System {
            what: "epoll",
            source: errno.into(),
        };
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(fail)?;
        let bell = &shared.mailboxes[number].bell;
        epoll::add(
            &epoll,
            bell,
            epoll::EventData::new_u64(MAILBOX),
            epoll::EventFlags::IN,
        )
        .map_err(fail)?;
        let timer = every_second().map_err(fail)?;
        let edges = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(TIMER), edges).map_err(fail)?;
        let mut worker = Self {
            epoll,
            timer,
            number,
            connections: Vec::new(),
            vacant: Vec::new(),
            scratch: Scratch {
                input: vec![0; INPUT_BYTES].into_boxed_slice(),
                out: Vec::with_capacity(REPLY_BATCH_BYTES),
                plain: Vec::new(),
            },
            held_bytes: 0,
            moment: Moment::default(),
            now_ns: 0,
            precedence: Precedence::default(),
            acceptor,
            shared,
        };
        if let Some(acceptor) = &mut worker.acceptor {
            acceptor.resume(&worker.epoll).map_err(fail)?;
        }
        Ok(worker)
    }

    fn counters(&self) -> &WorkerCounters {
        &self.shared.service.counters[self.number]
    }

    fn read_clock(&mut self) -> Now {
        self.now_ns = self.shared.clock.now_ns();
        self.shared.now(self.now_ns)
    }

    /// Serves until told to stop, then answers what has arrived.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(EVENTS);
        let mut last_second = 0;
        while !self.shared.is_stopping.load(Ordering::Acquire) {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            let now = self.read_clock();
            for at in 0..events.len() {
                let event = events[at];
                if self.shared.is_stopping.load(Ordering::Relaxed) {
                    // The kernel tells of each only once.
                    self.drain(events.split_off(at));
                    return Ok(());
                }
                match event.data.u64() {
                    MAILBOX => {
                        self.open_arrived();
                        // Another worker may have rung for want of memory.
                        self.settle(None, now);
                    }
                    // Unread, it would not ring again.
                    TIMER => drop(rustix::io::read(&self.timer, &mut [0_u8; 8])),
                    listener if listener >= LISTENERS => self.accept((listener - LISTENERS) as usize),
                    number => self.serve(number as usize, event.flags, now),
                }
            }
            if now.second != last_second {
                last_second = now.second;
                self.tick(now);
            }
        }
        self.drain(Vec::new());
        Ok(())
    }

    /// Accepts what waits at a listener, and gives each worker its share.
    fn accept(&mut self, listener: usize) {
        let Some(acceptor) = &mut self.acceptor else {
            return;
        };
        let service = &self.shared.service;
        let counters = &service.counters[self.number];
        for (to, socket, protocol) in acceptor.accept(listener, &self.epoll, service, counters) {
            if to == self.number {
                self.open(socket, protocol);
            } else {
                self.shared.mailboxes[to].send(socket, protocol);
            }
        }
    }

    fn open_arrived(&mut self) {
        let shared = Arc::clone(&self.shared);
        let mailbox = &shared.mailboxes[self.number];
        let _ = rustix::io::read(&mailbox.bell, &mut [0_u8; 8]);
        let arrived = std::mem::take(&mut *mailbox.arrived.lock().unwrap_or_else(PoisonError::into_inner));
        for (socket, protocol) in arrived {
            self.open(socket, protocol);
        }
    }

    fn open(&mut self, socket: OwnedFd, protocol: Protocol) {
        let tls = self.shared.tls.as_ref().map(Tls::new).transpose();
        let Ok(tls) = tls else {
            self.shared.service.connections.fetch_sub(1, Ordering::Relaxed);
            return;
        };
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let data = epoll::EventData::new_u64(number as u64);
        if epoll::add(&self.epoll, &socket, data, interest((true, false))).is_err() {
            self.vacant.push(number);
            self.shared.service.connections.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let session = Session::new(protocol, self.shared.store.max_item_bytes());
        self.moment = self.moment.next(self.now_ns);
        let mut connection = Connection::new(socket, session, tls, self.moment);
        let held = connection.held_bytes();
        connection.place = connection.place_now(held);
        self.precedence.change(number, None, connection.place);
        self.held_bytes += held;
        self.shared.budget.change(0, held);
        self.connections[number] = Some(Box::new(connection));
    }

    fn close(&mut self, number: usize) {
        if let Some(connection) = self.connections[number].take() {
            self.precedence.change(number, connection.place, None);
            self.held_bytes -= connection.held_bytes();
            self.shared.budget.give_back(connection.held_bytes());
            self.vacant.push(number);
            let service = &self.shared.service;
            service
                .buffer_bytes
                .store(self.shared.budget.held_bytes(), Ordering::Relaxed);
            service.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Lets one connection act on an event, or on the next second where there is none.
    fn serve(&mut self, number: usize, flags: epoll::EventFlags, now: Now) {
        let Some(connection) = self.connections.get_mut(number).and_then(Option::as_mut) else {
            return;
        };
        self.moment = self.moment.next(self.now_ns);
        let shared = &*self.shared;
        let context = Context {
            store: &shared.store,
            counters: &shared.service.counters[self.number],
            service: &shared.service,
            now,
        };
        let terms = Terms {
            deadline: now.second + shared.request_timeout_s,
            is_scarce: shared.budget.is_scarce(),
            moment: self.moment,
        };
        // Who has no place holds nothing.
        let held = connection.place.map_or(0, |_| connection.held_bytes());
        let mut outcome = Ok(Outcome::Open);
        if flags.is_empty() {
            outcome = connection.on_second(&mut self.scratch, &context, terms);
        }
        if flags.contains(epoll::EventFlags::OUT) {
            outcome = connection.on_writable(&mut self.scratch, &context, terms);
        }
        let readable = epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
        if flags.intersects(readable | epoll::EventFlags::RDHUP) && matches!(outcome, Ok(Outcome::Open)) {
            let has_ended = flags.contains(epoll::EventFlags::RDHUP);
            outcome = connection.on_readable(&mut self.scratch, &context, terms, has_ended);
        }
        // One that neither reads nor writes would be told of its peer's end for ever.
        let is_gone = flags.intersects(epoll::EventFlags::HUP | epoll::EventFlags::ERR);
        let now_held = connection.held_bytes();
        self.held_bytes = self.held_bytes + now_held - held;
        let wanted = connection.wanted();
        if !matches!(outcome, Ok(Outcome::Open | Outcome::Unread)) || is_gone && !wanted.0 {
            self.shared.budget.change(held, now_held);
            return self.close(number);
        }
        // Asking again makes the kernel tell again what is still to be read.
        if wanted != connection.interest || matches!(outcome, Ok(Outcome::Unread)) {
            connection.interest = wanted;
            let data = epoll::EventData::new_u64(number as u64);
            if epoll::modify(&self.epoll, connection.socket.as_fd(), data, interest(wanted)).is_err() {
                self.shared.budget.change(held, now_held);
                return self.close(number);
            }
        }
        // Nearly all hold nothing, before and after.
        if now_held > 0 || connection.place.is_some() {
            let place = connection.place_now(now_held);
            self.precedence.change(number, connection.place, place);
            connection.place = place;
        }
        if held != now_held {
            self.shared.budget.change(held, now_held);
            self.settle((now_held > held).then_some(number), now);
        }
    }

    /// Once a second: who took too long goes, and accepting goes on.
    fn tick(&mut self, now: Now) {
        for number in 0..self.connections.len() {
            let deadline = self.connections[number]
                .as_ref()
                .map_or(0, |connection| connection.deadline);
            if deadline != 0 && now.second >= deadline {
                self.counters().timed_out.add(1);
                self.close(number);
            } else if self.connections[number]
                .as_ref()
                .is_some_and(|one| one.is_delayed())
            {
                self.serve(number, epoll::EventFlags::empty(), now);
            }
        }
        if self.number == 0 {
            self.shared.store.sweep(SWEEP_ITEMS, now.second);
        }
        if let Some(acceptor) = &mut self.acceptor {
            // Tried again in a second if it fails.
            let _ = acceptor.resume(&self.epoll);
        }
        self.settle(None, now);
        // Where nobody is silent, new ones may still have taken too much: TLS takes some before a client has said a word.
        self.settle(self.precedence.first(), now);
    }

    /// Answers every request that has arrived, sends every reply that is read in time, and closes. It ends in time
    /// whatever clients go on sending: the time is looked at after each connection.
    fn drain(&mut self, mut events: Vec<epoll::Event>) {
        self.acceptor = None;
        self.open_arrived();
        let last = self.read_clock().second + self.shared.drain_timeout_s;
        let mut is_last_read = false;
        events.reserve(EVENTS);
        'draining: loop {
            let wait = if is_last_read { PATIENCE } else { Duration::ZERO };
            let waited = epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                Timespec::try_from(wait).ok().as_ref(),
            );
            for event in &events {
                let now = self.read_clock();
                if now.second > last {
                    break 'draining;
                }
                if event.data.u64() < MAILBOX {
                    self.serve(event.data.u64() as usize, event.flags, now);
                }
            }
            let is_quiet = waited.is_ok() && events.is_empty();
            events.clear();
            is_last_read |= is_quiet;
            let waits = self
                .connections
                .iter()
                .flatten()
                .any(|connection| connection.wanted().1);
            if is_quiet && !waits || self.read_clock().second > last {
                break;
            }
        }
        super::linger::close_all(self.connections.drain(..).flatten(), &self.shared.clock);
    }
}

/// What the kernel is asked to tell of a connection: reading, writing, by edges: by levels it would look at each socket
/// again at the next wait, to find that nothing is left.
fn interest((reads, writes): (bool, bool)) -> epoll::EventFlags {
    let mut interest = epoll::EventFlags::ET;
    interest.set(epoll::EventFlags::IN | epoll::EventFlags::RDHUP, reads);
    interest.set(epoll::EventFlags::OUT, writes);
    interest
}

/// A timer that rings every second, from now on.
fn every_second() -> rustix::io::Result<OwnedFd> {
    let timer = timerfd_create(
        TimerfdClockId::Monotonic,
        TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
    )?;
    let second = Timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };
    let rings = Itimerspec {
        it_interval: second,
        it_value: second,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &rings)?;
    Ok(timer)
}
