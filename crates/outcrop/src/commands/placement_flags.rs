//! `--min-ratio`, `--p99`, `--cpu-share` and `--prices`: what the answer to where to compress has to meet, and what it is paid for.

use std::path::PathBuf;

use anyhow::Context as _;
use outcrop_measure::units::TimeSpan;
use outcrop_report::{Constraints, Prices};

use crate::exit::bad_input;

/// The flags, as clap knows them.
pub(crate) const NAMES: [&str; 4] = ["min_ratio", "p99", "cpu_share", "prices"];

/// Constraints on where to compress.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Where to compress")]
pub(crate) struct PlacementFlags {
    /// Minimum compression ratio, such as 2.5
    #[arg(long, value_name = "RATIO", value_parser = ratio)]
    min_ratio: Option<f64>,
    /// Maximum p99 read latency, such as 2ms
    #[arg(long, value_name = "TIME", value_parser = latency_limit)]
    p99: Option<TimeSpan>,
    /// Maximum CPU utilisation of the machine by the store and the kernel's threads, such as 50%
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    cpu_share: Option<f64>,
    /// Your prices, to show the monthly cost: TOML with currency, cpu_hour, gb_month, data, operations_per_second
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// A larger file has no list of five prices.
const MOST_BYTES: u64 = 64 << 10;

impl PlacementFlags {
    /// For the report.
    pub(crate) fn constraints(&self) -> Constraints {
        Constraints {
            min_ratio: self.min_ratio,
            p99_ns: self.p99.map(|most| most.0.as_nanos() as f64),
            cpu_share: self.cpu_share,
        }
    }

    /// The user's prices, read from their file.
    pub(crate) fn prices(&self) -> anyhow::Result<Option<Prices>> {
        let Some(path) = &self.prices else {
            return Ok(None);
        };
        let text = outcrop_probe::user_file::read_text(path, MOST_BYTES, "a list of prices")
            .with_context(|| format!("--prices: cannot read {}", path.display()))
            .map_err(bad_input)?;
        let prices = Prices::read(&text);
        let prices = prices.map_err(|error| anyhow::anyhow!("--prices {}: {error}", path.display()));
        prices.map(Some).map_err(bad_input)
    }
}

fn ratio(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ratio) if ratio > 0.0 && ratio.is_finite() => Ok(ratio),
        _ => Err(format!(
            "`{text}` is not a ratio; expected a number above 0, such as 2.5"
        )),
    }
}

fn latency_limit(text: &str) -> Result<TimeSpan, String> {
    let span: TimeSpan = text
        .parse()
        .map_err(|error: outcrop_measure::MeasureError| error.to_string())?;
    match span.0.is_zero() {
        true => Err(format!(
            "`{text}` is not a limit; expected a time above 0, such as 2ms"
        )),
        false => Ok(span),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent / 100.0),
        _ => Err(format!(
            "`{text}` is not a share; expected more than 0 % and at most 100 %, such as 50%"
        )),
    }
}
