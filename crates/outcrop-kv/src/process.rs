//! A process that holds one database: this program again, ended with its owner, even one that is killed.
//!
//! Why not a fork: when a trial starts this process has threads (progress, signals), and an engine's threads and locks would not survive one.

#![expect(
    unsafe_code,
    reason = "what a process does before it begins: ending with its parent"
)]

use std::ffi::OsString;
use std::io::{self, BufReader};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use crate::drive::Database;
use crate::error::KvError;
use crate::guard::{Guard, keep};
use crate::memory_limit::MemoryLimit;
use crate::spec::{KvSpec, ValueSource};
use crate::store::Opening;
use crate::usage::is_full;
use crate::wire::{Answer, Request, receive, send};

/// The last words of a process that are repeated.
const LAST_WORDS_BYTES: usize = 400;

/// How a process that holds a database is started: it has to call [`serve_parent`] at once.
#[derive(Clone, Debug)]
pub struct WorkerProgram {
    /// The program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl WorkerProgram {
    /// This very program, with these arguments.
    pub fn this(arguments: &[&str]) -> Self {
        Self {
            path: PathBuf::from("/proc/self/exe"),
            arguments: arguments.iter().map(OsString::from).collect(),
        }
    }
}

/// This program again, which hears us over its standard input.
pub(crate) fn command(program: &WorkerProgram, input: UnixStream) -> Command {
    let mut command = Command::new(&program.path);
    // A group of its own: a Ctrl-C of the terminal reaches us, and we end it.
    command
        .args(&program.arguments)
        .process_group(0)
        .stdin(Stdio::from(OwnedFd::from(input)));
    command
}

/// A process of ours that holds a database. It is killed when this is dropped.
pub(crate) struct Worker {
    process: Child,
    socket: BufReader<UnixStream>,
    /// What it wrote to its standard error.
    last_words: PathBuf,
    /// Behind the process: a limit that holds somebody cannot be removed.
    limit: Option<MemoryLimit>,
}

impl Worker {
    /// Starts a process. It ends with the thread that calls this.
    pub(crate) fn start(
        program: &WorkerProgram,
        guard: &Guard,
        last_words: &Path,
        limit: Option<MemoryLimit>,
    ) -> Result<Self, KvError> {
        let (ours, theirs) = UnixStream::pair().map_err(|error| KvError::system("make a socket", error))?;
        let errors =
            std::fs::File::create(last_words).map_err(|error| KvError::path("make", last_words, error))?;
        let mut command = command(program, theirs);
        command.stdout(guard.life_line()?).stderr(errors);
        let parent = getpid();
        // SAFETY: between fork and exec only system calls are made; nothing is allocated and no lock is taken.
        unsafe { command.pre_exec(move || begin(parent)) };
        let process = command
            .spawn()
            .map_err(|error| KvError::path("start", &program.path, error))?;
        let worker = Self {
            process,
            socket: BufReader::new(ours),
            last_words: last_words.to_owned(),
            limit,
        };
        if let Some(limit) = &worker.limit {
            limit.take_in(worker.process.id())?;
        }
        Ok(worker)
    }

    pub(crate) fn ask(&self, request: &Request) -> Result<(), KvError> {
        send(self.socket.get_ref(), request).map_err(|error| self.ended().unwrap_or(error))
    }

    /// The socket that is readable when it has answered.
    pub(crate) fn socket(&self) -> &UnixStream {
        self.socket.get_ref()
    }

    /// Its answer; waits for it.
    pub(crate) fn answer(&mut self) -> Result<Answer, KvError> {
        match receive(&mut self.socket) {
            Ok(Some(Answer::Failed(error))) => Err(error),
            Ok(Some(answer)) => Ok(answer),
            // A socket that closed, or was reset: how the process ended says more.
            Ok(None) | Err(_) => {
                let status = self.process.wait();
                let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
                Err(self.described(&how))
            }
        }
    }

    /// Why it cannot be spoken to, where it said so before.
    fn ended(&self) -> Option<KvError> {
        let mut socket = BufReader::new(self.socket.get_ref());
        match receive(&mut socket) {
            Ok(Some(Answer::Failed(error))) => Some(error),
            _ => Some(self.described("before it answered")),
        }
    }

    fn described(&self, how: &str) -> KvError {
        // Libraries that assert end themselves on a full disk, and cannot even say so there.
        let directory = self.last_words.parent().unwrap_or(&self.last_words);
        if is_full(directory) {
            return KvError::no_space(directory, format!("the engine's process ended: {how}"));
        }
        let said = std::fs::read(&self.last_words).unwrap_or_default();
        let end = String::from_utf8_lossy(&said[said.len().saturating_sub(LAST_WORDS_BYTES)..]).into_owned();
        let words: Vec<&str> = end
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let limited = match &self.limit {
            Some(limit) if how.contains("signal: 9") => {
                format!("; its memory limit of {limit} may be too small")
            }
            _ => String::new(),
        };
        let said = match words.as_slice() {
            [] => String::new(),
            words => format!("; it said: {}", words.join(" ")),
        };
        KvError::Ended {
            how: format!("{how}{limited}{said}"),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // One that has ended already takes no signal: that is what is wanted.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the new process does before it becomes this program again.
fn begin(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Who was killed before that is not told any more.
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(io::ErrorKind::Interrupted.into())
    }
}

/// What a process that was started by [`run`](crate::run) does: it holds one database, and does what its parent asks over standard input.
///
/// It returns when the parent closes the socket.
///
/// # Errors
/// Standard input is not the socket of a parent.
pub fn serve_parent() -> Result<(), KvError> {
    let input = io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(|error| KvError::system("use standard input", error))?;
    let socket = UnixStream::from(input);
    let to = socket
        .try_clone()
        .map_err(|error| KvError::system("use standard input", error))?;
    let mut from = BufReader::new(socket);
    let (spec, directory, process, value_bytes) = match receive(&mut from) {
        Ok(Some(Request::Open {
            spec,
            directory,
            process,
            value_bytes,
        })) => (spec, directory, process, value_bytes),
        Ok(Some(Request::Guard { directory, maker })) => {
            send(&to, &Answer::Guards)?;
            return keep(from, &directory, maker);
        }
        _ => {
            return Err(KvError::system(
                "hold a database",
                "this command is for Outcrop's own use; measure engines with `outcrop kv`",
            ));
        }
    };
    let opened = with_values(*spec, value_bytes.as_deref());
    let spec = match opened {
        Ok(spec) => spec,
        Err(error) => return send(&to, &Answer::Failed(error)),
    };
    let database = match Database::open(&spec, &directory, process, Opening::Create) {
        Ok(database) => database,
        Err(error) => return send(&to, &Answer::Failed(error)),
    };
    send(
        &to,
        &Answer::Opened {
            identity: database.identity(),
        },
    )?;
    while let Some(request) = receive(&mut from)? {
        let answer = match request {
            Request::Open { .. } | Request::Guard { .. } => {
                Err(KvError::system("open a database", "one is open"))
            }
            Request::Load(timing) => database
                .load(timing, None)
                .map(|report| Answer::Loaded(Box::new(report))),
            Request::Settle => database.settle().map(|report| Answer::Settled(Box::new(report))),
            Request::Run(timing) => database
                .run(timing, None)
                .map(|report| Answer::Ran(Box::new(report))),
            Request::Close => break,
        };
        let answer = answer.unwrap_or_else(Answer::Failed);
        send(&to, &answer)?;
    }
    drop(database);
    // Nobody may be there to hear it.
    let _ = send(&to, &Answer::Closed);
    Ok(())
}

/// The spec with the bytes that values are cut from.
fn with_values(mut spec: KvSpec, path: Option<&Path>) -> Result<KvSpec, KvError> {
    if let Some(path) = path {
        let bytes = std::fs::read(path).map_err(|error| KvError::path("read", path, error))?;
        spec.values = ValueSource::CutFrom(bytes.into());
    }
    Ok(spec)
}
