//! Sizes, counts and times as fio spells them.
//!
//! *Source*: fio's HOWTO, "Parameter types". Where it differs from Outcrop: `4KiB` is 4000 bytes and `4k` 4096, unless `kb_base=1000`
//! turns them around; a time without a unit is in seconds.

use std::time::Duration;

/// Reads a size or a count: `4k`, `4096`, `0x1000`, `1.5g`, `4KiB`.
pub(crate) fn bytes(text: &str, is_si: bool) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).map_err(|_| no_size(text));
    }
    let split = lower
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(lower.len());
    let (number, unit) = lower.split_at(split);
    let number: f64 = number.parse().map_err(|_| no_size(text))?;
    let unit = unit.strip_suffix('b').unwrap_or(unit);
    let (prefix, has_i) = match unit.strip_suffix('i') {
        Some(prefix) => (prefix, true),
        None => (unit, false),
    };
    let base: f64 = if has_i == is_si { 1024.0 } else { 1000.0 };
    let power = match prefix {
        "" if !has_i => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(no_size(text)),
    };
    let value = number * base.powi(power);
    // Below 2^53 every whole number is exact.
    if value.fract() != 0.0 || value >= 9e15 {
        return Err(no_size(text));
    }
    Ok(value as u64)
}

fn no_size(text: &str) -> String {
    match text.ends_with('%') {
        true => format!("`{text}` is a share of a file or device; expected a size such as 1g"),
        false => format!("`{text}` is not a size; expected for instance 4k, 128k or 1g"),
    }
}

/// Reads a time: `30`, `30s`, `5m`, `500ms`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let refuse = || format!("`{text}` is not a time; expected for instance 30, 30s, 5m or 500ms");
    let lower = text.trim().to_ascii_lowercase();
    let split = lower
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(lower.len());
    let (number, unit) = lower.split_at(split);
    let number: f64 = number.parse().map_err(|_| refuse())?;
    let seconds = match unit {
        "us" | "usec" => 1e-6,
        "ms" | "msec" => 1e-3,
        "" | "s" | "sec" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(refuse()),
    };
    Duration::try_from_secs_f64(number * seconds).map_err(|_| refuse())
}

/// Whether a flag is set: `1`, `0`, or the option alone.
pub(crate) fn flag(text: &str) -> Result<bool, String> {
    match text.trim() {
        "" | "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        other => Err(format!("`{other}` is neither 0 nor 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_fio_in_both_bases() {
        for (text, binary, si) in [
            ("4k", 4096, 4000),
            ("4K", 4096, 4000),
            ("4kb", 4096, 4000),
            ("4KiB", 4000, 4096),
            ("4ki", 4000, 4096),
            ("1g", 1 << 30, 1_000_000_000),
            ("0x1000", 4096, 4096),
            ("512", 512, 512),
            ("0.5k", 512, 500),
        ] {
            assert_eq!(bytes(text, false), Ok(binary), "{text}");
            assert_eq!(bytes(text, true), Ok(si), "{text} with kb_base=1000");
        }
        for text in [
            "",
            "k",
            "4x",
            "-4k",
            "1e3",
            "100%",
            "999999999999999999g",
            "0.3k",
            "nan",
        ] {
            assert!(bytes(text, false).is_err(), "{text}");
        }
    }

    #[test]
    fn times_without_a_unit_are_in_seconds() {
        assert_eq!(time("30"), Ok(Duration::from_secs(30)));
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for text in ["", "s", "-1", "5 minutes", "1e400"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
