//! Waits for the answers of processes, for as long as they do anything.
//!
//! An engine whose threads all wait for each other never answers: fjall 3.1.13 was seen to, with memtables that fill faster than its workers
//! rotate them. What waits for a CPU or a device does something; what sleeps until a moment that was agreed on is not watched.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_measure::units::TimeSpan;
use outcrop_probe::Clock;
use outcrop_probe::process_group::GroupActivity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::KvError;
use crate::process::Worker;
use crate::wire::Answer;

/// Between two looks at the wish to stop.
const LOOK_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// Looks at what processes do, within the time that they may do nothing: so few that a trial of some seconds has none, since each reads a small
/// file for every process of the machine.
const LOOKS: u32 = 12;

/// What processes do, and how long they may do nothing.
pub(crate) struct Watch {
    /// What they do, for an error.
    pub(crate) phase: &'static str,
    /// How long all their threads may wait.
    pub(crate) patience: Duration,
}

/// The answers of all processes, in their order. Raising `stop` ends the wait.
///
/// # Errors
/// What one of them answers, how it ended, or that it does nothing any more.
pub(crate) fn of_all(
    workers: &mut [Worker],
    stop: &AtomicBool,
    watch: Option<&Watch>,
) -> Result<Vec<Answer>, KvError> {
    let mut answers: Vec<Option<Answer>> = workers.iter().map(|_| None).collect();
    let clock = Clock::new();
    // The first look is not at the beginning: most phases are over before it.
    let begun_ns = clock.now_ns();
    let mut looks: Vec<Looks> = workers
        .iter()
        .map(|worker| Looks::at(worker.id(), begun_ns))
        .collect();
    while answers.iter().any(Option::is_none) {
        if stop.load(Ordering::Relaxed) {
            return Err(KvError::Interrupted);
        }
        let waiting: Vec<usize> = (0..answers.len()).filter(|at| answers[*at].is_none()).collect();
        for at in ready(workers, &waiting)? {
            answers[at] = Some(workers[at].answer()?);
        }
        let Some(watch) = watch else { continue };
        for at in waiting.into_iter().filter(|at| answers[*at].is_none()) {
            if looks[at].show_nothing_for(watch.patience, clock.now_ns()) {
                return Err(KvError::Stuck {
                    phase: watch.phase.to_owned(),
                    waited: TimeSpan(watch.patience).to_string(),
                });
            }
        }
    }
    Ok(answers.into_iter().flatten().collect())
}

/// Those of the processes that have answered, or ended; waits a moment for them.
fn ready(workers: &[Worker], waiting: &[usize]) -> Result<Vec<usize>, KvError> {
    let sockets = waiting.iter().map(|at| workers[*at].socket());
    let mut watched: Vec<PollFd<'_>> = sockets.map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
    match poll(&mut watched, Some(&LOOK_INTERVAL)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(KvError::system("wait for processes", error)),
    }
    let is_ready = watched.iter().map(|one| !one.revents().is_empty());
    let ready = waiting.iter().zip(is_ready);
    Ok(ready.filter_map(|(at, is)| is.then_some(*at)).collect())
}

/// Looks at what one process, and what it has started, does.
struct Looks {
    group: u32,
    last: Option<GroupActivity>,
    last_ns: u64,
    /// Those in a row that saw nothing happen. Counted, so that a machine that slept has not waited.
    quiet: u32,
}

impl Looks {
    fn at(group: u32, begun_ns: u64) -> Self {
        Self {
            group,
            last: None,
            last_ns: begun_ns,
            quiet: 0,
        }
    }

    /// Looks, if it is time to. True where nothing has happened for so long.
    fn show_nothing_for(&mut self, patience: Duration, now_ns: u64) -> bool {
        if now_ns - self.last_ns < (patience / LOOKS).as_nanos() as u64 {
            return false;
        }
        self.last_ns = now_ns;
        // Where the kernel does not tell, nobody is accused.
        let activity = GroupActivity::of(self.group).ok();
        let is_quiet = activity
            .as_ref()
            .is_some_and(|now| !now.is_busy() && self.last.as_ref().is_some_and(|last| last == now));
        self.quiet = if is_quiet { self.quiet + 1 } else { 0 };
        self.last = activity;
        self.quiet >= LOOKS
    }
}
