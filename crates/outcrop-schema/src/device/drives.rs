//! Several drives at the same time: the places, how many of them are loaded, and what each gives.

use crate::factor::{Factor, Label, Role};
use crate::metrics::{Metric, metric};
use crate::parse::{any, small_count};

/// Drives that one run loads at the same time, at most.
pub const MOST_DRIVES: u32 = 8;

/// Stands between the places, and between the names of devices that are overwritten. A path that contains it cannot be named.
pub const BETWEEN_DRIVES: &str = ":";

/// The places beside the first.
pub static ALSO: Factor<String> = Factor::new(
    "also",
    "More directories, files or devices, each on another drive, that are loaded at the same time",
    any,
)
.accepts("scratch files: directories for further ones; read-only subjects: files or block devices; destroyed devices: block devices, each named in `destroy`; separated by `:`")
.role(Role::Data);
/// How many of the places.
pub static DRIVES: Factor<u32> = Factor::new(
    "drives",
    "Drives loaded at the same time, of the first and those that `also` adds",
    small_count::<MOST_DRIVES>,
)
.default("1")
.accepts("how many of the subject's drives are loaded at the same time: on each `jobs` with `queue_depth`, and in an open loop the rate")
.label(Label::Unusual("{} drives"))
.assumed("1");

/// A metric of each drive.
macro_rules! of_each_drive {
    ($ending:literal, $unit:ident, $better:ident, $what:literal) => {
        of_each_drive!(@ $ending, $unit, $better, $what; 1 2 3 4 5 6 7 8)
    };
    (@ $ending:literal, $unit:ident, $better:ident, $what:literal; $($number:literal)+) => {
        [$(metric!(
            concat!("drive_", $number, $ending),
            $unit,
            $better,
            Trial,
            concat!($what, " drive ", $number, ", where several are loaded at the same time")
        )),+]
    };
}

/// Operations per second of each drive.
pub const DRIVE_IOPS: [Metric; MOST_DRIVES as usize] =
    of_each_drive!("_iops", PerSecond, Higher, "operations completed per second by");
/// Bytes per second of each drive.
pub const DRIVE_BANDWIDTH: [Metric; MOST_DRIVES as usize] =
    of_each_drive!("_bandwidth", BytesPerSecond, Higher, "bytes moved per second by");
/// The latency that one operation of a drive in a hundred exceeds.
pub const DRIVE_P99: [Metric; MOST_DRIVES as usize] = of_each_drive!(
    "_latency_p99",
    Nanoseconds,
    Lower,
    "99th percentile of the latency of an operation of"
);
