//! Where connections' buffers are short: who is silent goes, and who sends is served, however little each of the silent holds.

use std::io::{Read as _, Write as _};

use outcrop_cache::server::{Protocol, Server, ServerOptions, loopback};
use outcrop_cache::store::PolicyKind;

use crate::kit::{Client, address, options, stat};

/// 64 MiB, of which buffers may take 16.
fn server(threads: usize, grace_ms: u32) -> Server {
    Server::start(&ServerOptions {
        redis: loopback(0).to_vec(),
        threads,
        grace_ms,
        ..options()
    })
    .unwrap()
}

/// A client that has sent `part`, or as much of it as the server took before giving the client up.
fn sender(server: &Server, protocol: Protocol, part: &[u8]) -> Client {
    let mut client = Client::at(address(server, protocol));
    let _ = client.0.write_all(part);
    client
}

const VALUE_BYTES: usize = 900_000;

/// What stores a large value, up to its last bytes, those, and the beginning of the answer.
fn storing(protocol: Protocol) -> (Vec<u8>, &'static [u8], &'static [u8]) {
    let (head, last, answer): (_, &[u8], &[u8]) = match protocol {
        Protocol::Memcached => (format!("set k 0 0 {VALUE_BYTES}\r\n"), b"v\r\n", b"STORED\r\n"),
        Protocol::Redis => (
            format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${VALUE_BYTES}\r\n"),
            b"v\r\n",
            b"+OK\r\n",
        ),
        Protocol::Http => (
            format!("PUT /k HTTP/1.1\r\nHost: localhost\r\nContent-Length: {VALUE_BYTES}\r\n\r\n"),
            b"v",
            b"HTTP/1.1 20",
        ),
    };
    let mut most = head.into_bytes();
    most.resize(most.len() + VALUE_BYTES - 1, b'v');
    (most, last, answer)
}

fn stores(server: &Server, protocol: Protocol) {
    let (most, last, answer) = storing(protocol);
    let mut client = Client::at(address(server, protocol));
    client.send(&most);
    client.send(last);
    client.expect(answer);
}

/// Waits until the first connection is given up because buffers are short, which comes long before any ends by its time.
fn wait_until_overdrawn(server: &Server) {
    while stat(server, "overdrawn_connections") == 0 {
        assert_eq!(stat(server, "timed_out_connections"), 0, "buffers are not short");
    }
}

/// Lets `count` clients send `part` and fall silent, waits until they are too many, and writes large values on each port.
fn silent_clients_go_before_writers(protocol: Protocol, part: &[u8], count: usize, threads: usize) {
    let server = server(threads, 0);
    let silent: Vec<Client> = (0..count).map(|_| sender(&server, protocol, part)).collect();
    wait_until_overdrawn(&server);
    for _ in 0..3 {
        for port in [Protocol::Memcached, Protocol::Redis, Protocol::Http] {
            stores(&server, port);
        }
    }
    drop(silent);
}

#[test]
fn many_silent_halves_of_small_values_go_before_who_sends_a_large_one() {
    silent_clients_go_before_writers(Protocol::Memcached, &half(), 350, 2);
}

#[test]
fn silent_queues_of_transactions_go_before_who_sends_a_large_value() {
    let echo = b"*2\r\n$4\r\nECHO\r\n$1\r\nx\r\n";
    let queue = [b"MULTI\r\n".to_vec(), echo.repeat(8000)].concat();
    silent_clients_go_before_writers(Protocol::Redis, &queue, 120, 2);
}

#[test]
fn many_silent_inline_commands_go_before_who_sends_a_large_value() {
    let mut line = b"SET k ".to_vec();
    line.resize(60_000, b'v');
    silent_clients_go_before_writers(Protocol::Redis, &line, 400, 1);
}

#[test]
fn silent_clients_of_another_thread_go_too() {
    let server = server(2, 0);
    let (most, ..) = storing(Protocol::Memcached);
    // Connections go to the threads in turn: one has all who are silent.
    let clients: Vec<(Client, Client)> = (0..40)
        .map(|_| {
            let idle = Client::to(&server);
            (idle, sender(&server, Protocol::Memcached, &most))
        })
        .collect();
    wait_until_overdrawn(&server);
    // All who are left are silent once what they sent is read, in whole pages. One more connection is that of `stat`.
    let held = (most.len() as u64).next_multiple_of(4096);
    let others = clients.len() as u64 + 1;
    while stat(&server, "buffer_memory_bytes") != (stat(&server, "curr_connections") - others) * held {}
    for _ in 0..8 {
        for port in [Protocol::Memcached, Protocol::Redis, Protocol::Http] {
            stores(&server, port);
        }
    }
    drop(clients);
}

#[test]
fn a_slow_writer_that_gets_on_is_not_given_up_for_a_newcomer_while_others_are_silent() {
    const PIECE_BYTES: usize = 20_000;
    // One thread, so that what was sent first is read first.
    let server = server(1, 0);
    let (most, last, answer) = storing(Protocol::Memcached);
    let mut pieces = most.chunks(PIECE_BYTES);
    let mut slow = Client::to(&server);
    let mut silent = Vec::new();
    for _ in 0..20 {
        slow.send(pieces.next().unwrap());
        silent.extend((0..20).map(|_| sender(&server, Protocol::Memcached, &half())));
    }
    assert!(stat(&server, "overdrawn_connections") > 0);
    for piece in pieces {
        slow.send(piece);
        stores(&server, Protocol::Redis);
    }
    slow.send(last);
    slow.expect(answer);
    drop(silent);
}

#[test]
fn where_nobody_is_silent_the_newest_goes_and_who_came_first_is_served() {
    let server = server(1, u32::MAX);
    let (most, last, answer) = storing(Protocol::Memcached);
    let mut first = sender(&server, Protocol::Memcached, &most);
    let rest: Vec<Client> = (0..30)
        .map(|_| sender(&server, Protocol::Memcached, &most))
        .collect();
    wait_until_overdrawn(&server);
    first.send(last);
    first.expect(answer);
    drop(rest);
}

#[test]
fn a_transaction_that_is_not_ended_in_time_is_given_up_though_requests_join_it() {
    let server = Server::start(&ServerOptions {
        redis: loopback(0).to_vec(),
        request_timeout_s: 2,
        ..options()
    })
    .unwrap();
    let mut joining = sender(&server, Protocol::Redis, b"MULTI\r\nGET a\r\n");
    let mut silent = sender(&server, Protocol::Redis, b"MULTI\r\nGET a\r\n");
    assert_eq!(silent.rest(), b"+OK\r\n+QUEUED\r\n");
    // The server's own clock ends this where it does not give the client up.
    while stat(&server, "timed_out_connections") < 2 && stat(&server, "uptime") < 10 {
        let _ = joining.0.write_all(b"GET a\r\n");
    }
    assert_eq!(stat(&server, "timed_out_connections"), 2);
    assert!(!joining.rest().is_empty());
}

#[test]
fn a_half_that_was_sent_behind_replies_is_given_up_once_they_are_read() {
    let mut options = ServerOptions {
        request_timeout_s: 2,
        ..options()
    };
    options.store.memory_bytes = 256 << 20;
    let server = Server::start(&options).unwrap();
    stores(&server, Protocol::Memcached);
    // What the sockets hold is not known: of these, some have less to read, some so much that the server pauses, and some
    // are in between.
    let mut clients: Vec<Client> = (1..=8)
        .map(|gets| {
            let half = b"set half 0 0 100\r\nx";
            let said = [b"get k\r\n".repeat(gets), half.to_vec()].concat();
            sender(&server, Protocol::Memcached, &said)
        })
        .collect();
    // Each thread has answered what came before.
    let _ = (stat(&server, "uptime"), stat(&server, "uptime"));
    std::thread::scope(|scope| {
        for (before, client) in clients.iter_mut().enumerate() {
            scope.spawn(move || {
                let replies = client.rest();
                assert!(replies.ends_with(b"\r\nEND\r\n"));
                assert!(replies.len() > (before + 1) * VALUE_BYTES);
            });
        }
    });
    assert_eq!(stat(&server, "timed_out_connections"), 8);
}

/// Half of a small value, with which a client falls silent.
fn half() -> Vec<u8> {
    let mut half = b"set half 0 0 60000\r\n".to_vec();
    half.resize(50_000, b'v');
    half
}

#[test]
fn silent_halves_of_requests_go_before_who_has_begun_to_read_late() {
    const GETS: usize = 20;
    // One thread, so that all who are silent are its own.
    let server = server(1, 0);
    stores(&server, Protocol::Memcached);
    let silent: Vec<Client> = (0..350)
        .map(|_| sender(&server, Protocol::Memcached, &half()))
        .collect();
    wait_until_overdrawn(&server);
    let before = stat(&server, "overdrawn_connections");
    // More than sockets take: the rest waits in the server.
    let mut readers: Vec<Client> = (0..6)
        .map(|_| sender(&server, Protocol::Memcached, &b"get k\r\n".repeat(GETS)))
        .collect();
    while stat(&server, "overdrawn_connections") < before + 6 {}
    for reader in &mut readers {
        reader.send(b"quit\r\n");
        let replies = reader.rest();
        assert!(replies.ends_with(b"\r\nEND\r\n"), "{}", replies.len());
        assert_eq!(
            replies.len(),
            GETS * (VALUE_BYTES + "VALUE k 0 900000\r\n\r\nEND\r\n".len())
        );
    }
    drop(silent);
}

#[test]
fn who_reads_nothing_and_goes_on_asking_goes_before_who_fell_silent_later() {
    // Asked for often enough, it fills what the sockets take and not all that the server lets wait.
    const LEN: usize = 100_000;
    let server = server(1, 0);
    let mut deaf = Client::to(&server);
    deaf.send(&[format!("set v 0 0 {LEN}\r\n").as_bytes(), &[b'v'; LEN], b"\r\n"].concat());
    deaf.expect(b"STORED\r\n");
    // More than a half-sent value holds, so that it is enough when this one goes.
    while stat(&server, "buffer_memory_bytes") < 2 * LEN as u64 {
        deaf.send(b"get v\r\n");
    }
    let mut silent = Vec::new();
    while stat(&server, "overdrawn_connections") == 0 {
        silent.push(sender(&server, Protocol::Memcached, &half()));
        // As much as nothing, asked for again and again.
        let _ = deaf.0.write_all(b"mn\r\n");
    }
    silent[0].send(&[b'v'; 10_000 + "set half 0 0 60000\r\n".len()]);
    silent[0].ask("\r\n", "STORED\r\n");
    let replies = deaf.rest();
    assert!(!replies.ends_with(b"MN\r\n"));
}

#[test]
fn where_nobody_is_silent_yet_who_reads_nothing_goes_before_writers() {
    let server = server(1, u32::MAX);
    stores(&server, Protocol::Memcached);
    // How much of the replies waits in the server, and not in the sockets, is not known: a few times as many as would do.
    let deaf: Vec<Client> = (0..150)
        .map(|_| sender(&server, Protocol::Memcached, &b"get k\r\n".repeat(20)))
        .collect();
    wait_until_overdrawn(&server);
    for _ in 0..3 {
        for port in [Protocol::Memcached, Protocol::Redis, Protocol::Http] {
            stores(&server, port);
        }
    }
    drop(deaf);
}

#[test]
fn a_full_server_that_evicts_nothing_has_memory_for_the_large_values_of_twelve_writers_at_once() {
    let mut options = ServerOptions {
        redis: loopback(0).to_vec(),
        ..options()
    };
    options.store.policy = PolicyKind::None;
    let server = Server::start(&options).unwrap();
    let mut client = Client::to(&server);
    // The key that the writers store, and all else that there is room for.
    stores(&server, Protocol::Memcached);
    for len in [500_000, 5000] {
        let mut refused = 0;
        for number in 0.. {
            let value = vec![b'v'; len];
            let head = format!("set f{len}-{number} 0 0 {len}\r\n");
            client.send(&[head.as_bytes(), &value, b"\r\n"].concat());
            let mut said = [0; 8];
            client.0.read_exact(&mut said).unwrap();
            if &said == b"SERVER_E" {
                client.expect(b"RROR out of memory storing object\r\n");
                refused += 1;
            }
            // Keys go to shards by chance: each is full.
            if refused > 50 {
                break;
            }
        }
    }
    let (most, last, answer) = storing(Protocol::Memcached);
    let mut writers: Vec<Client> = (0..12)
        .map(|_| sender(&server, Protocol::Memcached, &most))
        .collect();
    while stat(&server, "buffer_memory_bytes") < 12 * VALUE_BYTES as u64 {
        assert_eq!(stat(&server, "overdrawn_connections"), 0);
    }
    for writer in &mut writers {
        writer.send(last);
        writer.expect(answer);
    }
}

#[test]
fn values_that_are_announced_and_not_sent_hold_no_memory_and_cost_no_late_reader_its_replies() {
    const GETS: usize = 20;
    let server = server(1, u32::MAX);
    stores(&server, Protocol::Memcached);
    let mut reader = sender(&server, Protocol::Memcached, &b"get k\r\n".repeat(GETS));
    while stat(&server, "buffer_memory_bytes") == 0 {}
    let before = stat(&server, "buffer_memory_bytes");
    let heads: [(_, &[u8]); 3] = [
        (Protocol::Memcached, b"set k 0 0 1000000\r\n"),
        (Protocol::Redis, b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n"),
        (
            Protocol::Http,
            b"PUT /k HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n",
        ),
    ];
    let announced: Vec<Client> = (0..30)
        .flat_map(|_| heads.map(|(protocol, head)| sender(&server, protocol, head)))
        .collect();
    // One thread, which has answered what came before.
    let _ = (stat(&server, "uptime"), stat(&server, "uptime"));
    assert!(stat(&server, "buffer_memory_bytes") <= before + (1 << 20));
    assert_eq!(stat(&server, "overdrawn_connections"), 0);
    reader.send(b"quit\r\n");
    let replies = reader.rest();
    assert_eq!(
        replies.len(),
        GETS * (VALUE_BYTES + "VALUE k 0 900000\r\n\r\nEND\r\n".len())
    );
    drop(announced);
}

#[test]
fn an_item_as_long_as_items_may_be_is_stored_and_read_with_every_policy() {
    const LEN: usize = (24 << 20) - 300;
    for policy in [PolicyKind::S3Fifo, PolicyKind::None] {
        let mut options = options();
        options.store.policy = policy;
        options.store.max_item_bytes = 24 << 20;
        let server = Server::start(&options).unwrap();
        let mut client = Client::to(&server);
        let value = vec![b'v'; LEN];
        client.send(&[format!("set k 0 0 {LEN}\r\n").as_bytes(), &value, b"\r\n"].concat());
        client.expect(b"STORED\r\n");
        client.send(b"get k\r\nquit\r\n");
        let replies = client.rest();
        assert_eq!(
            replies.len(),
            LEN + format!("VALUE k 0 {LEN}\r\n\r\nEND\r\n").len()
        );
        assert_eq!(stat(&server, "overdrawn_connections"), 0);
    }
}

#[test]
fn a_largest_item_for_whose_request_there_is_no_memory_is_refused_at_the_start() {
    let mut options = options();
    options.store.max_item_bytes = (24 << 20) + 1;
    let error = Server::start(&options).unwrap_err().to_string();
    assert_eq!(
        error,
        "largest item is 25165825 bytes; expected at most three eighths of the memory, 25165824 bytes: a request and its item are there at once"
    );
    // The default is no mistake of anybody's.
    options.store.max_item_bytes = 1 << 20;
    options.store.memory_bytes = 1 << 20;
    drop(Server::start(&options).unwrap());
}
