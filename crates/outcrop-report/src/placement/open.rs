//! What limits leave open, in sentences: where nothing keeps them, and where that is not known of what would be the answer.

use outcrop_measure::units::{format_nanoseconds, format_ratio};

use outcrop_schema::kv::{self, COMPRESSION_BLOCK_SIZE};
use outcrop_workload::store::{StoreCodec, StoreEngine};

use super::candidate::{Candidate, CompressedAt};
use super::choice::{Choice, ratio};
use super::limits::Limits;
use super::remedy::Remedy;
use super::words::{Measured, as_name};
use crate::number::{counted, enumerated};
use crate::ties;

/// Candidates that are named; the table has them all.
const MOST_NAMED: usize = 2;

/// Said where nothing that was measured keeps the limits, or nothing is known to.
pub(super) fn nothing(candidates: &[Candidate], study: &Measured, limits: &Limits) -> String {
    let named = limits.named().unwrap_or_default();
    let Some(open) = of_all(candidates) else {
        let nearest = nearest(candidates, &study.uncompressed, limits).concat();
        let others = not_measured(candidates, study, limits).unwrap_or_default();
        return format!("None of the cells compared meets {named}.{nearest}{others}");
    };
    let remedy = candidates.iter().find_map(|candidate| candidate.verdict.remedy);
    let remedy = remedy.map_or_else(String::new, |remedy| format!(" {}", remedy.sentence(study)));
    format!("Not decided: it is not known whether any of the cells compared meets {named}. {open}{remedy}")
}

/// What may have the ratio that nothing measured has, with a blank before it; none where one has it, or none is wanted.
fn not_measured(candidates: &[Candidate], study: &Measured, limits: &Limits) -> Option<String> {
    let wanted = limits.constraints.min_ratio?;
    if candidates.iter().any(|one| ratio(one) >= wanted) {
        return None;
    }
    let mut codecs: Vec<String> = Vec::new();
    for candidate in candidates.iter().filter(|one| !one.is_plain()) {
        // Its blocks are named after it.
        let codec = candidate.what.split(", ").next().unwrap_or_default().to_owned();
        if !codecs.contains(&codec) {
            codecs.push(codec);
        }
    }
    if codecs.is_empty() {
        return None;
    }
    let named = enumerated(&codecs);
    let were = if codecs.len() == 1 { "was" } else { "were" };
    let engine: StoreEngine = study.engine.parse().ok()?;
    let has = |codec: &StoreCodec| {
        codecs
            .iter()
            .any(|name| name.split([':', ' ']).next() == Some(codec.name()))
    };
    let is_lacking = |codec: &StoreCodec| *codec != StoreCodec::None && !has(codec);
    let is_of_filesystem = |one: &Candidate| matches!(one.place, CompressedAt::Filesystem);
    let filesystems = match candidates.iter().any(is_of_filesystem) {
        true => "other filesystems or levels (`filesystem` in a plan)",
        false => "a filesystem that compresses (`outcrop run placement-filesystem`)",
    };
    let others = match engine.codecs().iter().any(is_lacking) {
        true => {
            format!(
                "what may have the ratio: other codecs (`compression` in a plan, or --compression of `outcrop kv`; quick effort measures the \
                 fewest), {filesystems}"
            )
        }
        false => {
            let mut ways = vec![filesystems];
            if kv::has(engine, &COMPRESSION_BLOCK_SIZE) {
                ways.push("larger blocks");
            }
            if engine.codecs().iter().any(|codec| codec.levels().is_some()) {
                ways.push("higher levels");
            }
            if engine != StoreEngine::RocksDb && study.others.is_none() {
                ways.push("another engine (`outcrop kv --engine rocksdb`)");
            }
            format!(
                "{engine} has no other codec; what may have the ratio: {}",
                ways.join(", ")
            )
        }
    };
    Some(format!(" Only {named} {were} measured; {others}."))
}

/// Said where something keeps the limits against one cell without compression and nothing against another, and either may be the fastest.
pub(super) fn by_base(limits: &Limits) -> String {
    let named = limits.named().unwrap_or_default();
    format!(
        "Not decided: whether any of the cells compared meets {named} depends on which cell without compression is the fastest, and that is \
         open. More repetitions would decide it."
    )
}

/// What comes nearest to each of the limits, each with a blank before it: of the candidates, and of the other cells without compression, which are
/// none because one stands for all.
fn nearest(candidates: &[Candidate], uncompressed: &[Candidate], limits: &Limits) -> Vec<String> {
    let constraints = &limits.constraints;
    let name = |one: &Candidate| match uncompressed {
        [_, ..] if one.is_plain() => format!("{} ({})", name(one), one.what),
        _ => name(one),
    };
    let all = || candidates.iter().chain(uncompressed);
    let least = |figure: fn(&Candidate) -> Option<f64>| {
        let known = all().filter_map(|one| Some((one, figure(one)?)));
        known.min_by(|(_, one), (_, other)| one.total_cmp(other))
    };
    let others = |best: &Candidate| {
        let address = std::ptr::from_ref(best);
        all().filter(move |one| !std::ptr::eq(*one, address))
    };
    let by_ratio = constraints.min_ratio.and_then(|_| least(|one| Some(-ratio(one))));
    let by_p99 = constraints
        .p99_ns
        .and_then(|_| least(|one| Some(one.p99.as_ref()?.value)));
    let by_share = constraints.cpu_share.and_then(|_| least(|one| one.cpu_share));
    let sentences = [
        by_ratio.map(|(one, negated)| {
            let ratio = format_ratio(-negated);
            // What does not compress has no ratio that it could lack.
            let ratios = others(one).filter(|other| !other.is_plain());
            let ties = one.ratio.as_ref().map_or_else(String::new, |number| {
                ties::among(number, ratios.map(|other| other.ratio.as_ref()))
            });
            format!(" {} takes the least space: ratio {ratio}{ties}.", name(one))
        }),
        by_p99.map(|(one, p99_ns)| {
            let p99 = format_nanoseconds(p99_ns);
            let ties = one.p99.as_ref().map_or_else(String::new, |number| {
                ties::among(number, others(one).map(|other| other.p99.as_ref()))
            });
            format!(" {} has the lowest p99 of a read: {p99}{ties}.", name(one))
        }),
        by_share.map(|(one, share)| {
            let percent = |share: f64| format!("{:.0} %", share * 100.0);
            let least = percent(share);
            let is_same = |other: &&Candidate| other.cpu_share.map(percent).as_ref() == Some(&least);
            // It ties where it reads the same.
            let ties = match others(one).filter(is_same).count() {
                0 => String::new(),
                count => format!("; ties with {}", counted(count, "other")),
            };
            format!(
                " {} has the lowest share of the CPUs, the kernel's threads included: {least}{ties}.",
                name(one)
            )
        }),
    ];
    sentences.into_iter().flatten().collect()
}

/// Its name at the beginning of a sentence: those of codecs and filesystems stay as they are spelled.
fn name(candidate: &Candidate) -> String {
    match candidate.place {
        CompressedAt::Nowhere => "No compression".to_owned(),
        _ => as_name(candidate),
    }
}

/// The candidates that may keep the limits, as a sentence; none where it is known of all.
fn of_all(candidates: &[Candidate]) -> Option<String> {
    let open: Vec<&Candidate> = candidates.iter().filter(|one| one.may_keep).collect();
    let clause = |(place, one): (usize, &&Candidate)| {
        let name = if place == 0 { name(one) } else { as_name(one) };
        format!("{name} {}", one.verdict.why)
    };
    let named: Vec<String> = open.iter().take(MOST_NAMED).enumerate().map(clause).collect();
    let more = match open.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!open.is_empty()).then(|| format!("{}{more}.", named.join("; ")))
}

/// The figures of what would be the answer if limits were met, or by the space without the log: what is known of it whatever is open. None where
/// nothing is open, or that is no compression.
pub(super) fn figures(candidates: &[Candidate], choice: &Choice) -> Option<String> {
    let one = &candidates[choice.if_kept.or(choice.without_log)?];
    let others = [("read p99", one.p99.as_ref()), one.told_cpu(None)];
    let others = others
        .iter()
        .filter_map(|(what, number)| Some(format!(", {what} {}", (*number)?.with_ends())));
    (!one.is_plain()).then(|| {
        let of_one = match one.throughput.rests_on_one_trial() {
            true => " (one trial: not certain)",
            false => "",
        };
        format!(
            "{} {}; throughput {}{}{of_one}.",
            name(one),
            one.takes(),
            one.throughput.with_ends(),
            others.collect::<String>()
        )
    })
}

/// Said where the limits alone leave one answer.
pub(super) fn no_other(candidates: &[Candidate]) -> String {
    match of_all(candidates) {
        None => "No other candidate meets the limits.".to_owned(),
        Some(open) => format!("No other candidate is known to meet the limits. {open}"),
    }
}

/// What would be the answer if it kept the limits, as the beginning of one; none where that changes nothing.
pub(super) fn by_limits(candidates: &[Candidate], choice: &Choice, limits: &Limits) -> Option<String> {
    let answer = &candidates[choice.if_kept?];
    let open = deciding(candidates, choice)?;
    let named = limits.named()?;
    let (name, why) = (as_name(answer), &open.verdict.why);
    Some(match answer.may_keep {
        true => format!("Not decided: {name} would be the answer if it met {named}; it {why}."),
        false => {
            let open = as_name(open);
            format!("Not decided: {name} would be the answer if {open} met {named}; that one {why}.")
        }
    })
}

/// The candidate on whose limits the answer depends.
fn deciding<'c>(candidates: &'c [Candidate], choice: &Choice) -> Option<&'c Candidate> {
    let answer = &candidates[choice.if_kept?];
    let mut open = candidates.iter().filter(|one| one.may_keep);
    if answer.may_keep {
        Some(answer)
    } else {
        open.next()
    }
}

/// The answer by the space without the store's log, where that is another place to compress than the best: then the log decides, and not the
/// data.
pub(super) fn by_log<'c>(candidates: &'c [Candidate], choice: &Choice) -> Option<&'c Candidate> {
    let (other, best) = (&candidates[choice.without_log?], &candidates[choice.best?]);
    (other.place != best.place).then_some(other)
}

/// What would decide it, where that is not more trials.
pub(super) fn remedy(candidates: &[Candidate], choice: &Choice) -> Option<Remedy> {
    let by_log = choice.without_log.map(|_| Remedy::MoreRecords);
    by_log.or_else(|| deciding(candidates, choice)?.verdict.remedy)
}
