//! What searches look for, drawn before the clock starts.

use std::sync::Arc;

use outcrop_column::Column;
use outcrop_measure::seed::Seed;
use rand::Rng;

use crate::error::BenchError;
use outcrop_workload::column::Operation;

/// Different targets; the loop goes round them.
const TARGETS: u64 = 1024;
/// Letters of a prefix.
const PREFIX_BYTES: usize = 3;
/// The part of the dictionary that a range spans.
const RANGE_PART: u64 = 100;

/// One thing to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Shared: a column of few long values has each of them drawn many times.
    Value(Arc<[u8]>),
    Prefix(Vec<u8>),
    /// Both included.
    Range(Arc<[u8]>, Arc<[u8]>),
    Row(u64),
}

impl Target {
    /// Whether a row is among those that the target asks for: the oracle of the search.
    pub(crate) fn selects(&self, row: u64, value: Option<&[u8]>) -> bool {
        match (self, value) {
            (Self::Row(wanted), _) => row == *wanted,
            (_, None) => false,
            (Self::Value(wanted), Some(value)) => *value == **wanted,
            (Self::Prefix(prefix), Some(value)) => value.starts_with(prefix),
            (Self::Range(first, last), Some(value)) => &**first <= value && value <= &**last,
        }
    }
}

/// Targets in the order in which they are asked for.
#[derive(Debug)]
pub(crate) struct Targets(Vec<Target>);

impl Targets {
    pub(crate) fn draw(column: &Column, operation: Operation, seed: Seed) -> Result<Self, BenchError> {
        let mut random = seed.derive("targets").rng();
        if operation == Operation::Get {
            let rows = column.row_count();
            if rows == 0 {
                return Err(nothing_to_find());
            }
            let drawn = (0..TARGETS).map(|_| Target::Row(below(random.next_u64(), rows)));
            return Ok(Self(drawn.collect()));
        }
        let value_count = column.find_range(..)?.value_count();
        if value_count == 0 {
            return Err(nothing_to_find());
        }
        let span = if operation == Operation::Range {
            value_count / RANGE_PART
        } else {
            0
        };
        let firsts: Vec<u64> = (0..TARGETS)
            .map(|_| below(random.next_u64(), value_count))
            .collect();
        let lasts = firsts.iter().map(|first| (first + span).min(value_count - 1));
        let mut wanted: Vec<u64> = firsts.iter().copied().chain(lasts.clone()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let values = values_at(column, &wanted)?;
        let value = |code: u64| Arc::clone(&values[wanted.partition_point(|&known| known < code)]);
        let targets = firsts
            .iter()
            .copied()
            .zip(lasts)
            .map(|(first, last)| match operation {
                Operation::Prefix => {
                    let value = value(first);
                    Target::Prefix(value[..value.len().min(PREFIX_BYTES)].to_vec())
                }
                Operation::Range => Target::Range(value(first), value(last)),
                _ => Target::Value(value(first)),
            });
        Ok(Self(targets.collect()))
    }

    pub(crate) fn at(&self, number: u64) -> &Target {
        &self.0[(number % self.0.len() as u64) as usize]
    }
}

/// Maps a uniform draw to `0..count`.
fn below(draw: u64, count: u64) -> u64 {
    ((u128::from(draw) * u128::from(count)) >> 64) as u64
}

fn nothing_to_find() -> BenchError {
    BenchError::Spec("the column has no values to search for; use one with rows that are not null".to_owned())
}

/// The values at ascending positions in the dictionary.
fn values_at(column: &Column, wanted: &[u64]) -> Result<Vec<Arc<[u8]>>, BenchError> {
    let mut values = Vec::with_capacity(wanted.len());
    let mut position = 0;
    column.for_each_value(|_, _, value| {
        if wanted.get(values.len()) == Some(&position) {
            values.push(Arc::from(value));
        }
        position += 1;
        Ok(())
    })?;
    if values.len() == wanted.len() {
        return Ok(values);
    }
    Err(BenchError::Wrong {
        operation: "listing the dictionary",
        detail: format!("{position} values, {:?} were counted", wanted.last()),
    })
}
