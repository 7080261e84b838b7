//! Which server is measured, and how it is started and ended.

mod child;
mod embedded;
mod placement;
mod program;
mod statistics;

use std::fmt;

use outcrop_cache::store::{PolicyKind, StoreOptions};
use outcrop_cache_load::{Protocol, Target};
use outcrop_measure::metric::Unavailable;
use outcrop_probe::Clock;

use crate::error::CacheBenchError;
use child::Child;
pub(crate) use placement::is_shared;
pub use program::Program;
pub use statistics::Held;

/// Which server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServerKind {
    /// Ours, on threads of this process.
    #[default]
    Embedded,
    /// A program of this machine, as a process of its own.
    Program(Program),
    /// One that runs already; what it is configured to is its owner's matter.
    At(Target),
}

/// A server with what it is configured to. What a server does not have (memcached has no choice of policy) is not told
/// to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSpec {
    /// Which one.
    pub kind: ServerKind,
    /// Its memory limit.
    pub memory_bytes: u64,
    /// A limit for the bytes of items alone; ours.
    pub item_memory_bytes: Option<u64>,
    /// What goes when memory is full; ours.
    pub policy: PolicyKind,
    /// Items per chain of the index; ours.
    pub load_factor: f64,
    /// Threads that serve; ours and memcached.
    pub threads: u32,
    /// Whether ours is asked by HTTP.
    pub is_http: bool,
}

impl Default for ServerSpec {
    /// Ours in this process, with 64 MiB and one thread.
    fn default() -> Self {
        Self {
            kind: ServerKind::default(),
            memory_bytes: 64 << 20,
            item_memory_bytes: None,
            policy: PolicyKind::default(),
            load_factor: StoreOptions::default().load_factor,
            threads: 1,
            is_http: false,
        }
    }
}

impl ServerSpec {
    /// How it is asked.
    pub fn protocol(&self) -> Protocol {
        match (&self.kind, self.is_http) {
            (ServerKind::At(target), _) => target.protocol,
            (ServerKind::Program(Program::Redis), _) => Protocol::Redis,
            (ServerKind::Embedded | ServerKind::Program(Program::Build(_)), true) => Protocol::Http,
            _ => Protocol::Memcached,
        }
    }
}

/// A server that answers. Dropped, it has ended, unless it is somebody else's.
#[derive(Debug)]
pub struct Running {
    inner: Inner,
    target: Target,
    name: String,
}

#[derive(Debug)]
enum Inner {
    Embedded(Box<outcrop_cache::server::Server>),
    Program(Child),
    Elsewhere,
}

impl Running {
    /// Starts the server and waits until it answers. Where there are CPUs for it, its threads keep to those that a
    /// driver of `driver_threads` pinned threads leaves.
    ///
    /// # Errors
    /// [`CacheBenchError::Absent`] when the program is not on this machine; the others when it does not serve.
    pub fn start(spec: &ServerSpec, driver_threads: u32, clock: &Clock) -> Result<Self, CacheBenchError> {
        let cpus = placement::cpus_of_server(spec.threads, driver_threads);
        match &spec.kind {
            ServerKind::Embedded => {
                let (server, target) = placement::on_cpus(&cpus, || embedded::start(spec))??;
                Ok(Self {
                    inner: Inner::Embedded(Box::new(server)),
                    target,
                    name: format!("outcrop {} in this process", env!("CARGO_PKG_VERSION")),
                })
            }
            ServerKind::Program(program) => {
                let found = program.find()?;
                let (child, target) = program.start(&found, spec, &cpus, clock)?;
                Ok(Self {
                    inner: Inner::Program(child),
                    target,
                    name: found.to_string(),
                })
            }
            ServerKind::At(target) => Ok(Self {
                inner: Inner::Elsewhere,
                target: target.clone(),
                name: target.to_string(),
            }),
        }
    }

    /// Where it answers.
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// What it holds now.
    ///
    /// # Errors
    /// It does not say.
    pub fn held(&self) -> Result<Held, Unavailable> {
        match &self.inner {
            Inner::Embedded(server) => {
                let report = server.store_report();
                Ok(Held {
                    items: report.items,
                    evictions: report.counters.evicted,
                    memory_bytes: Some(report.memory_bytes),
                })
            }
            Inner::Program(_) | Inner::Elsewhere => statistics::held(&self.target),
        }
    }

    /// Resident memory of its process.
    ///
    /// # Errors
    /// It shares a process with the driver, or its process is not on this machine.
    pub fn resident_bytes(&self) -> Result<u64, Unavailable> {
        if matches!(self.inner, Inner::Embedded(_)) {
            return Err(Unavailable::because(
                "the server shares its process with the driver; its own count of memory is the limit's",
            ));
        }
        let address = self
            .target
            .addresses()
            .ok()
            .and_then(|found| found.first().copied());
        let address = address.ok_or_else(|| Unavailable::because("the server's address is not known"))?;
        outcrop_probe::process::ServingProcess::listening_on(address)?.resident_bytes()
    }

    /// Ends it, if it is ours to end.
    ///
    /// # Errors
    /// A thread of ours had ended early.
    pub fn stop(self) -> Result<(), CacheBenchError> {
        match self.inner {
            Inner::Embedded(server) => Ok(server.stop()?),
            // Ended by its drop, whatever it answers.
            Inner::Program(child) => {
                drop(child);
                Ok(())
            }
            Inner::Elsewhere => Ok(()),
        }
    }
}

/// Its name, version and place.
impl fmt::Display for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
