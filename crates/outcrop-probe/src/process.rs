//! The process that serves a local port, and its CPU time.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use outcrop_measure::metric::Unavailable;

use crate::memory::kibibyte_line;
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
        let pids = holders(&tree, &inodes)?;
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
        for pid in &self.pids {
            let tasks = format!("proc/{pid}/task");
            for task in self.tree.names(&tasks)? {
                let path = format!("{tasks}/{}/schedstat", task.to_string_lossy());
                // A thread that ends between listing and reading is no error.
                let Ok(text) = self.tree.text(&path) else { continue };
                let on_cpu_ns: u64 = text
                    .split_ascii_whitespace()
                    .next()
                    .and_then(|first| first.parse().ok())
                    .ok_or_else(|| {
                        Unavailable::because(format!("{path} holds `{text}`, which is not a time"))
                    })?;
                times.insert(task, on_cpu_ns);
            }
        }
        Ok(times)
    }

    /// Resident memory of all of them now.
    ///
    /// # Errors
    /// The process has ended.
    pub fn resident_bytes(&self) -> Result<u64, Unavailable> {
        let of = |pid: &u32| kibibyte_line(&self.tree.text(format!("proc/{pid}/status"))?, "VmRSS");
        self.pids.iter().map(of).sum()
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn our_own_listening_socket_is_ours() {
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let port = listener.local_addr().unwrap().port();
            let found = ServingProcess::listening_on(([127, 0, 0, 1], port).into()).unwrap();
            assert!(found.is_this_process(), "{found}");
            assert!(found.cpu_time_ns().unwrap() > 0);
            assert!(found.resident_bytes().unwrap() > 100_000);
        }
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
