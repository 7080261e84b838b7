//! Drawing: this module, its children and `legend` are the only ones that know the chart library (kuva).
//!
//! They hand over positions and fixed margins, add the legend above the plot, and rewrite the root element
//! so that a drawing scales with its page, speaks to screen readers and follows a dark scheme.

mod bars;
mod labels;
mod lines;
mod plane;
mod scatter;

use kuva::plot::{LineStyle, MarkerShape};

use super::{SeriesKind, palette};

pub(super) use bars::{bar_shape, draw as draw_bars};
pub(super) use lines::draw as draw_lines;
pub(super) use scatter::draw as draw_scatter;

/// Outer size of a drawing in CSS pixels at scale 1.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    width: f64,
    height: f64,
    x_ticks: usize,
    y_ticks: usize,
}

impl Frame {
    /// Half of a desktop page, a whole tablet, half a sheet of paper.
    pub(super) const WIDE: Self = Self {
        width: 560.0,
        height: 360.0,
        x_ticks: 7,
        y_ticks: 6,
    };
    /// A phone of 375 px with its margins.
    pub(super) const NARROW: Self = Self {
        width: 340.0,
        height: 320.0,
        x_ticks: 5,
        y_ticks: 6,
    };
}

/// The words that belong to a drawing: its identifier, and what a screen reader says.
pub(super) struct Words<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) description: &'a str,
}

pub(super) const TEXT_PX: u32 = 13;
pub(super) const TICK_PX: u32 = 12;
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
/// What the library adds for drawings with tooltips; a pointer that promises a click would mislead.
const TOOLTIP_STYLE: &str = "<style>g.tt{cursor:pointer;}g.tt:hover>*{opacity:0.75;}</style>";
const MARKERS: [MarkerShape; 5] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Triangle,
    MarkerShape::Diamond,
    MarkerShape::TriangleDown,
];

pub(super) fn colour(index: usize) -> &'static str {
    palette::SERIES[index % palette::SERIES.len()].light
}

pub(super) fn marker(index: usize) -> MarkerShape {
    MARKERS[index % MARKERS.len()]
}

pub(super) fn dashes(kind: SeriesKind) -> LineStyle {
    match kind {
        SeriesKind::Measured | SeriesKind::Dense => LineStyle::Solid,
        SeriesKind::Published => LineStyle::Custom("7 4".into()),
        SeriesKind::Modelled => LineStyle::Custom("9 3 2 3".into()),
        SeriesKind::Derived => LineStyle::Custom("2 4".into()),
    }
}

/// Width of a text, from a cautious width per character, in ems; some are much wider than the others.
pub(super) fn text_width_px(text: &str, size_px: u32) -> f64 {
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

/// Replaces the library's root element: ours scales, is labelled for screen readers and carries the class
/// that style rules hang on. Identifiers become unique, because several drawings share one page.
fn with_own_root(svg: &str, frame: Frame, words: &Words<'_>) -> String {
    let body_at = svg.find('>').map_or(0, |at| at + 1);
    let Frame { width, height, .. } = frame;
    let prefix = format!("{}-{width}", words.id);
    let body = svg
        .get(body_at..)
        .unwrap_or_default()
        .replace("<rect width=\"100%\" height=\"100%\" fill=\"none\" />", "")
        .replace(TOOLTIP_STYLE, "");
    let body = with_own_clip(&body, &format!("{prefix}-clip"));
    let text = palette::TEXT.light;
    let (title, description) = (escape(words.title), escape(words.description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"{prefix}-title {prefix}-desc\" fill=\"{text}\" \
         font-family=\"{FONT}\">\
         <title id=\"{prefix}-title\">{title}</title>\
         <desc id=\"{prefix}-desc\">{description}</desc>{body}"
    )
}

/// Renames the clip path. The library numbers them through the whole process, so that equal charts would
/// differ; a chart has one.
fn with_own_clip(body: &str, name: &str) -> String {
    let mut pieces = body.split("kuva-clip-");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let rest = piece.trim_start_matches(|letter: char| letter.is_ascii_digit());
        text + name + rest
    })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
