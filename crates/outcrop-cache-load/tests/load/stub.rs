//! A server of the test kit on a real socket: it answers memcached's text protocol by a rule, and nothing else.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use outcrop_cache_load::{Protocol, Target};

/// What the rule says to a line (values are passed over): bytes to send, or the end of the connection.
pub(crate) type Rule = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

pub(crate) struct Stub {
    address: SocketAddr,
    acceptor: Option<JoinHandle<()>>,
    streams: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Stub {
    pub(crate) fn new(rule: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let streams = Arc::new(Mutex::new(Some(Vec::new())));
        let (kept, rule) = (Arc::clone(&streams), Arc::new(rule));
        let acceptor = std::thread::spawn(move || {
            let mut threads = Vec::new();
            while let Ok((stream, _)) = listener.accept() {
                match kept.lock().unwrap().as_mut() {
                    Some(streams) => streams.push(stream.try_clone().unwrap()),
                    None => break,
                }
                let rule: Arc<Rule> = Arc::clone(&rule) as Arc<Rule>;
                threads.push(std::thread::spawn(move || answer(stream, &*rule)));
            }
            for thread in threads {
                thread.join().unwrap();
            }
        });
        Self {
            address,
            acceptor: Some(acceptor),
            streams,
        }
    }

    pub(crate) fn target(&self) -> Target {
        Target::loopback(Protocol::Memcached, self.address.port())
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        for stream in self.streams.lock().unwrap().take().unwrap() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes the acceptor, which finds that it is over.
        let _ = TcpStream::connect(self.address);
        self.acceptor.take().unwrap().join().unwrap();
    }
}

fn answer(mut stream: TcpStream, rule: &Rule) {
    let mut input = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        while let Some(end) = input.iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8(input[..end].to_vec()).unwrap();
            let line = line.trim_end();
            let value = line.strip_prefix("set ").map_or(0, |rest| {
                rest.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap() + 2
            });
            if input.len() < end + 1 + value {
                break;
            }
            let Some(reply) = rule(line) else {
                let _ = stream.shutdown(Shutdown::Both);
                return;
            };
            input.drain(..end + 1 + value);
            if stream.write_all(&reply).is_err() {
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(received) => input.extend_from_slice(&buffer[..received]),
        }
    }
}
