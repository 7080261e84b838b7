//! A TCP proxy that does to bytes what networks do: cuts them up, delays them, trickles them, holds them back, resets.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What becomes of the bytes of one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// They go on as they come.
    Pass,
    /// They go on in pieces of at most so many bytes, a time apart.
    Pieces(usize, Duration),
    /// So many go on, then both sides see a reset.
    ResetAfter(usize),
    /// So many go on, then none, and nobody is told.
    HoldAfter(usize),
}

/// Whether the proxy is over, and how to wait for it.
#[derive(Default)]
struct End(Mutex<bool>, Condvar);

impl End {
    fn come(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    /// Waits for the end at most so long; true when it has come.
    fn within(&self, time: Duration) -> bool {
        let waiting = self.0.lock().unwrap();
        *self.1.wait_timeout_while(waiting, time, |over| !*over).unwrap().0
    }
}

/// Stands between clients and a server until it is dropped.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    acceptor: Option<JoinHandle<()>>,
    streams: Arc<Mutex<Option<Vec<TcpStream>>>>,
    end: Arc<End>,
}

impl Proxy {
    /// Treats bytes to the server and bytes to the client, each in their manner.
    pub(crate) fn new(server: SocketAddr, to_server: Manner, to_client: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let streams = Arc::new(Mutex::new(Some(Vec::new())));
        let end = Arc::new(End::default());
        let (kept, ended) = (Arc::clone(&streams), Arc::clone(&end));
        let acceptor = std::thread::spawn(move || {
            let mut pumps = Vec::new();
            while let Ok((client, _)) = listener.accept() {
                let server = TcpStream::connect(server).unwrap();
                let Some(streams) = &mut *kept.lock().unwrap() else {
                    break;
                };
                for (from, to, manner) in [(&client, &server, to_server), (&server, &client, to_client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    streams.push(from.try_clone().unwrap());
                    let ended = Arc::clone(&ended);
                    pumps.push(std::thread::spawn(move || pump(from, to, manner, &ended)));
                }
            }
            pumps.into_iter().for_each(|pump| pump.join().unwrap());
        });
        Self {
            address,
            acceptor: Some(acceptor),
            streams,
            end,
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.end.come();
        let streams = self.streams.lock().unwrap().take().unwrap_or_default();
        for stream in streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes the acceptor, which finds that it is over.
        let _ = TcpStream::connect(self.address);
        self.acceptor.take().unwrap().join().unwrap();
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, manner: Manner, ended: &End) {
    let _ = to.set_nodelay(true);
    let mut buffer = vec![0; 64 << 10];
    let mut passed = 0;
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..read];
        let sent = match manner {
            Manner::Pass => to.write_all(bytes).is_ok(),
            Manner::Pieces(most, pause) => bytes
                .chunks(most)
                .all(|piece| !ended.within(pause) && to.write_all(piece).is_ok()),
            Manner::ResetAfter(most) | Manner::HoldAfter(most) => {
                to.write_all(&bytes[..read.min(most - passed)]).is_ok()
            }
        };
        passed += read;
        match manner {
            Manner::ResetAfter(most) if passed >= most => {
                for stream in [&from, &to] {
                    // Dissolving a connection that stands resets it.
                    let _ = rustix::net::connect_unspec(stream);
                }
                return;
            }
            Manner::HoldAfter(most) if passed >= most => {
                ended.within(Duration::MAX);
                return;
            }
            _ if !sent => break,
            _ => {}
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
