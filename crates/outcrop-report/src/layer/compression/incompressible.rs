//! Data that no codec of a run makes smaller.

use outcrop_schema::compression::COMPRESSION_RATIO;

use super::cell::CompressionCell;
use super::wishes::{Candidate, LEAST_RATIO};
use crate::answer::{Claim, NOT_DECIDED};
use crate::number::Number;

/// The candidate of the highest ratio, copies aside.
pub(super) fn highest<'k, 'c, 'a>(all: &'k [Candidate<'c, 'a>]) -> Option<&'k Candidate<'c, 'a>> {
    let codecs = all.iter().filter(|one| !one.cell.is_copy());
    codecs.max_by(|one, other| one.ratio.total_cmp(&other.ratio))
}

/// That a codec may make all the data smaller although it does not do so to the sample; none where the sample shows that none does.
fn beyond_sample(all: &[Candidate<'_, '_>]) -> Option<String> {
    let sampled = all.iter().filter(|one| one.is_sampled() && !one.cell.is_copy());
    let most = |one: &Candidate<'_, '_>| one.cell.number(&COMPRESSION_RATIO).and_then(Number::ends);
    let high = |one: &Candidate<'_, '_>| most(one).map_or(f64::INFINITY, |(_, high)| high);
    let worst = sampled.max_by(|one, other| high(one).total_cmp(&high(other)))?;
    let words = worst.cell.words();
    match most(worst) {
        Some((_, high)) if high < LEAST_RATIO => None,
        Some((_, high)) => Some(format!(
            "on all the data {words} may have a ratio of up to {high:.2}"
        )),
        None => Some(format!("there is no interval for all the data ({words})")),
    }
}

/// What to do with data that no codec makes smaller.
pub(super) fn incompressible(all: &[Candidate<'_, '_>]) -> Claim {
    let highest = all.iter().map(|one| one.ratio).fold(0.0, f64::max);
    if let Some(why) = beyond_sample(all) {
        let brief = format!("no codec saves 2 % of the sample (highest ratio {highest:.2}), but {why}");
        let text = format!("Not decided: {brief}. A larger `--sample-size` decides it.");
        return Claim::new("Compression", format!("{NOT_DECIDED}: {brief}"), text, Vec::new());
    }
    Claim::new(
        "Compression",
        format!("none: no codec saves 2 % (highest ratio {highest:.2})"),
        format!(
            "No codec of this run saves 2 % of these data; the highest ratio is {highest:.2}. They are compressed, encrypted or random."
        ),
        Vec::new(),
    )
    .advising(format!(
        "Store these data uncompressed: no codec saves 2 % (highest ratio {highest:.2})"
    ))
}
