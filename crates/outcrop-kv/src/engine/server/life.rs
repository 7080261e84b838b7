//! The life of a server: started, watched, and ended with its owner.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use outcrop_probe::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::error::KvError;
use crate::last_words::LastWords;
use crate::process::bind_to_us;

/// How long a server may take to serve; reading a long log is part of it.
const START_LIMIT: Duration = Duration::from_secs(300);
/// Between two looks at its socket.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// How long it may take to end before it is killed: Redis brings its log to the device first.
const END_LIMIT: Duration = Duration::from_secs(60);
/// The end of what a server printed that is looked at.
const LAST_WORDS_BYTES: u64 = 4000;

/// A process of ours that is asked to end when this is dropped.
pub(super) struct Life {
    process: Mutex<Child>,
    pid: u32,
    /// Readable once the process has ended.
    end: OwnedFd,
    said: LastWords,
}

impl Life {
    /// Starts a server in the folder of its database. It ends with the thread that calls this.
    pub(super) fn begin(mut command: Command, directory: &Path) -> Result<Self, KvError> {
        let program = command.get_program().to_owned();
        let not_started = |error: std::io::Error| KvError::path("start", Path::new(&program), error);
        let said = LastWords::new()?;
        // Our standard input is the socket to our owner: it waits until a server has closed it too.
        command
            .current_dir(directory)
            .stdin(Stdio::inherit())
            .stdout(said.output()?)
            .stderr(said.output()?);
        bind_to_us(&mut command)?;
        let mut process = command.spawn().map_err(not_started)?;
        let end = match pidfd_open(Pid::from_child(&process), PidfdFlags::empty()) {
            Ok(end) => end,
            Err(error) => {
                // Nobody could wait for it: it goes before it has begun.
                let _ = process.kill();
                let _ = process.wait();
                return Err(KvError::system("watch a process", error));
            }
        };
        Ok(Self {
            pid: process.id(),
            process: Mutex::new(process),
            end,
            said,
        })
    }

    pub(super) const fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until something is so; not, where the process ends before.
    pub(super) fn wait_until(&self, is_so: impl Fn() -> bool) -> Result<bool, KvError> {
        let clock = Clock::new();
        let started_ns = clock.now_ns();
        while !is_so() {
            if self.has_ended_within(LOOK_INTERVAL) {
                return Ok(false);
            }
            if Duration::from_nanos(clock.now_ns() - started_ns) > START_LIMIT {
                let detail = format!("it has not answered for {} s", START_LIMIT.as_secs());
                return Err(KvError::system("wait for a server", detail));
            }
        }
        Ok(true)
    }

    /// Waits for the end of the process, at most so long.
    pub(super) fn has_ended_within(&self, limit: Duration) -> bool {
        let mut watched = [PollFd::new(&self.end, PollFlags::IN)];
        let timeout = Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: limit.subsec_nanos().into(),
        };
        matches!(poll(&mut watched, Some(&timeout)), Ok(count) if count > 0)
    }

    /// How the process ended, and the last that it said.
    pub(super) fn last_words(&self) -> String {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let how = match process.try_wait() {
            Ok(Some(status)) => status.to_string(),
            Ok(None) => "it still runs".to_owned(),
            Err(error) => error.to_string(),
        };
        match self.said() {
            Some(words) => format!("{how}; it said: {words}"),
            None => how,
        }
    }

    /// The first sentence of the last line that it printed.
    pub(super) fn said(&self) -> Option<String> {
        self.said_that("")
    }

    /// The first sentence of the last line that it printed with these words in it.
    pub(super) fn said_that(&self, part: &str) -> Option<String> {
        let end = self.said.end(LAST_WORDS_BYTES);
        // `15538:M 23 Nov 2026 23:17:05.917 # Can't …`: Redis begins with the time.
        let words = |line: &str| line.split_once(" # ").map_or(line, |(_, words)| words).to_owned();
        let mut lines = end.lines().map(|line| words(line.trim()));
        let line = lines.rfind(|line| !line.is_empty() && line.contains(part))?;
        line.split(". ").next().map(str::to_owned)
    }
}

impl Drop for Life {
    /// Asks it to end, and kills it when it does not.
    fn drop(&mut self) {
        for signal in [Signal::TERM, Signal::KILL] {
            // A process that has ended already takes no signal: that is what is wanted.
            let _ = pidfd_send_signal(&self.end, signal);
            if self.has_ended_within(END_LIMIT) {
                break;
            }
        }
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = process.wait();
    }
}
