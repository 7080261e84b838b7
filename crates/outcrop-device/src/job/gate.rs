//! All jobs start together, or none does.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::DeviceError;
use crate::job::timeline::Timeline;

/// What a job's thread tells the thread that runs them all.
#[derive(Debug)]
enum Event {
    /// Set up and waiting, or not able to.
    SetUp(Result<(), DeviceError>),
    /// Done, drained.
    Finished,
}

#[derive(Clone, Copy, Debug)]
enum Signal {
    Wait,
    Go(Timeline),
    Abort,
}

/// The side of the thread that runs the jobs.
#[derive(Debug)]
pub(crate) struct Gate {
    signal: Mutex<Signal>,
    changed: Condvar,
}

/// One job's way to report. Dropping it without a word counts as a failure, so a panic cannot leave the
/// others waiting.
#[derive(Debug)]
pub(crate) struct Announcer {
    events: Sender<Event>,
    has_announced: bool,
}

/// The events of all jobs.
#[derive(Debug)]
pub(crate) struct Listener {
    events: Receiver<Event>,
    running: u32,
}

impl Gate {
    pub(crate) const fn new() -> Self {
        Self {
            signal: Mutex::new(Signal::Wait),
            changed: Condvar::new(),
        }
    }

    /// One announcer for each job, and who listens to them.
    pub(crate) fn announcers(jobs: u32) -> (Vec<Announcer>, Listener) {
        let (sender, events) = channel();
        let announcers = (0..jobs)
            .map(|_| Announcer {
                events: sender.clone(),
                has_announced: false,
            })
            .collect();
        (
            announcers,
            Listener {
                events,
                running: jobs,
            },
        )
    }

    pub(crate) fn open(&self, timeline: Timeline) {
        self.set(Signal::Go(timeline));
    }

    pub(crate) fn abort(&self) {
        self.set(Signal::Abort);
    }

    fn set(&self, signal: Signal) {
        *self.signal.lock().unwrap_or_else(PoisonError::into_inner) = signal;
        self.changed.notify_all();
    }

    /// Blocks until the start; `None` when another job could not be set up.
    pub(crate) fn wait(&self) -> Option<Timeline> {
        let mut signal = self.signal.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *signal {
                Signal::Wait => {
                    signal = self.changed.wait(signal).unwrap_or_else(PoisonError::into_inner);
                }
                Signal::Go(timeline) => return Some(timeline),
                Signal::Abort => return None,
            }
        }
    }
}

impl Announcer {
    /// Says that this job is ready to start.
    pub(crate) fn ready(&mut self) {
        self.announce(Ok(()));
    }

    /// Says that this job cannot start.
    pub(crate) fn failed(&mut self, error: DeviceError) {
        self.announce(Err(error));
    }

    /// Whether this job has said if it can start.
    pub(crate) const fn has_announced(&self) -> bool {
        self.has_announced
    }

    fn announce(&mut self, outcome: Result<(), DeviceError>) {
        self.has_announced = true;
        // The listener outlives all jobs, so nothing is lost here.
        let _ = self.events.send(Event::SetUp(outcome));
    }
}

impl Drop for Announcer {
    fn drop(&mut self) {
        if !self.has_announced {
            self.failed(DeviceError::Thread {
                reason: "it ended while being set up".to_owned(),
            });
        }
        let _ = self.events.send(Event::Finished);
    }
}

impl Listener {
    /// Waits until every job has said whether it is ready.
    ///
    /// # Errors
    /// The first failure.
    pub(crate) fn all_ready(&mut self) -> Result<(), DeviceError> {
        let mut outcome = Ok(());
        for _ in 0..self.running {
            while let Ok(event) = self.events.recv() {
                match event {
                    Event::SetUp(result) => {
                        outcome = outcome.and(result);
                        break;
                    }
                    Event::Finished => self.running -= 1,
                }
            }
        }
        outcome
    }

    /// Waits until all jobs have finished, but at most so long.
    pub(crate) fn wait(&mut self, at_most: Duration) {
        // One wait per job that finishes in between; each may use the whole limit, so the caller passes
        // what is left of its time and looks at the clock afterwards.
        while self.running > 0 {
            match self.events.recv_timeout(at_most) {
                Ok(Event::Finished) => self.running -= 1,
                Ok(Event::SetUp(_)) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}
