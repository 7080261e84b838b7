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

/// Distances from the point, in pixels; beyond the first two a thin line leads to the point.
const RINGS_PX: [f64; 6] = [8.0, 13.0, 22.0, 34.0, 48.0, 66.0];
/// From this distance on a line leads to the point.
pub(super) const LEADER_FROM_PX: f64 = 20.0;
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

/// A place for each name, the first ones first; none where every place is taken.
///
/// *Cost*: names × 72 places × (names + obstacles).
pub(super) fn place(wanted: &[Wanted], obstacles: &[Area], within: Area) -> Vec<Option<Area>> {
    let mut taken = obstacles.to_vec();
    wanted
        .iter()
        .map(|name| {
            let free = candidates(name)
                .find(|area| within.contains(area) && !taken.iter().any(|other| other.overlaps(area)))?;
            taken.push(free);
            Some(free)
        })
        .collect()
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
            let placed: Vec<Area> = place(&wanted, &markers, PLOT).into_iter().flatten().collect();
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
            place(&[name(x)], &[], PLOT)
                .first()
                .copied()
                .flatten()
                .unwrap()
                .left
        };
        assert_eq!(left_of(100.0), 108.0);
        assert_eq!(left_of(290.0), 232.0);
    }
}
