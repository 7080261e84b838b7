//! Quantities as people read them: three significant digits and the right prefix (`352 k IOPS`).
//!
//! Rounded for the eye: exact values are in the records, and [`ByteSize`](super::ByteSize),
//! [`TimeSpan`](super::TimeSpan) and [`Rate`](super::Rate) print exactly.

use super::byte_size;
use crate::metric::Unit;

/// A step of a unit's scale: values from `size` on are divided by it and carry `suffix`.
type Step = (f64, &'static str);

const DECIMAL: [Step; 5] = [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")];
const BYTES: [Step; 7] = [
    (1.0, "B"),
    (1e3, "kB"),
    (1e6, "MB"),
    (1e9, "GB"),
    (1e12, "TB"),
    (1e15, "PB"),
    (1e18, "EB"),
];
const NANOSECONDS: [Step; 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
const JOULES: [Step; 5] = [(1e-6, "µJ"), (1e-3, "mJ"), (1.0, "J"), (1e3, "kJ"), (1e6, "MJ")];
const WATTS: [Step; 5] = [(1e-6, "µW"), (1e-3, "mW"), (1.0, "W"), (1e3, "kW"), (1e6, "MW")];

impl Unit {
    /// Prints `value`, given in this unit, with three significant digits and the prefix that fits:
    /// `1.20 GB/s`, `352 k/s`, `62.8 µs`, `4.10 kB`.
    pub fn format(self, value: f64) -> String {
        match self {
            Self::Bytes => format_data(value),
            Self::BytesPerSecond => format_bandwidth(value),
            Self::PerSecond => format_steps(value, &DECIMAL, "/s"),
            Self::Nanoseconds => format_nanoseconds(value),
            Self::NanosecondsPerOperation => format_steps(value, &NANOSECONDS, "/op"),
            Self::NanosecondsPerByte => format_steps(value, &NANOSECONDS, "/B"),
            Self::BitsPerByte => format!("{} bit/B", three_digits(value)),
            Self::Ratio => format_ratio(value),
            Self::Count => format_count(value),
            Self::Joules => format_steps(value, &JOULES, ""),
            Self::Watts => format_steps(value, &WATTS, ""),
        }
    }
}

/// A value with the ends of its interval, all as they were formatted; the ends have a unit only where it is not the value's:
/// `97.9 k IOPS (97.6–110)`, `1.02 GB/s (990 MB/s–1.10 GB/s)`. Numbers without a unit are all in the prefix of the value, since nothing else
/// would tell that an end without a prefix is not in it: `590 (45.0–8,260)`, `24.9 k (0.0320–35.7)`.
pub fn format_with_range(value: &str, low: &str, high: &str) -> String {
    if let (Some((_, size)), Some(low), Some(high)) = (scaled(value), scaled(low), scaled(high))
        && (low.1, high.1) != (size, size)
    {
        let [low, high] = [low, high].map(|(number, its)| grouped(number * its / size));
        return format!("{value} ({low}–{high})");
    }
    let ends = format_range(low, high);
    let ends = match (value.split_once(' '), low.split_once(' '), ends.split_once(' ')) {
        (Some((_, unit)), Some((_, first)), Some((numbers, second))) if unit == first && unit == second => {
            numbers
        }
        _ => &ends,
    };
    format!("{value} ({ends})")
}

/// The ends of an interval, with the unit once where it is the same: `97.6–110 k IOPS`, `990 MB/s–1.10 GB/s`. Zero needs no unit:
/// `0–264 k/s`.
fn format_range(low: &str, high: &str) -> String {
    let low = match low.split_once(' ') {
        Some(("0", _)) if high.contains(' ') => "0",
        _ => low,
    };
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

/// A formatted number and the size of its decimal prefix, 1 without one; none where it has a unit.
fn scaled(text: &str) -> Option<(f64, f64)> {
    let (number, prefix) = text.split_once(' ').unwrap_or((text, ""));
    let (size, _) = DECIMAL.iter().find(|(_, suffix)| *suffix == prefix)?;
    Some((number.parse().ok()?, *size))
}

/// Three significant digits; of large numbers all that stand before the point, in groups of three.
fn grouped(number: f64) -> String {
    match number {
        large if (1e3..1e15).contains(&large) => format_exact_count(large.round() as u64),
        other => three_digits(other),
    }
}

/// I/O operations per second: `352 k IOPS`.
pub fn format_iops(per_second: f64) -> String {
    format_steps(per_second, &DECIMAL, " IOPS")
}

/// Bytes per second with decimal prefixes, as devices are sold: `1.20 GB/s`.
pub fn format_bandwidth(bytes_per_second: f64) -> String {
    format_steps(bytes_per_second, &BYTES, "/s")
}

/// A time given in nanoseconds: `62.8 µs`.
pub fn format_nanoseconds(nanoseconds: f64) -> String {
    format_steps(nanoseconds, &NANOSECONDS, "")
}

/// How much data there are, as storage is sold, with a decimal prefix: `1.23 MB`. Sizes that somebody chose, such as those of blocks, are
/// [`format_bytes`]'s.
///
/// ```
/// use outcrop_measure::units::format_data;
/// assert_eq!([0.0, 512.0, 65_536.0, 12_345_678.0].map(format_data), ["0 B", "512 B", "65.5 kB", "12.3 MB"]);
/// ```
pub fn format_data(bytes: f64) -> String {
    match bytes {
        few if few.fract() == 0.0 && few.abs() < 1000.0 => format!("{few} B"),
        bytes => format_steps(bytes, &BYTES, ""),
    }
}

/// A size that somebody chose: a whole multiple of a binary unit exactly (`4 KiB`), anything else with a decimal prefix (`1.23 MB`).
/// How much data there are is [`format_data`]'s.
pub fn format_bytes(bytes: u64) -> String {
    // The largest unit that leaves nothing over, while the number in front stays readable.
    let exact = byte_size::PREFIXES
        .iter()
        .rev()
        .find(|(_, binary, _)| bytes >= *binary && bytes.is_multiple_of(*binary))
        .map(|(name, binary, _)| (bytes / binary, name));
    match exact {
        _ if bytes < 1000 => format!("{bytes} B"),
        Some((count, name)) if count < 10_000 => {
            let name = if *name == "k" { "K" } else { name };
            format!("{count} {name}iB")
        }
        _ => format_steps(bytes as f64, &BYTES, ""),
    }
}

/// A ratio with three significant digits: `0.912`, `1.00`, `12.3`.
pub fn format_ratio(ratio: f64) -> String {
    match ratio.abs() {
        // Plain digits would be a row of zeros.
        magnitude if magnitude > 0.0 && magnitude < 1e-4 => format!("{ratio:.2e}"),
        _ => three_digits(ratio),
    }
}

/// Every digit of a count, in groups of three: `1,500,000`.
///
/// ```
/// use outcrop_measure::units::format_exact_count;
/// assert_eq!([0, 999, 1_500_000].map(format_exact_count), ["0", "999", "1,500,000"]);
/// ```
pub fn format_exact_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count: exact when whole and below 10,000 (`1024`), else with a decimal prefix (`1.23 M`).
pub fn format_count(count: f64) -> String {
    if count.fract() == 0.0 && count.abs() < 10_000.0 {
        format!("{count}")
    } else {
        format_steps(count, &DECIMAL, "")
    }
}

/// Scales `value` to the step that leaves 1 to 999 before the point, and appends the step's suffix and `tail`.
///
/// Values beyond either end of the scale take its first or last step; zero takes the unit without a prefix.
fn format_steps(value: f64, steps: &[Step], tail: &str) -> String {
    // 999.5 and more would print as 1000.
    let fits = |step: &&Step| (value / step.0).abs() < 999.5;
    let has_no_prefix = |step: &&Step| step.0 == 1.0;
    let is_without_scale = value == 0.0 || !value.is_finite();
    let step = if is_without_scale {
        steps.iter().find(has_no_prefix)
    } else {
        steps.iter().find(fits)
    };
    let (size, suffix) = *step.or(steps.last()).unwrap_or(&(1.0, ""));
    let unit = [suffix, tail].concat();
    let separator = if unit.is_empty() { "" } else { " " };
    format!("{}{separator}{}", three_digits(value / size), unit.trim_start())
}

/// Three significant digits; whole numbers keep all their digits, and zero is `0`.
fn three_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    // Rounding may carry into a new digit (9.996 → 10.0), so the exponent is read off the rounded value.
    let rounded = format!("{value:.2e}");
    let exponent = rounded
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse::<i32>().ok())
        .unwrap_or(0);
    let decimals = usize::try_from(2 - exponent).unwrap_or(0);
    format!("{value:.decimals$}")
}
