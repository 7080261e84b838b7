//! Why a figure is missing, in the words of its trials, and what cells make of them.

use std::collections::BTreeMap;

use outcrop_schema::cache::{self, REQUESTS};
use outcrop_schema::filesystem::{self, OPERATION};

use super::cell::POOLED;

/// How a reason begins that is not for want of a measurement.
const TOO_FEW: &str = "too few operations (";
/// What that becomes of a cell where some trials have enough.
const SOME_HAD_ENOUGH: &str = " trials had enough operations for a ";

/// What stands in the reason of a cell of which only some trials have a figure.
const SOME_HAVE_IT: &str = " trials have it: ";

/// How a reason begins of a trial that is shorter than what its requests take.
const TOO_SHORT: &str = "too short: ";

/// Why a trial has no rates and no latencies in which nothing completed.
pub const NONE_COMPLETED: &str = "no operation completed";

/// Why a trial has no rates and no latencies in which fewer requests completed than were in flight at its end.
pub fn too_short(completed: u64, in_flight: u64) -> String {
    too_short_between((completed, completed), (in_flight, in_flight))
}

/// The same of several trials: the least and the most that completed, and that were in flight.
fn too_short_between(completed: (u64, u64), in_flight: (u64, u64)) -> String {
    let range = |(low, high): (u64, u64)| match low < high {
        true => format!("{low} to {high}"),
        false => low.to_string(),
    };
    let plural = if completed.1 == 1 { "" } else { "s" };
    let were = if in_flight.1 == 1 { "was" } else { "were" };
    format!(
        "{TOO_SHORT}{} request{plural} completed, {} {were} in flight",
        range(completed),
        range(in_flight)
    )
}

/// Whether a cell lacks a figure because its operations are too few, and not because nothing was measured: by the reason that it gives.
pub fn lacks_operations(reason: &str) -> bool {
    [TOO_FEW, POOLED].iter().any(|few| reason.starts_with(few))
        || [SOME_HAD_ENOUGH, TOO_SHORT]
            .iter()
            .any(|few| reason.contains(few))
}

/// Whether it is a reason of a trial that is too short.
pub(super) fn is_of_too_short(reason: &str) -> bool {
    reason.starts_with(TOO_SHORT)
}

/// Whether a cell lacks a figure that some of its trials have, and not for want of operations: by the reason that it gives.
pub fn is_of_some_trials(reason: &str) -> bool {
    reason.contains(SOME_HAVE_IT)
}

/// Whether it is a reason of a trial that is too short, or in which nothing completed.
pub(super) fn is_of_whole_trial(reason: &str) -> bool {
    is_of_too_short(reason) || reason == NONE_COMPLETED
}

/// Why trials lack a figure, each with its reason: the first; where that is a count of operations, with the range of the counts of all.
pub(super) fn of_trials<'v>(reasons: impl Iterator<Item = Option<&'v str>>) -> String {
    let reasons: Vec<&str> = reasons
        .map(|reason| reason.unwrap_or("no reason given"))
        .collect();
    // A trial in which nothing completed has no operations for anything, and its cell is that of the others.
    let told = reasons.iter().find(|reason| **reason != NONE_COMPLETED);
    let first = told.or(reasons.first()).copied().unwrap_or_default();
    if is_of_whole_trial(first) {
        return of_too_short(&reasons).unwrap_or_else(|| first.to_owned());
    }
    let counted = |reason: &&'v str| {
        let (count, rest) = count_of(reason)?;
        Some((count.parse::<u64>().ok()?, rest))
    };
    let Some((_, rest)) = count_of(first) else {
        return first.to_owned();
    };
    let alike = reasons
        .iter()
        .filter_map(counted)
        .filter(|(_, other)| *other == rest);
    let stalled = reasons
        .iter()
        .filter(|reason| **reason == NONE_COMPLETED)
        .map(|_| 0);
    match ends(alike.map(|(count, _)| count).chain(stalled)) {
        Some((least, most)) if least < most => format!("{TOO_FEW}{least} to {most}{rest}"),
        _ => first.to_owned(),
    }
}

/// The reason of trials that are too short, with the ranges of what completed and of what was in flight; none where nothing completed in all.
fn of_too_short(reasons: &[&str]) -> Option<String> {
    let counts = reasons.iter().filter_map(|reason| counts_of_too_short(reason));
    let (mut completed, in_flight): (Vec<u64>, Vec<u64>) = counts.unzip();
    completed.extend(
        reasons
            .iter()
            .filter(|reason| **reason == NONE_COMPLETED)
            .map(|_| 0),
    );
    let (completed, in_flight) = (ends(completed.into_iter())?, ends(in_flight.into_iter())?);
    Some(too_short_between(completed, in_flight))
}

/// How many requests completed in a trial that is too short, and how many were in flight at its end: the numbers of [`too_short`].
fn counts_of_too_short(reason: &str) -> Option<(u64, u64)> {
    let (completed, in_flight) = reason.strip_prefix(TOO_SHORT)?.split_once(", ")?;
    let first = |text: &str| text.split(' ').next()?.parse().ok();
    Some((first(completed)?, first(in_flight)?))
}

/// The least and the largest.
fn ends(counts: impl Iterator<Item = u64>) -> Option<(u64, u64)> {
    counts.fold(None, |ends, count| match ends {
        None => Some((count, count)),
        Some((least, most)) => Some((least.min(count), most.max(count))),
    })
}

/// The count of a reason for want of operations, and what stands behind it.
fn count_of(reason: &str) -> Option<(&str, &str)> {
    let counted = reason.strip_prefix(TOO_FEW)?;
    let end = counted.find(|character: char| !character.is_ascii_digit())?;
    Some(counted.split_at(end))
}

/// Why a cell lacks a figure that some of its trials have.
pub(super) fn only_some(some: usize, trials: usize, reason: &str) -> String {
    // Of percentiles it is known what the other trials lack.
    let too_few = reason.strip_prefix(TOO_FEW);
    match too_few.and_then(|rest| rest.split_once(") for a ")) {
        Some((count, percentile)) => {
            format!("only {some} of {trials}{SOME_HAD_ENOUGH}{percentile} (the rest had {count})")
        }
        None => format!("only {some} of {trials}{SOME_HAVE_IT}{reason}"),
    }
}

/// What stands before what gives more operations, in a reason that says it.
const MORE: &str = " more (";

/// Whether a reason of a cell that lacks operations says what gives more of them.
pub fn says_what_gives_more(reason: &str) -> bool {
    lacks_operations(reason) && reason.contains(MORE)
}

/// The same of a figure that all trials together have too few operations for as well, and what gives it.
pub(super) fn too_few_together(reason: &str, trials: usize, longer_by: &str) -> String {
    match trials {
        1 => format!("{reason}; a longer trial has{MORE}{longer_by})"),
        _ => format!(
            "{reason}, and all {trials} trials together have too few; longer trials have{MORE}{longer_by})"
        ),
    }
}

/// What sets how long trials of a cell are: their data or requests, where they end with these. Only some commands have a flag for that.
pub fn longer_by(layer: &str, factors: &BTreeMap<String, String>) -> &'static str {
    let requests = factors.get(REQUESTS.name).filter(|_| layer == cache::SCHEMA.name);
    if requests.is_some_and(|requests| {
        REQUESTS
            .parse(requests)
            .is_ok_and(|requests| requests.0.is_some())
    }) {
        return "`requests`";
    }
    let operation = factors
        .get(OPERATION.name)
        .filter(|_| layer == filesystem::SCHEMA.name);
    match operation.and_then(|operation| OPERATION.parse(operation).ok()) {
        Some(operation) if !operation.ends_by_time() => "`sample_size`",
        Some(operation) if operation.ends_with_its_data() => "`sample_size` and --duration",
        _ => "--duration",
    }
}
