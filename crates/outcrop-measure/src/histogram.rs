//! [`LatencyHistogram`]: every latency of a trial in 30 KiB, to 1.6 %.

mod hdr;

use crate::error::MeasureError;
use crate::percentile;

/// Sub-buckets an octave is divided into, as a power of two.
const SUB_BUCKET_BITS: u32 = 6;
/// Sub-buckets an octave: the width of a bucket is at most 1/64 of its low end.
const SUB_BUCKETS: usize = 1 << SUB_BUCKET_BITS;
/// Buckets that cover all 64-bit values: 128 of width one, then 64 for each of the other 57 octaves.
const BUCKETS: usize = (64 - SUB_BUCKET_BITS as usize + 1) * SUB_BUCKETS;
/// Counts stop here (2⁶³ − 1), the most that the exchange format can carry: one operation a nanosecond for 292 years.
const COUNT_LIMIT: u64 = i64::MAX as u64;

/// A log-linear histogram of latencies in nanoseconds, over all of `u64`.
///
/// *Shape*: values below 128 have a bucket each; every octave above is divided into 64 equal buckets. What is
/// read from it is never below the true value and at most 1/64 (1.6 %) above it; count, minimum, maximum and sum are
/// exact. Histograms of jobs, intervals and repetitions merge without further loss.
///
/// *Cost*: 30 KiB, allocated once; [`record`](Self::record) takes about 2 ns: a shift, three additions, a minimum and a
/// maximum, without a branch on the value and without allocation.
///
/// *Source*: the layout is that of HdrHistogram (Tene, <http://hdrhistogram.org>) with half the resolution of
/// its two significant digits; written out here because the hot path must not resize, check or return errors.
#[derive(Clone, PartialEq, Eq)]
pub struct LatencyHistogram {
    counts: Box<[u64; BUCKETS]>,
    count: u64,
    sum_ns: u128,
    /// `u64::MAX` while empty.
    min_ns: u64,
    /// 0 while empty.
    max_ns: u64,
}

/// A bucket of a histogram: how many latencies lie from `low_ns` to `high_ns`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Lowest value of the bucket.
    pub low_ns: u64,
    /// Highest value of the bucket.
    pub high_ns: u64,
    /// How many were recorded in it.
    pub count: u64,
}

/// The exact totals of a histogram, which its encoded buckets cannot carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// How many were recorded.
    pub count: u64,
    /// The smallest latency.
    pub min_ns: u64,
    /// The largest latency.
    pub max_ns: u64,
    /// The sum of all latencies.
    pub sum_ns: u128,
}

/// A point of a complementary cumulative distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CcdfPoint {
    /// Latency.
    pub latency_ns: u64,
    /// Fraction of operations that took longer. The last point's is 0, which a logarithmic axis cannot show.
    pub fraction_above: f64,
}

impl LatencyHistogram {
    /// An empty histogram.
    pub fn new() -> Self {
        // By way of a vector, because a boxed array literal of 30 KiB may pass through the stack.
        let counts = vec![0; BUCKETS]
            .into_boxed_slice()
            .try_into()
            .expect("the slice has BUCKETS elements");
        Self {
            counts,
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// Records one latency.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.counts[index_of(latency_ns)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(latency_ns);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// Records the same latency `count` times.
    pub fn record_many(&mut self, latency_ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        add_count(&mut self.counts[index_of(latency_ns)], count);
        add_count(&mut self.count, count);
        self.sum_ns = self
            .sum_ns
            .saturating_add(u128::from(latency_ns) * u128::from(count));
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// Adds everything that `other` has recorded: the same as having recorded it here.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            add_count(count, *more);
        }
        add_count(&mut self.count, other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.count = 0;
        self.sum_ns = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
    }

    /// How many latencies were recorded. Counts stop growing at 2⁶³ − 1.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was recorded.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The smallest latency, exactly; none when empty.
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min_ns)
    }

    /// The largest latency, exactly; none when empty.
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max_ns)
    }

    /// The sum of all latencies in nanoseconds, exactly.
    pub const fn sum(&self) -> u128 {
        self.sum_ns
    }

    /// The mean latency in nanoseconds, from the exact sum; none when empty.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The exact totals; none when empty.
    pub fn totals(&self) -> Option<Totals> {
        (!self.is_empty()).then_some(Totals {
            count: self.count,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            sum_ns: self.sum_ns,
        })
    }

    /// The latency that a fraction `quantile` of operations did not exceed; none when empty.
    ///
    /// That is the high end of the bucket holding the ⌈q·n⌉-th smallest latency, but not more than the largest
    /// recorded: at least the true value, at most 1.6 % above it. `quantile` ≤ 0 gives the bucket of the minimum,
    /// ≥ 1 the exact maximum.
    ///
    /// Given whatever the sample supports: for reports, [`percentile`](Self::percentile).
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let rank = percentile::rank(self.count, quantile);
        let mut seen = 0;
        self.buckets()
            .find(|bucket| {
                seen += bucket.count;
                seen >= rank
            })
            .map(|bucket| bucket.high_ns.min(self.max_ns))
    }

    /// [`quantile`](Self::quantile), if enough latencies lie above it to support it: n(1−q) ≥ 10.
    pub fn percentile(&self, quantile: f64) -> Option<u64> {
        if percentile::is_supported(self.count, quantile) {
            self.quantile(quantile)
        } else {
            None
        }
    }

    /// The buckets in which something was recorded, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(index, count)| {
                let (low_ns, high_ns) = range_of(index);
                Bucket {
                    low_ns,
                    high_ns,
                    count: *count,
                }
            })
    }

    /// For each latency that occurs (as the high end of its bucket, at most the maximum), the fraction of
    /// operations above it. Ascending in latency, falling to 0.
    pub fn ccdf(&self) -> impl Iterator<Item = CcdfPoint> + '_ {
        let mut above = self.count;
        self.buckets().map(move |bucket| {
            above = above.saturating_sub(bucket.count);
            CcdfPoint {
                latency_ns: bucket.high_ns.min(self.max_ns),
                fraction_above: above as f64 / self.count as f64,
            }
        })
    }

    /// Encodes the buckets as base64 of HdrHistogram's V2 format, deflated, with two significant digits, which
    /// its tools read. The totals are kept by the caller: [`totals`](Self::totals).
    pub fn to_hdr_base64(&self) -> String {
        hdr::encode(self)
    }

    /// Decodes what [`to_hdr_base64`](Self::to_hdr_base64) or another HdrHistogram of two or three digits wrote.
    ///
    /// The buckets come back exactly; minimum, maximum and sum are then the ends and middles of buckets, until
    /// [`with_totals`](Self::with_totals) puts the exact ones back.
    ///
    /// # Errors
    /// [`MeasureError::Histogram`] on anything else. Takes a bounded amount of memory, whatever the text says.
    pub fn from_hdr_base64(text: &str) -> Result<Self, MeasureError> {
        hdr::decode(text)
    }

    /// Replaces the totals of a decoded histogram by the exact ones that were kept beside it.
    ///
    /// # Errors
    /// [`MeasureError::Totals`] when they are impossible for these buckets.
    pub fn with_totals(mut self, totals: &Totals) -> Result<Self, MeasureError> {
        let contradiction = |problem: String| Err(MeasureError::Totals { problem });
        if totals.count != self.count {
            return contradiction(format!(
                "the count is {}, the buckets hold {}",
                totals.count, self.count
            ));
        }
        let (Some(first), Some(last)) = (self.buckets().next(), self.buckets().last()) else {
            return Ok(self);
        };
        for (name, value_ns, bucket) in [
            ("minimum", totals.min_ns, first),
            ("maximum", totals.max_ns, last),
        ] {
            if !(bucket.low_ns..=bucket.high_ns).contains(&value_ns) {
                return contradiction(format!(
                    "the {name} is {value_ns} ns, its bucket goes from {} to {} ns",
                    bucket.low_ns, bucket.high_ns
                ));
            }
        }
        let sum_of = |end: fn(&Bucket) -> u64| -> u128 {
            self.buckets()
                .map(|bucket| u128::from(end(&bucket)) * u128::from(bucket.count))
                .sum()
        };
        let (least_ns, most_ns) = (sum_of(|bucket| bucket.low_ns), sum_of(|bucket| bucket.high_ns));
        if !(least_ns..=most_ns).contains(&totals.sum_ns) {
            return contradiction(format!(
                "the sum is {} ns, the buckets allow {least_ns} to {most_ns} ns",
                totals.sum_ns
            ));
        }
        (self.min_ns, self.max_ns, self.sum_ns) = (totals.min_ns, totals.max_ns, totals.sum_ns);
        Ok(self)
    }

    /// Sets the totals to what the buckets alone say.
    fn estimate_totals(&mut self) {
        let (mut count, mut sum_ns, mut min_ns, mut max_ns) = (0u64, 0u128, u64::MAX, 0);
        for bucket in self.buckets() {
            let middle_ns = bucket.low_ns + (bucket.high_ns - bucket.low_ns) / 2;
            add_count(&mut count, bucket.count);
            sum_ns += u128::from(middle_ns) * u128::from(bucket.count);
            min_ns = min_ns.min(bucket.low_ns);
            max_ns = bucket.high_ns;
        }
        (self.count, self.sum_ns, self.min_ns, self.max_ns) = (count, sum_ns, min_ns, max_ns);
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for LatencyHistogram {
    /// Prints the totals and the occupied buckets instead of 3,776 counts.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("LatencyHistogram")
            .field("totals", &self.totals())
            .field("buckets", &self.buckets().collect::<Vec<_>>())
            .finish()
    }
}

/// The bucket of a value, without a branch: below 128 the value itself, above it the octave and the six
/// bits behind the leading one.
#[inline]
const fn index_of(value: u64) -> usize {
    // The mask puts all values below 128 into the first octave that is divided, where the shift is zero.
    let shift = 63 - SUB_BUCKET_BITS - (value | (SUB_BUCKETS as u64 * 2 - 1)).leading_zeros();
    ((shift as usize) << SUB_BUCKET_BITS) + (value >> shift) as usize
}

/// The lowest and highest value of a bucket.
const fn range_of(index: usize) -> (u64, u64) {
    if index < 2 * SUB_BUCKETS {
        return (index as u64, index as u64);
    }
    let shift = index / SUB_BUCKETS - 1;
    let low = ((index % SUB_BUCKETS + SUB_BUCKETS) as u64) << shift;
    (low, low + ((1 << shift) - 1))
}

/// Adds to a count, which stops at [`COUNT_LIMIT`].
fn add_count(count: &mut u64, more: u64) {
    *count = count.saturating_add(more).min(COUNT_LIMIT);
}
