//! Our server beside its peers under one load.

use outcrop_measure::metric::Unit;

use crate::finding::{Finding, Verdict};
use crate::layer::cache::cell::Cell;
use crate::layer::cache::figures::OF_PEERS;
use crate::number::Number;

/// Our cells, each with a peer's under the same load.
fn pairs<'c, 'a>(cells: &'c [Cell<'a>], metric: &str) -> Vec<(&'c Cell<'a>, &'c Cell<'a>)> {
    let has = |cell: &&'c Cell<'a>| cell.number(metric).is_some();
    let is_ours = |cell: &&'c Cell<'a>| {
        cell.factor("server") == "outcrop"
            && cell.factor("build") == "this"
            && cell.factor("policy") == "s3-fifo"
    };
    cells
        .iter()
        .filter(is_ours)
        .filter(has)
        .flat_map(|ours| {
            let peers = cells.iter().filter(|cell| cell.rank() > 0).filter(has);
            peers
                .filter(|peer| peer.is_like(ours, &OF_PEERS))
                .map(move |peer| (ours, peer))
        })
        .collect()
}

pub(super) fn less_cpu(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-less-cpu-than-peers";
    const SENTENCE: &str =
        "Our server takes less CPU time per request than each of its peers under the same closed loop.";
    const METRIC: &str = "server_cpu_per_request";
    let mut ratios: Vec<(f64, &Cell<'_>)> = pairs(cells, METRIC)
        .into_iter()
        .filter(|(ours, _)| ours.is_closed_loop())
        .filter_map(|(ours, peer)| Some((ours.value(METRIC)? / peer.value(METRIC)?, peer)))
        .collect();
    ratios.sort_by(|left, right| left.0.total_cmp(&right.0));
    let ([(least, _), ..], [.., (most, peer)]) = (ratios.as_slice(), ratios.as_slice()) else {
        return Finding::not_testable(ID, SENTENCE, "no peer was measured; cache-peers does it");
    };
    let above = ratios.iter().filter(|(ratio, _)| *ratio >= 1.0).count();
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(above == 0),
        tested: format!(
            "ours ÷ peer in {} pairs of cells that differ in the server alone; {above} are 1 or more, the highest beside {} at {}.",
            ratios.len(),
            peer.server(),
            peer.concurrency_words()
        ),
        meaning: "Ours lives in the driver's process, peers in their own: that costs or saves it nothing per request, as all \
                  bytes go through sockets."
            .to_owned(),
        numbers: vec![
            Number::derived("least ratio", *least, Unit::Ratio, ratios.len()),
            Number::derived("greatest ratio", *most, Unit::Ratio, ratios.len()),
        ],
    }
}

pub(super) fn hits_more(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-hits-more-than-peers";
    const SENTENCE: &str = "With the same memory limit our server hits more often than each of its peers.";
    const METRIC: &str = "hit_ratio";
    let evicts = |cell: &Cell<'_>| cell.value("evictions").is_some_and(|count| count > 0.0);
    let mut gains: Vec<(f64, &Cell<'_>)> = pairs(cells, METRIC)
        .into_iter()
        .filter(|(_, peer)| evicts(peer))
        .filter_map(|(ours, peer)| Some((ours.value(METRIC)? - peer.value(METRIC)?, peer)))
        .collect();
    gains.sort_by(|left, right| left.0.total_cmp(&right.0));
    let ([(least, peer), ..], [.., (most, _)]) = (gains.as_slice(), gains.as_slice()) else {
        let reason = "no peer was measured with too little memory for its keys; cache-policies does it";
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(*least > 0.0),
        tested: format!(
            "ours − peer in {} pairs of cells in which the peer evicted, from {:+.2} points (beside {} at {}) to {:+.2}.",
            gains.len(),
            least * 100.0,
            peer.server(),
            peer.factor("memory"),
            most * 100.0
        ),
        meaning: "The limit is what each server was told, not what its process took: see resident memory in the records."
            .to_owned(),
        numbers: vec![
            Number::derived("least gain", *least, Unit::Ratio, gains.len()),
            Number::derived("greatest gain", *most, Unit::Ratio, gains.len()),
        ],
    }
}
