//! The HTTP interface: `GET /key`, `PUT /key/value`, `PUT /key` with a body, `DELETE /key`, `HEAD /`, `POST /reset`,
//! `GET /metrics`.
//!
//! Paths are percent-decoded, so a key may hold any byte; `metrics` is the one key that `GET` does not reach. A `Host` that
//! is a name other than localhost is refused: a page in somebody's browser could otherwise talk to a server on loopback
//! by a name of its own. A request that changes something is refused where the browser says that another site made it.
//! *Source*: RFC 9112; parsing is httparse's.

mod head;
mod metrics;

use super::{Context, Step, base64};
use crate::login::{Attempts, Logins};
use crate::store::{Draft, MAX_KEY_BYTES, Refusal};
use head::Head;

/// Longest head of a request.
const MAX_HEAD_BYTES: usize = 16 << 10;
const MAX_HEADERS: usize = 64;

/// The state of a connection between its requests.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Bytes of a refused body still to be thrown away.
    swallow_bytes: u64,
    /// The client of the request at hand was told to send its body.
    has_continued: bool,
    /// The connection ends behind the refused body.
    ends_then: bool,
    /// Somebody has logged in before.
    is_known: bool,
    attempts: Attempts,
}

/// An answer without the parts that depend on the connection.
struct Answer {
    status: &'static str,
    content_type: &'static str,
    body: Vec<u8>,
    header: String,
}

impl Answer {
    fn new(status: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            content_type: "text/plain; charset=utf-8",
            body: body.into(),
            header: String::new(),
        }
    }

    /// A status with itself as its text.
    fn plain(status: &'static str) -> Self {
        Self::new(status, format!("{status}\n"))
    }

    fn write(&self, out: &mut Vec<u8>, has_body: bool, keeps_alive: bool) {
        let mut digits = itoa::Buffer::new();
        out.extend_from_slice(b"HTTP/1.1 ");
        out.extend_from_slice(self.status.as_bytes());
        out.extend_from_slice(b"\r\nContent-Length: ");
        out.extend_from_slice(digits.format(self.body.len()).as_bytes());
        out.extend_from_slice(b"\r\nContent-Type: ");
        out.extend_from_slice(self.content_type.as_bytes());
        out.extend_from_slice(self.header.as_bytes());
        if !keeps_alive {
            out.extend_from_slice(b"\r\nConnection: close");
        }
        out.extend_from_slice(b"\r\n\r\n");
        if has_body {
            out.extend_from_slice(&self.body);
        }
    }
}

impl Session {
    /// True while a refused body is still to come.
    pub(crate) const fn is_amid(&self) -> bool {
        self.swallow_bytes > 0
    }

    /// Deals with the next request of `input`, which is not empty.
    pub(crate) fn step(&mut self, input: &[u8], out: &mut Vec<u8>, context: &Context<'_>) -> Step {
        if self.swallow_bytes > 0 {
            let bytes = (input.len() as u64).min(self.swallow_bytes);
            self.swallow_bytes -= bytes;
            if self.swallow_bytes == 0 && self.ends_then {
                return Step::Close;
            }
            return Step::Done {
                bytes: bytes as usize,
                is_complete: self.swallow_bytes == 0,
            };
        }
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let head_bytes = match request.parse(input) {
            Ok(httparse::Status::Complete(bytes)) if bytes <= MAX_HEAD_BYTES => bytes,
            Ok(httparse::Status::Partial) if input.len() < MAX_HEAD_BYTES => {
                return Step::More(input.len() + 1);
            }
            Ok(_) | Err(httparse::Error::TooManyHeaders) => {
                return end(out, "431 Request Header Fields Too Large");
            }
            Err(_) => return end(out, "400 Bad Request"),
        };
        let head = match Head::of(&request) {
            Ok(head) => head,
            Err(status) => return end(out, status),
        };
        if let Some(step) = self.refusal(&head, out, context) {
            return step;
        }
        self.answer(&head, input, head_bytes, out, context)
    }

    /// Turns away who may not ask for this.
    fn refusal(&mut self, head: &Head<'_>, out: &mut Vec<u8>, context: &Context<'_>) -> Option<Step> {
        let refuse = |out: &mut Vec<u8>, answer: &Answer| {
            answer.write(out, head.method != "HEAD", false);
            Some(Step::Close)
        };
        if head.is_foreign && !matches!(head.method, "GET" | "HEAD") {
            let sentence = "403 Forbidden: a page of another site made this request; requests that change something are not accepted from such pages\n";
            return refuse(out, &Answer::new("403 Forbidden", sentence));
        }
        let logins = context.service.logins.as_ref()?;
        let second = context.now.second;
        // Who logged in before is not made to wait for what others try.
        if head.authorization.is_some() && !self.is_known && self.attempts.must_wait(logins, second) {
            return Some(Step::Later);
        }
        context.counters.auth_cmds.add(1);
        self.is_known = head.authorization.is_some_and(|given| knows(logins, given));
        if self.is_known {
            return None;
        }
        context.counters.auth_errors.add(1);
        if head.authorization.is_some() {
            self.attempts.fail(logins, second);
        }
        let asking = Answer {
            header: "\r\nWWW-Authenticate: Basic realm=\"outcrop\"".to_owned(),
            ..Answer::plain("401 Unauthorized")
        };
        refuse(out, &asking)
    }

    fn answer(
        &mut self,
        head: &Head<'_>,
        input: &[u8],
        head_bytes: usize,
        out: &mut Vec<u8>,
        context: &Context<'_>,
    ) -> Step {
        if context.is_too_large(head.body_bytes) {
            context.counters.store_too_large.add(1);
            // Who waits to be asked for the body may never send it: the next request could be taken for it.
            let keeps_alive = head.keeps_alive && !head.expects_continue;
            Answer::plain("413 Content Too Large").write(out, head.method != "HEAD", keeps_alive);
            if head.expects_continue && input.len() == head_bytes {
                return Step::Close;
            }
            (self.swallow_bytes, self.ends_then) = (head.body_bytes, !keeps_alive);
            return Step::Done {
                bytes: head_bytes,
                is_complete: false,
            };
        }
        let all = head_bytes + head.body_bytes as usize;
        let Some(body) = input.get(head_bytes..all) else {
            if head.expects_continue && !self.has_continued {
                self.has_continued = true;
                out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            return Step::More(all);
        };
        self.has_continued = false;
        let answer = respond(head, body, context);
        answer.write(out, head.method != "HEAD", head.keeps_alive);
        if head.keeps_alive {
            Step::command(all)
        } else {
            Step::Close
        }
    }
}

/// True for a name and its password (`Basic`), or for a password alone (`Bearer`).
fn knows(logins: &Logins, authorization: &[u8]) -> bool {
    let space = memchr::memchr(b' ', authorization).unwrap_or(authorization.len());
    let (scheme, token) = authorization.split_at(space);
    let token = token.trim_ascii();
    if scheme.eq_ignore_ascii_case(b"bearer") {
        return logins.admit_token(token);
    }
    let pair = base64::decode(token).filter(|_| scheme.eq_ignore_ascii_case(b"basic"));
    pair.is_some_and(|pair| {
        let colon = memchr::memchr(b':', &pair).unwrap_or(pair.len());
        logins.admit(&pair[..colon], pair.get(colon + 1..).unwrap_or_default())
    })
}

/// Answers what cannot be understood, and ends: where the next request begins is anybody's guess.
fn end(out: &mut Vec<u8>, status: &'static str) -> Step {
    Answer::plain(status).write(out, true, false);
    Step::Close
}

fn respond(head: &Head<'_>, body: &[u8], context: &Context<'_>) -> Answer {
    let path = head.path.split('?').next().unwrap_or_default();
    match (head.method, path) {
        ("HEAD", "/") => space_used(context),
        ("POST", "/reset") => {
            context.counters.flushes.add(1);
            context.store.clear(context.now.second, context.now.second);
            Answer::plain("200 OK")
        }
        ("GET", "/metrics") => Answer {
            content_type: "text/plain; version=0.0.4; charset=utf-8",
            ..Answer::new("200 OK", metrics::exposition(context))
        },
        ("GET" | "HEAD" | "PUT" | "DELETE", _) => keyed(head.method, path, body, context),
        _ => Answer {
            header: "\r\nAllow: GET, HEAD, PUT, DELETE, POST".to_owned(),
            ..Answer::plain("405 Method Not Allowed")
        },
    }
}

/// `HEAD /`: what items take.
fn space_used(context: &Context<'_>) -> Answer {
    let report = context.store.report();
    Answer {
        header: format!(
            "\r\nSpace-Used: {}\r\nItems: {}\r\nMemory-Limit: {}",
            report.item_bytes, report.items, context.service.memory_bytes
        ),
        ..Answer::new("200 OK", Vec::new())
    }
}

fn keyed(method: &str, path: &str, body: &[u8], context: &Context<'_>) -> Answer {
    let mut parts = path.trim_start_matches('/').splitn(2, '/').map(percent_decoded);
    let (Some(Some(key)), value) = (parts.next(), parts.next()) else {
        return Answer::plain("400 Bad Request");
    };
    if key.is_empty() || key.len() > MAX_KEY_BYTES || matches!(value, Some(None)) {
        return Answer::new("400 Bad Request", "a key of 1 to 250 bytes is expected\n");
    }
    let counters = context.counters;
    let mut slot = context.store.slot(&key, context.now.second);
    match (method, value.flatten()) {
        ("PUT", value) => {
            counters.sets.add(1);
            let draft = Draft {
                value: value.as_deref().unwrap_or(body),
                ..Draft::default()
            };
            match slot.put(draft) {
                Ok(()) => Answer::plain("200 OK"),
                Err(Refusal::TooLarge) => Answer::plain("413 Content Too Large"),
                Err(Refusal::NoRoom) => Answer::plain("507 Insufficient Storage"),
            }
        }
        (_, Some(_)) => Answer::plain("404 Not Found"),
        ("DELETE", None) => {
            let was_there = slot.remove();
            let counter = if was_there {
                &counters.delete_hits
            } else {
                &counters.delete_misses
            };
            counter.add(1);
            Answer::plain(if was_there { "200 OK" } else { "404 Not Found" })
        }
        (_, None) => {
            counters.gets.add(1);
            let Some(item) = slot.read() else {
                counters.get_misses.add(1);
                return Answer::plain("404 Not Found");
            };
            counters.get_hits.add(1);
            Answer {
                content_type: "application/octet-stream",
                ..Answer::new("200 OK", item.value)
            }
        }
    }
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            (digit()? << 4 | digit()?) as u8
        } else {
            byte
        });
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_are_decoded_or_refused() {
        assert_eq!(percent_decoded("a%2Fb%00%ff").as_deref(), Some(&b"a/b\0\xFF"[..]));
        for wrong in ["%", "%2", "%zz", "a%2"] {
            assert_eq!(percent_decoded(wrong), None, "{wrong}");
        }
    }
}
