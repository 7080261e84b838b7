//! What the store's log does to an answer that compares space.

use crate::cell::Cell;
use crate::layer::kv::{log_share, matters};

/// Said where the log is much of the space that is compared; none where it is not, or is not known.
pub(super) fn sentence(family: &[&Cell<'_>]) -> Option<String> {
    let shares = family.iter().filter_map(|cell| log_share(cell));
    let most = shares.max_by(f64::total_cmp)?;
    matters(most).then(|| {
        format!(
            "The store's log, which the store does not compress, takes up to {:.0} % of these spaces: with more records its share falls, and the \
             store's codecs save more.",
            most * 100.0
        )
    })
}
