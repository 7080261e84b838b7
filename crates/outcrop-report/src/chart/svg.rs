//! A drawing as SVG: on the page, where a style sheet recolours it in a dark scheme, and as a file of its own.

use std::fmt::Write as _;

use super::palette::{self, Ink};
use super::scene::{Anchor, Fill, Path, Scene, Shape, Stroke};

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
    let mut pending = Pending::default();
    for shape in &scene.shapes {
        add(&mut svg, &mut pending, shape, medium);
    }
    pending.write(&mut svg);
    svg.push_str("</svg>");
    svg
}

/// What follows each other and has the same attributes, which on the page are written once: paths as one path, others as a group.
#[derive(Default)]
struct Pending {
    outline: String,
    /// Openings of elements without those attributes, and what follows them.
    elements: Vec<(String, String)>,
    attributes: String,
}

impl Pending {
    fn add_path(&mut self, svg: &mut String, path: &Path) {
        let paint = paint(path.fill, path.stroke);
        if paint != self.attributes || !self.elements.is_empty() {
            self.write(svg);
            self.attributes = paint;
        }
        add_outline(&mut self.outline, path);
    }

    fn add_element(&mut self, svg: &mut String, opening: String, rest: String, attributes: String) {
        if attributes != self.attributes || !self.outline.is_empty() {
            self.write(svg);
            self.attributes = attributes;
        }
        self.elements.push((opening, rest));
    }

    fn write(&mut self, svg: &mut String) {
        let attributes = &self.attributes;
        if !self.outline.is_empty() {
            let _ = write!(svg, "<path d=\"{}\"{attributes}/>", self.outline);
            self.outline.clear();
        }
        let is_group = self.elements.len() > 1 && !attributes.is_empty();
        let own = if is_group { "" } else { attributes.as_str() };
        let elements: String = self
            .elements
            .drain(..)
            .map(|(opening, rest)| opening + own + &rest)
            .collect();
        if is_group {
            let _ = write!(svg, "<g{attributes}>{elements}</g>");
        } else {
            svg.push_str(&elements);
        }
    }
}

fn add(svg: &mut String, pending: &mut Pending, shape: &Shape, medium: Medium) {
    match shape {
        Shape::Path(path) => pending.add_path(svg, path),
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
            pending.add_element(svg, opening, "/>".to_owned(), paint(*fill, *stroke));
        }
        Shape::Text(text) => {
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
            pending.add_element(svg, opening, rest, format!("{size}{anchor}{bold}"));
        }
        Shape::Group { note, shapes } => {
            let is_titled = medium == Medium::File && !note.is_empty();
            if is_titled {
                pending.write(svg);
                let _ = write!(svg, "<g><title>{}</title>", escaped(note));
            }
            for shape in shapes {
                add(svg, pending, shape, medium);
            }
            if is_titled {
                pending.write(svg);
                svg.push_str("</g>");
            }
        }
    }
    if medium == Medium::File {
        // Whoever edits a file finds each shape as one of its own.
        pending.write(svg);
    }
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

/// Appends the pieces of a path. All but their first corners are relative to the corner before, which is shorter.
fn add_outline(outline: &mut String, path: &Path) {
    for piece in &path.pieces {
        let mut last = None;
        // An area is closed by its corners; of a long line many corners do not show.
        let is_long = piece.len() > LONG_LINE && !path.is_closed;
        let corners = if is_long { visible(piece) } else { piece.clone() };
        for (x, y) in corners {
            let at = (tenths(x), tenths(y));
            let _ = match last {
                None => write!(outline, "M{},{}", Tenths(at.0), Tenths(at.1)),
                Some((x, y)) => {
                    let (dx, dy) = (Tenths(at.0 - x), Tenths(at.1 - y));
                    match (dx.0, dy.0) {
                        (_, 0) => write!(outline, "h{dx}"),
                        (0, _) => write!(outline, "v{dy}"),
                        (_, ..0) => write!(outline, "l{dx}{dy}"),
                        _ => write!(outline, "l{dx},{dy}"),
                    }
                }
            };
            last = Some(at);
        }
        if path.is_closed {
            outline.push('Z');
        }
    }
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

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
