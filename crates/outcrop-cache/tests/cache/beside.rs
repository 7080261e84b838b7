//! Beside the real memcached: the one that `MEMCACHED` names, else the system's, if it is as new as the one whose answers are
//! ours.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use crate::kit::{Client, options};
use outcrop_cache::server::Server;

/// A memcached on a free port.
struct Real(Child, u16);

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn real_memcached() -> Option<Real> {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut command = Command::new(std::env::var_os("MEMCACHED").unwrap_or_else(|| "memcached".into()));
    command.args([
        "-l",
        "127.0.0.1",
        "-m",
        "64",
        "-u",
        "root",
        "-p",
        &port.to_string(),
    ]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(child) = child else {
        return None;
    };
    let real = Real(child, port);
    // It listens soon; each refused attempt takes a moment of its own.
    for _ in 0..1_000_000 {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Some(real);
        }
        std::thread::yield_now();
    }
    panic!("memcached does not listen");
}

/// The real memcached, if it is as new as the one whose answers are ours.
fn newest_memcached() -> Option<Real> {
    let real = real_memcached()?;
    let mut client = Client::at(([127, 0, 0, 1], real.1).into());
    client.send(b"version\r\nquit\r\n");
    let said = String::from_utf8_lossy(&client.rest()).into_owned();
    let numbers = said.trim().trim_start_matches("VERSION ").split('.');
    let version: Vec<u32> = numbers.map_while(|number| number.parse().ok()).collect();
    (version >= vec![1, 6, 45]).then_some(real)
}

/// What a server answers to `request` on a connection of its own, after forgetting everything.
fn answer_of(address: std::net::SocketAddr, request: &[u8]) -> String {
    let mut client = Client::at(address);
    client.0.write_all(b"flush_all noreply\r\n").unwrap();
    client.send(request);
    String::from_utf8_lossy(&client.end()).into_owned()
}

/// A line as it stands in the list of unusual ones, with what its words stand for.
fn written_out(text: &str) -> String {
    let long_key = "k".repeat(251);
    text.replace("\\r", "\r")
        .replace("\\n", "\n")
        .replace("LONG", &long_key)
        .replace("FITS", &long_key[1..])
        .replace("LARGE", &"v".repeat(1 << 20))
        .replace("HALF", &"h".repeat(600_000))
}

#[test]
fn unusual_lines_are_answered_as_memcached_answers_them() {
    let server = Server::start(&options()).unwrap();
    let ours = crate::kit::address(&server, outcrop_cache::server::Protocol::Memcached);
    let real = newest_memcached();
    let mut lines = include_str!("unusual.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let mut differences = Vec::new();
    while let Some(case) = lines.next() {
        let recorded = lines.next().and_then(|line| line.strip_prefix("=> ")).unwrap();
        let (request, recorded) = (written_out(case), written_out(recorded));
        let mut compare = |who: &str, seen: String| {
            if seen != recorded {
                differences.push(format!("{case}\n  {who} {seen:?}\n  recorded {recorded:?}"));
            }
        };
        compare("ours", answer_of(ours, request.as_bytes()));
        if let Some(real) = &real {
            let theirs = ([127, 0, 0, 1], real.1).into();
            compare("memcached", answer_of(theirs, request.as_bytes()));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// One line of each kind that `stats` tells apart, and what memcached 1.6.45 counts then.
const COUNTED: &str = "set c 0 0 1\r\nx\r\nget c nope\r\ngat 100 c nope\r\nmg c v\r\nmg nope v\r\nmg c T50\r\nmg nope T50\r\n\
    mg new N30\r\nmg newer N30 T60\r\ntouch c 10\r\ntouch nope 10\r\nma n N0\r\nma n\r\nma nope\r\nma c\r\nincr c 1\r\n\
    decr n 1\r\ndecr nope 1\r\nma c MD\r\nset c 0 0 1\r\n8\r\nadd c 0 0 1\r\n8\r\nincr c 1\r\nincr c 1\r\nappend c 0 0 1\r\n0\r\n\
    ms c 2 MP\r\n11\r\nmd c I\r\nmd c x\r\n";
const COUNTS: [(&str, u64); 11] = [
    ("total_items", 9),
    ("cmd_get", 6),
    ("get_hits", 3),
    ("get_misses", 3),
    ("cmd_touch", 6),
    ("touch_hits", 4),
    ("touch_misses", 2),
    ("incr_hits", 3),
    ("incr_misses", 1),
    ("decr_hits", 1),
    ("decr_misses", 1),
];

#[test]
fn hits_and_misses_are_counted_as_memcached_counts_them() {
    let server = Server::start(&options()).unwrap();
    let ours = crate::kit::address(&server, outcrop_cache::server::Protocol::Memcached);
    let real = newest_memcached();
    let theirs = real
        .as_ref()
        .map(|real| ("memcached", ([127, 0, 0, 1], real.1).into()));
    for (who, address) in std::iter::once(("ours", ours)).chain(theirs) {
        let said = answer_of(address, format!("stats reset\r\n{COUNTED}stats\r\n").as_bytes());
        for (name, count) in COUNTS {
            let line = format!("STAT {name} {count}");
            assert!(
                said.lines().any(|seen| seen == line),
                "{who}: no {line} in {said}"
            );
        }
    }
}

#[test]
fn commands_that_are_wrong_in_every_way_are_answered_as_the_real_memcached_answers_them() {
    // Debian's is older, and its sentences are others: what 1.6.45 answers to the most telling lines is recorded above.
    let Some(real) = newest_memcached() else {
        return;
    };
    let server = Server::start(&options()).unwrap();
    let ours = crate::kit::address(&server, outcrop_cache::server::Protocol::Memcached);
    let theirs = ([127, 0, 0, 1], real.1).into();
    let mut random = crate::kit::Random::new(4);
    let (mut compared, mut differences) = (0, Vec::new());
    while compared < 3000 {
        let request = crate::untrusted::written(&random.bytes(80));
        // CAS values and seconds are each server's own.
        let is_own = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let verb = words.next();
            matches!(verb, Some("gets" | "cas" | "me"))
                // A deletion with too much behind it is refused here, and so is it by libmemcached's tests.
                || verb == Some("delete") && words.clone().count() > 3
                // 0 is the CAS value of no item, on either.
                || words.any(|word| {
                    word != "C0" && ["c", "C", "E", "T3", "N3", "R3"].iter().any(|own| word.starts_with(own))
                })
        };
        // A number that gets shorter is padded or not, as memcached finds it convenient.
        let is_counted = |line: &str| ["incr", "decr", "ma"].iter().any(|verb| line.starts_with(verb));
        let is_read = |line: &str| line.starts_with("get") || line.starts_with("mg");
        let counts = request.lines().any(is_counted) && request.lines().any(is_read);
        if counts || request.lines().any(is_own) {
            continue;
        }
        compared += 1;
        let (seen, expected) = (
            answer_of(ours, request.as_bytes()),
            answer_of(theirs, request.as_bytes()),
        );
        if seen != expected {
            differences.push(format!("{request:?}\n  {seen:?}, memcached {expected:?}"));
        }
    }
    let count = differences.len();
    differences.truncate(8);
    assert!(
        count == 0,
        "{count} of {compared}, the first:\n{}",
        differences.join("\n")
    );
}
