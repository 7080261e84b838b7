//! What the store's log does to an answer that compares space.

use super::Essential;
use super::candidate::Candidate;
use super::words::as_name;
use crate::layer::kv::matters;

/// Said where the log is much of the space that is compared; none where it is not, or is not known.
pub(super) fn essential(candidates: &[Candidate]) -> Option<Essential> {
    let shares = candidates.iter().filter_map(|one| Some((one.log_share?, one)));
    let (most, candidate) = shares.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    matters(most).then(|| Essential {
        sentence: format!(
            "The store's log, which the store does not compress, takes up to {:.0} % of the space ({}): with more records its share falls, and \
             the store's codecs save more.",
            most * 100.0,
            as_name(candidate)
        ),
        short: format!(
            "The log is up to {:.0} % of the space: less with more records.",
            most * 100.0
        ),
        shortest: None,
        can_wait: false,
    })
}
