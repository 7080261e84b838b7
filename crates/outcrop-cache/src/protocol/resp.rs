//! RESP, Redis's protocol, for what a cache does: strings with expiry, and what clients ask about a server.
//!
//! Requests are arrays of strings, or lines. *Source*: redis.io, "Redis serialization protocol specification", RESP2 and RESP3.

mod about;
mod commands;
mod expiry;
mod numbers;
mod reply;
mod request;
mod strings;
mod transaction;

use super::{Context, Step};
use crate::login::Attempts;
use reply::Reply;
use request::{Parsed, Request};
use transaction::Transaction;

/// Arguments of one request; more are a mistake.
const MOST_ARGUMENTS: usize = 16 << 10;
/// What a stranger may send before logging in.
const MOST_ARGUMENTS_OF_A_STRANGER: usize = 8;
const MOST_BYTES_OF_A_STRANGER: usize = 4 << 10;
/// What a request may have beside its longest value.
const SLACK_BYTES: usize = 64 << 10;

/// The state of a connection between its commands.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The client speaks RESP3: it asked for it with `HELLO 3`.
    is_version_3: bool,
    /// The client has logged in, or need not.
    is_known: bool,
    attempts: Attempts,
    /// Arguments of a request that is too large, still to be thrown away.
    discard: Option<Discard>,
    /// Keys of an `MGET` that are answered, with replies that had to be sent first.
    answered: usize,
    /// What the client calls itself.
    name: Vec<u8>,
    /// What `CLIENT ID` says; 0 until it is asked for.
    id: u64,
    /// Requests that wait for their `EXEC`.
    transaction: Option<Transaction>,
}

/// The rest of a refused request.
#[derive(Clone, Copy, Debug)]
struct Discard {
    /// Bytes of the argument at hand, with its end.
    bytes: u64,
    /// Arguments behind it.
    arguments: usize,
    /// What is answered once all has come.
    why: &'static str,
}

impl Session {
    /// True while a refused request is still to come.
    pub(crate) const fn is_amid(&self) -> bool {
        self.discard.is_some()
    }

    /// Memory that it keeps between requests.
    pub(crate) fn held_bytes(&self) -> usize {
        self.transaction.as_ref().map_or(0, Transaction::held_bytes)
    }

    /// Deals with the next command of `input`, which is not empty.
    pub(crate) fn step(&mut self, input: &[u8], out: &mut Vec<u8>, context: &Context<'_>) -> Step {
        if let Some(discard) = self.discard {
            return self.throw_away(discard, input, out);
        }
        self.is_known |= context.service.logins.is_none();
        let (most_arguments, most_bytes) = if self.is_known {
            (MOST_ARGUMENTS, context.store.max_item_bytes() + SLACK_BYTES)
        } else {
            (MOST_ARGUMENTS_OF_A_STRANGER, MOST_BYTES_OF_A_STRANGER)
        };
        match request::parse(input, most_arguments, most_bytes) {
            Parsed::Complete(request, bytes) => self.command(&request, &input[..bytes], out, context),
            Parsed::More(needed) => Step::More(needed),
            Parsed::Nothing(bytes) => Step::command(bytes),
            Parsed::TooLarge {
                start,
                bytes,
                arguments,
                why,
            } if self.is_known => {
                context.counters.store_too_large.add(1);
                if let Some(transaction) = &mut self.transaction {
                    transaction.refuse();
                }
                self.discard = Some(Discard {
                    bytes,
                    arguments,
                    why,
                });
                Step::Done {
                    bytes: start,
                    is_complete: false,
                }
            }
            Parsed::TooLarge { .. } => {
                Reply(out).error("ERR Protocol error: too large a request before logging in");
                Step::Close
            }
            Parsed::Wrong(sentence) => {
                Reply(out).error(sentence);
                Step::Close
            }
            // A page in somebody's browser sends commands in the body of its request.
            Parsed::Http => Step::Close,
        }
    }

    fn command(
        &mut self,
        request: &Request<'_>,
        bytes: &[u8],
        out: &mut Vec<u8>,
        context: &Context<'_>,
    ) -> Step {
        if transaction::keeps(self, (request, bytes), out, context) {
            return Step::command(bytes.len());
        }
        match commands::run(self, request, out, context) {
            commands::Outcome::Answered => Step::command(bytes.len()),
            commands::Outcome::Flush => Step::Flush,
            commands::Outcome::Later => Step::Later,
            commands::Outcome::Close => Step::Close,
        }
    }

    /// Throws away what is there of a refused request, then answers it.
    fn throw_away(&mut self, discard: Discard, input: &[u8], out: &mut Vec<u8>) -> Step {
        let Discard {
            bytes,
            arguments,
            why,
        } = discard;
        let done = |bytes, is_complete| Step::Done { bytes, is_complete };
        if bytes > 0 {
            let here = bytes.min(input.len() as u64);
            self.discard = Some(Discard {
                bytes: bytes - here,
                arguments,
                why,
            });
            if bytes > here || arguments > 0 {
                return done(here as usize, false);
            }
            self.discard = None;
            Reply(out).error(why);
            return done(here as usize, true);
        }
        match request::argument_length(input) {
            Some(Ok((line_bytes, length))) => {
                self.discard = Some(Discard {
                    bytes: length + 2,
                    arguments: arguments.saturating_sub(1),
                    why,
                });
                done(line_bytes, false)
            }
            None => Step::More(input.len() + 1),
            Some(Err(sentence)) => {
                Reply(out).error(sentence);
                Step::Close
            }
        }
    }
}
