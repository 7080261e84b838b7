//! Ratio against speed with the front that no codec beats, and ratio and speeds by block size.

use outcrop_measure::metric::{Better, Metric};
use outcrop_schema::compression::{COMPRESSION_BLOCK_SIZE, COMPRESSION_RATIO, Direction, SPEED};

use super::super::cell::{CompressionCell, title};
use super::super::front::{places, undecided};
use super::super::wishes::{Candidate, held_fixed};
use super::line_of;
use crate::cell::{Cell, families};
use crate::chart::{
    Axis, LineChart, Quantity, Scale, ScatterChart, ScatterGroup, ScatterPoint, Series, SeriesKind, Wait,
    axis,
};
use crate::layer::not_drawn::{behind_blank, cells_not_drawn};
use crate::number::Number;
use crate::section::FigureSlot;

const PLAN: &str = "throughput-latency";

/// One figure for each direction, and of block sizes one for the ratio and one for the speed of each direction.
pub(super) fn all(cells: &[Cell<'_>], all: &[Candidate<'_, '_>], codecs: &[&str]) -> Vec<FigureSlot> {
    let by_speed = Direction::ALL.map(|direction| ratio_against_speed(cells, all, direction));
    by_speed
        .into_iter()
        .chain([ratio_by_block_size(cells, all, codecs)])
        .chain(Direction::ALL.map(|direction| speed_by_block_size(cells, all, codecs, direction)))
        .collect()
}

/// The cells with a metric that a figure leaves out, as a sentence with a blank before it. A copy is no codec.
fn left_out(cells: &[Cell<'_>], metric: &Metric, drawn: &[&Cell<'_>]) -> String {
    let with_value = cells.iter().filter(|cell| cell.number(metric).is_some());
    behind_blank(cells_not_drawn(with_value.filter(|cell| !cell.is_copy()), drawn))
}

fn ratio_against_speed(cells: &[Cell<'_>], all: &[Candidate<'_, '_>], direction: Direction) -> FigureSlot {
    let heading = format!("Ratio against {direction} speed");
    let places = places(all, direction);
    let on_front: Vec<bool> = places.iter().map(|place| place.is_on()).collect();
    let has_front = on_front.contains(&true);
    let undecided = undecided(all, &places);
    let shown = all.iter().zip(on_front).filter(|(one, _)| !one.cell.is_copy());
    if shown.clone().count() < 2 {
        let reason = "no two codecs or block sizes were measured in both directions on the same data.";
        return FigureSlot::missing(&heading, reason, PLAN);
    }
    let drawn: Vec<&Cell<'_>> = shown.clone().map(|(one, _)| one.cell).collect();
    let left_out = left_out(cells, &SPEED.of(direction), &drawn);
    // One group of points per codec family; what is on the front is labelled.
    let mut groups: Vec<ScatterGroup> = Vec::new();
    for (one, on_front) in shown {
        let (family, speed) = (one.cell.family(), one.speed.of(direction));
        let (words, ratio) = (one.cell.words(), one.ratio);
        let known = one.cell.number(&COMPRESSION_RATIO);
        let certainty = known.map_or_else(String::new, Number::certainty);
        let point = ScatterPoint {
            label: if on_front {
                one.cell.short_name()
            } else {
                String::new()
            },
            on_front,
            note: format!(
                "{words}: ratio {ratio:.3} ({certainty}), {speed} ({})",
                speed.certainty()
            ),
            ..ScatterPoint::of(speed, ratio, &words)
        };
        let point = match known {
            Some(number) => point.with_y(number),
            None => point,
        };
        match groups.iter_mut().find(|group| group.name == family) {
            Some(group) => group.points.push(point),
            None => groups.push(ScatterGroup {
                name: family.to_owned(),
                hue: hue(family),
                kind: SeriesKind::Measured,
                is_beside_front: has_front,
                points: vec![point],
            }),
        }
    }
    let speed = format!("{} speed", title(direction));
    let chart = ScatterChart {
        x: axis(&speed, Quantity::Bandwidth, Scale::Log10),
        y: axis("Compression ratio", Quantity::Ratio, Scale::Fitted),
        x_better: Better::Higher,
        groups,
        front_name: Some("front".to_owned()),
    };
    let copy = all.iter().find(|one| one.cell.is_copy());
    let caption = format!(
        "{}. Right and up is better. The steps connect the cells that by the medians no other cell beats in both; the others are pale.{undecided}{}{left_out}",
        held_fixed(all).unwrap_or_default(),
        copy.map_or_else(String::new, |one| {
            format!(" A copy of the same blocks runs at {}.", one.speed.of(direction))
        })
    );
    let id = format!("ratio-against-{direction}-speed");
    FigureSlot::of(chart.draw(&id, &heading, caption), &heading, PLAN)
}

/// Colour of a family. Libraries of one format share it.
fn hue(family: &str) -> usize {
    match family {
        "zstd" => 0,
        "lz4" | "lz4hc" | "lz4_flex" => 1,
        "snappy" => 2,
        name if name == "zlib" || name.starts_with("deflate") => 3,
        "brotli" => 4,
        "dpzip" => 5,
        _ => 6,
    }
}

/// What larger blocks give.
fn ratio_by_block_size(cells: &[Cell<'_>], all: &[Candidate<'_, '_>], codecs: &[&str]) -> FigureSlot {
    let by_size = BySize {
        title: "Ratio by block size".to_owned(),
        id: "ratio-by-block-size".to_owned(),
        metric: COMPRESSION_RATIO,
        y: axis("Compression ratio", Quantity::Ratio, Scale::Linear),
    };
    by_size.draw(cells, all, codecs)
}

/// What larger blocks cost or gain in speed.
fn speed_by_block_size(
    cells: &[Cell<'_>],
    all: &[Candidate<'_, '_>],
    codecs: &[&str],
    direction: Direction,
) -> FigureSlot {
    let speed = format!("{} speed", title(direction));
    let by_size = BySize {
        id: format!("{direction}-speed-by-block-size"),
        metric: SPEED.of(direction),
        y: axis(&speed, Quantity::Bandwidth, Scale::Log10),
        title: format!("{speed} by block size"),
    };
    by_size.draw(cells, all, codecs).that_can_wait(Wait::Late)
}

/// A line for each codec over the size of its blocks.
struct BySize {
    title: String,
    id: String,
    metric: Metric,
    y: Axis,
}

impl BySize {
    fn draw(self, cells: &[Cell<'_>], all: &[Candidate<'_, '_>], codecs: &[&str]) -> FigureSlot {
        let compared = all.iter().map(|one| one.cell).filter(|cell| !cell.is_copy());
        let size = |cell: &Cell<'_>| cell.place(&COMPRESSION_BLOCK_SIZE);
        let line = |family: Vec<&Cell<'_>>| line_of(&family, codecs, &self.metric, size);
        let families = families(compared, &[&COMPRESSION_BLOCK_SIZE]).into_iter();
        let lines = families.map(|family| (line(family.clone()), family));
        let (series, drawn): (Vec<Series>, Vec<Vec<&Cell<'_>>>) =
            lines.filter(|(line, _)| line.points.len() > 1).unzip();
        if series.is_empty() {
            let reason = "no codec was measured at two block sizes of the same data.";
            return FigureSlot::missing(&self.title, reason, PLAN);
        }
        let chart = LineChart {
            x: axis("Block size", Quantity::AccessSize, Scale::Log2),
            y: self.y,
            series,
        };
        let fixed = held_fixed(all).unwrap_or_default();
        let left_out = left_out(cells, &self.metric, &drawn.concat());
        let caption = format!("{fixed}. Each block is compressed on its own.{left_out}");
        chart.slot(&self.id, &self.title, caption, PLAN)
    }
}
