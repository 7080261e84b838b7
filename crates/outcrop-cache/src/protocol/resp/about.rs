//! What clients ask about a server and a connection: who they are, what it can do, how full it is.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Session;
use super::commands::{COMMANDS, Call, Command, Outcome, named, shown, wrong_count};
use super::strings::integer;
use crate::counters::WorkerCounters;

/// The Redis whose answers these are: clients conclude from it what they may ask for.
const REDIS_VERSION: &str = "7.0.0";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const SYNTAX: &str = "ERR syntax error";

pub(super) fn ping(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    match call.request.len() {
        1 => call.reply().simple("PONG"),
        2 => {
            let word = call.request.get(1);
            call.reply().bulk(word);
        }
        _ => wrong_count(call, "ping"),
    }
    Outcome::Answered
}

pub(super) fn echo(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let word = call.request.get(1);
    call.reply().bulk(word);
    Outcome::Answered
}

pub(super) fn quit(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    call.reply().ok();
    Outcome::Close
}

pub(super) fn select(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    if call.request.get(1) == b"0" {
        call.reply().ok();
    } else {
        call.reply()
            .error("ERR DB index is out of range: there is one, 0");
    }
    Outcome::Answered
}

pub(super) fn dbsize(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let items = call.context.store.report().items;
    call.reply().integer(items as i64);
    Outcome::Answered
}

pub(super) fn flushall(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let word = call.request.get(1);
    let is_known =
        word.is_empty() || word.eq_ignore_ascii_case(b"async") || word.eq_ignore_ascii_case(b"sync");
    if call.request.len() > 2 || !is_known {
        call.reply().error(SYNTAX);
        return Outcome::Answered;
    }
    call.context.counters.flushes.add(1);
    let now = call.context.now.second;
    call.context.store.clear(now, now);
    call.reply().ok();
    Outcome::Answered
}

/// `AUTH password` or `AUTH name password`.
pub(super) fn auth(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let (name, password) = match call.request.len() {
        2 => (None, call.request.get(1)),
        3 => (Some(call.request.get(1)), call.request.get(2)),
        _ => {
            wrong_count(call, "auth");
            return Outcome::Answered;
        }
    };
    let outcome = log_in(session, call, name, password);
    if outcome == Outcome::Answered && session.is_known {
        call.reply().ok();
    }
    outcome
}

/// Answers what failed, and nothing where it succeeds.
fn log_in(session: &mut Session, call: &mut Call<'_, '_>, name: Option<&[u8]>, password: &[u8]) -> Outcome {
    let Some(logins) = &call.context.service.logins else {
        session.is_known = true;
        // Redis's own default user may always log in so; a name is a mistake.
        return Outcome::Answered;
    };
    let second = call.context.now.second;
    if session.attempts.must_wait(logins, second) {
        return Outcome::Later;
    }
    call.context.counters.auth_cmds.add(1);
    session.is_known = match name {
        Some(name) if name != b"default" => logins.admit(name, password),
        _ => logins.admit_token(password),
    };
    if session.is_known {
        return Outcome::Answered;
    }
    call.context.counters.auth_errors.add(1);
    let is_last = session.attempts.fail(logins, second);
    call.reply().error("WRONGPASS wrong user name or password");
    if is_last {
        Outcome::Close
    } else {
        Outcome::Answered
    }
}

/// `HELLO [2|3 [AUTH name password] [SETNAME name]]`.
pub(super) fn hello(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let is_version_3 = match integer(call.request.get(1)) {
        None if call.request.len() == 1 => session.is_version_3,
        Some(2) => false,
        Some(3) => true,
        None => {
            call.reply()
                .error("ERR Protocol version is not an integer or out of range");
            return Outcome::Answered;
        }
        Some(_) => {
            call.reply()
                .error("NOPROTO unsupported protocol version; expected 2 or 3");
            return Outcome::Answered;
        }
    };
    let (mut at, mut name, mut login) = (2, None, None);
    while at < call.request.len() {
        let word = call.request.get(at);
        if word.eq_ignore_ascii_case(b"auth") && at + 2 < call.request.len() {
            login = Some((call.request.get(at + 1), call.request.get(at + 2)));
            at += 3;
        } else if word.eq_ignore_ascii_case(b"setname") && at + 1 < call.request.len() {
            name = Some(call.request.get(at + 1));
            at += 2;
        } else {
            call.reply().error(SYNTAX);
            return Outcome::Answered;
        }
    }
    if let Some((user, password)) = login {
        let was_answered = call.out.len();
        let outcome = log_in(session, call, Some(user), password);
        if outcome != Outcome::Answered || call.out.len() > was_answered {
            return outcome;
        }
    }
    if !session.is_known {
        call.reply()
            .error("NOAUTH log in first: HELLO 3 AUTH name password");
        return Outcome::Answered;
    }
    if let Some(name) = name
        && !set_name(session, call, name)
    {
        return Outcome::Answered;
    }
    session.is_version_3 = is_version_3;
    let mut reply = call.reply();
    reply.map(6, is_version_3);
    for (name, value) in [
        ("server", "outcrop"),
        ("version", VERSION),
        ("mode", "standalone"),
        ("role", "master"),
    ] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"proto");
    reply.integer(if is_version_3 { 3 } else { 2 });
    reply.bulk(b"modules");
    reply.array(0);
    Outcome::Answered
}

/// Takes a name that can be shown in a list; answers one that cannot.
fn set_name(session: &mut Session, call: &mut Call<'_, '_>, name: &[u8]) -> bool {
    let is_name = name.len() <= 256 && name.iter().all(u8::is_ascii_graphic);
    if is_name {
        session.name = name.to_vec();
    } else {
        call.reply()
            .error("ERR client names have up to 256 printable characters, without blanks");
    }
    is_name
}

/// A number that no other connection has.
fn id(session: &mut Session) -> u64 {
    static GIVEN: AtomicU64 = AtomicU64::new(0);
    if session.id == 0 {
        session.id = GIVEN.fetch_add(1, Ordering::Relaxed) + 1;
    }
    session.id
}

pub(super) fn client(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let (word, count) = (call.request.get(1).to_ascii_lowercase(), call.request.len());
    match (&word[..], count) {
        (b"setname", 3) => {
            let name = call.request.get(2);
            if set_name(session, call, name) {
                call.reply().ok();
            }
        }
        (b"getname", 2) if session.name.is_empty() => call.reply().nil(session.is_version_3),
        (b"getname", 2) => call.reply().bulk(&session.name),
        (b"id", 2) => call.reply().integer(id(session) as i64),
        (b"info", 2) => {
            let version = if session.is_version_3 { 3 } else { 2 };
            let id = id(session);
            let name = String::from_utf8_lossy(&session.name);
            let line = format!("id={id} name={name} db=0 resp={version}\n");
            call.reply().bulk(line.as_bytes());
        }
        // What library a client is: nobody asks for it here.
        (b"setinfo", 4) | (b"no-evict" | b"no-touch", 3) => call.reply().ok(),
        _ => {
            let sentence = format!(
                "ERR unknown subcommand or wrong number of arguments for '{}'",
                shown(&word)
            );
            call.reply().error(&sentence);
        }
    }
    Outcome::Answered
}

pub(super) fn command(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let word = call.request.get(1).to_ascii_lowercase();
    match &word[..] {
        b"" => {
            call.reply().array(COMMANDS.len());
            COMMANDS.iter().for_each(|command| describe(call, command));
        }
        b"count" => call.reply().integer(COMMANDS.len() as i64),
        // Documentation is not kept here; clients then show none.
        b"docs" => call.reply().map(0, session.is_version_3),
        b"list" => {
            call.reply().array(COMMANDS.len());
            for command in &COMMANDS {
                call.reply().bulk(command.name.as_bytes());
            }
        }
        b"info" => {
            let request = call.request;
            call.reply().array(request.from(2).len());
            for name in request.from(2) {
                match named(name) {
                    Some(command) => describe(call, command),
                    None => call.reply().nil(session.is_version_3),
                }
            }
        }
        _ => {
            let sentence = format!("ERR unknown subcommand '{}'", shown(&word));
            call.reply().error(&sentence);
        }
    }
    Outcome::Answered
}

fn describe(call: &mut Call<'_, '_>, command: &Command) {
    let mut reply = call.reply();
    let (flag, category) = if command.is_write {
        ("write", "@write")
    } else {
        ("readonly", "@read")
    };
    reply.array(10);
    reply.bulk(command.name.as_bytes());
    reply.integer(command.arity);
    reply.array(1);
    reply.simple(flag);
    command.keys.iter().for_each(|&place| reply.integer(place));
    reply.array(1);
    reply.simple(category);
    // No tips, key specifications or subcommands; redis-py wants them to be there.
    (0..3).for_each(|_| reply.array(0));
}

/// Whether an `INFO` with these words asks for a section; without any it asks for all.
fn wants(words: &[&[u8]], section: &str) -> bool {
    let names = [section, "default", "all", "everything"];
    let is_named = |word: &&[u8]| {
        names
            .iter()
            .any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
    };
    words.is_empty() || words.iter().any(is_named)
}

pub(super) fn info(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let context = call.context;
    let (store, service) = (context.store.report(), context.service);
    let sum = |wanted: &str| {
        let sums = WorkerCounters::sums(&service.counters);
        sums.into_iter()
            .find(|(name, ..)| *name == wanted)
            .map_or(0, |(_, _, value)| value)
    };
    let mut text = String::new();
    let lines: [(&str, String); 20] = [
        ("# Server", String::new()),
        ("redis_version", REDIS_VERSION.to_owned()),
        ("outcrop_version", VERSION.to_owned()),
        ("process_id", std::process::id().to_string()),
        (
            "uptime_in_seconds",
            service.uptime_s(context.now.second).to_string(),
        ),
        ("# Clients", String::new()),
        (
            "connected_clients",
            service.connections.load(Ordering::Relaxed).to_string(),
        ),
        ("maxclients", service.max_connections.to_string()),
        ("# Memory", String::new()),
        ("used_memory", store.memory_bytes.to_string()),
        ("maxmemory", service.memory_bytes.to_string()),
        ("maxmemory_policy", context.store.policy().to_string()),
        ("# Stats", String::new()),
        ("total_connections_received", sum("total_connections").to_string()),
        ("keyspace_hits", sum("get_hits").to_string()),
        ("keyspace_misses", sum("get_misses").to_string()),
        ("evicted_keys", store.counters.evicted.to_string()),
        ("expired_keys", store.counters.expired.to_string()),
        ("# Keyspace", String::new()),
        // How many have an end is not counted, so it is not said.
        ("db0", format!("keys={}", store.items)),
    ];
    let mut is_wanted = true;
    for (name, value) in lines {
        if let Some(section) = name.strip_prefix("# ") {
            is_wanted = wants(call.request.from(1), section);
        }
        if !is_wanted {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = if value.is_empty() {
            write!(text, "{name}\r\n")
        } else {
            write!(text, "{name}:{value}\r\n")
        };
    }
    call.reply().bulk(text.as_bytes());
    Outcome::Answered
}
