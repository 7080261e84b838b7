//! Which version of each record is the newest that the store acknowledged, so that a read that returns an older one is found.

use std::sync::atomic::{AtomicU64, Ordering};

/// Records that are followed: 24 bytes each, which are part of what a process takes.
const MOST_RECORDS: u64 = 1 << 20;
/// The lower bits count the writes of a record that were begun, those above the ones that are under way.
const UNDER_WAY: u64 = 1 << 48;

/// The versions of a store's records, shared by the threads of a process, without a lock.
///
/// A record's versions are numbered as their writes begin: 0 is the loaded one. A write that began when no other was under way has, once
/// it is acknowledged, replaced all with a lower number: a read that begins later must not return them. Of writes that overlap, either
/// may be the last; nothing is said of them until the next one that is alone.
pub(super) struct NewestVersions {
    records: Box<[Record]>,
    /// Ticks by which the counters of two cores may differ.
    skew: u64,
}

#[derive(Default)]
struct Record {
    writes: AtomicU64,
    /// The least version that may still be read.
    least: AtomicU64,
    /// Ticks at which that was acknowledged.
    since: AtomicU64,
}

/// A write that is under way.
#[derive(Clone, Copy)]
pub(super) struct Write {
    pub(super) version: u64,
    is_alone: bool,
}

/// A version that is older than one acknowledged before the read began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stale {
    pub(super) acknowledged: u64,
}

impl NewestVersions {
    /// Of the records that were loaded, as far as memory allows.
    pub(super) fn of(records: u64, skew: u64) -> Self {
        Self {
            records: (0..records.min(MOST_RECORDS))
                .map(|_| Record::default())
                .collect(),
            skew,
        }
    }

    fn record(&self, key_id: u64) -> Option<&Record> {
        self.records.get(usize::try_from(key_id).ok()?)
    }

    /// Begins a write; `otherwise` is its version where the record is not followed.
    #[inline]
    pub(super) fn begin(&self, key_id: u64, otherwise: u64) -> Write {
        let Some(record) = self.record(key_id) else {
            return Write {
                version: otherwise,
                is_alone: false,
            };
        };
        let before = record.writes.fetch_add(UNDER_WAY + 1, Ordering::AcqRel);
        Write {
            version: before % UNDER_WAY + 1,
            is_alone: before < UNDER_WAY,
        }
    }

    /// Ends a write that was acknowledged at these ticks.
    #[inline]
    pub(super) fn end(&self, key_id: u64, write: Write, done: u64) {
        let Some(record) = self.record(key_id) else { return };
        if write.is_alone {
            // The time first: whoever sees the version sees its time, or a later one.
            record.since.store(done + self.skew, Ordering::Release);
            record.least.store(write.version, Ordering::Release);
        }
        record.writes.fetch_sub(UNDER_WAY, Ordering::AcqRel);
    }

    /// Holds a version that was read against what was acknowledged before the read began.
    #[inline]
    pub(super) fn check(&self, key_id: u64, version: u64, begun: u64) -> Result<(), Stale> {
        let Some(record) = self.record(key_id) else {
            return Ok(());
        };
        let acknowledged = record.least.load(Ordering::Acquire);
        if version < acknowledged && record.since.load(Ordering::Acquire) < begun {
            return Err(Stale { acknowledged });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_lone_write_replaced_is_stale_for_reads_that_begin_after_it() {
        let newest = NewestVersions::of(2, 0);
        let first = newest.begin(1, 99);
        assert_eq!(first.version, 1);
        assert_eq!(newest.check(1, 0, 50), Ok(()), "the write is under way");
        newest.end(1, first, 100);
        assert_eq!(newest.check(1, 0, 90), Ok(()), "begun before the acknowledgement");
        assert_eq!(newest.check(1, 0, 110), Err(Stale { acknowledged: 1 }));
        assert_eq!(newest.check(1, 1, 110), Ok(()));
        assert_eq!(newest.check(0, 0, 110), Ok(()), "another record");
    }

    #[test]
    fn of_overlapping_writes_either_may_be_read() {
        let newest = NewestVersions::of(1, 0);
        let (one, two) = (newest.begin(0, 0), newest.begin(0, 0));
        newest.end(0, two, 10);
        newest.end(0, one, 20);
        assert_eq!((newest.check(0, 1, 30), newest.check(0, 2, 30)), (Ok(()), Ok(())));
        assert_eq!(
            newest.check(0, 0, 30),
            Err(Stale { acknowledged: 1 }),
            "the first was alone when it began"
        );
        let alone = newest.begin(0, 0);
        newest.end(0, alone, 40);
        assert_eq!(newest.check(0, 2, 50), Err(Stale { acknowledged: 3 }));
    }

    #[test]
    fn records_that_are_not_followed_keep_their_own_versions_and_are_never_stale() {
        let newest = NewestVersions::of(1, 0);
        let write = newest.begin(7, 42);
        assert_eq!(write.version, 42);
        newest.end(7, write, 10);
        assert_eq!(newest.check(7, 0, 20), Ok(()));
        assert_eq!(NewestVersions::of(0, 0).begin(3, 8).version, 8);
    }
}
