//! Options of `outcrop cache` and `outcrop column` that would have no effect are refused, or do what they say.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use crate::cache::{Served, loaded_by};
use crate::column::{column, refused};
use crate::harness::{outcrop, workplace};

#[test]
fn a_time_to_live_is_refused_over_http_and_one_of_more_than_30_days_reaches_memcached_whole() {
    let dir = workplace();
    let dir = dir.path();
    let served = Served::start(dir);
    let (http, memcached) = (
        format!("http://{}", served.http),
        format!("memcached://{}", served.memcached),
    );
    let set = |key: &str, target: &str, more: &[&str]| {
        outcrop(
            dir,
            &[&["cache", "set", key, "v", "--target", target], more].concat(),
        )
    };
    let seen = set("h", &http, &["--ttl", "1s"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.sentence().contains("HTTP has no time to live"), "{seen:?}");
    assert_eq!(set("h", &http, &[]).code, Some(0));
    let seen = set("metrics", &http, &[]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.sentence().contains("GET /metrics"), "{seen:?}");
    assert_eq!(set("metrics", &memcached, &[]).code, Some(0));
    assert_eq!(set("long", &memcached, &["--ttl", "90d"]).code, Some(0));
    let endless = set("endless", &memcached, &["--ttl", "400000000s"]);
    assert!(
        endless
            .stderr
            .contains("400000000 s ends after 19 January 2038, the last date that memcached reads; the value is stored without expiry"),
        "{endless:?}"
    );
    let short = set("short", &memcached, &["--ttl", "60s"]);
    assert!(!short.stderr.contains("2038"), "{short:?}");
    let seen = set("long", &memcached, &["--ttl", "5000000000s"]);
    assert!(seen.sentence().contains("from 1s to 4294967295s"), "{seen:?}");
    let mut connection = TcpStream::connect(&served.memcached).unwrap();
    connection.write_all(b"mg long t\r\n").unwrap();
    let mut line = String::new();
    BufReader::new(connection).read_line(&mut line).unwrap();
    let left: u64 = line.trim_end().strip_prefix("HD t").unwrap().parse().unwrap();
    assert!((89 * 86400..=90 * 86400 + 1).contains(&left), "{line}");
    served.end();
}

#[test]
fn so_many_requests_of_a_trace_are_its_first_ones_whatever_the_threads() {
    let dir = workplace();
    let dir = dir.path();
    let served = Served::start(dir);
    let target = format!("memcached://{}", served.memcached);
    // Nearly all requests are of one key, and so of one thread.
    let mut trace = String::new();
    for number in 0..1000 {
        let key = if number % 20 == 0 { number } else { 1 };
        writeln!(trace, "{},k{key},get,8,40,0", f64::from(number) / 1e5).unwrap();
    }
    std::fs::write(dir.join("trace.csv"), trace).unwrap();
    let usual = [
        "--target",
        &target,
        "--trace",
        "trace.csv",
        "--threads",
        "2",
        "--requests",
    ];
    for times in [&[][..], &["--trace-times"]] {
        let rows = loaded_by(dir, &[&usual[..], &["400"], times].concat());
        assert_eq!(rows["gets"], 400.0, "{rows:?}");
        let arrival = if times.is_empty() { "closed" } else { "trace" };
        assert_eq!(rows["arrival"], arrival, "{rows:?}");
    }
    let beyond = outcrop(dir, &[&["cache", "load"], &usual[..], &["100k"]].concat());
    assert_eq!(beyond.code, Some(0), "{beyond:?}");
    let said = "the trace has 1000 requests, and --requests asks for 100000: no more than 1000 were made";
    assert!(beyond.stderr.contains(said), "{beyond:?}");
    served.end();
}

#[test]
fn values_of_a_list_that_are_given_twice_and_options_beside_a_search_are_refused() {
    let dir = workplace();
    std::fs::write(dir.path().join("t.csv"), "0,a,40\n1,a,40\n").unwrap();
    for (option, expected) in [
        (["--policy", "lru,lru"], "lru is given twice"),
        (["--memory", "1MiB,1024KiB"], "1MiB is given twice"),
    ] {
        let seen = outcrop(
            dir.path(),
            &[&["cache", "simulate", "t.csv"], &option[..]].concat(),
        );
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.stderr.contains(expected), "{seen:?}");
    }
    let seen = outcrop(dir.path(), &["cache", "load", "--search", "p95<1ms", "--cdf"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.stderr.contains("--cdf"), "{seen:?}");
    let seen = outcrop(
        dir.path(),
        &["profile", "--data", "-", "--layer", "column", "--dry-run"],
    );
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(
        seen.sentence()
            .contains("needs a file, and reads none from stdin"),
        "{seen:?}"
    );
}

#[test]
fn a_limit_on_the_length_of_a_value_is_kept_line_by_line_and_is_2_gib_at_most() {
    let dir = workplace();
    let dir = dir.path();
    let long = "x".repeat(300_000);
    std::fs::write(dir.join("short"), "ab\nabc\n").unwrap();
    std::fs::write(dir.join("long"), format!("a\n{long}\nb\n")).unwrap();
    for (file, least, threads) in [("short", 3, "1"), ("long", 300_000, "1"), ("long", 300_000, "2")] {
        let encode = [
            "encode",
            file,
            "-o",
            "v.ocol",
            "--force",
            "--threads",
            threads,
            "--longest-value",
        ];
        let sentence = refused(dir, &[&encode[..], &[&format!("{}", least - 1)]].concat());
        assert!(sentence.contains("a line of the input"), "{sentence}");
        column(dir, &[&encode[..], &[&format!("{least}")]].concat());
    }
    std::fs::write(dir.join("short.csv"), "a,b\nchalk,1\n").unwrap();
    let encode = [
        "encode",
        "short.csv",
        "--column",
        "b",
        "-o",
        "c.ocol",
        "--longest-value",
    ];
    let sentence = refused(dir, &[&encode[..], &["6"]].concat());
    assert!(
        sentence.contains("line 2 of the input: the record that begins here has more than 6 bytes"),
        "{sentence}"
    );
    column(dir, &[&encode[..], &["7"]].concat());
    let encode = ["encode", "short", "-o", "w.ocol", "--longest-value"];
    column(dir, &[&encode[..], &["2GiB"]].concat());
    let seen = outcrop(dir, &[&["column"], &encode[..], &["5GiB"]].concat());
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.stderr.contains("expected 2GiB or less"), "{seen:?}");
}

#[test]
fn what_has_no_effect_on_what_is_appended_or_decoded_is_refused_and_so_are_rows_that_cannot_be_read_back() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("words"), "slate\nshale\n").unwrap();
    for (file, index) in [("a.ocol", "none"), ("b.ocol", "none"), ("only.ocol", "only")] {
        column(dir, &["encode", "words", "-o", file, "--index", index]);
    }
    for flag in [
        ["--index", "postings"],
        ["--profile", "smallest"],
        ["--threads", "7"],
    ] {
        let sentence = refused(dir, &[&["append", "a.ocol", "b.ocol"], &flag[..]].concat());
        let expected = format!("{} does not apply to a column file", flag[0]);
        assert!(sentence.contains(&expected), "{sentence}");
    }
    for args in [
        &["append", "a.ocol", "words", "--index", "only"][..],
        &["append", "a.ocol", "only.ocol"],
    ] {
        let sentence = refused(dir, args);
        assert!(sentence.contains("cannot be read back"), "{sentence}");
    }
    assert_eq!(column(dir, &["decode", "a.ocol"]), "slate\nshale\n");
    column(dir, &["append", "only.ocol", "words"]);
    for to in ["text", "parquet"] {
        let sentence = refused(dir, &["decode", "a.ocol", "--null", "ZZ", "--to", to, "-o", "x"]);
        assert!(sentence.contains("--null applies to CSV only"), "{sentence}");
    }
}

#[test]
fn a_server_says_its_limit_for_items_and_a_warm_up_that_nothing_waits_for_is_in_no_estimate() {
    let dir = workplace();
    let served = Served::with(dir.path(), &["--memory", "16MiB", "--item-memory", "1MiB"]);
    let said = served.end();
    assert!(
        said.contains("16 MiB, of which 1 MiB for items, policy "),
        "{said}"
    );
    let seen = outcrop(
        dir.path(),
        &[
            "run",
            "cache-etc-lite",
            "--effort",
            "quick",
            "--warm-up",
            "30s",
            "--dry-run",
        ],
    );
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.sentence().contains("--warm-up"), "{seen:?}");
    let seen = outcrop(
        dir.path(),
        &["run", "cache-etc-lite", "--effort", "quick", "--dry-run"],
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(!seen.stdout.contains("of warm-up"), "{seen:?}");
}
