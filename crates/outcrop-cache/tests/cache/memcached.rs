//! memcached's protocol over real sockets.

use crate::kit::{Client, start, stat};

/// Commands of every kind, and what they answer on a fresh server.
const SESSION: [(&str, &str); 40] = [
    ("set a 5 0 3\r\nabc\r\n", "STORED\r\n"),
    ("get a\r\n", "VALUE a 5 3\r\nabc\r\nEND\r\n"),
    (
        "get a b a\r\n",
        "VALUE a 5 3\r\nabc\r\nVALUE a 5 3\r\nabc\r\nEND\r\n",
    ),
    ("add a 0 0 1\r\nx\r\n", "NOT_STORED\r\n"),
    ("add b 0 0 1\r\n1\r\n", "STORED\r\n"),
    ("append b 0 0 2\r\n23\r\n", "STORED\r\n"),
    ("prepend b 0 0 1\r\n0\r\n", "STORED\r\n"),
    ("get b\r\n", "VALUE b 0 4\r\n0123\r\nEND\r\n"),
    ("incr b 7\r\n", "130\r\n"),
    ("get b\r\n", "VALUE b 0 4\r\n130 \r\nEND\r\n"),
    ("decr b 1000\r\n", "0\r\n"),
    (
        "incr a 1\r\n",
        "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n",
    ),
    ("gets a\r\n", "VALUE a 5 3 1\r\nabc\r\nEND\r\n"),
    ("cas a 0 0 1 99\r\nx\r\n", "EXISTS\r\n"),
    ("cas a 0 0 1 1\r\nx\r\n", "STORED\r\n"),
    ("cas nobody 0 0 1 1\r\nx\r\n", "NOT_FOUND\r\n"),
    ("touch a 100\r\n", "TOUCHED\r\n"),
    ("gat 100 a\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n"),
    ("delete a\r\n", "DELETED\r\n"),
    ("delete a\r\n", "NOT_FOUND\r\n"),
    ("set a 0 -1 1\r\nx\r\n", "STORED\r\n"),
    ("get a\r\n", "END\r\n"),
    ("set a 0 0 1 noreply\r\nx\r\n", ""),
    ("replace a 0 0 1\r\ny\r\n", "STORED\r\n"),
    ("get a\n", "VALUE a 0 1\r\ny\r\nEND\r\n"),
    ("nonsense\r\n", "ERROR\r\n"),
    ("\r\n", "CLIENT_ERROR bad command line format\r\n"),
    ("get\r\n", "CLIENT_ERROR bad command line format\r\n"),
    ("set a 0 0 -1\r\n", "CLIENT_ERROR bad command line format\r\n"),
    (
        "set a 0 0 3\r\nabcdefghi\r\n",
        "CLIENT_ERROR bad data chunk\r\nERROR\r\n",
    ),
    ("mg a v k O9\r\n", "VA 1 ka O9\r\ny\r\n"),
    ("ms m 2 T0 F5 k\r\nhi\r\n", "HD km\r\n"),
    ("mg m f s v\r\n", "VA 2 f5 s2\r\nhi\r\n"),
    ("ms Zm9v 3 b q\r\nbar\r\n", ""),
    ("mg foo v\r\n", "VA 3\r\nbar\r\n"),
    ("ma n N0 J10 v\r\n", "VA 2\r\n10\r\n"),
    ("ma n v D5\r\n", "VA 2\r\n15\r\n"),
    ("md n q\r\nmg n q\r\nmn\r\n", "MN\r\n"),
    ("flush_all\r\n", "OK\r\n"),
    ("get a b m foo\r\n", "END\r\n"),
];

#[test]
fn every_command_answers_as_memcached_does() {
    let server = start();
    let mut client = Client::to(&server);
    for (request, reply) in SESSION {
        client.ask(request, reply);
    }
    client.ask("quit\r\n", "");
    assert_eq!(client.rest(), b"");
}

#[test]
fn a_pipeline_is_answered_completely_wherever_its_bytes_are_split() {
    let server = start();
    let (requests, replies): (Vec<&str>, Vec<&str>) = SESSION.into_iter().unzip();
    // CAS values go on counting; everything else is as on a fresh server.
    let keep = |at: &usize| !requests[*at].starts_with("gets") && !requests[*at].starts_with("cas a 0 0 1 1");
    let kept: Vec<usize> = (0..requests.len()).filter(keep).collect();
    let request: String = kept.iter().map(|&at| requests[at]).collect();
    let reply: String = kept.iter().map(|&at| replies[at]).collect();
    let reply = reply.replace("VALUE a 0 1\r\nx\r\nEND", "VALUE a 5 3\r\nabc\r\nEND");
    let mut client = Client::to(&server);
    for split in 0..=request.len() {
        client.send(&request.as_bytes()[..split]);
        client.send(&request.as_bytes()[split..]);
        client.expect(reply.as_bytes());
    }
    for byte in request.as_bytes() {
        client.send(&[*byte]);
    }
    client.expect(reply.as_bytes());
}

#[test]
fn what_is_too_large_is_refused_in_memcached_s_words_and_the_next_command_works() {
    let server = start();
    let mut client = Client::to(&server);
    let long_key = "k".repeat(251);
    client.ask(
        &format!("get {long_key}\r\nversion\r\n"),
        "CLIENT_ERROR bad command line format\r\nVERSION ",
    );
    client.expect(concat!("1.6.45-outcrop-", env!("CARGO_PKG_VERSION"), "\r\n").as_bytes());
    client.ask(&format!("set {} 0 0 1\r\nx\r\n", &long_key[1..]), "STORED\r\n");
    let value = vec![b'v'; 3 << 20];
    client.send(format!("set big 0 0 {}\r\n", value.len()).as_bytes());
    client.send(&value);
    client.ask(
        "\r\nget big\r\n",
        "SERVER_ERROR object too large for cache\r\nEND\r\n",
    );
    let fits = vec![b'w'; 1_000_000];
    client.send(format!("set big 0 0 {}\r\n", fits.len()).as_bytes());
    client.send(&fits);
    client.ask(
        "\r\nget big\r\n",
        &format!("STORED\r\nVALUE big 0 {}\r\n", fits.len()),
    );
    client.expect(&fits);
    client.expect(b"\r\nEND\r\n");
    client.send(&[b'x'; 3000]);
    assert_eq!(
        client.rest(),
        b"",
        "a long line that is no get ends the connection"
    );
}

#[test]
fn many_large_replies_come_complete_to_a_client_that_reads_late() {
    let server = start();
    let mut client = Client::to(&server);
    let value = vec![b'z'; 300_000];
    client.send(format!("set big 0 0 {}\r\n", value.len()).as_bytes());
    client.send(&value);
    client.ask("\r\n", "STORED\r\n");
    let keys = " big".repeat(60);
    client.send(format!("get{keys}\r\nversion\r\n").as_bytes());
    // Eighteen megabytes are more than the sockets hold: the rest has to wait.
    while stat(&server, "conn_yields") == 0 {}
    for _ in 0..60 {
        client.expect(b"VALUE big 0 300000\r\n");
        client.expect(&value);
        client.expect(b"\r\n");
    }
    client.expect(b"END\r\nVERSION ");
}
