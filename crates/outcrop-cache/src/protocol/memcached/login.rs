//! Logging in: a `set` of any key, with name and password as its value, before everything else.
//!
//! *Source*: memcached's doc/protocol.txt, "Authentication".

use super::Session;
use super::line::{BAD_CHUNK, Tokens, natural};
use crate::login::Logins;
use crate::protocol::{Context, Step};

const UNKNOWN: &[u8] = b"CLIENT_ERROR unauthenticated\r\n";
const REFUSED: &[u8] = b"CLIENT_ERROR authentication failure\r\n";
/// Longer values are no password: nothing is kept for a stranger.
const MOST_BYTES: u64 = 1024;

impl Session {
    /// Deals with the first line of `input`, from a client that has not logged in.
    pub(super) fn log_in(
        &mut self,
        line: &[u8],
        input: &[u8],
        out: &mut Vec<u8>,
        logins: &Logins,
        context: &Context<'_>,
    ) -> Step {
        let counters = context.counters;
        let tokens = Tokens::of(line);
        let line_bytes = memchr::memchr(b'\n', input).map_or(input.len(), |end| end + 1);
        let length = natural(tokens.get(4)).filter(|_| tokens.get(0) == b"set");
        let Some(length) = length else {
            out.extend_from_slice(UNKNOWN);
            return Step::command(line_bytes);
        };
        if length > MOST_BYTES {
            out.extend_from_slice(UNKNOWN);
            return Step::Close;
        }
        let end = line_bytes + length as usize + 2;
        let Some(chunk) = input.get(line_bytes..end) else {
            return Step::More(end);
        };
        let Some(value) = chunk.strip_suffix(b"\r\n") else {
            out.extend_from_slice(BAD_CHUNK);
            return Step::command(end);
        };
        if self.attempts.must_wait(logins, context.now.second) {
            return Step::Later;
        }
        let space = memchr::memchr(b' ', value).unwrap_or(value.len());
        counters.auth_cmds.add(1);
        self.is_known = logins.admit(&value[..space], value.get(space + 1..).unwrap_or_default());
        if self.is_known {
            out.extend_from_slice(b"STORED\r\n");
        } else {
            counters.auth_errors.add(1);
            out.extend_from_slice(REFUSED);
            if self.attempts.fail(logins, context.now.second) {
                return Step::Close;
            }
        }
        Step::command(end)
    }
}
