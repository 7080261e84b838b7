//! One connection: requests one by one, or many at once in a pipeline.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use outcrop_workload::keyed::RequestKind;

use crate::error::CacheLoadError;
use crate::protocol::{NotAReply, Parsed, Reply, Wire};
use crate::target::Target;

/// Requests of a pipeline that are written before their replies are read: more could fill the buffers of both
/// directions, and each side would wait for the other to read.
const WINDOW_BYTES: usize = 16 << 10;
const READ_BYTES: usize = 16 << 10;

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
    stream: TcpStream,
    wire: Wire,
    target: String,
    inbox: Vec<u8>,
    /// Bytes of the inbox that are understood already.
    read: usize,
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
            stream,
            wire: Wire::of(target),
            target: target.to_string(),
            inbox: Vec::new(),
            read: 0,
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
        let mut request = Vec::new();
        self.wire.write_flush(&mut request);
        self.send(&request)?;
        loop {
            let input = &self.inbox[self.read..];
            match self.wire.flushed(input).map_err(|seen| self.protocol(seen))? {
                Some(true) => break,
                Some(false) => {
                    return Err(CacheLoadError::Refused {
                        target: self.target.clone(),
                        message: input.trim_ascii().escape_ascii().to_string(),
                    });
                }
                None => self.receive()?,
            }
        }
        self.inbox.clear();
        self.read = 0;
        Ok(())
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
        self.stream.write_all(bytes).map_err(|source| self.broken(source))
    }

    /// Waits for more bytes.
    fn receive(&mut self) -> Result<(), CacheLoadError> {
        self.inbox.drain(..self.read);
        self.read = 0;
        let filled = self.inbox.len();
        self.inbox.resize(filled + READ_BYTES.max(filled), 0);
        let received = loop {
            match self.stream.read(&mut self.inbox[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.inbox.truncate(filled + *received.as_ref().unwrap_or(&0));
        match received {
            Ok(0) => Err(self.broken(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok(()),
            Err(source) => Err(self.broken(source)),
        }
    }

    fn outcome(&mut self, kind: RequestKind) -> Result<Outcome, CacheLoadError> {
        loop {
            match self.wire.parse(kind, &self.inbox[self.read..]) {
                Ok(Parsed::Complete { reply, used }) => {
                    let outcome = reply.into();
                    self.read += used;
                    return Ok(outcome);
                }
                Ok(Parsed::Incomplete { .. }) => self.receive()?,
                Err(seen) => return Err(self.protocol(seen)),
            }
        }
    }

    fn broken(&self, source: io::Error) -> CacheLoadError {
        CacheLoadError::Connection {
            target: self.target.clone(),
            source,
        }
    }

    fn protocol(&self, not: NotAReply) -> CacheLoadError {
        CacheLoadError::Protocol {
            target: self.target.clone(),
            hint: not.hint(),
            seen: not.seen,
            expected: not.expected,
        }
    }
}

/// Requests that go out together. Dropped without [`Pipeline::run`], nothing is sent.
pub struct Pipeline<'c> {
    connection: &'c mut Connection,
    requests: Vec<u8>,
    /// Kind and end of each request.
    ends: Vec<(RequestKind, usize)>,
}

impl Pipeline<'_> {
    /// Adds a get.
    pub fn get(&mut self, key: &[u8]) {
        self.connection.wire.write_get(key, &mut self.requests);
        self.ends.push((RequestKind::Get, self.requests.len()));
    }

    /// Adds a set.
    pub fn set(&mut self, key: &[u8], value: &[u8], ttl_s: u32) {
        let write = |out: &mut Vec<u8>| out.extend_from_slice(value);
        self.connection
            .wire
            .write_set(key, value.len(), ttl_s, &mut self.requests, write);
        self.ends.push((RequestKind::Set, self.requests.len()));
    }

    /// Adds a delete.
    pub fn delete(&mut self, key: &[u8]) {
        self.connection.wire.write_delete(key, &mut self.requests);
        self.ends.push((RequestKind::Delete, self.requests.len()));
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
