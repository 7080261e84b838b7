//! How late answers are: their distribution, and their tail as the offered load rises.

use super::{OF_PEERS, distinguishing, point};
use crate::chart::{LineChart, Quantity, Scale, Series, SeriesKind, axis, cdf_of_latencies};
use crate::layer::cache::cell::{Cell, largest_family, typical_first};
use crate::section::FigureSlot;

/// Lines that a reader can tell apart.
const MOST_LINES: usize = 6;

/// The cumulative distribution of latency, by server or memory, closed and open loop.
pub(super) fn distribution(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Latency distribution";
    const PLAN: &str = "cache-etc";
    let mut along = OF_PEERS.to_vec();
    along.push("arrival");
    let mut known = typical_first(cells);
    known.retain(|cell| cell.number("latency_p50").is_some());
    // Of peers at every concurrency, the one that most have; of one server, every memory.
    let mut chosen = largest_family(known.iter().copied(), &along);
    if chosen.len() < 3 {
        chosen = largest_family(known.iter().copied(), &["memory", "arrival"]);
    }
    let chosen = few_enough(chosen);
    let series = chosen.iter().enumerate().map(|(hue, cell)| Series {
        name: distinguishing(&chosen, cell),
        hue,
        points: cdf_of_latencies(&cell.latencies()),
        kind: SeriesKind::Dense,
    });
    let chart = LineChart {
        x: axis("Latency", Quantity::Latency, Scale::Log10),
        y: axis("Requests answered", Quantity::Percent, Scale::Linear),
        series: series.collect(),
    };
    let held = chosen
        .first()
        .map_or_else(String::new, |cell| cell.concurrency_words());
    let caption = format!(
        "All requests of all trials, {held}. In a closed loop a connection asks again only when it was answered, so a \
         slow server is asked less; in an open loop latency counts from when a request was due."
    );
    FigureSlot::of(chart.draw("cache-latency-cdf", TITLE, caption), TITLE, PLAN)
}

/// As many lines as can be told apart, and every server under the same loads: the closed loop first, then open ones, the least
/// offered load first.
fn few_enough<'c, 'a>(cells: Vec<&'c Cell<'a>>) -> Vec<&'c Cell<'a>> {
    // Cells come in this order.
    let mut arrivals: Vec<&str> = Vec::new();
    for cell in &cells {
        if !arrivals.contains(&cell.factor("arrival")) {
            arrivals.push(cell.factor("arrival"));
        }
    }
    let servers = cells.len().div_ceil(arrivals.len().max(1));
    arrivals.truncate((MOST_LINES / servers.max(1)).max(1));
    let kept = cells
        .into_iter()
        .filter(|cell| arrivals.contains(&cell.factor("arrival")));
    let kept: Vec<&Cell<'_>> = kept.collect();
    let step = kept.len().div_ceil(MOST_LINES).max(1);
    kept.into_iter().step_by(step).collect()
}

/// p99 against throughput as the offered load rises, with the closed loop as a point of its own.
pub(super) fn by_offered_load(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "p99 latency as the offered load rises";
    const PLAN: &str = "cache-peers";
    let mut open = typical_first(cells);
    open.retain(|cell| cell.offered().is_some());
    let mut along = OF_PEERS.to_vec();
    along.push("arrival");
    let family = largest_family(open.iter().copied(), &along);
    let mut names: Vec<(String, usize)> = family.iter().map(|cell| (cell.server(), cell.rank())).collect();
    names.dedup();
    let mut series = Vec::new();
    for (server, hue) in names {
        let of_server = |cell: &&Cell<'_>| cell.server() == server;
        let mut points: Vec<_> = family
            .iter()
            .copied()
            .filter(of_server)
            .filter_map(|cell| {
                Some(point(
                    cell.value("throughput")?,
                    cell.number("latency_p99")?,
                    cell,
                ))
            })
            .collect();
        points.sort_by(|left, right| left.x.total_cmp(&right.x));
        if points.len() < 2 {
            continue;
        }
        let like = family.iter().copied().find(of_server);
        let closed = cells
            .iter()
            .filter(|cell| cell.is_closed_loop() && like.is_some_and(|of| cell.is_like(of, &["arrival"])));
        let closed_points = closed.filter_map(|cell| {
            Some(point(
                cell.value("throughput")?,
                cell.number("latency_p99")?,
                cell,
            ))
        });
        series.push(Series {
            name: format!("{server}, open loop"),
            hue,
            points,
            kind: SeriesKind::Measured,
        });
        series.push(Series {
            name: format!("{server}, closed loop"),
            hue: hue + 4,
            points: closed_points.collect(),
            kind: SeriesKind::Measured,
        });
    }
    if series.is_empty() {
        let reason = "no server was offered two or more loads in an open loop.";
        return FigureSlot::missing(TITLE, reason, PLAN);
    }
    let held = family.first().map_or_else(String::new, |cell| {
        format!("{}, {}", cell.concurrency_words(), cell.factor("memory"))
    });
    let chart = LineChart {
        x: axis("Requests answered per second", Quantity::Iops, Scale::Linear),
        y: axis("p99 latency", Quantity::Latency, Scale::Log10),
        series,
    };
    let caption = format!(
        "{held}. Each point of a line is one offered load, latency from the intended start. Where a line turns upwards requests \
         wait for each other; the single point is what a closed loop of the same connections reports."
    );
    FigureSlot::of(chart.draw("cache-offered-load", TITLE, caption), TITLE, PLAN)
}
