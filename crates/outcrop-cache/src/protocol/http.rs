//! The HTTP interface: `GET /key`, `PUT /key/value`, `PUT /key` with a body, `DELETE /key`, `HEAD /`, `POST /reset`,
//! `GET /metrics`.
//!
//! Paths are percent-decoded, so a key may hold any byte; `metrics` is the one key that `GET` does not reach. A `Host` that
//! is a name other than localhost is refused: a page in somebody's browser could otherwise talk to a server on loopback
//! by a name of its own. *Source*: RFC 9112; parsing is httparse's.

mod metrics;

use std::net::IpAddr;

use super::{Context, Step, base64};
use crate::login::Logins;
use crate::store::{Draft, MAX_KEY_BYTES, Refusal};

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
}

/// What the head of a request says.
struct Head<'a> {
    method: &'a str,
    path: &'a str,
    body_bytes: u64,
    keeps_alive: bool,
    expects_continue: bool,
    authorization: Option<&'a [u8]>,
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
            return Step::Done {
                bytes: bytes as usize,
                is_complete: self.swallow_bytes == 0,
            };
        }
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let head_bytes = match request.parse(input) {
            Ok(httparse::Status::Complete(bytes)) => bytes,
            Ok(httparse::Status::Partial) if input.len() < MAX_HEAD_BYTES => {
                return Step::More(input.len() + 1);
            }
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return end(out, "431 Request Header Fields Too Large");
            }
            Err(_) => return end(out, "400 Bad Request"),
        };
        match Head::of(&request) {
            Ok(head) if !is_admitted(&head, context) => {
                let asking = Answer {
                    header: "\r\nWWW-Authenticate: Basic realm=\"outcrop\"".to_owned(),
                    ..Answer::plain("401 Unauthorized")
                };
                asking.write(out, head.method != "HEAD", false);
                Step::Close
            }
            Ok(head) => self.answer(&head, input, head_bytes, out, context),
            Err(status) => end(out, status),
        }
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
            Answer::plain("413 Content Too Large").write(out, head.method != "HEAD", head.keeps_alive);
            self.swallow_bytes = head.body_bytes;
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

/// True for a client that may use the server, by name and password (`Basic`) or by a password alone (`Bearer`).
fn is_admitted(head: &Head<'_>, context: &Context<'_>) -> bool {
    let Some(logins) = &context.service.logins else {
        return true;
    };
    context.counters.auth_cmds.add(1);
    let is_admitted = head.authorization.is_some_and(|given| knows(logins, given));
    context.counters.auth_errors.add(u64::from(!is_admitted));
    is_admitted
}

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

impl<'a> Head<'a> {
    fn of(request: &httparse::Request<'_, 'a>) -> Result<Self, &'static str> {
        let is_1_1 = request.version == Some(1);
        let mut head = Self {
            method: request.method.unwrap_or_default(),
            path: request.path.unwrap_or_default(),
            body_bytes: 0,
            keeps_alive: is_1_1,
            expects_continue: false,
            authorization: None,
        };
        let (mut hosts, mut lengths) = (0, 0);
        for header in request.headers.iter() {
            let value = header.value.trim_ascii();
            if header.name.eq_ignore_ascii_case("host") {
                hosts += 1;
                if !is_safe_host(value) {
                    return Err("421 Misdirected Request");
                }
            } else if header.name.eq_ignore_ascii_case("content-length") {
                lengths += 1;
                let digits = std::str::from_utf8(value)
                    .ok()
                    .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                head.body_bytes = digits
                    .and_then(|digits| digits.parse().ok())
                    .ok_or("400 Bad Request")?;
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                return Err("411 Length Required");
            } else if header.name.eq_ignore_ascii_case("connection") {
                let has = |word: &[u8]| {
                    value
                        .split(|&byte| byte == b',')
                        .any(|one| one.trim_ascii().eq_ignore_ascii_case(word))
                };
                head.keeps_alive = !has(b"close") && (is_1_1 || has(b"keep-alive"));
            } else if header.name.eq_ignore_ascii_case("authorization") {
                head.authorization = Some(value);
            } else if header.name.eq_ignore_ascii_case("expect") {
                head.expects_continue = value.eq_ignore_ascii_case(b"100-continue");
            }
        }
        if hosts > 1 || lengths > 1 || is_1_1 && hosts == 0 {
            return Err("400 Bad Request");
        }
        Ok(head)
    }
}

/// True for localhost and for addresses, with or without a port.
fn is_safe_host(host: &[u8]) -> bool {
    let Ok(host) = std::str::from_utf8(host) else {
        return false;
    };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
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
    fn only_addresses_and_localhost_are_safe_hosts() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1",
            "127.0.0.1:8080",
            "[::1]",
            "[::1]:80",
            "192.168.0.7:80",
        ] {
            assert!(is_safe_host(host.as_bytes()), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:80",
            "[evil]",
            "127.0.0.1.evil.example",
            "\u{7f}",
        ] {
            assert!(!is_safe_host(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn percent_signs_are_decoded_or_refused() {
        assert_eq!(percent_decoded("a%2Fb%00%ff").as_deref(), Some(&b"a/b\0\xFF"[..]));
        for wrong in ["%", "%2", "%zz", "a%2"] {
            assert_eq!(percent_decoded(wrong), None, "{wrong}");
        }
    }
}
