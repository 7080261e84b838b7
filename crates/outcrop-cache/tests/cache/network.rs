//! What networks do to connections, done by the proxy of the test kit: the server answers, or gives that client up, and
//! serves the others.

use std::io::Write;
use std::time::Duration;

use outcrop_cache::server::{Protocol, Server, ServerOptions};

use crate::kit::{Client, address, options, start, stat};
use crate::proxy::{Manner, Proxy};

fn proxy(server: &Server, to_server: Manner, to_client: Manner) -> Proxy {
    Proxy::new(address(server, Protocol::Memcached), to_server, to_client)
}

/// A server that gives up after a second.
fn impatient() -> Server {
    Server::start(&ServerOptions {
        request_timeout_s: 1,
        ..options()
    })
    .unwrap()
}

fn others_are_served(server: &Server) {
    let mut other = Client::to(server);
    other.ask(
        "set other 0 0 2\r\nok\r\nget other\r\n",
        "STORED\r\nVALUE other 0 2\r\nok\r\nEND\r\n",
    );
}

#[test]
fn every_command_is_answered_through_a_network_that_cuts_both_ways_into_single_bytes() {
    let server = start();
    let bytes = Manner::Pieces(1, Duration::ZERO);
    let proxy = proxy(&server, bytes, bytes);
    let mut client = Client::at(proxy.address);
    client.send(
        "set k 0 0 5\r\nhello\r\nget k\r\nincr k 1\r\nmn\r\n"
            .repeat(50)
            .as_bytes(),
    );
    let once = "STORED\r\nVALUE k 0 5\r\nhello\r\nEND\r\n\
                CLIENT_ERROR cannot increment or decrement non-numeric value\r\nMN\r\n";
    client.expect(once.repeat(50).as_bytes());
}

#[test]
fn large_values_come_whole_through_a_network_that_delays_them() {
    let server = start();
    let late = Manner::Pieces(50_000, Duration::from_millis(2));
    let proxy = proxy(&server, late, late);
    let mut client = Client::at(proxy.address);
    let value = vec![b'v'; 900_000];
    client.send(b"set big 0 0 900000\r\n");
    client.send(&value);
    client.ask("\r\nget big\r\n", "STORED\r\nVALUE big 0 900000\r\n");
    client.expect(&value);
    client.expect(b"\r\nEND\r\n");
}

#[test]
fn a_connection_reset_in_the_middle_of_a_value_leaves_nothing_behind() {
    let server = start();
    for after in [1, 20, 5000, 300_000] {
        let proxy = proxy(&server, Manner::ResetAfter(after), Manner::Pass);
        let mut client = Client::at(proxy.address);
        // The reset may come while it is still sending.
        let _ = client
            .0
            .write_all(b"set half 0 0 900000\r\n")
            .and_then(|()| client.0.write_all(&[b'v'; 500_000]));
        assert_eq!(client.rest(), b"");
    }
    others_are_served(&server);
    // Their ends arrive when they arrive: asked until they have.
    while stat(&server, "curr_connections") > 1 {}
    assert_eq!(stat(&server, "buffer_memory_bytes"), 0);
    Client::to(&server).ask("get half\r\n", "END\r\n");
}

#[test]
fn a_client_that_falls_silent_in_the_middle_of_a_request_is_given_up_and_no_other() {
    let server = impatient();
    let proxy = proxy(&server, Manner::HoldAfter(30), Manner::Pass);
    let mut idle = Client::to(&server);
    idle.ask("mn\r\n", "MN\r\n");
    let mut silent = Client::at(proxy.address);
    silent.send(b"set slow 0 0 1000\r\n0123456789012345678901234567890");
    assert_eq!(silent.rest(), b"", "it is closed");
    assert_eq!(stat(&server, "timed_out_connections"), 1);
    // Having nothing to say is no fault, as long as it lasts.
    idle.ask("mn\r\n", "MN\r\n");
}

#[test]
fn a_client_that_takes_one_byte_at_a_time_is_given_up_and_no_other() {
    let server = impatient();
    let mut writer = Client::to(&server);
    writer.send(b"set big 0 0 900000\r\n");
    writer.send(&[b'v'; 900_000]);
    writer.ask("\r\n", "STORED\r\n");
    let proxy = proxy(
        &server,
        Manner::Pass,
        Manner::Pieces(1, Duration::from_millis(100)),
    );
    let mut slow = Client::at(proxy.address);
    // More than the sockets on the way can hold.
    slow.send("get big big big big big big big big\r\n".repeat(4).as_bytes());
    while stat(&server, "timed_out_connections") == 0 {}
    others_are_served(&server);
    drop(slow);
    drop(proxy);
    while stat(&server, "curr_connections") > 2 {}
    assert_eq!(stat(&server, "buffer_memory_bytes"), 0);
}

#[test]
fn ten_thousand_clients_at_a_server_for_a_thousand_are_served_or_told_so() {
    const LIMIT: usize = 1000;
    // Both ends of a thousand connections, and what else the tests have open.
    let limits = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    if limits.maximum.is_some_and(|most| most < 4096) {
        println!(
            "skipped: ten thousand clients: `ulimit -Hn` is {:?}, 4096 are needed",
            limits.maximum
        );
        return;
    }
    let raised = rustix::process::Rlimit {
        current: Some(4096),
        maximum: limits.maximum,
    };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).unwrap();
    let server = Server::start(&ServerOptions {
        max_connections: LIMIT as u64,
        ..options()
    })
    .unwrap();
    let mut served = Vec::new();
    let mut refused = 0;
    for _ in 0..10_000 {
        let mut client = Client::to(&server);
        if served.len() < LIMIT {
            client.ask("mn\r\n", "MN\r\n");
            served.push(client);
        } else {
            assert_eq!(client.rest(), b"ERROR Too many open connections\r\n");
            refused += 1;
        }
    }
    assert_eq!((served.len(), refused), (LIMIT, 9000));
    served
        .iter_mut()
        .for_each(|client| client.ask("mn\r\n", "MN\r\n"));
}
