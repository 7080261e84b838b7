//! Real servers on free ports of the loopback interface, ended with their test.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use outcrop_cache_load::{Connection, Protocol, Target};
use outcrop_probe::Clock;

const START_LIMIT_NS: u64 = 30_000_000_000;
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// A child process that listens on a port.
pub(crate) struct Server {
    child: Child,
    pub(crate) target: Target,
    _directory: tempfile::TempDir,
}

impl Server {
    pub(crate) fn memcached(options: &[&str]) -> Option<Self> {
        Self::start("memcached", Protocol::Memcached, |command, port, _| {
            // As root it wants to be told whom to run as.
            command.args(["-u", "root", "-l", "127.0.0.1", "-p", &port.to_string()]);
            command.args(options);
        })
    }

    pub(crate) fn redis() -> Option<Self> {
        Self::start("redis-server", Protocol::Redis, |command, port, directory| {
            command.args([
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--port",
                &port.to_string(),
                "--dir",
            ]);
            command.arg(directory);
        })
    }

    /// A twemproxy in front of memcached servers, each as a line of its configuration has it.
    pub(crate) fn nutcracker(hash: &str, servers: &[String]) -> Option<Self> {
        Self::start("nutcracker", Protocol::Memcached, |command, port, directory| {
            let servers: String = servers.iter().map(|server| format!("   - {server}\n")).collect();
            let configuration = directory.join("nutcracker.yml");
            let text = format!(
                "pool:\n  listen: 127.0.0.1:{port}\n  hash: {hash}\n  distribution: ketama\n  servers:\n{servers}"
            );
            std::fs::write(&configuration, text).unwrap();
            command
                .arg("-c")
                .arg(configuration)
                .arg("-p")
                .arg(directory.join("pid"));
            command.args(["-s", &free_port().to_string()]);
        })
    }

    fn start(
        program: &str,
        protocol: Protocol,
        arguments: impl FnOnce(&mut Command, u16, &Path),
    ) -> Option<Self> {
        let Some(path) = find(program) else {
            println!("skipped: tests with {program}: it is not installed; scripts/setup.sh test installs it");
            return None;
        };
        let directory = tempfile::tempdir().unwrap();
        let port = free_port();
        let mut command = Command::new(path);
        arguments(&mut command, port, directory.path());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut server = Self {
            child: command.spawn().unwrap(),
            target: Target::loopback(protocol, port),
            _directory: directory,
        };
        server.wait_until_it_listens(program);
        Some(server)
    }

    fn wait_until_it_listens(&mut self, program: &str) {
        let clock = Clock::new();
        while !answers(self.target.port) {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("{program} ended at once: {status}");
            }
            assert!(clock.now_ns() < START_LIMIT_NS, "{program} does not listen");
            std::thread::yield_now();
        }
    }

    /// memcached's own counters.
    pub(crate) fn stats(&self) -> BTreeMap<String, u64> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.target.port)).unwrap();
        stream.write_all(b"stats\r\n").unwrap();
        BufReader::new(stream)
            .lines()
            .map(|line| line.unwrap())
            .take_while(|line| line != "END")
            .filter_map(|line| {
                let mut words = line.split(' ').skip(1);
                Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
            })
            .collect()
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::connect(&self.target, TIMEOUT).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether somebody listens; a socket that the kernel connected to itself, from the same port, does not count.
fn answers(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port))
        .is_ok_and(|stream| stream.local_addr().ok() != stream.peer_addr().ok())
}

/// A port that nobody listens on now.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// sbin is not on every user's PATH.
fn find(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    path.split(':')
        .chain(["/usr/local/sbin", "/usr/sbin", "/sbin"])
        .map(|directory| Path::new(directory).join(program))
        .find(|path| path.is_file())
}
