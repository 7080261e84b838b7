//! A drawing as PDF: one page of its size, of vectors; letters are outlines, so that no font has to be there.
//!
//! *Source*: ISO 32000-1:2008, 7.5 (file structure), 8.4 and 8.5 (graphics state, paths).

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::export::ExportError;
use super::font::{self, Font};
use super::palette::{self, Ink};
use super::scene::{Fill, Scene, Shape, Stroke};

/// Points per CSS pixel: 72 to 96 in an inch.
const POINTS: f64 = 0.75;
/// How far the control points of a quarter of a circle are along its tangents, in radii.
const QUARTER: f64 = 0.552_284_75;

/// Writes a drawing with a title for document lists.
///
/// # Errors
/// A compressor that fails.
pub(super) fn write(scene: &Scene, font: &Font, title: &str) -> Result<Vec<u8>, ExportError> {
    let mut content = Content {
        operators: String::new(),
        path: String::new(),
        font,
        opacities: Vec::new(),
    };
    let (width, height) = (scene.width * POINTS, scene.height * POINTS);
    // PDF counts upwards from the bottom.
    let _ = writeln!(content.operators, "{POINTS} 0 0 -{POINTS} 0 {height:.2} cm 1 j");
    for shape in &scene.shapes {
        content.add(shape);
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content.operators.as_bytes())?;
    let stream = encoder.finish()?;
    let states: String = content
        .opacities
        .iter()
        .enumerate()
        .map(|(index, opacity)| format!("/G{index} << /ca {opacity} >> "))
        .collect();
    let mut file = File::default();
    file.object(b"<< /Type /Catalog /Pages 2 0 R >>");
    file.object(b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
    file.object(
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.2} {height:.2}] /Contents 4 0 R \
             /Resources << /ExtGState << {states}>> >> >>"
        )
        .as_bytes(),
    );
    let mut body = format!("<< /Length {} /Filter /FlateDecode >>\nstream\n", stream.len()).into_bytes();
    body.extend(stream);
    body.extend(b"\nendstream");
    file.object(&body);
    file.object(format!("<< /Title {} /Producer (outcrop) >>", text_string(title)).as_bytes());
    Ok(file.finish())
}

/// Objects and where they begin.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

impl File {
    fn object(&mut self, body: &[u8]) {
        if self.bytes.is_empty() {
            self.bytes.extend(b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n");
        }
        self.offsets.push(self.bytes.len());
        let head = format!("{} 0 obj\n", self.offsets.len());
        self.bytes.extend(head.as_bytes());
        self.bytes.extend(body);
        self.bytes.extend(b"\nendobj\n");
    }

    /// The table of offsets, and where it is. The last object is the document's information.
    fn finish(mut self) -> Vec<u8> {
        let (start, count) = (self.bytes.len(), self.offsets.len());
        let mut end = format!("xref\n0 {}\n0000000000 65535 f \n", count + 1);
        for offset in &self.offsets {
            let _ = writeln!(end, "{offset:010} 00000 n ");
        }
        let size = count + 1;
        let _ = write!(
            end,
            "trailer\n<< /Size {size} /Root 1 0 R /Info {count} 0 R >>\nstartxref\n{start}\n%%EOF\n"
        );
        self.bytes.extend(end.as_bytes());
        self.bytes
    }
}

/// Text of any alphabet: UTF-16 with its mark, in hexadecimal.
fn text_string(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
    format!("<FEFF{units}>")
}

struct Content<'f> {
    operators: String,
    /// The path that is to be painted next.
    path: String,
    font: &'f Font,
    /// Opacities other than 1, each with a graphics state of its own.
    opacities: Vec<f64>,
}

impl Content<'_> {
    fn add(&mut self, shape: &Shape) {
        match shape {
            Shape::Group { shapes, .. } => {
                for shape in shapes {
                    self.add(shape);
                }
            }
            Shape::Text(text) => {
                let font = self.font;
                font.outline(text, &mut Outline(&mut self.path));
                self.paint(Some(Fill::solid(palette::TEXT)), None);
            }
            Shape::Circle {
                centre,
                radius,
                fill,
                stroke,
            } => {
                circle(&mut Outline(&mut self.path), *centre, *radius);
                self.paint(*fill, *stroke);
            }
            Shape::Path(path) => {
                for piece in &path.pieces {
                    for (index, (x, y)) in piece.iter().enumerate() {
                        let step = if index == 0 { 'm' } else { 'l' };
                        let _ = writeln!(self.path, "{x:.2} {y:.2} {step}");
                    }
                    if path.is_closed {
                        self.path.push_str("h\n");
                    }
                }
                self.paint(path.fill, path.stroke);
            }
        }
    }

    /// Fills and strokes the path, which is then done with.
    fn paint(&mut self, fill: Option<Fill>, stroke: Option<Stroke>) {
        let mut setup = String::from("q ");
        if let Some(Fill { ink, opacity }) = fill {
            let _ = write!(setup, "{} rg ", channels(ink));
            if opacity < 1.0 {
                let known = self.opacities.iter().position(|one| *one == opacity);
                let index = known.unwrap_or_else(|| {
                    self.opacities.push(opacity);
                    self.opacities.len() - 1
                });
                let _ = write!(setup, "/G{index} gs ");
            }
        }
        if let Some(Stroke { ink, width, dashes }) = stroke {
            let dashes: Vec<String> = dashes.iter().map(ToString::to_string).collect();
            let _ = write!(
                setup,
                "{} RG {width} w [{}] 0 d ",
                channels(ink),
                dashes.join(" ")
            );
        }
        let operator = match (fill, stroke) {
            (Some(_), Some(_)) => "B",
            (Some(_), None) => "f",
            (None, Some(_)) => "S",
            (None, None) => "n",
        };
        // The state must be set before the path begins.
        let path = std::mem::take(&mut self.path);
        let _ = writeln!(self.operators, "{setup}\n{path}{operator} Q");
    }
}

fn channels(ink: Ink) -> String {
    let share = |channel: u8| format!("{:.3}", f64::from(channel) / 255.0);
    palette::channels(ink.light).map(share).join(" ")
}

/// Four curves.
fn circle(pen: &mut impl font::Pen, (x, y): (f64, f64), radius: f64) {
    let at = |dx: f64, dy: f64| (x + dx * radius, y + dy * radius);
    let start = at(1.0, 0.0);
    pen.move_to(start.0, start.1);
    pen.curve_to(at(1.0, QUARTER), at(QUARTER, 1.0), at(0.0, 1.0));
    pen.curve_to(at(-QUARTER, 1.0), at(-1.0, QUARTER), at(-1.0, 0.0));
    pen.curve_to(at(-1.0, -QUARTER), at(-QUARTER, -1.0), at(0.0, -1.0));
    pen.curve_to(at(QUARTER, -1.0), at(1.0, -QUARTER), start);
    pen.close();
}

struct Outline<'o>(&'o mut String);

impl font::Pen for Outline<'_> {
    fn move_to(&mut self, x: f64, y: f64) {
        let _ = writeln!(self.0, "{x:.2} {y:.2} m");
    }

    fn line_to(&mut self, x: f64, y: f64) {
        let _ = writeln!(self.0, "{x:.2} {y:.2} l");
    }

    fn curve_to(&mut self, first: (f64, f64), second: (f64, f64), end: (f64, f64)) {
        let ((x1, y1), (x2, y2), (x, y)) = (first, second, end);
        let _ = writeln!(self.0, "{x1:.2} {y1:.2} {x2:.2} {y2:.2} {x:.2} {y:.2} c");
    }

    fn close(&mut self) {
        self.0.push_str("h\n");
    }
}
