//! Every protocol fuzz target over fixed seeds: what a fuzzer is given minutes for, each build does for some hundred inputs.

use crate::kit::Random;
use crate::untrusted::{http, memcached, meta, redis};

const COMMANDS: [&str; 12] = [
    "set a 0 0 3\r\nabc\r\n",
    "get a b\r\n",
    "gets a\r\n",
    "cas a 0 0 1 1\r\nx\r\n",
    "append a 0 0 2\r\nyz\r\n",
    "incr n 18446744073709551615\r\n",
    "mg a s v k O7\r\n",
    "ms b 2 T0 F3\r\nhi\r\n",
    "ma n N0 J10 v\r\n",
    "md b q\r\n",
    "flush_all\r\n",
    "set big 0 0 999999\r\n",
];
const REQUESTS: [&str; 6] = [
    "GET /k HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "PUT /k HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 5\r\n\r\nhello",
    "PUT /k/value HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n",
    "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "POST /reset HTTP/1.0\r\n\r\n",
    "PUT /k HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n",
];

const CALLS: [&str; 12] = [
    "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$3\r\nabc\r\n",
    "*5\r\n$3\r\nset\r\n$1\r\nb\r\n$1\r\n7\r\n$2\r\nEX\r\n$2\r\n10\r\n",
    "*2\r\n$3\r\nGET\r\n$1\r\na\r\n",
    "*4\r\n$4\r\nMGET\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n",
    "*5\r\n$4\r\nMSET\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nc\r\n$1\r\n2\r\n",
    "*3\r\n$6\r\nINCRBY\r\n$1\r\nb\r\n$19\r\n9223372036854775807\r\n",
    "*3\r\n$6\r\nAPPEND\r\n$1\r\na\r\n$2\r\nxy\r\n",
    "*4\r\n$5\r\nGETEX\r\n$1\r\na\r\n$2\r\nPX\r\n$4\r\n1500\r\n",
    "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n",
    "*1\r\n$7\r\nCOMMAND\r\n",
    "*2\r\n$3\r\nDEL\r\n$1\r\na\r\n",
    "GET a\r\nTTL b\r\nPING\r\n",
];

/// True requests with some of their bytes changed, removed or repeated.
fn damaged(random: &mut Random, requests: &[&str]) -> Vec<u8> {
    let mut input = vec![random.below(256) as u8];
    input.extend((0..16).map(|_| random.below(40) as u8));
    for _ in 0..random.below(12) {
        input.extend_from_slice(requests[random.below(requests.len())].as_bytes());
    }
    for _ in 0..random.below(6) {
        let at = random.below(input.len());
        match random.below(3) {
            0 => input[at] = b"\r\n 09-a%\0\xFF"[random.below(10)],
            1 => drop(input.remove(at)),
            _ => input.insert(at, input[at]),
        }
    }
    input
}

#[test]
fn memcached_s_protocol_survives_its_fuzz_target() {
    let mut random = Random::new(1);
    for _ in 0..400 {
        memcached(&damaged(&mut random, &COMMANDS));
        memcached(&random.bytes(200));
    }
}

#[test]
fn the_meta_commands_survive_their_fuzz_target() {
    let mut random = Random::new(2);
    for _ in 0..400 {
        meta(&random.bytes(300));
    }
}

#[test]
fn http_survives_its_fuzz_target() {
    let mut random = Random::new(3);
    for _ in 0..400 {
        http(&damaged(&mut random, &REQUESTS));
        http(&random.bytes(200));
    }
}

#[test]
fn redis_s_protocol_survives_its_fuzz_target() {
    let mut random = Random::new(4);
    for _ in 0..400 {
        redis(&damaged(&mut random, &CALLS));
        redis(&random.bytes(200));
    }
}
