//! Stores of a run that the answer is not about: it is about one.

use outcrop_measure::units::format_ratio;
use outcrop_results::RunView;
use outcrop_schema::kv::{Constraints, ENGINE, SCHEMA, THROUGHPUT};
use outcrop_workload::store::StoreEngine;

use super::Essential;
use super::bounds::Kept;
use super::candidate::{self, Candidate, CompressedAt, FASTER, MORE_CANDIDATES, MORE_TRIALS, Weight};
use super::decision::Compared;
use super::limits::Limits;
use super::subject;
use super::vague;
use super::words::Said;
use crate::cell::Cell;
use crate::layer::not_drawn::values_beyond;
use crate::number::counted;

/// What is said where a run has several stores.
pub(super) struct NotCompared {
    pub(super) sentence: String,
    short: String,
}

impl NotCompared {
    /// By which rule the store of the answer was taken, and what was measured of the others; none where there are no others.
    pub(super) fn of(cells: &[Cell<'_>], family: &[&Cell<'_>]) -> Option<Self> {
        let engine = subject::engine(family);
        let (others, without_codec): (Vec<_>, Vec<_>) = other_stores(cells, family)
            .into_iter()
            .partition(|store| store.has_codecs);
        let rest = (!without_codec.is_empty()).then(|| {
            let they = if without_codec.len() == 1 {
                "it does"
            } else {
                "they do"
            };
            format!(
                "Not compared, as {they} not compress blocks: {}.",
                listed(&without_codec)
            )
        });
        let Some(first) = others.first() else {
            return rest.map(|sentence| Self {
                short: sentence.clone(),
                sentence,
            });
        };
        let (why, named, flag) = (why_not_another(cells, family), listed(&others), &first.engine);
        let verb = if others.len() == 1 { "is" } else { "are" };
        let rest = rest.map_or_else(String::new, |sentence| format!(" {sentence}"));
        Some(Self {
            sentence: format!(
                "The answer is about {engine}, {}; {named} {verb} not compared with it. `outcrop kv` with `--engine {flag}`, or a plan with this \
                 `engine` alone, gives its own answer.{rest}",
                why.sentence
            ),
            short: format!(
                "Not compared: {named}, as {engine} {} (its own answer: the same run with engine {flag} only).{rest}",
                why.short
            ),
        })
    }

    /// Names the store in the answer, and says what is not compared.
    pub(super) fn added_to(&self, mut said: Said, engine: &str) -> Said {
        let Some(first) = said.answer.first_mut() else {
            return said;
        };
        *first = format!("For {engine}: {}", within_a_sentence(first));
        said.answer.push(self.sentence.clone());
        said.essentials.push(Essential {
            sentence: self.sentence.clone(),
            short: self.short.clone(),
            shortest: None,
            can_wait: false,
        });
        said
    }
}

/// What is said where no cell of the answer's store meets the limits and one of another store does, for the answer and for a screen.
pub(super) fn meeting(cells: &[Cell<'_>], compared: &Compared<'_>, limits: &Limits) -> Option<Essential> {
    let (own, named) = (subject::engine(compared.family), limits.named()?);
    let stores = candidate::of_each_store(cells);
    let others = stores.iter().filter(|other| subject::engine(other) != own);
    let meets = others.filter_map(|family| {
        let other = Compared { family, ..*compared };
        let decision = other.decide(&limits.constraints);
        let doubt = vague::why(&decision.candidates, &decision.choice, &decision.race);
        let best = decision.candidates.into_iter().nth(decision.choice.best?)?;
        let is_once = best.throughput.rests_on_one_trial();
        // What would be withheld as the answer about that store is not said in passing either.
        (doubt.is_none() || is_once).then(|| (subject::engine(family), best))
    });
    let mut meets: Vec<(String, Candidate)> = meets.collect();
    // Those that surely meet them, or else those that may.
    let why_may_only = |best: &Candidate| why_may_only(best, &limits.constraints);
    let is_sure = |best: &Candidate| why_may_only(best).is_none();
    let is_any_sure = meets.iter().any(|(_, best)| is_sure(best));
    meets.retain(|(_, best)| is_sure(best) == is_any_sure);
    let (engine, best) = meets.first()?;
    let (verb, does, but) = match why_may_only(best) {
        None => ("meets", "does", String::new()),
        Some(why) => ("may meet", "may", format!(", but {why}")),
    };
    let what = match best.place {
        CompressedAt::Nowhere => format!("without compression ({})", best.what),
        place => format!("with {} in the {}", best.what, place.name()),
    };
    let p99 = best.p99.as_ref();
    let p99 = p99.map_or_else(String::new, |p99| format!("p99 of a read {}, ", p99.with_ends()));
    let ratio = format_ratio(best.ratio.as_ref().map_or(1.0, |ratio| ratio.value));
    let trials = counted(best.throughput.n, "trial");
    let figures = format!("{p99}ratio {ratio}, {trials}");
    let others: Vec<&str> = meets.iter().skip(1).map(|(engine, _)| engine.as_str()).collect();
    let also = match others.as_slice() {
        [] => String::new(),
        others => format!(" So {does} a cell of {}.", others.join(" and of ")),
    };
    let why = why_not_another(cells, compared.family).short;
    let most = compared.family.iter().map(|cell| cell.trials().len()).max();
    let most = counted(most.unwrap_or(0), "trial");
    Some(Essential {
        sentence: format!(
            "{engine} {what} {verb} {named}: {figures}{but}.{also} The answer is about {own} because it {why} (at most {most} per cell); \
             the limits play no part in that."
        ),
        short: format!("{engine} {what} {verb} the limits: {figures}."),
        shortest: Some(format!("{engine} {what} {verb} the limits.")),
        can_wait: false,
    })
}

/// Why a cell that keeps the limits by its figures only may keep them; none where it surely does.
fn why_may_only(best: &Candidate, constraints: &Constraints) -> Option<String> {
    // Space is the same in every trial.
    let is_of_time = constraints.p99_ns.is_some() || constraints.cpu_share.is_some();
    let is_once = is_of_time && best.throughput.rests_on_one_trial();
    let once = || "the repeatability of one trial is unknown".to_owned();
    match best.verdict.kept {
        Kept::Keeps => is_once.then(once),
        _ => Some(format!("it {}", best.verdict.why)),
    }
}

/// Why an answer is about its store and not about another one.
struct Why {
    /// What its store is, in words that follow its name.
    sentence: &'static str,
    /// What it has and the others do not, in words that follow its name.
    short: &'static str,
}

/// By which rule the store of the answer was taken.
fn why_not_another(cells: &[Cell<'_>], family: &[&Cell<'_>]) -> Why {
    let (own, weight) = (subject::engine(family), Weight::of(family));
    let others = candidate::of_each_store(cells).into_iter();
    let others = others.filter(|other| subject::engine(other) != own);
    // Of several others the nearest rival says which rule decided.
    let reasons: Vec<_> = others.map(|other| weight.exceeds(&Weight::of(&other))).collect();
    let has = |reason: Option<&'static str>| reasons.contains(&reason);
    let (sentence, short) = if reasons.is_empty() {
        (
            "the only store of this run that was measured both with and without compression",
            "alone was measured both with and without compression",
        )
    } else if has(None) {
        (
            "the first of the stores of this run that are equal in candidates, trials and operations per second",
            "comes first among equals",
        )
    } else if has(Some(FASTER)) {
        (
            "the store of this run with the highest median throughput, among those with equally many candidates and trials",
            FASTER,
        )
    } else if has(Some(MORE_TRIALS)) {
        (
            "the store of this run with the most trials, among those with equally many candidates",
            MORE_TRIALS,
        )
    } else {
        (
            "the store of this run with the most candidates that were measured with and without compression",
            MORE_CANDIDATES,
        )
    };
    Why { sentence, short }
}

/// A sentence of ours behind a colon.
fn within_a_sentence(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// How many other cells of the store were measured and are not compared, and in what they differ, as a sentence; none where there are none.
pub(super) fn other_cells(cells: &[Cell<'_>], family: &[&Cell<'_>]) -> Option<String> {
    let engine = subject::engine(family);
    let is_compared = |cell: &Cell<'_>| family.iter().any(|one| std::ptr::addr_eq(*one, cell));
    let is_other = |cell: &&Cell<'_>| {
        cell.label(&[&ENGINE]) == engine && cell.number(&THROUGHPUT).is_some() && !is_compared(cell)
    };
    let others: Vec<&Cell<'_>> = cells.iter().filter(is_other).collect();
    let differing = match values_beyond(&others, family) {
        differing if differing.is_empty() => String::new(),
        differing => format!(" ({differing})"),
    };
    let count = counted(others.len(), "other cell");
    (!others.is_empty()).then(|| format!("Not compared: {count} of {engine}{differing}."))
}

/// Which cells of the layer have no completed trial because theirs failed, with the first reason, as a sentence; none where there are none. An
/// answer without a filesystem that could not be mounted is not one against it.
pub(super) fn failed_cells(run: &RunView) -> Option<String> {
    /// More of them are counted.
    const MOST_NAMED: usize = 3;
    let mut failed: Vec<(String, &str)> = Vec::new();
    let cells = run.cells();
    for view in cells.iter().filter(|view| view.layer == SCHEMA.name) {
        if let Some(message) = view.failure() {
            failed.push((SCHEMA.label(&SCHEMA.read(view.factors)), message));
        }
    }
    let (_, first) = failed.first()?;
    let named: Vec<&str> = failed
        .iter()
        .take(MOST_NAMED)
        .map(|(words, _)| words.as_str())
        .collect();
    let more = match failed.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let its = if failed.len() == 1 { "its" } else { "their" };
    Some(format!(
        "Not compared, because all of {its} trials failed: {}{more} (the first reason: {first}).",
        named.join("; ")
    ))
}

/// `fjall (2 cells, at most 3 trials each)`.
fn listed(stores: &[OtherStore]) -> String {
    let each = |store: &OtherStore| {
        let (cells, trials) = (counted(store.cells, "cell"), counted(store.trials, "trial"));
        format!("{} ({cells}, at most {trials} each)", store.engine)
    };
    stores.iter().map(each).collect::<Vec<_>>().join(", ")
}

/// A store that was measured beside the one whose candidates are compared.
struct OtherStore {
    engine: String,
    /// Whether it compresses blocks if it is told to.
    has_codecs: bool,
    cells: usize,
    /// Of the cell with the most.
    trials: usize,
}

/// The stores of the run that the answer is not about.
fn other_stores(cells: &[Cell<'_>], family: &[&Cell<'_>]) -> Vec<OtherStore> {
    let own = subject::engine(family);
    let mut stores: Vec<OtherStore> = Vec::new();
    for cell in cells {
        let name = cell.label(&[&ENGINE]);
        let is_store = !cell.is(&ENGINE, &StoreEngine::None) && cell.number(&THROUGHPUT).is_some();
        if name == own || !is_store {
            continue;
        }
        let trials = cell.trials().len();
        match stores.iter_mut().find(|store| store.engine == name) {
            Some(store) => {
                store.cells += 1;
                store.trials = store.trials.max(trials);
            }
            None => stores.push(OtherStore {
                engine: name,
                has_codecs: cell.get(&ENGINE).is_some_and(|engine| engine.codecs().len() > 1),
                cells: 1,
                trials,
            }),
        }
    }
    stores
}
