//! `outcrop cache serve` when its process is short of something, or told to end: it goes on serving whom it can.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::cache::Served;
use crate::harness::workplace;

/// Longer than any answer takes; only one that never comes meets it.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn connect(served: &Served) -> TcpStream {
    let stream = TcpStream::connect(&served.memcached).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

pub(crate) fn ask(stream: &mut TcpStream, request: &str, expected: &str) {
    stream.write_all(request.as_bytes()).unwrap();
    let mut got = vec![0; expected.len()];
    stream.read_exact(&mut got).unwrap();
    assert_eq!(String::from_utf8_lossy(&got), expected);
}

/// Sets a limit of the running server.
fn limit(served: &Served, what: &str) {
    let pid = served.child.id().to_string();
    let status = Command::new("prlimit")
        .args(["--pid", &pid, what])
        .status()
        .unwrap();
    assert!(status.success(), "prlimit {what}");
}

/// A number of /proc/PID/status in bytes.
pub(crate) fn status_bytes(served: &Served, name: &str) -> u64 {
    let path = format!("/proc/{}/status", served.child.id());
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let kib: u64 = line
        .trim_start_matches(':')
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib << 10
}

#[test]
fn a_server_without_descriptors_serves_whom_it_has_and_takes_others_when_it_can() {
    let dir = workplace();
    let served = Served::start(dir.path());
    let mut first = connect(&served);
    ask(&mut first, "set k 0 0 1\r\nx\r\n", "STORED\r\n");
    let open = std::fs::read_dir(format!("/proc/{}/fd", served.child.id()))
        .unwrap()
        .count();
    limit(&served, &format!("--nofile={open}:4096"));
    let mut waiting: Vec<TcpStream> = (0..20).map(|_| connect(&served)).collect();
    for stream in &mut waiting {
        stream.write_all(b"get k\r\n").unwrap();
    }
    for _ in 0..1000 {
        ask(&mut first, "get k\r\n", "VALUE k 0 1\r\nx\r\nEND\r\n");
    }
    ask(&mut first, "stats\r\n", "STAT pid");
    let mut stats = String::new();
    while !stats.ends_with("END\r\n") {
        let mut some = [0; 4096];
        let read = first.read(&mut some).unwrap();
        stats += std::str::from_utf8(&some[..read]).unwrap();
    }
    assert!(!stats.contains("STAT listen_disabled_num 0\r\n"), "{stats}");
    limit(&served, "--nofile=4096:4096");
    for stream in &mut waiting {
        ask(stream, "", "VALUE k 0 1\r\nx\r\nEND\r\n");
    }
    served.end();
}

#[test]
fn a_server_that_gets_no_memory_gives_up_who_needs_it_and_serves_the_others() {
    let dir = workplace();
    let served = Served::start(dir.path());
    let mut modest = connect(&served);
    ask(&mut modest, "set k 0 0 1\r\nx\r\n", "STORED\r\n");
    let room = status_bytes(&served, "VmSize") + (2 << 20);
    limit(&served, &format!("--as={room}"));
    let mut large: Vec<TcpStream> = (0..8).map(|_| connect(&served)).collect();
    let part = [b'v'; 200_000];
    for stream in &mut large {
        // A server that has given it up is an answer too.
        let _ = stream
            .write_all(b"set big 0 0 900000\r\n")
            .and_then(|()| stream.write_all(&part));
    }
    for _ in 0..1000 {
        ask(&mut modest, "get k\r\n", "VALUE k 0 1\r\nx\r\nEND\r\n");
    }
    let mut given_up = 0;
    for stream in &mut large {
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let ended = stream.read(&mut [0]);
        given_up += u32::from(!matches!(ended, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock));
    }
    assert!(given_up > 0, "eight times 900 kB do not fit into 2 MiB");
    drop(large);
    ask(&mut modest, "get k\r\n", "VALUE k 0 1\r\nx\r\nEND\r\n");
    served.end();
}

#[test]
fn sigterm_under_load_leaves_no_command_that_was_taken_without_its_reply() {
    const BATCH: usize = 200;
    let dir = workplace();
    let served = Served::start(dir.path());
    let mut setter = connect(&served);
    ask(&mut setter, "set k 0 0 5\r\nhello\r\n", "STORED\r\n");
    let (busy, is_busy) = channel();
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let (mut stream, busy) = (connect(&served), busy.clone());
            std::thread::spawn(move || {
                let asks = "get k\r\n".repeat(BATCH);
                let reply = "VALUE k 0 5\r\nhello\r\nEND\r\n".repeat(BATCH);
                let mut got = vec![0; reply.len()];
                let mut batches = 0;
                loop {
                    if stream.write_all(asks.as_bytes()).is_err() {
                        return batches;
                    }
                    let mut at = 0;
                    while at < got.len() {
                        match stream.read(&mut got[at..]) {
                            // A batch arrives as one: taken, it is answered to its last command; or it never arrived.
                            Ok(0) | Err(_) if at == 0 => return batches,
                            Ok(0) | Err(_) => panic!("{at} of {} bytes", got.len()),
                            Ok(read) => at += read,
                        }
                    }
                    assert!(got == reply.as_bytes());
                    batches += 1;
                    let _ = busy.send(());
                }
            })
        })
        .collect();
    // Under way: two batches each, on average.
    (0..40).for_each(|_| is_busy.recv().unwrap());
    served.terminate();
    let batches: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
    assert!(batches >= 40, "{batches}");
    assert!(served.ended().contains("stopping: pending requests"));
}

#[test]
fn resident_memory_stays_within_the_limit_and_sixteen_mebibytes_whatever_clients_do() {
    const LIMIT_BYTES: u64 = 64 << 20;
    let dir = workplace();
    let served = Served::with(dir.path(), &["--memory", "64MiB", "--max-connections", "1100"]);
    let mut writer = connect(&served);
    let value = "v".repeat(500_000);
    for key in 0..8 {
        ask(
            &mut writer,
            &format!("set big{key} 0 0 500000\r\n{value}\r\n"),
            "STORED\r\n",
        );
    }
    let asks = "get big0 big1 big2 big3 big4 big5 big6 big7\r\n".repeat(10);
    let silent: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = connect(&served);
            // Never read; a server that has given it up is an answer too.
            let _ = stream.write_all(asks.as_bytes());
            stream
        })
        .collect();
    let idle: Vec<TcpStream> = (0..500).map(|_| connect(&served)).collect();
    fill(&mut writer, 150 << 20);
    let peak = status_bytes(&served, "VmHWM");
    assert!(
        peak <= LIMIT_BYTES + (16 << 20),
        "{peak} bytes, {} over",
        peak - LIMIT_BYTES
    );
    assert!(peak > LIMIT_BYTES / 2, "{peak}: the fill did not happen");
    drop((silent, idle));
    served.end();
}

/// Stores so many bytes of values of sizes as ETC has them, about.
fn fill(writer: &mut TcpStream, bytes: usize) {
    let (mut stored, mut number) = (0, 0_u64);
    let value = vec![b'e'; 4096];
    while stored < bytes {
        let mut batch = Vec::new();
        for _ in 0..200 {
            number += 1;
            let drawn = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let len = if drawn % 100 < 44 {
                drawn % 14
            } else {
                15 + drawn % 700
            } as usize;
            batch.extend_from_slice(format!("set key-{number:030} 0 0 {len} noreply\r\n").as_bytes());
            batch.extend_from_slice(&value[..len]);
            batch.extend_from_slice(b"\r\n");
        }
        batch.extend_from_slice(b"mn\r\n");
        stored += batch.len();
        writer.write_all(&batch).unwrap();
        let mut reply = [0; 4];
        writer.read_exact(&mut reply).unwrap();
        assert_eq!(&reply, b"MN\r\n");
    }
}

#[test]
fn a_server_with_too_few_descriptors_for_anybody_says_what_to_raise() {
    let dir = workplace();
    let binary = env!("CARGO_BIN_EXE_outcrop");
    let script =
        format!("ulimit -n 36; exec {binary} cache serve --threads 1 --memory 16MiB --listen 127.0.0.1:0");
    let refused = Command::new("sh")
        .args(["-c", &script])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("the limit of open files is 36") && said.contains("ulimit -n 44"),
        "{said}"
    );
}

#[test]
fn a_closed_terminal_ends_a_server_as_ctrl_c_does() {
    let dir = workplace();
    // Under nohup the signal is ignored, and what starts these tests may be.
    let mut command = Command::new("env");
    command
        .args(["--default-signal=HUP", env!("CARGO_BIN_EXE_outcrop")])
        .args(["cache", "serve", "--threads", "1", "--memory", "16MiB"])
        .args(["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"])
        .current_dir(dir.path());
    let mut served = Served::of(command);
    let pid = served.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-HUP", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}
