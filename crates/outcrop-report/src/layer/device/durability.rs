//! What it costs to make writes durable: the same writes with each sync policy, compared with those that wait for none.

use std::cmp::Ordering;

use outcrop_measure::metric::Unit;
use outcrop_schema::device::{Direction, IOPS, SYNC};
use outcrop_workload::{Durability, SyncCall};

use super::advice::{claim, of_the_device};
use super::cell::{DeviceCell, P99};
use crate::answer::{Claim, NOT_DECIDED};
use crate::cell::{Cell, families};
use crate::change::UNCERTAIN_MARGIN;
use crate::number::Number;

/// The cost of each policy, for the smallest access at the least depth that was measured both with and without.
pub(super) fn cost(cells: &[Cell<'_>]) -> Option<Claim> {
    let writes = cells
        .iter()
        .filter(|cell| cell.only() == Some(Direction::Write) && cell.is_closed_loop());
    let compared = |family: &Vec<&Cell<'_>>| {
        let has = |synced: bool| family.iter().any(|cell| cell.is_synced() == synced);
        has(true) && has(false)
    };
    // Cells are in the order of size and depth.
    let family = families(writes, &[&SYNC]).into_iter().find(compared)?;
    let unsynced = *family.iter().find(|cell| !cell.is_synced())?;
    let base = unsynced.number(&IOPS.both)?;
    let mut costs: Vec<Cost> = family.iter().filter_map(|cell| Cost::of(cell, base)).collect();
    costs.sort_by(|one, other| {
        other
            .of_unsynced
            .value
            .partial_cmp(&one.of_unsynced.value)
            .unwrap_or(Ordering::Equal)
    });
    let first = costs.first()?;
    let depth = unsynced.depth_words();
    let others = unsynced.circumstances_but_for(&SYNC);
    let place = format!("{depth}{}{others}", unsynced.access_apart());
    let briefs: Vec<String> = costs.iter().map(Cost::brief).collect();
    let brief = format!("{place}: {}", briefs.join("; "));
    let mut texts = vec![first.text(&format!(
        " of unsynced {} at {depth}{others} ({base})",
        unsynced.requests()
    ))];
    texts.extend(costs.iter().skip(1).map(|cost| cost.text("")));
    let text = format!("{}.", texts.join("; "));
    let mut numbers = vec![base.clone().named(format!("IOPS of unsynced writes at {depth}"))];
    // What is known comes first, where a narrow screen still has room.
    let (known, open): (Vec<_>, Vec<_>) = costs.iter().partition(|cost| cost.times_slower().is_some());
    let mut slower: Vec<String> = known.iter().filter_map(|cost| cost.times_slower()).collect();
    if let Some(first) = slower.first_mut() {
        first.push_str(" times slower than without a sync");
    }
    slower.extend(open.iter().map(|cost| format!("{} {NOT_DECIDED}", cost.policy)));
    let is_any_known = !known.is_empty();
    // A tail that is known badly says so itself, and leaves the share of the IOPS what it is.
    numbers.extend(costs.into_iter().map(|cost| cost.of_unsynced));
    let claim = of_the_device(claim("Durability", brief, text, numbers), &family);
    let is_known = is_any_known && claim.is_decided();
    Some(Claim {
        known_anyway: is_known.then(|| format!("{place}: {}", slower.join("; "))),
        ..claim
    })
}

/// What a policy leaves of the unsynced IOPS, and its tail.
struct Cost {
    policy: String,
    of_unsynced: Number,
    p99: Option<Number>,
}

impl Cost {
    fn of(cell: &Cell<'_>, base: &Number) -> Option<Self> {
        let policy = words(*cell.get(&SYNC).filter(|sync| !sync.is_none())?);
        let inputs = [cell.number(&IOPS.both)?, base];
        let name = format!("IOPS with {policy} ÷ unsynced IOPS");
        let of_unsynced = Number::computed(&name, Unit::Ratio, &inputs, |values| values[0] / values[1]);
        Some(Self {
            of_unsynced,
            p99: cell.directed(Direction::Write, &P99).cloned(),
            policy,
        })
    }

    /// Between how many times slower writes are with it: `O_DSYNC 7 to 22`; none where the interval holds a tie.
    fn times_slower(&self) -> Option<String> {
        let (low, high) = self.of_unsynced.ends()?;
        let is_apart = low > 0.0 && high < 1.0 - UNCERTAIN_MARGIN;
        let digits = usize::from(1.0 / high < 3.0);
        let [least, most] = [high, low].map(|share| format!("{:.digits$}", 1.0 / share));
        let times = match least == most {
            true => format!("about {least}"),
            false => format!("{least} to {most}"),
        };
        is_apart.then(|| format!("{} {times}", self.policy))
    }

    /// In whole percent where that says enough.
    fn share(&self) -> String {
        let percent = self.of_unsynced.value * 100.0;
        let digits = usize::from(percent < 10.0);
        format!("{percent:.digits$} %")
    }

    fn tail(&self) -> String {
        let p99 = self.p99.as_ref();
        p99.map_or_else(String::new, |p99| format!(", p99 {}", p99.with_ends()))
    }

    fn brief(&self) -> String {
        format!(
            "{} {} of the unsynced IOPS{}",
            self.policy,
            self.share(),
            self.tail()
        )
    }

    fn text(&self, of_what: &str) -> String {
        format!(
            "{}: {} of the IOPS{of_what}{}",
            self.policy,
            self.share(),
            self.tail()
        )
    }
}

/// A policy as a person would ask for it: `fsync after each write`.
fn words(durability: Durability) -> String {
    match durability {
        Durability::None => "no sync".to_owned(),
        Durability::Dsync => "O_DSYNC".to_owned(),
        Durability::After { writes, call } => {
            let call = match call {
                SyncCall::Fdatasync => "fdatasync",
                SyncCall::Fsync => "fsync",
            };
            match writes.get() {
                1 => format!("{call} after each write"),
                several => format!("{call} after every {several} writes"),
            }
        }
    }
}
