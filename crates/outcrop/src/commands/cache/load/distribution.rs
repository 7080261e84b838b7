//! How long the requests of a load took: the cumulative distribution, as numbers for programs and as a picture for people.

use outcrop_cache_load::{LoadReport, LoadSpec};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::units::format_nanoseconds;
use outcrop_workload::keyed::RequestKind;

use super::table::push_figures;
use crate::output::{Cell, Format, Table};

/// Width of the bar that stands for all requests.
const BAR_CHARACTERS: usize = 40;
/// Steps of a decade: each latency is about twice the one before.
const STEPS: [u64; 3] = [1, 2, 5];

/// The kinds of requests that were answered, with their latencies.
pub(super) fn kinds(report: &LoadReport) -> Vec<(&'static str, LatencyHistogram)> {
    let tally = &report.tally;
    let of = |kind: RequestKind| tally.kind(kind).latency.clone();
    let all = [
        (RequestKind::Get.name(), of(RequestKind::Get)),
        ("get hit", tally.hit_latency.clone()),
        ("get miss", tally.miss_latency.clone()),
        (RequestKind::Set.name(), of(RequestKind::Set)),
        (RequestKind::Delete.name(), of(RequestKind::Delete)),
    ];
    all.into_iter()
        .filter(|(_, latencies)| latencies.count() > 0)
        .collect()
}

/// For each kind, and each latency that occurred, the share that took at most so long.
fn shares(report: &LoadReport) -> impl Iterator<Item = (&'static str, Cell, Cell)> {
    kinds(report).into_iter().flat_map(|(name, latencies)| {
        let points: Vec<_> = latencies.ccdf().collect();
        points.into_iter().map(move |point| {
            let share = 1.0 - point.fraction_above;
            let latency_ns = point.latency_ns as f64;
            (
                name,
                Cell::number(latency_ns, format_nanoseconds(latency_ns)),
                Cell::number(share, format!("{share:.6}")),
            )
        })
    })
}

/// The cumulative distribution of each kind's latency.
pub(super) fn cdf(report: &LoadReport) -> Table {
    let mut table = Table::new([
        ("request", "request"),
        ("latency", "latency_ns"),
        ("share at or below", "share_ratio"),
    ]);
    for (name, latency, share) in shares(report) {
        table.push(vec![Cell::text(name), latency, share]);
    }
    table
}

/// Figures and distribution of one load as one table for programs: a share has its latency in the last column.
pub(super) fn with_figures(spec: &LoadSpec, report: &LoadReport) -> Table {
    let mut table = Table::new(["what", "value", "unit", "latency_ns"].map(|name| (name, name)));
    let mut row = |what: &str, value: Cell, unit: &str| {
        table.push(vec![Cell::text(what), value, Cell::text(unit), Cell::text("")]);
    };
    push_figures(spec, report, Format::Csv, &mut row);
    for (name, latency, share) in shares(report) {
        let what = Cell::text(format!("{name} share at or below"));
        table.push(vec![what, share, Cell::text("ratio"), latency]);
    }
    table
}

/// The distribution for people: a line for each step of latency, with the share of each kind and a bar for all requests.
/// None where nothing was answered.
pub(super) fn picture(report: &LoadReport) -> Option<Table> {
    let all = report.tally.latency();
    let (least, most) = (all.min()?, all.max()?);
    let kinds = kinds(report);
    let names = kinds.iter().map(|(name, _)| *name);
    let headings: Vec<&str> = ["answered within", "all"]
        .into_iter()
        .chain(names)
        .chain(["all, cumulative"])
        .collect();
    let mut table = Table::new(headings.into_iter().map(|heading| (heading, heading)));
    for step_ns in steps(least, most) {
        let share = share_within(&all, step_ns);
        let percent = |share: f64| Cell::number(share, format_percent(share));
        let of_kinds = kinds
            .iter()
            .map(|(_, latencies)| percent(share_within(latencies, step_ns)));
        let row = [
            Cell::number(step_ns as f64, format_nanoseconds(step_ns as f64)),
            percent(share),
        ];
        let bar = [Cell::text(bar(share))];
        table.push(row.into_iter().chain(of_kinds).chain(bar).collect());
    }
    Some(table)
}

/// Round latencies, from the last one below `least` to the first one that `most` does not exceed.
fn steps(least_ns: u64, most_ns: u64) -> Vec<u64> {
    let decades = (0..19).map(|exponent| 10_u64.pow(exponent));
    let round: Vec<u64> = decades
        .flat_map(|decade| STEPS.map(|step| decade.saturating_mul(step)))
        .collect();
    let first = round.partition_point(|&step| step < least_ns);
    let last = round.partition_point(|&step| step < most_ns);
    round[first..=last.min(round.len() - 1)].to_vec()
}

/// The share of operations that took at most so long.
fn share_within(latencies: &LatencyHistogram, most_ns: u64) -> f64 {
    let within = latencies.ccdf().take_while(|point| point.latency_ns <= most_ns);
    within.last().map_or(0.0, |point| 1.0 - point.fraction_above)
}

/// Whole only where it is: 99.99 % is not 100 %.
fn format_percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    match text.as_str() {
        "100.00" if share < 1.0 => "99.99 %".to_owned(),
        "100.00" => "100 %".to_owned(),
        _ => format!("{text} %"),
    }
}

fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share * (8 * BAR_CHARACTERS) as f64).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_reach_from_below_the_least_to_the_most() {
        assert_eq!(steps(34_000, 410_000), [50_000, 100_000, 200_000, 500_000]);
        assert_eq!(steps(50, 50), [50]);
        assert_eq!(steps(0, 1), [1]);
        assert!(!steps(1, u64::MAX).is_empty());
    }

    #[test]
    fn a_share_is_that_of_the_latencies_within_and_whole_only_where_all_are() {
        let mut latencies = LatencyHistogram::new();
        (1..=1000_u64).for_each(|number| latencies.record(number * 1000));
        assert_eq!(share_within(&latencies, 500), 0.0);
        let half = share_within(&latencies, 500_000);
        assert!((0.49..=0.5).contains(&half), "{half}");
        assert_eq!(share_within(&latencies, 1_000_000), 1.0);
        assert_eq!(
            [0.0, 0.5, 0.99999, 1.0].map(format_percent),
            ["0.00 %", "50.00 %", "99.99 %", "100 %"]
        );
        assert_eq!(
            [0.0, 0.5, 1.0].map(|share| bar(share).chars().count()),
            [0, 20, 40]
        );
    }
}
