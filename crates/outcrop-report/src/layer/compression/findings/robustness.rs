//! How much throughput depends on how well the data compress, in published curves.

use outcrop_measure::metric::Unit;
use outcrop_schema::compression::{COMPRESSED_PERCENT, Direction, SPEED};

use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::{Number, counted};

/// The engine whose throughput drops little, as its publication says.
const ENGINE: &str = "DPZip";
/// The largest drop that the publication admits.
const CLAIMED: f64 = 0.15;

/// What the publication claims of its engine, and what its other curves do beside it: a check for each direction.
pub(in super::super) fn drops(curves: &[Vec<&Cell<'_>>]) -> Vec<Finding> {
    Direction::ALL.map(|direction| drop_of(curves, direction)).into()
}

fn drop_of(curves: &[Vec<&Cell<'_>>], direction: Direction) -> Finding {
    let id = format!("published-drop-by-content-{direction}");
    let sentence = format!(
        "The {direction} throughput of {ENGINE} drops by less than {:.0} %, however well the data compress, as its publication claims.",
        CLAIMED * 100.0
    );
    let drops: Vec<Drop> = curves
        .iter()
        .filter_map(|curve| Drop::of(curve, direction))
        .collect();
    let is_engine = |drop: &&Drop| drop.subject == ENGINE;
    let Some(own) = drops.iter().find(is_engine) else {
        return Finding::not_testable(&id, &sentence, "the publication has no such curve");
    };
    let others: Vec<String> = drops
        .iter()
        .filter(|drop| !is_engine(drop))
        .map(|drop| format!("{} {:.0} %", drop.subject, drop.share * 100.0))
        .collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" The drops of the others: {}.", others.join(", ")),
    };
    let tested = format!(
        "The highest and the lowest throughput of {} of the published curve: {} at {} and {} at {} (compressed ÷ original).{others}",
        counted(own.points, "point"),
        own.high.0,
        own.high.1,
        own.low.0,
        own.low.1
    );
    Finding::tested(&id, sentence, own.share < CLAIMED, tested)
        .otherwise(format!(
            "By its own figures it drops by {:.0} %.",
            own.share * 100.0
        ))
        .numbers([Number::derived("drop", own.share, Unit::Ratio, own.points)])
}

/// How far one curve falls below its highest point.
struct Drop {
    subject: String,
    share: f64,
    points: usize,
    /// The highest throughput, and at which share it stands.
    high: (String, String),
    low: (String, String),
}

impl Drop {
    fn of(curve: &[&Cell<'_>], direction: Direction) -> Option<Self> {
        let point = |cell: &&Cell<'_>| {
            let percent = *cell.get(&COMPRESSED_PERCENT)?;
            let number = cell.number(&SPEED.of(direction))?.clone();
            Some((number, format!("{percent:.0} %")))
        };
        let points: Vec<(Number, String)> = curve.iter().filter_map(point).collect();
        let by_value =
            |one: &&(Number, String), other: &&(Number, String)| one.0.value.total_cmp(&other.0.value);
        let high = points
            .iter()
            .max_by(by_value)
            .filter(|(number, _)| number.value > 0.0)?;
        let low = points.iter().min_by(by_value)?;
        let told = |(number, percent): &(Number, String)| (number.to_string(), percent.clone());
        Some(Self {
            subject: curve.first()?.subject().to_owned(),
            share: 1.0 - low.0.value / high.0.value,
            points: points.len(),
            high: told(high),
            low: told(low),
        })
    }
}
