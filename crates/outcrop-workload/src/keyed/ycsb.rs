//! The generators of YCSB's core workloads: the same keys as YCSB draws, given the same random numbers.
//!
//! *Source*: YCSB 0.17.0 (`site.ycsb:core`): `CoreWorkload`, `Utils`, `ScrambledZipfianGenerator`, `SkewedLatestGenerator`
//! and `ZipfianGenerator`, and Cooper et al., "Benchmarking cloud serving systems with YCSB", SoCC 2010. Tests compare
//! the first 10,000 draws of each with those of YCSB's own classes.

mod zipfian;

pub use zipfian::GrayZipfian;

/// The skew of YCSB's Zipfian generators.
pub const THETA: f64 = 0.99;
/// Fields of a record; a record is these fields one after another, without names or lengths.
pub const FIELDS: u64 = 10;
/// Bytes of a field.
pub const FIELD_BYTES: u64 = 100;
/// A scan reads 1 to this many records, evenly distributed.
pub const LONGEST_SCAN: u32 = 100;

/// What the scrambled generator draws from before it folds, and the sum of `1/k^0.99` over as many.
const SCRAMBLED_ITEMS: u64 = 10_000_000_000;
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;

/// FNV-1 over the eight bytes of a number, lowest first, without its sign: `Utils.fnvhash64`.
#[inline]
pub const fn fnv64(number: u64) -> u64 {
    let bytes = number.to_le_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        index += 1;
    }
    (hash as i64).unsigned_abs()
}

/// Appends the name of a record's key: `user` and the hash of its number in decimal, 5 to 23 bytes.
///
/// Two records share a name where their hashes collide: one pair in 10⁵ stores of 10 million records.
#[inline]
pub fn write_key(key_id: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"user");
    out.extend_from_slice(itoa::Buffer::new().format(fnv64(key_id)).as_bytes());
}

/// Popular keys scattered over all: ranks of a Zipf distribution over 10¹⁰ items, folded onto the keys by [`fnv64`].
///
/// Its skew is weaker than its θ says: the 10¹⁰ items have a long tail, which the fold spreads evenly over all keys.
#[derive(Clone, Debug)]
pub struct ScrambledZipfian {
    ranks: GrayZipfian,
    key_count: u64,
}

impl ScrambledZipfian {
    /// Keys `0..key_count`; a count of 0 is taken as 1.
    pub fn new(key_count: u64) -> Self {
        Self {
            // YCSB names the largest item where it means the number of items, hence one more.
            ranks: GrayZipfian::with_zeta(SCRAMBLED_ITEMS + 1, THETA, SCRAMBLED_ZETA),
            key_count: key_count.max(1),
        }
    }

    /// How many keys YCSB spreads the requests over: those loaded, twice the inserts that are expected, and one.
    ///
    /// Popular keys then stay the same while the store grows. A key that is not there yet is drawn again.
    pub fn key_count(records: u64, operations: u64, insert_share: f64) -> u64 {
        let expected = (operations as f64 * insert_share * 2.0) as u64;
        records.saturating_add(expected).saturating_add(1)
    }

    /// The key of a uniform draw from 0 to below 1.
    #[inline]
    pub fn key(&self, draw: f64) -> u64 {
        fnv64(self.ranks.rank(draw)) % self.key_count
    }
}

/// Recent keys first: the distance from the newest key has a Zipf distribution.
///
/// As in YCSB, key 0 is never drawn, and one constant of the approximation stays that of the first count.
#[derive(Clone, Debug)]
pub struct SkewedLatest {
    distances: GrayZipfian,
}

impl SkewedLatest {
    /// A store whose newest key is `last`.
    pub fn new(last: u64) -> Self {
        Self {
            distances: GrayZipfian::new(last, THETA),
        }
    }

    /// The key of a uniform draw from 0 to below 1, where the newest key is now `last`.
    ///
    /// *Cost*: three more powers where `last` has grown since the call before.
    #[inline]
    pub fn key(&mut self, draw: f64, last: u64) -> u64 {
        self.distances.grow(last);
        last - self.distances.rank(draw).min(last)
    }
}
