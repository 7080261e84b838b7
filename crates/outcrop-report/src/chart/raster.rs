//! A drawing as PNG.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, Stroke as Pen, StrokeDash, Transform,
};

use super::export::ExportError;
use super::font::{self, Font};
use super::palette::PAGE;
use super::scene::{Fill, Scene, Shape, Stroke};

/// Writes a drawing on white, at this many pixels per CSS pixel.
///
/// # Errors
/// A size that no image can have, or an encoder that fails.
pub(super) fn write(scene: &Scene, font: &Font, scale: f64) -> Result<Vec<u8>, ExportError> {
    let pixels = |length: f64| (length * scale).ceil() as u32;
    let mut image = Pixmap::new(pixels(scene.width), pixels(scene.height)).ok_or(ExportError::TooLarge)?;
    image.fill(colour(PAGE.light, 1.0));
    let mut canvas = Canvas {
        image,
        font,
        transform: Transform::from_scale(scale as f32, scale as f32),
    };
    for shape in &scene.shapes {
        canvas.add(shape);
    }
    canvas
        .image
        .encode_png()
        .map_err(|error| ExportError::Png(error.to_string()))
}

struct Canvas<'f> {
    image: Pixmap,
    font: &'f Font,
    transform: Transform,
}

impl Canvas<'_> {
    fn add(&mut self, shape: &Shape) {
        let mut outline = PathBuilder::new();
        match shape {
            Shape::Group { shapes, .. } => {
                for shape in shapes {
                    self.add(shape);
                }
            }
            Shape::Text(text) => {
                self.font.outline(text, &mut Outline(&mut outline));
                let ink = super::palette::TEXT;
                self.paint(outline, Some(Fill::solid(ink)), None);
            }
            Shape::Circle {
                centre: (x, y),
                radius,
                fill,
                stroke,
            } => {
                outline.push_circle(*x as f32, *y as f32, *radius as f32);
                self.paint(outline, *fill, *stroke);
            }
            Shape::Path(path) => {
                for piece in &path.pieces {
                    for (index, (x, y)) in piece.iter().enumerate() {
                        match index {
                            0 => outline.move_to(*x as f32, *y as f32),
                            _ => outline.line_to(*x as f32, *y as f32),
                        }
                    }
                    if path.is_closed {
                        outline.close();
                    }
                }
                self.paint(outline, path.fill, path.stroke);
            }
        }
    }

    /// Fills and strokes an outline; one without an extent, such as a blank, draws nothing.
    fn paint(&mut self, outline: PathBuilder, fill: Option<Fill>, stroke: Option<Stroke>) {
        let Some(path) = outline.finish() else { return };
        let mut paint = Paint {
            anti_alias: true,
            ..Paint::default()
        };
        if let Some(Fill { ink, opacity }) = fill {
            paint.set_color(colour(ink.light, opacity));
            self.image
                .fill_path(&path, &paint, FillRule::Winding, self.transform, None);
        }
        if let Some(Stroke { ink, width, dashes }) = stroke {
            paint.set_color(colour(ink.light, 1.0));
            let dashes = dashes.iter().map(|length| *length as f32).collect();
            let pen = Pen {
                width: width as f32,
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                dash: StrokeDash::new(dashes, 0.0),
                ..Pen::default()
            };
            self.image.stroke_path(&path, &paint, &pen, self.transform, None);
        }
    }
}

/// The colour of `#rrggbb`.
fn colour(text: &str, opacity: f64) -> Color {
    let [red, green, blue] = super::palette::channels(text);
    Color::from_rgba8(red, green, blue, (opacity * 255.0).round() as u8)
}

struct Outline<'p>(&'p mut PathBuilder);

impl font::Pen for Outline<'_> {
    fn move_to(&mut self, x: f64, y: f64) {
        self.0.move_to(x as f32, y as f32);
    }

    fn line_to(&mut self, x: f64, y: f64) {
        self.0.line_to(x as f32, y as f32);
    }

    fn curve_to(&mut self, first: (f64, f64), second: (f64, f64), end: (f64, f64)) {
        let [x1, y1, x2, y2, x, y] =
            [first.0, first.1, second.0, second.1, end.0, end.1].map(|number| number as f32);
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}
