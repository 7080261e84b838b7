//! Which cache: `memcached://127.0.0.1:11211`, `redis://localhost:6379`, `http://[::1]:8080`.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use outcrop_cache_client::{Protocol, Wire};

use crate::error::CacheLoadError;

/// A cache by protocol, host and port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// How it is spoken to.
    pub protocol: Protocol,
    /// Name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Target {
    /// A server on the loopback interface.
    pub fn loopback(protocol: Protocol, port: u16) -> Self {
        Self {
            protocol,
            host: "127.0.0.1".to_owned(),
            port,
        }
    }

    /// `host:port`, with brackets around an IPv6 address.
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// What requests are written by, and replies read.
    pub fn wire(&self) -> Wire {
        Wire::of(self.protocol, || self.authority())
    }

    /// The addresses of the name, at least one.
    ///
    /// # Errors
    /// [`CacheLoadError::Connect`] when the name is not known.
    pub fn addresses(&self) -> Result<Vec<SocketAddr>, CacheLoadError> {
        let refused = |source| CacheLoadError::Connect {
            target: self.to_string(),
            source,
        };
        let found: Vec<SocketAddr> = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(refused)?
            .collect();
        if found.is_empty() {
            return Err(refused(std::io::Error::other("the name has no address")));
        }
        Ok(found)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.protocol.name(), self.authority())
    }
}

impl FromStr for Target {
    type Err = CacheLoadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |why: &str| CacheLoadError::Target {
            seen: text.to_owned(),
            why: why.to_owned(),
        };
        let (scheme, rest) = text
            .trim()
            .split_once("://")
            .ok_or_else(|| refuse("it has no scheme"))?;
        let protocol = Protocol::ALL
            .into_iter()
            .find(|protocol| protocol.name() == scheme)
            .ok_or_else(|| refuse("its scheme is unknown"))?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '@', '?', '#']) {
            return Err(refuse("it has more than a host and a port"));
        }
        let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, rest)) => (host, rest.strip_prefix(':').or(rest.is_empty().then_some(""))),
            None => match authority.rsplit_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, Some("")),
            },
        };
        let port = match port {
            Some("") => protocol.default_port(),
            Some(digits) => digits
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(|| refuse("its port is not a number from 1 to 65535"))?,
            None => return Err(refuse("there is extra text between the address and the port")),
        };
        if host.is_empty() {
            return Err(refuse("it has no host"));
        }
        Ok(Self {
            protocol,
            host: host.to_owned(),
            port,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_read_back_and_ports_have_defaults() {
        for text in [
            "memcached://127.0.0.1:4000",
            "redis://cache.local:6379",
            "http://[::1]:8080",
        ] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        assert_eq!("memcached://localhost".parse::<Target>().unwrap().port, 11211);
        assert_eq!("redis://[::1]/".parse::<Target>().unwrap().port, 6379);
    }

    #[test]
    fn what_is_no_url_of_a_cache_is_refused_in_words() {
        for text in [
            "127.0.0.1:11211",
            "mysql://x",
            "memcached://",
            "redis://h:0",
            "redis://h:70000",
            "http://h/x",
            "redis://[::1]9",
        ] {
            let error = text.parse::<Target>().unwrap_err().to_string();
            assert!(
                error.contains(text) && error.contains("memcached://HOST:PORT"),
                "{error}"
            );
        }
    }
}
