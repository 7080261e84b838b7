//! Conditions as they are written.

use std::str::FromStr;

use outcrop_schema::metrics::full_name;

use super::{Direction, FailIf, Limit, limit};
use crate::error::ResultsError;

impl FromStr for FailIf {
    type Err = ResultsError;

    /// Reads `METRIC > +5%`, `METRIC < -3%`, `METRIC > 1.05x`, and limits on the figure itself: `METRIC > 1ms`.
    fn from_str(text: &str) -> Result<Self, ResultsError> {
        let bad = |reason: String| ResultsError::BadCondition {
            condition: text.to_owned(),
            reason,
        };
        let Some(at) = text.find(['<', '>']) else {
            return Err(bad(
                "it has no `>` or `<`; expected a condition such as `p99 > +5%`, `iops < -3%` or `p99 > 1ms`"
                    .to_owned(),
            ));
        };
        let (name, rest) = text.split_at(at);
        let direction = if rest.starts_with('>') {
            Direction::Above
        } else {
            Direction::Below
        };
        let name = name.trim();
        if name.is_empty()
            || !name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b))
        {
            // Tables have names with blanks: `read p99`.
            let joined = name.split_whitespace().collect::<Vec<_>>().join("_");
            let full = full_name(&joined);
            let meant = match limit::units(&full).is_empty() {
                true => limit::headed(&joined).map(|metrics| format!(", but {metrics} is")),
                false => Some(format!(", but `{full}` is")),
            };
            let meant = meant.unwrap_or_default();
            return Err(bad(format!(
                "{name:?} is not a metric name{meant}; `outcrop results export` lists those of a run"
            )));
        }
        let metric = full_name(name);
        let (head, threshold) = (format!("{name} {}", &rest[..1]), rest[1..].trim());
        let limit = Limit::read(threshold, &metric, &head).map_err(bad)?;
        if let Limit::Ratio(ratio) = limit {
            let instead = || limit::figure_itself(threshold, &metric, &head);
            check_reachable(direction, ratio, instead).map_err(bad)?;
        }
        Ok(Self {
            metric,
            direction,
            limit,
        })
    }
}

/// Refuses a change in the wrong direction; `instead` is what else was meant, perhaps.
fn check_reachable(
    direction: Direction,
    ratio: f64,
    instead: impl Fn() -> Option<String>,
) -> Result<(), String> {
    let (is_reachable, than, turned) = match direction {
        Direction::Above => (ratio >= 1.0, "below", '<'),
        Direction::Below => (ratio <= 1.0, "above", '>'),
    };
    let change = (ratio - 1.0) * 100.0;
    match is_reachable {
        true => Ok(()),
        false => Err(format!(
            "the threshold {change:+.3}% is {than} no change, so an unchanged candidate would meet it; {}",
            instead().unwrap_or_else(|| format!("did you mean `{turned}`?"))
        )),
    }
}
