//! Outlines of letters, for figures as PNG and PDF: the font is part of the program, so that a figure looks the same everywhere.

use ttf_parser::{Face, OutlineBuilder};

use super::scene::{Anchor, Text};

/// A part of DejaVu Sans Condensed; `font/LICENSE.txt` has its licence.
const SANS: &[u8] = include_bytes!("font/sans.ttf");

/// The font, read.
pub(super) struct Font {
    face: Face<'static>,
}

/// Receives outlines, in pixels from the top left.
pub(super) trait Pen {
    fn move_to(&mut self, x: f64, y: f64);
    fn line_to(&mut self, x: f64, y: f64);
    fn curve_to(&mut self, first: (f64, f64), second: (f64, f64), end: (f64, f64));
    fn close(&mut self);
}

impl Font {
    /// The font that ships.
    ///
    /// # Errors
    /// If the program was built with a broken one, which a test would have found.
    pub(super) fn shipped() -> Result<Self, ttf_parser::FaceParsingError> {
        let face = Face::parse(SANS, 0)?;
        Ok(Self { face })
    }

    /// Width of a text in pixels. A letter that the font lacks is as wide as the box that stands for it.
    pub(super) fn width_px(&self, words: &str, size_px: u32) -> f64 {
        words.chars().map(|letter| self.advance(letter)).sum::<f64>() * self.scale(size_px)
    }

    /// Draws a text.
    pub(super) fn outline(&self, text: &Text, pen: &mut impl Pen) {
        let width = self.width_px(&text.words, text.size_px);
        let (mut x, y) = text.at;
        x -= match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let scale = self.scale(text.size_px);
        for letter in text.words.chars() {
            let mut placed = Placed {
                pen: &mut *pen,
                x,
                y,
                scale,
                last: (0.0, 0.0),
            };
            self.face.outline_glyph(self.glyph(letter), &mut placed);
            x += self.advance(letter) * scale;
        }
    }

    fn glyph(&self, letter: char) -> ttf_parser::GlyphId {
        self.face.glyph_index(letter).unwrap_or(ttf_parser::GlyphId(0))
    }

    fn advance(&self, letter: char) -> f64 {
        f64::from(self.face.glyph_hor_advance(self.glyph(letter)).unwrap_or(0))
    }

    fn scale(&self, size_px: u32) -> f64 {
        f64::from(size_px) / f64::from(self.face.units_per_em())
    }
}

/// A letter at its place: fonts count upwards, drawings downwards.
struct Placed<'p, P> {
    pen: &'p mut P,
    x: f64,
    y: f64,
    scale: f64,
    last: (f64, f64),
}

impl<P: Pen> Placed<'_, P> {
    fn at(&self, x: f32, y: f32) -> (f64, f64) {
        (
            self.x + f64::from(x) * self.scale,
            self.y - f64::from(y) * self.scale,
        )
    }
}

impl<P: Pen> OutlineBuilder for Placed<'_, P> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.last = self.at(x, y);
        self.pen.move_to(self.last.0, self.last.1);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.last = self.at(x, y);
        self.pen.line_to(self.last.0, self.last.1);
    }

    /// A quadratic curve, as the cubic one that PDF knows.
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (control, end) = (self.at(x1, y1), self.at(x, y));
        let towards = |from: (f64, f64)| {
            (
                from.0 + (control.0 - from.0) * 2.0 / 3.0,
                from.1 + (control.1 - from.1) * 2.0 / 3.0,
            )
        };
        self.pen.curve_to(towards(self.last), towards(end), end);
        self.last = end;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let end = self.at(x, y);
        let (first, second) = (self.at(x1, y1), self.at(x2, y2));
        self.pen.curve_to(first, second, end);
        self.last = end;
    }

    fn close(&mut self) {
        self.pen.close();
    }
}
