//! The naive implementation: the oracle, and what machines without a faster one run.

pub(super) fn matches(bytes: &[u8], least: u8, greatest: u8, out: &mut Vec<u32>) {
    let positions = (0..)
        .zip(bytes)
        .filter(|&(_, &byte)| least <= byte && byte <= greatest);
    out.extend(positions.map(|(position, _)| position));
}
