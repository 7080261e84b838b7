//! Whether groups of jobs ran one after the other (`stonewall`) or at the same time (`new_group`).
//!
//! fio writes neither option into a report where it has no value, so the time that the report covers has to tell: jobs that ran one after the
//! other cannot have run for longer together.

use std::collections::BTreeMap;

use super::document::Document;
use super::together::{Load, overlap};
use crate::export::PROGRAM;
use crate::quantity::flag;

/// How two jobs ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    InTurn,
    AtOnce,
    /// Some groups of the report overlapped, and these may be among them.
    NotKnown,
}

/// Why jobs of such groups are left out.
pub(super) const NOT_KNOWN: &str = "groups of jobs in this report ran at the same time (new_group), and it does not say whether this one did; with \
     stonewall each runs alone, and fio 3.34 and later report when each began";

/// The groups of a report.
#[derive(Debug)]
pub(super) struct Groups {
    /// Whether they are trials of Outcrop, which has one load at a time.
    is_ours: bool,
    /// Whether they ran for longer together than the report covers.
    overlap: bool,
    /// From fio's start to the report, rounded up to seconds.
    elapsed_s: f64,
    /// How many groups up to each one are known to begin behind a wall.
    walls: BTreeMap<i64, usize>,
}

impl Groups {
    pub(super) fn of(document: &Document, loads: &[Load<'_>]) -> Self {
        let mut longest_s: BTreeMap<i64, f64> = BTreeMap::new();
        let mut walls: BTreeMap<i64, usize> = BTreeMap::new();
        let mut elapsed_s: f64 = 0.0;
        for load in loads {
            let longest = longest_s.entry(load.job.group).or_default();
            *longest = longest.max(load.length_s());
            let is_walled = load
                .option("stonewall")
                .is_some_and(|text| flag(text) == Ok(true));
            let wall = walls.entry(load.job.group).or_default();
            *wall = (*wall).max(usize::from(is_walled));
            elapsed_s = elapsed_s.max(load.job.elapsed.unwrap_or(0.0));
        }
        let mut count = 0;
        for wall in walls.values_mut() {
            count += *wall;
            *wall = count;
        }
        let is_ours = document
            .version
            .as_ref()
            .is_some_and(|version| version.starts_with(PROGRAM));
        Self {
            is_ours,
            overlap: !is_ours && elapsed_s > 0.0 && longest_s.values().sum::<f64>() >= elapsed_s,
            elapsed_s,
            walls,
        }
    }

    /// How jobs of two groups ran. Without a clock that both have, what fits into the report's time is taken to have run in turn.
    pub(super) fn order(&self, one: &Load<'_>, other: &Load<'_>) -> Order {
        let walls = |load: &Load<'_>| self.walls.get(&load.job.group);
        if !self.is_ours && one.job.job_start.is_some() && other.job.job_start.is_some() {
            return match overlap(one, other) {
                Some(true) => Order::AtOnce,
                _ => Order::InTurn,
            };
        }
        let (length_s, other_s) = (one.length_s(), other.length_s());
        if !self.overlap || length_s.min(other_s) <= 0.0 || walls(one) != walls(other) {
            Order::InTurn
        } else if length_s + other_s >= self.elapsed_s {
            Order::AtOnce
        } else {
            Order::NotKnown
        }
    }
}
