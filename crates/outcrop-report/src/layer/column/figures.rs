//! The figures of the column layer.

mod encode;
mod search;
mod size;

use super::cell::Cell;
use crate::chart::{Axis, Point, Quantity, Scale};
use crate::number::Number;
use crate::section::{FigureSlot, Missing};

/// All figures, in the order of the page; those about what the run did not measure say which plan would.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    let has_file = cells.iter().any(|cell| !cell.is_generated());
    let has_generated = cells.iter().any(Cell::is_generated);
    let mut figures = Vec::new();
    if has_file {
        figures.push(size::by_codec(cells));
    }
    if has_generated {
        figures.push(size::by_cardinality(cells));
    }
    figures.push(search::latency_by_mode(cells));
    if has_generated {
        figures.push(encode::speed_by_threads(cells));
    }
    figures
}

fn axis(label: &str, quantity: Quantity, scale: Scale) -> Axis {
    Axis {
        label: label.to_owned(),
        quantity,
        scale,
    }
}

fn missing(title: &str, reason: &str, plan: &str) -> FigureSlot {
    FigureSlot::Missing(Missing {
        title: title.to_owned(),
        reason: reason.to_owned(),
        plan: plan.to_owned(),
    })
}

/// A number at a place of the other axis.
fn point(x: f64, number: &Number) -> Point {
    Point {
        x,
        y: number.value,
        interval: number.interval.map(|interval| (interval.low, interval.high)),
        note: format!("{number}; {}", number.certainty()),
    }
}
