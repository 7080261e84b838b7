//! The server: listening sockets, one thread per core, connections under limits.

mod accept;
mod budget;
mod buffer;
mod connection;
mod linger;
mod listen;
mod precedence;
mod session;
mod tls;
mod worker;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use outcrop_probe::{Clock, clock};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::counters::WorkerCounters;
use crate::error::CacheError;
use crate::login::Logins;
use crate::service::Service;
use crate::store::{Store, StoreOptions, StoreReport};
use accept::Acceptor;
use budget::Budget;
pub use listen::loopback;
pub use session::Protocol;
pub(crate) use session::Session;
pub use tls::TlsFiles;
use worker::{Mailbox, Shared, Worker};

/// Descriptors that are no connections: the program's own, listeners,
const OTHER_DESCRIPTORS: u64 = 24;
/// and those of each thread.
const THREAD_DESCRIPTORS: u64 = 4;
/// A server for fewer connections than this, where more were asked for, is a mistake of the environment.
const FEWEST_CONNECTIONS: u64 = 16;

/// What to serve, where, and to how many.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Of the store.
    pub store: StoreOptions,
    /// Addresses of the memcached protocol; none to leave it out.
    pub memcached: Vec<SocketAddr>,
    /// Addresses of the HTTP interface; none to leave it out.
    pub http: Vec<SocketAddr>,
    /// Addresses of Redis's protocol; none to leave it out.
    pub redis: Vec<SocketAddr>,
    /// Threads that serve.
    pub threads: usize,
    /// Most connections at once.
    pub max_connections: u64,
    /// Seconds in which a request has to be complete.
    pub request_timeout_s: u32,
    /// Milliseconds after its last progress in which a connection is not closed to make room for another one's buffers.
    pub grace_ms: u32,
    /// Seconds in which replies have to be read when the server ends.
    pub drain_timeout_s: u32,
    /// Speak TLS only, with this certificate.
    pub tls: Option<TlsFiles>,
    /// Serve only who logs in as one of this file's users: a line `name:password` each.
    pub login_file: Option<PathBuf>,
    /// Listen on addresses that other machines reach, without login and TLS.
    pub is_exposed: bool,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            store: StoreOptions::default(),
            memcached: loopback(11211).to_vec(),
            http: Vec::new(),
            redis: Vec::new(),
            threads: 1,
            max_connections: 10_000,
            request_timeout_s: 60,
            grace_ms: 250,
            drain_timeout_s: 5,
            tls: None,
            login_file: None,
            is_exposed: false,
        }
    }
}

/// A running server. [`Server::stop`] ends it; so does dropping it.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<std::io::Result<()>>>,
    addresses: Vec<(Protocol, SocketAddr)>,
}

/// Threads beyond this are a mistake: each has its own core.
const MOST_THREADS: usize = 1024;

impl Server {
    /// Binds the addresses and starts the threads.
    ///
    /// # Errors
    /// When an option is out of range, an address may not be served or is taken, or the system refuses a thread.
    pub fn start(options: &ServerOptions) -> Result<Self, CacheError> {
        let exposed = options
            .memcached
            .iter()
            .chain(&options.http)
            .chain(&options.redis)
            .find(|address| !address.ip().is_loopback());
        let is_guarded = options.tls.is_some() || options.login_file.is_some();
        if let Some(&address) = exposed.filter(|_| !options.is_exposed && !is_guarded) {
            return Err(CacheError::Exposed { address });
        }
        let tls = options.tls.as_ref().map(tls::configuration).transpose()?;
        let logins = options.login_file.as_deref().map(Logins::read).transpose()?;
        let threads = options.threads;
        if !(1..=MOST_THREADS).contains(&threads) {
            return Err(CacheError::Option {
                field: "threads",
                seen: threads.to_string(),
                expected: format!("1 to {MOST_THREADS}"),
            });
        }
        let mut listeners = listen::bind_all(&options.memcached, Protocol::Memcached)?;
        listeners.append(&mut listen::bind_all(&options.http, Protocol::Http)?);
        listeners.append(&mut listen::bind_all(&options.redis, Protocol::Redis)?);
        let addresses = listeners
            .iter()
            .map(|listener| (listener.protocol, listener.address))
            .collect();
        let mut store = options.store.clone();
        store.shards = store.shards.max(if threads == 1 { 1 } else { 4 * threads });
        let mailboxes: Result<Box<[_]>, _> = (0..threads).map(|_| Mailbox::new()).collect();
        let store = Store::new(&store)?;
        check_longest_item(&options.store)?;
        let budget = Budget::new(options.store.memory_bytes, &store);
        let shared = Arc::new(Shared {
            store,
            service: Service {
                counters: (0..threads).map(|_| WorkerCounters::default()).collect(),
                memory_bytes: options.store.memory_bytes,
                logins,
                max_connections: affordable_connections(options)?,
                connections: AtomicU64::new(0),
                buffer_bytes: AtomicU64::new(0),
                since: AtomicU64::new(2),
            },
            budget,
            tls,
            mailboxes: mailboxes?,
            is_stopping: AtomicBool::new(false),
            clock: Clock::new(),
            epoch_unix_s: clock::unix_now().as_secs() as i64,
            request_timeout_s: options.request_timeout_s,
            grace_ns: u64::from(options.grace_ms) * 1_000_000,
            drain_timeout_s: options.drain_timeout_s,
        });
        let mut server = Self {
            shared,
            threads: Vec::new(),
            addresses,
        };
        server.spawn(threads, Acceptor::new(listeners))?;
        Ok(server)
    }

    fn spawn(&mut self, threads: usize, acceptor: Acceptor) -> Result<(), CacheError> {
        let mut acceptor = Some(acceptor);
        for number in 0..threads {
            let worker = Worker::new(Arc::clone(&self.shared), number, acceptor.take())?;
            let thread = std::thread::Builder::new().name(format!("cache-{number}"));
            let spawned = thread.spawn(move || worker.run());
            let what = "starting a thread";
            self.threads
                .push(spawned.map_err(|source| CacheError::System { what, source })?);
        }
        Ok(())
    }

    /// Where it listens, with the ports that were chosen.
    pub fn addresses(&self) -> &[(Protocol, SocketAddr)] {
        &self.addresses
    }

    /// Most connections that it takes: fewer than asked for where descriptors are few.
    pub fn max_connections(&self) -> u64 {
        self.shared.service.max_connections
    }

    /// The store now.
    pub fn store_report(&self) -> StoreReport {
        self.shared.store.report()
    }

    /// Connections open now.
    pub fn connections(&self) -> u64 {
        self.shared.service.connections.load(Ordering::Relaxed)
    }

    /// Answers what has arrived, closes everything, and returns when all threads have ended.
    ///
    /// # Errors
    /// When a thread had ended early, with its reason.
    pub fn stop(mut self) -> Result<(), CacheError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), CacheError> {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.shared.mailboxes.iter().for_each(Mailbox::ring);
        let mut result = Ok(());
        for thread in self.threads.drain(..) {
            let ended = thread
                .join()
                .unwrap_or_else(|_| Err(std::io::Error::other("a worker panicked")));
            if let Err(source) = ended {
                result = Err(CacheError::System {
                    what: "serving",
                    source,
                });
            }
        }
        result
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whoever wants to know calls `stop`.
        let _ = self.end();
    }
}

/// A request and the item that it stores are in memory at once, and tables beside them. The default is for all memories: the store
/// has less where there is little.
fn check_longest_item(store: &StoreOptions) -> Result<(), CacheError> {
    let most = store.memory_bytes / 8 * 3;
    if store.max_item_bytes <= most.max(StoreOptions::default().max_item_bytes) {
        return Ok(());
    }
    Err(CacheError::Option {
        field: "largest item",
        seen: format!("{} bytes", store.max_item_bytes),
        expected: format!(
            "at most three eighths of the memory, {most} bytes: a request and its item are there at once"
        ),
    })
}

/// Raises the limit of open files as far as allowed and needed, and says how many connections fit.
fn affordable_connections(options: &ServerOptions) -> Result<u64, CacheError> {
    let wanted = options.max_connections;
    let other = OTHER_DESCRIPTORS + THREAD_DESCRIPTORS * options.threads as u64;
    let limit = getrlimit(Resource::Nofile);
    let needed = wanted.saturating_add(other);
    let Some(current) = limit.current.filter(|&current| current < needed) else {
        return Ok(wanted);
    };
    let raised = limit
        .maximum
        .map_or(needed, |maximum| maximum.min(needed))
        .max(current);
    let raising = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(raised),
            maximum: limit.maximum,
        },
    );
    let have = if raising.is_ok() { raised } else { current };
    let affordable = wanted.min(have.saturating_sub(other));
    if affordable < wanted.min(FEWEST_CONNECTIONS) {
        return Err(CacheError::OpenFiles {
            limit: have,
            needed,
            fewest: other + FEWEST_CONNECTIONS,
        });
    }
    Ok(affordable)
}
