//! Points over two axes, the front of the best of them, and their names.

use std::collections::BTreeSet;

use outcrop_measure::metric::Better;

use super::labels::{Area, Wanted, place};
use super::legend::{Entry, Legend, Mark};
use super::marks::{Look, marker};
use super::plane::Plane;
use super::{Frame, TICK_PX, colour, text_width_px};
use crate::chart::palette;
use crate::chart::scale::AxisPlan;
use crate::chart::scene::{Anchor, Scene, Shape, Stroke};
use crate::chart::{ScatterChart, ScatterGroup, ScatterPoint};

/// Names of points beside the front are drawn where there is this much room.
const ALL_NAMES_FROM_PX: f64 = 500.0;
const NAME_HEIGHT_PX: f64 = 14.0;

/// A straight line, from end to end in pixels.
type Stair = ((f64, f64), (f64, f64));

/// Draws the chart into a frame.
pub(super) fn draw(chart: &ScatterChart, frame: Frame) -> Scene {
    let points = || chart.groups.iter().flat_map(|group| &group.points);
    let reach = |one: &ScatterPoint| {
        [
            Some(one.x),
            one.x_interval.map(|ends| ends.0),
            one.x_interval.map(|ends| ends.1),
        ]
    };
    let x = AxisPlan::over(&chart.x, points().flat_map(reach).flatten(), frame.x_ticks);
    let upright = |one: &ScatterPoint| {
        let ends = one.y_interval.unwrap_or((one.y, one.y));
        [one.y, ends.0, ends.1]
    };
    let y = AxisPlan::over(&chart.y, points().flat_map(upright), frame.y_ticks);
    let legend = Legend::flow(entries(chart), frame.width);
    let plane = Plane::new(frame, x, y, legend.height_px());
    let mut scene = plane.scene();
    add_intervals(chart, &plane, &mut scene);
    // What is on the front lies above the rest.
    for is_above in [false, true] {
        add_points(chart, &plane, is_above, &mut scene);
    }
    let stairs = stairs(chart, &plane);
    for (from, to) in &stairs {
        scene.add(line(*from, *to, 1.2, &[]));
    }
    names(chart, frame, &plane, &stairs, &mut scene);
    legend.add_to(&mut scene);
    scene
}

/// One entry a name, whatever the number of groups that have it, and one for the front.
fn entries(chart: &ScatterChart) -> Vec<Entry> {
    let mut seen = BTreeSet::new();
    let groups = chart.groups.iter().filter(|group| seen.insert(&group.name));
    let mut entries: Vec<Entry> = groups
        .map(|group| Entry {
            name: group.name.clone(),
            mark: Mark::Marker {
                hue: group.hue,
                kind: group.kind,
            },
        })
        .collect();
    if let Some(name) = chart
        .front_name
        .clone()
        .filter(|_| chart.front().next().is_some())
    {
        entries.push(Entry {
            name,
            mark: Mark::Front,
        });
    }
    entries
}

/// The intervals of each point as thin lines, under the points.
fn add_intervals(chart: &ScatterChart, plane: &Plane, scene: &mut Scene) {
    for group in &chart.groups {
        for (from, to) in group.points.iter().flat_map(|one| intervals_of(one, plane)) {
            scene.add(Shape::line(from, to, Stroke::solid(colour(group.hue), 0.8)));
        }
    }
}

/// The ends of the lines of a point's intervals, level and upright, in pixels.
fn intervals_of(one: &ScatterPoint, plane: &Plane) -> impl Iterator<Item = Stair> {
    // On a logarithmic axis zero has no place: such a line ends at the frame.
    let place = |value: f64| value.max(f64::MIN_POSITIVE);
    let inside = |x: f64, y: f64| plane.inside(plane.at(x, y));
    let level = one
        .x_interval
        .map(|ends| [ends.0, ends.1].map(|x| inside(place(x), one.y)));
    let upright = one
        .y_interval
        .map(|ends| [ends.1, ends.0].map(|y| inside(one.x, place(y))));
    let lines = level.into_iter().chain(upright);
    lines.map(|[from, to]| (from, to))
}

/// The solid points, or the others.
fn add_points(chart: &ScatterChart, plane: &Plane, are_solid: bool, scene: &mut Scene) {
    for group in &chart.groups {
        let is_wanted = |one: &&ScatterPoint| (group.look(one) == Look::Solid) == are_solid;
        for one in group.points.iter().filter(is_wanted) {
            let at = plane.at(one.x, one.y);
            scene.add(Shape::Group {
                note: one.note.clone(),
                shapes: vec![marker(group.hue, at, colour(group.hue), group.look(one))],
            });
        }
    }
}

impl ScatterGroup {
    /// Full colour on the front, pale beside it, an outline where it was not measured here.
    fn look(&self, one: &ScatterPoint) -> Look {
        let has_front = self.is_beside_front || self.points.iter().any(|other| other.on_front);
        match (self.kind.is_hollow(), one.on_front || !has_front) {
            (true, _) => Look::Hollow,
            (false, true) => Look::Solid,
            (false, false) => Look::Pale,
        }
    }
}

/// The front as stairs, line by line in pixels: the best that can be had at each place of the horizontal axis.
fn stairs(chart: &ScatterChart, plane: &Plane) -> Vec<Stair> {
    let mut corners: Vec<(f64, f64)> = chart.front().map(|one| plane.at(one.x, one.y)).collect();
    corners.sort_by(|one, other| one.0.total_cmp(&other.0));
    let steps = corners.windows(2).filter_map(|pair| match *pair {
        [(x1, y1), (x2, y2)] => {
            let corner = match chart.x_better {
                Better::Higher => (x1, y2),
                Better::Lower => (x2, y1),
            };
            Some([((x1, y1), corner), (corner, (x2, y2))])
        }
        _ => None,
    });
    steps.flatten().collect()
}

/// The names of points, those on the front first; a name without a place is left to the text below.
fn names(chart: &ScatterChart, frame: Frame, plane: &Plane, stairs: &[Stair], scene: &mut Scene) {
    let all = || chart.groups.iter().flat_map(|group| &group.points);
    let markers = all().map(|one| Area::around(plane.at(one.x, one.y), 5.0));
    let lines = stairs.iter().map(|(from, to)| Area {
        left: from.0.min(to.0),
        top: from.1.min(to.1),
        right: from.0.max(to.0),
        bottom: from.1.max(to.1),
    });
    // A name on the line of an interval would be struck through.
    let whiskers = all()
        .flat_map(|one| intervals_of(one, plane))
        .map(|(from, to)| Area {
            left: from.0 - 1.0,
            top: from.1 - 1.0,
            right: to.0 + 1.0,
            bottom: to.1 + 1.0,
        });
    let obstacles: Vec<Area> = markers.chain(lines).chain(whiskers).collect();
    let named = |on_front: bool| all().filter(move |one| one.on_front == on_front && !one.label.is_empty());
    let has_room = frame.width >= ALL_NAMES_FROM_PX || chart.front().next().is_none();
    let chosen: Vec<&ScatterPoint> = named(true).chain(named(false).filter(|_| has_room)).collect();
    let wanted: Vec<Wanted> = chosen
        .iter()
        .map(|one| Wanted {
            point: plane.at(one.x, one.y),
            width: text_width_px(&one.label, TICK_PX),
            height: NAME_HEIGHT_PX,
        })
        .collect();
    let (left, top, right, bottom) = plane.area();
    let within = Area {
        left,
        top,
        right: right + 16.0,
        bottom,
    };
    let points: Vec<(f64, f64)> = all().map(|one| plane.at(one.x, one.y)).collect();
    let places = place(&wanted, &points, &obstacles, within);
    for ((one, wanted), place) in chosen.iter().zip(&wanted).zip(places) {
        let Some(place) = place else { continue };
        let area = place.area;
        if place.needs_leader {
            let nearest = area.nearest_to(wanted.point);
            scene.add(line(wanted.point, nearest, 0.8, &[2.0, 2.0]));
        }
        let at = ((area.left + area.right) / 2.0, area.bottom - 3.0);
        scene.add(Shape::text(at, &one.label, TICK_PX, Anchor::Middle));
    }
}

fn line(from: (f64, f64), to: (f64, f64), width: f64, dashes: &'static [f64]) -> Shape {
    let ink = palette::AXIS;
    Shape::line(from, to, Stroke { ink, width, dashes })
}
