//! Which commands there are, and who may give them.

use super::reply::Reply;
use super::request::Request;
use super::{Session, about, expiry, numbers, strings, transaction};
use crate::protocol::Context;

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Answered,
    /// Replies must be sent first; then the same command again.
    Flush,
    /// The same command again in the next second.
    Later,
    Close,
}

/// What a command is given.
pub(super) struct Call<'a, 'b> {
    pub(super) request: &'a Request<'a>,
    pub(super) out: &'b mut Vec<u8>,
    pub(super) context: &'a Context<'a>,
}

impl Call<'_, '_> {
    pub(super) fn reply(&mut self) -> Reply<'_> {
        Reply(self.out)
    }
}

type Run = fn(&mut Session, &mut Call<'_, '_>) -> Outcome;

/// A command: its name, how many words it has (negative: the minimum), where its keys are, and what it does.
pub(super) struct Command {
    pub(super) name: &'static str,
    pub(super) arity: i64,
    /// The first and the last key, counted from 1 and from the end, and the step between them; zeros for none.
    pub(super) keys: [i64; 3],
    pub(super) is_write: bool,
    run: Run,
}

const fn command(name: &'static str, arity: i64, keys: [i64; 3], is_write: bool, run: Run) -> Command {
    Command {
        name,
        arity,
        keys,
        is_write,
        run,
    }
}

const ONE_KEY: [i64; 3] = [1, 1, 1];
const ALL_KEYS: [i64; 3] = [1, -1, 1];
const NO_KEY: [i64; 3] = [0, 0, 0];

/// All of them, by name.
pub(super) static COMMANDS: [Command; 38] = [
    command("append", 3, ONE_KEY, true, strings::append),
    command("auth", -2, NO_KEY, false, about::auth),
    command("client", -2, NO_KEY, false, about::client),
    command("command", -1, NO_KEY, false, about::command),
    command("dbsize", 1, NO_KEY, false, about::dbsize),
    command("decr", 2, ONE_KEY, true, numbers::decr),
    command("decrby", 3, ONE_KEY, true, numbers::decrby),
    command("del", -2, ALL_KEYS, true, strings::del),
    command("discard", 1, NO_KEY, false, transaction::discard),
    command("echo", 2, NO_KEY, false, about::echo),
    command("exec", 1, NO_KEY, false, transaction::exec),
    command("exists", -2, ALL_KEYS, false, strings::exists),
    command("expire", -3, ONE_KEY, true, expiry::expire),
    command("flushall", -1, NO_KEY, true, about::flushall),
    command("flushdb", -1, NO_KEY, true, about::flushall),
    command("get", 2, ONE_KEY, false, strings::get),
    command("getdel", 2, ONE_KEY, true, strings::getdel),
    command("getex", -2, ONE_KEY, true, strings::getex),
    command("hello", -1, NO_KEY, false, about::hello),
    command("incr", 2, ONE_KEY, true, numbers::incr),
    command("incrby", 3, ONE_KEY, true, numbers::incrby),
    command("info", -1, NO_KEY, false, about::info),
    command("mget", -2, ALL_KEYS, false, strings::mget),
    command("mset", -3, [1, -1, 2], true, strings::mset),
    command("multi", 1, NO_KEY, false, transaction::multi),
    command("persist", 2, ONE_KEY, true, expiry::persist),
    command("pexpire", -3, ONE_KEY, true, expiry::pexpire),
    command("ping", -1, NO_KEY, false, about::ping),
    command("psetex", 4, ONE_KEY, true, strings::psetex),
    command("pttl", 2, ONE_KEY, false, expiry::pttl),
    command("quit", -1, NO_KEY, false, about::quit),
    command("select", 2, NO_KEY, false, about::select),
    command("set", -3, ONE_KEY, true, strings::set),
    command("setex", 4, ONE_KEY, true, strings::setex),
    command("setnx", 3, ONE_KEY, true, strings::setnx),
    command("strlen", 2, ONE_KEY, false, strings::strlen),
    command("ttl", 2, ONE_KEY, false, expiry::ttl),
    command("unlink", -2, ALL_KEYS, true, strings::del),
];

/// The command with this name, whatever its case.
pub(super) fn named(name: &[u8]) -> Option<&'static Command> {
    let mut lower = [0; 16];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let found = COMMANDS.binary_search_by(|command| command.name.as_bytes().cmp(lower));
    found.ok().map(|at| &COMMANDS[at])
}

/// The command, if there is such a one and it has as many words as it should; else that is answered.
pub(super) fn checked(request: &Request<'_>, out: &mut Vec<u8>) -> Option<&'static Command> {
    let Some(command) = named(request.get(0)) else {
        let shown = shown(request.get(0));
        Reply(out).error(&format!("ERR unknown command '{shown}'"));
        return None;
    };
    let words = request.len() as i64;
    let fits = if command.arity < 0 {
        words >= -command.arity
    } else {
        words == command.arity
    };
    if !fits {
        refuse_count(&mut Reply(out), command.name);
    }
    fits.then_some(command)
}

/// Gives the command, if there is such a one, it has as many words as it should, and the client may.
pub(super) fn run(
    session: &mut Session,
    request: &Request<'_>,
    out: &mut Vec<u8>,
    context: &Context<'_>,
) -> Outcome {
    let Some(command) = checked(request, out) else {
        return Outcome::Answered;
    };
    let mut call = Call {
        request,
        out,
        context,
    };
    if !session.is_known && !matches!(command.name, "auth" | "hello" | "quit") {
        call.reply().error("NOAUTH log in first, with AUTH or HELLO");
        return Outcome::Answered;
    }
    (command.run)(session, &mut call)
}

pub(super) fn wrong_count(call: &mut Call<'_, '_>, name: &str) {
    refuse_count(&mut call.reply(), name);
}

fn refuse_count(reply: &mut Reply<'_>, name: &str) {
    reply.error(&format!("ERR wrong number of arguments for '{name}' command"));
}

/// A client's word as an error may show it.
pub(super) fn shown(word: &[u8]) -> String {
    String::from_utf8_lossy(&word[..word.len().min(64)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_name_in_any_case() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
        for command in &COMMANDS {
            let upper = command.name.to_ascii_uppercase();
            assert_eq!(
                named(upper.as_bytes()).map(|found| found.name),
                Some(command.name)
            );
        }
        for unknown in [&b""[..], b"ge", b"gett", b"a name that is far too long", b"\xFF"] {
            assert!(named(unknown).is_none());
        }
    }
}
