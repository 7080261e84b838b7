//! Every command of Redis's protocol that is served, as redis-cli sends it and shows the answer, in both versions.

use std::process::Command;

use outcrop_cache::server::{Protocol, Server, ServerOptions, loopback};

use crate::kit::{address, options, text};

/// Commands in order, with what redis-cli prints for people.
const SESSION: [(&str, &str); 50] = [
    ("ping", "PONG"),
    ("ping hello", "\"hello\""),
    ("echo rock", "\"rock\""),
    ("get rock", "(nil)"),
    ("set rock granite EX 100", "OK"),
    ("ttl rock", "(integer) 100"),
    ("set rock granite PX 100000", "OK"),
    ("get rock", "\"granite\""),
    ("set rock x NX", "(nil)"),
    ("set nobody x XX", "(nil)"),
    ("set rock basalt KEEPTTL", "OK"),
    ("persist rock", "(integer) 1"),
    ("ttl rock", "(integer) -1"),
    ("pttl nobody", "(integer) -2"),
    ("pttl rock", "(integer) -1"),
    ("expire rock 50", "(integer) 1"),
    ("ttl rock", "(integer) 50"),
    ("pexpire rock 60000", "(integer) 1"),
    ("ttl rock", "(integer) 60"),
    ("mset a 1 b 2", "OK"),
    ("mget a nobody b", "1) \"1\"\n2) (nil)\n3) \"2\""),
    ("exists a b nobody", "(integer) 2"),
    ("incr a", "(integer) 2"),
    ("incrby a 40", "(integer) 42"),
    ("decr a", "(integer) 41"),
    ("decrby a 1", "(integer) 40"),
    ("append b 34", "(integer) 3"),
    ("strlen b", "(integer) 3"),
    ("getex b EX 30", "\"234\""),
    ("ttl b", "(integer) 30"),
    ("getex b PERSIST", "\"234\""),
    ("getdel b", "\"234\""),
    ("getdel b", "(nil)"),
    ("setnx once 1", "(integer) 1"),
    ("setex once 10 v", "OK"),
    ("psetex once 10000 v", "OK"),
    ("del a once nobody", "(integer) 2"),
    ("unlink rock", "(integer) 1"),
    ("select 0", "OK"),
    (
        "select 1",
        "(error) ERR DB index is out of range: there is one, 0",
    ),
    ("client getname", "(nil)"),
    ("client setname me", "OK"),
    ("client setinfo LIB-NAME x", "OK"),
    ("command count", "(integer) 38"),
    (
        "incr text x",
        "(error) ERR wrong number of arguments for 'incr' command",
    ),
    ("lpush l 1", "(error) ERR unknown command 'lpush'"),
    ("set k v", "OK"),
    ("dbsize", "(integer) 1"),
    ("flushall", "OK"),
    ("dbsize", "(integer) 0"),
];

/// What redis-cli prints; none when it is not installed.
fn ask(port: u16, version: &str, login: &[&str], line: &str) -> Option<String> {
    let run = Command::new("redis-cli")
        .args([
            "-h",
            "127.0.0.1",
            "-p",
            &port.to_string(),
            "--no-raw",
            version,
            "--no-auth-warning",
        ])
        .args(login)
        .args(line.split(' '))
        .output();
    let output = run.ok()?;
    Some(
        text(&[output.stdout, output.stderr].concat())
            .trim_end()
            .to_owned(),
    )
}

fn start(more: ServerOptions) -> (Server, u16) {
    let server = Server::start(&ServerOptions {
        redis: loopback(0).to_vec(),
        ..more
    })
    .unwrap();
    let port = address(&server, Protocol::Redis).port();
    (server, port)
}

#[test]
fn redis_cli_shows_every_command_s_answer_in_both_versions() {
    for version in ["-2", "-3"] {
        let (_server, port) = start(options());
        for (line, said) in SESSION {
            let Some(seen) = ask(port, version, &[], line) else {
                println!("skipped: redis-cli: it is not installed (Debian's package redis-tools)");
                return;
            };
            assert_eq!(seen, said, "{version} {line}");
        }
        let info = ask(port, version, &[], "info server").unwrap();
        assert!(info.contains("redis_version:7"), "{info}");
        let hello = ask(port, version, &[], "hello 3").unwrap();
        assert!(hello.contains("\"outcrop\""), "{hello}");
        let command = ask(port, version, &[], "command info get").unwrap();
        assert!(
            command.contains("\"get\"") && command.contains("readonly"),
            "{command}"
        );
    }
}

#[test]
fn redis_cli_logs_in_and_is_refused_with_a_wrong_password() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    std::fs::write(&users, "anna:secret\n").unwrap();
    let (_server, port) = start(ServerOptions {
        login_file: Some(users),
        ..options()
    });
    for (login, line, said) in [
        (&[][..], "get k", "NOAUTH"),
        (&["--user", "anna", "--pass", "secret"], "set k v", "OK"),
        (&["-a", "secret"], "get k", "\"v\""),
        (&["--user", "anna", "--pass", "wrong"], "get k", "WRONGPASS"),
        (&[], "auth anna secret", "OK"),
    ] {
        let Some(seen) = ask(port, "-3", login, line) else {
            println!("skipped: redis-cli: it is not installed (Debian's package redis-tools)");
            return;
        };
        assert!(seen.contains(said), "{login:?} {line}: {seen}");
    }
}
