//! A drawing as SVG: on the page, where a style sheet recolours it in a dark scheme, and as a file of its own.

use std::fmt::Write as _;

use super::palette::{self, Ink};
use super::scene::{Anchor, Fill, Path, Scene, Shape, Stroke};

/// The font of the page; what a machine lacks is replaced by its own.
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

/// The size of most texts: the drawing says it once.
const TEXT_SIZE_PX: u32 = 12;

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
    let text = palette::TEXT.light;
    let size = match medium {
        Medium::Page => String::new(),
        Medium::File => format!(" width=\"{}\" height=\"{}\"", Px(*width), Px(*height)),
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {} {}\"{size} role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\" fill=\"{text}\" font-size=\"{TEXT_SIZE_PX}\" font-family=\"{FONT}\">\
         <title id=\"{id}-title\">{title}</title><desc id=\"{id}-desc\">{description}</desc>",
        Px(*width),
        Px(*height)
    );
    if medium == Medium::File {
        let page = palette::PAGE.light;
        let _ = write!(svg, "<rect width=\"100%\" height=\"100%\" fill=\"{page}\"/>");
    }
    let mut pending = Pending::default();
    for shape in &scene.shapes {
        add(&mut svg, &mut pending, shape, medium);
    }
    pending.write(&mut svg);
    svg.push_str("</svg>");
    svg
}

/// Paths of one paint that follow each other: on the page they are written as one.
#[derive(Default)]
struct Pending {
    outline: String,
    paint: String,
}

impl Pending {
    fn add(&mut self, svg: &mut String, path: &Path) {
        let paint = paint(path.fill, path.stroke);
        if paint != self.paint {
            self.write(svg);
            self.paint = paint;
        }
        add_outline(&mut self.outline, path);
    }

    fn write(&mut self, svg: &mut String) {
        if !self.outline.is_empty() {
            let _ = write!(svg, "<path d=\"{}\"{}/>", self.outline, self.paint);
            self.outline.clear();
        }
    }
}

fn add(svg: &mut String, pending: &mut Pending, shape: &Shape, medium: Medium) {
    if let (Shape::Path(path), Medium::Page) = (shape, medium) {
        pending.add(svg, path);
        return;
    }
    if !matches!(shape, Shape::Group { .. }) {
        pending.write(svg);
    }
    match shape {
        Shape::Path(path) => {
            pending.add(svg, path);
            pending.write(svg);
        }
        Shape::Circle {
            centre: (x, y),
            radius,
            fill,
            stroke,
        } => {
            let paint = paint(*fill, *stroke);
            let _ = write!(
                svg,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{paint}/>",
                Px(*x),
                Px(*y),
                Px(*radius)
            );
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
            let _ = write!(
                svg,
                "<text x=\"{}\" y=\"{}\"{size}{anchor}{bold}>{}</text>",
                Px(text.at.0),
                Px(text.at.1),
                escaped(&text.words)
            );
        }
        Shape::Group { note, shapes } => {
            let is_titled = medium == Medium::File && !note.is_empty();
            if is_titled {
                let _ = write!(svg, "<g><title>{}</title>", escaped(note));
            }
            for shape in shapes {
                add(svg, pending, shape, medium);
            }
            if is_titled {
                svg.push_str("</g>");
            }
        }
    }
}

/// Appends the pieces of a path. All but their first corners are relative to the corner before, which is shorter.
fn add_outline(outline: &mut String, path: &Path) {
    for piece in &path.pieces {
        let mut last = None;
        for &(x, y) in piece {
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
}
