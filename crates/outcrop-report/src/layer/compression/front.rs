//! The front of ratio and speed: which cells no other beats in both, and of which cells the intervals do not decide it.

use outcrop_measure::metric::Better;
use outcrop_schema::compression::Direction;

use super::cell::{CompressionCell, ends, some_of};
use super::wishes::{Candidate, SAME_RATIO};
use crate::answer::{Claim, NOT_DECIDED};
use crate::chart::pareto_front;

/// Where a cell stands to the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On it, whatever the true speeds are within their intervals.
    On,
    /// On it by the medians, but a cell with a better ratio may be as fast.
    MayBeOff,
    /// Off it by the medians, but no cell with as good a ratio surely is faster.
    MayBeOn,
    /// Off it: another cell surely beats it, or it does not compress.
    Off,
}

impl Place {
    /// Whether it is on the front by the medians.
    pub(super) const fn is_on(self) -> bool {
        matches!(self, Self::On | Self::MayBeOff)
    }
}

/// The place of each candidate, by its ratio and its speed in one direction.
pub(super) fn places(candidates: &[Candidate<'_, '_>], direction: Direction) -> Vec<Place> {
    let point = |one: &Candidate<'_, '_>| match one.compresses() {
        true => (one.speed.of(direction).value, one.ratio),
        false => (f64::NAN, f64::NAN),
    };
    let points: Vec<(f64, f64)> = candidates.iter().map(point).collect();
    let on_front = pareto_front(&points, Better::Higher, Better::Higher);
    let is_surely_faster = |one: &Candidate<'_, '_>, other: &Candidate<'_, '_>| {
        let (speed, rival) = (one.speed.of(direction), other.speed.of(direction));
        let is_known = !speed.rests_on_one_trial() && !rival.rests_on_one_trial();
        is_known && ends(speed).0 > ends(rival).1
    };
    let rivals = || candidates.iter().filter(|other| other.compresses());
    let may_be_beaten = |one: &Candidate<'_, '_>| {
        let mut denser = rivals().filter(|other| other.ratio > one.ratio * (1.0 + SAME_RATIO));
        denser.any(|other| !is_surely_faster(one, other))
    };
    let is_surely_beaten = |one: &Candidate<'_, '_>| {
        let mut as_dense = rivals().filter(|other| other.ratio >= one.ratio);
        as_dense.any(|other| is_surely_faster(other, one))
    };
    let places = candidates.iter().zip(on_front);
    places
        .map(|(one, is_on)| match is_on {
            true if may_be_beaten(one) => Place::MayBeOff,
            true => Place::On,
            false if !one.compresses() || is_surely_beaten(one) => Place::Off,
            false => Place::MayBeOn,
        })
        .collect()
}

/// Sentences for a figure, each with a space before it, on the cells whose place the intervals do not decide.
pub(super) fn undecided(all: &[Candidate<'_, '_>], places: &[Place]) -> String {
    let at = |(wanted, why): (Place, &str)| {
        let those = all.iter().zip(places).filter(|(_, place)| **place == wanted);
        let names: Vec<String> = those.map(|(one, _)| one.cell.short_name()).collect();
        match names.is_empty() {
            true => String::new(),
            false => format!(" {why}: {}.", names.join(", ")),
        }
    };
    [
        (
            Place::MayBeOff,
            "Not decided, as a cell with a better ratio may be as fast",
        ),
        (
            Place::MayBeOn,
            "Pale, but beaten by the medians alone, which does not decide it",
        ),
    ]
    .map(at)
    .concat()
}

/// The front in words, from the highest ratio to the fastest: the cells on it, and those of which that is not decided. None where there is
/// nothing to choose from.
pub(super) fn named(all: &[Candidate<'_, '_>], direction: Direction, in_report: &str) -> Option<Claim> {
    let able = all.iter().filter(|one| one.compresses()).count();
    if able < 2 {
        return None;
    }
    let mut placed: Vec<(&Candidate<'_, '_>, Place)> = all.iter().zip(places(all, direction)).collect();
    placed.sort_by(|(one, _), (other, _)| other.ratio.total_cmp(&one.ratio));
    let at = |wanted: Place| {
        let those = placed.iter().filter(|(_, place)| *place == wanted);
        those.map(|(one, _)| one.cell.short_name()).collect::<Vec<_>>()
    };
    let (certain, open, left_out) = (at(Place::On), at(Place::MayBeOff), at(Place::MayBeOn));
    let members = certain.len() + open.len();
    let these = match members {
        1 => format!("this one of {able} cells"),
        _ => format!("these {members} of {able} cells"),
    };
    let beats = format!("{these} in both ratio and {direction} speed, from the highest ratio to the fastest");
    let why = format!("the {direction} speed may be no higher than that of a cell with a better ratio");
    let names = certain.join(", ");
    let also = match left_out.is_empty() {
        true => String::new(),
        false => format!(
            " By the medians alone, {} beaten too, but not decidedly: {}.",
            match left_out.len() {
                1 => "another cell is".to_owned(),
                count => format!("{count} other cells are"),
            },
            some_of(&left_out, ", ")
        ),
    };
    let undecided = match open.len() + left_out.len() {
        0 => String::new(),
        count => format!(", {count} {NOT_DECIDED}"),
    };
    let (brief, text) = match (certain.len(), open.is_empty()) {
        (sure, true) => (
            format!("{sure} of {able} cells{undecided}{in_report}"),
            format!("No other cell beats {beats}: {names}.{also}"),
        ),
        // The highest ratio is on every front.
        (0 | 1, false) => (
            format!("{NOT_DECIDED}: the {direction} speeds overlap"),
            format!(
                "Not decided: by the medians no other cell beats {beats}: {}. But {why}.{also}",
                [certain, open].concat().join(", ")
            ),
        ),
        (sure, false) => (
            format!("{sure} of {able} cells{undecided}{in_report}"),
            format!(
                "By the medians no other cell beats {beats}. Certain: {names}. Not decided, as {why}: {}.{also}",
                open.join(", ")
            ),
        ),
    };
    Some(Claim::new(format!("Front, {direction}"), brief, text, Vec::new()))
}
