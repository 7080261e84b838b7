//! What the least space costs in the latency of reads.

use outcrop_measure::units::format_bytes;
use outcrop_schema::filesystem::{IO_BLOCK_SIZE, JOBS, LATENCY, QUEUE_DEPTH, SPACE_RATIO};

use super::cell::{configuration, is_closed, is_compressed, kind};
use super::limits::judge;
use super::rivals::p50s;
use super::smallest::tie_of_space;
use crate::answer::Claim;
use crate::cell::{Cell, best};
use crate::finding::as_sentence;
use crate::layer::undecided::add_wide_rivals;
use crate::number::Number;
use crate::placement::Bounds;

const TOPIC: &str = "Price of the least space";

/// What the least space costs in the latency of reads, for the load that was measured: whether that is worth it, the reader knows.
pub(super) fn price(most: &Cell<'_>, candidates: &[&Cell<'_>], bounds: &Bounds<'_>) -> Option<Claim> {
    let reference = Reference::of(most, candidates)?;
    let (other, other_p50) = (reference.cell, reference.p50);
    let (name, other_name) = (configuration(most), configuration(other));
    let (ratio, p50) = (most.number(&SPACE_RATIO)?, most.number(&LATENCY.p50)?);
    let (told_p50, told_other) = (p50.told(), other_p50.told());
    let mut numbers = vec![
        ratio.clone(),
        p50.clone().named(format!("p50 of {name}")),
        other_p50.clone().named(format!("p50 of {other_name}")),
    ];
    let compared = match is_compressed(most) && !is_compressed(other) {
        true => format!("without compression ({other_name}: {told_other})"),
        false => format!("with {other_name} ({told_other})"),
    };
    let price = match p50.overlaps(other_p50) {
        _ if name == other_name => String::new(),
        true => format!(", whose interval overlaps that of reads {compared}"),
        false if p50.value > other_p50.value => {
            let longer = p50.spell(p50.value - other_p50.value);
            format!(", {longer} longer than {compared}")
        }
        false => {
            let less = p50.spell(other_p50.value - p50.value);
            let sooner = reference.sooner(p50, &mut numbers);
            format!(", {less} less than {compared}{sooner}")
        }
    };
    if !price.is_empty() {
        add_wide_rivals(&mut numbers, p50s(&reference.rivals), other_p50);
    }
    let reads = reads_of(most);
    let ratio = match tie_of_space(most, candidates) {
        tie if tie.is_empty() => ratio.to_string(),
        tie => format!("{ratio} ({tie})"),
    };
    let brief = format!("{name}: data ÷ space {ratio}; {reads} take {told_p50} (p50){price}");
    let text = format!(
        "{name} takes the least space: data ÷ space {ratio}. {}",
        as_sentence(&format!("{reads} take {told_p50} (p50){price}"))
    );
    // A first screen that has no room for all of it cuts the end.
    let (instead, than) = match price.is_empty() {
        true => (String::new(), String::new()),
        false => (format!(" instead of {told_other}"), format!(" ({other_name})")),
    };
    let load = reads.trim_end_matches(',');
    let action =
        format!("Least space: {name}, data ÷ space {ratio}; p50 {told_p50}{instead} for {load}{than}");
    let claim = Claim::new(TOPIC, brief, text, numbers).advising(action);
    let claim = claim.unless_disturbed([most, other]);
    Some(claim.under(&name, &judge(most, bounds)))
}

/// What the smallest configuration is compared with: the one that reads soonest without compression, of the same filesystem where there is one.
struct Reference<'c, 'a> {
    cell: &'c Cell<'a>,
    p50: &'c Number,
    /// Those among which it is the soonest.
    rivals: Vec<&'c Cell<'a>>,
    /// All others without compression.
    plain: Vec<&'c Cell<'a>>,
}

impl<'c, 'a> Reference<'c, 'a> {
    fn of(most: &Cell<'_>, candidates: &[&'c Cell<'a>]) -> Option<Self> {
        let plain: Vec<&'c Cell<'a>> = candidates
            .iter()
            .copied()
            .filter(|cell| !is_compressed(cell))
            .collect();
        let is_same = |cell: &&&'c Cell<'a>| kind(cell) == kind(most);
        let same = plain.iter().filter(is_same).copied().collect();
        let groups: [Vec<&'c Cell<'a>>; 3] = [same, plain.clone(), candidates.to_vec()];
        let found = groups.into_iter().find_map(|group| {
            let (cell, p50) = best(group.iter().copied(), &LATENCY.p50)?;
            Some((cell, p50, group))
        });
        let (cell, p50, rivals) = found?;
        let without = |mut cells: Vec<&'c Cell<'a>>| {
            cells.retain(|other| !std::ptr::eq(*other, cell));
            cells
        };
        Some(Self {
            cell,
            p50,
            rivals: without(rivals),
            plain: without(plain),
        })
    }

    /// Which other configuration without compression reads as soon as the smallest or sooner, where that reads sooner than the reference:
    /// `, but ext4 none takes 91.0 µs`, or that the trials do not tell which of the two is sooner. One that may do so, and is hardly known, is
    /// added to the numbers, which then decide nothing.
    fn sooner(&self, p50: &Number, numbers: &mut Vec<Number>) -> String {
        add_wide_rivals(numbers, p50s(&self.plain), p50);
        let is_below = |cell: &&&Cell<'_>| {
            let number = cell.number(&LATENCY.p50);
            number.is_some_and(|number| number.value < p50.value && !number.overlaps(p50))
        };
        // What is sooner for certain says more than what may be sooner still.
        let certain = best(self.plain.iter().filter(is_below).copied(), &LATENCY.p50);
        let soonest = certain.or_else(|| {
            let soonest = best(self.plain.iter().copied(), &LATENCY.p50);
            soonest.filter(|(_, number)| number.overlaps(p50))
        });
        soonest.map_or_else(String::new, |(cell, number)| {
            let (name, takes) = (configuration(cell), number.told());
            match number.overlaps(p50) {
                true => format!("; {name} takes {takes}, whose interval overlaps that of {p50}"),
                false => format!(", but {name} takes {takes}"),
            }
        })
    }
}

/// The reads that were measured: `cold 4 KiB random reads, one at a time,`.
fn reads_of(cell: &Cell<'_>) -> String {
    let size = cell
        .get(&IO_BLOCK_SIZE)
        .map_or_else(String::new, |size| format!(" {}", format_bytes(size.0)));
    let is_alone = is_closed(cell) && cell.is(&JOBS, &1) && cell.is(&QUEUE_DEPTH, &1);
    let alone = if is_alone { ", one at a time," } else { "" };
    format!("cold{size} random reads{alone}")
}
