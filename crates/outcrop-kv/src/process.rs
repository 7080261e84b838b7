//! A process that holds one database: this program again, ended with its owner, even one that is killed.
//!
//! Why not a fork: when a trial starts this process has threads (progress, signals), and an engine's threads and locks would not survive one.

#![expect(
    unsafe_code,
    reason = "what a process does before it begins: ending with its parent"
)]

use std::ffi::OsString;
use std::io::{self, BufReader, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, getpid, getppid, kill_process_group, set_parent_process_death_signal};

use crate::drive::Database;
use crate::engine;
use crate::error::KvError;
use crate::guard::{Guard, keep};
use crate::last_words::LastWords;
use crate::memory_file;
use crate::memory_limit::MemoryLimit;
use crate::spec::{KvSpec, ValueSource};
use crate::store::Opening;
use crate::usage::{has_room_for_a_copy, is_full};
use crate::wire::{Answer, Request, receive, send};

/// What a process has started ends with it, within this time.
const LAST_MOMENTS: Duration = Duration::from_secs(10);
/// The last words of a process that are repeated.
const LAST_WORDS_BYTES: u64 = 400;

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
    /// Where its database is.
    directory: PathBuf,
    /// What it wrote to its standard error.
    said: LastWords,
    /// Behind the process: a limit that holds somebody cannot be removed.
    limit: Option<MemoryLimit>,
}

impl Worker {
    /// Starts a process. It ends with the thread that calls this.
    pub(crate) fn start(
        program: &WorkerProgram,
        guard: &Guard,
        directory: &Path,
        limit: Option<MemoryLimit>,
    ) -> Result<Self, KvError> {
        let (ours, theirs) = UnixStream::pair().map_err(|error| KvError::system("make a socket", error))?;
        let said = LastWords::new()?;
        let mut command = command(program, theirs);
        command.stdout(guard.life_line()?).stderr(said.output()?);
        end_with_us(&mut command);
        let process = command
            .spawn()
            .map_err(|error| KvError::path("start", &program.path, error))?;
        let worker = Self {
            process,
            socket: BufReader::new(ours),
            directory: directory.to_owned(),
            said,
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

    /// Its number, and that of the group of what it starts.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// The socket that is readable when it has answered.
    pub(crate) fn socket(&self) -> &UnixStream {
        self.socket.get_ref()
    }

    /// Its answer; waits for it.
    pub(crate) fn answer(&mut self) -> Result<Answer, KvError> {
        match receive(&mut self.socket) {
            Ok(Some(Answer::Failed(KvError::Ended { how }))) => Err(KvError::Ended {
                how: how.clone() + &self.limit_in_words(&how),
            }),
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

    /// What a limit may have to do with how a process ended.
    fn limit_in_words(&self, how: &str) -> String {
        match &self.limit {
            Some(limit) if how.contains("signal: 9") => {
                format!("; its memory limit of {limit} may be too small")
            }
            _ => String::new(),
        }
    }

    fn described(&self, how: &str) -> KvError {
        // Libraries that assert end themselves on a full disk.
        if is_full(&self.directory) {
            return KvError::no_space(&self.directory, format!("the engine's process ended: {how}"));
        }
        let end = self.said.end(LAST_WORDS_BYTES);
        // What filled it may be gone by now: files of a compaction that was not finished.
        if engine::says_that_a_write_failed(&end) && !has_room_for_a_copy(&self.directory) {
            let why = "a write failed, and less is free than a compaction of the whole database needs";
            return KvError::no_space(
                &self.directory,
                format!("{why}; the engine's process ended: {how}"),
            );
        }
        let words: Vec<&str> = end
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let said = match words.as_slice() {
            [] => String::new(),
            words => format!("; it said: {}", words.join(" ")),
        };
        let limited = self.limit_in_words(how);
        KvError::Ended {
            how: format!("{how}{limited}{said}"),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // While it is not waited for, its number is no one else's, nor that of its group: a server, and what a server has started.
        if matches!(self.process.try_wait(), Ok(None)) {
            let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        }
        // One that has ended already takes no signal: that is what is wanted.
        let _ = self.process.kill();
        let _ = self.process.wait();
        // The last of them closes the socket: until then files of the database may be open.
        let _ = self.socket.get_ref().set_read_timeout(Some(LAST_MOMENTS));
        let mut rest = [0; 4096];
        while matches!(self.socket.read(&mut rest), Ok(length) if length > 0) {}
    }
}

/// Ends what a command starts together with the thread that starts it, even if that is killed.
fn end_with_us(command: &mut Command) {
    let parent = getpid();
    // SAFETY: between fork and exec only system calls are made; nothing is allocated and no lock is taken.
    unsafe { command.pre_exec(move || begin(parent)) };
}

/// The same for a server of a database, which also holds our standard output, so that the guard waits for its end and for that of what it
/// starts itself.
pub(crate) fn bind_to_us(command: &mut Command) -> Result<(), KvError> {
    let life_line = io::stdout().as_fd().try_clone_to_owned();
    let life_line = life_line.map_err(|error| KvError::system("use standard output", error))?;
    // SAFETY: it makes one system call.
    unsafe { command.pre_exec(move || Ok(fcntl_setfd(&life_line, FdFlags::empty())?)) };
    end_with_us(command);
    Ok(())
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
            codec_libraries: database.codec_libraries(),
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
        let bytes = memory_file::shared(path).map_err(|error| KvError::path("read", path, error))?;
        spec.values = ValueSource::CutFrom(bytes);
    }
    Ok(spec)
}
