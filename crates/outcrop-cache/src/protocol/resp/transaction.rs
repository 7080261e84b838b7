//! `MULTI`, `EXEC`, `DISCARD`: requests of one client that are kept, and run one after the other.
//!
//! All of them run, or none; between two of them another client's may come, as between the pairs of an `MSET`.

use super::commands::{Call, Outcome, checked, run};
use super::reply::Reply;
use super::request::{Parsed, Request, parse};
use super::{MOST_ARGUMENTS, SLACK_BYTES, Session};
use crate::protocol::{Context, REPLY_BATCH_BYTES};

/// Requests since a `MULTI`.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    /// As they came.
    requests: Vec<u8>,
    count: usize,
    /// One of them was none, so none is to run.
    is_broken: bool,
    /// Bytes of those that have run, once `EXEC` has come.
    done: Option<usize>,
}

impl Transaction {
    pub(super) const fn held_bytes(&self) -> usize {
        self.requests.capacity()
    }

    /// No request of it is to run: one that belongs to it was refused.
    pub(super) fn refuse(&mut self) {
        self.requests = Vec::new();
        self.is_broken = true;
    }
}

/// Keeps a request that comes between `MULTI` and `EXEC`, and answers that. False for what is run at once.
pub(super) fn keeps(
    session: &mut Session,
    (request, bytes): (&Request<'_>, &[u8]),
    out: &mut Vec<u8>,
    context: &Context<'_>,
) -> bool {
    let Some(transaction) = &mut session.transaction else {
        return false;
    };
    let name = request.get(0);
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    if ["multi", "exec", "discard", "quit"].into_iter().any(is) {
        return false;
    }
    let most = context.store.max_item_bytes() + SLACK_BYTES;
    if is("auth") || is("hello") {
        Reply(out).error("ERR AUTH and HELLO are not allowed in a transaction");
        transaction.refuse();
    } else if checked(request, out).is_none() {
        transaction.refuse();
    } else if transaction.requests.len() + bytes.len() > most {
        Reply(out).error("ERR the transaction is larger than an item may be; see --max-item");
        transaction.refuse();
    } else {
        if !transaction.is_broken {
            transaction.requests.extend_from_slice(bytes);
            transaction.count += 1;
        }
        Reply(out).simple("QUEUED");
    }
    true
}

pub(super) fn multi(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    if session.transaction.is_some() {
        call.reply().error("ERR MULTI within a transaction");
    } else {
        session.transaction = Some(Transaction::default());
        call.reply().ok();
    }
    Outcome::Answered
}

pub(super) fn discard(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    match session.transaction.take() {
        Some(_) => call.reply().ok(),
        None => call.reply().error("ERR DISCARD without MULTI"),
    }
    Outcome::Answered
}

pub(super) fn exec(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let Some(mut transaction) = session.transaction.take() else {
        call.reply().error("ERR EXEC without MULTI");
        return Outcome::Answered;
    };
    if transaction.is_broken {
        call.reply()
            .error("EXECABORT a request of the transaction was refused, so none has run");
        return Outcome::Answered;
    }
    let mut done = transaction.done.unwrap_or_else(|| {
        call.reply().array(transaction.count);
        0
    });
    // Each was parsed when it was kept.
    while let Parsed::Complete(request, bytes) =
        parse(&transaction.requests[done..], MOST_ARGUMENTS, usize::MAX)
    {
        let outcome = run(session, &request, call.out, call.context);
        if outcome == Outcome::Answered {
            done += bytes;
        }
        let is_long = call.out.len() >= REPLY_BATCH_BYTES && done < transaction.requests.len();
        if outcome != Outcome::Answered || is_long {
            // Goes on from here when the replies are sent.
            transaction.done = Some(done);
            session.transaction = Some(transaction);
            return Outcome::Flush;
        }
    }
    Outcome::Answered
}
