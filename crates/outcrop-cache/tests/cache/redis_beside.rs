//! Redis's protocol beside the real Redis.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use outcrop_cache::server::Protocol;

use crate::kit::{Client, address, text};
use crate::redis::{SESSION, request, start};

/// Debian's Redis on a free port.
struct Real(Child, u16);

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn real_redis() -> Option<Real> {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut command = Command::new("redis-server");
    command.args([
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--port",
        &free.to_string(),
    ]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let real = Real(child, free);
    for _ in 0..1_000_000 {
        if std::net::TcpStream::connect(("127.0.0.1", free)).is_ok() {
            return Some(real);
        }
        std::thread::yield_now();
    }
    panic!("redis-server does not listen");
}

#[test]
fn strings_are_answered_as_the_real_redis_answers_them() {
    let Some(real) = real_redis() else {
        println!("skipped: beside the real Redis: it is not installed (Debian's package redis-server)");
        return;
    };
    let server = start();
    let mut ours = Client::at(address(&server, Protocol::Redis));
    let mut theirs = Client::at(([127, 0, 0, 1], real.1).into());
    // Sentences are ours; codes are not, nor is anything that is no error. A closed connection ends it.
    let code = |reply: &[u8]| {
        let line = text(reply);
        let is_error = line.starts_with('-');
        if is_error {
            line.split(' ').next().unwrap().to_owned()
        } else {
            line
        }
    };
    let own = ["CLIENT", "SELECT", "PX", "PSETEX", "PEXPIRE", "PTTL"];
    let mut compared = 0;
    for (line, _) in SESSION
        .into_iter()
        .filter(|(line, _)| !own.iter().any(|word| line.contains(word)))
    {
        // The answer ends where the next begins.
        let asks = [request(line), request("ECHO end-of-it")].concat();
        let mut seen = Vec::new();
        for client in [&mut ours, &mut theirs] {
            client.send(&asks);
            let mut got = Vec::new();
            while !got.ends_with(b"$9\r\nend-of-it\r\n") {
                let mut byte = [0];
                std::io::Read::read_exact(&mut client.0, &mut byte).unwrap();
                got.push(byte[0]);
            }
            seen.push(code(&got[..got.len() - 15]));
        }
        let [ours, theirs] = &seen[..] else { unreachable!() };
        // What `PX` had set is not there to be compared.
        if !line.starts_with("TTL a") && !line.starts_with("PERSIST") && !line.starts_with("TTL once") {
            assert_eq!(ours, theirs, "{line}");
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}
