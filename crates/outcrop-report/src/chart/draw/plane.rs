//! Two axes in a frame: the margins that they need, and where a value lies in pixels.

use kuva::render::layout::{Layout, TickFormat};
use kuva::render::render::{Primitive, TextAnchor};
use kuva::{AxisLabelOverlap, Theme};

use super::{FONT, Frame, TEXT_PX, TICK_PX, text_width_px};
use crate::chart::palette;
use crate::chart::scale::AxisPlan;

const LEAST_MARGIN_RIGHT_PX: f64 = 22.0;
/// Room for the name of the vertical axis, which stands upright above it.
const Y_LABEL_PX: f64 = 18.0;
const MARGIN_BOTTOM_PX: f64 = 44.0;

/// The plot area of a drawing with two axes.
pub(super) struct Plane {
    pub(super) x: AxisPlan,
    pub(super) y: AxisPlan,
    frame: Frame,
    left_px: f64,
    top_px: f64,
    margin_right_px: f64,
}

impl Plane {
    /// Axes in a frame, below a legend of that height.
    pub(super) fn new(frame: Frame, x: AxisPlan, y: AxisPlan, legend_px: f64) -> Self {
        Self {
            left_px: 18.0 + widest_tick_px(&y),
            margin_right_px: last_tick_overhang_px(&x).max(LEAST_MARGIN_RIGHT_PX),
            top_px: legend_px + Y_LABEL_PX + 12.0,
            x,
            y,
            frame,
        }
    }

    /// The layout that the library needs for these axes.
    pub(super) fn layout(&self) -> Layout {
        let (x, y) = (&self.x, &self.y);
        let mut layout = Layout::new((x.low, x.high), (y.low, y.high))
            .with_width(self.frame.width)
            .with_height(self.frame.height)
            .with_x_axis_min(x.low)
            .with_x_axis_max(x.high)
            .with_y_axis_min(y.low)
            .with_y_axis_max(y.high)
            .with_x_label(x.label.clone())
            .with_label_size(TEXT_PX)
            .with_tick_size(TICK_PX)
            .with_x_label_overlap(AxisLabelOverlap::Thin)
            .with_x_tick_format(TickFormat::Custom(x.spell.clone()))
            .with_y_tick_format(TickFormat::Custom(y.spell.clone()))
            .with_force_margins(self.left_px, self.margin_right_px)
            .with_force_margins_y(self.top_px, MARGIN_BOTTOM_PX)
            .with_theme(theme());
        layout.show_legend = false;
        layout = match x.step {
            Some(step) => layout.with_x_tick_step(step),
            None if x.is_log10() => layout.with_log_x(),
            None => layout,
        };
        match y.step {
            Some(step) => layout.with_y_tick_step(step),
            None if y.is_log10() => layout.with_log_y(),
            None => layout,
        }
    }

    /// The place of a pair of values, in pixels from the top left.
    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (left, top, right, bottom) = self.area();
        (
            left + self.x.fraction(x) * (right - left),
            bottom - self.y.fraction(y) * (bottom - top),
        )
    }

    /// Left, top, right and bottom of the plot area in pixels.
    pub(super) fn area(&self) -> (f64, f64, f64, f64) {
        (
            self.left_px,
            self.top_px,
            self.frame.width - self.margin_right_px,
            self.frame.height - MARGIN_BOTTOM_PX,
        )
    }

    /// The name of the vertical axis, left-aligned above the plot: nobody has to tilt their head.
    pub(super) fn y_label(&self) -> Primitive {
        Primitive::Text {
            x: 8.0,
            y: self.top_px - 10.0,
            content: self.y.label.clone(),
            size: TEXT_PX,
            anchor: TextAnchor::Start,
            rotate: None,
            bold: false,
            color: None,
        }
    }
}

fn theme() -> Theme {
    Theme {
        background: "none".into(),
        axis_color: palette::AXIS.light.into(),
        grid_color: palette::GRID.light.into(),
        tick_color: palette::AXIS.light.into(),
        text_color: palette::TEXT.light.into(),
        font_family: Some(FONT.into()),
        ..Theme::light()
    }
}

/// Room that the last tick of the horizontal axis, centred below its place, may take beyond the plot.
fn last_tick_overhang_px(x: &AxisPlan) -> f64 {
    let last = x.ticks().last().map(|tick| (x.spell)(*tick));
    last.map_or(0.0, |name| text_width_px(&name, TICK_PX) / 2.0 + 2.0)
}

/// Width that the widest tick label of the vertical axis may take, from a cautious width per character.
fn widest_tick_px(y: &AxisPlan) -> f64 {
    y.ticks()
        .iter()
        .map(|tick| text_width_px(&(y.spell)(*tick), TICK_PX))
        .fold(20.0, f64::max)
}
