//! A drawing as SVG: on the page, where a style sheet recolours it in a dark scheme, and as a file of its own.

mod elements;

use std::fmt::Write as _;

use elements::{Elements, Extent};
use outcrop_measure::harmless::{REPLACEMENT, harmless};

use super::draw::text_width_px;
use super::palette::{self, Ink};
use super::scene::{Anchor, Fill, Path, Scene, Shape, Stroke, Text};

/// The font of the page; what a machine lacks is replaced by its own.
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

/// The size of most texts: the drawing says it once.
const TEXT_SIZE_PX: u32 = 12;

/// Lines of fewer corners than this were put there one by one.
const LONG_LINE: usize = 16;

/// Where a drawing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    /// Into the page, whose style sheet recolours it and whose script shows the values.
    Page,
    /// Into a file of its own: on white, for print, with the note of each value as its title.
    File,
}

/// The words that belong to a drawing: its identifier, and what a screen reader says.
pub(crate) struct Words<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
}

/// Writes a drawing. Equal input gives equal bytes.
pub(crate) fn write(scene: &Scene, words: &Words<'_>, medium: Medium) -> String {
    let Scene { width, height, .. } = scene;
    let Words {
        id,
        title,
        description,
    } = words;
    let (title, description) = (escaped(title), escaped(description));
    let (width, height, text) = (Px(*width), Px(*height), palette::TEXT.light);
    let common =
        format!("viewBox=\"0 0 {width} {height}\" fill=\"{text}\" font-size=\"{TEXT_SIZE_PX}\" role=\"img\"");
    let mut svg = match medium {
        // The page says the namespace, the font and the title.
        Medium::Page => format!("<svg class=\"chart\" {common} aria-label=\"{description}\">"),
        Medium::File => format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" {common} width=\"{width}\" height=\"{height}\" \
             aria-labelledby=\"{id}-title {id}-desc\" font-family=\"{FONT}\">\
             <title id=\"{id}-title\">{title}</title><desc id=\"{id}-desc\">{description}</desc>\
             <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>",
            palette::PAGE.light
        ),
    };
    let mut elements = Elements::default();
    for shape in &scene.shapes {
        add(&mut svg, &mut elements, shape, medium);
    }
    elements.write(&mut svg);
    svg.push_str("</svg>");
    svg
}

fn add(svg: &mut String, elements: &mut Elements, shape: &Shape, medium: Medium) {
    match shape {
        Shape::Path(path) => {
            let corners = path.pieces.iter().flatten().copied();
            let margin = path.stroke.map_or(0.0, |stroke| stroke.width / 2.0);
            elements.add_path(
                paint(path.fill, path.stroke),
                extent(corners, margin),
                |outline| {
                    outline.add(path);
                },
            );
        }
        Shape::Circle {
            centre: (x, y),
            radius,
            fill,
            stroke,
        } => {
            let opening = format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"",
                Px(*x),
                Px(*y),
                Px(*radius)
            );
            let covered = extent(
                [(*x, *y)],
                *radius + stroke.map_or(0.0, |stroke| stroke.width / 2.0),
            );
            elements.add(paint(*fill, *stroke), covered, opening, "/>".to_owned());
        }
        Shape::Text(text) => add_text(elements, text),
        Shape::Group { note, shapes } => {
            let is_titled = medium == Medium::File && !note.is_empty();
            if is_titled {
                elements.write(svg);
                let _ = write!(svg, "<g><title>{}</title>", escaped(note));
            }
            for shape in shapes {
                add(svg, elements, shape, medium);
            }
            if is_titled {
                elements.write(svg);
                svg.push_str("</g>");
            }
        }
    }
    if medium == Medium::File {
        // Whoever edits a file finds each shape as one of its own.
        elements.write(svg);
    }
}

fn add_text(elements: &mut Elements, text: &Text) {
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let bold = if text.is_bold { " font-weight=\"600\"" } else { "" };
    let size = match text.size_px {
        TEXT_SIZE_PX => String::new(),
        size => format!(" font-size=\"{size}\""),
    };
    let opening = format!("<text x=\"{}\" y=\"{}\"", Px(text.at.0), Px(text.at.1));
    let rest = format!(">{}</text>", escaped(&text.words));
    let (wide, high) = (text_width_px(&text.words, text.size_px), f64::from(text.size_px));
    let left = match text.anchor {
        Anchor::Start => text.at.0,
        Anchor::Middle => text.at.0 - wide / 2.0,
        Anchor::End => text.at.0 - wide,
    };
    // Letters reach below their line by less than a third.
    let corners = [(left, text.at.1 - high), (left + wide, text.at.1 + high / 3.0)];
    let covered = extent(corners, 0.0);
    elements.add(format!("{size}{anchor}{bold}"), covered, opening, rest);
}

/// The corners of a line that show: those between which it would otherwise leave its way by more than a fifth of a pixel.
fn visible(piece: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const TOLERANCE_PX: f64 = 0.2;
    // Whether the line between two corners passes all that lie between them.
    let passes = |from: usize, to: usize| {
        let ((x, y), (end_x, end_y)) = (piece[from], piece[to]);
        let (dx, dy) = (end_x - x, end_y - y);
        let length_squared = (dx * dx + dy * dy).max(f64::MIN_POSITIVE);
        piece[from + 1..to].iter().all(|corner| {
            let (to_x, to_y) = (corner.0 - x, corner.1 - y);
            let along = ((to_x * dx + to_y * dy) / length_squared).clamp(0.0, 1.0);
            (to_x - along * dx).hypot(to_y - along * dy) <= TOLERANCE_PX
        })
    };
    let mut kept: Vec<(f64, f64)> = piece.first().copied().into_iter().collect();
    let mut from = 0;
    for to in 2..piece.len() {
        if !passes(from, to) {
            from = to - 1;
            kept.push(piece[from]);
        }
    }
    kept.extend(piece.last().filter(|_| piece.len() > 1));
    kept
}

/// What some corners cover, with a margin.
fn extent(corners: impl IntoIterator<Item = (f64, f64)>, margin: f64) -> Extent {
    let nothing = (f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY);
    let (left, top, right, bottom) = corners.into_iter().fold(nothing, |covered, (x, y)| {
        (
            covered.0.min(x),
            covered.1.min(y),
            covered.2.max(x),
            covered.3.max(y),
        )
    });
    (left - margin, top - margin, right + margin, bottom + margin)
}

/// The outline of one path or of several that are written as one.
#[derive(Default)]
struct Outline {
    text: String,
    /// Where the pen is, in tenths of a pixel.
    at: Option<(i64, i64)>,
}

impl Outline {
    /// Appends the pieces of a path. Corners are relative to the corner before where that is shorter.
    fn add(&mut self, path: &Path) {
        for piece in &path.pieces {
            // An area is closed by its corners; of a long line many corners do not show.
            let is_long = piece.len() > LONG_LINE && !path.is_closed;
            let corners = if is_long { visible(piece) } else { piece.clone() };
            let mut corners = corners.into_iter().map(|(x, y)| (tenths(x), tenths(y)));
            let Some(first) = corners.next() else { continue };
            self.go(first);
            for corner in corners {
                self.draw_to(corner);
            }
            if path.is_closed {
                self.text.push('Z');
                self.at = Some(first);
            }
        }
    }

    fn go(&mut self, to: (i64, i64)) {
        let absolute = pair('M', to);
        let relative = self.at.map(|(x, y)| pair('m', (to.0 - x, to.1 - y)));
        let shorter = relative.filter(|relative| relative.len() < absolute.len());
        self.text.push_str(&shorter.unwrap_or(absolute));
        self.at = Some(to);
    }

    fn draw_to(&mut self, to: (i64, i64)) {
        let (x, y) = self.at.unwrap_or_default();
        let step = match (to.0 - x, to.1 - y) {
            (dx, 0) => format!("h{}", Tenths(dx)),
            (0, dy) => format!("v{}", Tenths(dy)),
            step => pair('l', step),
        };
        self.text.push_str(&step);
        self.at = Some(to);
    }
}

/// A command with two numbers, which a minus sign keeps apart as well as a comma.
fn pair(command: char, (x, y): (i64, i64)) -> String {
    let comma = if y < 0 { "" } else { "," };
    format!("{command}{}{comma}{}", Tenths(x), Tenths(y))
}

fn paint(fill: Option<Fill>, stroke: Option<Stroke>) -> String {
    let mut text = match fill {
        None => " fill=\"none\"".to_owned(),
        Some(Fill { ink, opacity }) => {
            let mut text = format!(" fill=\"{}\"", ink.light);
            if opacity < 1.0 {
                let _ = write!(text, " fill-opacity=\"{opacity}\"");
            }
            text
        }
    };
    if let Some(Stroke {
        ink: Ink { light, .. },
        width,
        dashes,
    }) = stroke
    {
        let _ = write!(text, " stroke=\"{light}\"");
        // What SVG takes where nothing is said.
        if width != 1.0 {
            let _ = write!(text, " stroke-width=\"{width}\"");
        }
        if !dashes.is_empty() {
            let dashes: Vec<String> = dashes.iter().map(ToString::to_string).collect();
            let _ = write!(text, " stroke-dasharray=\"{}\"", dashes.join(" "));
        }
    }
    text
}

/// A length in pixels, to a tenth.
struct Px(f64);

impl std::fmt::Display for Px {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Tenths(tenths(self.0)).fmt(formatter)
    }
}

fn tenths(pixels: f64) -> i64 {
    (pixels * 10.0).round() as i64
}

/// Tenths of a pixel, written in pixels without what SVG can do without: `12`, `-.3`.
struct Tenths(i64);

impl std::fmt::Display for Tenths {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, tenth) = (self.0.abs() / 10, self.0.abs() % 10);
        match (whole, tenth) {
            (whole, 0) => write!(formatter, "{sign}{whole}"),
            (0, tenth) => write!(formatter, "{sign}.{tenth}"),
            (whole, tenth) => write!(formatter, "{sign}{whole}.{tenth}"),
        }
    }
}

/// Text as XML, which has neither control characters nor the last two of the first plane.
fn escaped(text: &str) -> String {
    harmless(text)
        .replace(['\u{fffe}', '\u{ffff}'], REPLACEMENT)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
