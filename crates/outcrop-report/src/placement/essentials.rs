//! What a screen says of an answer in any case, however little room it has.

use super::Essential;
use super::candidate::{Candidate, CompressedAt};
use super::choice::Sureness;
use super::gives::Gives;
use super::vague;
use super::words::Measured;

/// The sentences that say what is not certain, and which data it is about.
pub(super) struct Unsure<'s> {
    pub(super) gives: Option<&'s Gives>,
    /// What is known of the candidate that the doubt is about.
    pub(super) known: Option<&'s String>,
    pub(super) sure: Option<(&'s String, Sureness)>,
    pub(super) failed: Option<&'s String>,
    /// What takes less space, and when it would be the answer.
    pub(super) smaller: Option<(&'s String, String)>,
    /// Why no hardware is modelled.
    pub(super) not_modelled: Option<(&'s String, String)>,
    pub(super) measured: &'s String,
}

impl Unsure<'_> {
    /// They with what is said where a screen has no room for them.
    pub(super) fn essentials(&self, study: &Measured, best: &Candidate) -> Vec<Essential> {
        let of_sureness = self.sure.filter(|(_, sureness)| *sureness == Sureness::NotClear);
        // A limit that the answer may break is a part of it, like what it costs.
        let doubt = match vague::at_limit(best) {
            Some(clause) => format!("This is not clear: {clause}."),
            None => "This is not clear.".to_owned(),
        };
        let of_sureness = of_sureness.map(|(sentence, _)| (sentence, doubt));
        let of_checks = self.failed.map(|sentence| (sentence, study.checks.in_short()));
        // What it gives and costs is a part of any advice, and all that a reader has where nothing is decided.
        let of_changes = self.gives.map(|gives| (&gives.sentence, gives.brief.clone()));
        let is_unread = !study.condition.is_empty() && best.place == CompressedAt::Filesystem;
        let not_read = "Reads came from memory: these figures include little of its decompression.";
        let of_reads = is_unread.then(|| (self.measured, not_read.to_owned()));
        let data = format!("Measured: {}.", study.subject);
        let of_known = self.known.map(|sentence| (sentence, sentence.clone()));
        let all = [
            (of_changes, false),
            (of_sureness, false),
            (of_checks, false),
            (of_known, false),
            (of_reads, false),
            (self.smaller.clone(), true),
            (self.not_modelled.clone(), true),
            (Some((self.measured, data.clone())), false),
        ];
        let essential = |(said, can_wait): (Option<(&String, String)>, bool)| {
            let (sentence, short) = said?;
            let of_gives = self.gives.filter(|gives| gives.sentence == *sentence);
            let shortest = match of_gives {
                Some(gives) => Some(gives.briefest.clone()),
                // An answer in the store's own blocks has named the store.
                None if short == data && best.place == CompressedAt::Store => {
                    Some(format!("Measured: {}.", study.in_short))
                }
                None if short == data => Some(format!("Measured: {}, {}.", study.engine, study.in_short)),
                None => None,
            };
            Some(Essential {
                sentence: sentence.clone(),
                short,
                shortest,
                can_wait,
            })
        };
        all.into_iter().filter_map(essential).collect()
    }
}
