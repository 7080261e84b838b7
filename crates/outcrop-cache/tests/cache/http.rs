//! The HTTP interface over real sockets, by hand and by curl.

use std::process::Command;

use outcrop_cache::server::{Protocol, Server, ServerOptions};
use outcrop_cache::store::StoreOptions;

use crate::kit::{Client, address, options, start};

fn client(server: &Server) -> Client {
    Client::at(address(server, Protocol::Http))
}

/// Sends a request, and reads its answer by its length.
fn ask(client: &mut Client, request: &str) -> (u16, String) {
    use std::io::Read;
    client.send(request.as_bytes());
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.0.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .split("Content-Length: ")
        .nth(1)
        .unwrap()
        .split("\r\n")
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let mut body = vec![0; if request.starts_with("HEAD") { 0 } else { length }];
    client.0.read_exact(&mut body).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (
        status,
        if request.starts_with("HEAD") {
            head
        } else {
            String::from_utf8_lossy(&body).into_owned()
        },
    )
}

#[test]
fn every_request_answers_as_the_interface_says_on_one_connection() {
    let server = start();
    let mut client = client(&server);
    let mut line = |first: &str, body: &str| {
        ask(
            &mut client,
            &format!(
                "{first} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ),
        )
    };
    assert_eq!(line("GET /rock", "").0, 404);
    assert_eq!(line("PUT /rock/granite", "").0, 200);
    assert_eq!(line("GET /rock", ""), (200, "granite".to_owned()));
    assert_eq!(line("PUT /a%2Fb", "with a body").0, 200);
    assert_eq!(line("GET /a%2Fb", ""), (200, "with a body".to_owned()));
    let (status, head) = line("HEAD /", "");
    assert!(
        status == 200 && head.contains("Space-Used: ") && head.contains("Items: 2"),
        "{head}"
    );
    assert_eq!(line("DELETE /rock", "").0, 200);
    assert_eq!(line("DELETE /rock", "").0, 404);
    assert_eq!(line("POST /reset", "").0, 200);
    assert_eq!(line("GET /a%2Fb", "").0, 404);
    let metrics = line("GET /metrics", "").1;
    assert!(
        metrics.contains("\noutcrop_cache_get_hits_total 2\n"),
        "{metrics}"
    );
    assert!(metrics.contains("\noutcrop_cache_items 0\n"), "{metrics}");
    assert_eq!(line(&format!("GET /{}", "k".repeat(251)), "").0, 400);
    assert_eq!(line("PATCH /rock", "").0, 405);
    assert_eq!(line("GET /%zz", "").0, 400);
}

#[test]
fn requests_split_anywhere_are_answered_completely() {
    let server = start();
    let mut client = client(&server);
    let request = "PUT /k HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 3\r\n\r\nabcGET /k HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n200 OK\n\
                 HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Type: application/octet-stream\r\n\r\nabc";
    for split in 0..request.len() {
        client.send(&request.as_bytes()[..split]);
        client.send(&request.as_bytes()[split..]);
        client.expect(reply.as_bytes());
    }
}

#[test]
fn what_cannot_be_trusted_is_refused() {
    let server = start();
    for (request, status) in [
        ("GET /k HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"),
        ("GET /k HTTP/1.1\r\n\r\n", "400"),
        (
            "PUT /k HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
            "411",
        ),
        (
            "PUT /k HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "400",
        ),
        (
            "PUT /k HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
            "400",
        ),
        ("nonsense\r\n\r\n", "400"),
    ] {
        let mut client = client(&server);
        client.send(request.as_bytes());
        let reply = String::from_utf8(client.rest()).unwrap();
        assert!(
            reply.starts_with(&format!("HTTP/1.1 {status} ")),
            "{request}: {reply}"
        );
    }
    let mut client = client(&server);
    client.send(b"GET /k HTTP/1.1\r\nX: ");
    client.send(&[b'x'; 20_000]);
    assert!(client.rest().starts_with(b"HTTP/1.1 431 "));
    let mut large = self::client(&server);
    large.send(b"PUT /k HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n");
    large.send(&vec![b'v'; 3_000_000]);
    let status = ask(&mut large, "GET /k HTTP/1.1\r\nHost: localhost\r\n\r\n").0;
    assert_eq!(status, 413);
}

#[test]
fn a_limit_of_a_hundred_bytes_for_items_serves_small_ones_and_refuses_large_ones() {
    let store = StoreOptions {
        item_memory_bytes: Some(100),
        ..options().store
    };
    let server = Server::start(&ServerOptions { store, ..options() }).unwrap();
    let mut client = client(&server);
    let put = |key: &str, value: &str| {
        format!(
            "PUT /{key} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{value}",
            value.len()
        )
    };
    let get = |key: &str| format!("GET /{key} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(ask(&mut client, &get("absent")).0, 404);
    assert_eq!(ask(&mut client, &put("rock", "granite")).0, 200);
    assert_eq!(ask(&mut client, &get("rock")), (200, "granite".to_owned()));
    assert_eq!(ask(&mut client, &put("large", &"x".repeat(200))).0, 413);
    assert_eq!(ask(&mut client, &put("full", &"x".repeat(98))).0, 413);
    assert_eq!(ask(&mut client, &get("rock")).0, 200);
    for number in 0..50 {
        assert_eq!(ask(&mut client, &put(&format!("key-{number}"), "granite")).0, 200);
    }
    let kept = (0..50)
        .filter(|number| ask(&mut client, &get(&format!("key-{number}"))).0 == 200)
        .count();
    assert!(kept < 5, "a hundred bytes hold {kept} items of twenty and more");
}

#[test]
fn curl_stores_reads_and_deletes() {
    let server = start();
    let base = format!("http://{}", address(&server, Protocol::Http));
    let curl = |args: &[&str]| {
        let run = Command::new("curl")
            .args(["-sS", "--noproxy", "*"])
            .args(args)
            .output();
        run.map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    if curl(&["--version"]).is_err() {
        println!("skipped: curl: it is not installed (Debian's package curl)");
        return;
    }
    assert_eq!(
        curl(&["-X", "PUT", &format!("{base}/rock/basalt")]).unwrap(),
        "200 OK\n"
    );
    assert_eq!(curl(&[&format!("{base}/rock")]).unwrap(), "basalt");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("value");
    std::fs::write(&file, vec![b'f'; 900_000]).unwrap();
    // Above a megabyte curl asks before it sends: `Expect: 100-continue`.
    let stored = curl(&[
        "-H",
        "Expect: 100-continue",
        "-T",
        file.to_str().unwrap(),
        &format!("{base}/file"),
    ])
    .unwrap();
    assert_eq!(stored, "200 OK\n");
    assert_eq!(curl(&[&format!("{base}/file")]).unwrap().len(), 900_000);
    assert!(
        curl(&["-I", &format!("{base}/")])
            .unwrap()
            .contains("Space-Used: ")
    );
    assert_eq!(
        curl(&["-X", "DELETE", &format!("{base}/rock")]).unwrap(),
        "200 OK\n"
    );
}
