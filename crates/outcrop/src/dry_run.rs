//! `--dry-run`: the cells, the time and the bytes to be written; measures and writes nothing.

use crate::endurance;
use crate::exit::Ending;
use crate::output::{self, Cell, Format, Table};
use crate::session::rounded;
use outcrop_lab::{Estimate, FollowDoubt, PlanSet, VariantName};
use outcrop_measure::race::{LOOKS, MOST_ROUNDS};
use outcrop_measure::units::{ByteSize, TimeSpan, format_data};
use outcrop_report::cell_table;
use outcrop_report::number::counted;
use outcrop_results::{CellRow, CellTable};
use outcrop_schema::device;
use std::collections::{BTreeMap, BTreeSet};

/// Prints what a run of these plans would do.
pub(crate) fn print(set: &PlanSet, format: Format, rated: Option<ByteSize>) -> anyhow::Result<Ending> {
    match format {
        Format::Json => output::print(&output::pretty_json(&envelope(set, rated))?)?,
        Format::Csv => table(set).print(Format::Csv)?,
        Format::Text => {
            let cells = tables(set);
            let (trials, forecast) = (trials(set), forecast(set, rated));
            let doubt = set.follows_doubt().map_or_else(String::new, by_doubt);
            let hindered = hindered(set);
            output::print(&format!("{cells}\n{trials}{doubt}{hindered}\n{forecast}\n"))?;
        }
    }
    Ok(Ending::Done)
}

/// The cells for a terminal: in one table for each variant, where there are two.
fn tables(set: &PlanSet) -> String {
    let text = |table: &CellTable| cell_table::text(table, output::terminal_width());
    let cells = set.cells_here();
    if !set.has_variants() {
        return text(&planned(&cells));
    }
    let of_variant = |variant: VariantName| {
        let is_its = |cell: &outcrop_lab::Cell| {
            cell.variant
                .as_ref()
                .is_some_and(|own| own.name == variant.name())
        };
        let own: Vec<outcrop_lab::Cell> = cells.iter().filter(|cell| is_its(cell)).cloned().collect();
        let name = variant.name().to_uppercase();
        format!("Variant {name}\n{}", text(&planned(&own)))
    };
    [VariantName::A, VariantName::B].map(of_variant).join("\n")
}

/// The cells as the table of a run has them, without a figure: those that the estimate is about. The others are named below it.
fn planned(cells: &[outcrop_lab::Cell]) -> CellTable {
    let row = |cell: &outcrop_lab::Cell| CellRow {
        id: cell.id.clone(),
        layer: cell.layer.name().to_owned(),
        schema: Some(cell.layer.schema()),
        subject: cell.subject.label.clone(),
        factors: cell.factors.clone(),
        plans: cell.plans.clone(),
        trials: cell.trial.repetitions as usize,
        longest_trial_s: cell.trial.duration.0.as_secs_f64(),
        is_of_unfinished_run: false,
        failure: None,
        figures: BTreeMap::new(),
    };
    CellTable::of_rows(String::new(), cells.iter().map(row).collect())
}

/// How long the trials are, a line for each plan.
fn trials(set: &PlanSet) -> String {
    let times = set.cells().iter().map(|cell| {
        let trial = &cell.trial;
        let may_end = cell.follows_doubt || trial.stops_when_steady;
        let most = if may_end { "up to " } else { "" };
        let steady = match trial.stops_when_steady {
            true => ", until five rounds in a row are steady",
            false => "",
        };
        let trials = counted(trial.repetitions as usize, "trial");
        let length = match cell.layer.ends_by(&cell.factors) {
            None => format!("{trials} of {} per cell", trial.duration),
            Some(end) if end.or_by_time => {
                format!(
                    "{trials} of at most {} per cell, until {}",
                    trial.duration, end.what
                )
            }
            Some(end) => format!("{trials} per cell, each until {}", end.what),
        };
        // Some cells have none that takes a given time.
        let warm_up = match trial.warm_up.0.is_zero() {
            true => String::new(),
            false => format!(", after {} of warm-up", trial.warm_up),
        };
        (cell.plans.join(", "), format!("{most}{length}{warm_up}{steady}"))
    });
    let lines: BTreeSet<String> = times
        .map(|(plans, trials)| format!("{plans}: {trials}\n"))
        .collect();
    lines.into_iter().collect()
}

/// How a budget is spent on where to compress.
fn by_doubt(follow: &FollowDoubt) -> String {
    let (first, most) = (LOOKS[0], MOST_ROUNDS);
    format!(
        "Within {}, each cell that could be the answer to where to compress gets {first} trials. Then cells that cannot be the answer get no more, \
         and the others get up to {most}, until the answer is clear or the time is used up.\n",
        follow.budget
    )
}

/// The cells that cannot be measured here, by reason; nothing where all can.
fn hindered(set: &PlanSet) -> String {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (cell, reason) in set.hindered() {
        by_reason.entry(reason).or_default().push(cell.label());
    }
    let line = |(reason, cells): (String, Vec<String>)| {
        format!(
            "{} cannot be measured on this machine ({}): {reason}\n",
            counted(cells.len(), "cell"),
            cells.join("; ")
        )
    };
    by_reason.into_iter().map(line).collect()
}

/// For programs: one row per cell, its factors in one field as plans spell them.
fn table(set: &PlanSet) -> Table {
    let mut table = Table::new([
        ("cell", "cell"),
        ("subject", "subject"),
        ("factors", "factors"),
        ("trials", "repetitions_count"),
        ("warm-up", "warm_up_s"),
        ("measured", "duration_s"),
        ("plans", "plans"),
    ]);
    let time = |span: TimeSpan| Cell::number(span.0.as_secs_f64(), span.to_string());
    for cell in set.cells() {
        let factors = cell.factors.iter();
        let factors: Vec<String> = factors
            .map(|(name, value)| format!("{name}={}", value.spelling()))
            .collect();
        let repetitions = cell.trial.repetitions;
        table.push(vec![
            Cell::text(&cell.id),
            Cell::text(&cell.subject.label),
            Cell::text(factors.join(" ")),
            Cell::number(f64::from(repetitions), repetitions.to_string()),
            time(cell.trial.warm_up),
            time(cell.trial.duration),
            Cell::text(cell.plans.join(" ")),
        ]);
    }
    table
}

fn forecast(set: &PlanSet, rated: Option<ByteSize>) -> String {
    let estimate = &set.estimate_here();
    let time = format!(
        "{}, {}: about {} ({} to prepare, {} to measure).",
        counted(estimate.cells, "cell"),
        counted(estimate.trials, "trial"),
        rounded(estimate.total()),
        rounded(estimate.preparation),
        rounded(estimate.measuring),
    );
    if estimate.bytes_written() == 0 {
        return format!("{time}\nOnly the run folder will be written.");
    }
    let most = estimate.bytes_written();
    let bound = match set.max_written() {
        Some(limit) => format!("the run ends before it has written more than {limit} (--max-written)"),
        None => "--max-written sets a bound".to_owned(),
    };
    format!(
        "{time}\n{}\nThese are estimates; {bound}.{}",
        to_be_written(estimate, &assumption(set)),
        endurance::before_a_run(set.max_written().map_or(most, |limit| most.min(limit.0)), rated)
    )
}

/// What a run will write, as a clause behind a comma: to a usual device and to a fast one, and nowhere more than is allowed.
pub(crate) fn writes(likely: u64, most: u64, allowed: Option<ByteSize>) -> String {
    match allowed.filter(|limit| limit.0 < most) {
        _ if most == 0 => String::new(),
        Some(limit) if likely >= limit.0 => format!(", writes at most {limit} (--max-written)"),
        Some(limit) => format!(
            ", writes about {} or more, at most {limit} (--max-written)",
            format_data(likely as f64)
        ),
        None => format!(", writes about {}", between(likely, most)),
    }
}

/// A range of bytes, with the unit once where both ends have it: `8.06 to 45.5 GB`.
fn between(least: u64, most: u64) -> String {
    let (low, high) = (format_data(least as f64), format_data(most as f64));
    match (low.split_once(' '), high.split_once(' ')) {
        _ if low == high => high,
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// What the estimate assumes of what this run does.
fn assumption(set: &PlanSet) -> String {
    let is_of_device = |cell: &outcrop_lab::Cell| cell.layer.name() == device::SCHEMA.name;
    match set.cells().iter().all(is_of_device) {
        true => Estimate::ASSUMPTION.to_owned(),
        false => format!("{}, and {}", Estimate::ASSUMPTION, Estimate::ASSUMPTION_OF_CPU),
    }
}

/// How much a run writes, in preparation and to a fast device, where these differ.
fn to_be_written(estimate: &Estimate, assumption: &str) -> String {
    let [likely, preparing, fast] = [
        estimate.likely_bytes_written(),
        estimate.bytes_written_preparing,
        estimate.bytes_written(),
    ]
    .map(|bytes| format_data(bytes as f64));
    if likely != fast {
        return format!(
            "About {likely} will be written ({preparing} to prepare), or {fast} to a fast device, {assumption}."
        );
    }
    match likely == preparing {
        true => format!("About {likely} will be written, all of it to prepare."),
        false => format!("About {likely} will be written ({preparing} to prepare)."),
    }
}

fn envelope(set: &PlanSet, rated: Option<ByteSize>) -> outcrop_results::Envelope {
    let estimate = set.estimate_here();
    let hindered: BTreeMap<String, String> = set
        .hindered()
        .into_iter()
        .map(|(cell, reason)| (cell.id.clone(), reason))
        .collect();
    let row = |cell: &outcrop_lab::Cell| {
        serde_json::json!({
            "cell": cell.id, "layer": cell.layer.name(), "subject": cell.subject.label,
            "factors": cell.factors.spellings(),
            "plans": cell.plans, "repetitions": cell.trial.repetitions,
            "warm_up_s": cell.trial.warm_up.0.as_secs_f64(), "duration_s": cell.trial.duration.0.as_secs_f64(),
            "hindrance": hindered.get(&cell.id),
        })
    };
    output::envelope()
        .with_rows(set.cells().iter().map(row).collect())
        .with_detail("seed", set.seed().to_string())
        .with_detail("trials", estimate.trials)
        .with_detail("preparation_s", estimate.preparation.as_secs_f64())
        .with_detail("measuring_s", estimate.measuring.as_secs_f64())
        .with_detail("bytes_written_likely", estimate.likely_bytes_written())
        .with_detail("bytes_written_fast_device", estimate.bytes_written())
        .with_detail(
            "endurance_share_fast_device",
            endurance::share(estimate.bytes_written(), rated),
        )
        .with_detail("assumption", assumption(set))
        .with_detail("plan", set.to_toml())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_not_said_to_write_more_than_it_may() {
        let allowed = |bytes| Some(ByteSize(bytes));
        let cases = [
            ((0, 0, allowed(900_000_000)), ""),
            (
                (2_630_000_000, 15_100_000_000, None),
                ", writes about 2.63 to 15.1 GB",
            ),
            (
                (2_630_000_000, 15_100_000_000, allowed(20_000_000_000)),
                ", writes about 2.63 to 15.1 GB",
            ),
            (
                (2_630_000_000, 15_100_000_000, allowed(900_000_000)),
                ", writes at most 900MB (--max-written)",
            ),
            (
                (2_630_000_000, 15_100_000_000, allowed(5_000_000_000)),
                ", writes about 2.63 GB or more, at most 5GB (--max-written)",
            ),
        ];
        for ((likely, most, allowed), expected) in cases {
            assert_eq!(writes(likely, most, allowed), expected);
        }
    }
}
