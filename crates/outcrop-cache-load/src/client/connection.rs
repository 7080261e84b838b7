//! One connection: requests one by one, or many at once in a pipeline.

use std::fmt;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

use outcrop_cache_client::{Exchange, ExchangeError, Reply, Verb};
use outcrop_probe::clock::unix_now;

use crate::error::CacheLoadError;
use crate::target::Target;

/// Requests of a pipeline that are written before their replies are read: more could fill the buffers of both
/// directions, and each side would wait for the other to read.
const WINDOW_BYTES: usize = 16 << 10;

/// What became of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A get found this.
    Value(Vec<u8>),
    /// A get found nothing.
    Miss,
    /// A set is done.
    Stored,
    /// A delete removed something.
    Deleted,
    /// A delete found nothing.
    NotFound,
    /// The server refused, in its own words; the other requests of the pipeline went on.
    Refused(String),
}

impl From<Reply<'_>> for Outcome {
    fn from(reply: Reply<'_>) -> Self {
        match reply {
            Reply::Value(bytes) => Self::Value(bytes.to_vec()),
            Reply::Miss => Self::Miss,
            Reply::Stored => Self::Stored,
            Reply::Deleted => Self::Deleted,
            Reply::NotFound => Self::NotFound,
            Reply::Refused(message) => Self::Refused(String::from_utf8_lossy(message).into_owned()),
        }
    }
}

/// A connection to one server. After an error other than [`CacheLoadError::Refused`] it is no longer usable.
pub struct Connection {
    exchange: Exchange<TcpStream>,
    target: String,
}

impl Connection {
    /// Connects; `timeout` bounds this and every later wait for the server.
    ///
    /// # Errors
    /// [`CacheLoadError::Connect`] when no address of the target answers.
    pub fn connect(target: &Target, timeout: Duration) -> Result<Self, CacheLoadError> {
        let stream = open(target, timeout)?;
        let bounded = stream
            .set_read_timeout(Some(timeout))
            .and_then(|()| stream.set_write_timeout(Some(timeout)));
        bounded.map_err(|source| CacheLoadError::system("bound the waits of a socket", source))?;
        Ok(Self {
            exchange: Exchange::new(stream, target.wire()),
            target: target.to_string(),
        })
    }

    /// The value of a key.
    ///
    /// # Errors
    /// The connection broke, the reply is none, or the server refused.
    pub fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, CacheLoadError> {
        match self.one(|pipeline| pipeline.get(key))? {
            Outcome::Value(value) => Ok(Some(value)),
            _ => Ok(None),
        }
    }

    /// Stores a value for `ttl_s` seconds; 0 is for ever.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub fn set(&mut self, key: &[u8], value: &[u8], ttl_s: u32) -> Result<(), CacheLoadError> {
        self.one(|pipeline| pipeline.set(key, value, ttl_s)).map(drop)
    }

    /// Removes a key; whether there was one.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub fn delete(&mut self, key: &[u8]) -> Result<bool, CacheLoadError> {
        Ok(self.one(|pipeline| pipeline.delete(key))? == Outcome::Deleted)
    }

    /// Removes everything from the server.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub fn flush(&mut self) -> Result<(), CacheLoadError> {
        self.exchange.flush().map_err(|error| self.failed(error))
    }

    /// Collects requests, to be sent at once.
    pub fn pipeline(&mut self) -> Pipeline<'_> {
        Pipeline {
            connection: self,
            requests: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn one(&mut self, request: impl FnOnce(&mut Pipeline<'_>)) -> Result<Outcome, CacheLoadError> {
        let mut pipeline = self.pipeline();
        request(&mut pipeline);
        match pipeline.run()?.pop() {
            Some(Outcome::Refused(message)) => Err(CacheLoadError::Refused {
                target: self.target.clone(),
                message,
            }),
            Some(outcome) => Ok(outcome),
            None => unreachable!("a pipeline of one request has one outcome"),
        }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), CacheLoadError> {
        let sent = self.exchange.send(bytes);
        sent.map_err(|source| self.failed(ExchangeError::Broken(source)))
    }

    fn outcome(&mut self, kind: Verb) -> Result<Outcome, CacheLoadError> {
        match self.exchange.reply(kind) {
            Ok(reply) => Ok(reply.into()),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: ExchangeError) -> CacheLoadError {
        let target = self.target.clone();
        match error {
            ExchangeError::Broken(source) => CacheLoadError::Connection { target, source },
            ExchangeError::NotAReply(not) => CacheLoadError::Protocol {
                target,
                hint: not.hint(),
                seen: not.seen,
                expected: not.expected,
            },
            ExchangeError::Refused(message) => CacheLoadError::Refused { target, message },
        }
    }
}

/// Requests that go out together. Dropped without [`Pipeline::run`], nothing is sent.
pub struct Pipeline<'c> {
    connection: &'c mut Connection,
    requests: Vec<u8>,
    /// Kind and end of each request.
    ends: Vec<(Verb, usize)>,
}

impl Pipeline<'_> {
    /// Adds a get.
    pub fn get(&mut self, key: &[u8]) {
        self.connection.exchange.wire().write_get(key, &mut self.requests);
        self.ends.push((Verb::Get, self.requests.len()));
    }

    /// Adds a set.
    pub fn set(&mut self, key: &[u8], value: &[u8], ttl_s: u32) {
        let write = |out: &mut Vec<u8>| out.extend_from_slice(value);
        let wire = self.connection.exchange.wire();
        let expiry = wire.expiry(ttl_s, || unix_now().as_secs());
        wire.write_set(key, value.len(), expiry, &mut self.requests, write);
        self.ends.push((Verb::Set, self.requests.len()));
    }

    /// Adds a delete.
    pub fn delete(&mut self, key: &[u8]) {
        self.connection
            .exchange
            .wire()
            .write_delete(key, &mut self.requests);
        self.ends.push((Verb::Delete, self.requests.len()));
    }

    /// Sends all, and waits for every reply; outcomes are in the order of the requests.
    ///
    /// # Errors
    /// The connection broke, or a reply is none. Which requests were carried out is then not known.
    pub fn run(self) -> Result<Vec<Outcome>, CacheLoadError> {
        let mut outcomes = Vec::with_capacity(self.ends.len());
        let (mut sent, mut first) = (0, 0);
        while first < self.ends.len() {
            // At least one request, and as many more as the window has room for.
            let mut after = first + 1;
            while self
                .ends
                .get(after)
                .is_some_and(|(_, end)| end - sent <= WINDOW_BYTES)
            {
                after += 1;
            }
            let end = self.ends[after - 1].1;
            self.connection.send(&self.requests[sent..end])?;
            for (kind, _) in &self.ends[first..after] {
                outcomes.push(self.connection.outcome(*kind)?);
            }
            (sent, first) = (end, after);
        }
        Ok(outcomes)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// A connected socket without Nagle's delay.
pub(crate) fn open(target: &Target, timeout: Duration) -> Result<TcpStream, CacheLoadError> {
    let mut last = io::Error::other("the name has no address");
    for address in target.addresses()? {
        match TcpStream::connect_timeout(&address, timeout) {
            // Where nobody listens, the kernel may connect a loopback socket to itself.
            Ok(stream) if stream.local_addr().ok() == stream.peer_addr().ok() => {
                last = io::ErrorKind::ConnectionRefused.into();
            }
            Ok(stream) => {
                stream
                    .set_nodelay(true)
                    .map_err(|source| CacheLoadError::system("set TCP_NODELAY", source))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(CacheLoadError::Connect {
        target: target.to_string(),
        source: last,
    })
}
