//! libmemcached's own programs, as Debian ships them, against our server: they know nothing of it.

use std::path::Path;
use std::process::{Command, Output};

use outcrop_cache::server::Protocol;

use crate::kit::{address, start, text};

/// Runs one of them; an error when it is not installed.
fn run(dir: &Path, program: &str, arguments: &[&str]) -> std::io::Result<Output> {
    Command::new(program).args(arguments).current_dir(dir).output()
}

#[test]
fn libmemcached_s_tools_store_read_and_remove_a_file() {
    let server = start();
    let servers = format!("--servers={}", address(&server, Protocol::Memcached));
    let folder = tempfile::tempdir().unwrap();
    let value: Vec<u8> = (0..50_000_u32).map(|at| ((at * 7) >> 3) as u8).collect();
    std::fs::write(folder.path().join("rock"), &value).unwrap();
    let steps: [(&str, &[&str], bool); 10] = [
        ("memcping", &[], true),
        ("memccp", &["rock"], true),
        ("memcexist", &["rock"], true),
        ("memctouch", &["--expire=1000", "rock"], true),
        ("memccat", &["--file=back", "rock"], true),
        ("memcstat", &[], true),
        ("memcrm", &["rock"], true),
        ("memcexist", &["rock"], false),
        ("memcflush", &[], true),
        (
            "memcslap",
            &["--concurrency=4", "--execute-number=100", "--test=mget"],
            true,
        ),
    ];
    for (program, arguments, succeeds) in steps {
        let arguments = [&[servers.as_str()], arguments].concat();
        let Ok(output) = run(folder.path(), program, &arguments) else {
            println!(
                "skipped: {program} of libmemcached: it is not installed (Debian's package libmemcached-tools)"
            );
            return;
        };
        let said = text(&[output.stdout, output.stderr].concat());
        assert_eq!(
            output.status.success(),
            succeeds,
            "{program} {arguments:?}: {said}"
        );
    }
    assert!(std::fs::read(folder.path().join("back")).unwrap() == value);
}

#[test]
fn libmemcached_s_conformance_tests_of_the_text_protocol_pass() {
    let server = start();
    let address = address(&server, Protocol::Memcached);
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let folder = tempfile::tempdir().unwrap();
    let Ok(output) = run(folder.path(), "memccapable", &["-a", "-h", &host, "-p", &port]) else {
        println!(
            "skipped: memccapable of libmemcached: it is not installed (Debian's package libmemcached-tools)"
        );
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.matches("[pass]").count() >= 25, "{said}");
}
