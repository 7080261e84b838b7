//! Clients that misbehave, and a server that goes on serving the others.

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use outcrop_cache::server::Server;
use outcrop_cache::store::{PolicyKind, StoreOptions};

use crate::kit::{Client, options, start, stat};

#[test]
fn a_client_killed_in_the_middle_of_a_value_leaves_nothing_behind() {
    let server = start();
    for len in [10, 100_000, 900_000] {
        let mut client = Client::to(&server);
        client.send(format!("set half 0 0 {len}\r\nabc").as_bytes());
        drop(client);
    }
    let mut other = Client::to(&server);
    other.ask("get half\r\n", "END\r\n");
    other.ask("set whole 0 0 1\r\nx\r\n", "STORED\r\n");
    drop(other);
    // Their ends arrive when they arrive: asked until they have.
    while stat(&server, "curr_connections") > 1 {}
    assert_eq!(stat(&server, "buffer_memory_bytes"), 0);
}

#[test]
fn a_request_that_takes_too_long_ends_its_connection_and_no_other() {
    let server = Server::start(&outcrop_cache::server::ServerOptions {
        request_timeout_s: 1,
        ..options()
    })
    .unwrap();
    let mut idle = Client::to(&server);
    idle.ask("mn\r\n", "MN\r\n");
    let mut trickling = Client::to(&server);
    trickling.send(b"set slow 0 0 100\r\n");
    // One byte at a time is no activity: only a complete request is.
    trickling
        .0
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let mut bytes = 0;
    let ended = loop {
        if std::io::Write::write_all(&mut trickling.0, b"x").is_err() {
            break true;
        }
        bytes += 1;
        match trickling.0.read(&mut [0; 10]) {
            Ok(0) => break true,
            Ok(_) => break false,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && bytes < 90 => {}
            Err(_) => break bytes < 90,
        }
    };
    assert!(ended, "{bytes} bytes were taken");
    idle.ask("mn\r\n", "MN\r\n");
    assert_eq!(stat(&server, "timed_out_connections"), 1);
}

#[test]
fn connections_over_the_limit_are_told_so_and_closed() {
    let limited = outcrop_cache::server::ServerOptions {
        max_connections: 100,
        ..options()
    };
    let server = Server::start(&limited).unwrap();
    let mut clients: Vec<Client> = (0..100).map(|_| Client::to(&server)).collect();
    clients
        .iter_mut()
        .for_each(|client| client.ask("mn\r\n", "MN\r\n"));
    for _ in 0..900 {
        let mut refused = Client::to(&server);
        assert_eq!(refused.rest(), b"ERROR Too many open connections\r\n");
    }
    clients
        .iter_mut()
        .for_each(|client| client.ask("mn\r\n", "MN\r\n"));
    drop(clients.pop());
    // Its place is free as soon as the server has seen its end.
    while Client::to(&server).end() == b"ERROR Too many open connections\r\n" {}
}

#[test]
fn clients_that_never_read_take_no_more_than_their_share() {
    let memory_bytes = 32 << 20;
    let store = StoreOptions {
        memory_bytes,
        ..StoreOptions::default()
    };
    let server = Server::start(&outcrop_cache::server::ServerOptions {
        store,
        threads: 1,
        ..options()
    })
    .unwrap();
    let mut writer = Client::to(&server);
    let value = vec![b'v'; 500_000];
    for key in 0..4 {
        writer.send(format!("set big{key} 0 0 {}\r\n", value.len()).as_bytes());
        writer.send(&value);
        writer.ask("\r\n", "STORED\r\n");
    }
    let asks = "get big0 big1 big2 big3\r\n".repeat(20);
    let mut silent: Vec<Client> = (0..100)
        .map(|_| {
            let mut client = Client::to(&server);
            // A server that has given it up is an answer too.
            let _ = std::io::Write::write_all(&mut client.0, asks.as_bytes());
            client
        })
        .collect();
    for number in 0..2000 {
        writer.ask(&format!("set k{number} 0 0 10\r\n0123456789\r\n"), "STORED\r\n");
    }
    // Who is still sending holds more than any of them, and is not the one to go: each brings a few of them to their ends.
    for number in 0..20 {
        writer.send(format!("set long{number} 0 0 {}\r\n", value.len()).as_bytes());
        writer.send(&value[1..]);
        let mut other = Client::to(&server);
        let _ = std::io::Write::write_all(&mut other.0, asks.as_bytes());
        writer.ask("v\r\n", "STORED\r\n");
        silent.push(other);
    }
    let (buffers, store) = (
        stat(&server, "buffer_memory_bytes"),
        server.store_report().memory_bytes,
    );
    assert!(buffers <= memory_bytes / 4 + (4 << 20), "{buffers}");
    assert!(
        buffers + store <= memory_bytes + (4 << 20),
        "{buffers} and {store}"
    );
    drop(silent);
}

#[test]
fn a_full_cache_that_evicts_nothing_says_so_and_serves_on() {
    let store = StoreOptions {
        memory_bytes: 1 << 20,
        policy: PolicyKind::None,
        ..StoreOptions::default()
    };
    let server = Server::start(&outcrop_cache::server::ServerOptions { store, ..options() }).unwrap();
    let mut client = Client::to(&server);
    let value = "v".repeat(10_000);
    let mut stored = 0;
    let refusal = loop {
        client.send(format!("set k{stored} 0 0 10000\r\n{value}\r\n").as_bytes());
        let mut reply = [0; 8];
        client.0.read_exact(&mut reply).unwrap();
        if &reply != b"STORED\r\n" {
            break reply;
        }
        stored += 1;
    };
    assert_eq!(&refusal, b"SERVER_E");
    client.expect(b"RROR out of memory storing object\r\n");
    client.ask("get k0\r\n", &format!("VALUE k0 0 10000\r\n{value}\r\nEND\r\n"));
    client.ask("delete k0\r\n", "DELETED\r\n");
    client.ask(&format!("set again 0 0 10000\r\n{value}\r\n"), "STORED\r\n");
    // A quarter of the memory is for the buffers of connections.
    assert!(stored > 40, "{stored}");
}

#[test]
fn a_server_that_ends_answers_every_request_that_has_arrived() {
    let server = start();
    let mut clients: Vec<Client> = (0..50).map(|_| Client::to(&server)).collect();
    clients
        .iter_mut()
        .for_each(|client| client.ask("set k 0 0 5\r\nhello\r\n", "STORED\r\n"));
    let asks = "get k\r\n".repeat(500);
    clients.iter_mut().for_each(|client| client.send(asks.as_bytes()));
    server.stop().unwrap();
    let answers = "VALUE k 0 5\r\nhello\r\nEND\r\n".repeat(500);
    for client in &mut clients {
        assert!(client.rest() == answers.as_bytes());
    }
}

#[test]
fn an_address_that_other_machines_reach_is_refused_unless_asked_for() {
    let exposed = "0.0.0.0:0".parse().unwrap();
    let wide = outcrop_cache::server::ServerOptions {
        memcached: vec![exposed],
        ..options()
    };
    let refused = Server::start(&wide).unwrap_err().to_string();
    assert!(
        refused.contains("0.0.0.0:0 can be reached from other machines"),
        "{refused}"
    );
    Server::start(&outcrop_cache::server::ServerOptions {
        is_exposed: true,
        ..wide
    })
    .unwrap()
    .stop()
    .unwrap();
    let server = start();
    let taken = crate::kit::address(&server, outcrop_cache::server::Protocol::Memcached);
    let again = outcrop_cache::server::ServerOptions {
        memcached: vec![taken],
        ..options()
    };
    let refused = Server::start(&again).unwrap_err().to_string();
    assert!(refused.contains("another server uses this port"), "{refused}");
    drop(TcpStream::connect(taken).unwrap());
}
