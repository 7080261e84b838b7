//! A full server whose policy evicts nothing: what is stored stays, whatever else is read, touched or refused.

use outcrop_cache::server::{Protocol, Server, ServerOptions, loopback};
use outcrop_cache::store::{PolicyKind, StoreOptions};

use crate::kit::{Client, Random, address, options};
use crate::redis::{array, request};

fn server() -> Server {
    Server::start(&ServerOptions {
        store: StoreOptions {
            // A quarter of it is for the buffers of connections.
            memory_bytes: (4 << 20) * 4 / 3,
            policy: PolicyKind::None,
            ..options().store
        },
        redis: loopback(0).to_vec(),
        ..options()
    })
    .unwrap()
}

/// The answer to a command, without the one to the command behind it.
fn answer(client: &mut Client, command: &[u8]) -> Vec<u8> {
    client.send(&[command, b"mn\r\n"].concat());
    until(client, b"MN\r\n")
}

fn redis_answer(client: &mut Client, command: &[u8]) -> Vec<u8> {
    client.send(&[command, &request("ECHO end-of-it")].concat());
    until(client, b"$9\r\nend-of-it\r\n")
}

fn until(client: &mut Client, end: &[u8]) -> Vec<u8> {
    let (mut got, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    while !got.ends_with(end) {
        let read = std::io::Read::read(&mut client.0, &mut buffer).unwrap();
        assert!(read > 0, "the server ended the connection");
        got.extend_from_slice(&buffer[..read]);
    }
    got.truncate(got.len() - end.len());
    got
}

fn storing(verb: &str, key: usize, value: &[u8], cas: &str) -> Vec<u8> {
    let head = format!("{verb} k{key} 0 0 {}{cas}\r\n", value.len());
    [head.as_bytes(), value, b"\r\n"].concat()
}

/// Fills a server until not one byte more fits; the values by the number of their key.
fn fill(client: &mut Client) -> Vec<Vec<u8>> {
    let mut values: Vec<Vec<u8>> = Vec::new();
    // Longer than a segment, which is 16 KiB here, and shorter.
    for len in [100_000, 40_000, 3000, 3000, 3000, 300, 30, 3, 0] {
        let mut refused = 0;
        for share in 0..if len > 1000 { 20 } else { usize::MAX } {
            let value = vec![b'a' + (share % 26) as u8; len];
            match &answer(client, &storing("set", values.len(), &value, ""))[..] {
                b"STORED\r\n" => values.push(value),
                b"SERVER_ERROR out of memory storing object\r\n" => refused += 1,
                other => panic!("{}", crate::kit::text(other)),
            }
            if refused > 20 {
                break;
            }
        }
    }
    values
}

/// Every item is there, with its value.
fn check(client: &mut Client, values: &[Vec<u8>]) {
    for (key, value) in values.iter().enumerate() {
        let said = answer(client, format!("get k{key}\r\n").as_bytes());
        let head = format!("VALUE k{key} 0 {}\r\n", value.len());
        let expected = [head.as_bytes(), value, b"\r\nEND\r\n"].concat();
        assert!(said == expected, "{head} {}", crate::kit::text(&said));
    }
}

#[test]
fn on_a_full_server_that_evicts_nothing_reads_and_touches_succeed_and_lose_no_item() {
    let server = server();
    let mut client = Client::to(&server);
    let mut redis = Client::at(address(&server, Protocol::Redis));
    let values = fill(&mut client);
    assert!(values.len() > 1000, "{}", values.len());
    check(&mut client, &values);
    let mut random = Random::new(7);
    for number in 0..20_000 {
        // Each of the first at least once; later any.
        let key = if number < values.len() {
            number
        } else {
            random.below(values.len())
        };
        let (value, len) = (&values[key], values[key].len());
        let with_value = |head: &str, end: &str| [head.as_bytes(), value, end.as_bytes()].concat();
        let (command, begins, ends) = match random.below(9) {
            0 => (
                format!("gets k{key}"),
                format!("VALUE k{key} 0 {len} "),
                with_value("\r\n", "\r\nEND\r\n"),
            ),
            1 => (
                format!("gats 1000 k{key}"),
                format!("VALUE k{key} 0 {len} "),
                with_value("\r\n", "\r\nEND\r\n"),
            ),
            2 => (
                format!("gat 1000 k{key}"),
                format!("VALUE k{key} 0 {len}\r\n"),
                with_value("", "\r\nEND\r\n"),
            ),
            3 => (format!("touch k{key} 1000"), "TOUCHED\r\n".to_owned(), Vec::new()),
            4 => (
                format!("mg k{key} c v"),
                format!("VA {len} c"),
                with_value("\r\n", "\r\n"),
            ),
            5 => (
                format!("mg k{key} T1000 R30 t v"),
                format!("VA {len} t"),
                with_value("\r\n", "\r\n"),
            ),
            6 => (format!("mg k{key} T0 c"), "HD c".to_owned(), Vec::new()),
            7 => (format!("touch k{key} 0"), "TOUCHED\r\n".to_owned(), Vec::new()),
            _ => (format!("md k{key} I"), "HD\r\n".to_owned(), Vec::new()),
        };
        let said = answer(&mut client, format!("{command}\r\n").as_bytes());
        assert!(
            said.starts_with(begins.as_bytes()) && said.ends_with(&ends),
            "{command}: {}",
            crate::kit::text(&said)
        );
        let (command, said) = match random.below(4) {
            0 => (format!("EXPIRE k{key} 1000"), ":1\r\n".into()),
            1 => (
                format!("GETEX k{key} EX 500"),
                with_value(&format!("${len}\r\n"), "\r\n"),
            ),
            2 => (
                format!("GETEX k{key} PERSIST"),
                with_value(&format!("${len}\r\n"), "\r\n"),
            ),
            _ => continue,
        };
        assert!(redis_answer(&mut redis, &request(&command)) == said, "{command}");
    }
    check(&mut client, &values);
}

#[test]
fn on_a_full_server_that_evicts_nothing_a_refused_change_keeps_the_old_value() {
    let server = server();
    let mut client = Client::to(&server);
    let mut redis = Client::at(address(&server, Protocol::Redis));
    let mut values = fill(&mut client);
    let mut random = Random::new(8);
    let mut refused = 0;
    for number in 0..6000 {
        let key = random.below(values.len());
        let value = vec![b'A' + (number % 26) as u8; [1, 40, 4000, 50_000, 110_000][random.below(5)]];
        let joined = |old: &[u8]| [old, &value].concat();
        let (said, new) = match random.below(7) {
            0 => (
                answer(&mut client, &storing("append", key, &value, "")),
                joined(&values[key]),
            ),
            1 => (
                answer(&mut client, &storing("prepend", key, &value, "")),
                [&value[..], &values[key]].concat(),
            ),
            2 => (
                answer(&mut client, &storing("replace", key, &value, "")),
                value.clone(),
            ),
            3 => {
                let head = format!("ms k{key} {} MA\r\n", value.len());
                let command = [head.as_bytes(), &value, b"\r\n"].concat();
                (answer(&mut client, &command), joined(&values[key]))
            }
            4 => {
                let seen = answer(&mut client, format!("mg k{key} c\r\n").as_bytes());
                let cas = String::from_utf8(seen)
                    .unwrap()
                    .trim_start_matches("HD c")
                    .trim_end()
                    .to_owned();
                (
                    answer(&mut client, &storing("cas", key, &value, &format!(" {cas}"))),
                    value.clone(),
                )
            }
            5 => {
                let name = format!("k{key}");
                let command = array(&[b"APPEND", name.as_bytes(), &value]);
                (redis_answer(&mut redis, &command), joined(&values[key]))
            }
            _ => {
                let name = format!("k{key}");
                let command = array(&[b"SET", name.as_bytes(), &value]);
                (redis_answer(&mut redis, &command), value.clone())
            }
        };
        match &said[..] {
            b"STORED\r\n" | b"HD\r\n" | b"+OK\r\n" | [b':', ..] => values[key] = new,
            b"NOT_STORED\r\n"
            | b"NS\r\n"
            | b"SERVER_ERROR out of memory storing object\r\n"
            | [b'-', b'O', b'O', b'M', ..] => refused += 1,
            other => panic!("{}", crate::kit::text(other)),
        }
        if number % 500 == 0 {
            check(&mut client, &values);
        }
    }
    check(&mut client, &values);
    assert!((1000..5900).contains(&refused), "{refused}");
    // As in memcached, only a refused `set` removes what its owner believes to be replaced.
    let large = vec![b'z'; 1 << 20];
    client.send(&storing("set", 0, &large, ""));
    client.expect(b"SERVER_ERROR object too large for cache\r\n");
    assert_eq!(answer(&mut client, b"get k0\r\n"), b"END\r\n");
}
