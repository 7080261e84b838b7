//! Miss-ratio curves: a recorded trace replayed on the simulators of policies, for several memory limits.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use outcrop_cache::store::PolicyKind;
use outcrop_measure::units::{ByteSize, given_twice};
use outcrop_workload::keyed::{RequestKind, Trace, TraceEntry};

use crate::simulator::{BYTES_PER_KEY, simulator_of_bytes};

/// What is simulated.
#[derive(Clone, Debug)]
pub struct CurveSpec {
    /// Memory limits in bytes.
    pub memory_bytes: Vec<u64>,
    /// Policies.
    pub policies: Vec<PolicyKind>,
    /// What an object takes besides its key and its value.
    pub overhead_bytes: u32,
    /// The size of values whose size the trace does not give.
    pub value_size_bytes: u32,
    /// Whether a get that missed is followed by a set of its key.
    pub sets_on_miss: bool,
    /// Simulations at once.
    pub threads: usize,
}

/// One policy under one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurvePoint {
    /// The policy.
    pub policy: PolicyKind,
    /// The limit.
    pub memory_bytes: u64,
    /// Gets of the trace.
    pub gets: u64,
    /// Those that found their key.
    pub hits: u64,
    /// Bytes of the values asked for.
    pub asked_bytes: u64,
    /// Bytes of those found.
    pub hit_bytes: u64,
    /// Objects held at the end.
    pub items: u64,
    /// Bytes held at the end, as they count against the limit.
    pub held_bytes: u64,
}

impl CurvePoint {
    /// Misses ÷ gets; none without a get.
    pub fn miss_ratio(&self) -> Option<f64> {
        (self.gets > 0).then(|| (self.gets - self.hits) as f64 / self.gets as f64)
    }

    /// Bytes of the values not found ÷ those of all values asked for; none where no value has a size.
    pub fn byte_miss_ratio(&self) -> Option<f64> {
        (self.asked_bytes > 0).then(|| (self.asked_bytes - self.hit_bytes) as f64 / self.asked_bytes as f64)
    }
}

/// What a trace asks for, whatever the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceFacts {
    /// Gets.
    pub gets: u64,
    /// Gets of a key that no request before had named: they miss in every cache.
    pub first_gets: u64,
    /// Gets that find their key where nothing is ever evicted.
    pub most_hits: u64,
    /// Memory that holds every object that is ever stored, at its largest: more is of no use. 0 where none is.
    pub all_bytes: u64,
    /// Keys whose values have no size in the trace.
    pub keys_without_size: u64,
}

/// Requests between two checks of the stop flag, and two reports of progress.
const LOOK_EVERY: usize = 1 << 16;
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);

impl CurveSpec {
    /// What an object counts for against the limit.
    fn weight(&self, trace: &Trace, entry: &TraceEntry) -> u32 {
        let value_bytes = self.value_bytes(entry);
        let key_bytes = trace.key(entry.key_id).len() as u32;
        (self.overhead_bytes + key_bytes)
            .saturating_add(value_bytes)
            .max(1)
    }

    const fn value_bytes(&self, entry: &TraceEntry) -> u32 {
        match entry.value_size_bytes {
            0 => self.value_size_bytes,
            size_bytes => size_bytes,
        }
    }

    /// What the simulations take of this machine's memory besides the trace.
    pub fn memory_needed(&self, trace: &Trace) -> u64 {
        let at_once = self.threads.min(self.policies.len() * self.memory_bytes.len());
        at_once as u64 * trace.key_count() * (BYTES_PER_KEY + 8)
    }

    /// Reads the trace once for what every cache would meet.
    pub fn facts(&self, trace: &Trace) -> TraceFacts {
        let keys = trace.key_count() as usize;
        let (mut is_known, mut largest) = (vec![false; keys], vec![0_u32; keys]);
        let (mut is_sized, mut is_held) = (vec![false; keys], vec![false; keys]);
        let mut ends = Ends::new(trace);
        let mut facts = TraceFacts {
            gets: 0,
            first_gets: 0,
            most_hits: 0,
            all_bytes: 0,
            keys_without_size: 0,
        };
        for entry in trace.entries() {
            let key = entry.key_id as usize;
            let is_new = !std::mem::replace(&mut is_known[key], true);
            is_held[key] &= !ends.have_come(entry);
            let (is_get, is_set) = (entry.kind == RequestKind::Get, entry.kind == RequestKind::Set);
            if is_get {
                facts.gets += 1;
                facts.first_gets += u64::from(is_new);
                facts.most_hits += u64::from(is_held[key]);
            }
            // A get that hits here may miss in a cache that evicts.
            let may_be_stored = is_set || (is_get && self.sets_on_miss);
            let is_stored = may_be_stored && (is_set || !is_held[key]);
            if is_stored {
                ends.set(entry);
            }
            is_held[key] = is_stored || (is_held[key] && is_get);
            is_sized[key] |= entry.value_size_bytes > 0;
            if may_be_stored {
                largest[key] = largest[key].max(self.weight(trace, entry));
            }
        }
        facts.all_bytes = largest.into_iter().map(u64::from).sum();
        facts.keys_without_size = is_sized.iter().filter(|sized| !**sized).count() as u64;
        facts
    }
}

/// Simulates every policy under every limit, in that order; `progress` is told the share that is done. None when stopped.
/// *Cost*: memory as [`CurveSpec::memory_needed`] says; time in proportion to requests × policies × limits.
pub fn miss_ratio_curve(
    trace: &Trace,
    spec: &CurveSpec,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
) -> Option<Vec<CurvePoint>> {
    let pairs = |policy: &PolicyKind| {
        let policy = *policy;
        spec.memory_bytes
            .iter()
            .map(move |memory_bytes| (policy, *memory_bytes))
    };
    let tasks: Vec<(PolicyKind, u64)> = spec.policies.iter().flat_map(pairs).collect();
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let total = (tasks.len() * trace.entries().len()).max(1) as f64;
    let (points, simulated) = mpsc::channel();
    let mut found: Vec<Option<CurvePoint>> = vec![None; tasks.len()];
    std::thread::scope(|scope| {
        for _ in 0..spec.threads.clamp(1, tasks.len().max(1)) {
            let points = points.clone();
            let (tasks, next, done) = (&tasks, &next, &done);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((policy, memory_bytes)) = tasks.get(number) else {
                        return;
                    };
                    let point = simulate(trace, spec, *policy, *memory_bytes, stop, done);
                    if points.send((number, point)).is_err() || point.is_none() {
                        return;
                    }
                }
            });
        }
        drop(points);
        loop {
            match simulated.recv_timeout(PROGRESS_INTERVAL) {
                Ok((number, point)) => found[number] = point,
                Err(RecvTimeoutError::Timeout) => progress(done.load(Ordering::Relaxed) as f64 / total),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    found.into_iter().collect()
}

/// Replays the trace from an empty cache; none when stopped.
fn simulate(
    trace: &Trace,
    spec: &CurveSpec,
    policy: PolicyKind,
    memory_bytes: u64,
    stop: &AtomicBool,
    done: &AtomicU64,
) -> Option<CurvePoint> {
    let keys = trace.key_count() as u32;
    let mut cache = simulator_of_bytes(policy, memory_bytes, keys);
    let mut ends = Ends::new(trace);
    let mut point = CurvePoint {
        policy,
        memory_bytes,
        gets: 0,
        hits: 0,
        asked_bytes: 0,
        hit_bytes: 0,
        items: 0,
        held_bytes: 0,
    };
    for part in trace.entries().chunks(LOOK_EVERY) {
        for entry in part {
            let key = entry.key_id as u32;
            // What has ended is gone when it is next named; until then it takes its room, as in most servers.
            if ends.have_come(entry) {
                cache.delete(key);
            }
            match entry.kind {
                RequestKind::Get => {
                    let value_bytes = u64::from(spec.value_bytes(entry));
                    let is_hit = cache.get(key);
                    point.gets += 1;
                    point.asked_bytes += value_bytes;
                    if is_hit {
                        point.hits += 1;
                        point.hit_bytes += value_bytes;
                    } else if spec.sets_on_miss {
                        ends.set(entry);
                        cache.set_sized(key, spec.weight(trace, entry));
                    }
                }
                RequestKind::Set => {
                    ends.set(entry);
                    cache.set_sized(key, spec.weight(trace, entry));
                }
                RequestKind::Delete => cache.delete(key),
            }
        }
        done.fetch_add(part.len() as u64, Ordering::Relaxed);
        if stop.load(Ordering::Relaxed) {
            return None;
        }
    }
    point.items = cache.len() as u64;
    point.held_bytes = cache.weight();
    Some(point)
}

/// When objects end, where the trace gives times to live.
struct Ends(Option<Vec<u64>>);

const NEVER: u64 = u64::MAX;

impl Ends {
    fn new(trace: &Trace) -> Self {
        let has_ttl = trace.entries().iter().any(|entry| entry.ttl_s > 0);
        Self(has_ttl.then(|| vec![NEVER; trace.key_count() as usize]))
    }

    fn set(&mut self, entry: &TraceEntry) {
        if let Some(ends) = &mut self.0 {
            ends[entry.key_id as usize] = match entry.ttl_s {
                0 => NEVER,
                ttl_s => entry.at_ns.saturating_add(u64::from(ttl_s) * 1_000_000_000),
            };
        }
    }

    /// Whether the object that a request names has ended; it has no end from then on.
    fn have_come(&mut self, entry: &TraceEntry) -> bool {
        self.0.as_mut().is_some_and(|ends| {
            let end = &mut ends[entry.key_id as usize];
            let has_come = *end <= entry.at_ns;
            if has_come {
                *end = NEVER;
            }
            has_come
        })
    }
}

/// Memory limits as people give them: `64MiB..8GiB` (doublings, both ends included), or `64MiB,96MiB`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemorySizes(pub Vec<u64>);

/// The most memory limits that a curve has.
const MOST_SIZES: usize = 64;

impl MemorySizes {
    /// Doublings up to the memory that holds everything, from a 64th of it: where a curve bends is among them.
    pub fn around(all_bytes: u64) -> Self {
        let most = all_bytes.max(1).next_power_of_two();
        let least = (most >> 6).max(1);
        let doubled = |size: &u64| size.checked_mul(2).filter(|next| *next <= most);
        Self(std::iter::successors(Some(least), doubled).collect())
    }

    /// These sizes, preceded by half of the smallest. `None` if that is 0 or makes too many sizes.
    pub fn from_half(&self) -> Option<Self> {
        let half = self.0.iter().min().map(|least| least / 2)?;
        (half > 0).then(|| self.with([half])).flatten()
    }

    /// These sizes, followed by twice the largest. `None` if that overflows or makes too many sizes.
    pub fn to_double(&self) -> Option<Self> {
        self.with([self.0.iter().max()?.checked_mul(2)?])
    }

    /// These sizes, with more between neighbouring sizes of a range: the doublings of the smaller of the two, or, where they are within four times, one
    /// more: twice the smaller, or their mean if that is less. Where that makes too many, one more for each neighbouring pair. `None` if nothing lies between them, or if
    /// there are still too many.
    pub fn between(&self, from: u64, to: u64) -> Option<Self> {
        let sizes: BTreeSet<u64> = self
            .0
            .iter()
            .copied()
            .filter(|size| (from..=to).contains(size))
            .collect();
        let sizes: Vec<u64> = sizes.into_iter().collect();
        let one = |low: u64, high: u64| vec![low.saturating_mul(2).min(low.midpoint(high))];
        let all = |low: u64, high: u64| match high / 4 > low {
            true => Self::doublings(low, high),
            false => one(low, high),
        };
        let with = |inner: &dyn Fn(u64, u64) -> Vec<u64>| {
            let more = sizes.windows(2).flat_map(|pair| inner(pair[0], pair[1]));
            let more: Vec<u64> = more.filter(|size| !sizes.contains(size)).collect();
            (!more.is_empty()).then(|| self.with(more)).flatten()
        };
        with(&all).or_else(|| with(&one))
    }

    /// These sizes with more, in ascending order.
    fn with(&self, more: impl IntoIterator<Item = u64>) -> Option<Self> {
        let all: BTreeSet<u64> = self.0.iter().copied().chain(more).collect();
        (all.len() <= MOST_SIZES).then(|| Self(all.into_iter().collect()))
    }

    /// Doublings from `low`, ending with `high`: the last step may be less than a doubling.
    fn doublings(low: u64, high: u64) -> Vec<u64> {
        let doubled = |size: &u64| size.checked_mul(2).filter(|next| *next < high);
        let mut sizes: Vec<u64> = std::iter::successors(Some(low), doubled).collect();
        sizes.extend((low < high).then_some(high));
        sizes
    }
}

impl FromStr for MemorySizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse =
            |why: String| format!("`{text}`: {why}; expected 64MiB..8GiB (doublings) or 64MiB,96MiB,128MiB");
        let size = |part: &str| match part.trim().parse::<ByteSize>() {
            Ok(size) if size.0 > 0 => Ok(size.0),
            Ok(_) => Err(refuse("a limit of 0 holds nothing".to_owned())),
            Err(error) => Err(refuse(error.to_string())),
        };
        let sizes = match text.split_once("..") {
            None => text.split(',').map(size).collect::<Result<Vec<u64>, String>>()?,
            Some((low, high)) => {
                let (low, high) = (size(low)?, size(high)?);
                if low > high {
                    return Err(refuse("the first limit is above the last".to_owned()));
                }
                Self::doublings(low, high)
            }
        };
        if sizes.len() > MOST_SIZES {
            return Err(refuse(format!(
                "{} limits are more than {MOST_SIZES}",
                sizes.len()
            )));
        }
        if let Some(size) = given_twice(&sizes) {
            return Err(refuse(format!("{} is given twice", ByteSize(*size))));
        }
        Ok(Self(sizes))
    }
}

impl fmt::Display for MemorySizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [low, _, .., high] = self.0[..]
            && low < high
            && self.0 == Self::doublings(low, high)
        {
            return write!(f, "{}..{}", ByteSize(low), ByteSize(high));
        }
        for (number, size) in self.0.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma}{}", ByteSize(*size))?;
        }
        Ok(())
    }
}

/// Policies as people give them: `all`, or names separated by commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies(pub Vec<PolicyKind>);

impl FromStr for Policies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "all" {
            return Ok(Self(PolicyKind::ALL.to_vec()));
        }
        let policy = |name: &str| {
            name.trim()
                .parse::<PolicyKind>()
                .map_err(|error| error.to_string())
        };
        let policies: Vec<PolicyKind> = text.split(',').map(policy).collect::<Result<_, _>>()?;
        match given_twice(&policies) {
            Some(policy) => Err(format!("{policy} is given twice; keep one of the two")),
            None => Ok(Self(policies)),
        }
    }
}
