//! What candidates cost a month at the user's own prices, and the price at which the cheapest changes. No prices ship.

use outcrop_measure::units::ByteSize;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;

const SECONDS_OF_MONTH: f64 = 30.44 * 86_400.0;
const BYTES_OF_GB: f64 = 1e9;

/// Prices and the amounts that they are paid for, from a TOML file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Name of the currency.
    pub currency: String,
    /// Of one CPU for an hour.
    pub cpu_hour: f64,
    /// Of 10⁹ stored bytes for a month.
    pub gb_month: f64,
    /// Space that the data take without compression: `2TB`.
    pub data: String,
    /// Operations per second, all month.
    pub operations_per_second: f64,
}

/// What a candidate costs a month.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    /// CPUs that are busy all month.
    cpus: f64,
    /// Bytes stored ÷ 10⁹.
    gb: f64,
}

impl Prices {
    /// Reads a file's text.
    ///
    /// # Errors
    /// A sentence with the line, the key or the value at fault.
    pub fn read(text: &str) -> Result<Self, String> {
        let prices: Self = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        for (name, value) in [
            ("cpu_hour", prices.cpu_hour),
            ("gb_month", prices.gb_month),
            ("operations_per_second", prices.operations_per_second),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(format!("{name} is {value}; expected a number of 0 or more"));
            }
        }
        prices.bytes().map(|_| prices)
    }

    fn bytes(&self) -> Result<f64, String> {
        let size: Result<ByteSize, _> = self.data.parse();
        size.map(|size| size.0 as f64)
            .map_err(|error| format!("data: {error}"))
    }

    fn cost(&self, candidate: &Candidate) -> Option<Cost> {
        let (ratio, cpu) = (candidate.ratio.as_ref()?, candidate.cpu.as_ref()?);
        Some(Cost {
            cpus: cpu.value / 1e9 * self.operations_per_second,
            gb: self.bytes().ok()? / ratio.value / BYTES_OF_GB,
        })
    }

    /// Currency units a month.
    fn total(&self, cost: Cost) -> f64 {
        cost.cpus * self.cpu_hour * SECONDS_OF_MONTH / 3600.0 + cost.gb * self.gb_month
    }

    /// The cheapest of the candidates that meet the constraints, the next one, and the price of space at which they change places.
    pub(super) fn sentence(&self, candidates: &[Candidate]) -> Option<String> {
        let meets = candidates.iter().filter(|candidate| candidate.left_out.is_none());
        let mut costs: Vec<(&Candidate, Cost)> = meets
            .filter_map(|candidate| Some((candidate, self.cost(candidate)?)))
            .collect();
        costs.sort_by(|one, other| self.total(one.1).total_cmp(&self.total(other.1)));
        let (cheapest, least) = *costs.first()?;
        let currency = &self.currency;
        let mut text = format!(
            "At your prices, the cheapest is {}: {:.2} {currency} a month",
            cheapest.name(),
            self.total(least)
        );
        if let Some((next, cost)) = costs.get(1) {
            text.push_str(&format!(
                "; then {}: {:.2} {currency}",
                next.name(),
                self.total(*cost)
            ));
            text.push_str(&self.changes(least, &costs[1..]));
        }
        Some(text + ".")
    }

    /// The nearest prices of space at which another candidate becomes the cheapest, above and below the user's, of all candidates.
    fn changes(&self, least: Cost, others: &[(&Candidate, Cost)]) -> String {
        let flips = others.iter().filter_map(|(other, cost)| {
            let price = self.flip(least, *cost)?;
            // With dearer space, what takes less of it wins.
            Some((price, cost.gb < least.gb, *other))
        });
        let (dearer, cheaper): (Vec<_>, Vec<_>) = flips.partition(|(_, is_smaller, _)| *is_smaller);
        let dearer = dearer.into_iter().min_by(|one, other| one.0.total_cmp(&other.0));
        let cheaper = cheaper.into_iter().max_by(|one, other| one.0.total_cmp(&other.0));
        let currency = &self.currency;
        let changes = [("more", dearer), ("less", cheaper)].map(|(side, change)| {
            let (price, _, other) = change?;
            let name = other.name();
            Some(format!(
                "{name} becomes the cheapest where 1 GB of space costs {side} than {price:.4} {currency} a month"
            ))
        });
        let changes: Vec<String> = changes.into_iter().flatten().collect();
        if changes.is_empty() {
            String::new()
        } else {
            format!(". {}", changes.join("; "))
        }
    }

    /// The price of 10⁹ bytes for a month at which both cost the same; none where no positive price does that.
    fn flip(&self, one: Cost, other: Cost) -> Option<f64> {
        let hours = SECONDS_OF_MONTH / 3600.0;
        let price = (one.cpus - other.cpus) * self.cpu_hour * hours / (other.gb - one.gb);
        (price.is_finite() && price > 0.0).then_some(price)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "currency = \"EUR\"\ncpu_hour = 0.04\ngb_month = 0.08\ndata = \"2TB\"\noperations_per_second = 20000\n";

    #[test]
    fn a_file_is_read_and_what_is_wrong_with_it_is_said() {
        assert_eq!(Prices::read(FILE).unwrap().bytes(), Ok(2e12));
        let refused = |from: &str, to: &str| Prices::read(&FILE.replace(from, to)).unwrap_err();
        assert!(refused("0.04", "-1").contains("cpu_hour is -1"));
        assert!(refused("2TB", "much").starts_with("data: "));
        assert!(refused("gb_month", "gb_mouth").contains("gb_mouth"));
        assert!(refused("cpu_hour = 0.04\n", "").contains("cpu_hour"));
    }

    proptest! {
        #[test]
        fn at_the_price_named_both_cost_the_same(
            cpus in (0.01..8.0_f64, 0.01..8.0_f64),
            gb in (1.0..1e5_f64, 1.0..1e5_f64),
        ) {
            let mut prices = Prices::read(FILE).unwrap();
            let (one, other) = (Cost { cpus: cpus.0, gb: gb.0 }, Cost { cpus: cpus.1, gb: gb.1 });
            match prices.flip(one, other) {
                Some(price) => {
                    prices.gb_month = price;
                    let (one, other) = (prices.total(one), prices.total(other));
                    prop_assert!((one / other - 1.0).abs() < 1e-9, "{} {}", one, other);
                }
                // One takes less of both: no price of space changes that.
                None => prop_assert!((one.cpus - other.cpus) * (one.gb - other.gb) >= 0.0),
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = Prices::read(&text);
        }
    }
}
