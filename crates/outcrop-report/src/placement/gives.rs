//! What the answer gives and costs, in words.

use outcrop_schema::kv;

use super::candidate::Candidate;
use crate::change::Changes;

/// What a candidate gives and costs, in words.
pub(super) struct Gives {
    pub(super) sentence: String,
    /// The same without the figures of throughput: space first, then what is certain of the rest.
    pub(super) brief: String,
    /// The same with a shorter name of the cell that it is compared with.
    pub(super) briefest: String,
}

impl Gives {
    /// What a candidate gives and costs beside no compression, and which of the changes are not certain.
    pub(super) fn of(candidate: &Candidate, plain: &Candidate) -> Self {
        let [mut changes, mut bare] = [Changes::default(), Changes::default()];
        changes.add_shown(kv::THROUGHPUT.name, &candidate.throughput, &plain.throughput);
        bare.add(kv::THROUGHPUT.name, &candidate.throughput, &plain.throughput);
        let (cpu, own_cpu) = candidate.told_cpu(Some(plain));
        let (_, cpu_of_plain) = plain.told_cpu(Some(candidate));
        let figures = [
            ("read p99", candidate.p99.as_ref(), plain.p99.as_ref()),
            (cpu, own_cpu, cpu_of_plain),
        ];
        for (name, own, other) in figures {
            if let (Some(own), Some(other)) = (own, other) {
                changes.add(name, own, other);
                bare.add(name, own, other);
            }
        }
        let sentence = format!(
            "Compared with no compression ({}), it {}; {}.{}",
            plain.what,
            candidate.takes(),
            changes.listed(),
            changes.caveat()
        );
        let base = match candidate.ratio_without_log {
            Some(_) => ", compared with no compression",
            None => " without compression",
        };
        // Even where nothing changed, what was compared is named: a load, for one, was not.
        let costs = format!("; {}.", bare.in_brief());
        let takes = candidate.takes();
        let (bare_base, bare_takes) = (
            plain.what.trim_start_matches("blocks of "),
            takes.trim_start_matches("takes "),
        );
        Self {
            sentence,
            brief: format!("It {takes}{base} ({}){costs}", plain.what),
            briefest: format!("Compared with none ({bare_base}): {bare_takes}{costs}"),
        }
    }
}
