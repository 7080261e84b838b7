//! Which protocols there are, and which keys all of them can carry.

/// How a cache is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// memcached's text protocol.
    Memcached,
    /// Redis's RESP, version 2.
    Redis,
    /// `GET /key`, `PUT /key` with a body, `DELETE /key`.
    Http,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Memcached, Self::Redis, Self::Http];

    /// The scheme of its URLs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memcached => "memcached",
            Self::Redis => "redis",
            Self::Http => "http",
        }
    }

    /// The port of a URL that names none.
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Memcached => 11211,
            Self::Redis => 6379,
            Self::Http => 80,
        }
    }
}

/// What was asked, which decides how the reply is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The value of a key.
    Get,
    /// To store a value.
    Set,
    /// To remove a key.
    Delete,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Get, Self::Set, Self::Delete];
}

/// memcached's limit, which the others share here: a key that one of them takes, all take.
pub const MOST_KEY_BYTES: usize = 250;

/// Whether every protocol can carry this key: a line break in it would begin another command.
#[inline]
pub fn is_plain_key(key: &[u8]) -> bool {
    let is_plain = key.iter().all(|byte| *byte > b' ' && *byte != 0x7f);
    is_plain && (1..=MOST_KEY_BYTES).contains(&key.len())
}
