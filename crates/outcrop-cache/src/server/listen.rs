//! Listening sockets, and who may be listened to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::session::Protocol;
use crate::error::CacheError;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// A socket that is listened on.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) socket: OwnedFd,
    pub(crate) address: SocketAddr,
    pub(crate) protocol: Protocol,
}

/// Both loopback addresses with a port.
pub fn loopback(port: u16) -> [SocketAddr; 2] {
    [
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
        SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), port),
    ]
}

impl Listener {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the address is in use, not this machine's, or not allowed.
    pub(crate) fn bind(address: SocketAddr, protocol: Protocol) -> Result<Self, CacheError> {
        let fail = |errno: Errno| CacheError::Listen {
            address,
            source: errno.into(),
            hint: match errno {
                Errno::ADDRINUSE => "; another server uses this port: choose another with --listen",
                Errno::ACCESS => "; ports below 1024 need root: choose another with --listen",
                Errno::ADDRNOTAVAIL => "; no interface of this machine has that address",
                _ => "",
            },
        };
        let (family, is_v6) = match address {
            SocketAddr::V4(_) => (AddressFamily::INET, false),
            SocketAddr::V6(_) => (AddressFamily::INET6, true),
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None).map_err(fail)?;
        sockopt::set_socket_reuseaddr(&socket, true).map_err(fail)?;
        if is_v6 {
            sockopt::set_ipv6_v6only(&socket, true).map_err(fail)?;
        }
        rustix::net::bind(&socket, &address).map_err(fail)?;
        rustix::net::listen(&socket, BACKLOG).map_err(fail)?;
        let bound = rustix::net::getsockname(&socket).map_err(fail)?;
        let address = SocketAddr::try_from(bound).unwrap_or(address);
        Ok(Self {
            socket,
            address,
            protocol,
        })
    }
}

/// Listens on all addresses. An IPv6 loopback address that the machine does not have is left out; port 0 means one
/// free port for both loopback addresses.
pub(crate) fn bind_all(addresses: &[SocketAddr], protocol: Protocol) -> Result<Vec<Listener>, CacheError> {
    let mut listeners: Vec<Listener> = Vec::new();
    for &address in addresses {
        let mut address = address;
        if address.port() == 0 {
            address.set_port(listeners.first().map_or(0, |first| first.address.port()));
        }
        let is_optional = address.ip() == IpAddr::V6(Ipv6Addr::LOCALHOST) && addresses.len() > 1;
        match Listener::bind(address, protocol) {
            Ok(listener) => listeners.push(listener),
            Err(CacheError::Listen { source, .. }) if is_optional && lacks_ipv6(&source) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(listeners)
}

fn lacks_ipv6(error: &std::io::Error) -> bool {
    let lacking = [Errno::ADDRNOTAVAIL, Errno::AFNOSUPPORT];
    lacking
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
