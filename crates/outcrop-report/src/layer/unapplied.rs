//! Limits that a layer's advice does not go by: it says so, so that nobody takes it for advice within them.

use outcrop_schema::kv;

use crate::answer::{Answer, Caution, Gravity};
use crate::number::enumerated;
use crate::placement::{Bounds, Limit};
use crate::report::LayerSection;

const IN_NO_LAYER: &str = "any layer of this run: no advice depends on such a figure";
const IN_NO_STORE: &str = "any layer of this run: for that, a store that has codecs must be measured with two of them, or with one and without compression (`--compression none,lz4`); the ratio and prices need the latter, on a filesystem that does not compress";

/// A layer's section, and the limits that its advice keeps or says that it breaks.
pub(super) type Bounded = (LayerSection, &'static [Limit]);

/// The sections, each of which names the limits that it does not apply. Where no layer of the run applies one, that is a warning: the answer
/// is as if the limit had not been given.
pub(super) fn named(sections: Vec<Bounded>, bounds: &Bounds<'_>) -> Vec<LayerSection> {
    let of_all: Vec<Limit> = sections
        .iter()
        .flat_map(|(_, limits)| limits.iter().copied())
        .collect();
    let by_none = bounds.besides(&of_all);
    let mut sections = sections;
    for (section, limits) in &mut sections {
        // What was measured on other data is under no limits at all.
        if section.measured_instead.is_some() {
            continue;
        }
        let left: Vec<String> = bounds
            .besides(limits)
            .into_iter()
            .filter(|limit| !by_none.contains(limit))
            .collect();
        let what = format!(
            "the layer {}, whose advice does not depend on such a figure",
            section.layer
        );
        let note = sentence(&left, &what).map(Caution::note);
        section.answer.cautions.extend(note);
    }
    let has_stores = sections
        .iter()
        .any(|(section, _)| section.layer == kv::SCHEMA.name);
    if let Some((first, _)) = sections.first_mut() {
        let what = if has_stores { IN_NO_STORE } else { IN_NO_LAYER };
        let unused: Vec<String> = by_none.into_iter().chain(bounds.unused_prices()).collect();
        let warning = sentence(&unused, what).map(Caution::warning);
        warning
            .into_iter()
            .for_each(|warning| add(&mut first.answer, warning));
    }
    sections.into_iter().map(|(section, _)| section).collect()
}

/// `--p99 1ms does not apply to …`; none of no limit.
fn sentence(limits: &[String], what: &str) -> Option<String> {
    let (verb, limits) = match limits {
        [] => return None,
        [one] => ("does", one.clone()),
        several => ("do", enumerated(several)),
    };
    Some(format!("{limits} {verb} not apply to {what}."))
}

/// Adds a warning behind those that are graver.
fn add(answer: &mut Answer, warning: Caution) {
    let is_graver = |caution: &Caution| caution.is_warning() && caution.gravity > Gravity::Doubt;
    let place = answer.cautions.iter().position(|caution| !is_graver(caution));
    answer
        .cautions
        .insert(place.unwrap_or(answer.cautions.len()), warning);
}
