//! `outcrop cache load --search`: the highest rate that keeps an objective, and why the others did not.

use std::sync::atomic::AtomicBool;

use outcrop_cache_load::{
    LoadProgress, LoadSpec, SearchEnd, SearchReport, SearchStep, TriedRate, search_rate, steps_process,
};
use outcrop_measure::TimeSpan;
use outcrop_measure::units::{format_count, format_nanoseconds};
use outcrop_probe::Clock;
use outcrop_report::number::counted;

use super::table::{answer, latency_cell, per_second, why};
use super::{classified, disturbed};
use crate::exit::Ending;
use crate::output::{self, Cell, Format, Table, note, pretty_json};

pub(super) fn run(
    spec: &LoadSpec,
    format: Format,
    clock: &Clock,
    stop: &AtomicBool,
    mut progress: impl FnMut(LoadProgress),
) -> anyhow::Result<Ending> {
    let found = search_rate(spec, clock, stop, &mut progress).map_err(classified)?;
    // The line of progress goes before anything else is said.
    drop(progress);
    let process = steps_process(spec.arrival);
    print(&found, process, format)?;
    conclude(&found, process, format)
}

/// Every rate that was tried; as JSON with what was found.
fn print(found: &SearchReport, process: &str, format: Format) -> anyhow::Result<()> {
    let table = table(found, format);
    if format != Format::Json {
        return match found.steps.is_empty() {
            true => Ok(()),
            false => table.print(format),
        };
    }
    let mut envelope = table.in_envelope();
    let rate = |tried: Option<TriedRate>| tried.map(|tried| tried.requested_per_second);
    let kept = |tried: Option<TriedRate>| tried.map(|tried| tried.kept);
    let steps = |tried: Option<TriedRate>| tried.map(|tried| tried.steps());
    let contradiction = found.contradiction();
    let disturbance = found.disturbance();
    let mut say = |key: &str, value: serde_json::Value| envelope.details.insert(key.to_owned(), value);
    say("objective", found.objective.to_string().into());
    say("arrival", process.into());
    say(
        "is_decided",
        (found.best().is_some() && contradiction.is_none() && disturbance.is_none()).into(),
    );
    say("highest_rate_kept_1/s", rate(found.best()).into());
    say("highest_rate_kept_steps", steps(found.best()).into());
    say("highest_rate_kept_steps_kept", kept(found.best()).into());
    say("lowest_rate_not_kept_1/s", rate(found.refuted()).into());
    say("lowest_rate_not_kept_steps", steps(found.refuted()).into());
    say("lowest_rate_not_kept_steps_kept", kept(found.refuted()).into());
    say("closed_loop_1/s", found.closed_loop.answered_per_second().into());
    say("others_cpu_share_ratio", disturbance.into());
    let why_not = contradiction.map(|(slow, fast)| contradicted(found, slow, fast));
    say("undecided", why_not.or_else(|| disturbance.map(disturbed)).into());
    output::print(&pretty_json(&envelope)?)
}

/// Why the rates that were tried decide nothing.
fn contradicted(found: &SearchReport, slow: &SearchStep, fast: &SearchStep) -> String {
    let percentile = found.objective.percentile;
    let latency = |step: &SearchStep| {
        let ns = step.report.tally.latency().percentile(percentile.quantile);
        ns.map_or_else(|| "unknown".to_owned(), |ns| format_nanoseconds(ns as f64))
    };
    format!(
        "{} was {} at {}/s but {} at {}/s, so something other than the rate sets the latency; stop other work on this machine, or use a \
         longer --duration",
        percentile.name,
        latency(slow),
        format_count(slow.requested_per_second),
        latency(fast),
        format_count(fast.requested_per_second)
    )
}

/// Every rate that was tried: for people from the lowest to the highest, for programs in the order of the search.
fn table(found: &SearchReport, format: Format) -> Table {
    let mut table = Table::new([
        ("offered", "offered_1/s"),
        ("answered", "answered_1/s"),
        // People read it above and below.
        ("", "objective"),
        (found.objective.percentile.name, "latency_ns"),
        ("kept", "kept"),
        ("why", "why"),
    ]);
    let mut steps: Vec<&SearchStep> = found.steps.iter().collect();
    if format == Format::Text {
        steps.sort_by(|one, other| one.requested_per_second.total_cmp(&other.requested_per_second));
    }
    for step in steps {
        let latency = step.report.tally.latency();
        table.push(vec![
            per_second(step.requested_per_second),
            per_second(step.report.answered_per_second()),
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

/// The answer as a sentence. A search that found nothing for lack of time or samples is a failed measurement.
fn conclude(found: &SearchReport, process: &str, format: Format) -> anyhow::Result<Ending> {
    // For people the answer belongs to the output; programs have it in the rows.
    let say = |answer: String| match format {
        Format::Text => output::print(&format!("{answer}\n")),
        Format::Json | Format::Csv => {
            note(&answer);
            Ok(())
        }
    };
    let objective = found.objective;
    let closed = format_count(found.closed_loop.answered_per_second());
    if let Some((slow, fast)) = found.contradiction() {
        anyhow::bail!(
            "not decided which rate meets {objective}: {}",
            contradicted(found, slow, fast)
        );
    }
    let begin = match found.disturbance() {
        Some(share) => format!("not decided, because {}; by these steps: ", disturbed(share)),
        None => String::new(),
    };
    if let Some(best) = found.best() {
        let next = match found.refuted() {
            Some(refuted) => format!(
                "{}/s did not, in {} of {}",
                format_count(refuted.requested_per_second),
                refuted.not_kept,
                counted(refuted.steps(), "step")
            ),
            None => "no higher rate was tried".to_owned(),
        };
        say(format!(
            "{begin}highest rate that met {objective}: {}/s, in {} of {} ({next}; {process} arrivals; closed loop: {closed}/s)",
            format_count(best.requested_per_second),
            best.kept,
            counted(best.steps(), "step")
        ))?;
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
            "{}/s needs {} per step to decide {objective}, but a step may last {}; allow it with --duration {}",
            format_count(per_second),
            seconds(needed),
            seconds(longest),
            seconds(needed)
        )),
        SearchEnd::StepsUsedUp => {
            Some("the search took its maximum number of steps without a decision".to_owned())
        }
        SearchEnd::Found | SearchEnd::NothingKept | SearchEnd::Stopped => None,
    };
    match (short, found.best()) {
        (Some(why), None) => anyhow::bail!("no rate was found that meets {objective}: {why}"),
        (Some(why), Some(_)) => note(&format!("the search ended early: {why}")),
        (None, None) => say(format!(
            "{begin}no rate met {objective} ({process} arrivals; closed loop: {closed}/s)"
        ))?,
        (None, Some(_)) => {}
    }
    Ok(Ending::Done)
}

/// Whole seconds, rounded up, as `--duration` takes them.
fn seconds(time: std::time::Duration) -> TimeSpan {
    TimeSpan(std::time::Duration::from_secs(time.as_secs_f64().ceil() as u64))
}
