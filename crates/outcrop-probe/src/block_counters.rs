//! The kernel's counters of a block device: what reached it, whoever asked.
//!
//! *Source*: Linux, Documentation/block/stat.rst.

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

pub use crate::block_device::{AttachedLoop, BlockDevice, LoopFile};
use crate::system_tree::excerpt;

/// Counted since boot, or between two readings (see [`Counters::since`]).
///
/// Operations are those that the device completed, after merging; sizes are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Discards completed (Linux 4.18 on, else 0).
    pub discards: u64,
    /// Bytes discarded.
    pub discarded_bytes: u64,
    /// Flushes completed (Linux 5.5 on, else 0).
    pub flushes: u64,
    /// Operations under way at the time of reading; in a difference, at its end.
    pub in_flight: u64,
    /// Wall time with at least one operation under way.
    pub busy_ms: u64,
    /// Time summed over all operations; over the wall time, it is the mean queue depth.
    pub weighted_ms: u64,
}

/// The unit of /sys/block sizes, whatever the device's own sector size.
const SECTOR_SIZE_BYTES: u64 = 512;

impl BlockDevice {
    /// Reads the counters now. *Cost*: two small files; some drivers gather per-CPU counts for it.
    ///
    /// # Errors
    /// The device went away, its driver keeps no counters, or the kernel was told to count nothing.
    pub fn counters(&self) -> Result<Counters, Unavailable> {
        let is_counted = self.tree().text(self.disk_attribute("queue/iostats"));
        if is_counted.is_ok_and(|told| told.trim() == "0") {
            return Err(Unavailable::because(format!(
                "the kernel does not count the requests of {}: its queue/iostats in /sys is 0",
                self.name()
            )));
        }
        let text = self.tree().text(self.attribute("stat"))?;
        parse(&text).ok_or_else(|| {
            Unavailable::because(format!(
                "/sys/dev/block/{}/stat holds `{}`",
                self.number(),
                excerpt(&text)
            ))
        })
    }
}

impl Counters {
    /// What was counted between `earlier` and this reading of the same device.
    ///
    /// The kernel keeps times in 32 bits (49 days); one wrap is allowed for.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.wrapping_sub(earlier.reads),
            read_bytes: self.read_bytes.wrapping_sub(earlier.read_bytes),
            writes: self.writes.wrapping_sub(earlier.writes),
            written_bytes: self.written_bytes.wrapping_sub(earlier.written_bytes),
            discards: self.discards.wrapping_sub(earlier.discards),
            discarded_bytes: self.discarded_bytes.wrapping_sub(earlier.discarded_bytes),
            flushes: self.flushes.wrapping_sub(earlier.flushes),
            in_flight: self.in_flight,
            busy_ms: elapsed_ms(self.busy_ms, earlier.busy_ms),
            weighted_ms: elapsed_ms(self.weighted_ms, earlier.weighted_ms),
        }
    }
}

const fn elapsed_ms(later: u64, earlier: u64) -> u64 {
    (later as u32).wrapping_sub(earlier as u32) as u64
}

/// 11 columns since Linux 2.6, 15 with discards, 17 with flushes; later ones may add more.
fn parse(text: &str) -> Option<Counters> {
    let columns: Vec<u64> = text
        .split_ascii_whitespace()
        .map(|column| column.parse().ok())
        .collect::<Option<_>>()?;
    let column = |index: usize| columns.get(index).copied();
    let or_zero = |index: usize| column(index).unwrap_or(0);
    Some(Counters {
        reads: column(0)?,
        read_bytes: column(2)?.wrapping_mul(SECTOR_SIZE_BYTES),
        writes: column(4)?,
        written_bytes: column(6)?.wrapping_mul(SECTOR_SIZE_BYTES),
        in_flight: column(8)?,
        busy_ms: column(9)?,
        weighted_ms: column(10)?,
        discards: or_zero(11),
        discarded_bytes: or_zero(13).wrapping_mul(SECTOR_SIZE_BYTES),
        flushes: or_zero(15),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_of_old_and_new_kernels_are_understood() {
        let old = parse("1 2 3 4 5 6 7 8 9 10 11\n").unwrap();
        let expected = Counters {
            reads: 1,
            read_bytes: 3 * 512,
            writes: 5,
            written_bytes: 7 * 512,
            in_flight: 9,
            busy_ms: 10,
            weighted_ms: 11,
            ..Counters::default()
        };
        assert_eq!(old, expected);
        let new = parse("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19").unwrap();
        assert_eq!(
            new,
            Counters {
                discards: 12,
                discarded_bytes: 14 * 512,
                flushes: 16,
                ..expected
            }
        );
        assert_eq!(parse("1 2 3 4 5 6 7 8 9 10"), None);
        assert_eq!(parse("1 2 3 4 5 x 7 8 9 10 11"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_no_panic(text in "([0-9]{1,20}[ \n]){0,20}|\\PC*") {
            let counters = parse(&text).unwrap_or_default();
            let _ = counters.since(&Counters { busy_ms: u64::MAX, reads: u64::MAX, ..Counters::default() });
        }

        #[test]
        fn times_survive_the_wrap_of_their_32_bits(earlier in any::<u32>(), elapsed in any::<u32>()) {
            let at = |busy: u32| Counters { busy_ms: u64::from(busy), ..Counters::default() };
            let later = at(earlier.wrapping_add(elapsed));
            prop_assert_eq!(later.since(&at(earlier)).busy_ms, u64::from(elapsed));
        }
    }
}
