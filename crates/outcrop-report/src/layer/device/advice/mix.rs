//! What to configure for a mix of reads and writes, and what it costs against what its parts promise.

use outcrop_measure::metric::Unit;
use outcrop_schema::device::{Direction, IOPS, READ_WRITE_MIX};

use super::super::cell::{DeviceCell, P99};
use super::super::curve::{USUAL_MIX, first_of_ties, mix_curve, mixed_depth_curve, mixed_depth_curves};
use super::super::findings::weighted_mean_iops;
use super::{claim, claim_with_action, named, of_the_device};
use crate::answer::Claim;
use crate::cell::Cell;
use crate::layer::undecided::add_rival;
use crate::number::Number;

/// The least depth at which a mix does as many operations as at any: of the mix nearest to 70:30 that was measured at several depths.
pub(super) fn depth(cells: &[Cell<'_>]) -> Option<Claim> {
    let curve = mixed_depth_curve(cells)?;
    let ((cell, iops), other) = first_of_ties(&curve, &IOPS.both)?;
    let requests = format!("{}{}", cell.requests(), cell.circumstances());
    let words = cell.depth_words();
    let tails = Direction::ALL.map(|direction| (direction, cell.directed(direction, &P99)));
    let tails = || {
        let known = tails
            .iter()
            .filter_map(|(direction, p99)| Some((direction, (*p99)?)));
        known.map(|(direction, p99)| (format!("{direction} p99"), p99))
    };
    let told: String = tails().map(|(name, p99)| format!(", {name} {p99}")).collect();
    let mut numbers = vec![named(iops, format!("IOPS at {words}"))];
    numbers.extend(tails().map(|(name, p99)| named(p99, format!("{name} at {words}"))));
    let tie = match other {
        None => String::new(),
        Some((peak_cell, peak)) => {
            let peak_words = peak_cell.depth_words();
            numbers.push(named(peak, format!("IOPS at {peak_words}")));
            format!(", a tie with {peak_words} ({peak})")
        }
    };
    let rivals = curve.iter().filter_map(|cell| {
        let name = format!("IOPS at {}", cell.depth_words());
        Some((name, cell.number(&IOPS.both)?))
    });
    add_rival(&mut numbers, rivals);
    let others = match mixed_depth_curves(cells).len() {
        1 => String::new(),
        count => format!(
            " The run has {count} mixes at several depths, and no other is nearer to 70:30. The table has all of them."
        ),
    };
    let claim = claim_with_action(
        "Mix throughput".to_owned(),
        format!("{words}, {requests}: {iops}{tie}{told}"),
        format!("{words} gives {iops} ({requests}){tie}{told}.{others}"),
        format!("For throughput, use {words} ({requests}): {iops}{tie}{told}"),
        numbers,
    );
    Some(of_the_device(claim, &curve))
}

/// `93 % (81–104 %)`, and without its interval where it has none.
fn percent_with_ends(share: &Number) -> String {
    let percent = |share: f64| share * 100.0;
    let middle = format!("{:.0} %", percent(share.value));
    match share.ends() {
        Some((low, high)) => format!("{middle} ({:.0}–{:.0} %)", percent(low), percent(high)),
        None => middle,
    }
}

/// What a mix of reads and writes costs against what its parts promise.
pub(super) fn cost(cells: &[Cell<'_>]) -> Option<Claim> {
    let curve = mix_curve(cells)?;
    let from_usual = |cell: &&&Cell<'_>| cell.read_percent().map(|reads| reads.abs_diff(USUAL_MIX));
    let mixed = curve.iter().filter(|cell| cell.is_mixed());
    let cell = *mixed.min_by_key(from_usual)?;
    let (total, words) = (cell.number(&IOPS.both)?, cell.words());
    let mut numbers = vec![named(total, format!("IOPS of {words}"))];
    let mut text = format!("{words} gives {total}");
    let mut brief = format!(
        "{}, {}{}{}: {total}",
        cell.spelling(&READ_WRITE_MIX),
        cell.depth_words(),
        cell.access_apart(),
        cell.circumstances()
    );
    if let Some(expected) = weighted_mean_iops(&curve, cell) {
        let share = Number::computed("", Unit::Ratio, &[total, &expected], |rates| rates[0] / rates[1]);
        let share = percent_with_ends(&share);
        text.push_str(&format!(
            ", {share} of the weighted mean of pure reads and pure writes ({expected})"
        ));
        brief.push_str(&format!(", {share} of the weighted mean"));
        numbers.push(expected);
    }
    let p99 = |cell: &Cell<'_>| cell.directed(Direction::Read, &P99).cloned();
    let mut pure = curve.iter().filter(|cell| cell.only() == Some(Direction::Read));
    if let (Some(alone), Some(mixed)) = (pure.next().and_then(|cell| p99(cell)), p99(cell)) {
        text.push_str(&format!(
            "; the p99 of its reads is {mixed}, compared with {alone} without writes"
        ));
        numbers.push(alone.named("read p99 without writes"));
        numbers.push(mixed.named("read p99 in the mix"));
    }
    text.push('.');
    Some(of_the_device(claim("Mix", brief, text, numbers), &curve))
}
