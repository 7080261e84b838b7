//! Every reply cut at every byte, and bytes that are none.

use proptest::prelude::*;

use super::*;

fn wires() -> [Wire; 3] {
    [
        Wire::Memcached,
        Wire::Redis,
        Wire::Http {
            authority: "127.0.0.1:80".to_owned(),
        },
    ]
}

/// Replies as servers send them, with what they mean.
fn replies() -> Vec<(usize, Verb, &'static [u8], Reply<'static>)> {
    use Verb::{Delete, Get, Set};
    vec![
        (0, Get, b"END\r\n", Reply::Miss),
        (
            0,
            Get,
            b"VALUE k 0 5\r\na\r\nb!\r\nEND\r\n",
            Reply::Value(b"a\r\nb!"),
        ),
        (0, Get, b"VALUE k 0 0 17\r\n\r\nEND\r\n", Reply::Value(b"")),
        (0, Set, b"STORED\r\n", Reply::Stored),
        (
            0,
            Set,
            b"SERVER_ERROR object too large for cache\r\n",
            Reply::Refused(b"SERVER_ERROR object too large for cache"),
        ),
        (0, Delete, b"DELETED\r\n", Reply::Deleted),
        (0, Delete, b"NOT_FOUND\r\n", Reply::NotFound),
        (1, Get, b"$-1\r\n", Reply::Miss),
        (1, Get, b"$3\r\na\nb\r\n", Reply::Value(b"a\nb")),
        (1, Set, b"+OK\r\n", Reply::Stored),
        (
            1,
            Set,
            b"-OOM command not allowed\r\n",
            Reply::Refused(b"OOM command not allowed"),
        ),
        (1, Delete, b":0\r\n", Reply::NotFound),
        (1, Delete, b":1\r\n", Reply::Deleted),
        (
            2,
            Get,
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            Reply::Value(b"hi"),
        ),
        (
            2,
            Get,
            b"HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n",
            Reply::Miss,
        ),
        (2, Set, b"HTTP/1.1 204 No Content\r\n\r\n", Reply::Stored),
        (
            2,
            Set,
            b"HTTP/1.1 413 Too Large\r\nContent-Length: 1\r\n\r\nx",
            Reply::Refused(b"HTTP/1.1 413 Too Large"),
        ),
    ]
}

#[test]
fn a_reply_is_understood_only_when_it_is_whole() {
    for (wire, kind, bytes, meaning) in replies() {
        let wire = &wires()[wire];
        for cut in 0..bytes.len() {
            match wire.parse(kind, &bytes[..cut]) {
                Ok(Parsed::Incomplete { needed }) => assert!(needed > cut && needed <= bytes.len()),
                other => panic!("{} cut at {cut}: {other:?}", bytes.escape_ascii()),
            }
        }
        let mut more = bytes.to_vec();
        more.extend_from_slice(b"END\r\n");
        let complete = Parsed::Complete {
            reply: meaning,
            used: bytes.len(),
        };
        assert_eq!(wire.parse(kind, bytes), Ok(complete));
        assert_eq!(wire.parse(kind, &more), Ok(complete));
    }
}

#[test]
fn what_is_no_reply_is_named() {
    use Verb::{Delete, Get, Set};
    for (wire, kind, bytes) in [
        (0, Get, &b"STORED\r\n"[..]),
        (0, Get, b"VALUE k 0 -1\r\n"),
        (0, Get, b"VALUE k 0 99999999999\r\n"),
        (0, Get, b"VALUE k 0 1\r\nab\r\nEND\r\n"),
        (0, Set, b"END\r\n"),
        (1, Get, b"$x\r\n"),
        (1, Get, b"$1\r\nabc\r\n"),
        (1, Delete, b"+OK\r\n"),
        (2, Get, b"SSH-2.0-x\r\n\r\n"),
        (2, Get, b"HTTP/1.1 200 OK\r\n\r\n"),
    ] {
        let refused = wires()[wire].parse(kind, bytes).unwrap_err();
        assert!(!refused.seen.is_empty(), "{refused:?}");
    }
}

#[test]
fn requests_are_written_as_the_protocols_have_them() {
    let written = |wire: usize, write: &dyn Fn(&Wire, &mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&wires()[wire], &mut out);
        String::from_utf8(out).unwrap()
    };
    let set =
        |wire: &Wire, out: &mut Vec<u8>| wire.write_set(b"k", 2, 9, out, |out| out.extend_from_slice(b"vv"));
    assert_eq!(written(0, &set), "set k 0 9 2\r\nvv\r\n");
    assert_eq!(
        written(1, &set),
        "*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nvv\r\n$2\r\nEX\r\n$1\r\n9\r\n"
    );
    assert_eq!(
        written(2, &set),
        "PUT /k HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length: 2\r\n\r\nvv"
    );
    let get = |wire: &Wire, out: &mut Vec<u8>| wire.write_get(b"a/b", out);
    assert_eq!(written(0, &get), "get a/b\r\n");
    assert_eq!(written(1, &get), "*2\r\n$3\r\nGET\r\n$3\r\na/b\r\n");
    assert_eq!(
        written(2, &get),
        "GET /a%2Fb HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"
    );
}

#[test]
fn memcached_has_the_end_of_a_long_time_to_live_and_redis_its_seconds() {
    let expiry = |wire: usize, ttl_s| wires()[wire].expiry(ttl_s, || 1_800_000_000);
    let month = 30 * 24 * 60 * 60;
    assert_eq!([0, 9, month].map(|ttl_s| expiry(0, ttl_s)), [0, 9, month]);
    assert_eq!(expiry(0, month + 1), 1_800_000_001 + month);
    assert_eq!(expiry(0, 347_483_647), 2_147_483_647);
    // A later date would be a negative number to memcached, and the item gone at once.
    for never in [347_483_648, 360_000_000, i32::MAX as u32, u32::MAX] {
        assert_eq!(expiry(0, never), 0, "{never}");
    }
    assert_eq!(expiry(1, month + 1), month + 1);
}

proptest! {
    #[test]
    fn no_bytes_make_a_parser_panic(
        wire in 0..3_usize, kind in 0..3_usize, start in 0..17_usize,
        noise in prop::collection::vec(any::<u8>(), 0..100), cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = replies()[start].2.to_vec();
        bytes.truncate(cut.index(bytes.len() + 1));
        bytes.extend_from_slice(&noise);
        let kind = Verb::ALL[kind];
        if let Ok(Parsed::Complete { used, .. }) = wires()[wire].parse(kind, &bytes) {
            prop_assert!(used <= bytes.len());
        }
    }
}

#[test]
fn a_reply_of_another_protocol_names_the_server_that_gave_it() {
    let hint = |wire: usize, kind, input: &[u8]| wires()[wire].parse(kind, input).unwrap_err().hint();
    let redis = "; this looks like a Redis server: write redis://HOST:PORT";
    assert_eq!(hint(0, Verb::Set, b"-ERR syntax error\r\n"), redis);
    assert_eq!(hint(0, Verb::Get, b"$-1\r\n"), redis);
    assert_eq!(
        hint(1, Verb::Get, b"ERROR\r\n"),
        "; this looks like memcached: write memcached://HOST:PORT"
    );
    let http = "; this looks like an HTTP server: write http://HOST:PORT";
    assert_eq!(hint(1, Verb::Set, b"HTTP/1.1 400 Bad Request\r\n"), http);
    assert_eq!(
        hint(0, Verb::Get, b"STORED\r\n"),
        "",
        "it is memcached all the same"
    );
    assert_eq!(hint(0, Verb::Get, b"hello\r\n"), "");
}
