//! Which combinations of the factors' values are measured: all of them, or one factor at a time.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use outcrop_schema::{Setting, Settings};
use outcrop_workload::word::hint;

/// Factors that vary, with their values.
pub(super) type Factors = BTreeMap<&'static str, Vec<Setting>>;

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
    pub(super) fn count(self, factors: &Factors) -> Option<usize> {
        let mut counts = factors.values().map(Vec::len);
        match self {
            Self::EveryCombination => counts.try_fold(1_usize, usize::checked_mul),
            Self::OneAtATime => counts.try_fold(1_usize, |sum, count| sum.checked_add(count - 1)),
        }
    }

    /// The combinations, each with the fixed factors beside it.
    pub(super) fn combinations(self, fixed: &Settings, factors: &Factors) -> Vec<Settings> {
        let with = |settings: &Settings, name: &'static str, value: &Setting| {
            let mut settings = settings.clone();
            settings.insert(name, value.clone());
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
        let settings = |values: &[u32]| values.iter().copied().map(Setting::of).collect::<Vec<_>>();
        let factors = Factors::from([("a", settings(&[1, 2, 3])), ("b", settings(&[10, 20]))]);
        let mut fixed = Settings::default();
        fixed.insert("c", Setting::of(0_u32));
        for (design, count) in [(Design::EveryCombination, 6), (Design::OneAtATime, 4)] {
            let combinations = design.combinations(&fixed, &factors);
            assert_eq!((combinations.len(), design.count(&factors)), (count, Some(count)));
            assert!(combinations.iter().all(|settings| settings.iter().count() == 3));
        }
        let single = Design::OneAtATime.combinations(&fixed, &factors);
        let is =
            |settings: &Settings, name: &str, value: u32| settings.setting(name) == Some(&Setting::of(value));
        assert!(
            single
                .iter()
                .all(|settings| is(settings, "a", 1) || is(settings, "b", 10))
        );
    }
}
