//! The compression figures: front, stages, percentiles, speeds and robustness, published ones beside ours.

mod front;
mod percentiles;
mod robustness;
mod shares;
mod speeds;

use super::cell::Cell;
use super::references::Published;
use crate::chart::{COLOURS, Point, Series};
use crate::number::Number;
use crate::section::FigureSlot;

/// Figures of the page in reading order.
pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<FigureSlot> {
    let codecs = Codecs::of(cells);
    let mut slots = front::both(cells);
    slots.push(front::ratio_by_block_size(cells, &codecs));
    slots.extend(speeds::all(cells, published));
    slots.extend(percentiles::all(cells, published, &codecs));
    slots.extend(robustness::all(cells, published, &codecs));
    slots.extend(shares::all(cells, published));
    slots
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
