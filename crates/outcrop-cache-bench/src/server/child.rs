//! A server that is a process of its own: started on the loopback interface, ended with its owner, even one that is killed.

#![expect(
    unsafe_code,
    reason = "before a process begins, its CPUs are set, and that it ends with its parent"
)]

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use outcrop_probe::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, pidfd_send_signal, set_parent_process_death_signal,
};

use super::placement;
use crate::error::CacheBenchError;

/// How long a server may take to begin.
const START_LIMIT: Duration = Duration::from_secs(20);
/// Between two looks at its port.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// How long it may take to end before it is killed.
const END_LIMIT: Duration = Duration::from_secs(5);

/// A process of ours, and a directory for its files.
#[derive(Debug)]
pub(super) struct Child {
    process: std::process::Child,
    /// Readable once the process has ended.
    end: OwnedFd,
    _directory: tempfile::TempDir,
}

/// A port of the loopback interface that nobody listens on now.
pub(super) fn free_port() -> Result<u16, CacheBenchError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address
        .map(|address| address.port())
        .map_err(|error| CacheBenchError::system("find a free port", error))
}

impl Child {
    /// Starts a server on these CPUs and waits until its port takes connections. It ends with the thread that calls this.
    pub(super) fn start(
        command: &mut Command,
        name: &str,
        port: u16,
        cpus: &[usize],
        directory: tempfile::TempDir,
        clock: &Clock,
    ) -> Result<Self, CacheBenchError> {
        let not_serving = |why: String| CacheBenchError::NotServing {
            program: name.to_owned(),
            why,
        };
        // A group of its own: a Ctrl-C of the terminal reaches us, and we end it.
        command
            .process_group(0)
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let (cpus, parent) = (cpus.to_vec(), getpid());
        // SAFETY: between fork and exec only system calls are made; nothing is allocated and no lock is taken.
        unsafe { command.pre_exec(move || begin(&cpus, parent)) };
        let mut process = command.spawn().map_err(|error| not_serving(error.to_string()))?;
        let end = match pidfd_open(Pid::from_child(&process), PidfdFlags::empty()) {
            Ok(end) => end,
            Err(error) => {
                // Nobody could wait for it: it goes before it has begun.
                let _ = process.kill();
                let _ = process.wait();
                return Err(CacheBenchError::system("watch a process", error));
            }
        };
        let child = Self {
            process,
            end,
            _directory: directory,
        };
        let started_ns = clock.now_ns();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        while !answers(address) {
            if child.has_ended_within(LOOK_INTERVAL) {
                return Err(not_serving(format!(
                    "it exited immediately; run `{command:?}` to see why"
                )));
            }
            if Duration::from_nanos(clock.now_ns() - started_ns) > START_LIMIT {
                let seconds = START_LIMIT.as_secs();
                return Err(not_serving(format!(
                    "port {port} accepted no connection for {seconds} s"
                )));
            }
        }
        Ok(child)
    }

    /// Waits for the end of the process, at most so long.
    fn has_ended_within(&self, limit: Duration) -> bool {
        let mut watched = [PollFd::new(&self.end, PollFlags::IN)];
        let timeout = Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: limit.subsec_nanos().into(),
        };
        matches!(poll(&mut watched, Some(&timeout)), Ok(count) if count > 0)
    }
}

/// What the new process does before it becomes the server.
fn begin(cpus: &[usize], parent: Pid) -> io::Result<()> {
    placement::keep_to(cpus);
    set_parent_process_death_signal(Some(Signal::TERM))?;
    // Who was killed before that is not told any more.
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(io::ErrorKind::Interrupted.into())
    }
}

/// Whether the port takes a connection, and not one to itself.
fn answers(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_ok_and(|stream| stream.local_addr().ok() != stream.peer_addr().ok())
}

impl Drop for Child {
    /// Asks it to end, and kills it when it does not.
    fn drop(&mut self) {
        for signal in [Signal::TERM, Signal::KILL] {
            // A process that has ended already takes no signal: that is what is wanted.
            let _ = pidfd_send_signal(&self.end, signal);
            if self.has_ended_within(END_LIMIT) {
                break;
            }
        }
        let _ = self.process.wait();
    }
}
