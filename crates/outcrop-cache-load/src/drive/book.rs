//! Keys and values as the driver looks them up, whether they are generated or recorded.

use std::num::NonZeroU64;
use std::sync::Arc;

use outcrop_cache_client::Wire;
use outcrop_probe::clock::unix_now;
use outcrop_workload::keyed::{KeySpace, RequestKind, Trace, Values};

use crate::error::CacheLoadError;
use crate::spec::{LoadSpec, RequestSource, key_space};

/// What every thread reads and none writes.
pub(super) struct Book {
    pub(super) wire: Wire,
    pub(super) keys: Keys,
    pub(super) values: Values,
    /// Different values; none where each key has its own.
    value_count: Option<NonZeroU64>,
}

pub(super) enum Keys {
    Space(Box<KeySpace>),
    Trace(Arc<Trace>),
}

/// A request with everything that it takes to send it and to judge its reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) kind: RequestKind,
    pub(super) key_id: u64,
    /// Of the value that a set stores.
    pub(super) value_size_bytes: u32,
    pub(super) ttl_s: u32,
}

impl Book {
    pub(super) fn new(spec: &LoadSpec) -> Result<Self, CacheLoadError> {
        let (keys, longest) = match &spec.source {
            RequestSource::Generated { workload, key_count } => {
                let space = key_space(workload, *key_count)?;
                let longest = space.longest_value_bytes();
                (Keys::Space(Box::new(space)), longest)
            }
            RequestSource::Trace { trace, .. } => {
                (Keys::Trace(Arc::clone(trace)), trace.longest_value_bytes())
            }
        };
        Ok(Self {
            wire: spec.target.wire(),
            keys,
            values: Values::new(spec.content, longest),
            value_count: match &spec.source {
                RequestSource::Generated { .. } => spec.value_count,
                RequestSource::Trace { .. } => None,
            },
        })
    }

    #[inline]
    fn value_id(&self, key_id: u64) -> u64 {
        self.value_count.map_or(key_id, |count| key_id % count)
    }

    /// The request as bytes; `key` is scratch.
    #[inline]
    pub(super) fn write(&self, planned: &Planned, key: &mut Vec<u8>, out: &mut Vec<u8>) {
        key.clear();
        self.write_key(planned.key_id, key);
        match planned.kind {
            RequestKind::Get => self.wire.write_get(key, out),
            RequestKind::Delete => self.wire.write_delete(key, out),
            RequestKind::Set => {
                let size_bytes = planned.value_size_bytes as usize;
                let expiry = self.wire.expiry(planned.ttl_s, || unix_now().as_secs());
                self.wire.write_set(key, size_bytes, expiry, out, |out| {
                    self.values.write(self.value_id(planned.key_id), size_bytes, out);
                });
            }
        }
    }

    pub(super) fn write_key(&self, key_id: u64, key: &mut Vec<u8>) {
        match &self.keys {
            Keys::Space(space) => space.write_key(key_id, key),
            Keys::Trace(trace) => key.extend_from_slice(trace.key(key_id)),
        }
    }

    /// Whether a get's answer is what its key's value has to be. A trace may store values of several lengths.
    #[inline]
    pub(super) fn is_value_of(&self, planned: &Planned, bytes: &[u8]) -> bool {
        let has_length = match &self.keys {
            Keys::Space(_) => bytes.len() == planned.value_size_bytes as usize,
            Keys::Trace(_) => true,
        };
        has_length && self.values.matches(self.value_id(planned.key_id), bytes)
    }

    /// Whether a value is what a load with other value sizes stores under its key.
    #[cold]
    pub(super) fn is_of_another_length(&self, planned: &Planned, bytes: &[u8]) -> bool {
        let is_other = bytes.len() != planned.value_size_bytes as usize;
        let value_id = self.value_id(planned.key_id);
        matches!(self.keys, Keys::Space(_)) && is_other && self.values.matches(value_id, bytes)
    }

    /// A key and what was wrong with its value, in words.
    #[cold]
    pub(super) fn describe_mismatch(&self, planned: &Planned, bytes: &[u8]) -> String {
        let key = self.describe_key(planned.key_id);
        let (seen, wanted) = (bytes.len(), planned.value_size_bytes as usize);
        if matches!(self.keys, Keys::Space(_)) && seen != wanted {
            return format!("key {key}: the value has {seen} B instead of {wanted} B");
        }
        let mut value = Vec::new();
        self.values.write(self.value_id(planned.key_id), seen, &mut value);
        let at = value.iter().zip(bytes).position(|(ours, theirs)| ours != theirs);
        let at = at.unwrap_or(value.len());
        format!("key {key}: the value differs at byte {at} of {seen}")
    }

    pub(super) fn describe_key(&self, key_id: u64) -> String {
        let mut key = Vec::new();
        self.write_key(key_id, &mut key);
        key.escape_ascii().to_string()
    }

    /// A generated request with the length of its key's value; recorded ones bring theirs along.
    #[inline]
    pub(super) fn plan(&self, kind: RequestKind, key_id: u64) -> Planned {
        let value_size_bytes = match &self.keys {
            Keys::Space(space) => space.value_size_bytes(self.value_id(key_id)) as u32,
            Keys::Trace(_) => 0,
        };
        Planned {
            kind,
            key_id,
            value_size_bytes,
            ttl_s: 0,
        }
    }
}
