//! The answer in sentences: what to do, what it gives and costs, how sure it is, what would change it.

use outcrop_schema::kv::{self, Constraints, MARGIN};

use super::Essential;
use super::bounds::Kept;
use super::candidate::{Candidate, CompressedAt};
use super::choice::{Choice, Sureness, left_open, ratio, saves_more};
use super::doubt::Race;
use super::hardware::{DRIVE_CAPACITY, Modelled};
use super::limits::{Limits, asked};
use super::{open, system};
use crate::change::{Changes, Difference, percent as changed};
use crate::command::Commands;
use crate::finding::as_sentence;
use crate::layer::kv::takes;
use crate::layer::undecided::WIDEST_PERCENT;
use crate::number::counted;

/// Other answers that are named where they are left open.
const MOST_OPEN: usize = 2;

/// What was measured, and how to measure more of it.
pub(super) struct Measured {
    /// Which data, and which store under which load.
    pub(super) subject: String,
    /// How many records of which data.
    pub(super) records: String,
    /// The engine of the store.
    pub(super) engine: String,
    /// What the load leaves out, as a sentence with a blank before it; empty for nothing.
    pub(super) condition: &'static str,
    /// What all comparisons say together.
    pub(super) race: Race,
    /// The command that repeats it with more trials; none where the run is not kept.
    pub(super) again: Option<String>,
    /// What other commands about the run are made of.
    pub(super) commands: Commands,
}

/// An answer in sentences, the most important first, and what of it is said in any case.
pub(super) struct Said {
    pub(super) answer: Vec<String>,
    pub(super) essentials: Vec<Essential>,
    pub(super) is_decided: bool,
}

/// All that is said.
pub(super) fn answer(
    study: &Measured,
    candidates: &[Candidate],
    choice: &Choice,
    limits: &Limits,
    modelled: &Modelled,
) -> Said {
    let Some(place) = choice.best else {
        return Said {
            answer: vec![open::nothing(candidates, limits)],
            essentials: Vec::new(),
            is_decided: false,
        };
    };
    let best = &candidates[place];
    let plain = candidates
        .iter()
        .find(|candidate| candidate.place == CompressedAt::Nowhere);
    let [more, second] = [choice.saves_more, choice.second].map(|one| one.map(|one| &candidates[one]));
    let is_open =
        open::by_limits(candidates, choice, limits).is_some() || open::by_log(candidates, choice).is_some();
    let is_decided = !is_open && !is_uncertain(best, choice);
    let sureness = choice.sureness.filter(|_| is_decided);
    let is_clear = sureness == Some(Sureness::Clear);
    let gives = plain
        .filter(|plain| plain.place != best.place)
        .map(|plain| gives(best, plain));
    let sure = sureness.map(|sureness| sure(candidates, choice, best, sureness, &study.race));
    let short = |(sentence, short): (&String, Option<String>)| {
        let sentence = sentence.clone();
        Some(Essential {
            sentence,
            short: short?,
        })
    };
    let not_clear = (sureness == Some(Sureness::NotClear)).then(|| "This is not clear.".to_owned());
    let of_sureness = sure.as_ref().map(|sentence| (sentence, not_clear));
    let of_changes = gives.as_ref().map(|(sentence, uncertain)| {
        let short = uncertain.as_ref();
        let short = short.map(|what| format!("Not certain, compared with no compression: {what}."));
        (sentence, short)
    });
    let measured = format!("Measured: {}.{}", study.subject, study.condition);
    let is_unread = !study.condition.is_empty() && best.place == CompressedAt::Filesystem;
    let not_read = "Reads came from memory: these figures contain little of its decompression.";
    let of_reads = is_unread.then(|| (&measured, Some(not_read.to_owned())));
    let of_data = Some((&measured, Some(format!("Measured: {}.", study.records))));
    let essentials = [of_sureness, of_changes, of_reads, of_data].into_iter().flatten();
    let essentials = essentials.filter_map(short).collect();
    let sentences = [
        Some(instruction(study, best, choice, candidates, limits)),
        gives.map(|(sentence, _)| sentence),
        sure,
        next(best, second, plain, candidates, limits),
        more.map(|more| change(more, limits, &study.commands)),
        (!is_clear).then(|| narrower(study, candidates, choice)),
        study.race.effort(),
        hardware(best, modelled, limits, &study.commands).filter(|_| is_decided),
        Some(measured),
    ];
    Said {
        answer: sentences.into_iter().flatten().collect(),
        essentials,
        is_decided,
    }
}

/// Said where nothing was measured without compression.
pub(super) fn no_reference(state: &str) -> String {
    format!(
        "Where to compress cannot be said here: the directory's own filesystem compresses already ({state}). So nothing was measured without \
         compression, and its files do not show how many bytes they take. Choose a directory that is not compressed, or run as root: then Outcrop \
         makes a filesystem for each trial."
    )
}

/// Whether its throughput is known too badly to decide anything, where that decides.
fn is_uncertain(best: &Candidate, choice: &Choice) -> bool {
    let percent = best.throughput.plus_minus_percent();
    !choice.is_only && percent.is_some_and(|percent| percent > WIDEST_PERCENT)
}

fn instruction(
    study: &Measured,
    best: &Candidate,
    choice: &Choice,
    candidates: &[Candidate],
    limits: &Limits,
) -> String {
    let savers = || candidates.iter().filter(|candidate| saves_more(candidate, best));
    let what = match best.place {
        CompressedAt::Nowhere if choice.saves_more.is_some() => {
            "do not compress where throughput matters: everything that saves space was slower in these trials"
                .to_owned()
        }
        CompressedAt::Nowhere if savers().any(|candidate| candidate.may_keep) => {
            "do not compress: nothing that is known to keep the limits saves space".to_owned()
        }
        CompressedAt::Nowhere if savers().any(|candidate| candidate.left_out.is_some()) => {
            "do not compress: nothing within the limits saves space".to_owned()
        }
        CompressedAt::Nowhere => "do not compress: nothing here saves space".to_owned(),
        CompressedAt::Store => {
            format!(
                "compress in the store's own blocks with {} ({})",
                best.what, study.engine
            )
        }
        CompressedAt::Filesystem => format!("compress in the filesystem with {}", best.what),
        CompressedAt::Accelerator | CompressedAt::Drive => format!("compress in the {}", best.name()),
    };
    if let Some(undecided) = open::by_limits(candidates, choice, limits) {
        return format!("{undecided} So far: {what}.");
    }
    let what = match limits.named() {
        None => what,
        Some(limits) => format!("within {limits}, {what}"),
    };
    if let Some(other) = open::by_log(candidates, choice) {
        let other = as_name(other);
        return format!(
            "Not decided: by the space with the store's log, {what}; by the space without it, the answer would be {other}."
        );
    }
    if is_uncertain(best, choice) {
        // Figures that are too uncertain to act on come before what they would say.
        return format!("Not decided: the throughput differs too much between trials. So far: {what}.");
    }
    as_sentence(&what)
}

/// What a candidate gives and costs beside no compression, and which of the changes are not certain.
fn gives(candidate: &Candidate, plain: &Candidate) -> (String, Option<String>) {
    let mut changes = Changes::default();
    changes.add_shown(kv::THROUGHPUT.name, &candidate.throughput, &plain.throughput);
    let figures = [
        ("read p99", &candidate.p99, &plain.p99),
        ("CPU time per operation", &candidate.cpu, &plain.cpu),
    ];
    for (name, own, other) in figures {
        if let (Some(own), Some(other)) = (own, other) {
            changes.add(name, own, other);
        }
    }
    let sentence = format!(
        "Compared with no compression ({}), it {}; {}.{}",
        plain.what,
        space(candidate, plain),
        changes.listed(),
        changes.caveat()
    );
    (sentence, changes.uncertain())
}

/// `takes 36 % of the space`, and where the log is much of it: `(20 % without the store's log)`.
fn space(candidate: &Candidate, plain: &Candidate) -> String {
    let database = |one: &Candidate| Some((one.stored.as_ref()?.value, one.log_share));
    let both = database(candidate).zip(database(plain));
    both.map_or_else(
        || {
            format!(
                "takes {:.0} % of the space",
                ratio(plain) / ratio(candidate) * 100.0
            )
        },
        |(own, of_plain)| takes(own, of_plain),
    )
}

/// Where and with what, at the beginning of a sentence or within it.
pub(super) fn as_name(candidate: &Candidate) -> String {
    match candidate.place {
        CompressedAt::Nowhere => "no compression".to_owned(),
        place => format!("{} in the {}", candidate.what, place.name()),
    }
}

/// The candidate that comes next, or that there is none.
fn next(
    best: &Candidate,
    second: Option<&Candidate>,
    plain: Option<&Candidate>,
    candidates: &[Candidate],
    limits: &Limits,
) -> Option<String> {
    let Some(second) = second else {
        let is_limited = limits.constraints_from.is_some();
        return is_limited.then(|| open::no_other(candidates));
    };
    let difference = Difference::of(&second.throughput, &best.throughput);
    let throughput = match difference {
        Difference::None => format!("no measurable change in {}", kv::THROUGHPUT.name),
        _ => {
            let change = changed(second.throughput.value, best.throughput.value);
            format!("{} {change}", kv::THROUGHPUT.name)
        }
    };
    let answer = match best.place {
        CompressedAt::Nowhere => format!("the answer ({})", best.what),
        _ => "the answer".to_owned(),
    };
    // What does not compress takes all of the space without compression.
    let space = match plain.filter(|plain| plain.place != best.place) {
        _ if second.place == CompressedAt::Nowhere => String::new(),
        Some(plain) => format!(", which {} without compression", space(second, plain)),
        None => format!(", which {}", space(second, best)),
    };
    Some(format!(
        "Second best: {}{space}; {throughput} compared with {answer}{}.",
        as_name(second),
        difference.caveat()
    ))
}

/// What would make the second best the best.
fn change(more: &Candidate, limits: &Limits, commands: &Commands) -> String {
    // Rounded down, so that the candidate itself meets it.
    let least = (ratio(more) * 100.0).floor() / 100.0;
    let asked = asked(&Constraints {
        min_ratio: Some(least),
        ..limits.constraints.clone()
    });
    let command = commands.report(&asked.join(" "));
    format!("It would be the answer if you need a ratio of {least} (`{command}`).")
}

fn sure(
    candidates: &[Candidate],
    choice: &Choice,
    best: &Candidate,
    sureness: Sureness,
    race: &Race,
) -> String {
    if let Some(other) = choice.without_log {
        let other = as_name(&candidates[other]);
        return format!(
            "This is not clear: by the space without the store's log, the answer would be {other}."
        );
    }
    if let Some(budget) = race.budget {
        let percent = race.confidence * 100.0;
        return match sureness {
            Sureness::Clear => format!(
                "This is clear, with {percent:.0} % confidence in all comparisons together: its throughput is within {:.0} % of the highest, and \
                 that of nothing that saves more space is.",
                MARGIN * 100.0
            ),
            Sureness::NotClear => format!(
                "This is not clear: after the budget of {budget}, {} may still be the answer.",
                counted(race.open(), "candidate")
            ),
        };
    }
    let of_limit =
        (best.verdict.kept == Kept::MayBreak).then(|| format!("This is not clear: it {}.", best.verdict.why));
    if let Some(sentence) = of_limit {
        return sentence;
    }
    match (sureness, best.throughput.interval) {
        (Sureness::Clear, _) if choice.is_only => {
            "This is clear: nothing else that was measured keeps the limits.".to_owned()
        }
        (Sureness::Clear, _) => format!(
            "This is clear: nothing that saves more space comes within {:.0} % of the highest throughput, even at the ends of the intervals.",
            MARGIN * 100.0
        ),
        (Sureness::NotClear, None) => "This is not clear: one trial a cell has no interval.".to_owned(),
        (Sureness::NotClear, Some(interval)) => {
            let (percent, n) = (interval.confidence * 100.0, best.throughput.n);
            let basis = format!("the {percent:.0} % intervals of {n} trials a cell");
            let open = open(&left_open(candidates, choice).map(as_name).collect::<Vec<_>>());
            let why = match (open, choice.second) {
                (Some(others), _) => format!("leave {others} open"),
                (None, Some(_)) => "leave no other answer open, but have too little confidence".to_owned(),
                (None, None) => {
                    "have too little confidence to say which candidates keep the limits".to_owned()
                }
            };
            format!("This is not clear: {basis} {why}.")
        }
    }
}

/// Answers that are left open: `another answer (lz4 in the store)`, `3 other answers (…; … and 1 more)`.
fn open(names: &[String]) -> Option<String> {
    let named = names[..names.len().min(MOST_OPEN)].join("; ");
    match names.len() {
        0 => None,
        1 => Some(format!("another answer ({named})")),
        count if count <= MOST_OPEN => Some(format!("{count} other answers ({named})")),
        count => Some(format!(
            "{count} other answers ({named}; and {} more)",
            count - MOST_OPEN
        )),
    }
}

/// What would tell more.
fn narrower(study: &Measured, candidates: &[Candidate], choice: &Choice) -> String {
    if let Some(remedy) = open::remedy(candidates, choice) {
        return remedy.to_owned();
    }
    match &study.again {
        Some(command) => format!("More trials would narrow it: `{command}`."),
        None => "More repetitions would narrow it.".to_owned(),
    }
}

/// The fastest of the modelled candidates within the limits: what it would do, what limits it, and how far the model is to be trusted here.
fn hardware(best: &Candidate, modelled: &Modelled, limits: &Limits, commands: &Commands) -> Option<String> {
    let first = modelled.candidates.first()?;
    let Some(fastest) = modelled.fastest(&limits.constraints) else {
        return Some(format!(
            "According to the model, none of the published hardware keeps the limits; {} would be the fastest.",
            first.what
        ));
    };
    let trust = match (modelled.error.mean(), modelled.error.worst()) {
        (Some(mean), Some(worst)) => format!(
            "the model was {:.0} % off on average and {:.0} % at worst in {} checks here",
            mean * 100.0,
            worst * 100.0,
            modelled.error.checked().len()
        ),
        _ => format!(
            "unvalidated here: `{}` checks the model",
            system::checking(commands)
        ),
    };
    let ratio = fastest.ratio.as_ref().zip(fastest.ratio_of.as_ref());
    let ratio = ratio.map_or_else(String::new, |(ratio, codec)| {
        let capacity = match fastest.place {
            CompressedAt::Drive => format!("; {DRIVE_CAPACITY}"),
            _ => String::new(),
        };
        format!(" Its blocks would have ratio {ratio}, that of {codec} on these data{capacity}.")
    });
    Some(format!(
        "Of the published hardware, {} would be the fastest: throughput {}, {} compared with the answer, limited by {}.{ratio} That is modelled; {trust}.",
        fastest.what,
        fastest.throughput.with_ends(),
        changed(fastest.throughput.value, best.throughput.value),
        fastest.limited_by.unwrap_or_default()
    ))
}
