//! The units that publications use, and what they are in base units.

use outcrop_measure::metric::Unit;

/// Published spelling, base unit, factor from the one to the other. `MB` is 10^6 bytes, `MiB` 2^20.
const SCALES: [(&str, Unit, f64); 33] = [
    ("B/s", Unit::BytesPerSecond, 1.0),
    ("kB/s", Unit::BytesPerSecond, 1e3),
    ("KB/s", Unit::BytesPerSecond, 1e3),
    ("MB/s", Unit::BytesPerSecond, 1e6),
    ("GB/s", Unit::BytesPerSecond, 1e9),
    ("KiB/s", Unit::BytesPerSecond, 1024.0),
    ("MiB/s", Unit::BytesPerSecond, 1_048_576.0),
    ("GiB/s", Unit::BytesPerSecond, 1_073_741_824.0),
    ("1/s", Unit::PerSecond, 1.0),
    ("IOPS", Unit::PerSecond, 1.0),
    ("k/s", Unit::PerSecond, 1e3),
    ("kIOPS", Unit::PerSecond, 1e3),
    ("ns", Unit::Nanoseconds, 1.0),
    ("us", Unit::Nanoseconds, 1e3),
    ("µs", Unit::Nanoseconds, 1e3),
    ("ms", Unit::Nanoseconds, 1e6),
    ("s", Unit::Nanoseconds, 1e9),
    ("ns/op", Unit::NanosecondsPerOperation, 1.0),
    ("us/op", Unit::NanosecondsPerOperation, 1e3),
    ("ns/B", Unit::NanosecondsPerByte, 1.0),
    ("bit/B", Unit::BitsPerByte, 1.0),
    ("B", Unit::Bytes, 1.0),
    ("KiB", Unit::Bytes, 1024.0),
    ("MiB", Unit::Bytes, 1_048_576.0),
    ("GiB", Unit::Bytes, 1_073_741_824.0),
    ("MB", Unit::Bytes, 1e6),
    ("GB", Unit::Bytes, 1e9),
    ("ratio", Unit::Ratio, 1.0),
    ("%", Unit::Ratio, 0.01),
    ("count", Unit::Count, 1.0),
    ("J", Unit::Joules, 1.0),
    ("W", Unit::Watts, 1.0),
    ("mW", Unit::Watts, 1e-3),
];

/// The base unit of a published unit, and the factor into it.
pub(super) fn base_of(published: &str) -> Option<(Unit, f64)> {
    SCALES
        .iter()
        .find(|(name, ..)| *name == published)
        .map(|&(_, unit, factor)| (unit, factor))
}

/// Every spelling that is understood, for error messages.
pub(super) fn known() -> String {
    SCALES
        .iter()
        .map(|(name, ..)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}
