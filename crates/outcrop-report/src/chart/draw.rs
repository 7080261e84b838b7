//! Drawing: from a specification to shapes in pixels.
//!
//! The legend lies above the plot, where a phone and a column of print have room for it.

mod bars;
mod labels;
mod legend;
mod lines;
mod marks;
mod plane;
mod scatter;

pub(crate) use marks::CORNERS as MARKERS;

use super::palette::{self, Ink};
use super::scene::Scene;
use super::{Chart, SeriesKind};

/// Draws a chart at that width. Equal input gives equal shapes.
pub(crate) fn draw(chart: &Chart, width_px: f64) -> Scene {
    let frame = Frame::of_width(width_px);
    match chart {
        Chart::Lines(chart) => lines::draw(chart, frame),
        Chart::Points(chart) => scatter::draw(chart, frame),
        Chart::Bars(chart) => bars::draw(chart, frame),
    }
}

/// Outer size of a drawing in CSS pixels at scale 1.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    width: f64,
    height: f64,
    x_ticks: usize,
    y_ticks: usize,
}

impl Frame {
    /// A drawing of that width, as high as reads well; bars are as high as their number needs.
    fn of_width(width: f64) -> Self {
        Self {
            width,
            height: (width * 0.64).clamp(290.0, 420.0),
            x_ticks: ((width / 76.0) as usize).clamp(3, 9),
            y_ticks: 6,
        }
    }
}

pub(crate) const TEXT_PX: u32 = 13;
pub(crate) const TICK_PX: u32 = 12;

/// The colour of a series.
pub(super) fn colour(index: usize) -> Ink {
    palette::SERIES[index % palette::SERIES.len()]
}

/// How the lines of a kind are broken.
pub(super) const fn dashes(kind: SeriesKind) -> &'static [f64] {
    match kind {
        SeriesKind::Measured | SeriesKind::Dense => &[],
        SeriesKind::Published => &[7.0, 4.0],
        SeriesKind::Modelled => &[9.0, 3.0, 2.0, 3.0],
        SeriesKind::Derived => &[2.0, 4.0],
    }
}

/// Width of a text, from a cautious width per character, in ems; some are much wider than the others.
pub(in crate::chart) fn text_width_px(text: &str, size_px: u32) -> f64 {
    let width_em = |letter| match letter {
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.95,
        _ => 0.58,
    };
    text.chars().map(width_em).sum::<f64>() * f64::from(size_px)
}

/// A text in lines of at most `width_px`, broken at blanks; a word that is too long keeps a line of its own.
pub(super) fn wrapped(text: &str, size_px: u32, width_px: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width_px(line, size_px) + text_width_px(word, size_px) + 7.0 <= width_px => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
