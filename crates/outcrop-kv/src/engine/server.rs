//! Engines that are servers: the user's own `redis-server` or `memcached`, one for each database, asked over a Unix socket in the database's
//! folder and never over a network.

mod life;
mod program;

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use outcrop_cache_client::{Exchange, ExchangeError, Reply, Verb, is_plain_key};
use outcrop_measure::metric::Unavailable;
use outcrop_measure::units::format_bytes;
use outcrop_probe::process::OtherProcess;

use self::life::Life;
pub(super) use self::program::Program;
use super::check_directory;
use crate::error::KvError;
use crate::store::{CompactionState, Opening, Session, Store, StoreCounters, StoreOptions};
use crate::tables::Tables;
use crate::usage::{for_each_file, is_full};

/// Where a server listens, in the database's folder.
const SOCKET: &str = "socket";
/// A server that is silent for longer is given up: a sync of a slow device takes less.
const PATIENCE: Duration = Duration::from_secs(60);
/// A connection that closed belongs to a server that ends: how it ended is known within this time.
const LAST_MOMENTS: Duration = Duration::from_secs(5);
/// Of a key that nobody stores: that it is answered says that the server is ready.
const PROBE: &[u8] = b"outcrop-is-ready";
/// In `Can't handle RDB format version 12`: what Redis says of files that a later version wrote. memcached has none.
const NEWER_FORMAT: &str = "RDB format version";

type Connection = Exchange<UnixStream>;

/// A database that a server of ours holds.
pub(super) struct Served(Arc<Server>);

struct Server {
    program: Program,
    /// Ahead of the folder, which a server that ends still writes to.
    life: Life,
    /// The folder by a descriptor: the address of a socket has 107 bytes at most, and paths may be longer.
    folder: File,
    directory: PathBuf,
    /// The program with its version and its place.
    identity: String,
    memory_bytes: u64,
    /// Why it keeps no files, where it keeps none.
    keeps_files: Result<(), Unavailable>,
}

impl Served {
    /// Starts a server, and waits until it answers. It ends with the thread that calls this.
    pub(super) fn open(
        program: Program,
        options: &StoreOptions,
        directory: &Path,
        opening: Opening,
    ) -> Result<Self, KvError> {
        let keeps_files = super::keeps_files(options);
        if let (Opening::Existing, Err(why)) = (opening, &keeps_files) {
            return Err(KvError::path("open", directory, &why.reason));
        }
        check_directory(directory, opening)?;
        let path = program.find()?;
        let identity = program.identity(&path)?;
        std::fs::create_dir_all(directory).map_err(|error| KvError::path("make", directory, error))?;
        let folder = File::open(directory).map_err(|error| KvError::path("open", directory, error))?;
        if UnixStream::connect(socket_in(&folder)).is_ok() {
            return Err(KvError::locked(directory));
        }
        let memory_bytes = options.memory_bytes();
        let command = program.command(&path, options.durability, memory_bytes, SOCKET);
        let life = Life::begin(command, directory)?;
        let server = Server {
            program,
            life,
            folder,
            directory: directory.to_owned(),
            identity,
            memory_bytes,
            keeps_files,
        };
        let is_ready = || server.is_ready();
        match server.life.wait_until(is_ready) {
            Ok(true) => Ok(Self(Arc::new(server))),
            Ok(false) if opening == Opening::Existing && !is_full(directory) => Err(server.unreadable()),
            Ok(false) => Err(server.ended("did not start to serve")),
            Err(error) => Err(error),
        }
    }
}

/// The way to the socket of a folder that is open.
fn socket_in(folder: &File) -> String {
    format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd())
}

/// Says something, and waits for the answer.
fn ask<'c>(connection: &'c mut Connection, request: &[u8], kind: Verb) -> Result<Reply<'c>, ExchangeError> {
    connection.send(request)?;
    connection.reply(kind)
}

impl Server {
    fn dial(&self) -> io::Result<UnixStream> {
        let stream = UnixStream::connect(socket_in(&self.folder))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    fn connect(&self) -> io::Result<Connection> {
        Ok(Exchange::new(self.dial()?, self.program.wire()))
    }

    /// Whether it answers a question about its records: Redis takes connections before it has read its log, and refuses.
    fn is_ready(&self) -> bool {
        let Ok(mut connection) = self.connect() else {
            return false;
        };
        let mut request = Vec::new();
        connection.wire().write_get(PROBE, &mut request);
        let answer = ask(&mut connection, &request, Verb::Get);
        matches!(answer, Ok(Reply::Miss | Reply::Value(_)))
    }

    /// What went wrong with a connection: mostly that the server has ended, and how.
    fn failed(&self, action: &str, error: &ExchangeError) -> KvError {
        match error {
            ExchangeError::Broken(error)
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
            {
                let silent = format!("it has not answered for {} s", PATIENCE.as_secs());
                KvError::engine(self.program.brand(), action, silent)
            }
            ExchangeError::Broken(error) if !self.life.has_ended_within(LAST_MOMENTS) => {
                KvError::engine(self.program.brand(), action, error)
            }
            ExchangeError::Broken(_) => self.ended("ended"),
            other => KvError::engine(self.program.brand(), action, other),
        }
    }

    /// Why it did not take its own files.
    fn unreadable(&self) -> KvError {
        // Redis names the version first, and then each caller of the reader in it says that it failed.
        if let Some(said) = self.life.said_that(NEWER_FORMAT) {
            return KvError::version(&self.directory, &self.identity, said);
        }
        let said = self.life.said().unwrap_or_default();
        // `…: make a backup of your AOF file, then …`: what to do is said behind it.
        let what = said.split(": make a backup").next().unwrap_or(&said);
        KvError::damaged(&self.directory, what)
    }

    /// How many records it holds.
    fn count_records(&self) -> Result<u64, KvError> {
        let action = "count its records";
        let asked = self.dial().and_then(|mut stream| {
            stream.write_all(self.program.count_question())?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        });
        let answer = asked.map_err(|error| self.failed(action, &error.into()))?;
        self.program
            .count_in(&answer)
            .ok_or_else(|| self.confused(action))
    }

    /// How the server ended.
    fn ended(&self, what: &str) -> KvError {
        let how = format!("{} {what}: {}", self.program.name(), self.life.last_words());
        match is_full(&self.directory) {
            true => KvError::no_space(&self.directory, how),
            false => KvError::Ended { how },
        }
    }

    /// What the server does not do, in its own words.
    fn refused(&self, action: &str, message: &[u8]) -> KvError {
        let said = String::from_utf8_lossy(message);
        if self.program.says_that_memory_is_full(&said) {
            return KvError::OutOfMemory {
                engine: self.program.brand().to_owned(),
                limit: format_bytes(self.memory_bytes),
                detail: said.into_owned(),
            };
        }
        match is_full(&self.directory) {
            true => KvError::no_space(&self.directory, said),
            false => KvError::engine(self.program.brand(), action, said),
        }
    }

    /// An answer that does not belong to the question.
    fn confused(&self, action: &str) -> KvError {
        KvError::engine(self.program.brand(), action, "it answered another request")
    }
}

impl Store for Served {
    fn identity(&self) -> String {
        self.0.identity.clone()
    }

    fn session(&self) -> Result<Box<dyn Session>, KvError> {
        let connected = self.0.connect();
        let connection =
            connected.map_err(|error| self.0.failed("take another connection", &error.into()))?;
        Ok(Box::new(ServedSession {
            connection,
            request: Vec::new(),
            server: Arc::clone(&self.0),
        }))
    }

    fn flush(&self) -> Result<(), KvError> {
        // What was acknowledged is in the files; that they reach the device is not asked of the server but of the kernel.
        for_each_file(&self.0.directory, &mut |path| {
            let synced = File::open(path).and_then(|file| file.sync_all());
            match synced {
                // A log that was rewritten meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                synced => synced.map_err(|error| KvError::path("sync", path, error)),
            }
        })
    }

    fn compaction(&self) -> CompactionState {
        let state = |why: &str, is_busy| CompactionState {
            debt_bytes: Err(Unavailable::because(why)),
            is_busy,
        };
        if let Err(why) = &self.0.keeps_files {
            return state(&why.reason, false);
        }
        let rewriting = self.0.connect().ok().and_then(|mut connection| {
            let mut request = Vec::new();
            self.0.program.write_question(&mut request)?;
            match ask(&mut connection, &request, Verb::Get) {
                Ok(Reply::Value(text)) => Some(self.0.program.is_rewriting(text)),
                _ => None,
            }
        });
        state(
            "Redis rewrites its log as a whole and does not say how much is left",
            rewriting.unwrap_or(false),
        )
    }

    fn counters(&self) -> StoreCounters {
        match &self.0.keeps_files {
            Ok(()) => StoreCounters::unavailable("Redis does not count it"),
            Err(why) => StoreCounters::unavailable(&why.reason),
        }
    }

    fn tables(&self) -> Tables {
        match &self.0.keeps_files {
            Ok(()) => Tables::unavailable("a log has no blocks, index and filters"),
            Err(why) => Tables::unavailable(&why.reason),
        }
    }

    fn records(&self) -> Result<Option<u64>, KvError> {
        self.0.count_records().map(Some)
    }

    fn server(&self) -> Option<OtherProcess> {
        Some(OtherProcess::of(self.0.life.pid()))
    }
}

/// A thread's connection.
struct ServedSession {
    /// Closed ahead of the server, which ends with its last holder.
    connection: Connection,
    /// The request, whose memory is used again.
    request: Vec<u8>,
    server: Arc<Server>,
}

impl ServedSession {
    /// Sends the request and waits for its answer, which is not a refusal.
    fn ask(&mut self, kind: Verb, action: &str) -> Result<(Reply<'_>, &Server), KvError> {
        match ask(&mut self.connection, &self.request, kind) {
            Ok(Reply::Refused(message)) => Err(self.server.refused(action, message)),
            Ok(reply) => Ok((reply, &self.server)),
            Err(error) => Err(self.server.failed(action, &error)),
        }
    }
}

/// memcached would take a line break in a key for the end of the command; Redis is told how long the key is.
fn check_key(program: Program, key: &[u8]) -> Result<(), KvError> {
    match program == Program::Redis || is_plain_key(key) {
        true => Ok(()),
        false => Err(KvError::spec(
            "key",
            format!("`{}`", key.escape_ascii()),
            "1 to 250 bytes without blanks and control characters",
        )),
    }
}

impl Session for ServedSession {
    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, KvError> {
        check_key(self.server.program, key)?;
        self.request.clear();
        self.connection.wire().write_get(key, &mut self.request);
        match self.ask(Verb::Get, "read")? {
            (Reply::Value(value), _) => Ok(Some(value)),
            (Reply::Miss, _) => Ok(None),
            (_, server) => Err(server.confused("read")),
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), KvError> {
        check_key(self.server.program, key)?;
        self.request.clear();
        let write = |out: &mut Vec<u8>| out.extend_from_slice(value);
        let wire = self.connection.wire();
        wire.write_set(key, value.len(), 0, &mut self.request, write);
        match self.ask(Verb::Set, "write")? {
            (Reply::Stored, _) => Ok(()),
            (_, server) => Err(server.confused("write")),
        }
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), KvError> {
        check_key(self.server.program, key)?;
        self.request.clear();
        self.connection.wire().write_delete(key, &mut self.request);
        match self.ask(Verb::Delete, "delete")? {
            (Reply::Deleted | Reply::NotFound, _) => Ok(()),
            (_, server) => Err(server.confused("delete")),
        }
    }

    fn scan(&mut self, _: &[u8], _: u32, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<u32, KvError> {
        Err(super::no_scans(self.server.program.engine()))
    }
}
