//! memcached's protocol over real sockets.

use outcrop_cache::dialogue::Dialogue;
use outcrop_cache::server::Protocol;
use outcrop_cache::store::StoreOptions;

use crate::kit::{Client, start, stat};

/// Commands of every kind, and what they answer on a fresh server.
const SESSION: [(&str, &str); 41] = [
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
    // Of times, too, no number has a plus sign.
    (
        "mg a T+5\r\nmg a N+5\r\nmg a R+5\r\n",
        "CLIENT_ERROR bad token in command line format\r\n\
         CLIENT_ERROR bad token in command line format\r\n\
         CLIENT_ERROR bad token in command line format\r\n",
    ),
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

/// What the memcached exporter for Prometheus reads from `stats` (pkg/exporter/exporter.go), but for slab classes, the
/// segmented LRU, flash storage and the proxy.
const EXPORTED: &str = "uptime time cas_badval cmd_flush cmd_set cmd_get cmd_touch rusage_user rusage_system bytes limit_maxbytes \
    curr_items total_items bytes_read bytes_written curr_connections total_connections rejected_connections conn_yields \
    listen_disabled_num evictions reclaimed store_too_large store_no_memory direct_reclaims crawler_items_checked total_malloced \
    crawler_reclaimed accepting_conns max_connections threads pid pointer_size evicted_unfetched auth_cmds auth_errors";

#[test]
fn stats_have_the_names_and_forms_that_exporters_read() {
    let server = start();
    let mut client = Client::to(&server);
    client.send(b"stats\r\nstats settings\r\nquit\r\n");
    let said = String::from_utf8(client.rest()).unwrap();
    let (general, settings) = said.split_once("END\r\n").unwrap();
    let value = |of: &str, name: &str| {
        let prefix = format!("STAT {name} ");
        let line = of.lines().find_map(|line| line.strip_prefix(&prefix));
        line.unwrap_or_else(|| panic!("no {name} in {of}")).to_owned()
    };
    let counted = ["get", "delete", "incr", "decr", "cas", "touch"]
        .into_iter()
        .flat_map(|verb| ["hits", "misses"].map(|end| format!("{verb}_{end}")));
    for name in EXPORTED.split_whitespace().map(str::to_owned).chain(counted) {
        let text = value(general, &name);
        assert!(text.parse::<f64>().is_ok(), "{name} {text}");
    }
    // The exporter takes these apart at the point.
    for name in ["rusage_user", "rusage_system"] {
        let text = value(general, name);
        assert_eq!(text.split('.').nth(1).map(str::len), Some(6), "{text}");
    }
    assert!(value(general, "version").starts_with("1.6.45"));
    assert_eq!(value(settings, "maxconns"), "10000");
    assert_eq!(value(settings, "lru_crawler"), "no");
    assert_eq!(value(general, "accepting_conns"), "1");
}

#[test]
fn what_would_cost_every_command_is_refused_in_memcached_s_words() {
    let server = start();
    let mut client = Client::to(&server);
    for request in ["stats detail on", "stats detail off", "stats detail dump"] {
        client.ask(
            &format!("{request}\r\n"),
            "CLIENT_ERROR stats detail not allowed\r\n",
        );
    }
    for request in ["watch", "watch fetchers", "watch mutations evictions"] {
        client.ask(
            &format!("{request}\r\n"),
            "CLIENT_ERROR watch commands not allowed\r\n",
        );
    }
    // Exporters ask for slab classes, of which there are none.
    client.ask("stats slabs\r\nstats items\r\n", "END\r\nEND\r\n");
    client.ask(
        "ms Zm9v 1 b\r\nx\r\nme Zm9v b\r\n",
        "HD\r\nME Zm9v exp=-1 la=0 cas=0 fetch=no cls=1 size=4\r\n",
    );
    client.ask(
        "me foo\r\n",
        "ME Zm9v exp=-1 la=0 cas=0 fetch=no cls=1 size=4\r\n",
    );
}

/// The verbs in the order of the table's columns.
const VERBS: [&str; 4] = ["mg", "ms", "md", "ma"];

#[test]
fn every_flag_of_every_meta_command_in_the_table_has_a_recorded_conversation() {
    let page = include_str!("../../../../docs/format/meta.md");
    let table = page
        .split("\n## ")
        .find(|part| part.starts_with("Flags"))
        .unwrap();
    let said: Vec<&str> = include_str!("unusual.txt")
        .lines()
        .filter(|line| !line.starts_with(['#', '=']))
        .flat_map(|line| line.split("\\r\\n"))
        .collect();
    let (mut flags, mut missing) = (0, Vec::new());
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [names, meanings @ ..] = &cells[..] else {
            panic!("{row}")
        };
        assert_eq!(meanings.len(), VERBS.len(), "{row}");
        for name in names.split(", ") {
            let letter = name.trim_matches('`').chars().next().unwrap();
            for (verb, _) in VERBS.iter().zip(meanings).filter(|(_, meaning)| **meaning != "–") {
                flags += 1;
                let first = if *verb == "ms" { 3 } else { 2 };
                let is_said = said.iter().any(|line| {
                    let mut words = line.split(' ');
                    words.next() == Some(verb) && words.skip(first - 1).any(|word| word.starts_with(letter))
                });
                if !is_said {
                    missing.push(format!("{verb} {letter}"));
                }
            }
        }
    }
    assert!(flags > 50 && missing.is_empty(), "of {flags}: {missing:?}");
}

/// A client of a server whose clock stands still until it is told to move.
struct Clocked(Dialogue);

impl Clocked {
    fn new() -> Self {
        let options = StoreOptions {
            memory_bytes: 1 << 20,
            shards: 1,
            ..StoreOptions::default()
        };
        Self(Dialogue::new(Protocol::Memcached, &options).unwrap())
    }

    #[track_caller]
    fn ask(&mut self, request: &str, expected: &str) {
        let before = self.0.replies().len();
        self.0.say(format!("{request}\r\n").as_bytes());
        let said = String::from_utf8_lossy(&self.0.replies()[before..]);
        assert_eq!(said, format!("{expected}\r\n"), "{request}");
    }
}

#[test]
fn seconds_since_the_last_read_are_counted_and_only_a_read_that_leaves_a_mark_begins_them_anew() {
    let mut client = Clocked::new();
    client.ask("set c 0 100 3\r\nabc", "STORED");
    client.0.wait(7);
    client.ask("mg c u l t", "HD l7 t93");
    client.ask("mg c u l h", "HD l7 h0");
    client.ask("me c", "ME c exp=93 la=7 cas=0 fetch=no cls=1 size=4");
    // The state before this read, and after it.
    client.ask("mg c l h", "HD l7 h0");
    client.ask("mg c l h", "HD l0 h1");
    client.0.wait(3);
    client.ask("me c", "ME c exp=90 la=3 cas=0 fetch=yes cls=1 size=4");
    for (read, answer) in [
        ("get c", "VALUE c 0 3\r\nabc\r\nEND"),
        ("gat 50 c", "VALUE c 0 3\r\nabc\r\nEND"),
        ("touch c 50", "TOUCHED"),
    ] {
        client.ask(read, answer);
        client.0.wait(2);
        client.ask("mg c u l", "HD l2");
    }
    client.ask("mg c u l t", "HD l2 t48");
}

#[test]
fn an_item_that_is_made_anew_was_neither_read_nor_idle() {
    let mut client = Clocked::new();
    client.ask("set c 0 0 1\r\n9", "STORED");
    for (change, answer, fetched) in [
        ("append c 0 0 1\r\n0", "STORED", "no"),
        ("prepend c 0 0 1\r\n1", "STORED", "no"),
        // In the place of the old number.
        ("incr c 1", "191", "yes"),
        ("incr c 900", "1091", "no"),
        ("ms c 1 MA\r\n0", "HD", "no"),
    ] {
        client.0.wait(5);
        client.ask("mg c l", "HD l5");
        client.0.wait(5);
        client.ask(change, answer);
        let said = format!("la=0 cas=0 fetch={fetched}");
        client.0.say(b"me c\r\n");
        let replies = String::from_utf8_lossy(client.0.replies());
        assert!(
            replies.lines().last().unwrap().contains(&said),
            "{change}: {replies}"
        );
    }
}

#[test]
fn an_item_that_ends_at_once_has_no_seconds_left() {
    let mut client = Clocked::new();
    // However long the server has run.
    for wait in [0, 7, 86_400] {
        client.0.wait(wait);
        client.ask("set q 0 0 1\r\nx", "STORED");
        client.ask("mg q T-1 t v", "VA 1 t0\r\nx");
        client.ask("mg q t", "EN");
    }
}
