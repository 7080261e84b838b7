//! Two variants of one plan, measured in pairs: `outcrop ab`.
//!
//! Each variant is the plan with some factors set. Cells of the two that are alike in all other factors are a pair: they are measured one
//! directly after the other, in random order, with the same seed.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use outcrop_results::compare::verdict::LEAST_PAIRS;
use outcrop_workload::word::hint;

use super::draft::{Draft, Given, Located};
use super::{GivenIn, PlanOptions, PlanSet, PlanSource, parse};
use crate::error::LabError;
use crate::layers::Layers;

/// Pairs that are measured where neither the caller nor the plan asks for a number that can decide: enough to find a change in one of 25 cells.
const PAIRS: u32 = 10;

/// One of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VariantName {
    /// What is compared with.
    A,
    /// What is judged.
    B,
}

impl VariantName {
    /// The spelling in plans and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}

impl fmt::Display for VariantName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for VariantName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "a" => Ok(Self::A),
            "b" => Ok(Self::B),
            _ => Err(format!("unknown variant {text:?}; {}", hint(text, &["a", "b"]))),
        }
    }
}

/// The factors that one variant sets: `queue_depth=8,engine=psync`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantFactors(Vec<(String, String)>);

impl FromStr for VariantFactors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected FACTOR=VALUE, separated by commas, such as queue_depth=8,engine=psync";
        let mut factors: Vec<(String, String)> = Vec::new();
        for part in text.split(',') {
            // A comma may be part of a value: what has no `=` goes on with the one before.
            match (part.split_once('='), factors.last_mut()) {
                (Some((name, value)), _) if !name.trim().is_empty() && !value.trim().is_empty() => {
                    factors.push((name.trim().to_owned(), value.trim().to_owned()));
                }
                (None, Some((_, value))) if !part.is_empty() => {
                    value.push(',');
                    value.push_str(part);
                }
                _ => {
                    return Err(format!("{part:?} in {text:?} is not FACTOR=VALUE; {expected}"));
                }
            }
        }
        let mut names: Vec<&String> = factors.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("{text:?} sets {} twice; {expected}", twice[0]));
        }
        Ok(Self(factors))
    }
}

impl fmt::Display for VariantFactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        f.write_str(&parts.join(","))
    }
}

impl VariantFactors {
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    /// Refuses what is no factor of any layer of the plan, with the nearest name.
    fn check_names(&self, variant: VariantName, drafts: &[Draft], layers: Layers) -> Result<(), LabError> {
        let schemas = drafts.iter().filter_map(|draft| layers.named(&draft.layer.value));
        let known: BTreeSet<&str> = schemas
            .flat_map(|layer| layer.schema().subject.iter().chain(layer.schema().workload))
            .map(|factor| factor.name)
            .collect();
        // A layer that is not known is refused by its own name.
        let is_unknown = |name: &&str| !known.is_empty() && !known.contains(name);
        match self.names().into_iter().find(is_unknown) {
            None => Ok(()),
            Some(name) => Err(LabError::BadPlan {
                at: format!("--{variant}"),
                message: format!(
                    "{name} is no factor of this plan; {}",
                    hint(name, &known.into_iter().collect::<Vec<_>>())
                ),
            }),
        }
    }

    /// The draft with these factors set, whatever it says of them.
    fn set(&self, mut draft: Draft, variant: VariantName, layers: Layers) -> Draft {
        let at = format!("--{variant}");
        let is_of_subject = |name: &str| {
            let layer = layers.named(&draft.layer.value);
            layer.is_some_and(|layer| layer.schema().subject.iter().any(|factor| factor.name == name))
        };
        for (name, value) in &self.0 {
            if is_of_subject(name) {
                let located = Located::new(value.clone(), &at);
                draft.subject.insert(name.clone(), (at.clone(), located));
                continue;
            }
            let given = Given {
                at: at.clone(),
                values: vec![Located::new(value.clone(), &at)],
                is_factor: false,
            };
            draft.workload.insert(name.clone(), given);
        }
        draft.name.value = format!("{}-{variant}", draft.name.value);
        draft.variant = Some(variant);
        draft
    }
}

/// A message with the factor's name before it, where neither the message nor the flag has it: other flags than `--a` and `--b` do.
pub(super) fn named(at: &str, factor: &str, message: String) -> String {
    let mut variants = [VariantName::A, VariantName::B].into_iter();
    let mut words = message.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    match variants.any(|variant| at == format!("--{variant}")) && !words.any(|word| word == factor) {
        true => format!("{factor}: {message}"),
        false => message,
    }
}

/// The draft with a number of pairs that can decide: its own, unless that is a number for runs of one variant, which decides nothing in pairs.
fn with_pairs(mut draft: Draft) -> Draft {
    let own = draft.trial.repetitions.as_ref();
    let is_too_few = |given: &Located<u32>| (given.value as usize) < LEAST_PAIRS;
    if own.is_none_or(is_too_few) {
        draft.trial.repetitions = Some(Located::new(PAIRS, "outcrop ab"));
    }
    draft
}

impl PlanSet {
    /// Reads and checks a plan, and makes two variants of it.
    ///
    /// # Errors
    /// One sentence for the first thing wrong: in the plan with its place, in a variant with its flag.
    pub fn of_variants(
        source: &PlanSource,
        a: &VariantFactors,
        b: &VariantFactors,
        options: &PlanOptions,
    ) -> Result<Self, LabError> {
        let document = parse::document(source, options.effort)?;
        for (variant, factors) in [(VariantName::A, a), (VariantName::B, b)] {
            factors.check_names(variant, &document.drafts, options.layers)?;
        }
        if a.names() != b.names() {
            return Err(LabError::BadPlan {
                at: "--b".to_owned(),
                message: format!(
                    "it sets {} but --a sets {}; both must set the same factors, so that their cells form pairs",
                    b.names().join(", "),
                    a.names().join(", ")
                ),
            });
        }
        if let Some(draft) = document.drafts.iter().find(|draft| draft.variant.is_some()) {
            let message = format!(
                "the plan {} already has two variants; give the original plan",
                draft.name.value
            );
            return Err(source.error(&(0..0), message));
        }
        let drafts = document.drafts.into_iter().map(with_pairs).flat_map(|draft| {
            let of_a = a.set(draft.clone(), VariantName::A, options.layers);
            [of_a, b.set(draft, VariantName::B, options.layers)]
        });
        Self::check(document.header, drafts.collect(), options, GivenIn::Plans)
    }

    /// Whether it measures two variants.
    pub fn has_variants(&self) -> bool {
        self.plans.iter().any(|plan| plan.variant.is_some())
    }
}
