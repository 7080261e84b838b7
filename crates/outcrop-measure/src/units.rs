//! Quantities: exact types for what is asked (`4KiB`, `30s`, `10k/s`), and printing for what was measured
//! (`1.20 GB/s`, `352 k IOPS`, `62.8 µs`).
//!
//! The types print in one canonical form that reads back as the same value, so that plans, flags and records
//! share one spelling. The `format_*` functions round to three significant digits and are for eyes only.

mod byte_size;
mod count;
mod decimal;
mod human;
mod list;
mod quantity;
mod rate;
pub(crate) mod text_serde;
mod time_span;

pub use byte_size::ByteSize;
pub use count::parse_count;
pub use human::{
    format_bandwidth, format_bytes, format_count, format_data, format_exact_count, format_iops,
    format_nanoseconds, format_ratio, format_with_range,
};
pub use list::given_twice;
pub use rate::Rate;
pub use time_span::TimeSpan;
