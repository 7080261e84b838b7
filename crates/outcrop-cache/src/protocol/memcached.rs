//! memcached's text protocol, classic and meta, with memcached's own replies.
//!
//! *Source*: memcached's doc/protocol.txt; where that is silent, what memcached 1.6.45 answers.

mod arithmetic;
mod line;
mod login;
mod meta;
mod retrieve;
mod stats;
mod storage;

pub(crate) use line::is_http;

use super::{Context, Step};
use crate::login::Attempts;
use line::{
    BAD_EXPTIME, BAD_FORMAT, ERROR, Tokens, has_http_version, is_key, is_noreply, natural, reply, seconds,
};

/// A line this long that does not begin with `get` or `gets` ends the connection.
const LONG_LINE_BYTES: usize = 2048;
/// The shortest command with its end.
const SHORTEST_LINE_BYTES: usize = 4;
/// Keys of a pipeline whose items are fetched from memory together.
const AHEAD_KEYS: usize = 16;

/// The state of a connection between its commands.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Bytes of a refused value still to be thrown away.
    swallow_bytes: u64,
    /// What is answered when they are.
    swallowed_reply: &'static [u8],
    /// How far into the line of a `get` its keys are answered.
    answered_bytes: usize,
    /// Bytes of the input whose keys were looked at ahead.
    ahead_bytes: usize,
    /// The client has logged in, or need not.
    is_known: bool,
    attempts: Attempts,
    /// The longest line that is read.
    line_limit_bytes: usize,
}

/// One command: its line, its words, and what came behind the line.
struct Command<'a> {
    line: &'a [u8],
    /// Bytes of the line with its end.
    line_bytes: usize,
    input: &'a [u8],
    tokens: Tokens<'a>,
}

impl Session {
    pub(crate) fn new(line_limit_bytes: usize) -> Self {
        Self {
            line_limit_bytes,
            ..Self::default()
        }
    }

    /// True while a refused value is still to come.
    pub(crate) const fn is_amid(&self) -> bool {
        self.swallow_bytes > 0
    }

    /// Deals with the next command of `input`, which is not empty.
    pub(crate) fn step(&mut self, input: &[u8], out: &mut Vec<u8>, context: &Context<'_>) -> Step {
        if self.swallow_bytes > 0 {
            return self.swallow(input, out);
        }
        if self.ahead_bytes == 0 {
            self.look_ahead(input, context);
        }
        let step = self.command(input, out, context);
        if let Step::Done { bytes, .. } = step {
            self.ahead_bytes = self.ahead_bytes.saturating_sub(bytes);
        }
        step
    }

    /// Fetches what the next gets of a pipeline will read.
    fn look_ahead(&mut self, input: &[u8], context: &Context<'_>) {
        let (mut hashes, mut count) = ([0; AHEAD_KEYS], 0);
        let mut rest = input;
        while let Some(behind) = rest.strip_prefix(b"get ")
            && let Some(end) = memchr::memchr(b'\n', behind)
            && count < AHEAD_KEYS
        {
            let line = &behind[..end];
            for key in line
                .strip_suffix(b"\r")
                .unwrap_or(line)
                .split(|&byte| byte == b' ')
            {
                if count < AHEAD_KEYS {
                    hashes[count] = context.store.hash(key);
                    count += 1;
                }
            }
            rest = &behind[end + 1..];
        }
        self.ahead_bytes = input.len() - rest.len();
        // One by itself gains nothing.
        if count > 1 {
            context.store.prefetch(&hashes[..count]);
        }
    }

    fn command(&mut self, input: &[u8], out: &mut Vec<u8>, context: &Context<'_>) -> Step {
        let Some(end) = memchr::memchr(b'\n', input) else {
            return self.unfinished_line(input);
        };
        let line = &input[..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if is_http(line) {
            return Step::Close;
        }
        if !self.is_known {
            if let Some(logins) = &context.service.logins {
                return self.log_in(line, input, out, logins, context);
            }
            self.is_known = true;
        }
        if line.starts_with(b"get ") {
            return self.get(line, end + 1, 4, out, context, false);
        }
        if line.starts_with(b"gets ") {
            return self.get(line, end + 1, 5, out, context, true);
        }
        let command = Command {
            line,
            line_bytes: end + 1,
            input,
            tokens: Tokens::of(line),
        };
        self.dispatch(&command, out, context)
    }

    fn unfinished_line(&self, input: &[u8]) -> Step {
        let start = input.iter().take(100).take_while(|&&byte| byte == b' ').count();
        let is_get = input[start..].starts_with(b"get ") || input[start..].starts_with(b"gets ");
        let most = if is_get {
            self.line_limit_bytes
        } else {
            self.line_limit_bytes.min(LONG_LINE_BYTES + 1)
        };
        if input.len() >= most {
            return Step::Close;
        }
        Step::Line(most)
    }

    /// Throws `bytes` of a value away, then answers.
    fn swallow_later(&mut self, bytes: u64, reply: &'static [u8]) {
        self.swallow_bytes = bytes;
        self.swallowed_reply = reply;
    }

    fn swallow(&mut self, input: &[u8], out: &mut Vec<u8>) -> Step {
        let bytes = (input.len() as u64).min(self.swallow_bytes);
        self.swallow_bytes -= bytes;
        if self.swallow_bytes == 0 {
            out.extend_from_slice(self.swallowed_reply);
        }
        Step::Done {
            bytes: bytes as usize,
            is_complete: self.swallow_bytes == 0,
        }
    }

    fn dispatch(&mut self, command: &Command<'_>, out: &mut Vec<u8>, context: &Context<'_>) -> Step {
        let tokens = &command.tokens;
        // As memcached: no command is so short, and one behind a blank is none.
        if command.line_bytes < SHORTEST_LINE_BYTES {
            out.extend_from_slice(BAD_FORMAT);
            return Step::command(command.line_bytes);
        }
        if command.line.first() == Some(&b' ') {
            out.extend_from_slice(ERROR);
            return Step::command(command.line_bytes);
        }
        match tokens.get(0) {
            b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => {
                return self.store(command, out, context);
            }
            b"gat" | b"gats" => return self.get_and_touch(command, out, context),
            b"mg" | b"ms" | b"md" | b"ma" | b"me" | b"mn" => return self.meta(command, out, context),
            b"quit" => return Step::Close,
            b"get" | b"gets" => out.extend_from_slice(BAD_FORMAT),
            b"delete" => delete(tokens, out, context),
            b"incr" => arithmetic::change(tokens, out, context, true),
            b"decr" => arithmetic::change(tokens, out, context, false),
            b"touch" => touch(tokens, out, context),
            b"flush_all" => flush_all(tokens, out, context),
            b"version" => {
                out.extend_from_slice(b"VERSION ");
                out.extend_from_slice(stats::VERSION.as_bytes());
                out.extend_from_slice(b"\r\n");
            }
            b"stats" => stats::stats(tokens, out, context),
            b"verbosity" => verbosity(tokens, out),
            b"watch" => out.extend_from_slice(b"CLIENT_ERROR watch commands not allowed\r\n"),
            b"shutdown" => out.extend_from_slice(b"SERVER_ERROR: shutdown not enabled\r\n"),
            // Of an HTTP request with a method that no page in a browser can send by itself; memcached ends these, too.
            _ if has_http_version(command.line) => return Step::Close,
            _ => out.extend_from_slice(ERROR),
        }
        Step::command(command.line_bytes)
    }
}

fn delete(tokens: &Tokens<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    // memcached 1.6.45 passes over whatever else is there; a time and `noreply` are what clients have ever sent.
    if !(2..=4).contains(&tokens.len()) {
        return out.extend_from_slice(BAD_FORMAT);
    }
    let is_quiet = is_noreply(tokens);
    let key = tokens.get(1);
    if !is_key(key) {
        return reply(out, is_quiet, BAD_FORMAT);
    }
    if context.store.slot(key, context.now.second).remove() {
        context.counters.delete_hits.add(1);
        reply(out, is_quiet, b"DELETED\r\n");
    } else {
        context.counters.delete_misses.add(1);
        reply(out, is_quiet, b"NOT_FOUND\r\n");
    }
}

fn touch(tokens: &Tokens<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    if tokens.len() < 3 {
        return out.extend_from_slice(BAD_FORMAT);
    }
    let is_quiet = is_noreply(tokens);
    let key = tokens.get(1);
    if !is_key(key) {
        return reply(out, is_quiet, BAD_FORMAT);
    }
    let Some(given) = seconds(tokens.get(2)) else {
        return reply(out, is_quiet, BAD_EXPTIME);
    };
    context.counters.touches.add(1);
    let mut slot = context.store.slot(key, context.now.second);
    match slot.set_expiry(context.now.expiry(given)) {
        Ok(true) => {
            // It was asked for, as far as the policy is concerned.
            slot.read();
            context.counters.touch_hits.add(1);
            reply(out, is_quiet, b"TOUCHED\r\n");
        }
        Ok(false) => {
            context.counters.touch_misses.add(1);
            reply(out, is_quiet, b"NOT_FOUND\r\n");
        }
        Err(refusal) => reply(out, is_quiet, storage::refused(refusal, context)),
    }
}

fn flush_all(tokens: &Tokens<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    let is_quiet = is_noreply(tokens);
    context.counters.flushes.add(1);
    let mut at = context.now.second;
    if tokens.len() != 1 + usize::from(is_quiet) {
        let Some(given) = seconds(tokens.get(1)) else {
            return reply(out, is_quiet, BAD_EXPTIME);
        };
        at = if given > 0 { context.now.expiry(given) } else { at };
    }
    context.store.clear(at, context.now.second);
    reply(out, is_quiet, b"OK\r\n");
}

fn verbosity(tokens: &Tokens<'_>, out: &mut Vec<u8>) {
    let is_quiet = is_noreply(tokens);
    let level = natural(tokens.get(1)).is_some_and(|level| u32::try_from(level).is_ok());
    reply(out, is_quiet, if level { b"OK\r\n" } else { BAD_FORMAT });
}
