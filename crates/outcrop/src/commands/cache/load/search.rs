//! `outcrop cache load --search`: the highest rate that keeps an objective, and why the others did not.

use std::sync::atomic::AtomicBool;

use outcrop_cache_load::{LoadProgress, LoadSpec, SearchEnd, SearchReport, search_rate};
use outcrop_measure::TimeSpan;
use outcrop_measure::units::format_count;
use outcrop_probe::Clock;

use super::classified;
use super::table::{answer, latency_cell, per_second, why};
use crate::exit::Ending;
use crate::output::{Cell, Format, Table, note};

pub(super) fn run(
    spec: &LoadSpec,
    format: Format,
    clock: &Clock,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(LoadProgress),
) -> anyhow::Result<Ending> {
    let found = search_rate(spec, clock, stop, progress).map_err(classified)?;
    if !found.steps.is_empty() {
        table(&found).print(format)?;
    }
    conclude(&found)
}

/// Every rate that was tried.
fn table(found: &SearchReport) -> Table {
    let mut table = Table::new([
        ("offered", "offered_1/s"),
        ("answered", "throughput_1/s"),
        ("objective", "objective"),
        (found.objective.percentile.name, "latency_ns"),
        ("kept", "kept"),
        ("why", "why"),
    ]);
    for step in &found.steps {
        let latency = step.report.tally.latency();
        table.push(vec![
            per_second(step.requested_per_second),
            per_second(step.report.throughput_per_second()),
            Cell::text(found.objective.to_string()),
            latency_cell(
                latency.percentile(found.objective.percentile.quantile),
                latency.count(),
            ),
            Cell::text(answer(step.verdict)),
            Cell::text(why(step.verdict).unwrap_or_default()),
        ]);
    }
    table
}

/// The answer as a sentence. A search that found nothing for want of time or samples is a failed measurement.
fn conclude(found: &SearchReport) -> anyhow::Result<Ending> {
    let objective = found.objective;
    let closed = format_count(found.closed_loop.throughput_per_second());
    if let Some(best) = found.best() {
        let next = match found.refuted() {
            Some(refuted) => format!("{}/s did not", format_count(refuted.requested_per_second)),
            None => "no higher rate was tried".to_owned(),
        };
        note(&format!(
            "highest rate that kept {objective}: {}/s ({next}; closed loop: {closed}/s)",
            format_count(best.requested_per_second),
        ));
    }
    if found.end == SearchEnd::Stopped {
        return Ok(Ending::Interrupted);
    }
    let short = match found.end {
        SearchEnd::TooSlow {
            per_second,
            needed,
            longest,
        } => Some(format!(
            "{}/s needs {} a step to decide {objective}, and a step may last {}: allow it with --duration {}",
            format_count(per_second),
            seconds(needed),
            seconds(longest),
            seconds(needed)
        )),
        SearchEnd::StepsUsedUp => Some("as many steps as a search may take did not decide it".to_owned()),
        SearchEnd::Found | SearchEnd::NothingKept | SearchEnd::Stopped => None,
    };
    match (short, found.best()) {
        (Some(why), None) => anyhow::bail!("no rate was found that keeps {objective}: {why}"),
        (Some(why), Some(_)) => note(&format!("the search ended early: {why}")),
        (None, None) => note(&format!("no rate kept {objective} (closed loop: {closed}/s)")),
        (None, Some(_)) => {}
    }
    Ok(Ending::Done)
}

/// Whole seconds, rounded up, as `--duration` takes them.
fn seconds(time: std::time::Duration) -> TimeSpan {
    TimeSpan(std::time::Duration::from_secs(time.as_secs_f64().ceil() as u64))
}
