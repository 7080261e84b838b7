//! What the server's tests share: a server on a free port, and a client that reads exactly what it expects.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use outcrop_cache::server::{Protocol, Server, ServerOptions, loopback};
use outcrop_cache::store::StoreOptions;

/// Longer than any reply takes; only a reply that never comes meets it.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn options() -> ServerOptions {
    ServerOptions {
        store: StoreOptions {
            memory_bytes: 64 << 20,
            ..StoreOptions::default()
        },
        memcached: loopback(0).to_vec(),
        http: loopback(0).to_vec(),
        threads: 2,
        ..ServerOptions::default()
    }
}

pub(crate) fn start() -> Server {
    Server::start(&options()).unwrap()
}

pub(crate) fn address(server: &Server, protocol: Protocol) -> SocketAddr {
    server
        .addresses()
        .iter()
        .find(|(spoken, _)| *spoken == protocol)
        .unwrap()
        .1
}

/// A connection.
pub(crate) struct Client(pub(crate) TcpStream);

impl Client {
    pub(crate) fn to(server: &Server) -> Self {
        Self::at(address(server, Protocol::Memcached))
    }

    pub(crate) fn at(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(socket)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// Reads as many bytes as are expected, and compares.
    pub(crate) fn expect(&mut self, expected: &[u8]) {
        let mut got = vec![0; expected.len()];
        let mut at = 0;
        while at < got.len() {
            match self.0.read(&mut got[at..]) {
                Ok(0) => break,
                Ok(read) => at += read,
                Err(error) => panic!(
                    "{error} after {:?}, expected {:?}",
                    text(&got[..at]),
                    text(expected)
                ),
            }
        }
        assert!(
            got[..at] == *expected,
            "got {:?}, expected {:?}",
            text(&got[..at]),
            text(expected)
        );
    }

    pub(crate) fn ask(&mut self, request: &str, expected: &str) {
        self.send(request.as_bytes());
        self.expect(expected.as_bytes());
    }

    /// Everything until the server ends the connection.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset ends it as well as a goodbye does.
        let _ = self.0.read_to_end(&mut rest);
        rest
    }

    pub(crate) fn end(&mut self) -> Vec<u8> {
        let _ = self.0.shutdown(Shutdown::Write);
        self.rest()
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned()
}

/// A number of `stats`.
pub(crate) fn stat(server: &Server, name: &str) -> u64 {
    let mut client = Client::to(server);
    client.send(b"stats\r\nquit\r\n");
    let all = String::from_utf8(client.rest()).unwrap();
    let prefix = format!("STAT {name} ");
    let line = all.lines().find_map(|line| line.strip_prefix(&prefix));
    line.unwrap_or_else(|| panic!("no {name} in {all}"))
        .parse()
        .unwrap()
}

/// A generator good enough for traces and damage (Vigna's splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) const fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub(crate) fn bytes(&mut self, most: usize) -> Vec<u8> {
        let len = self.below(most);
        (0..len).map(|_| self.next() as u8).collect()
    }
}
