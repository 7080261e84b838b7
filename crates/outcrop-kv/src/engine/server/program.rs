//! The two servers: where they are found, how they are started, and what their words mean.

use std::path::{Path, PathBuf};
use std::process::Command;

use outcrop_cache_client::Wire;
use outcrop_probe::program;
use outcrop_workload::store::{Durability, StoreEngine};

use crate::error::KvError;

const MIB: u64 = 1 << 20;
/// More than the threads of a process may be; more descriptors than usual are then not needed.
const MEMCACHED_CONNECTIONS: &str = "2048";

/// A server that holds a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Program {
    /// `redis-server`, or one that takes its options, such as Valkey's.
    Redis,
    /// `memcached`.
    Memcached,
}

impl Program {
    pub(super) const fn engine(self) -> StoreEngine {
        match self {
            Self::Redis => StoreEngine::Redis,
            Self::Memcached => StoreEngine::Memcached,
        }
    }

    /// What people call it.
    pub(super) const fn brand(self) -> &'static str {
        match self {
            Self::Redis => "Redis",
            Self::Memcached => "memcached",
        }
    }

    /// The program's name in `PATH`, which is that of its package in Debian too.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis-server",
            Self::Memcached => "memcached",
        }
    }

    /// Names another program, by a path or by its name in `PATH`.
    const fn variable(self) -> &'static str {
        match self {
            Self::Redis => "OUTCROP_REDIS_SERVER",
            Self::Memcached => "OUTCROP_MEMCACHED",
        }
    }

    pub(super) const fn wire(self) -> Wire {
        match self {
            Self::Redis => Wire::Redis,
            Self::Memcached => Wire::Memcached,
        }
    }

    /// Where it is; nothing is started.
    pub(in crate::engine) fn find(self) -> Result<PathBuf, KvError> {
        let (name, variable) = (self.name(), self.variable());
        let install = format!("install the package {name}, or name the program in {variable}");
        let absent = |why: String| KvError::Absent {
            why: format!("{why}; {install}"),
        };
        let found = match std::env::var_os(variable).filter(|named| !named.is_empty()) {
            Some(named) => {
                let named = named.to_string_lossy();
                let refused = || absent(format!("{variable} names {named}, which is not a program"));
                program::named(&named).ok_or_else(refused)
            }
            None => {
                program::find(name).ok_or_else(|| absent(format!("{} is not on this machine", self.brand())))
            }
        }?;
        // It is started in another directory. Links are not followed: Debian's redis-server is one, and goes by its name.
        std::path::absolute(&found).map_err(|error| KvError::path("find", &found, error))
    }

    /// What it says of its version, and where it lies.
    pub(in crate::engine) fn identity(self, path: &Path) -> Result<String, KvError> {
        let said = program::version(path, "--version").map_err(|why| KvError::Absent { why: why.reason })?;
        match said.as_str() {
            "" => Err(KvError::Absent {
                why: format!(
                    "{} does not print a version as {} does; name another program in {}",
                    path.display(),
                    self.name(),
                    self.variable()
                ),
            }),
            said => Ok(format!("{said} ({})", path.display())),
        }
    }

    /// How it is started in the folder of its database, to listen on a socket there and nowhere else.
    pub(super) fn command(
        self,
        path: &Path,
        durability: Durability,
        memory_bytes: u64,
        socket: &str,
    ) -> Command {
        let mut command = Command::new(path);
        match self {
            Self::Redis => {
                let memory = memory_bytes.to_string();
                let (log, sync) = match durability {
                    Durability::Unlogged => ("no", "no"),
                    Durability::Logged => ("yes", "no"),
                    Durability::Synced => ("yes", "always"),
                };
                command.args(["--port", "0", "--unixsocket", socket, "--unixsocketperm", "700"]);
                command.args(["--daemonize", "no", "--logfile", "", "--loglevel", "warning"]);
                command.args(["--maxmemory", &memory, "--maxmemory-policy", "noeviction"]);
                // No snapshots: what is kept is in the log.
                command.args(["--save", "", "--appendonly", log, "--appendfsync", sync]);
                // A log that is rewritten begins with a snapshot, whose values Redis would compress with LZF.
                command.args(["--rdbcompression", "no"]);
            }
            Self::Memcached => {
                let memory = memory_bytes.div_ceil(MIB).max(1).to_string();
                // With a socket of this kind it opens no port. `-M`: a full memory is an error, and nothing is evicted.
                command.args(["-s", socket, "-a", "0700", "-m", &memory, "-M"]);
                command.args(["-c", MEMCACHED_CONNECTIONS]);
                // As root it wants to be told whom to run as.
                if rustix::process::geteuid().is_root() {
                    command.args(["-u", "root"]);
                }
            }
        }
        command
    }

    /// Whether a refusal says that memory is full.
    pub(super) fn says_that_memory_is_full(self, said: &str) -> bool {
        match self {
            Self::Redis => said.starts_with("OOM "),
            Self::Memcached => said.starts_with("SERVER_ERROR out of memory"),
        }
    }

    /// Appends a query for the state of the log; `None` for a server without one.
    pub(super) fn write_question(self, out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Redis => {
                out.extend_from_slice(b"*2\r\n$4\r\nINFO\r\n$11\r\npersistence\r\n");
                Some(())
            }
            Self::Memcached => None,
        }
    }

    /// Asks how many records it holds; the connection closes behind the answer.
    pub(super) const fn count_question(self) -> &'static [u8] {
        match self {
            Self::Redis => b"INFO keyspace\r\nQUIT\r\n",
            Self::Memcached => b"stats\r\nquit\r\n",
        }
    }

    /// How many records it holds, by the answer to [`Program::count_question`]; `None` where it does not say.
    pub(super) fn count_in(self, answer: &str) -> Option<u64> {
        let mut lines = answer.lines();
        match self {
            Self::Redis => {
                lines.find(|line| *line == "# Keyspace")?;
                match lines.find_map(|line| line.strip_prefix("db0:keys=")) {
                    Some(keys) => keys.split(',').next()?.parse().ok(),
                    // A database without keys has no line.
                    None => Some(0),
                }
            }
            Self::Memcached => lines
                .find_map(|line| line.strip_prefix("STAT curr_items "))?
                .parse()
                .ok(),
        }
    }

    /// Whether the log is being rewritten, or will be at once, by the answer to [`Program::write_question`].
    pub(super) fn is_rewriting(self, answer: &[u8]) -> bool {
        let is_one = |line: &&[u8]| {
            let line = line.trim_ascii();
            line == b"aof_rewrite_in_progress:1" || line == b"aof_rewrite_scheduled:1"
        };
        answer.split(|byte| *byte == b'\n').any(|line| is_one(&line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewrite_of_the_log_is_seen_in_what_redis_says() {
        let says = |text: &str| Program::Redis.is_rewriting(text.as_bytes());
        assert!(says(
            "# Persistence\r\nloading:0\r\naof_rewrite_in_progress:1\r\n"
        ));
        assert!(says("aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:1\r\n"));
        assert!(!says("aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r\n"));
    }

    #[test]
    fn the_number_of_records_is_read_in_what_servers_say() {
        let redis = |text| Program::Redis.count_in(text);
        let keys = "$52\r\n# Keyspace\r\ndb0:keys=3000,expires=0,avg_ttl=0\r\n\r\n+OK\r\n";
        assert_eq!(redis(keys), Some(3000));
        assert_eq!(redis("$12\r\n# Keyspace\r\n\r\n+OK\r\n"), Some(0));
        for text in [
            "-ERR unknown command\r\n+OK\r\n",
            "# Keyspace\r\ndb0:keys=many\r\n",
        ] {
            assert_eq!(redis(text), None, "{text}");
        }
        let memcached = |text| Program::Memcached.count_in(text);
        assert_eq!(
            memcached("STAT pid 7\r\nSTAT curr_items 12\r\nSTAT total_items 13\r\nEND\r\n"),
            Some(12)
        );
        assert_eq!(memcached("STAT pid 7\r\nEND\r\n"), None);
    }

    #[test]
    fn no_server_is_told_to_open_a_port_to_forget_records_or_to_compress_them() {
        let arguments = |program: Program| {
            let command = program.command(Path::new("/bin/x"), Durability::Synced, 64 << 20, "socket");
            let arguments = command.get_args().map(|one| one.to_string_lossy().into_owned());
            arguments.collect::<Vec<_>>().join(" ")
        };
        let redis = arguments(Program::Redis);
        assert!(
            redis.contains("--port 0 ") && redis.contains("--maxmemory-policy noeviction"),
            "{redis}"
        );
        assert!(redis.contains("--appendonly yes --appendfsync always"), "{redis}");
        assert!(redis.contains("--rdbcompression no"), "{redis}");
        let memcached = arguments(Program::Memcached);
        assert!(
            memcached.contains("-s socket") && memcached.contains("-m 64 -M"),
            "{memcached}"
        );
        assert!(!memcached.contains("-p "), "{memcached}");
    }
}
