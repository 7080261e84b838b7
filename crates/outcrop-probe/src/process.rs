//! Other processes: the one that serves a local port, or one by its number; their CPU time and memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use outcrop_measure::metric::Unavailable;

use crate::machine_cpu::NANOSECONDS_PER_TICK;
use crate::memory::{ProcessMemory, kibibyte_line};
use crate::system_tree::SystemTree;

/// The processes that hold a listening socket; mostly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingProcess {
    tree: SystemTree,
    pids: Vec<u32>,
    name: String,
}

/// The state of a listening socket in /proc/net/tcp.
const LISTENING: &str = "0A";

impl ServingProcess {
    /// Who listens on an address of this machine.
    ///
    /// # Errors
    /// The address is not local, nobody listens on it here, or this user may not look into the processes of others.
    pub fn listening_on(address: SocketAddr) -> Result<Self, Unavailable> {
        if !address.ip().is_loopback() {
            return Err(Unavailable::because(format!(
                "{address} is not on the loopback interface, so its server may be another machine"
            )));
        }
        Self::listening_in(SystemTree::live(), address)
    }

    fn listening_in(tree: SystemTree, address: SocketAddr) -> Result<Self, Unavailable> {
        let inodes = listening_inodes(&tree, address)?;
        if inodes.is_empty() {
            return Err(Unavailable::because(format!(
                "no process of this network namespace listens on {address}"
            )));
        }
        let pids = settled(holders(&tree, &inodes)?, || holders(&tree, &inodes))?;
        let Some(first) = pids.first() else {
            return Err(Unavailable::because(format!(
                "the process that listens on {address} is another user's, whose descriptors only root may see"
            )));
        };
        let name = tree.text(format!("proc/{first}/comm"))?;
        Ok(Self { tree, pids, name })
    }

    /// Whether it is the process that asks.
    pub fn is_this_process(&self) -> bool {
        self.pids == [std::process::id()]
    }

    /// User and kernel time of all its threads so far. *Cost*: a small file for each thread.
    ///
    /// # Errors
    /// The process has ended, or the kernel keeps no scheduler statistics.
    pub fn cpu_time_ns(&self) -> Result<u64, Unavailable> {
        Ok(self.thread_times_ns()?.values().sum())
    }

    /// The same thread by thread: those that have ended are not in it, nor is what they used.
    ///
    /// # Errors
    /// As [`ServingProcess::cpu_time_ns`].
    pub fn thread_times_ns(&self) -> Result<BTreeMap<OsString, u64>, Unavailable> {
        let mut times = BTreeMap::new();
        for of_one in self.of_those_that_live(|pid| thread_times_ns(&self.tree, pid))? {
            times.extend(of_one);
        }
        Ok(times)
    }

    /// Resident memory of all of them now.
    ///
    /// # Errors
    /// The process has ended.
    pub fn resident_bytes(&self) -> Result<u64, Unavailable> {
        let of = |pid| kibibyte_line(&self.tree.text(format!("proc/{pid}/status"))?, "VmRSS");
        Ok(self.of_those_that_live(of)?.into_iter().sum())
    }

    /// What can be read of each process; of several, those that have ended (a child that saved a snapshot) are left out.
    fn of_those_that_live<T>(
        &self,
        read: impl Fn(u32) -> Result<T, Unavailable>,
    ) -> Result<Vec<T>, Unavailable> {
        let read: Vec<Result<T, Unavailable>> = self.pids.iter().map(|pid| read(*pid)).collect();
        if read.iter().any(Result::is_ok) {
            Ok(read.into_iter().flatten().collect())
        } else {
            read.into_iter().collect()
        }
    }
}

impl fmt::Display for ServingProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        for (index, pid) in self.pids.iter().enumerate() {
            write!(f, "{}{pid}", if index == 0 { " (pid " } else { ", " })?;
        }
        f.write_str(")")
    }
}

/// Time on CPU of the threads of a process that live, by their numbers.
pub(crate) fn thread_times_ns(tree: &SystemTree, pid: u32) -> Result<BTreeMap<OsString, u64>, Unavailable> {
    let mut times = BTreeMap::new();
    let tasks = format!("proc/{pid}/task");
    for task in tree.names(&tasks)? {
        let path = format!("{tasks}/{}/schedstat", task.to_string_lossy());
        // A thread that ends between listing and reading is no error.
        let Ok(text) = tree.text(&path) else { continue };
        let on_cpu_ns: u64 = text
            .split_ascii_whitespace()
            .next()
            .and_then(|first| first.parse().ok())
            .ok_or_else(|| Unavailable::because(format!("{path} holds `{text}`, which is not a time")))?;
        times.insert(task, on_cpu_ns);
    }
    Ok(times)
}

/// Another process of this user, by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherProcess {
    tree: SystemTree,
    pid: u32,
}

/// CPU time of a process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessTimes {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

impl OtherProcess {
    /// The process with this number; whether there is one shows when it is asked.
    pub fn of(pid: u32) -> Self {
        Self {
            tree: SystemTree::live(),
            pid,
        }
    }

    /// User and kernel time of its threads and of the children that it has waited for. *Cost*: a small file for each thread.
    ///
    /// Threads that live are counted to the nanosecond, children that ended in ticks of 10 ms; how the former divide into user and kernel
    /// time is known by ticks alone.
    ///
    /// # Errors
    /// The process has ended, or the kernel keeps no scheduler statistics.
    pub fn cpu_time(&self) -> Result<ProcessTimes, Unavailable> {
        let path = format!("proc/{}/stat", self.pid);
        let stat = self.tree.text(&path)?;
        let [user, system, children_user, children_system] = ticks(&stat)
            .ok_or_else(|| Unavailable::because(format!("{path} holds `{stat}`, which has no times")))?;
        let threads_ns: u64 = thread_times_ns(&self.tree, self.pid)?.values().sum();
        let system_ns = match u128::from(user) + u128::from(system) {
            0 => 0,
            all => (u128::from(threads_ns) * u128::from(system) / all) as u64,
        };
        Ok(ProcessTimes {
            user_ns: threads_ns - system_ns + children_user.saturating_mul(NANOSECONDS_PER_TICK),
            system_ns: system_ns + children_system.saturating_mul(NANOSECONDS_PER_TICK),
        })
    }

    /// Its resident memory.
    ///
    /// # Errors
    /// The process has ended.
    pub fn memory(&self) -> Result<ProcessMemory, Unavailable> {
        ProcessMemory::of_process(&self.tree, &self.pid.to_string())
    }
}

/// The fields of a `stat` after its second one, a name in parentheses that may hold anything: state, parent, group and so on; none where it has
/// no name.
pub(crate) fn fields_after_name(stat: &str) -> impl Iterator<Item = &str> {
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    fields.split_ascii_whitespace()
}

/// User and kernel time of a process and of its children in a `stat`.
fn ticks(stat: &str) -> Option<[u64; 4]> {
    const USER_AFTER_NAME: usize = 11;
    let mut times = fields_after_name(stat)
        .skip(USER_AFTER_NAME)
        .map_while(|field| field.parse().ok());
    Some([times.next()?, times.next()?, times.next()?, times.next()?])
}

/// The inodes of the sockets that listen on the address or on all addresses.
fn listening_inodes(tree: &SystemTree, address: SocketAddr) -> Result<BTreeSet<String>, Unavailable> {
    let mut inodes = BTreeSet::new();
    for (table, is_v6) in [("proc/net/tcp", false), ("proc/net/tcp6", true)] {
        let Ok(text) = tree.text(table) else { continue };
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let [_, local, _, state, _, _, _, _, _, inode, ..] = fields[..] else {
                continue;
            };
            if state == LISTENING && serves(local, is_v6, address) {
                inodes.insert(format!("socket:[{inode}]"));
            }
        }
    }
    Ok(inodes)
}

/// Whether a listening socket's address, in the kernel's hexadecimal, takes connections to `wanted`.
fn serves(local: &str, is_v6: bool, wanted: SocketAddr) -> bool {
    let Some((host, port)) = local.split_once(':') else {
        return false;
    };
    if u16::from_str_radix(port, 16) != Ok(wanted.port()) {
        return false;
    }
    if host.bytes().all(|digit| digit == b'0') {
        // All addresses: IPv6 sockets take IPv4 too, unless they are told not to.
        return is_v6 || wanted.is_ipv4();
    }
    let hexadecimal = |bytes: &[u8]| -> String {
        // The kernel prints addresses as native 32-bit words.
        bytes
            .chunks_exact(4)
            .map(|word| format!("{:08X}", u32::from_ne_bytes([word[0], word[1], word[2], word[3]])))
            .collect()
    };
    match wanted.ip() {
        IpAddr::V4(ip) if is_v6 => host == hexadecimal(&ip.to_ipv6_mapped().octets()),
        IpAddr::V4(ip) => host == hexadecimal(&ip.octets()),
        IpAddr::V6(ip) => is_v6 && host == hexadecimal(&ip.octets()),
    }
}

/// The processes that have one of these sockets open, ascending.
fn holders(tree: &SystemTree, sockets: &BTreeSet<String>) -> Result<Vec<u32>, Unavailable> {
    let mut pids = Vec::new();
    for name in tree.names("proc")? {
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let descriptors = format!("proc/{pid}/fd");
        // Processes end, and those of other users are closed to us.
        let Ok(names) = tree.names(&descriptors) else {
            continue;
        };
        let holds = names.iter().any(|descriptor| {
            let link = std::fs::read_link(tree.path(&descriptors).join(descriptor));
            link.is_ok_and(|link| link.to_str().is_some_and(|link| sockets.contains(link)))
        });
        if holds {
            pids.push(pid);
        }
    }
    pids.sort_unstable();
    Ok(pids)
}

/// The holders in which two looks one after the other agree, as `look_again` finds them.
///
/// A program that a server starts holds its sockets for a moment, until it is executed: it serves nothing.
fn settled(
    mut pids: Vec<u32>,
    look_again: impl Fn() -> Result<Vec<u32>, Unavailable>,
) -> Result<Vec<u32>, Unavailable> {
    /// Of a server that starts programs without end, the last look counts.
    const MOST_LOOKS: usize = 8;
    for _ in 0..MOST_LOOKS {
        if pids.len() < 2 {
            break;
        }
        let again = look_again()?;
        if again == pids {
            break;
        }
        pids = again;
    }
    Ok(pids)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_program_that_is_being_started_does_not_serve_and_a_worker_does() {
        let looks = RefCell::new(vec![vec![7], vec![7, 9]]);
        let next = || Ok(looks.borrow_mut().pop().unwrap());
        assert_eq!(settled(vec![7, 8], next), Ok(vec![7]));
        assert_eq!(settled(vec![7, 8], || Ok(vec![7, 8])), Ok(vec![7, 8]));
    }

    #[test]
    fn a_child_that_has_ended_is_left_out_and_a_server_that_has_is_unavailable() {
        let server = |pids: &[u32]| ServingProcess {
            tree: SystemTree::live(),
            pids: pids.to_vec(),
            name: "server".to_owned(),
        };
        // No process has the largest number.
        let (this, ended) = (std::process::id(), u32::MAX);
        assert!(server(&[this, ended]).cpu_time_ns().unwrap() > 0);
        assert!(server(&[this, ended]).resident_bytes().unwrap() > 100_000);
        assert!(server(&[ended]).cpu_time_ns().is_err());
        assert!(server(&[ended]).resident_bytes().is_err());
    }

    #[test]
    fn a_port_without_a_server_and_a_distant_one_are_unavailable() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        assert!(ServingProcess::listening_on(address).is_err());
        let distant = ServingProcess::listening_on(([192, 0, 2, 1], 11211).into());
        assert!(distant.unwrap_err().reason.contains("another machine"));
    }

    #[test]
    fn a_process_has_the_times_of_its_threads_and_of_the_children_that_it_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let tree = SystemTree::at(folder.path());
        let write = |path: &str, text: &str| tree.write(path, text);
        // A name that would mislead who counts fields from the front; 3 ticks in user mode, 1 in the kernel, 7 and 2 of children.
        write(
            "proc/9/stat",
            "9 (a) b 5 (c) S 1 9 9 0 -1 0 0 0 0 0 3 1 7 2 20 0 1 0 55",
        );
        write("proc/9/task/9/schedstat", "30000000 5 1");
        write("proc/9/task/10/schedstat", "10000000 5 1");
        let process = OtherProcess {
            tree: tree.clone(),
            pid: 9,
        };
        let expected = ProcessTimes {
            user_ns: 30_000_000 + 70_000_000,
            system_ns: 10_000_000 + 20_000_000,
        };
        assert_eq!(process.cpu_time(), Ok(expected));
        write("proc/9/stat", "9 (x) S 1");
        assert!(process.cpu_time().is_err());
    }

    #[test]
    fn this_process_is_seen_as_others_would_see_it() {
        let process = OtherProcess::of(std::process::id());
        let times = process.cpu_time().unwrap();
        assert!(times.user_ns + times.system_ns > 0);
        let memory = process.memory().unwrap();
        assert!(memory.resident_bytes > 100_000 && memory.peak_resident_bytes >= memory.resident_bytes);
        // No process has the largest number.
        assert!(OtherProcess::of(u32::MAX).cpu_time().is_err());
    }

    #[test]
    fn addresses_are_compared_as_the_kernel_prints_them() {
        let wanted: SocketAddr = "127.0.0.1:11211".parse().unwrap();
        if cfg!(target_endian = "little") {
            assert!(serves("0100007F:2BCB", false, wanted));
            assert!(serves("0000000000000000FFFF00000100007F:2BCB", true, wanted));
            assert!(!serves("0100007F:2BCC", false, wanted));
            assert!(!serves("0200007F:2BCB", false, wanted));
            assert!(serves(
                "00000000000000000000000001000000:2BCB",
                true,
                "[::1]:11211".parse().unwrap()
            ));
        }
        assert!(serves("00000000:2BCB", false, wanted));
        assert!(!serves("garbage", false, wanted));
    }
}
