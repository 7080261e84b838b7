//! Transactions, requests of too many words and the numbers of connections, as clients of Redis ask for them.

use outcrop_cache::dialogue::Dialogue;
use outcrop_cache::server::Protocol;

use crate::kit::{Client, address, text};
use crate::redis::{array, dialogue, request, start};

/// What a client is answered for these lines, sent as one pipeline.
fn answers(dialogue: &mut Dialogue, lines: &[&str]) -> String {
    let before = dialogue.replies().len();
    dialogue.say(&lines.iter().flat_map(|line| request(line)).collect::<Vec<u8>>());
    String::from_utf8(dialogue.replies()[before..].to_vec()).unwrap()
}

#[test]
fn a_transaction_runs_in_order_when_it_is_asked_to_and_not_at_all_where_a_request_was_refused() {
    let mut dialogue = dialogue();
    let queued = "+QUEUED\r\n";
    assert_eq!(
        answers(&mut dialogue, &["MULTI", "SET a 1", "INCR a", "GET a"]),
        format!("+OK\r\n{}", queued.repeat(3))
    );
    // Nothing has run yet; an error of one that runs does not keep the others from running.
    assert_eq!(
        answers(&mut dialogue, &["SETEX a x y", "MGET a b", "EXEC"]),
        format!(
            "{}*5\r\n+OK\r\n:2\r\n$1\r\n2\r\n-ERR value is not an integer or out of range\r\n*2\r\n$1\r\n2\r\n$-1\r\n",
            queued.repeat(2)
        )
    );
    assert_eq!(
        answers(&mut dialogue, &["MULTI", "SET a lost", "DISCARD", "GET a"]),
        format!("+OK\r\n{queued}+OK\r\n$1\r\n2\r\n")
    );
    for refused in ["LPUSH l 1", "GET", "AUTH x", "HELLO 3", "WATCH a"] {
        let said = answers(
            &mut dialogue,
            &["MULTI", "SET a lost", refused, "SET a lost", "EXEC", "GET a"],
        );
        assert!(
            said.starts_with(&format!("+OK\r\n{queued}-ERR ")),
            "{refused}: {said}"
        );
        let end = format!(
            "{queued}-EXECABORT a request of the transaction was refused, so none has run\r\n$1\r\n2\r\n"
        );
        assert!(said.ends_with(&end), "{refused}: {said}");
    }
    assert_eq!(
        answers(&mut dialogue, &["EXEC", "DISCARD", "MULTI", "MULTI", "EXEC"]),
        "-ERR EXEC without MULTI\r\n-ERR DISCARD without MULTI\r\n+OK\r\n-ERR MULTI within a transaction\r\n*0\r\n"
    );
}

#[test]
fn a_transaction_is_kept_up_to_the_largest_item_and_its_long_answers_are_sent_in_parts() {
    let mut dialogue = dialogue();
    // An item has at most 64 KiB here, and a request 64 KiB more.
    let value = "v".repeat(30_000);
    let set = format!("SET a {value}");
    let mut lines = vec!["MULTI"];
    lines.extend([set.as_str(); 5]);
    lines.push("EXEC");
    let said = answers(&mut dialogue, &lines);
    assert_eq!(said.matches("+QUEUED").count(), 4, "{said}");
    assert!(
        said.contains("-ERR the transaction is larger than an item may be; see --max-item"),
        "{said}"
    );
    assert!(
        said.ends_with("-EXECABORT a request of the transaction was refused, so none has run\r\n"),
        "{said}"
    );
    let gets = ["GET a", "MGET a a a"].repeat(20);
    let lines = [&["MULTI", set.as_str()][..], &gets, &["EXEC", "PING"]].concat();
    let said = answers(&mut dialogue, &lines);
    assert_eq!(said.matches(&value).count(), 80);
    assert!(said.ends_with("+PONG\r\n"));
}

#[test]
fn a_request_of_too_many_words_is_answered_and_the_connection_goes_on() {
    let mut dialogue = dialogue();
    let mut words: Vec<&[u8]> = vec![b"MSET"];
    words.extend([&b"a"[..], b"1"].repeat(9_000));
    dialogue.say(&array(&words));
    dialogue.say(&request("GET a"));
    assert_eq!(
        text(dialogue.replies()),
        "-ERR a request has at most 16384 words; send several\r\n$-1\r\n"
    );
}

#[test]
fn each_connection_has_a_number_that_it_keeps() {
    let server = start();
    let ids: Vec<Vec<u8>> = (0..2)
        .map(|_| {
            let mut client = Client::at(address(&server, Protocol::Redis));
            client.send(&[request("CLIENT ID"), request("CLIENT ID"), request("QUIT")].concat());
            let said = client.rest();
            let id = said.strip_suffix(b"+OK\r\n").unwrap();
            assert_eq!(id[0], b':');
            assert_eq!(id[..id.len() / 2], id[id.len() / 2..]);
            id.to_vec()
        })
        .collect();
    assert_ne!(ids[0], ids[1]);
    let mut dialogue = dialogue();
    let info = answers(&mut dialogue, &["CLIENT SETNAME me", "CLIENT INFO"]);
    assert!(info.contains(" name=me db=0 resp=2\n"), "{info}");
}
