//! A store of the tests: a map in memory that can be slow, and can lie.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use outcrop_kv::{CompactionState, KvError, Session, Store, StoreCounters};
use outcrop_measure::metric::Unavailable;
use outcrop_probe::Clock;
use outcrop_probe::process::OtherProcess;

/// What a store does wrong, every now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Nothing.
    Never,
    /// A get returns the version before the last.
    GetsAreStale,
    /// A scan does.
    ScansAreStale,
    /// A scan has the value of one record under the key of the next.
    ScansMoveValues,
    /// A put is acknowledged and not kept.
    PutsAreDropped,
}

/// Lies are told once in this many requests.
const LIE_EVERY: u64 = 7;

/// The last versions of each key, the newest last.
type Records = BTreeMap<Vec<u8>, Vec<Vec<u8>>>;

#[derive(Clone)]
pub(crate) struct Shelf {
    records: Arc<Mutex<Records>>,
    requests: Arc<AtomicU64>,
    lie: Lie,
    /// What a get takes.
    service: Duration,
    /// What the first get takes on top.
    stall: Duration,
    /// How late the kernel may wake the thread of the last get, in nanoseconds.
    pub(crate) timer_slack_ns: Arc<AtomicU64>,
    /// The process that is said to do its work.
    pub(crate) server: Option<u32>,
    value: Vec<u8>,
}

impl Shelf {
    pub(crate) fn new(lie: Lie) -> Self {
        Self {
            records: Arc::default(),
            requests: Arc::default(),
            lie,
            service: Duration::ZERO,
            stall: Duration::ZERO,
            timer_slack_ns: Arc::default(),
            server: None,
            value: Vec::new(),
        }
    }

    /// One whose gets take that long, the first one more.
    pub(crate) fn slow(service: Duration, stall: Duration) -> Self {
        Self {
            service,
            stall,
            ..Self::new(Lie::Never)
        }
    }

    /// Whether a request of this kind is answered with a lie now.
    fn lies(&self, lie: Lie) -> bool {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        self.lie == lie && request.is_multiple_of(LIE_EVERY)
    }

    fn work(&self) {
        let is_first = self.requests.load(Ordering::Relaxed) == 1;
        let span = if is_first {
            self.service + self.stall
        } else {
            self.service
        };
        let clock = Clock::new();
        let end_ns = clock.now_ns() + span.as_nanos() as u64;
        while clock.now_ns() < end_ns {
            std::hint::spin_loop();
        }
    }
}

impl Store for Shelf {
    fn identity(&self) -> String {
        "a shelf".to_owned()
    }

    fn session(&self) -> Result<Box<dyn Session>, KvError> {
        Ok(Box::new(self.clone()))
    }

    fn flush(&self) -> Result<(), KvError> {
        Ok(())
    }

    fn compaction(&self) -> CompactionState {
        CompactionState {
            debt_bytes: Err(Unavailable::because("it has none")),
            is_busy: false,
        }
    }

    fn counters(&self) -> StoreCounters {
        StoreCounters::unavailable("it does not count")
    }

    fn records(&self) -> Result<Option<u64>, KvError> {
        Ok(Some(self.records.lock().unwrap().len() as u64))
    }

    fn server(&self) -> Option<OtherProcess> {
        self.server.map(OtherProcess::of)
    }
}

/// The last version, or the one before it.
fn version(versions: &[Vec<u8>], is_stale: bool) -> &[u8] {
    let back = if is_stale && versions.len() > 1 { 2 } else { 1 };
    &versions[versions.len() - back]
}

impl Session for Shelf {
    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, KvError> {
        let is_stale = self.lies(Lie::GetsAreStale);
        if !(self.service + self.stall).is_zero() {
            self.work();
        }
        let slack_ns = rustix::thread::current_timer_slack().unwrap();
        self.timer_slack_ns.store(slack_ns, Ordering::Relaxed);
        let records = self.records.lock().unwrap();
        let Some(versions) = records.get(key) else {
            return Ok(None);
        };
        self.value.clear();
        self.value.extend_from_slice(version(versions, is_stale));
        drop(records);
        Ok(Some(&self.value))
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), KvError> {
        // Gets count requests for the others.
        if self.lie == Lie::PutsAreDropped && self.lies(Lie::PutsAreDropped) {
            return Ok(());
        }
        let mut records = self.records.lock().unwrap();
        let versions = records.entry(key.to_vec()).or_default();
        versions.push(value.to_vec());
        if versions.len() > 2 {
            versions.remove(0);
        }
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), KvError> {
        self.records.lock().unwrap().remove(key);
        Ok(())
    }

    fn scan(&mut self, from: &[u8], most: u32, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<u32, KvError> {
        let (is_stale, moves) = (self.lies(Lie::ScansAreStale), self.lies(Lie::ScansMoveValues));
        let records = self.records.lock().unwrap();
        let found: Vec<_> = records.range(from.to_vec()..).take(most as usize).collect();
        for (at, (key, versions)) in found.iter().enumerate() {
            let versions = match found.get(at + 1) {
                Some((_, next)) if moves => next,
                _ => versions,
            };
            visit(key, version(versions, is_stale));
        }
        Ok(found.len() as u32)
    }
}
