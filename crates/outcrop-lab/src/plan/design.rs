//! Which combinations of the factors' values are measured: all of them, or one factor at a time.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::parameter::{Settings, hint};

/// How the values of the factors are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Design {
    /// Every combination: it shows how factors act on each other, and grows by multiplication.
    #[default]
    EveryCombination,
    /// The first value of every factor is the baseline; each factor varies while the others stay there.
    OneAtATime,
}

impl Design {
    const ALL: [Self; 2] = [Self::EveryCombination, Self::OneAtATime];

    /// The spelling in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EveryCombination => "every-combination",
            Self::OneAtATime => "one-at-a-time",
        }
    }

    /// How many combinations there are; none where the number overflows.
    pub(super) fn count(self, factors: &BTreeMap<String, Vec<String>>) -> Option<usize> {
        let mut counts = factors.values().map(Vec::len);
        match self {
            Self::EveryCombination => counts.try_fold(1_usize, usize::checked_mul),
            Self::OneAtATime => counts.try_fold(1_usize, |sum, count| sum.checked_add(count - 1)),
        }
    }

    /// The combinations, each with the fixed parameters beside it.
    pub(super) fn combinations(
        self,
        fixed: &Settings,
        factors: &BTreeMap<String, Vec<String>>,
    ) -> Vec<Settings> {
        let with = |settings: &Settings, name: &str, value: &String| {
            let mut settings = settings.clone();
            settings.insert(name.to_owned(), value.clone());
            settings
        };
        match self {
            Self::EveryCombination => factors.iter().fold(vec![fixed.clone()], |known, (name, values)| {
                let of = |settings: &Settings| -> Vec<Settings> {
                    values.iter().map(|value| with(settings, name, value)).collect()
                };
                known.iter().flat_map(of).collect()
            }),
            Self::OneAtATime => {
                let baseline = factors.iter().fold(fixed.clone(), |settings, (name, values)| {
                    with(&settings, name, &values[0])
                });
                let mut combinations = vec![baseline.clone()];
                for (name, values) in factors {
                    combinations.extend(values[1..].iter().map(|value| with(&baseline, name, value)));
                }
                combinations
            }
        }
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Design {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name);
        let found = Self::ALL.into_iter().find(|design| design.name() == text);
        found.ok_or_else(|| format!("unknown design {text:?}; {}", hint(text, &names)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_leaves_the_baseline_in_one_factor_only() {
        let text = |text: &str| text.to_owned();
        let factors = BTreeMap::from([
            (text("a"), ["1", "2", "3"].map(text).to_vec()),
            (text("b"), ["x", "y"].map(text).to_vec()),
        ]);
        let fixed = Settings::from([(text("c"), text("0"))]);
        for (design, count) in [(Design::EveryCombination, 6), (Design::OneAtATime, 4)] {
            let combinations = design.combinations(&fixed, &factors);
            assert_eq!((combinations.len(), design.count(&factors)), (count, Some(count)));
            assert!(combinations.iter().all(|settings| settings.len() == 3));
        }
        let single = Design::OneAtATime.combinations(&fixed, &factors);
        assert!(
            single
                .iter()
                .all(|settings| settings["a"] == "1" || settings["b"] == "x")
        );
    }
}
