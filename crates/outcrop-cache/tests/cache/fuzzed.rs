//! Every protocol fuzz target over fixed seeds: what a fuzzer is given minutes for, each build does for some hundred inputs.

use crate::kit::Random;
use crate::untrusted::{http, memcached, meta};

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
