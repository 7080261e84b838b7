//! The answer in sentences: what to do, what it gives and costs, how sure it is, what would change it.

use outcrop_results::RunView;
use outcrop_schema::kv::{self, MARGIN, SAME_SPACE};
use outcrop_workload::keyed::OperationKind;

use super::Essential;
use super::candidate::{self, Candidate, CompressedAt};
use super::checks::Checks;
use super::choice::{Choice, Sureness, left_open, saves_more};
use super::doubt::{self, Race};
use super::essentials::Unsure;
use super::gives::Gives;
use super::hardware::Modelled;
use super::limits::Limits;
use super::open;
use super::others::{self, NotCompared};
use super::rivals::Rivals;
use super::subject;
use super::vague;
use crate::cell::Cell;
use crate::command::{Commands, More};
use crate::finding::as_sentence;

/// Other answers that are named where they are left open.
const MOST_OPEN: usize = 2;

/// What was measured, and how to measure more of it.
pub(super) struct Measured {
    /// Which data, and which store under which load.
    pub(super) subject: String,
    /// The same in few words.
    pub(super) in_short: String,
    /// The number of them; none where that is not known.
    pub(super) record_count: Option<f64>,
    /// The cells without compression that are no candidates, because one stands for all.
    pub(super) uncompressed: Vec<Candidate>,
    /// Whether the load has reads, of which a limit on the p99 is.
    pub(super) has_reads: bool,
    /// The engine of the store.
    pub(super) engine: String,
    /// Which other stores were measured, and are not compared.
    pub(super) others: Option<NotCompared>,
    /// Which other cells of the store, as one sentence; none where there are none.
    pub(super) other_cells: Option<String>,
    /// Which cells have nothing but failed trials, as one sentence; none where there are none.
    pub(super) failed_cells: Option<String>,
    /// What the load leaves out, as a sentence with a blank before it; empty for nothing.
    pub(super) condition: &'static str,
    /// What all comparisons say together.
    pub(super) race: Race,
    /// What failed for the cells that are compared.
    pub(super) checks: Checks,
    /// How to measure more of it.
    pub(super) more: More,
    /// What other commands about the run are made of.
    pub(super) commands: Commands,
}

impl Measured {
    pub(super) fn of(
        (run, limits): (&RunView, &Limits),
        (cells, family): (&[Cell<'_>], &[&Cell<'_>]),
        (candidates, cpus): (&[Candidate], Option<u64>),
        race: Race,
        checks: Checks,
    ) -> Self {
        let is_compared = |one: &Candidate| candidates.iter().any(|candidate| candidate.cell == one.cell);
        let mut uncompressed = candidate::measured(family, cpus);
        uncompressed.retain(|one| one.is_plain() && !is_compared(one));
        let trials = candidates.iter().map(|candidate| candidate.throughput.n).max();
        Self {
            subject: subject::subject(family),
            in_short: subject::in_short(family),
            record_count: family.first().and_then(|cell| cell.place(&kv::RECORDS)),
            uncompressed,
            has_reads: family.iter().any(|cell| {
                let workload = cell.get(&kv::WORKLOAD);
                workload.is_none_or(|workload| workload.mix().has(OperationKind::Read))
            }),
            engine: subject::engine(family),
            others: NotCompared::of(cells, family),
            other_cells: others::other_cells(cells, family),
            failed_cells: others::failed_cells(run),
            condition: candidate::condition(family),
            more: race.more(trials.unwrap_or(0)),
            commands: Commands::of(run)
                .under(&limits.flags())
                .resuming_if(run.lacks_trials(kv::SCHEMA.name, 0)),
            race,
            checks,
        }
    }

    /// Whether a sentence says what is not compared.
    pub(super) fn is_not_compared(&self, sentence: &str) -> bool {
        let of_others = self.others.as_ref().map(|others| others.sentence.as_str());
        [
            of_others,
            self.other_cells.as_deref(),
            self.failed_cells.as_deref(),
        ]
        .contains(&Some(sentence))
    }
}

/// An answer in sentences, the most important first, and what of it is said in any case.
#[derive(Default)]
pub(super) struct Said {
    pub(super) answer: Vec<String>,
    pub(super) essentials: Vec<Essential>,
    pub(super) is_decided: bool,
    /// How sure it is, where it is decided.
    pub(super) sureness: Option<Sureness>,
    pub(super) next: Option<Next>,
}

/// The sentence of an answer that says how to measure more, for a screen that has one such command for all layers.
#[derive(Clone, Debug)]
pub(crate) struct Next {
    pub(crate) sentence: String,
    pub(crate) more: More,
}

impl Next {
    /// None where more trials would not tell.
    fn of((sentence, more): (String, Option<More>)) -> Option<Self> {
        let more = more?;
        Some(Self { sentence, more })
    }
}

/// All that is said, and of which store it is, where the run has several.
pub(super) fn answer(
    study: &Measured,
    candidates: &[Candidate],
    choice: &Choice,
    limits: &Limits,
    modelled: &Modelled,
) -> Said {
    let mut said = of_store(study, candidates, choice, limits, modelled);
    for sentence in [&study.other_cells, &study.failed_cells].into_iter().flatten() {
        said.answer.push(sentence.clone());
        said.essentials.push(Essential {
            sentence: sentence.clone(),
            short: sentence.clone(),
            shortest: None,
            can_wait: false,
        });
    }
    match &study.others {
        Some(others) => others.added_to(said, &study.engine),
        None => said,
    }
}

/// What is said where nothing is chosen, with the figures of what would be if limits were known to be met.
fn of_nothing(study: &Measured, candidates: &[Candidate], choice: &Choice, limits: &Limits) -> Said {
    let first = match choice.is_left_to_base {
        true => open::by_base(limits),
        false => open::nothing(candidates, study, limits),
    };
    let figures = open::figures(candidates, choice);
    let essential = figures.clone().map(|sentence| Essential {
        short: sentence.clone(),
        sentence,
        shortest: None,
        can_wait: false,
    });
    let condition = Some(study.condition.trim_start()).filter(|condition| !condition.is_empty());
    let of_reads = condition.map(|sentence| Essential {
        sentence: sentence.to_owned(),
        short: "Reads came from memory: these figures include little of a filesystem's decompression."
            .to_owned(),
        shortest: None,
        can_wait: false,
    });
    Said {
        answer: std::iter::once(first)
            .chain(figures)
            .chain(condition.map(str::to_owned))
            .collect(),
        essentials: essential.into_iter().chain(of_reads).collect(),
        ..Said::default()
    }
}

fn of_store(
    study: &Measured,
    candidates: &[Candidate],
    choice: &Choice,
    limits: &Limits,
    modelled: &Modelled,
) -> Said {
    let Some(place) = choice.best else {
        return of_nothing(study, candidates, choice, limits);
    };
    let best = &candidates[place];
    let plain = candidates.iter().find(|one| one.is_plain());
    let is_vague = vague::why(candidates, choice, &study.race).is_some();
    let is_decided = !is_open(candidates, choice, limits) && !is_vague;
    let sureness = choice.sureness.filter(|_| is_decided);
    let is_clear = sureness == Some(Sureness::Clear);
    let gives = plain.filter(|plain| plain.place != best.place);
    let gives = gives.map(|plain| Gives::of(best, plain));
    let sure = sureness.map(|sureness| {
        let sentence = sure(candidates, choice, best, sureness, (study, limits));
        vague::with_limit(sentence, best, sureness)
    });
    let failed = study.checks.sentence();
    let rivals = Rivals {
        candidates,
        choice,
        best,
        plain,
        limits,
        commands: &study.commands,
        race: &study.race,
    };
    let measured = format!("Measured: {}.{}", study.subject, study.condition);
    let known = open::figures(candidates, choice).filter(|_| !is_decided);
    let smaller = rivals.smaller();
    let hardware = modelled.sentence(best, limits, &study.commands);
    let hardware = hardware.filter(|_| is_decided || modelled.candidates.is_empty());
    let unsure = Unsure {
        gives: gives.as_ref(),
        known: known.as_ref(),
        sure: sure.as_ref().zip(sureness),
        failed: failed.as_ref(),
        smaller: smaller.as_ref().zip(rivals.smaller_in_short()),
        not_modelled: hardware.as_ref().zip(modelled.none_in_short()),
        measured: &measured,
    };
    let essentials = unsure.essentials(study, best);
    let next = (!is_clear).then(|| narrower(study, candidates, choice));
    let (behind_checks, at_end) = in_place(next.as_ref(), study);
    let sentences = [
        Some(instruction(study, best, choice, candidates, limits)),
        gives.map(|gives| gives.sentence),
        known,
        sure,
        failed,
        behind_checks,
        rivals.second(),
        smaller,
        at_end,
        study.race.effort(),
        hardware,
        Some(measured),
    ];
    Said {
        answer: sentences.into_iter().flatten().collect(),
        essentials,
        is_decided,
        sureness,
        next: next.and_then(Next::of),
    }
}

/// How to measure where the directory's own filesystem compresses.
pub(crate) const UNCOMPRESSED_GROUND: &str = "Choose a directory that is not compressed, or let Outcrop make a filesystem for each trial (`filesystem` in a plan, or --filesystem of \
     `outcrop kv`, such as --filesystem ext4; as root)";

/// Said where nothing was measured without compression.
pub(super) fn no_reference(state: &str) -> String {
    format!(
        "Where to compress cannot be decided here: {state}. So nothing is known to have been measured without compression, and the files do \
         not show how many bytes they take. {UNCOMPRESSED_GROUND}."
    )
}

/// The sentence on what to measure next: behind checks that deny the answer, whose remedy it completes, else at the end.
fn in_place(next: Option<&(String, Option<More>)>, study: &Measured) -> (Option<String>, Option<String>) {
    let sentence = next.map(|(sentence, _)| sentence.clone());
    match study.checks.deny() {
        true => (sentence, None),
        false => (None, sentence),
    }
}

/// Whether limits or the store's log leave another answer open.
fn is_open(candidates: &[Candidate], choice: &Choice, limits: &Limits) -> bool {
    open::by_limits(candidates, choice, limits).is_some() || open::by_log(candidates, choice).is_some()
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
            "do not compress where throughput matters: everything compared that saves space was slower in these trials"
                .to_owned()
        }
        CompressedAt::Nowhere if savers().any(|candidate| candidate.left_out.is_none()) => {
            "do not compress where throughput matters: what saves space of those compared was too slow whenever both were measured"
                .to_owned()
        }
        CompressedAt::Nowhere if savers().any(|candidate| candidate.may_keep) => {
            "do not compress: nothing compared that is known to meet the limits saves space".to_owned()
        }
        CompressedAt::Nowhere if savers().any(|candidate| candidate.left_out.is_some()) => {
            "do not compress: nothing compared within the limits saves space".to_owned()
        }
        CompressedAt::Nowhere => "do not compress: nothing that was compared saves space".to_owned(),
        CompressedAt::Store => {
            format!(
                "compress in the store's own blocks with {} ({})",
                best.what, study.engine
            )
        }
        CompressedAt::Filesystem => format!("compress in the filesystem with {}", best.what),
        CompressedAt::Accelerator | CompressedAt::Drive => format!("compress in the {}", best.name()),
    };
    let at_limit = vague::at_limit(best).map_or_else(String::new, |clause| format!("; {clause}"));
    if let Some(undecided) = open::by_limits(candidates, choice, limits) {
        return format!("{undecided} So far: {what}{at_limit}.");
    }
    let what = match limits.named() {
        None => what,
        Some(limits) => format!("within {limits}, {what}"),
    };
    if let Some(other) = open::by_log(candidates, choice) {
        let other = as_name(other);
        return format!(
            "Not decided: by the space with the store's log, {what}{at_limit}; by the space without it, the answer would be {other}."
        );
    }
    if let Some(why) = vague::why(candidates, choice, &study.race) {
        // Figures that are too uncertain to act on come before what they would say.
        return format!("Not decided: {why}. So far: {what}{at_limit}.");
    }
    as_sentence(&what)
}

/// Where and with what, at the beginning of a sentence or within it.
pub(super) fn as_name(candidate: &Candidate) -> String {
    match candidate.place {
        CompressedAt::Nowhere => "no compression".to_owned(),
        place => format!("{} in the {}", candidate.what, place.name()),
    }
}

fn sure(
    candidates: &[Candidate],
    choice: &Choice,
    best: &Candidate,
    sureness: Sureness,
    (study, limits): (&Measured, &Limits),
) -> String {
    if study.checks.deny() {
        return "This is not clear: its cells failed a check that throughput depends on.".to_owned();
    }
    let race = &study.race;
    if let Some(other) = choice.without_log {
        let other = as_name(&candidates[other]);
        return format!(
            "This is not clear: by the space without the store's log, the answer would be {other}."
        );
    }
    if let Some(budget) = race.budget {
        return match sureness {
            Sureness::Clear => doubt::clear_after(race, choice, limits),
            Sureness::NotClear => format!(
                "This is not clear: {}.",
                doubt::open_after(budget, (candidates, best), race, limits)
            ),
        };
    }
    if choice.is_left_to_base {
        return "This is not clear: the answer depends on which cell without compression is the fastest, and that is open.".to_owned();
    }
    if let Some(clause) = vague::at_limit(best) {
        return format!("This is not clear: {clause}.");
    }
    match (sureness, best.throughput.interval) {
        (Sureness::Clear, _) if choice.is_only => {
            "This is clear: nothing else that was compared meets the limits.".to_owned()
        }
        (Sureness::Clear, _) => format!(
            "This is clear: even at the ends of the intervals, its throughput is within {:.0} % of the highest, and nothing with a ratio over {:.0} % higher is.",
            MARGIN * 100.0,
            SAME_SPACE * 100.0
        ),
        (Sureness::NotClear, None) => {
            "This is not clear: with one trial per cell there is no interval.".to_owned()
        }
        (Sureness::NotClear, Some(interval)) => {
            let (percent, n) = (interval.confidence * 100.0, best.throughput.n);
            let basis = format!("the {percent:.0} % intervals of {n} trials per cell");
            let open = open(&left_open(candidates, choice).map(as_name).collect::<Vec<_>>());
            let why = match (open, choice.second) {
                (Some(others), _) => format!("leave {others} open"),
                (None, Some(_)) => "leave no other answer open, but their confidence is too low".to_owned(),
                (None, None) => {
                    "have too little confidence to say which candidates meet the limits".to_owned()
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

/// What would tell more, and whether that is more trials.
fn narrower(study: &Measured, candidates: &[Candidate], choice: &Choice) -> (String, Option<More>) {
    let is_failed = study.checks.deny();
    if let Some(remedy) = open::remedy(candidates, choice).filter(|_| !is_failed) {
        return (remedy.sentence(study), None);
    }
    if let Some(command) = study.commands.resuming() {
        let sentence = format!("Resume the run, which is not finished: `{command}`.");
        return (sentence, Some(study.more));
    }
    let command = study.commands.again(&[kv::SCHEMA.name], study.more);
    let sentence = match (command, is_failed) {
        (Some(command), true) => format!("Then measure again: `{command}`."),
        (None, true) => "Then measure again.".to_owned(),
        (Some(command), false) => format!("More trials would narrow it: `{command}`."),
        (None, false) => "More repetitions would narrow it.".to_owned(),
    };
    (sentence, Some(study.more))
}
