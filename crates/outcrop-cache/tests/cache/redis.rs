//! Redis's protocol: by hand, and against bytes that are no request.

use outcrop_cache::dialogue::Dialogue;
use outcrop_cache::server::{Protocol, Server, ServerOptions, loopback};
use outcrop_cache::store::StoreOptions;
use proptest::prelude::*;

use crate::kit::{Client, address, options, text};

pub(crate) fn start() -> Server {
    Server::start(&ServerOptions {
        redis: loopback(0).to_vec(),
        ..options()
    })
    .unwrap()
}

/// A request as clients send it.
pub(crate) fn array(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// The words of a line, as an array.
pub(crate) fn request(line: &str) -> Vec<u8> {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    array(&words)
}

/// Commands of every kind, and what they answer on a fresh server.
pub(crate) const SESSION: [(&str, &str); 115] = [
    ("PING", "+PONG\r\n"),
    ("ping hello", "$5\r\nhello\r\n"),
    ("ECHO rock", "$4\r\nrock\r\n"),
    ("GET a", "$-1\r\n"),
    ("SET a granite", "+OK\r\n"),
    ("get a", "$7\r\ngranite\r\n"),
    ("SET a x NX", "$-1\r\n"),
    ("SET nobody x XX", "$-1\r\n"),
    ("SET a basalt XX GET", "$7\r\ngranite\r\n"),
    ("SET a y NX GET", "$6\r\nbasalt\r\n"),
    ("SET new y NX GET", "$-1\r\n"),
    ("SET a x NX XX", "-ERR syntax error\r\n"),
    ("SET a x EX 0", "-ERR invalid expire time\r\n"),
    ("SET a x EX -5", "-ERR invalid expire time\r\n"),
    (
        "SET a x EX ten",
        "-ERR value is not an integer or out of range\r\n",
    ),
    ("SET a x EX", "-ERR syntax error\r\n"),
    ("SET a x EX 5 PX 5", "-ERR syntax error\r\n"),
    ("SET a x EX 5 KEEPTTL", "-ERR syntax error\r\n"),
    ("SET a x EX 100", "+OK\r\n"),
    ("TTL a", ":100\r\n"),
    ("SET a y KEEPTTL", "+OK\r\n"),
    ("PTTL a", ":100000\r\n"),
    ("SET a z PX 1500", "+OK\r\n"),
    ("TTL a", ":2\r\n"),
    ("PERSIST a", ":1\r\n"),
    ("PERSIST a", ":0\r\n"),
    ("TTL a", ":-1\r\n"),
    ("TTL nobody", ":-2\r\n"),
    ("EXPIRE a 50", ":1\r\n"),
    ("PEXPIRE a 60001", ":1\r\n"),
    ("TTL a", ":61\r\n"),
    ("EXPIRE nobody 50", ":0\r\n"),
    ("EXPIRE nobody 50 LT", ":0\r\n"),
    ("EXPIRE a 40 GT", ":0\r\n"),
    ("EXPIRE a 40 lt", ":1\r\n"),
    ("EXPIRE a 40 NX", ":0\r\n"),
    ("EXPIRE a 90 XX gt", ":1\r\n"),
    ("TTL a", ":90\r\n"),
    ("PERSIST a", ":1\r\n"),
    ("EXPIRE a 90 GT", ":0\r\n"),
    ("EXPIRE a 90 XX", ":0\r\n"),
    ("EXPIRE a 90 NX", ":1\r\n"),
    ("EXPIRE a 0 GT", ":0\r\n"),
    (
        "EXPIRE a 90 NX XX",
        "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n",
    ),
    (
        "EXPIRE a 90 GT LT",
        "-ERR GT and LT options at the same time are not compatible\r\n",
    ),
    ("EXPIRE a 90 soon", "-ERR Unsupported option soon\r\n"),
    ("EXPIRE a 9223372036854775807", "-ERR invalid expire time\r\n"),
    ("EXPIRE a -9223372036854775808", "-ERR invalid expire time\r\n"),
    ("SET a x EXAT 9223372036854775807", "-ERR invalid expire time\r\n"),
    ("SET a x EX 9223372036854775", "-ERR invalid expire time\r\n"),
    ("SET a x PX 9223372036854775807", "-ERR invalid expire time\r\n"),
    ("SETEX a 9223372036854775807 x", "-ERR invalid expire time\r\n"),
    ("GETEX a EX 9223372036854775807", "-ERR invalid expire time\r\n"),
    ("SET a x EXAT 9223372036854775", "+OK\r\n"),
    ("EXPIRE a 0", ":1\r\n"),
    ("EXISTS a new new", ":2\r\n"),
    ("MSET a 1 b 2", "+OK\r\n"),
    (
        "MSET a 1 b",
        "-ERR wrong number of arguments for 'mset' command\r\n",
    ),
    ("MGET a nobody b", "*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n2\r\n"),
    ("DEL a b nobody", ":2\r\n"),
    ("INCR n", ":1\r\n"),
    ("INCRBY n 41", ":42\r\n"),
    ("DECR n", ":41\r\n"),
    ("DECRBY n 50", ":-9\r\n"),
    ("INCRBY n x", "-ERR value is not an integer or out of range\r\n"),
    ("SET n 9223372036854775807", "+OK\r\n"),
    ("INCR n", "-ERR increment or decrement would overflow\r\n"),
    ("SET n 010", "+OK\r\n"),
    ("INCR n", "-ERR value is not an integer or out of range\r\n"),
    ("APPEND s abc", ":3\r\n"),
    ("APPEND s de", ":5\r\n"),
    ("STRLEN s", ":5\r\n"),
    ("STRLEN nobody", ":0\r\n"),
    ("GETEX s EX 30", "$5\r\nabcde\r\n"),
    ("TTL s", ":30\r\n"),
    ("GETEX s PERSIST", "$5\r\nabcde\r\n"),
    ("GETEX s EX 0", "-ERR invalid expire time\r\n"),
    ("GETEX nobody", "$-1\r\n"),
    ("GETEX nobody PX 9223372036854775807", "$-1\r\n"),
    ("GETEX nobody EX 9223372036854775807", "$-1\r\n"),
    ("GETEX nobody EX soon", "$-1\r\n"),
    ("GETEX nobody EX", "-ERR syntax error\r\n"),
    ("GETEX nobody EX 10 PERSIST", "-ERR syntax error\r\n"),
    ("GETEX nobody PERSIST EX 10", "-ERR syntax error\r\n"),
    ("GETEX s EX 10 EX 20", "$5\r\nabcde\r\n"),
    ("TTL s", ":20\r\n"),
    ("GETEX s PERSIST PERSIST", "$5\r\nabcde\r\n"),
    ("TTL s", ":-1\r\n"),
    ("SET twice v EX 100 EX 200", "+OK\r\n"),
    ("TTL twice", ":200\r\n"),
    ("SET twice v EX soon ex 50", "+OK\r\n"),
    ("TTL twice", ":50\r\n"),
    ("SET twice v EX 100 EX 0", "-ERR invalid expire time\r\n"),
    ("SET twice v EX 100 PX 100", "-ERR syntax error\r\n"),
    ("SET twice v EX 100 EXAT 100", "-ERR syntax error\r\n"),
    ("SET twice v EX 100 EX", "-ERR syntax error\r\n"),
    ("SET twice v EX 0 NX XX", "-ERR syntax error\r\n"),
    ("DEL twice", ":1\r\n"),
    (
        "HELLO 2x",
        "-ERR Protocol version is not an integer or out of range\r\n",
    ),
    ("GETDEL s", "$5\r\nabcde\r\n"),
    ("GETDEL s", "$-1\r\n"),
    ("SETNX once 1", ":1\r\n"),
    ("SETNX once 2", ":0\r\n"),
    ("SETEX once 10 v", "+OK\r\n"),
    ("PSETEX once 10001 v", "+OK\r\n"),
    ("TTL once", ":11\r\n"),
    ("SELECT 0", "+OK\r\n"),
    ("SELECT 1", "-ERR DB index is out of range: there is one, 0\r\n"),
    ("CLIENT GETNAME", "$-1\r\n"),
    ("CLIENT SETNAME me", "+OK\r\n"),
    ("CLIENT GETNAME", "$2\r\nme\r\n"),
    ("CLIENT SETINFO LIB-NAME x", "+OK\r\n"),
    ("DBSIZE", ":3\r\n"),
    ("FLUSHALL", "+OK\r\n"),
    ("DBSIZE", ":0\r\n"),
];

#[test]
fn every_command_answers_alone_and_in_a_pipeline() {
    let server = start();
    let mut client = Client::at(address(&server, Protocol::Redis));
    for (line, reply) in SESSION {
        client.send(&request(line));
        client.expect(reply.as_bytes());
    }
    let (all, replies): (Vec<&str>, Vec<&str>) = SESSION.into_iter().unzip();
    // The name is the connection's, and stays.
    let replies = replies
        .concat()
        .replacen("$-1\r\n+OK\r\n$2\r\nme", "$2\r\nme\r\n+OK\r\n$2\r\nme", 1);
    let pipeline: Vec<u8> = all.iter().flat_map(|line| request(line)).collect();
    client.send(&pipeline);
    client.expect(replies.as_bytes());
    client.send(b"PING\r\nquit\r\n");
    assert_eq!(client.rest(), b"+PONG\r\n+OK\r\n");
}

#[test]
fn info_has_the_sections_that_are_asked_for_and_no_count_that_is_not_kept() {
    let server = start();
    let mut client = Client::at(address(&server, Protocol::Redis));
    client.send(&request("MSET a 1 b 2"));
    client.expect(b"+OK\r\n");
    for (line, reply) in [
        ("INFO keyspace", "$24\r\n# Keyspace\r\ndb0:keys=2\r\n\r\n"),
        ("INFO nonsense", "$0\r\n\r\n"),
    ] {
        client.send(&request(line));
        client.expect(reply.as_bytes());
    }
    for line in ["INFO", "INFO all", "INFO clients Default"] {
        client.send(&request(line));
    }
    client.send(b"quit\r\n");
    let said = String::from_utf8(client.rest()).unwrap();
    for section in ["Server", "Clients", "Memory", "Stats", "Keyspace"] {
        assert_eq!(said.matches(&format!("# {section}\r\n")).count(), 3, "{said}");
    }
}

#[test]
fn a_value_that_is_too_large_is_refused_and_the_next_command_works() {
    let server = start();
    let mut client = Client::at(address(&server, Protocol::Redis));
    let value = vec![b'v'; 3 << 20];
    client.send(&array(&[b"SET", b"big", &value, b"EX", b"10"]));
    client.send(&request("GET big"));
    client.expect(b"-ERR the request is larger than an item may be; see --max-item\r\n$-1\r\n");
    let fits = vec![b'w'; 1_000_000];
    client.send(&array(&[b"SET", b"big", &fits]));
    client.expect(b"+OK\r\n");
    let asks: Vec<&[u8]> = std::iter::once(&b"MGET"[..]).chain([&b"big"[..]; 40]).collect();
    client.send(&array(&asks));
    client.expect(b"*40\r\n");
    for _ in 0..40 {
        client.expect(b"$1000000\r\n");
        client.expect(&fits);
        client.expect(b"\r\n");
    }
    let long = [b'k'; 251];
    client.send(&array(&[b"GET", &long]));
    client.expect(b"-ERR a key has 1 to 250 bytes\r\n");
}

#[test]
fn only_who_logs_in_is_served_and_little_is_kept_for_strangers() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    std::fs::write(&users, "anna:secret\n").unwrap();
    let server = Server::start(&ServerOptions {
        redis: loopback(0).to_vec(),
        login_file: Some(users),
        ..options()
    })
    .unwrap();
    let client = || Client::at(address(&server, Protocol::Redis));
    for (login, reply) in [
        ("AUTH secret", "+OK\r\n"),
        ("AUTH anna secret", "+OK\r\n"),
        ("AUTH default secret", "+OK\r\n"),
        ("AUTH anna wrong", "-WRONGPASS wrong user name or password\r\n"),
        (
            "HELLO 3 AUTH anna wrong",
            "-WRONGPASS wrong user name or password\r\n",
        ),
        ("HELLO 3", "-NOAUTH log in first: HELLO 3 AUTH name password\r\n"),
        ("GET a", "-NOAUTH log in first, with AUTH or HELLO\r\n"),
    ] {
        let mut client = client();
        client.send(&request(login));
        client.expect(reply.as_bytes());
        client.send(&request("DBSIZE"));
        let served = if reply == "+OK\r\n" {
            ":0\r\n"
        } else {
            "-NOAUTH log in first, with AUTH or HELLO\r\n"
        };
        client.expect(served.as_bytes());
    }
    let mut greedy = client();
    greedy.send(b"*2\r\n$4\r\nAUTH\r\n$900000\r\n");
    assert!(greedy.rest().starts_with(b"-ERR Protocol error"));
    let mut guessing = client();
    guessing.send(&request("AUTH x").repeat(5));
    assert_eq!(text(&guessing.rest()).matches("-WRONGPASS").count(), 3);
}

#[test]
fn hello_changes_the_version_of_the_answers() {
    let server = start();
    let mut client = Client::at(address(&server, Protocol::Redis));
    client.send(&request("HELLO 4"));
    client.expect(b"-NOPROTO unsupported protocol version; expected 2 or 3\r\n");
    for odd in ["HELLO 2x", "HELLO +2", "HELLO 03"] {
        client.send(&request(odd));
        client.expect(b"-ERR Protocol version is not an integer or out of range\r\n");
    }
    let version = env!("CARGO_PKG_VERSION");
    for (asked, head, nil) in [("HELLO 3 SETNAME me", "%6", "_"), ("HELLO 2", "*12", "$-1")] {
        client.send(&request(asked));
        client.expect(format!("{head}\r\n$6\r\nserver\r\n$7\r\noutcrop\r\n$7\r\nversion\r\n").as_bytes());
        client.expect(format!("${}\r\n{version}\r\n", version.len()).as_bytes());
        client.expect(b"$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$5\r\nproto\r\n");
        client.expect(format!(":{}\r\n$7\r\nmodules\r\n*0\r\n", &asked[6..7]).as_bytes());
        client.send(&request("GET nobody"));
        client.expect(format!("{nil}\r\n").as_bytes());
    }
    client.send(&request("CLIENT GETNAME"));
    client.expect(b"$2\r\nme\r\n");
}

#[test]
fn requests_of_browsers_end_the_connection_before_their_bodies_are_read() {
    let server = start();
    for line in ["POST / HTTP/1.1", "GET / HTTP/1.1", "Host: localhost:6379"] {
        let mut client = Client::at(address(&server, Protocol::Redis));
        client.send(format!("{line}\r\n\r\nSET csrf owned\r\n").as_bytes());
        assert_eq!(text(&client.rest()), "", "{line}");
    }
    let mut client = Client::at(address(&server, Protocol::Redis));
    client.send(b"GET csrf\r\n");
    client.expect(b"$-1\r\n");
}

#[test]
fn what_is_no_request_is_refused_and_ends_the_connection() {
    let server = start();
    for wrong in [
        &b"*1\r\n+PING\r\n"[..],
        b"*x\r\n",
        b"*99999999\r\n",
        b"*1\r\n$-5\r\n",
        b"*1\r\n$99999999999\r\n",
        b"*1\r\n$4\r\nPINGxx",
        &[b'*'; 100],
        &[b'x'; 70_000],
    ] {
        let mut client = Client::at(address(&server, Protocol::Redis));
        client.send(wrong);
        let said = text(&client.rest());
        assert!(
            said.starts_with("-ERR Protocol error") && said.matches('\n').count() == 1,
            "{said}"
        );
    }
}

pub(crate) fn dialogue() -> Dialogue {
    let options = StoreOptions {
        memory_bytes: 1 << 20,
        max_item_bytes: 1 << 16,
        shards: 1,
        ..StoreOptions::default()
    };
    Dialogue::new(Protocol::Redis, &options).unwrap()
}

/// Bytes that are nearly requests.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(SESSION.iter().map(|(line, _)| *line).collect::<Vec<_>>());
    let piece = prop_oneof![
        4 => line.clone().prop_map(request),
        2 => line.prop_map(|line| format!("{line}\r\n").into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => prop::sample::select(vec![
            &b"*"[..], b"$", b"*3\r\n", b"$5\r\n", b"\r\n", b"*0\r\n", b"*-1\r\n", b"$-1\r\n",
            b"*2\r\n$3\r\nGET\r\n", b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$200000\r\n", b"$70000\r\n",
        ]).prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_is_said_and_however_it_is_split_is_answered_the_same(
        said in nearly(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        splits in prop::collection::vec(1_usize..60, 1..20),
    ) {
        let mut said = said;
        if !said.is_empty() {
            for (at, byte) in damage {
                let at = at.index(said.len());
                said[at] = byte;
            }
        }
        let mut whole = dialogue();
        whole.say(&said);
        prop_assert!(whole.kept_bytes() <= (1 << 16) + (64 << 10) + said.len());
        let (mut pieces, mut rest, mut number) = (dialogue(), &said[..], 0);
        while !rest.is_empty() {
            let (first, behind) = rest.split_at(splits[number % splits.len()].min(rest.len()));
            pieces.say(first);
            (rest, number) = (behind, number + 1);
        }
        // What is wrong with an argument is seen when the least that must follow has come: here it comes.
        if pieces.replies() != whole.replies() {
            let more = b"\r\n".repeat(150_000);
            whole.say(&more);
            pieces.say(&more);
        }
        prop_assert_eq!(String::from_utf8_lossy(pieces.replies()), String::from_utf8_lossy(whole.replies()));
        prop_assert_eq!(pieces.is_over(), whole.is_over());
    }
}
