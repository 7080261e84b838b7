//! Which lines and bars a figure has, and what its caption says of the rest.

use crate::chart::SeriesKind::Measured;
use crate::chart::{Point, Series};

/// Lines that a reader can follow.
const MOST_LINES: usize = 8;
/// Bars of a chart.
const MOST_BARS: usize = 24;

/// The lines that are drawn, each in the colour of its place, and a sentence with the names of those that are not: without `least` points,
/// or more than a reader can follow.
pub(super) fn lines(all: Vec<(String, Vec<Point>)>, least: usize) -> (Vec<Series>, String) {
    let (mut drawn, lacking): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, points)| points.len() >= least);
    let beyond = drawn.split_off(drawn.len().min(MOST_LINES));
    let names = |left: Vec<(String, Vec<Point>)>| left.into_iter().map(|(name, _)| name).collect();
    let why = match least {
        1 => "without a value",
        _ => "with fewer than two points",
    };
    let words =
        sentence(why, names(lacking)) + &sentence(&format!("beyond {MOST_LINES} lines"), names(beyond));
    let series = drawn
        .into_iter()
        .enumerate()
        .map(|(hue, (name, points))| Series::new(name, hue, Measured, points));
    (series.collect(), words)
}

/// What fits of what is drawn as bars, and a sentence with the names of the rest and of those that lack a value.
pub(super) fn bars<T>(
    mut all: Vec<T>,
    name: impl Fn(&T) -> String,
    lacking: Vec<String>,
) -> (Vec<T>, String) {
    let beyond = all.split_off(all.len().min(MOST_BARS));
    let beyond = beyond.iter().map(name).collect();
    let words = without_value(lacking) + &sentence(&format!("beyond {MOST_BARS} bars"), beyond);
    (all, words)
}

/// ` Not drawn, without a value: ext4 none.`; nothing of none.
pub(super) fn without_value(lacking: Vec<String>) -> String {
    sentence("without a value", lacking)
}

fn sentence(why: &str, mut names: Vec<String>) -> String {
    names.dedup();
    match names.is_empty() {
        true => String::new(),
        false => format!(" Not drawn, {why}: {}.", names.join("; ")),
    }
}
