//! Compression under open loops alone: their schedule sets the throughput, so that nothing says what compression costs of it.

use outcrop_schema::kv::{LATENCY, READ_LATENCY, STORED_BYTES};

use super::cell::{blocks, is_closed_loop, load, overload, pairs};
use super::space::taken;
use crate::answer::{Claim, NOT_DECIDED};
use crate::cell::Cell;
use crate::change;
use crate::placement::Bounds;

/// What compressing saves and does to the latency, of the codec that saves most; no figure of it decides anything.
pub(super) fn compression(cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Option<Claim> {
    let open = pairs(cells).into_iter().filter(|(cell, _)| !is_closed_loop(cell));
    let known = open.filter_map(|(cell, plain)| {
        let saved = plain.value(&STORED_BYTES)? / cell.value(&STORED_BYTES)?;
        Some((saved, cell, plain))
    });
    let (_, cell, plain) = known.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let (codec, base) = (blocks(cell), blocks(plain));
    let takes = taken(cell, plain)?;
    // Where there is room for one of the two, it is the latency: that is what an open loop is for.
    let (change, figures) = latency(cell, plain).unwrap_or_default();
    let brief = format!(
        "{NOT_DECIDED}: only a closed loop compares throughput; {codec}: {change}{takes} (compared with {base})"
    );
    let text = format!(
        "Not decided: the schedule of an open loop sets its throughput, so only a closed loop (`--arrival closed`) shows what compression costs. Under \
         one schedule, {codec} compared with {base}: {figures}{takes} ({}).",
        load(cell)
    );
    // More trials of an open loop do not decide it, however well its figures are known.
    let claim = Claim::new("Compress blocks", brief, text, Vec::new());
    Some(claim.under(&codec, &bounds.judge_store(cell, Some(plain))))
}

/// What becomes of the 99th percentile, in short and with its figures, each with a comma behind it; none of an overload.
fn latency(cell: &Cell<'_>, plain: &Cell<'_>) -> Option<(String, String)> {
    if overload(cell).is_some() || overload(plain).is_some() {
        return None;
    }
    let percentiles = [("read p99", READ_LATENCY.p99), ("p99", LATENCY.p99)];
    percentiles.iter().find_map(|(name, metric)| {
        let (own, other) = (cell.number(metric)?, plain.number(metric)?);
        let change = change::words(name, own, other);
        Some((
            format!("{change}, "),
            format!("{change} ({own} instead of {other}), "),
        ))
    })
}
