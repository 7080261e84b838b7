//! What candidates cost a month at the user's own prices, and the price at which the cheapest changes.

use outcrop_measure::metric::Unit;
use outcrop_schema::kv::Prices;

use super::candidate::Candidate;
use super::limits::Origin;
use crate::change::Difference;
use crate::number::{Number, enumerated};

const SECONDS_OF_MONTH: f64 = 30.44 * 86_400.0;
const BYTES_OF_GB: f64 = 1e9;
/// The least price of a GB and month that is printed as one.
const LEAST_PRICE: f64 = 0.0001;

/// What a candidate costs a month.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    /// CPUs that are busy all month.
    cpus: f64,
    /// Bytes stored ÷ 10⁹.
    gb: f64,
}

/// The bill of each candidate at some prices.
pub(super) struct Bill<'p>(pub(super) &'p Prices);

impl Bill<'_> {
    fn cost(&self, candidate: &Candidate) -> Option<Cost> {
        let (ratio, cpu) = (candidate.ratio.as_ref()?, candidate.cpu.as_ref()?);
        Some(Cost {
            cpus: cpu.value / 1e9 * self.0.operations_per_second,
            // Of as much data as the user has, the store's log is next to nothing.
            gb: self.0.bytes().ok()? / candidate.ratio_without_log.unwrap_or(ratio.value) / BYTES_OF_GB,
        })
    }

    /// Currency units a month.
    fn total(&self, cost: Cost) -> f64 {
        cost.cpus * self.0.cpu_hour * SECONDS_OF_MONTH / 3600.0 + cost.gb * self.0.gb_month
    }

    /// Currency units a month, with the interval that CPU time and space give them; none where one of the two is unknown.
    fn number(&self, candidate: &Candidate) -> Option<Number> {
        let (ratio, cpu) = (candidate.ratio.as_ref()?, candidate.cpu.as_ref()?);
        let cost = self.cost(candidate)?;
        let of = |ratio_of: f64, cpu_of: f64| {
            self.total(Cost {
                gb: cost.gb * ratio.value / ratio_of,
                cpus: cost.cpus * cpu_of / cpu.value,
            })
        };
        // Costs are not a unit of their own: they are printed with the user's currency. The ratio of what everything is compared with is 1, and
        // has no interval.
        Some(match ratio.interval {
            Some(_) => Number::computed("monthly cost", Unit::Ratio, &[ratio, cpu], |values| {
                of(values[0], values[1])
            }),
            None => Number::computed("monthly cost", Unit::Ratio, &[cpu], |values| {
                of(ratio.value, values[0])
            }),
        })
    }

    /// `12.34 EUR (12.10 to 12.60)`.
    fn shown(&self, cost: &Number) -> String {
        let ends = cost
            .ends()
            .map_or_else(String::new, |(low, high)| format!(" ({low:.2} to {high:.2})"));
        format!("{:.2} {}{ends}", cost.value, self.0.currency)
    }

    /// The candidates that meet the constraints, the cheapest first.
    fn costs<'c>(&self, candidates: &'c [Candidate]) -> Vec<(&'c Candidate, Cost)> {
        let meets = candidates.iter().filter(|candidate| candidate.left_out.is_none());
        let mut costs: Vec<(&Candidate, Cost)> = meets
            .filter_map(|candidate| Some((candidate, self.cost(candidate)?)))
            .collect();
        costs.sort_by(|one, other| self.total(one.1).total_cmp(&self.total(other.1)));
        costs
    }

    /// The candidates that meet the constraints and have no cost, as a clause that follows a sentence on the others.
    fn without_cost(&self, candidates: &[Candidate]) -> String {
        let meets = candidates.iter().filter(|candidate| candidate.left_out.is_none());
        let unknown = meets.filter(|candidate| self.cost(candidate).is_none());
        let names: Vec<String> = unknown.map(Candidate::name).collect();
        match names.len() {
            0 => String::new(),
            1 => format!("; the cost of {} is unknown", names[0]),
            _ => format!("; the costs of {} are unknown", enumerated(&names)),
        }
    }

    /// `At your prices, store: lz4, blocks of 16 KiB is the cheapest: 387.99 EUR a month.`
    pub(super) fn in_short(&self, candidates: &[Candidate]) -> Option<String> {
        let costs = self.costs(candidates);
        let Some((cheapest, _)) = costs.first() else {
            return Some(nothing_costed(candidates));
        };
        let (name, own) = (cheapest.name(), self.number(cheapest)?);
        let next = costs
            .get(1)
            .and_then(|(next, _)| Some((next, self.number(next)?)));
        let tie = match next {
            Some((next, other)) => match Difference::of(&other, &own) {
                Difference::None => format!(", about as much as {}", next.name()),
                difference => difference.caveat().to_owned(),
            },
            None => String::new(),
        };
        let space = by_space(&costs);
        let (cost, currency) = (own.value, &self.0.currency);
        let unknown = self.without_cost(candidates);
        Some(format!(
            "At your prices{space}, {name} is the cheapest: {cost:.2} {currency} a month{tie}{unknown}."
        ))
    }

    /// The cheapest of the candidates that meet the constraints, the next one, and the price of space at which they change places.
    pub(super) fn sentence(&self, candidates: &[Candidate], from: Origin) -> Option<String> {
        let costs = self.costs(candidates);
        let Some((cheapest, least)) = costs.first().copied() else {
            return Some(nothing_costed(candidates));
        };
        let own = self.number(cheapest)?;
        let space = by_space(&costs);
        let mut text = format!(
            "At the prices {}{space}, the cheapest is {}: {} a month",
            from.words(),
            cheapest.name(),
            self.shown(&own)
        );
        if let Some((next, other)) = costs
            .get(1)
            .and_then(|(next, _)| Some((next, self.number(next)?)))
        {
            let (name, shown) = (next.name(), self.shown(&other));
            let difference = Difference::of(&other, &own);
            text.push_str(&match difference {
                Difference::None => format!("; {name} costs about as much: {shown}"),
                _ => {
                    format!("; then {name}: {shown}{}", difference.caveat())
                }
            });
            text.push_str(&self.changes(least, &costs[1..]));
        }
        Some(text + &self.without_cost(candidates) + ".")
    }

    /// The nearest prices of space at which another candidate becomes the cheapest, above and below the user's, of all candidates.
    fn changes(&self, least: Cost, others: &[(&Candidate, Cost)]) -> String {
        let flips = others.iter().filter_map(|(other, cost)| {
            // A price that would be printed as nothing is none that anybody pays.
            let price = self.flip(least, *cost).filter(|price| *price >= LEAST_PRICE)?;
            // With dearer space, what takes less of it wins.
            Some((price, cost.gb < least.gb, *other))
        });
        let (dearer, cheaper): (Vec<_>, Vec<_>) = flips.partition(|(_, is_smaller, _)| *is_smaller);
        let dearer = dearer.into_iter().min_by(|one, other| one.0.total_cmp(&other.0));
        let cheaper = cheaper.into_iter().max_by(|one, other| one.0.total_cmp(&other.0));
        let currency = &self.0.currency;
        let changes = [("more", dearer), ("less", cheaper)].map(|(side, change)| {
            let (price, _, other) = change?;
            let name = other.name();
            Some(format!(
                "{name} becomes the cheapest if 1 GB of space costs {side} than {price:.4} {currency} a month"
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
        let price = (one.cpus - other.cpus) * self.0.cpu_hour * hours / (other.gb - one.gb);
        (price.is_finite() && price > 0.0).then_some(price)
    }
}

/// Why prices give no cost: no candidate that is within the limits has one.
fn nothing_costed(candidates: &[Candidate]) -> String {
    let text = match candidates.iter().any(|candidate| candidate.left_out.is_none()) {
        true => "The costs at your prices are unknown, as the space or the CPU time of each candidate is.",
        false => "Costs at your prices are given for candidates within the limits; none is.",
    };
    text.to_owned()
}

/// Which space is paid for, as a clause behind a comma; nothing where it is all of it.
fn by_space(costs: &[(&Candidate, Cost)]) -> &'static str {
    match costs.iter().any(|(one, _)| one.ratio_without_log.is_some()) {
        true => ", by the space without the store's log",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "currency = \"EUR\"\ncpu_hour = 0.04\ngb_month = 0.08\ndata = \"2TB\"\noperations_per_second = 20000\n";

    proptest! {
        #[test]
        fn at_the_price_named_both_cost_the_same(
            cpus in (0.01..8.0_f64, 0.01..8.0_f64),
            gb in (1.0..1e5_f64, 1.0..1e5_f64),
        ) {
            let mut prices = Prices::read(FILE).unwrap();
            let (one, other) = (Cost { cpus: cpus.0, gb: gb.0 }, Cost { cpus: cpus.1, gb: gb.1 });
            match Bill(&prices).flip(one, other) {
                Some(price) => {
                    prices.gb_month = price;
                    let (one, other) = (Bill(&prices).total(one), Bill(&prices).total(other));
                    prop_assert!((one / other - 1.0).abs() < 1e-9, "{} {}", one, other);
                }
                // One takes less of both: no price of space changes that.
                None => prop_assert!((one.cpus - other.cpus) * (one.gb - other.gb) >= 0.0),
            }
        }
    }
}
