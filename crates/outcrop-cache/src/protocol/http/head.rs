//! The head of a request: what it asks for, how long its body is, and whether it may be trusted to come from who uses
//! this machine, not from a page in that user's browser.

use std::net::IpAddr;

/// What the head of a request says.
#[derive(Debug)]
pub(super) struct Head<'a> {
    pub(super) method: &'a str,
    /// The target without scheme and authority.
    pub(super) path: &'a str,
    pub(super) body_bytes: u64,
    pub(super) keeps_alive: bool,
    pub(super) expects_continue: bool,
    pub(super) authorization: Option<&'a [u8]>,
    /// A browser says that another site asks.
    pub(super) is_foreign: bool,
}

/// Headers of which there may be one at most, and what only all of them together say.
#[derive(Default)]
struct Seen<'a> {
    hosts: usize,
    lengths: usize,
    host: &'a [u8],
}

impl<'a> Head<'a> {
    /// # Errors
    /// The status of what cannot be understood or trusted.
    pub(super) fn of(request: &httparse::Request<'_, 'a>) -> Result<Self, &'static str> {
        let is_1_1 = request.version == Some(1);
        let target = request.path.unwrap_or_default();
        let (authority, path) = split_target(target);
        if authority.is_some_and(|host| !is_safe_host(host.as_bytes())) {
            return Err("421 Misdirected Request");
        }
        let mut head = Self {
            method: request.method.unwrap_or_default(),
            path,
            body_bytes: 0,
            keeps_alive: is_1_1,
            expects_continue: false,
            authorization: None,
            is_foreign: false,
        };
        let mut seen = Seen::default();
        for header in request.headers.iter() {
            head.read(header, is_1_1, &mut seen)?;
        }
        if seen.hosts > 1 || seen.lengths > 1 || is_1_1 && seen.hosts == 0 {
            return Err("400 Bad Request");
        }
        let host = authority.map_or(seen.host, str::as_bytes);
        let is_own = |origin: &[u8]| {
            let rest = origin
                .strip_prefix(b"http://")
                .or(origin.strip_prefix(b"https://"));
            rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
        };
        let is_same_site = |site: &[u8]| site == b"none" || site == b"same-origin";
        // Of several, one is enough.
        head.is_foreign = request.headers.iter().any(|header| {
            let value = header.value.trim_ascii();
            match header.name {
                name if name.eq_ignore_ascii_case("origin") => !is_own(value),
                name if name.eq_ignore_ascii_case("sec-fetch-site") => !is_same_site(value),
                _ => false,
            }
        });
        Ok(head)
    }

    fn read(
        &mut self,
        header: &httparse::Header<'a>,
        is_1_1: bool,
        seen: &mut Seen<'a>,
    ) -> Result<(), &'static str> {
        let value = header.value.trim_ascii();
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("host") {
            (seen.hosts, seen.host) = (seen.hosts + 1, value);
            if !is_safe_host(value) {
                return Err("421 Misdirected Request");
            }
        } else if is("content-length") {
            seen.lengths += 1;
            let digits = std::str::from_utf8(value)
                .ok()
                .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            self.body_bytes = digits
                .and_then(|digits| digits.parse().ok())
                .ok_or("400 Bad Request")?;
        } else if is("transfer-encoding") {
            return Err("411 Length Required");
        } else if is("connection") {
            let has = |word: &[u8]| {
                value
                    .split(|&byte| byte == b',')
                    .any(|one| one.trim_ascii().eq_ignore_ascii_case(word))
            };
            self.keeps_alive = !has(b"close") && (is_1_1 || has(b"keep-alive"));
        } else if is("authorization") {
            self.authorization = Some(value);
        } else if is("expect") {
            self.expects_continue = value.eq_ignore_ascii_case(b"100-continue");
        }
        Ok(())
    }
}

/// The authority of an absolute target, and the path of any. *Source*: RFC 9112, 3.2.2.
fn split_target(target: &str) -> (Option<&str>, &str) {
    let has_scheme = |scheme: &str| {
        let start = target.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let Some(scheme) = ["http://", "https://"]
        .into_iter()
        .find(|scheme| has_scheme(scheme))
    else {
        return (None, target);
    };
    let rest = &target[scheme.len()..];
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let path = &rest[end..];
    (Some(&rest[..end]), if path.is_empty() { "/" } else { path })
}

/// True for localhost and for addresses, with or without a port, and for nothing else.
fn is_safe_host(host: &[u8]) -> bool {
    let Ok(host) = std::str::from_utf8(host) else {
        return false;
    };
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => (address, port),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| port.is_empty() || port.parse::<u16>().is_ok() && !port.starts_with('+');
    let is_v6 = host.starts_with('[');
    let is_name = match name.parse::<IpAddr>() {
        Ok(address) => address.is_ipv6() == is_v6,
        Err(_) => !is_v6 && name.eq_ignore_ascii_case("localhost"),
    };
    is_name && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
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
            "127.0.0.1:",
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
            "[::1",
            "[127.0.0.1]",
            "::1",
            "[::1]evil.example",
            "localhost:80@evil.example",
            "127.0.0.1:80:90",
            "127.0.0.1:99999",
            "127.0.0.1:+80",
            "127.0.0.1.evil.example",
            "\u{7f}",
        ] {
            assert!(!is_safe_host(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn absolute_targets_are_split_and_others_are_paths() {
        assert_eq!(split_target("/a/b"), (None, "/a/b"));
        assert_eq!(split_target("http://127.0.0.1/a"), (Some("127.0.0.1"), "/a"));
        assert_eq!(split_target("HTTPS://[::1]:80"), (Some("[::1]:80"), "/"));
        assert_eq!(split_target("http://h?x"), (Some("h"), "?x"));
        assert_eq!(split_target("é"), (None, "é"));
    }
}
