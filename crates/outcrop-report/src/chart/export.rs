//! Figures as files that stand alone: with title, device, date and sample counts, on white, at a width for print.

use std::io;

use thiserror::Error;

use super::draw::{self, TEXT_PX, TICK_PX};
use super::font::Font;
use super::scene::{Anchor, Scene, Shape, Text};
use super::{Chart, Figure, LineChart, Point, Series, SeriesKind, Support, pdf, raster, svg};
use crate::finding::as_sentence;

/// Pixels of CSS in a millimetre.
const PX_PER_MM: f64 = 96.0 / 25.4;
/// Dots of PNG in a pixel of CSS: 300 in an inch.
const DOTS_PER_PX: f64 = 300.0 / 96.0;
/// Narrowest figure whose axes still have room.
const LEAST_WIDTH_MM: f64 = 60.0;
/// Widest: a sheet of A3.
const MOST_WIDTH_MM: f64 = 420.0;
const LINE_PX: f64 = 16.0;
const MARGIN_PX: f64 = 8.0;

/// What a figure can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Vectors for the web and for editing.
    Svg,
    /// Vectors for LaTeX and print; letters are outlines.
    Pdf,
    /// Pixels, 300 in an inch.
    Png,
    /// The values behind it.
    Csv,
}

/// Why a figure could not be written.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The width is out of range.
    #[error(
        "cannot draw a figure of {0:.0} mm; give a width from {LEAST_WIDTH_MM:.0} mm to {MOST_WIDTH_MM:.0} mm"
    )]
    Width(f64),
    /// It would have more pixels than an image can have.
    #[error("the image is too large; give a smaller --width")]
    TooLarge,
    /// The PNG encoder failed.
    #[error("cannot encode the PNG: {0}")]
    Png(String),
    /// The font in the program cannot be read.
    #[error("the built-in font cannot be read: {0}")]
    Font(#[from] ttf_parser::FaceParsingError),
    /// The CSV writer failed.
    #[error("cannot write the CSV: {0}")]
    Csv(#[from] csv::Error),
    /// The compressor failed.
    #[error("cannot compress the PDF: {0}")]
    Io(#[from] io::Error),
}

/// What a figure says below its title: where its values come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// What was measured.
    pub subject: String,
    /// When, in which run and by which version.
    pub origin: String,
}

impl Figure {
    /// The figure as a file.
    ///
    /// # Errors
    /// See [`ExportError`].
    pub fn to_file(&self, format: FileFormat, width_mm: f64, label: &Label) -> Result<Vec<u8>, ExportError> {
        if !(LEAST_WIDTH_MM..=MOST_WIDTH_MM).contains(&width_mm) {
            return Err(ExportError::Width(width_mm));
        }
        if format == FileFormat::Csv {
            return Ok(self.to_csv()?.into_bytes());
        }
        let font = Font::shipped()?;
        let scene = self.with_words(width_mm * PX_PER_MM, label, &font);
        match format {
            FileFormat::Svg | FileFormat::Csv => {
                Ok(svg::write(&scene, &self.words(), svg::Medium::File).into_bytes())
            }
            FileFormat::Pdf => pdf::write(&scene, &font, &self.title),
            FileFormat::Png => raster::write(&scene, &font, DOTS_PER_PX),
        }
    }

    /// What its values rest on, and where they come from.
    pub(crate) fn rests_on(&self, label: &Label) -> String {
        let parts = [
            self.chart.samples(),
            self.chart.intervals(),
            Some(label.origin.clone()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// The caption with what shading means, for the page: a file says that in a line of its own.
    pub(crate) fn caption_on_page(&self) -> String {
        let shading = match &self.chart {
            Chart::Lines(_) => self.chart.intervals(),
            Chart::Points(_) | Chart::Bars(_) => None,
        };
        let shading = shading.map_or_else(String::new, |shading| as_sentence(&shading));
        format!("{} {shading}", self.caption).trim().to_owned()
    }

    /// The drawing below its title, and above its caption and what its values rest on.
    fn with_words(&self, width_px: f64, label: &Label, font: &Font) -> Scene {
        let room = width_px - 2.0 * MARGIN_PX;
        let title = lines(&self.title, TEXT_PX + 2, room, font);
        let subject = lines(&label.subject, TICK_PX, room, font);
        let origin = self.rests_on(label);
        let origin = lines(&origin, TICK_PX, room, font);
        // What was held fixed stands in the caption, which a file has no other place for.
        let caption = lines(&self.caption, TICK_PX, room, font);
        let drawing = draw::draw(&self.chart, width_px);
        let mut scene = Scene::new(width_px, 0.0);
        let mut y = MARGIN_PX;
        let write = |scene: &mut Scene, y: &mut f64, lines: &[String], size_px: u32, is_bold: bool| {
            for words in lines {
                *y += LINE_PX;
                scene.add(Shape::Text(Text {
                    at: (MARGIN_PX, *y),
                    words: words.clone(),
                    size_px,
                    anchor: Anchor::Start,
                    is_bold,
                }));
            }
        };
        write(&mut scene, &mut y, &title, TEXT_PX + 2, true);
        write(&mut scene, &mut y, &subject, TICK_PX, false);
        y += MARGIN_PX;
        for shape in drawing.shapes {
            scene.add(shape.moved_down(y));
        }
        y += drawing.height;
        write(&mut scene, &mut y, &caption, TICK_PX, false);
        write(&mut scene, &mut y, &origin, TICK_PX, false);
        scene.height = y + MARGIN_PX;
        scene
    }
}

/// A text in lines that fit, by the font's own widths. A word that is wider than a line is cut where it ends.
fn lines(text: &str, size_px: u32, room_px: f64, font: &Font) -> Vec<String> {
    // Bold letters, and those of another font in SVG, may be wider.
    let fits = |line: &str| font.width_px(line, size_px) * 1.1 <= room_px;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        if let Some(last) = lines.last_mut()
            && fits(&format!("{last} {word}"))
        {
            last.push(' ');
            last.push_str(&word);
            continue;
        }
        while !fits(&word) && word.chars().count() > 1 {
            let mut head = String::new();
            for letter in word.chars() {
                if !fits(&format!("{head}{letter}")) && !head.is_empty() {
                    break;
                }
                head.push(letter);
            }
            word = word[head.len()..].to_owned();
            lines.push(head);
        }
        lines.push(word);
    }
    lines
}

impl Chart {
    /// What its values rest on, each.
    fn supports(&self) -> Vec<Support> {
        match self {
            Self::Lines(chart) => {
                let points = chart.series.iter().flat_map(|series| &series.points);
                points.map(|point| point.support).collect()
            }
            Self::Points(chart) => {
                let points = chart.groups.iter().flat_map(|group| &group.points);
                points.map(|point| point.support).collect()
            }
            Self::Bars(chart) => {
                let groups = chart.facets.iter().flat_map(|facet| &facet.groups);
                let bars = groups.flat_map(|group| &group.bars);
                let segments = bars.flat_map(|bar| &bar.segments);
                segments.map(|segment| segment.support).collect()
            }
        }
    }

    /// How many samples its values rest on: `n = 3 each`, `n = 3 to 5`; none where nothing was measured, or no value says it.
    fn samples(&self) -> Option<String> {
        if self.is_modelled() {
            return None;
        }
        // Where a sample of the data gives no interval, its parts were not counted.
        let is_counted = |support: &Support| !self.is_of_sample() || support.is_of_sample;
        let supports = self.supports().into_iter().filter(is_counted);
        let counts: Vec<usize> = supports.filter_map(|support| support.n).collect();
        match (counts.iter().min(), counts.iter().max()) {
            (Some(least), Some(most)) if least == most => {
                Some(format!("n = {least}{} per value", self.what()))
            }
            (Some(least), Some(most)) => Some(format!("n = {least} to {most}{} per value", self.what())),
            _ => self
                .is_of_operations()
                .then(|| "from all recorded operations".to_owned()),
        }
    }

    /// Whether what it shows as measured are distributions and courses of time alone, which every operation is in.
    fn is_of_operations(&self) -> bool {
        let Self::Lines(chart) = self else {
            return false;
        };
        let is_any = |kind: SeriesKind| chart.series.iter().any(|series| series.kind == kind);
        is_any(SeriesKind::Dense) && !is_any(SeriesKind::Measured)
    }

    /// Whether all its lines are those of a model.
    fn is_modelled(&self) -> bool {
        let Self::Lines(chart) = self else {
            return false;
        };
        let mut series = chart.series.iter();
        series.all(|series| series.kind == SeriesKind::Modelled)
    }

    /// Whether all its intervals are those of a sample of the data.
    fn is_of_sample(&self) -> bool {
        let supports = self.supports();
        let mut known = supports
            .iter()
            .filter(|support| support.confidence.is_some())
            .peekable();
        known.peek().is_some() && known.all(|support| support.is_of_sample)
    }

    /// Whether a line that has intervals has none at some of its values.
    fn has_gaps(&self) -> bool {
        let Self::Lines(chart) = self else {
            return false;
        };
        let has = |series: &Series, wanted: bool| {
            let mut points = series.points.iter();
            points.any(|point| point.interval.is_some() == wanted)
        };
        let mut series = chart.series.iter();
        series.any(|series| has(series, true) && has(series, false))
    }

    /// What the intervals of lines are drawn as, and what a value without one lacks: neighbours share a shaded band, and one without a neighbour
    /// that has an interval is a bar.
    fn shadings(chart: &LineChart) -> (&'static str, &'static str) {
        let runs = chart.series.iter().flat_map(|series| {
            let runs = series.points.split(|point| point.interval.is_none());
            runs.map(<[Point]>::len)
        });
        let (bars, bands): (Vec<usize>, Vec<usize>) = runs.filter(|run| *run > 0).partition(|run| *run == 1);
        match (bands.is_empty(), bars.is_empty()) {
            (false, true) => ("shaded", "without shading"),
            (true, _) => ("bars", "without a bar"),
            (false, false) => ("shaded or as bars", "with neither"),
        }
    }

    /// What is counted where that is not trials.
    fn what(&self) -> &'static str {
        match self.is_of_sample() {
            true => " parts of the data",
            false => "",
        }
    }

    /// What shading and thin lines mean: `shaded: 94 % interval of the median`; nothing where no value has an interval.
    fn intervals(&self) -> Option<String> {
        let supports = self.supports();
        let confidence = range_of(supports.iter().filter_map(|support| support.confidence))?;
        let (what, lacking) = match self {
            Self::Lines(chart) => Self::shadings(chart),
            Self::Points(_) | Self::Bars(_) => ("thin lines", ""),
        };
        let of = match self.is_of_sample() {
            true => "for all the data, estimated from the sample",
            false => "of the median",
        };
        let upright = match self {
            Self::Points(chart) => range_of(chart.y_confidences()).map_or_else(String::new, |confidence| {
                format!(
                    "; upright ones: {confidence} interval of the {}",
                    chart.y.label.to_lowercase()
                )
            }),
            _ => String::new(),
        };
        let gaps = match self.has_gaps() {
            true => format!("; values {lacking} have no interval"),
            false => String::new(),
        };
        Some(format!("{what}: {confidence} interval {of}{gaps}{upright}"))
    }
}

/// The least and the most of confidences, in whole per cent; none of none.
fn range_of(confidences: impl Iterator<Item = f64>) -> Option<String> {
    let percents: Vec<u64> = confidences.map(|one| (one * 100.0).round() as u64).collect();
    let (least, most) = (percents.iter().min()?, percents.iter().max()?);
    Some(match least == most {
        true => format!("{least} %"),
        false => format!("{least} to {most} %"),
    })
}

impl Shape {
    fn moved_down(mut self, by: f64) -> Self {
        match &mut self {
            Self::Path(path) => {
                for (_, y) in path.pieces.iter_mut().flatten() {
                    *y += by;
                }
            }
            Self::Circle { centre, .. } => centre.1 += by,
            Self::Text(text) => text.at.1 += by,
            Self::Group { shapes, .. } => {
                let moved = std::mem::take(shapes).into_iter();
                *shapes = moved.map(|shape| shape.moved_down(by)).collect();
            }
        }
        self
    }
}
