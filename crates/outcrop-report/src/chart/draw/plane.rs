//! Two axes in a frame: the margins that they need, and where a value lies in pixels.

use super::{Frame, TEXT_PX, TICK_PX, text_width_px};
use crate::chart::palette;
use crate::chart::scale::AxisPlan;
use crate::chart::scene::{Anchor, Scene, Shape, Stroke};

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

    /// The empty plot: grid, axes, ticks that do not touch, and the names of both axes. That of the vertical axis is left-aligned
    /// above the plot, so that no head is tilted.
    pub(super) fn scene(&self) -> Scene {
        let mut scene = Scene::new(self.frame.width, self.frame.height);
        let (left, top, right, bottom) = self.area();
        let grid = Stroke::solid(palette::GRID, 1.0);
        let axis = Stroke::solid(palette::AXIS, 1.0);
        // One path for all lines of a kind: a page has thousands of them.
        let (mut lines, mut ticks, mut names) = (Vec::new(), Vec::new(), Vec::new());
        let mut taken_until = f64::NEG_INFINITY;
        for tick in self.x.ticks() {
            let x = left + self.x.tick_fraction(tick) * (right - left);
            lines.push(vec![(x, top), (x, bottom)]);
            let name = (self.x.spell)(tick);
            let half = text_width_px(&name, TICK_PX) / 2.0;
            if !name.is_empty() && x - half > taken_until + 4.0 {
                ticks.push(vec![(x, bottom), (x, bottom + 4.0)]);
                names.push(Shape::text((x, bottom + 17.0), &name, TICK_PX, Anchor::Middle));
                taken_until = x + half;
            }
        }
        for tick in self.y.ticks() {
            let y = bottom - self.y.tick_fraction(tick) * (bottom - top);
            lines.push(vec![(left, y), (right, y)]);
            let name = (self.y.spell)(tick);
            if !name.is_empty() {
                ticks.push(vec![(left - 4.0, y), (left, y)]);
                names.push(Shape::text((left - 7.0, y + 4.0), &name, TICK_PX, Anchor::End));
            }
        }
        ticks.push(vec![(left, top), (left, bottom), (right, bottom)]);
        scene.add(Shape::lines(lines, grid));
        scene.add(Shape::lines(ticks, axis));
        for name in names {
            scene.add(name);
        }
        let middle = (left + right) / 2.0;
        let under = (middle, self.frame.height - 7.0);
        scene.add(Shape::text(under, &self.x.label, TEXT_PX, Anchor::Middle));
        let above = (8.0, top - 10.0);
        scene.add(Shape::text(above, &self.y.label, TEXT_PX, Anchor::Start));
        scene
    }

    /// Whether a place lies in the plot.
    pub(super) fn holds(&self, (x, y): (f64, f64)) -> bool {
        let (left, top, right, bottom) = self.area();
        (left - 0.5..=right + 0.5).contains(&x) && (top - 0.5..=bottom + 0.5).contains(&y)
    }

    /// The nearest place in the plot.
    pub(super) fn inside(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (left, top, right, bottom) = self.area();
        (x.clamp(left, right), y.clamp(top, bottom))
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
