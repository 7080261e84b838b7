//! What a scan came by: kept within the clock, as a reader keeps it, and compared behind it.

use outcrop_workload::keyed::{RecordValues, StoreLoad};

use super::newest::NewestVersions;
use super::worker::older;
use crate::report::Tally;

/// What records are held against.
#[derive(Clone, Copy)]
pub(super) struct Stored<'d> {
    pub(super) load: &'d StoreLoad,
    pub(super) values: &'d RecordValues,
    pub(super) newest: &'d NewestVersions,
}

/// The records of a scan.
#[derive(Default)]
pub(super) struct Scanned {
    /// Keys and values, one behind the other.
    bytes: Vec<u8>,
    /// Where each key and each value ends.
    ends: Vec<(usize, usize)>,
    /// The key that a value says it belongs to.
    named_key: Vec<u8>,
}

impl Scanned {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((key_end, self.bytes.len()));
    }

    /// Compares the records of a scan that began at this tick, and counts them; gives what is wrong with the first that is.
    pub(super) fn compare(&mut self, stored: Stored<'_>, begun: u64, tally: &mut Tally) -> Option<String> {
        let mut first = None;
        let mut start = 0;
        for (key_end, end) in &self.ends {
            let (key, value) = (&self.bytes[start..*key_end], &self.bytes[*key_end..*end]);
            tally.read_bytes += value.len() as u64;
            match stored.compare((key, value), begun, &mut self.named_key) {
                Ok(is_known) => tally.verified += u64::from(is_known),
                Err(wrong) => {
                    tally.verified += 1;
                    tally.mismatches += 1;
                    first.get_or_insert(wrong);
                }
            }
            start = *end;
        }
        first
    }
}

impl Stored<'_> {
    /// Whether it is known what the record must be: a short value under a key that is a hash says nothing of whose it is.
    ///
    /// # Errors
    /// What is wrong with it: its value, that it lies under another key, or that a newer one was acknowledged.
    fn compare(
        self,
        (key, value): (&[u8], &[u8]),
        begun: u64,
        named_key: &mut Vec<u8>,
    ) -> Result<bool, String> {
        let (key_id, version) = match self.load.key_id(key) {
            Some(key_id) => {
                let found = self.values.verify(key_id, value);
                let found = found.map_err(|mismatch| format!("key {}: {mismatch}", key.escape_ascii()))?;
                let Some(version) = found else {
                    return Ok(true);
                };
                (key_id, version)
            }
            None => {
                let found = self.values.verify_any(value);
                let Some(found) = found.map_err(|mismatch| mismatch.to_string())? else {
                    return Ok(false);
                };
                named_key.clear();
                self.load.write_key(found.0, named_key);
                if *key != **named_key {
                    let (own, other) = (named_key.escape_ascii(), key.escape_ascii());
                    return Err(format!("the value under key {other} is that of key {own}"));
                }
                found
            }
        };
        match self.newest.check(key_id, version, begun) {
            Ok(()) => Ok(true),
            Err(newer) => Err(format!("key {}: {}", key.escape_ascii(), older(version, newer))),
        }
    }
}
