//! Recorded requests: CSV lines of time, key, operation, key size, value size and time to live; of time, key and size; or of
//! a key alone. Every line has the columns of the first; of the shorter forms, each line is a get.
//!
//! `1.250,user:17,get,24,0,0`: seconds from any origin and never falling; the key's name; `get`, `gets`, `set`, `add`,
//! `replace`, `cas` or `delete`; bytes; bytes; seconds (0: for ever). A first line that names the columns is passed
//! over. The key that is sent is the name, filled up with dots to the key size; where the name is longer, as traces
//! with hashed names have it, it is sent whole. A get that gives no value size has the one that the trace last gave for its
//! key, or the first that it will give. So has a get that gives no time to live, with the times of sets: one that misses may be followed by a set.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};

use super::request_mix::RequestKind;
use super::sizes::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::error::WorkloadError;

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// When, from the first request on.
    pub at_ns: u64,
    /// What is done.
    pub kind: RequestKind,
    /// Number of the key, by first appearance.
    pub key_id: u64,
    /// Length of the value that a set stores.
    pub value_size_bytes: u32,
    /// Seconds that a value lives that is set here, or after a get that missed; 0 is for ever.
    pub ttl_s: u32,
}

/// A whole trace in memory: [`Trace::BYTES_PER_REQUEST`] a request, and every key once (twice while it is read).
#[derive(Clone, Debug)]
pub struct Trace {
    entries: Vec<TraceEntry>,
    keys: Vec<Box<[u8]>>,
    longest_value_bytes: usize,
    columns: usize,
}

/// Columns of the forms that are read: key; time, key, size; all.
const KEYS_ALONE: usize = 1;
const SIZES: usize = 3;
const ALL: usize = 6;
const FORMS: &str =
    "six (time, key, operation, key size, value size, ttl), three (time, key, size) or one (key)";
const LONGEST_TIME_S: f64 = 1e9;
/// In seconds since 1970 the year 5138, in milliseconds the year 1973.
const LATEST_START_S: f64 = 1e11;
/// A line of six columns has some hundred bytes.
const MOST_LINE_BYTES: usize = 1 << 20;
/// As much as the CSV reader reads at once: what stands behind the end of a line.
const READ_AHEAD_BYTES: usize = 8 << 10;

/// An input that ends with an error where a line of it, or a quotation, has no end.
struct Lines<'a, R> {
    input: R,
    /// Bytes read since the line began.
    line_bytes: &'a Cell<usize>,
}

impl<R: Read> Read for Lines<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.line_bytes.get() > MOST_LINE_BYTES + READ_AHEAD_BYTES {
            return Err(io::Error::other("it has more than 1 MiB"));
        }
        let count = self.input.read(buffer)?;
        self.line_bytes.set(self.line_bytes.get() + count);
        Ok(count)
    }
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// [`WorkloadError::Trace`] with the line and what is wrong in it; a trace without a request is one too.
    pub fn read(input: impl Read) -> Result<Self, WorkloadError> {
        Self::read_first(input, u64::MAX)
    }

    /// Reads as many requests of a trace, from its start.
    ///
    /// # Errors
    /// As [`Trace::read`].
    pub fn read_first(input: impl Read, most: u64) -> Result<Self, WorkloadError> {
        let line_bytes = Cell::new(0);
        let input = Lines {
            input,
            line_bytes: &line_bytes,
        };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(input);
        let mut trace = Self {
            entries: Vec::new(),
            keys: Vec::new(),
            longest_value_bytes: 0,
            columns: 0,
        };
        let mut ids = BTreeMap::new();
        let mut origin_s = None;
        let mut row = csv::StringRecord::new();
        while (trace.entries.len() as u64) < most {
            let line = reader.position().line();
            let refuse = |why: String| WorkloadError::Trace { line, why };
            line_bytes.set(0);
            match reader.read_record(&mut row) {
                Ok(false) => break,
                Ok(true) => {}
                Err(error) => return Err(refuse(error.to_string())),
            }
            if line == 1 {
                trace.columns = columns(&row).map_err(refuse)?;
                if is_head(&row) {
                    continue;
                }
            }
            trace.push(&row, &mut origin_s, &mut ids).map_err(refuse)?;
        }
        if trace.entries.is_empty() {
            return Err(WorkloadError::Trace {
                line: 1,
                why: "there is no request in it".to_owned(),
            });
        }
        trace.complete_gets();
        Ok(trace)
    }

    fn push(
        &mut self,
        row: &csv::StringRecord,
        origin_s: &mut Option<f64>,
        ids: &mut BTreeMap<Box<[u8]>, u64>,
    ) -> Result<(), String> {
        if row.len() != self.columns {
            let (seen, expected) = (row.len(), self.columns);
            return Err(format!("it has {seen} columns; the first line has {expected}"));
        }
        if self.columns == KEYS_ALONE {
            return self.push_entry(0, RequestKind::Get, key(&row[0], 0)?, 0, 0, ids);
        }
        let time_s: f64 = row[0].parse().map_err(|_| unlike("time in seconds", &row[0]))?;
        if origin_s.is_none() && time_s > LATEST_START_S {
            return Err(format!(
                "time {} is too late for seconds since 1970; convert milliseconds, microseconds or nanoseconds to seconds",
                &row[0]
            ));
        }
        let offset_s = time_s - *origin_s.get_or_insert(time_s);
        let at_ns = match offset_s {
            offset_s if (0.0..=LONGEST_TIME_S).contains(&offset_s) => (offset_s * 1e9).round() as u64,
            _ => return Err(format!("time {} is not at or after the first one", &row[0])),
        };
        if self.entries.last().is_some_and(|last| last.at_ns > at_ns) {
            return Err(format!(
                "time {} is before that of the line above; sort the trace by time",
                &row[0]
            ));
        }
        if self.columns == SIZES {
            let size_bytes = bytes("size", &row[2], MAX_VALUE_BYTES)?;
            return self.push_entry(at_ns, RequestKind::Get, key(&row[1], 0)?, size_bytes, 0, ids);
        }
        let kind = kind(&row[2])?;
        let key = key(
            &row[1],
            bytes("key size", &row[3], MAX_KEY_BYTES as u64)? as usize,
        )?;
        let value_size_bytes = bytes("value size", &row[4], MAX_VALUE_BYTES)?;
        let ttl_s = ttl(&row[5])?;
        self.push_entry(at_ns, kind, key, value_size_bytes, ttl_s, ids)
    }

    fn push_entry(
        &mut self,
        at_ns: u64,
        kind: RequestKind,
        key: Box<[u8]>,
        value_size_bytes: u32,
        ttl_s: u32,
        ids: &mut BTreeMap<Box<[u8]>, u64>,
    ) -> Result<(), String> {
        let key_id = match ids.get(&key) {
            Some(id) => *id,
            None => {
                let id = self.keys.len() as u64;
                self.keys.push(key.clone());
                ids.insert(key, id);
                id
            }
        };
        self.longest_value_bytes = self.longest_value_bytes.max(value_size_bytes as usize);
        self.entries.push(TraceEntry {
            at_ns,
            kind,
            key_id,
            value_size_bytes,
            ttl_s,
        });
        Ok(())
    }

    /// Gives gets without a size the one that is known of their key, and gets without a time to live that of their key's sets.
    fn complete_gets(&mut self) {
        let mut known = vec![(0_u32, 0_u32); self.keys.len()];
        // A set without a time to live is one for ever.
        let learn = |(size_bytes, ttl_s): &mut (u32, u32), entry: &TraceEntry| {
            if entry.value_size_bytes > 0 {
                *size_bytes = entry.value_size_bytes;
            }
            if entry.kind == RequestKind::Set {
                *ttl_s = entry.ttl_s;
            }
        };
        for entry in self.entries.iter().rev() {
            learn(&mut known[entry.key_id as usize], entry);
        }
        for entry in &mut self.entries {
            let known = &mut known[entry.key_id as usize];
            learn(known, entry);
            if entry.kind == RequestKind::Get {
                entry.value_size_bytes = known.0;
                entry.ttl_s = if entry.ttl_s > 0 { entry.ttl_s } else { known.1 };
            }
        }
    }

    /// Memory that a request takes.
    pub const BYTES_PER_REQUEST: u64 = size_of::<TraceEntry>() as u64;

    /// Whether requests have times; otherwise all are at 0.
    pub const fn has_times(&self) -> bool {
        self.columns != KEYS_ALONE
    }

    /// Whether it gives the size of any value.
    pub const fn has_sizes(&self) -> bool {
        self.longest_value_bytes > 0
    }

    /// The requests, in the order of time.
    pub fn entries(&self) -> &[TraceEntry] {
        &self.entries
    }

    /// How many different keys there are.
    pub fn key_count(&self) -> u64 {
        self.keys.len() as u64
    }

    /// The bytes of a key.
    ///
    /// # Panics
    /// When no entry has this number.
    pub fn key(&self, key_id: u64) -> &[u8] {
        &self.keys[key_id as usize]
    }

    /// The longest value that a set stores.
    pub const fn longest_value_bytes(&self) -> usize {
        self.longest_value_bytes
    }
}

/// How many columns a trace has, by its first line.
fn columns(first: &csv::StringRecord) -> Result<usize, String> {
    let seen = first.len();
    if [KEYS_ALONE, SIZES, ALL].contains(&seen) {
        return Ok(seen);
    }
    Err(format!(
        "it has {seen} columns; expected {FORMS}, separated by commas"
    ))
}

/// Whether the first line names the columns.
fn is_head(first: &csv::StringRecord) -> bool {
    match first.len() {
        KEYS_ALONE => first[0].eq_ignore_ascii_case("key"),
        _ => first[0].parse::<f64>().is_err(),
    }
}

fn unlike(wanted: &str, seen: &str) -> String {
    format!("`{seen}` is not {wanted}")
}

fn ttl(text: &str) -> Result<u32, String> {
    let seconds: u64 = text.parse().map_err(|_| unlike("ttl in whole seconds", text))?;
    let most = u32::MAX;
    u32::try_from(seconds).map_err(|_| format!("a ttl of {seconds} s is above the limit of {most} s"))
}

fn bytes(what: &str, text: &str, most: u64) -> Result<u32, String> {
    match text.parse::<u64>() {
        Ok(size) if size <= most => Ok(size as u32),
        Ok(size) => Err(format!("a {what} of {size} B is above the limit of {most} B")),
        Err(_) => Err(unlike(&format!("{what} in bytes"), text)),
    }
}

fn kind(text: &str) -> Result<RequestKind, String> {
    match text {
        "get" | "gets" => Ok(RequestKind::Get),
        "set" | "add" | "replace" | "cas" => Ok(RequestKind::Set),
        "delete" => Ok(RequestKind::Delete),
        _ => Err(format!(
            "unknown operation `{text}`; expected get, gets, set, add, replace, cas or delete"
        )),
    }
}

fn key(name: &str, size_bytes: usize) -> Result<Box<[u8]>, String> {
    if name.is_empty() || name.len() > MAX_KEY_BYTES || name.bytes().any(|byte| byte <= b' ' || byte == 0x7f)
    {
        return Err(format!(
            "key `{}` is invalid; expected 1 to {MAX_KEY_BYTES} bytes without blanks and control characters",
            name.chars().take(40).collect::<String>()
        ));
    }
    let mut key = name.as_bytes().to_vec();
    key.resize(key.len().max(size_bytes), b'.');
    Ok(key.into_boxed_slice())
}
