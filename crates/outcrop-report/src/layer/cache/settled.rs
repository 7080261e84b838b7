//! Whether a hit ratio is that of the policy, or still that of the fill.

use outcrop_measure::TimeSpan;
use outcrop_measure::metric::Metric;
use outcrop_results::CellRow;
use outcrop_schema::FactorRef;
use outcrop_schema::cache::{
    EVICTIONS, FILL, Fill, HIT_RATIO, ITEMS, MEMORY, ON_MISS, OnMiss, SCHEMA, SERVER, THROUGHPUT,
    WARM_UP_REQUESTS,
};

use super::cell::{all_of, holds, listed, row_over_limit, words};
use crate::answer::{Caution, Claim, NOT_DECIDED};
use crate::cell::Cell;
use crate::command::{Commands, More};

/// How many times a warm-up must replace the contents of the cache. Simulated (ETC, an eighth of 30,000 keys), S3-FIFO hits 2.8 percentage points
/// less than in the long run after 0.7 times, 0.8 less after 1.5 times, and as much after 2.8 times; SIEVE and W-TinyLFU are near to that.
const TURNOVERS: f64 = 2.0;
/// Where fewer gets miss, next to nothing is replaced, and next to nothing can change.
const LEAST_MISSES: f64 = 0.001;
/// A warm-up that is named is longer than the rates of this run ask for: the next run may be slower.
const MARGIN: f64 = 1.5;

/// Requests that replace what the cache held at the end once: as many as set all its items on a miss, at the hit ratio of the measured time. None
/// where nothing was evicted, or nothing missed.
fn requests_per_turnover(value: impl Fn(&Metric) -> Option<f64>) -> Option<f64> {
    let (items, misses) = (value(&ITEMS)?, 1.0 - value(&HIT_RATIO)?);
    let is_limited = value(&EVICTIONS)? > 0.0 && items > 0.0 && misses >= LEAST_MISSES;
    // Sets on miss are requests too.
    is_limited.then(|| items * (1.0 + misses) / misses)
}

/// How often the warm-up replaced what the cache held at the end.
fn turnovers(value: impl Fn(&Metric) -> Option<f64>) -> Option<f64> {
    Some(value(&WARM_UP_REQUESTS)? / requests_per_turnover(value)?)
}

/// Whether a warm-up is there to settle a cache: not where a number of sets alone filled it, nor where misses store nothing, and nobody knows
/// what a server at a URL held before.
fn is_warmed(fill: Option<&Fill>, on_miss: Option<&OnMiss>, has_server: bool) -> bool {
    has_server && on_miss == Some(&OnMiss::Set) && !matches!(fill, None | Some(Fill::Sets(_)))
}

/// How often the warm-up of a cell replaced what the cache holds; none where it is not there to settle it, or nothing is replaced.
pub(super) fn turnovers_of(cell: &Cell<'_>) -> Option<f64> {
    let is_meant = is_warmed(cell.get(&FILL), cell.get(&ON_MISS), cell.get(&SERVER).is_some());
    turnovers(|metric| cell.value(metric)).filter(|_| is_meant)
}

/// The same where that is too seldom for its hit ratio to be settled.
fn too_few_turnovers(cell: &Cell<'_>) -> Option<f64> {
    turnovers_of(cell).filter(|turnovers| *turnovers < TURNOVERS)
}

/// Whether the hit ratio of a cell would be another after a longer warm-up, for all that is known.
pub(super) fn is_unsettled(cell: &Cell<'_>) -> bool {
    too_few_turnovers(cell).is_some()
}

/// The memory limit of a row of a table, where the server does not keep to it or the hit ratio is not settled: `1 MiB (hits not settled)`.
pub(super) fn marked(factor: FactorRef, row: &CellRow) -> Option<String> {
    if factor.name != MEMORY.name {
        return None;
    }
    let value = |metric: &Metric| row.figures.get(metric.name)?.estimate().map(|one| one.value);
    let fill: Option<Fill> = row.setting(&FILL).and_then(|fill| fill.spelling().parse().ok());
    let on_miss: Option<OnMiss> = row
        .setting(&ON_MISS)
        .and_then(|answer| answer.spelling().parse().ok());
    let is_meant = is_warmed(fill.as_ref(), on_miss.as_ref(), row.setting(&SERVER).is_some());
    let is_marked = is_meant && turnovers(value).is_some_and(|turnovers| turnovers < TURNOVERS);
    let held = row_over_limit(row).map(holds);
    let marks = listed(
        held.into_iter()
            .chain(is_marked.then(|| "hits not settled".to_owned())),
    );
    let memory = row.setting(factor).filter(|_| !marks.is_empty())?;
    Some(format!("{} ({marks})", factor.shown(memory.spelling())))
}

/// The command that measures the run again with a warm-up that settles these cells, at the rates that were measured: `; … should settle them`.
pub(super) fn remedy(cells: &[&Cell<'_>], commands: &Commands) -> String {
    let seconds = cells.iter().filter_map(|cell| {
        too_few_turnovers(cell)?;
        let requests = TURNOVERS * requests_per_turnover(|metric| cell.value(metric))?;
        Some(MARGIN * requests / cell.value(&THROUGHPUT)?)
    });
    let longest = seconds.filter(|seconds| seconds.is_finite()).fold(0.0, f64::max);
    let warm_up = More::WarmUp(TimeSpan::seconds(longest.ceil() as u64));
    let command = commands.again(&[SCHEMA.name], warm_up).filter(|_| longest > 0.0);
    command.map_or_else(String::new, |command| format!("; `{command}` should settle them"))
}

/// A topic that hit ratios do not decide, because some of them are not settled; none where all are.
pub(super) fn undecided(topic: &str, family: &[&Cell<'_>], now: &str, commands: &Commands) -> Option<Claim> {
    let unsettled: Vec<&Cell<'_>> = family.iter().copied().filter(|cell| is_unsettled(cell)).collect();
    let mut limits: Vec<String> = unsettled.iter().map(|cell| cell.shown(&MEMORY)).collect();
    limits.dedup();
    let limits = listed(limits);
    let remedy = remedy(&unsettled, commands);
    let brief = format!("{NOT_DECIDED}: the hit ratios at {limits} are not settled{remedy}");
    let text = format!(
        "Not decided: the hit ratios at {limits} are not settled after so short a warm-up{remedy} (now: {now})."
    );
    (!unsettled.is_empty()).then(|| Claim::new(topic, brief, text, Vec::new()))
}

/// In which cells the hit ratio is not settled.
pub(super) fn caution(cells: &[Cell<'_>], commands: &Commands) -> Option<Caution> {
    let unsettled = all_of(cells, is_unsettled);
    let known = unsettled
        .iter()
        .filter_map(|cell| Some((too_few_turnovers(cell)?, cell)));
    let (least, worst) = known.min_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Caution::warning(format!(
        "In {} of {} cells the hit ratios are not settled: the warm-up replaced the contents of the cache fewer than {TURNOVERS} times (least: {least:.1} \
         times, in {}), so they still depend on how the cache was filled{}.",
        unsettled.len(),
        cells.len(),
        words(worst),
        remedy(&unsettled, commands)
    )))
}
