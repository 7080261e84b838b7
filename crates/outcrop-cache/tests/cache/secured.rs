//! TLS and logins: who may speak to the server, and that it answers them as ever.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use outcrop_cache::server::{Protocol, Server, ServerOptions, TlsFiles};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::kit::{Client, address, options, text};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

fn tls() -> TlsFiles {
    TlsFiles {
        certificates: fixture("localhost.cert.pem"),
        key: fixture("localhost.key.pem"),
    }
}

/// A server for anna, whose password is secret.
fn with_login(folder: &tempfile::TempDir, is_sealed: bool) -> Server {
    let users = folder.path().join("users");
    std::fs::write(&users, "bert:other\nanna:secret\n").unwrap();
    Server::start(&ServerOptions {
        login_file: Some(users),
        tls: is_sealed.then(tls),
        ..options()
    })
    .unwrap()
}

/// A client that trusts the certificate of the tests, and no other.
fn sealed(server: &Server) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(fixture("localhost.cert.pem")).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let configuration = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connection = ClientConnection::new(Arc::new(configuration), "localhost".try_into().unwrap()).unwrap();
    StreamOwned::new(connection, Client::to(server).0)
}

fn ask(client: &mut (impl Read + Write), request: &[u8], expected: &[u8]) {
    client.write_all(request).unwrap();
    client.flush().unwrap();
    let mut got = vec![0; expected.len()];
    client.read_exact(&mut got).unwrap();
    assert!(got == expected, "{} to {}", text(&got), text(request));
}

#[test]
fn commands_and_large_values_pass_through_tls() {
    let server = Server::start(&ServerOptions {
        tls: Some(tls()),
        ..options()
    })
    .unwrap();
    let mut clients = [sealed(&server), sealed(&server)];
    for client in &mut clients {
        ask(
            client,
            b"set k 0 0 2\r\nhi\r\nget k\r\n",
            b"STORED\r\nVALUE k 0 2\r\nhi\r\nEND\r\n",
        );
        let value: Vec<u8> = (0..700_000_u32).map(|at| ((at * 31) >> 4) as u8).collect();
        ask(
            client,
            &[b"set big 0 0 700000\r\n", &value[..], b"\r\n"].concat(),
            b"STORED\r\n",
        );
        let reply = [b"VALUE big 0 700000\r\n", &value[..], b"\r\n"]
            .concat()
            .repeat(8);
        ask(
            client,
            b"get big big big big big big big big\r\n",
            &[&reply[..], b"END\r\n"].concat(),
        );
        ask(
            client,
            "get k\r\n".repeat(3000).as_bytes(),
            "VALUE k 0 2\r\nhi\r\nEND\r\n".repeat(3000).as_bytes(),
        );
    }
    let [mut client, _] = clients;
    client.write_all(b"mn\r\nquit\r\n").unwrap();
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"MN\r\n", "and the end is said");
}

#[test]
fn who_speaks_no_tls_to_a_server_that_does_is_sent_away_and_the_others_are_served() {
    let server = Server::start(&ServerOptions {
        tls: Some(tls()),
        ..options()
    })
    .unwrap();
    let mut client = sealed(&server);
    ask(&mut client, b"mn\r\n", b"MN\r\n");
    for said in [&b"get k\r\n"[..], &[0x16, 3, 1, 0xFF, 0xFF, 1, 2, 3], &[0; 100]] {
        let mut plain = Client::to(&server);
        plain.send(said);
        let answer = plain.end();
        // At most an alert.
        assert!(answer.is_empty() || answer[0] == 21, "{answer:?}");
    }
    ask(&mut client, b"mn\r\n", b"MN\r\n");
}

#[test]
fn only_who_logs_in_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_login(&folder, false);
    for wrong in ["anna secre", "anna other", "anna", "", "bert  other", "secret"] {
        let request = format!("set login 0 0 {}\r\n{wrong}\r\n", wrong.len());
        Client::to(&server).ask(&request, "CLIENT_ERROR authentication failure\r\n");
    }
    let mut client = Client::to(&server);
    for request in [
        "get k\r\n",
        "version\r\n",
        "mn\r\n",
        "\r\n",
        "set a 0 0\r\n",
        "add k 0 0 -1\r\n",
    ] {
        client.ask(request, "CLIENT_ERROR unauthenticated\r\n");
    }
    client.ask(
        "set login 0 0 11\r\nanna secret\r\nget login\r\n",
        "STORED\r\nEND\r\n",
    );
    client.ask(
        "set k 0 0 1\r\nx\r\nget k\r\n",
        "STORED\r\nVALUE k 0 1\r\nx\r\nEND\r\n",
    );
    let mut greedy = Client::to(&server);
    greedy.send(b"set login 0 0 900000\r\n");
    assert_eq!(
        greedy.rest(),
        b"CLIENT_ERROR unauthenticated\r\n",
        "nothing is kept for strangers"
    );
}

#[test]
fn curl_logs_in_over_https_and_is_refused_without() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_login(&folder, true);
    let base = format!("https://{}", address(&server, Protocol::Http));
    let certificate = fixture("localhost.cert.pem");
    let curl = |args: &[&str]| {
        let mut run = Command::new("curl");
        run.args(["-sS", "--noproxy", "*", "-w", "%{http_code}", "--cacert"]);
        let run = run.arg(&certificate).args(args).output();
        run.map(|output| text(&[output.stdout, output.stderr].concat()))
    };
    if curl(&["--version"]).is_err() {
        println!("skipped: curl: it is not installed (Debian's package curl)");
        return;
    }
    let rock = format!("{base}/rock");
    assert_eq!(
        curl(&["-u", "anna:secret", "-X", "PUT", &format!("{rock}/basalt")]).unwrap(),
        "200 OK\n200"
    );
    assert_eq!(
        curl(&["-H", "Authorization: Bearer secret", &rock]).unwrap(),
        "basalt200"
    );
    for wrong in [
        &["-u", "anna:other"][..],
        &["-H", "Authorization: Bearer anna"],
        &["-H", "Authorization: Basic !"],
        &[],
    ] {
        assert_eq!(
            curl(&[wrong, &[&rock]].concat()).unwrap(),
            "401 Unauthorized\n401",
            "{wrong:?}"
        );
    }
}

#[test]
fn other_machines_are_served_only_behind_tls_or_a_login() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    std::fs::write(&users, "anna:secret\n").unwrap();
    let wide = ServerOptions {
        memcached: vec!["0.0.0.0:0".parse().unwrap()],
        ..options()
    };
    let refused = Server::start(&wide).unwrap_err().to_string();
    assert!(
        refused.contains("--login-file") && refused.contains("--tls-cert"),
        "{refused}"
    );
    for guarded in [
        ServerOptions {
            tls: Some(tls()),
            ..wide.clone()
        },
        ServerOptions {
            login_file: Some(users.clone()),
            ..wide.clone()
        },
    ] {
        Server::start(&guarded).unwrap().stop().unwrap();
    }
    let mistaken = TlsFiles {
        certificates: users.clone(),
        ..tls()
    };
    let refused = Server::start(&ServerOptions {
        tls: Some(mistaken),
        ..options()
    })
    .unwrap_err()
    .to_string();
    assert!(refused.contains("users") && refused.contains("PEM"), "{refused}");
    let missing = ServerOptions {
        login_file: Some("/no/such/file".into()),
        ..options()
    };
    assert!(
        Server::start(&missing)
            .unwrap_err()
            .to_string()
            .contains("/no/such/file")
    );
}

#[test]
fn where_idle_connections_of_tls_hold_too_much_the_oldest_goes() {
    let server = Server::start(&ServerOptions {
        tls: Some(tls()),
        ..options()
    })
    .unwrap();
    // 40 KiB each: more than the 16 MiB that buffers may take here.
    let mut idle: Vec<Client> = (0..600).map(|_| Client::to(&server)).collect();
    // Connections go to the two threads in turn, and the one that first finds too much held closes its own oldest.
    let patience = Timespec {
        tv_sec: 20,
        tv_nsec: 0,
    };
    let mut oldest = [
        PollFd::new(&idle[0].0, PollFlags::IN),
        PollFd::new(&idle[1].0, PollFlags::IN),
    ];
    assert!(
        poll(&mut oldest, Some(&patience)).unwrap() > 0,
        "neither has ended"
    );
    let ended = usize::from(oldest[0].revents().is_empty());
    let got = idle[ended].0.read(&mut [0]);
    assert!(matches!(got, Ok(0)), "{got:?}");
    assert!(server.connections() > 300, "{}", server.connections());
}
