//! Throughput against space: one picture of what was compared.

use outcrop_measure::metric::Better;

use super::candidate::{Candidate, CompressedAt};
use crate::chart::SeriesKind::Measured;
use crate::chart::{Figure, Quantity, Scale, ScatterChart, ScatterGroup, ScatterPoint, axis};

/// Of a place, so that it has one colour.
const PLACES: [(CompressedAt, &str); 3] = [
    (CompressedAt::Nowhere, "no compression"),
    (CompressedAt::Store, "store's blocks"),
    (CompressedAt::Filesystem, "filesystem below"),
];

/// The candidates of a subject with both figures; `None` if there are fewer than two.
pub(super) fn throughput_against_space(candidates: &[Candidate], subject: &str) -> Option<Figure> {
    let group = |(hue, (place, name)): (usize, &(CompressedAt, &str))| {
        let its = candidates.iter().filter(|candidate| candidate.place == *place);
        let points: Vec<ScatterPoint> = its.filter_map(point).collect();
        ScatterGroup {
            name: (*name).to_owned(),
            hue,
            kind: Measured,
            is_beside_front: !points.iter().any(|point| point.on_front),
            points,
        }
    };
    let groups: Vec<ScatterGroup> = PLACES.iter().enumerate().map(group).collect();
    if groups.iter().map(|group| group.points.len()).sum::<usize>() < 2 {
        return None;
    }
    let chart = ScatterChart {
        x: axis("Throughput, operations per second", Quantity::Iops, Scale::Linear),
        y: axis("Space without compression ÷ with", Quantity::Ratio, Scale::Fitted),
        x_better: Better::Higher,
        groups,
        front_name: Some("front".to_owned()),
    };
    let caption = format!(
        "{subject}. Right and up is better. The line joins the settings that no other measured setting beats in both. Space is what the \
         filesystem has in use, log and metadata included."
    );
    chart.draw(
        "placement",
        "Where to compress: throughput against space",
        caption,
    )
}

fn point(candidate: &Candidate) -> Option<ScatterPoint> {
    let ratio = candidate.ratio.as_ref()?;
    let label = match candidate.place {
        CompressedAt::Nowhere => "none".to_owned(),
        _ => candidate.what.clone(),
    };
    Some(ScatterPoint {
        note: format!(
            "{}: {} ({}), ratio {ratio}",
            candidate.name(),
            candidate.throughput,
            candidate.throughput.certainty()
        ),
        label,
        on_front: candidate.on_front,
        ..ScatterPoint::of(&candidate.throughput, ratio.value, &candidate.name()).with_y(ratio)
    })
}
