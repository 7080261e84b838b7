//! What a store tells about itself.

/// What happened, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Items stored, under a new key or in place of another.
    pub stored: u64,
    /// Items evicted before they expired.
    pub evicted: u64,
    /// Of those, the ones that nobody had read.
    pub evicted_unfetched: u64,
    /// Items removed because they had expired.
    pub expired: u64,
    /// Bytes that cleaning moved.
    pub moved_bytes: u64,
    /// Items read to find those that have ended, where nothing may be evicted.
    pub swept: u64,
    /// Of the items removed because they had ended, those that were found so.
    pub swept_away: u64,
}

/// A store at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreReport {
    /// Items held.
    pub items: u64,
    /// Bytes of their headers, keys and values.
    pub item_bytes: u64,
    /// Memory of items, tables and policy: what the limit is held against.
    pub memory_bytes: u64,
    /// The limit.
    pub limit_bytes: u64,
    /// Chains of the index.
    pub chains: u64,
    /// What happened.
    pub counters: Counters,
}

impl StoreReport {
    /// Adds a shard's report.
    pub(crate) fn add(&mut self, other: &Self) {
        self.items += other.items;
        self.item_bytes += other.item_bytes;
        self.memory_bytes += other.memory_bytes;
        self.limit_bytes += other.limit_bytes;
        self.chains += other.chains;
        let (sum, more) = (&mut self.counters, &other.counters);
        sum.stored += more.stored;
        sum.evicted += more.evicted;
        sum.evicted_unfetched += more.evicted_unfetched;
        sum.expired += more.expired;
        sum.moved_bytes += more.moved_bytes;
        sum.swept += more.swept;
        sum.swept_away += more.swept_away;
    }
}
