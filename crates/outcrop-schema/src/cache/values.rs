//! The values of the cache layer's factors.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use outcrop_measure::units::{ByteSize, parse_count};

use crate::value::{Value, words};

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServedBy {
    /// Servers that the plan starts, on the loopback interface.
    Loopback,
    /// A server that runs already, by URL. What is a URL of a cache, the load driver knows.
    Url(String),
}

impl FromStr for ServedBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "loopback" => Self::Loopback,
            url => Self::Url(url.to_owned()),
        })
    }
}

impl fmt::Display for ServedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => f.write_str("loopback"),
            Self::Url(url) => f.write_str(url),
        }
    }
}

impl Value for ServedBy {}

words! {
    /// A server that plans can start, in the order of the page.
    #[derive(Default)]
    pub enum Server: "server" {
        /// Ours.
        #[default]
        Outcrop = "outcrop",
        /// `memcached` of `PATH`.
        Memcached = "memcached",
        /// `redis-server` of `PATH`.
        Redis = "redis",
        /// What the environment variable `MEMCACHED` names.
        NamedMemcached = "$MEMCACHED",
    }

    /// Which items are evicted when memory is full.
    #[derive(Default)]
    pub enum Policy: "policy" {
        /// None: new items are refused.
        None = "none",
        /// The oldest.
        Fifo = "fifo",
        /// The least recently used.
        Lru = "lru",
        /// SIEVE.
        Sieve = "sieve",
        /// S3-FIFO.
        #[default]
        S3Fifo = "s3-fifo",
        /// W-TinyLFU.
        TinyLfu = "w-tinylfu",
    }

    /// How our server is asked.
    #[derive(Default)]
    pub enum Protocol: "protocol" {
        /// memcached's text protocol.
        #[default]
        Memcached = "memcached",
        /// HTTP.
        Http = "http",
    }

    /// What the hit ratio is checked against.
    pub enum Oracle: "oracle" {
        /// Nothing.
        None = "none",
        /// A simulation of the policy.
        Simulator = "simulator",
    }

    /// What follows a get that missed.
    pub enum OnMiss: "answer to a miss" {
        /// A set of the key.
        Set = "set",
        /// Nothing.
        Nothing = "nothing",
    }
}

/// What the cache holds before the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Every key, the most popular last.
    EveryKey,
    /// Nothing.
    Nothing,
    /// What this many sets of drawn keys leave.
    Sets(u64),
}

impl FromStr for Fill {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sets = text.strip_prefix("sets:").map(parse_count);
        match (text, sets) {
            ("every-key", _) => Ok(Self::EveryKey),
            ("nothing", _) => Ok(Self::Nothing),
            (_, Some(Ok(sets))) => Ok(Self::Sets(sets)),
            _ => Err(format!(
                "`{text}` is not accepted; expected \"every-key\", \"nothing\" or \"sets:COUNT\""
            )),
        }
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EveryKey => f.write_str("every-key"),
            Self::Nothing => f.write_str("nothing"),
            Self::Sets(sets) => write!(f, "sets:{sets}"),
        }
    }
}

impl Value for Fill {}

/// A value, or a word for none.
macro_rules! value_or {
    ($(#[$doc:meta])* $name:ident($value:ty) by $read:expr, $word:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name(pub Option<$value>);

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                if text == $word {
                    return Ok(Self(None));
                }
                let value: Option<$value> = $read(text);
                let value = value.map(Some).map(Self);
                value.ok_or_else(|| format!(concat!("`{}` is not accepted; expected \"", $word, "\", or ", $what), text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    None => f.write_str($word),
                    Some(value) => value.fmt(f),
                }
            }
        }
    };
}

/// A count from 1.
fn from_one(text: &str) -> Option<NonZeroU64> {
    NonZeroU64::new(parse_count(text).ok()?)
}

fn size(text: &str) -> Option<ByteSize> {
    text.parse().ok()
}

value_or! {
    /// How many requests are measured; none where a trial ends by its duration.
    Requests(NonZeroU64) by from_one, "unlimited", "a number of requests from 1"
}
value_or! {
    /// How many different values there are; none where each key has its own.
    DistinctValues(NonZeroU64) by from_one, "one-per-key", "a number of values from 1"
}
value_or! {
    /// A limit for the bytes of items alone; none where memory is the only limit.
    ItemMemory(ByteSize) by size, "unlimited", "a size such as \"100B\""
}

impl Value for Requests {}
impl Value for DistinctValues {}
impl Value for ItemMemory {
    const IS_SIZE: bool = true;
}

/// The build of our server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Build {
    /// This one, in this process.
    #[default]
    This,
    /// The one in a folder below `target/`.
    Folder(String),
}

impl FromStr for Build {
    type Err = String;

    /// The name of a folder below `target/`, and of nothing above it.
    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        match text {
            "this" => Ok(Self::This),
            folder if !folder.is_empty() && folder.bytes().all(is_name) => {
                Ok(Self::Folder(folder.to_owned()))
            }
            _ => Err(format!(
                "`{text}` does not name a build; expected \"this\", or a folder below target/ such as \"release\""
            )),
        }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::This => f.write_str("this"),
            Self::Folder(folder) => f.write_str(folder),
        }
    }
}

impl Value for Build {}
