//! An arrival process whose rate may be a share of what a closed loop gets.

use std::fmt;
use std::str::FromStr;

use crate::{Arrival, WorkloadError};

/// `closed`, `poisson:20k`, or `poisson:50%`: half of what a closed loop of the same connections got just before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// As the process says: at a stated rate, or in a closed loop.
    Given(Arrival),
    /// At this percentage of the closed loop's throughput; the process is at one request per second.
    Share(Arrival, f64),
}

/// Beyond it every open loop is overloaded.
const MOST_PERCENT: f64 = 200.0;

impl FromStr for Arrivals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((form, percent)) = text.strip_suffix('%').and_then(|text| text.split_once(':')) else {
            let arrival = text.parse().map_err(|error: WorkloadError| {
                format!("{error}; a rate may also be a share of the closed loop's: poisson:50%")
            })?;
            return Ok(Self::Given(arrival));
        };
        let arrival: Arrival = format!("{form}:1")
            .parse()
            .map_err(|error: WorkloadError| error.to_string())?;
        match percent.trim().parse::<f64>() {
            Ok(percent) if percent > 0.0 && percent <= MOST_PERCENT => Ok(Self::Share(arrival, percent)),
            _ => Err(format!(
                "`{percent}%` is not a share of the closed loop's throughput; expected above 0 and at most {MOST_PERCENT}%"
            )),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(arrival) => write!(f, "{arrival}"),
            Self::Share(arrival, percent) => {
                let spelled = arrival.to_string();
                let form = spelled.split(':').next().unwrap_or_default();
                write!(f, "{form}:{percent}%")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_read_back_and_others_are_refused_in_words() {
        for text in [
            "closed",
            "poisson:20k/s",
            "poisson:50%",
            "constant:7.5%",
            "etc:120%",
        ] {
            assert_eq!(text.parse::<Arrivals>().unwrap().to_string(), text);
        }
        for text in [
            "open",
            "poisson:0%",
            "poisson:201%",
            "closed:50%",
            "poisson:x%",
            "50%",
        ] {
            let error = text.parse::<Arrivals>().unwrap_err();
            assert!(
                error.contains("poisson:") || error.contains("at most 200%"),
                "{text}: {error}"
            );
        }
    }
}
