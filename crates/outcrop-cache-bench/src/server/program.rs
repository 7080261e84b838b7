//! Programs that can be measured: memcached, Redis, and other builds of Outcrop.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use outcrop_cache_load::Target;
use outcrop_probe::{Clock, program};

use super::ServerSpec;
use super::child::{Child, free_port};
use crate::error::CacheBenchError;

/// Names the memcached that [`Program::Named`] stands for: a path, or a name in `PATH`.
const NAMED: &str = "MEMCACHED";
const MIB: u64 = 1 << 20;
/// More connections than any load here makes.
const MEMCACHED_CONNECTIONS: &str = "20000";

/// A server of this machine that is started as a process of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// `memcached` of `PATH`.
    Memcached,
    /// `redis-server` of `PATH`.
    Redis,
    /// The memcached that the environment variable `MEMCACHED` names.
    Named,
    /// Another build of Outcrop: the folder below `target/` (`release`) that this executable's own is beside.
    Build(String),
}

/// A program with its place and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    path: PathBuf,
    version: String,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.version, self.path.display())
    }
}

impl Program {
    /// Whether it is on this machine.
    ///
    /// # Errors
    /// [`CacheBenchError::Absent`], with where it was looked for and what to do.
    pub fn check(&self) -> Result<(), CacheBenchError> {
        self.path().map(drop)
    }

    /// Where it is, and which version.
    pub(super) fn find(&self) -> Result<Found, CacheBenchError> {
        let path = self.path()?;
        let asked = program::version(&path, "--version");
        let version = asked.map_err(|why| CacheBenchError::NotServing {
            program: path.display().to_string(),
            why: why.reason,
        })?;
        Ok(Found { path, version })
    }

    fn path(&self) -> Result<PathBuf, CacheBenchError> {
        let absent = |program: &str, why: String| CacheBenchError::Absent {
            program: program.to_owned(),
            why,
        };
        match self {
            Self::Memcached => program::find("memcached")
                .ok_or_else(|| absent("memcached", "is not in PATH; install it, or leave it out".to_owned())),
            Self::Redis => program::find("redis-server")
                .ok_or_else(|| absent("redis-server", "is not in PATH; install it, or leave it out".to_owned())),
            Self::Named => {
                let given = std::env::var_os(NAMED).filter(|given| !given.is_empty());
                let given = given.ok_or_else(|| {
                    absent(
                        "$MEMCACHED",
                        "is not set; set it to a memcached, by path or by its name in PATH".to_owned(),
                    )
                })?;
                let text = given.to_string_lossy();
                program::named(&text).ok_or_else(|| absent("$MEMCACHED", format!("is `{text}`, which is not a program")))
            }
            Self::Build(folder) => build(folder).ok_or_else(|| {
                absent(
                    &format!("the build `{folder}` of outcrop"),
                    format!(
                        "is not in a folder `target/{folder}` next to this executable; build it with `cargo build --profile \
                         {}`",
                        if folder == "debug" { "dev" } else { folder }
                    ),
                )
            }),
        }
    }

    /// Starts it on a free port and these CPUs.
    pub(super) fn start(
        &self,
        found: &Found,
        spec: &ServerSpec,
        cpus: &[usize],
        clock: &Clock,
    ) -> Result<(Child, Target), CacheBenchError> {
        let port = free_port()?;
        let directory = tempfile::tempdir()
            .map_err(|error| CacheBenchError::system("make a directory for a server", error))?;
        let mut command = Command::new(&found.path);
        match self {
            Self::Memcached | Self::Named => memcached(&mut command, spec, port),
            Self::Redis => redis(&mut command, spec, port, directory.path()),
            Self::Build(_) => outcrop(&mut command, spec, port),
        }
        let child = Child::start(&mut command, &found.to_string(), port, cpus, directory, clock)?;
        Ok((child, Target::loopback(spec.protocol(), port)))
    }
}

/// `-m` is in MiB; as root it wants to be told whom to run as.
fn memcached(command: &mut Command, spec: &ServerSpec, port: u16) {
    let memory = (spec.memory_bytes / MIB).max(1).to_string();
    command.args([
        "-l",
        "127.0.0.1",
        "-U",
        "0",
        "-c",
        MEMCACHED_CONNECTIONS,
        "-m",
        &memory,
    ]);
    command.args(["-p", &port.to_string(), "-t", &spec.threads.to_string()]);
    if rustix::process::geteuid().is_root() {
        command.args(["-u", "root"]);
    }
}

/// As a cache: nothing is written to a disk, and the least recently used goes (by its own sampling).
fn redis(command: &mut Command, spec: &ServerSpec, port: u16, directory: &Path) {
    command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    command.args([
        "--maxmemory-policy",
        "allkeys-lru",
        "--maxmemory",
        &spec.memory_bytes.to_string(),
    ]);
    command
        .args(["--port", &port.to_string(), "--dir"])
        .arg(directory);
}

fn outcrop(command: &mut Command, spec: &ServerSpec, port: u16) {
    let listen = if spec.is_http { "--http" } else { "--listen" };
    command.args(["cache", "serve", listen, &format!("127.0.0.1:{port}")]);
    command.args([
        "--memory",
        &format!("{}B", spec.memory_bytes),
        "--policy",
        spec.policy.name(),
    ]);
    if let Some(bytes) = spec.item_memory_bytes {
        command.args(["--item-memory", &format!("{bytes}B")]);
    }
    command.args(["--load-factor", &spec.load_factor.to_string()]);
    command.args(["--threads", &spec.threads.to_string()]);
}

/// `target/FOLDER/outcrop`, from wherever below `target/` this executable lies.
fn build(folder: &str) -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    executable
        .ancestors()
        .skip(1)
        .map(|above| above.join(folder).join("outcrop"))
        .find(|path| path.is_file())
}
