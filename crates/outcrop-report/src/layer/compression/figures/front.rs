//! Ratio against speed with the front that no codec beats, and ratio by block size.

use super::super::cell::{Cell, Direction, hue};
use super::super::wishes::{Candidate, candidates, front, held_fixed};
use super::{Codecs, point};
use crate::chart::{
    LineChart, Quantity, Scale, ScatterChart, ScatterGroup, ScatterPoint, Series, SeriesKind, axis,
};
use crate::section::FigureSlot;
use outcrop_measure::metric::Better;

const PLAN: &str = "throughput-latency";

/// One figure for each direction.
pub(super) fn both(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    let all = candidates(cells);
    Direction::BOTH
        .map(|direction| ratio_against_speed(&all, direction))
        .into()
}

fn ratio_against_speed(all: &[Candidate<'_, '_>], direction: Direction) -> FigureSlot {
    let title = format!("Ratio against {} speed", direction.name());
    let on_front = front(all, direction);
    let has_front = on_front.contains(&true);
    let shown: Vec<(&Candidate<'_, '_>, bool)> = all
        .iter()
        .zip(on_front)
        .filter(|(one, _)| !one.cell.is_copy())
        .collect();
    if shown.len() < 2 {
        let reason = "no two codecs or block sizes were measured in both directions on the same data.";
        return FigureSlot::missing(&title, reason, PLAN);
    }
    let groups = groups(&shown, direction, has_front);
    let copy = all.iter().find(|one| one.cell.is_copy());
    let copy = copy.map_or_else(String::new, |one| {
        format!(" A copy of the same blocks runs at {}.", one.speed(direction))
    });
    let chart = ScatterChart {
        x: axis(
            &format!("{} speed", direction.title()),
            Quantity::Bandwidth,
            Scale::Log10,
        ),
        y: axis("Compression ratio", Quantity::Ratio, Scale::Fitted),
        x_better: Better::Higher,
        groups,
        front_name: Some("front".to_owned()),
    };
    let caption = format!(
        "{}. Right and up is better. The stairs join what no other cell beats in both; the rest is pale.{copy}",
        held_fixed(all)
    );
    FigureSlot::of(
        chart.draw(
            &format!("ratio-against-{}-speed", direction.name()),
            &title,
            caption,
        ),
        &title,
        PLAN,
    )
}

/// One group of points per codec family; what is on the front is labelled.
fn groups(shown: &[(&Candidate<'_, '_>, bool)], direction: Direction, has_front: bool) -> Vec<ScatterGroup> {
    let mut groups: Vec<ScatterGroup> = Vec::new();
    for (one, is_member) in shown {
        let family = one.cell.family().to_owned();
        let point = ScatterPoint {
            x: one.speed(direction).value,
            y: one.ratio,
            label: if *is_member {
                one.cell.short_name()
            } else {
                String::new()
            },
            on_front: *is_member,
            note: format!(
                "{}: ratio {:.3}, {} ({})",
                one.cell.words(),
                one.ratio,
                one.speed(direction),
                one.speed(direction).certainty()
            ),
        };
        match groups.iter_mut().find(|group| group.name == family) {
            Some(group) => group.points.push(point),
            None => groups.push(ScatterGroup {
                hue: hue(&family),
                name: family,
                kind: SeriesKind::Measured,
                is_beside_front: has_front,
                points: vec![point],
            }),
        }
    }
    groups
}

/// What larger blocks give.
pub(super) fn ratio_by_block_size(cells: &[Cell<'_>], codecs: &Codecs) -> FigureSlot {
    const TITLE: &str = "Ratio by block size";
    let all = candidates(cells);
    let mut series: Vec<Series> = Vec::new();
    for one in all.iter().filter(|one| !one.cell.is_copy()) {
        let Some(ratio) = one.cell.number("compression_ratio") else {
            continue;
        };
        let point = point(one.cell.block_size_bytes as f64, ratio, one.cell);
        match series.iter_mut().find(|series| series.name == one.cell.codec) {
            Some(series) => series.points.push(point),
            None => series.push(Series {
                name: one.cell.codec.clone(),
                hue: codecs.hue(&one.cell.codec),
                points: vec![point],
                kind: SeriesKind::Measured,
            }),
        }
    }
    series.retain(|series| series.points.len() > 1);
    if series.is_empty() {
        return FigureSlot::missing(
            TITLE,
            "no codec was measured at two block sizes of the same data.",
            PLAN,
        );
    }
    let chart = LineChart {
        x: axis("Block size", Quantity::AccessSize, Scale::Log2),
        y: axis("Compression ratio", Quantity::Ratio, Scale::Linear),
        series,
    };
    let caption = format!("{}. Each block is compressed on its own.", held_fixed(&all));
    FigureSlot::of(chart.draw("ratio-by-block-size", TITLE, caption), TITLE, PLAN)
}
