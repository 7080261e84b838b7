//! What somebody tries who wants to stop the server, write to it from a web page, or guess its passwords.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use outcrop_cache::dialogue::Dialogue;
use outcrop_cache::server::{Protocol, Server, ServerOptions};
use outcrop_cache::store::{PolicyKind, StoreOptions};

use crate::kit::{Client, address, options, start, stat, text};

/// Sends `request` to the HTTP port, and gives everything that comes back until the server ends the connection.
fn answer(server: &Server, request: &str) -> String {
    let mut client = Client::at(address(server, Protocol::Http));
    client.send(request.as_bytes());
    text(&client.rest())
}

#[test]
fn a_full_server_that_evicts_nothing_serves_and_ends_while_clients_flood_it() {
    let store = StoreOptions {
        memory_bytes: 8 << 20,
        policy: PolicyKind::None,
        ..StoreOptions::default()
    };
    let server = Server::start(&ServerOptions {
        store,
        drain_timeout_s: 1,
        ..options()
    })
    .unwrap();
    let sent = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for flooder in 0..4 {
            let mut client = Client::to(&server);
            let sent = &sent;
            scope.spawn(move || {
                for batch in 0_u64.. {
                    let sets: String = (0..1000)
                        .map(|number| format!("set {flooder}-{batch}-{number} 0 0 0 noreply\r\n\r\n"))
                        // What ends at once makes the server look for what has ended.
                        .chain(["set x 0 -1 1 noreply\r\nx\r\n".to_owned()])
                        .collect();
                    // The end of the server is the end of the flood.
                    if client.0.write_all(sets.as_bytes()).is_err() {
                        return;
                    }
                    sent.fetch_add(1000, Ordering::Relaxed);
                }
            });
        }
        while sent.load(Ordering::Relaxed) < 1_000_000 || stat(&server, "store_no_memory") < 100_000 {
            std::thread::yield_now();
        }
        let mut other = Client::to(&server);
        other.ask("get nothing\r\n", "END\r\n");
        server.stop().unwrap();
    });
}

#[test]
fn pages_of_other_sites_cannot_change_anything_over_http() {
    let server = start();
    Client::to(&server).ask("set rock 0 0 1\r\nx\r\n", "STORED\r\n");
    let own = address(&server, Protocol::Http);
    for foreign in [
        "Origin: http://evil.example".to_owned(),
        "Origin: null".to_owned(),
        "Origin: http://127.0.0.1".to_owned(),
        format!("Origin: ftp://{own}"),
        "Sec-Fetch-Site: cross-site".to_owned(),
        "Sec-Fetch-Site: same-site".to_owned(),
        format!("Origin: http://{own}\r\nSec-Fetch-Site: cross-site"),
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Site: none".to_owned(),
        format!("Origin: http://evil.example\r\nOrigin: http://{own}"),
    ] {
        for request in ["POST /reset", "PUT /rock/y", "DELETE /rock"] {
            let said = answer(
                &server,
                &format!("{request} HTTP/1.1\r\nHost: {own}\r\n{foreign}\r\n\r\n"),
            );
            assert!(said.starts_with("HTTP/1.1 403 "), "{request} {foreign}: {said}");
        }
        let said = answer(
            &server,
            &format!("GET /rock HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n{foreign}\r\n\r\n"),
        );
        assert!(
            said.starts_with("HTTP/1.1 200 ") && said.ends_with("\r\n\r\nx"),
            "{said}"
        );
    }
    for own_page in [
        format!("Origin: http://{own}\r\nSec-Fetch-Site: same-origin"),
        "Sec-Fetch-Site: none".to_owned(),
    ] {
        let head = format!("Host: {own}\r\nConnection: close\r\n{own_page}");
        let said = answer(&server, &format!("PUT /rock/z HTTP/1.1\r\n{head}\r\n\r\n"));
        assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    }
    Client::to(&server).ask("get rock\r\n", "VALUE rock 0 1\r\nz\r\nEND\r\n");
}

#[test]
fn an_http_request_ends_a_memcached_connection_before_its_body_is_read() {
    let server = start();
    let body = "set csrf 0 0 5\r\nowned\r\n";
    for line in [
        "GET / HTTP/1.1",
        "POST / HTTP/1.1",
        "PUT /a HTTP/1.0",
        "HEAD / HTTP/1.1",
        "DELETE /k HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "PATCH / HTTP/1.1",
        "CONNECT a:1 HTTP/1.1",
        "TRACE / HTTP/1.1",
        "MKCOL /new HTTP/1.1",
        "post / HTTP/1.1",
        "foo HTTP/1.1",
        "options * HTTP/1.1",
        "GET /",
        "Host: 127.0.0.1:11211",
        "host: a",
    ] {
        let mut client = Client::to(&server);
        client.send(format!("{line}\r\nContent-Type: text/plain\r\n\r\n{body}").as_bytes());
        assert_eq!(text(&client.rest()), "", "{line}");
    }
    Client::to(&server).ask("get csrf\r\n", "END\r\n");
}

/// A dialogue with a server for anna, whose password is secret.
fn guarded(protocol: Protocol, folder: &tempfile::TempDir) -> Dialogue {
    let users = folder.path().join("users");
    std::fs::write(&users, "anna:secret\n").unwrap();
    let options = StoreOptions {
        memory_bytes: 1 << 20,
        ..StoreOptions::default()
    };
    Dialogue::guarded(protocol, &options, &users).unwrap()
}

#[test]
fn three_wrong_passwords_end_a_connection() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = guarded(Protocol::Memcached, &folder);
    client.say(&b"set k 0 0 5\r\nwrong\r\n".repeat(5));
    let refused = "CLIENT_ERROR authentication failure\r\n".repeat(3);
    assert_eq!(text(client.replies()), refused);
    assert!(client.is_over());
}

#[test]
fn passwords_over_http_are_looked_at_ever_more_slowly_and_the_right_one_still_passes() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    std::fs::write(&users, "anna:secret\n").unwrap();
    let server = Server::start(&ServerOptions {
        login_file: Some(users),
        ..options()
    })
    .unwrap();
    let ask = |password: &str| {
        let head = format!("Host: localhost\r\nAuthorization: Bearer {password}\r\nConnection: close");
        answer(&server, &format!("GET /metrics HTTP/1.1\r\n{head}\r\n\r\n"))
    };
    // The ninth waits, as would all that follow.
    for guess in 0..9 {
        let said = ask(&guess.to_string());
        assert!(said.starts_with("HTTP/1.1 401 "), "{said}");
    }
    let said = ask("secret");
    assert!(said.starts_with("HTTP/1.1 200 "), "{said:?}");
}

#[test]
fn a_right_password_waits_its_turn_too_and_requests_behind_it_wait_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = guarded(Protocol::Http, &folder);
    let wrong = b"GET /k HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n";
    let right = b"GET /k HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n";
    client.say(right);
    client.say(right);
    assert_eq!(text(client.replies()).matches("404 Not Found\n").count(), 2);
    client.say(wrong);
    assert!(client.is_over());
}

#[test]
fn a_silent_client_is_given_up_though_nobody_else_asks_anything() {
    let server = Server::start(&ServerOptions {
        request_timeout_s: 2,
        ..options()
    })
    .unwrap();
    let mut silent: Vec<Client> = (0..6).map(|_| Client::to(&server)).collect();
    silent
        .iter_mut()
        .for_each(|client| client.send(b"set half 0 0 100\r\nx"));
    // No other connection wakes the server: only its clock does.
    for client in &mut silent {
        assert_eq!(text(&client.rest()), "");
    }
    drop(silent);
    assert_eq!(stat(&server, "timed_out_connections"), 6);
}

#[test]
fn who_keeps_half_a_value_back_goes_before_who_sends_a_whole_one() {
    // One thread, so that all are its own; buffers may take 16 MiB.
    let server = Server::start(&ServerOptions {
        threads: 1,
        grace_ms: 0,
        ..options()
    })
    .unwrap();
    let part = vec![b'v'; 900_000];
    let silent: Vec<Client> = (0..60)
        .map(|number| {
            let mut client = Client::to(&server);
            client.send(format!("set half{number} 0 0 1000000\r\n").as_bytes());
            // A server that has given it up is an answer too.
            let _ = client.0.write_all(&part);
            client
        })
        .collect();
    while stat(&server, "overdrawn_connections") == 0 {}
    // All who are left are silent once what they sent is read, in whole pages. The other connection is that of `stat`.
    let held = (part.len() as u64 + 30).next_multiple_of(4096);
    while stat(&server, "buffer_memory_bytes") != (stat(&server, "curr_connections") - 1) * held {}
    let value = vec![b'w'; 1_040_000];
    for number in 0..16 {
        let mut client = Client::to(&server);
        client.send(format!("set whole{number} 0 0 {}\r\n", value.len()).as_bytes());
        client.send(&value);
        client.ask("\r\n", "STORED\r\n");
    }
    drop(silent);
}

#[test]
fn a_body_that_is_too_large_ends_as_the_request_says() {
    let server = start();
    let large = "v".repeat(3_000_000);
    for (version, header) in [("1.1", "Connection: close"), ("1.0", "X: y")] {
        let said = answer(
            &server,
            &format!(
                "PUT /k HTTP/{version}\r\nHost: localhost\r\n{header}\r\nContent-Length: {}\r\n\r\n{large}",
                large.len()
            ),
        );
        assert!(
            said.starts_with("HTTP/1.1 413 ") && said.contains("\r\nConnection: close\r\n"),
            "{said}"
        );
    }
    // No body follows for who asked first: what comes next is nobody's body.
    let asking =
        "PUT /k HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3000000\r\n\r\n";
    let said = answer(&server, asking);
    assert!(
        said.starts_with("HTTP/1.1 413 ") && said.contains("\r\nConnection: close\r\n"),
        "{said}"
    );
}

#[test]
fn targets_with_a_scheme_name_the_same_key_and_foreign_ones_are_refused() {
    let server = start();
    Client::to(&server).ask("set a/b 0 0 1\r\nx\r\n", "STORED\r\n");
    let host = "Host: localhost\r\nConnection: close\r\n\r\n";
    for target in ["http://127.0.0.1/a%2Fb", "HTTP://[::1]:8080/a%2Fb", "/a%2Fb"] {
        let said = answer(&server, &format!("GET {target} HTTP/1.1\r\n{host}"));
        assert!(said.starts_with("HTTP/1.1 200 "), "{target}: {said}");
    }
    for target in [
        "http://evil.example/a%2Fb",
        "http://localhost:80@evil.example/a%2Fb",
    ] {
        let said = answer(&server, &format!("GET {target} HTTP/1.1\r\n{host}"));
        assert!(said.starts_with("HTTP/1.1 421 "), "{target}: {said}");
    }
    for host in ["[::1]evil.example", "localhost:80@evil.example"] {
        let said = answer(&server, &format!("GET /a HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert!(said.starts_with("HTTP/1.1 421 "), "{host}: {said}");
    }
    let long = format!(
        "GET /a HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "x".repeat(20_000)
    );
    assert!(answer(&server, &long).starts_with("HTTP/1.1 431 "));
}

/// What this program is in the test of ten thousand connections, where it runs itself: the server, or the clients of an address.
/// Each has a process to itself, since each needs ten thousand open files, and other tests of this program need some as well.
const ROLE: &str = "OUTCROP_TEST_ROLE";
const SERVER: &str = "server";
const MANY: u64 = 10_000;

/// Opens them all, stores and reads on each, says so, and keeps them open until standard input ends.
fn be_ten_thousand_clients(server: SocketAddr) {
    let mut clients: Vec<Client> = (0..MANY).map(|_| Client::at(server)).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(format!("set k{number} 0 0 2\r\nhi\r\nget k{number}\r\n").as_bytes());
    }
    for (number, client) in clients.iter_mut().enumerate() {
        client.expect(format!("STORED\r\nVALUE k{number} 0 2\r\nhi\r\nEND\r\n").as_bytes());
    }
    std::io::stdout().write_all(b"\nserved\n").unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// This program again, for that test alone.
fn in_role(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "hostile::ten_thousand_connections_are_served_at_once",
            "--exact",
            "--nocapture",
        ])
        .env(ROLE, role);
    command
}

fn serve_ten_thousand_clients() {
    let server = Server::start(&options()).unwrap();
    assert_eq!(
        server.max_connections(),
        MANY,
        "the limit of open files is too low"
    );
    let mut clients = in_role(&address(&server, Protocol::Memcached).to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(clients.stdout.take().unwrap());
    let mut lines = said.lines().map(Result::unwrap);
    assert!(
        lines.any(|line| line == "served"),
        "the clients ended before they were served"
    );
    assert_eq!(server.connections(), MANY);
    assert_eq!(server.store_report().items, MANY);
    drop(clients.stdin.take());
    lines.for_each(drop);
    assert!(clients.wait().unwrap().success());
}

#[test]
fn ten_thousand_connections_are_served_at_once() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Ok(role) = std::env::var(ROLE) else {
        let served = in_role(SERVER).output().unwrap();
        return assert!(served.status.success(), "{served:?}");
    };
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum;
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
    match role.as_str() {
        SERVER => serve_ten_thousand_clients(),
        address => be_ten_thousand_clients(address.parse().unwrap()),
    }
}

/// Were the line searched from its start for each byte that comes, this would take minutes.
#[test]
fn a_get_as_long_as_a_line_may_be_is_answered_at_once_however_it_is_cut() {
    let server = start();
    let mut client = Client::to(&server);
    client.ask("set last 0 0 1\r\nx\r\n", "STORED\r\n");
    let mut line = b"get".to_vec();
    while line.len() < 1_000_000 {
        line.extend_from_slice(format!(" key-number-{:015}", line.len()).as_bytes());
    }
    line.extend_from_slice(b" last\r\n");
    for piece in [line.len(), 70_000, 1_000] {
        for part in line.chunks(piece) {
            client.send(part);
        }
        client.expect(b"VALUE last 0 1\r\nx\r\nEND\r\n");
        // A pipeline behind it is read as what it is.
        client.send(&[&line[..], b"get last\r\nmn\r"].concat());
        client.expect(b"VALUE last 0 1\r\nx\r\nEND\r\nVALUE last 0 1\r\nx\r\nEND\r\n");
        client.ask("\n", "MN\r\n");
    }
}
