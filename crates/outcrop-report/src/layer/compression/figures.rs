//! The compression figures: front, stages, percentiles, speeds and robustness, published ones beside ours.

mod front;
mod percentiles;
mod robustness;
mod shares;
mod speeds;

use std::collections::BTreeMap;

use super::cell::Cell;
use super::references::Published;
use crate::chart::{COLOURS, Point, Series};
use crate::number::Number;
use crate::section::{FigureSlot, Missing};

/// Figures of the page in reading order.
pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<FigureSlot> {
    let codecs = Codecs::of(cells);
    let mut slots = front::both(cells);
    slots.push(front::ratio_by_block_size(cells, &codecs));
    slots.extend(speeds::all(cells, published));
    slots.extend(percentiles::all(cells, published, &codecs));
    slots.extend(robustness::all(cells, published, &codecs));
    slots.extend(shares::all(cells, published));
    by_plan(slots)
}

/// One sentence for all figures of a plan that was not run, behind those that could be drawn.
fn by_plan(slots: Vec<FigureSlot>) -> Vec<FigureSlot> {
    let mut missing: BTreeMap<String, Vec<Missing>> = BTreeMap::new();
    let mut kept = Vec::new();
    for slot in slots {
        match slot {
            FigureSlot::Drawn(_) => kept.push(slot),
            FigureSlot::Missing(one) => missing.entry(one.plan.clone()).or_default().push(one),
        }
    }
    kept.extend(missing.into_iter().map(|(plan, mut ones)| {
        if let [_] = ones.as_slice() {
            return FigureSlot::Missing(ones.remove(0));
        }
        let titles: Vec<&str> = ones.iter().map(|one| one.title.as_str()).collect();
        FigureSlot::missing(
            &format!("{} figures of {plan}", ones.len()),
            &format!("{}.", titles.join("; ")),
            &plan,
        )
    }));
    kept
}

/// The codecs of a run, each with a colour and marker of its own in every figure of lines.
struct Codecs {
    names: Vec<String>,
}

impl Codecs {
    fn of(cells: &[Cell<'_>]) -> Self {
        let mut names: Vec<String> = Vec::new();
        for cell in cells.iter().filter(|cell| cell.is_plain() && !cell.is_copy()) {
            if !names.contains(&cell.codec) {
                names.push(cell.codec.clone());
            }
        }
        Self { names }
    }

    fn hue(&self, codec: &str) -> usize {
        self.names
            .iter()
            .position(|name| name == codec)
            .unwrap_or(self.names.len())
    }
}

/// Colours that these series do not have, as far as there are some.
fn other_hues(series: &[Series]) -> impl Iterator<Item = usize> {
    let used: Vec<usize> = series.iter().map(|one| one.hue % COLOURS).collect();
    let free: Vec<usize> = (0..COLOURS).filter(|hue| !used.contains(hue)).collect();
    // More published lines than colours are left: dashes and names tell them apart.
    free.into_iter().chain(COLOURS..)
}

fn point(x: f64, y: &Number, cell: &Cell<'_>) -> Point {
    Point {
        x,
        y: y.value,
        interval: y.interval.map(|interval| (interval.low, interval.high)),
        note: format!("{}: {y} ({})", cell.words(), y.certainty()),
    }
}

fn published_point(x: f64, y: f64, note: String) -> Point {
    Point {
        x,
        y,
        interval: None,
        note,
    }
}
