//! Names beside points, so that none covers another, a marker, or the edge of the plot.

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// The square around a marker.
    pub(super) fn around((x, y): (f64, f64), radius: f64) -> Self {
        Self {
            left: x - radius,
            top: y - radius,
            right: x + radius,
            bottom: y + radius,
        }
    }

    /// How far a point is from it; 0 inside.
    fn distance_to(&self, (x, y): (f64, f64)) -> f64 {
        let (nearest_x, nearest_y) = self.nearest_to((x, y));
        (nearest_x - x).hypot(nearest_y - y)
    }

    /// The place in it that is nearest to a point.
    pub(super) fn nearest_to(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom))
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn contains(&self, other: &Self) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && self.right >= other.right
            && self.bottom >= other.bottom
    }
}

/// A name that wants a place near its point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The point that it names.
    pub(super) point: (f64, f64),
    /// Width of its text.
    pub(super) width: f64,
    /// Height of its text.
    pub(super) height: f64,
}

/// A place for a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// What the name covers.
    pub(super) area: Area,
    /// Whether a line has to lead from it to its point: it is far away, or almost as near to another point.
    pub(super) needs_leader: bool,
}

/// Distances from the point, in pixels.
const RINGS_PX: [f64; 6] = [8.0, 13.0, 22.0, 34.0, 48.0, 66.0];
/// From this distance on a line leads to the point.
const LEADER_FROM_PX: f64 = 20.0;
/// Up to this distance a name all but touches its point, which says enough where no other is nearer …
const BESIDE_PX: f64 = 10.0;
/// … and beyond it where every other point is this many times as far away.
const CLEARLY_NEARER: f64 = 1.5;
/// Directions in which a name may lie, the preferred first: right, left, above, below, then between.
const DIRECTIONS: [(f64, f64); 12] = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, -1.0),
    (0.0, 1.0),
    (0.71, -0.71),
    (0.71, 0.71),
    (-0.71, -0.71),
    (-0.71, 0.71),
    (0.38, -0.92),
    (-0.38, -0.92),
    (0.38, 0.92),
    (-0.38, 0.92),
];

/// A place for each name, the first ones first; none where every place is taken. A name is nearer to its point than to any other of `points`.
///
/// *Cost*: names × 72 places × (names + obstacles + points).
pub(super) fn place(
    wanted: &[Wanted],
    points: &[(f64, f64)],
    obstacles: &[Area],
    within: Area,
) -> Vec<Option<Place>> {
    let mut taken = obstacles.to_vec();
    wanted
        .iter()
        .map(|name| {
            let is_free =
                |area: &Area| within.contains(area) && !taken.iter().any(|other| other.overlaps(area));
            let free = candidates(name)
                .filter(is_free)
                .find_map(|area| placed(name, points, area))?;
            taken.push(free.area);
            Some(free)
        })
        .collect()
}

/// A name in a place; none where another point is nearer to it.
fn placed(name: &Wanted, points: &[(f64, f64)], area: Area) -> Option<Place> {
    let own = area.distance_to(name.point);
    let others = points.iter().filter(|point| **point != name.point);
    let nearest = others
        .map(|point| area.distance_to(*point))
        .fold(f64::INFINITY, f64::min);
    (nearest > own).then_some(Place {
        area,
        needs_leader: own > LEADER_FROM_PX || (own > BESIDE_PX && nearest < own * CLEARLY_NEARER),
    })
}

/// Places for a name, the nearest first.
fn candidates(name: &Wanted) -> impl Iterator<Item = Area> {
    let Wanted {
        point: (x, y),
        width,
        height,
    } = *name;
    RINGS_PX.into_iter().flat_map(move |distance| {
        DIRECTIONS.into_iter().map(move |(dx, dy)| {
            // The middle of the text: its edge, not its middle, is to be at the distance.
            let middle_x = x + dx * (distance + width / 2.0);
            let middle_y = y + dy * (distance + height / 2.0);
            Area {
                left: middle_x - width / 2.0,
                top: middle_y - height / 2.0,
                right: middle_x + width / 2.0,
                bottom: middle_y + height / 2.0,
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Area = Area {
        left: 0.0,
        top: 0.0,
        right: 300.0,
        bottom: 200.0,
    };

    proptest::proptest! {
        #[test]
        fn no_name_covers_another_or_a_marker_or_leaves_the_plot(
            points in proptest::collection::vec((0.0_f64..300.0, 0.0_f64..200.0, 20.0_f64..90.0), 1..25)
        ) {
            let wanted: Vec<Wanted> = points
                .iter()
                .map(|&(x, y, width)| Wanted { point: (x, y), width, height: 14.0 })
                .collect();
            let markers: Vec<Area> = wanted.iter().map(|name| Area::around(name.point, 5.0)).collect();
            let points: Vec<(f64, f64)> = wanted.iter().map(|name| name.point).collect();
            let places = place(&wanted, &points, &markers, PLOT);
            for (name, place) in wanted.iter().zip(&places) {
                let Some(place) = place else { continue };
                let own = place.area.distance_to(name.point);
                for point in points.iter().filter(|point| **point != name.point) {
                    proptest::prop_assert!(place.area.distance_to(*point) > own, "{place:?} of {name:?} is nearer to {point:?}");
                }
            }
            let placed: Vec<Area> = places.into_iter().flatten().map(|place| place.area).collect();
            for (index, one) in placed.iter().enumerate() {
                proptest::prop_assert!(PLOT.contains(one));
                proptest::prop_assert!(markers.iter().all(|marker| !marker.overlaps(one)));
                proptest::prop_assert!(placed.iter().skip(index + 1).all(|other| !other.overlaps(one)));
            }
        }
    }

    #[test]
    fn a_lone_point_is_named_on_its_right_and_at_the_right_edge_on_its_left() {
        let name = |x| Wanted {
            point: (x, 100.0),
            width: 50.0,
            height: 14.0,
        };
        let left_of = |x| {
            let places = place(&[name(x)], &[(x, 100.0)], &[], PLOT);
            places[0].unwrap().area.left
        };
        assert_eq!(left_of(100.0), 108.0);
        assert_eq!(left_of(290.0), 232.0);
    }

    #[test]
    fn of_two_points_that_all_but_touch_each_has_its_name_on_its_own_side_or_at_the_end_of_a_line() {
        // As in a picture where a front and two intervals leave no room beside them.
        let points = [(100.0, 100.0), (104.0, 105.0)];
        let wanted = points.map(|point| Wanted {
            point,
            width: 40.0,
            height: 14.0,
        });
        let line = |top: f64| Area {
            left: 40.0,
            top: top - 1.0,
            right: 180.0,
            bottom: top + 1.0,
        };
        let obstacles = [
            Area::around(points[0], 5.0),
            Area::around(points[1], 5.0),
            line(100.0),
            line(105.0),
        ];
        let places = place(&wanted, &points, &obstacles, PLOT)
            .into_iter()
            .map(Option::unwrap);
        let [one, other] = places.collect::<Vec<_>>().try_into().unwrap();
        let (one, other): (Place, Place) = (one, other);
        assert!(
            one.area.bottom < 100.0 && other.area.top > 105.0,
            "{one:?} {other:?}"
        );
        let right_above = |left: f64, bottom: f64| Area {
            left,
            right: left + 40.0,
            top: bottom - 14.0,
            bottom,
        };
        // Nearer to the other one, and almost as near.
        assert_eq!(placed(&wanted[0], &points, right_above(120.0, 92.0)), None);
        let near_both = placed(&wanted[0], &points, right_above(110.0, 84.0)).unwrap();
        assert!(near_both.needs_leader, "{near_both:?}");
    }
}
