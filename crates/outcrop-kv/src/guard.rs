//! What cleans up behind a process that is killed: another one, which waits for its end and does nothing else.
//!
//! A process that gets SIGKILL removes nothing. The guard is started ahead of a trial, holds one end of a socket, and waits until the other
//! end is closed: by the process that measures and by all that hold its databases, whichever way they end. Killed with them (a container
//! that stops, a power cut), it leaves the folder to the next run; see [`folder`](crate::folder).

use std::io::{BufReader, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::error::KvError;
use crate::folder::{AbandonedDatabases, DatabaseFolder};
use crate::memory_limit;
use crate::process::{WorkerProgram, command};
use crate::wire::{Answer, Request, receive, send};

/// Of what it says when it cannot begin.
const MOST_WORDS_BYTES: u64 = 400;

/// A process of ours that removes what this one leaves if it is killed. It ends when this is dropped.
pub(crate) struct Guard {
    process: Child,
    /// Closed with this process.
    life: Option<UnixStream>,
}

impl Guard {
    /// Starts the process, and waits until it is there.
    pub(crate) fn start(program: &WorkerProgram, directory: &Path) -> Result<Self, KvError> {
        let (ours, theirs) = UnixStream::pair().map_err(|error| KvError::system("make a socket", error))?;
        let process = command(program, theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| KvError::path("start", &program.path, error))?;
        let mut guard = Self {
            process,
            life: Some(ours),
        };
        let request = Request::Guard {
            directory: directory.to_owned(),
            maker: std::process::id(),
        };
        let answer = guard
            .tell(&request)
            .and_then(|()| receive(BufReader::new(guard.life()?)));
        match answer {
            Ok(Some(Answer::Guards)) => Ok(guard),
            Ok(Some(Answer::Failed(error))) => Err(error),
            _ => Err(guard.ended()),
        }
    }

    /// How it ended that did not answer, and what it said.
    fn ended(&mut self) -> KvError {
        self.life = None;
        let status = self.process.wait();
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        let mut said = String::new();
        if let Some(errors) = self.process.stderr.take() {
            // What is no text is not repeated.
            let _ = errors.take(MOST_WORDS_BYTES).read_to_string(&mut said);
        }
        let words: Vec<&str> = said.split_whitespace().collect();
        KvError::Ended {
            how: format!("{status}; it said: {}", words.join(" ")),
        }
    }

    /// What a process inherits so that the guard waits for its end too.
    pub(crate) fn life_line(&self) -> Result<OwnedFd, KvError> {
        let copy = self.life()?.try_clone();
        copy.map(OwnedFd::from)
            .map_err(|error| KvError::system("copy a socket", error))
    }

    fn life(&self) -> Result<&UnixStream, KvError> {
        let ended = || KvError::system("speak to the process that cleans up", "it is dismissed");
        self.life.as_ref().ok_or_else(ended)
    }

    fn tell(&self, request: &Request) -> Result<(), KvError> {
        send(self.life()?, request)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // One that is gone already needs no dismissal. What a library printed may not have ended its line.
        let _ = self.life().map(|mut life| life.write_all(b"\n"));
        let _ = self.tell(&Request::Close);
        self.life = None;
        let _ = self.process.wait();
    }
}

/// Waits until nobody has the other end of the socket, and removes what a process left in the directory unless it said that it did so itself.
pub(crate) fn keep(mut from: impl Read, directory: &Path, maker: u32) -> Result<(), KvError> {
    // What libraries print comes this way too: only the very end counts.
    let mut said = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => {
                said.extend_from_slice(&bytes[..length]);
                said.drain(..said.len().saturating_sub(bytes.len()));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Whether the process has ended is not known then, and the next run removes what it left.
            Err(error) => return Err(KvError::system("wait for the end of a run", error)),
        }
    }
    let last = said.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty());
    if last.is_some_and(|line| matches!(serde_json::from_slice(line), Ok(Request::Close))) {
        return Ok(());
    }
    let left = DatabaseFolder::left_by(maker, directory);
    let removed: Result<(), KvError> = left.and_then(|folders| {
        // All of them, whatever becomes of one.
        let removed: Vec<_> = folders.into_iter().map(AbandonedDatabases::remove).collect();
        removed.into_iter().collect()
    });
    memory_limit::until_it_is_free(|| memory_limit::remove_of(maker));
    removed
}
