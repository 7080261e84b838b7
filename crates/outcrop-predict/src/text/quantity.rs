//! One figure or a curve, as text: `27us`, `27us@4KiB, 172us@64KiB`, `20.6us + 2.1ns/B`, each with `±10%` behind it.

use super::MeasuredFigure;
use crate::curve::Curve;
use outcrop_measure::Unit;
use outcrop_measure::units::given_twice;

/// A value and how far it may be off, as a fraction.
pub(super) fn with_error(text: &str) -> Result<(&str, f64), String> {
    let Some((value, error)) = text.split_once('±').or_else(|| text.split_once("+-")) else {
        return Ok((text, 0.0));
    };
    let percent = error
        .trim()
        .strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok());
    match percent.filter(|percent| (0.0..100.0).contains(percent)) {
        Some(percent) => Ok((value, percent / 100.0)),
        None => Err(format!(
            "`{}` is not an error; expected a percentage, as in 27us ±10%",
            error.trim()
        )),
    }
}

/// A number in a unit.
pub(super) fn number(text: &str, unit: Unit) -> Result<f64, String> {
    let trimmed = text.trim();
    let text = match unit {
        Unit::PerSecond => rate(trimmed),
        _ => trimmed.to_owned(),
    };
    unit.parse(&text).map_err(|error| error.to_string())
}

/// Operations per second, or bytes per second where the text says so: `10547 MB/s`.
pub(super) fn rate_or_bandwidth(text: &str) -> Result<MeasuredFigure, String> {
    let (unit, figure): (_, fn(f64) -> MeasuredFigure) = match text.trim().ends_with("B/s") {
        true => (Unit::BytesPerSecond, MeasuredFigure::Bandwidth),
        false => (Unit::PerSecond, MeasuredFigure::Throughput),
    };
    match number(text, unit)? {
        value if value > 0.0 => Ok(figure(value)),
        _ => Err("it is 0; expected operations per second".to_owned()),
    }
}

/// A share of the whole: `35 %` or `0.35`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => number(percent, Unit::Ratio)? / 100.0,
        None => number(text, Unit::Ratio)?,
    };
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(format!(
            "`{}` is not a share; expected 35% or 0.35, at most 100%",
            text.trim()
        )),
    }
}

/// Operations per second, as people write them: `212 Kops/s` is `212k`.
fn rate(text: &str) -> String {
    let lower = text.to_lowercase();
    let endings = ["operations/s", "ops/s", "op/s", "iops", "ops", "/s"];
    let ending = endings.iter().find(|ending| lower.ends_with(*ending));
    let bare = ending
        .map_or(text, |ending| &text[..text.len() - ending.len()])
        .trim_end();
    match bare.strip_suffix('K') {
        Some(number) => format!("{number}k"),
        None => bare.to_owned(),
    }
}

/// A figure by block size.
pub(super) fn curve(text: &str, unit: Unit) -> Result<Curve, String> {
    let (text, error) = with_error(text)?;
    // Behind an arrow is what somebody fitted to the points.
    let text = text.split_once("->").map_or(text, |(points, _)| points);
    let curve = if text.contains('@') {
        Curve::points(points(text, unit)?)
    } else if let Some((base, per_byte)) = text.split_once('+') {
        let per_byte = per_byte.trim().trim_end_matches("*n").trim_end();
        Curve::line(number(base, unit)?, number(per_byte, Unit::NanosecondsPerByte)?)
    } else if text.contains("/B") {
        Curve::line(0.0, number(text, Unit::NanosecondsPerByte)?)
    } else {
        Curve::constant(number(text, unit)?)
    };
    let curve = curve.map_err(|error| error.to_string())?;
    Ok(curve.give_or_take(error))
}

fn points(text: &str, unit: Unit) -> Result<Vec<(f64, f64)>, String> {
    let point = |part: &str| {
        let (value, size) = part
            .split_once('@')
            .ok_or_else(|| format!("`{}` has no block size; expected 27us@4KiB", part.trim()))?;
        Ok((number(size, Unit::Bytes)?, number(value, unit)?))
    };
    text.split([',', ';'])
        .filter(|part| !part.trim().is_empty())
        .map(point)
        .collect()
}

/// Yes or no.
pub(super) fn flag(text: &str) -> Result<bool, String> {
    match text.trim().to_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err(format!("`{text}` is not accepted; expected true or false")),
    }
}

/// A number that may be a product, `3 x 10`.
pub(super) fn product(text: &str) -> Result<f64, String> {
    let factors = text
        .split(['x', '×', '*'])
        .map(|factor| number(factor, Unit::Count));
    factors.product()
}

/// Whole numbers of clients, separated by commas.
pub(super) fn counts(text: &str) -> Result<Vec<u32>, String> {
    let parse = |part: &str| {
        let count = part.trim().parse::<u32>().ok().filter(|count| *count > 0);
        count.ok_or_else(|| format!("`{}` is not a number of clients; expected 1, 8, 64", part.trim()))
    };
    let parts = text.split(',').filter(|part| !part.trim().is_empty());
    let counts: Vec<u32> = parts.map(parse).collect::<Result<_, _>>()?;
    match given_twice(&counts) {
        Some(count) => Err(format!("`{count}` is given twice; keep one")),
        None => Ok(counts),
    }
}
