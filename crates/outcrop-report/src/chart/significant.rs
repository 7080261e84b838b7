//! Numbers of figures as they are written: to six digits.

use serde::{Serialize, Serializer};

/// A value to six significant digits, which is more than any of ours has; integers exactly.
pub(super) fn rounded(value: f64) -> f64 {
    if value == value.round() || !value.is_finite() {
        return value;
    }
    format!("{value:.5e}").parse().unwrap_or(value)
}

pub(super) fn number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let value = rounded(*value);
    if value == value.round() && value.abs() < 9e15 {
        return serializer.serialize_i64(value as i64);
    }
    serializer.serialize_f64(value)
}

pub(super) fn ends<S: Serializer>(ends: &Option<(f64, f64)>, serializer: S) -> Result<S::Ok, S::Error> {
    ends.map(|(low, high)| (Significant(low), Significant(high)))
        .serialize(serializer)
}

/// A number that is written to six digits.
struct Significant(f64);

impl Serialize for Significant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        number(&self.0, serializer)
    }
}

pub(super) fn option<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(rounded).serialize(serializer)
}
