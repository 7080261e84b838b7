//! Recorded requests: CSV lines of time, key, operation, key size, value size and time to live.
//!
//! `1.250,user:17,get,24,0,0`: seconds from any origin and never falling; the key's name; `get`, `gets`, `set`, `add`,
//! `replace`, `cas` or `delete`; bytes; bytes; seconds (0: for ever). A first line that names the columns is passed
//! over. The key that is sent is the name, filled up with dots to the key size; where the name is longer, as traces
//! with hashed names have it, it is sent whole.

use std::collections::BTreeMap;
use std::io::Read;

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
    /// Seconds that a set's value lives; 0 is for ever.
    pub ttl_s: u32,
}

/// A whole trace in memory: 32 bytes a request, and every key once.
#[derive(Clone, Debug)]
pub struct Trace {
    entries: Vec<TraceEntry>,
    keys: Vec<Box<[u8]>>,
    longest_value_bytes: usize,
}

const COLUMNS: usize = 6;
const LONGEST_TIME_S: f64 = 1e9;

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// [`WorkloadError::Trace`] with the line and what is wrong in it; a trace without a request is one too.
    pub fn read(input: impl Read) -> Result<Self, WorkloadError> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(input);
        let mut trace = Self {
            entries: Vec::new(),
            keys: Vec::new(),
            longest_value_bytes: 0,
        };
        let mut ids = BTreeMap::new();
        let mut origin_s = None;
        let mut row = csv::StringRecord::new();
        loop {
            let line = reader.position().line();
            let refuse = |why: String| WorkloadError::Trace { line, why };
            match reader.read_record(&mut row) {
                Ok(false) => break,
                Ok(true) => {}
                Err(error) => return Err(refuse(error.to_string())),
            }
            if line == 1 && row.get(0).is_some_and(|first| first.parse::<f64>().is_err()) {
                continue;
            }
            trace.push(&row, &mut origin_s, &mut ids).map_err(refuse)?;
        }
        if trace.entries.is_empty() {
            return Err(WorkloadError::Trace {
                line: 1,
                why: "there is no request in it".to_owned(),
            });
        }
        Ok(trace)
    }

    fn push(
        &mut self,
        row: &csv::StringRecord,
        origin_s: &mut Option<f64>,
        ids: &mut BTreeMap<Box<[u8]>, u64>,
    ) -> Result<(), String> {
        if row.len() != COLUMNS {
            return Err(format!(
                "it has {} columns, not the {COLUMNS} of time, key, operation, key size, value size and ttl",
                row.len()
            ));
        }
        let time_s: f64 = row[0].parse().map_err(|_| unlike("time in seconds", &row[0]))?;
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
        let kind = kind(&row[2])?;
        let key = key(
            &row[1],
            bytes("key size", &row[3], MAX_KEY_BYTES as u64)? as usize,
        )?;
        let value_size_bytes = bytes("value size", &row[4], MAX_VALUE_BYTES)?;
        let ttl_s = row[5]
            .parse()
            .map_err(|_| unlike("ttl in whole seconds", &row[5]))?;
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

fn unlike(wanted: &str, seen: &str) -> String {
    format!("`{seen}` is no {wanted}")
}

fn bytes(what: &str, text: &str, most: u64) -> Result<u32, String> {
    match text.parse::<u64>() {
        Ok(size) if size <= most => Ok(size as u32),
        Ok(size) => Err(format!(
            "a {what} of {size} B is more than the {most} B that are possible"
        )),
        Err(_) => Err(unlike(&format!("{what} in bytes"), text)),
    }
}

fn kind(text: &str) -> Result<RequestKind, String> {
    match text {
        "get" | "gets" => Ok(RequestKind::Get),
        "set" | "add" | "replace" | "cas" => Ok(RequestKind::Set),
        "delete" => Ok(RequestKind::Delete),
        _ => Err(format!(
            "operation `{text}` is none of get, gets, set, add, replace, cas and delete"
        )),
    }
}

fn key(name: &str, size_bytes: usize) -> Result<Box<[u8]>, String> {
    if name.is_empty() || name.len() > MAX_KEY_BYTES || name.bytes().any(|byte| byte <= b' ' || byte == 0x7f)
    {
        return Err(format!(
            "key `{}` has none or more than {MAX_KEY_BYTES} bytes, or a blank or control character",
            name.chars().take(40).collect::<String>()
        ));
    }
    let mut key = name.as_bytes().to_vec();
    key.resize(key.len().max(size_bytes), b'.');
    Ok(key.into_boxed_slice())
}
