//! Which metrics of a cell say nothing that others do not say.

use std::collections::BTreeMap;

use outcrop_workload::ReadWriteMix;

use super::{ARRIVAL, BANDWIDTH, Direction, IOPS, LATENCY, READ_WRITE_MIX};
use crate::factor::FactorRef;

/// Requests are of one size, so that bytes are requests; in a closed loop their number in flight is fixed, so that their mean latency is
/// the inverse of their rate.
pub(super) fn follows(factors: &BTreeMap<String, String>, metric: &str) -> bool {
    let is_bandwidth = BANDWIDTH.all().iter().any(|known| known.name == metric);
    let is_closed = factors
        .get(ARRIVAL.name)
        .is_none_or(|arrival| arrival == "closed");
    is_bandwidth || (is_closed && metric == LATENCY.both.mean.name)
}

/// In a cell of reads alone, `read_iops` says what `iops` says.
pub(super) fn repeats(factors: &BTreeMap<String, String>, metric: &str) -> bool {
    let mix = factors
        .get(READ_WRITE_MIX.name)
        .and_then(|mix| mix.parse::<ReadWriteMix>().ok());
    let pure = Direction::ALL
        .into_iter()
        .find(|direction| mix == Some(direction.mix()));
    pure.is_some_and(|direction| {
        metric
            .strip_prefix(direction.name())
            .is_some_and(|rest| rest.starts_with('_'))
    })
}

/// How many of the requests are reads, and how many are writes, is what the mix asks for.
pub(super) fn set_by(metric: &str) -> &'static [FactorRef] {
    const MIX: &[FactorRef] = &[&READ_WRITE_MIX];
    let of_direction = [IOPS.read, IOPS.write, BANDWIDTH.read, BANDWIDTH.write];
    match of_direction.iter().any(|known| known.name == metric) {
        true => MIX,
        false => &[],
    }
}
