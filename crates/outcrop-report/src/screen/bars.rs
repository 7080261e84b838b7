//! Where to compress as a picture of text: what the few candidates that matter give, and the space that they take.

use outcrop_schema::kv::THROUGHPUT;

use super::pad;
use crate::number::counted;
use crate::placement::{Candidate, CompressedAt, Placement};

/// Rows that decide: the answer, no compression, what takes less space, and the second best.
const MOST_ROWS: usize = 4;
/// Fewer columns for a bar show no differences, and more say nothing new.
const LEAST_BAR: usize = 8;
const MOST_BAR: usize = 36;
const ANSWER: &str = " ← the answer";
/// The same where there is no room for bars.
const ANSWER_ALONE: &str = " ← answer";
const SO_FAR: &str = " ← so far";
/// From the low end of an interval to its high end.
const SHADE: &str = "▒";
const LEGEND: &str = "▒ from the low to the high end of the interval";

/// A heading and a row for each candidate, the fastest first: a bar up to the low end of the interval of its throughput, shaded up to the high end.
/// Where the width has no room for bars, the figures alone; nothing where there are fewer than two, or no room for those. Where others were
/// measured too, the last line says how many.
pub(super) fn bars(placement: &Placement, width: usize) -> Vec<String> {
    let rows = chosen(placement);
    let names: Vec<String> = rows.iter().map(|(candidate, _)| candidate.name()).collect();
    let values: Vec<String> = rows
        .iter()
        .map(|(candidate, _)| candidate.throughput.to_string())
        .collect();
    let widest = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let (label, value) = (widest(&names) + 2, widest(&values).max(THROUGHPUT.name.len()) + 2);
    let space = "space".len();
    let beside = |mark: &str| width.checked_sub(label + value + space + 1 + mark.chars().count());
    let room = beside(ANSWER).filter(|room| *room >= LEAST_BAR);
    if rows.len() < 2 || (room.is_none() && beside(ANSWER_ALONE).is_none()) {
        return Vec::new();
    }
    let answer = room.map_or(ANSWER_ALONE, |_| ANSWER);
    let room = room.map_or(0, |room| room.min(MOST_BAR));
    let top = rows
        .iter()
        .map(|(candidate, _)| ends(candidate).1)
        .fold(0.0, f64::max);
    let bar = |candidate: &Candidate| {
        let (low, high) = ends(candidate);
        let cells = |value: f64| (value / top * room as f64).round() as usize;
        let solid = "█".repeat(cells(low));
        pad(
            &format!("{solid}{}", SHADE.repeat(cells(high) - cells(low))),
            room,
        )
    };
    let is_shaded = rows.iter().any(|(candidate, _)| bar(candidate).contains(SHADE));
    let legend = match is_shaded && LEGEND.chars().count() <= label + room {
        true => LEGEND,
        false => "",
    };
    let heading = format!(
        "{}{:>value$}{:>space$}",
        pad(legend, label + room),
        THROUGHPUT.name,
        " space",
        space = space + 1
    );
    let lines = rows
        .iter()
        .zip(names)
        .zip(values)
        .map(|(((candidate, is_answer), name), shown)| {
            let mark = match (is_answer, placement.is_decided) {
                (true, true) => answer,
                (true, false) => SO_FAR,
                (false, _) => "",
            };
            format!(
                "{}{}{shown:>value$}{:>6}{mark}",
                pad(&name, label),
                bar(candidate),
                taken(candidate)
            )
        });
    let rest = left_out(placement, rows.len());
    std::iter::once(heading).chain(lines).chain(rest).collect()
}

/// How many were measured and have no row.
fn left_out(placement: &Placement, shown: usize) -> Option<String> {
    let measured = placement.candidates.iter().filter(|one| !one.cell.is_empty());
    let more = measured.count() - shown;
    (more > 0).then(|| format!("{} in the report", counted(more, "more candidate")))
}

/// What was measured and matters, and whether it is the answer: that one, no compression, what takes less space, the second best, and others that
/// keep the limits and that nothing beats, as many as there is room for.
fn chosen(placement: &Placement) -> Vec<(&Candidate, bool)> {
    let mut ranked: Vec<(usize, usize)> = Vec::new();
    for (place, candidate) in placement.candidates.iter().enumerate() {
        let ranks = [
            placement.best == Some(place),
            candidate.place == CompressedAt::Nowhere,
            placement.saves_more == Some(place),
            placement.second == Some(place),
            candidate.on_front && candidate.left_out.is_none(),
        ];
        let is_measured = !candidate.cell.is_empty();
        let rank = ranks.iter().position(|is_so| *is_so).filter(|_| is_measured);
        ranked.extend(rank.map(|rank| (rank, place)));
    }
    ranked.sort_unstable();
    ranked.truncate(MOST_ROWS);
    ranked.sort_unstable_by_key(|(_, place)| *place);
    ranked
        .into_iter()
        .map(|(rank, place)| (&placement.candidates[place], rank == 0))
        .collect()
}

/// The ends of its throughput; without an interval the value is both.
fn ends(candidate: &Candidate) -> (f64, f64) {
    let value = candidate.throughput.value;
    candidate.throughput.ends().unwrap_or((value, value))
}

/// Of the space without compression: `54 %`.
fn taken(candidate: &Candidate) -> String {
    candidate.space().unwrap_or_else(|| "–".to_owned())
}
