//! An LSM tree or a B-tree, where a run has both under the same load.

use outcrop_schema::kv::{DURABILITY, ENGINE, OF_ENGINES, THROUGHPUT};
use outcrop_workload::store::{Durability, StoreEngine};

use super::cell::{apart_of_engines, blocks, load_but, with_capability};
use crate::answer::{Claim, NOT_DECIDED};
use crate::cell::{Cell, best};
use crate::change::are_apart;
use crate::number::Number;

/// What was found, by load.
#[derive(Default)]
struct Found<'c, 'a> {
    lsm: Vec<String>,
    b_tree: Vec<String>,
    ties: Vec<String>,
    numbers: Vec<Number>,
    compared: Vec<&'c Cell<'a>>,
    /// Whether a write has reached less in a B-tree than in the LSM tree that it is compared with.
    is_less_durable: bool,
}

impl<'c, 'a> Found<'c, 'a> {
    fn of(cells: &'c [Cell<'a>]) -> Self {
        let mut found = Self::default();
        let b_trees = with_capability(cells).filter(|cell| cell.is(&ENGINE, &StoreEngine::Redb));
        for b_tree in b_trees {
            let (Some((peer, lsm)), Some(number)) = (fastest_lsm(cells, b_tree), b_tree.number(&THROUGHPUT))
            else {
                continue;
            };
            let load = load_but(b_tree, OF_ENGINES);
            let name = format!("{load} ({} and {})", in_full(peer), in_full(b_tree));
            let numbers = [("B-tree", number), ("LSM tree", lsm)];
            let numbers =
                numbers.map(|(tree, number)| number.clone().named(format!("{tree} throughput, {name}")));
            found.numbers.extend(numbers);
            found.compared.extend([peer, b_tree]);
            found.is_less_durable |= peer.get(&DURABILITY) != b_tree.get(&DURABILITY);
            match (are_apart(number, lsm), number.value > lsm.value) {
                (false, _) => found.ties.push(name),
                (true, true) => found.b_tree.push(name),
                (true, false) => found.lsm.push(name),
            }
        }
        found
    }
}

/// The fastest LSM tree that does the same for a write: where none does, of those that sync if the B-tree does.
fn fastest_lsm<'c, 'a>(cells: &'c [Cell<'a>], b_tree: &Cell<'a>) -> Option<(&'c Cell<'a>, &'c Number)> {
    let is_synced = |cell: &Cell<'_>| cell.is(&DURABILITY, &Durability::Synced);
    let peers = with_capability(cells).filter(|peer| {
        let is_lsm = peer.is(&ENGINE, &StoreEngine::Fjall) || peer.is(&ENGINE, &StoreEngine::RocksDb);
        is_lsm && is_synced(peer) == is_synced(b_tree) && peer.is_like(b_tree, OF_ENGINES)
    });
    let alike = peers
        .clone()
        .filter(|peer| peer.get(&DURABILITY) == b_tree.get(&DURABILITY));
    best(alike, &THROUGHPUT).or_else(|| best(peers, &THROUGHPUT))
}

/// A store with what a write has reached there, and all that only engines have: `rocksdb lz4 4KiB logged, bloom bits 0`.
fn in_full(cell: &Cell<'_>) -> String {
    let durability = cell.spelling(&DURABILITY).to_owned();
    let words = [blocks(cell), durability]
        .into_iter()
        .chain(apart_of_engines(cell));
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Which of the two has more throughput, under which loads.
pub(super) fn claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let found = Found::of(cells);
    let part = |name: &str, loads: &[String]| match loads {
        [] => String::new(),
        loads => format!("{name} under {}", loads.join("; ")),
    };
    let parts = [
        part("the LSM tree is faster", &found.lsm),
        part("the B-tree is faster", &found.b_tree),
        part("they tie", &found.ties),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return None;
    }
    let brief = match (found.lsm.len(), found.b_tree.len(), found.ties.len()) {
        (0, 0, _) => format!("{NOT_DECIDED}: they tie under every load"),
        (lsm, b_tree, ties) => format!(
            "LSM tree ahead in {lsm} of {} loads, B-tree in {b_tree}, a tie in {ties}",
            lsm + b_tree + ties
        ),
    };
    let text = format!(
        "Of the same records, {}. redb has no log: without a sync, a crash loses its writes.",
        parts.join("; ")
    );
    let claim = Claim::new("LSM tree or B-tree", brief, text, found.numbers);
    // An instruction needs a winner under every load.
    let claim = match (
        found.lsm.as_slice(),
        found.b_tree.as_slice(),
        found.ties.as_slice(),
    ) {
        ([_, ..], [], []) => claim.advising(format!(
            "Use an LSM tree: it has more throughput than the B-tree under {}",
            found.lsm.join("; ")
        )),
        // One without a log may be faster by what the other's log costs.
        ([], [_, ..], []) if !found.is_less_durable => claim.advising(format!(
            "Use the B-tree (redb): it has more throughput than an LSM tree under {}",
            found.b_tree.join("; ")
        )),
        _ => claim,
    };
    Some(claim.unless_disturbed(found.compared))
}
