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
