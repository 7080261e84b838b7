//! Where to compress: one answer across the layers, for these data on this machine.
//!
//! The candidates are one store under one load: without compression, with its own blocks compressed, on filesystems that compress, and
//! with published hardware, which is modelled. `choice` has the rule that picks one; it is written down in `docs/methodology.md`.

mod bounds;
mod candidate;
mod checks;
mod choice;
mod decision;
mod doubt;
mod essentials;
mod figure;
mod files;
mod front;
mod gives;
mod hardware;
mod libraries;
mod limits;
mod log;
mod open;
mod others;
mod predictions;
mod prices;
mod remedy;
mod rivals;
mod subject;
mod system;
mod vague;
mod words;

use outcrop_results::RunView;
use outcrop_schema::kv;
use serde::Serialize;

use crate::answer::Claim;
use crate::cell::Cell;
use crate::chart::Figure;
use crate::environment;
use crate::layer::cells_of;

pub use bounds::Bounds;
pub(crate) use bounds::{Bounded, Figure as Bound, Kept, SURE, Verdict};
pub(crate) use candidate::compressed_below;
pub use candidate::{Candidate, CompressedAt};
pub use choice::Sureness;
pub use doubt::Race;
pub use limits::{Limit, Origin};
pub use outcrop_schema::kv::{Constraints, Prices};
pub use system::MeasuredSystem;

use checks::Checks;
use decision::{Compared, Decision};
pub(crate) use hardware::DRIVE_CAPACITY;
pub(crate) use limits::Limits;
pub(crate) use predictions::Predictions;
use prices::Bill;
pub(crate) use words::{Next, UNCOMPRESSED_GROUND};

/// What an answer says of columns, where the run has them: a reader of their saving looks for them here.
pub(crate) const COLUMNS: &str =
    "Columns are not candidates: a column file takes no updates. What it saves is under the layer `column`.";

/// What a screen says of an answer in any case: what is not certain, and which data it is about.
#[derive(Clone, Debug)]
pub(crate) struct Essential {
    /// The sentence of the answer that says it.
    pub(crate) sentence: String,
    /// The same in a few words, for a screen that has no room for the sentence.
    pub(crate) short: String,
    /// The same in fewer words still, for a screen that has no room for those; none where there are none.
    pub(crate) shortest: Option<String>,
    /// Whether it is left out where there is no room for those words either.
    pub(crate) can_wait: bool,
}

/// Whether stores have candidates for where to compress, which limits choose between.
pub(crate) fn has_candidates(stores: &[Cell<'_>]) -> bool {
    candidate::family(stores).is_some()
}

/// Where these data should be compressed on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct Placement {
    /// Which data, and which store under which load.
    pub subject: String,
    /// The answer in sentences: what to do, what it gives and costs, the second best, what would change it, how sure it is.
    pub answer: Vec<String>,
    /// What a screen says of it in any case.
    #[serde(skip)]
    pub(crate) essentials: Vec<Essential>,
    /// Which of the candidates is the answer, by its place in the list; none where nothing meets the constraints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<usize>,
    /// The second best: what the rule would choose without the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<usize>,
    /// What takes less space: the answer with a least ratio of [`Self::least_ratio`]; without that, what the rule would choose of those that save more space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves_more: Option<usize>,
    /// The least ratio, as it is printed, with which what takes less space would be the answer; none where no least ratio makes it that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_ratio: Option<f64>,
    /// How sure the answer is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sureness: Option<Sureness>,
    /// What is the case where checks failed for the cells that the answer compares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_checks: Vec<String>,
    /// What to do about each of them, in the same order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<String>,
    /// How much the machine did for others meanwhile, where that disturbs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_work: Option<String>,
    /// What all comparisons of the run say together, and where its trials went.
    pub race: Race,
    /// Everything that was compared: what was measured by throughput, then what is modelled.
    pub candidates: Vec<Candidate>,
    /// Published hardware that cannot be modelled, and why, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_modelled: Vec<String>,
    /// Why no candidate has its energy; none where one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_energy: Option<String>,
    /// The constraints that the answer meets.
    pub constraints: Constraints,
    /// Where the constraints come from; none where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints_from: Option<Origin>,
    /// The user's prices, where they were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// Where the prices come from; none where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices_from: Option<Origin>,
    /// Whether the answer is decided: no limit, log or vague throughput leaves it open.
    #[serde(skip)]
    pub(crate) is_decided: bool,
    /// How to measure more of it; none where nothing is open, or more trials would not tell.
    #[serde(skip)]
    pub(crate) next: Option<Next>,
    /// Throughput against space.
    #[serde(skip)]
    pub(crate) figure: Option<Figure>,
}

impl Placement {
    /// The answer of a run, under the constraints and at the prices that it was given where these are empty; `None` where it has no store that was
    /// measured both with and without compression.
    pub fn of(run: &RunView, constraints: &Constraints, prices: Option<&Prices>) -> Option<Self> {
        let system = MeasuredSystem::of(run).ok();
        let predictions = system.as_ref().and_then(|system| system.predictions().ok());
        Self::within(run, Limits::of(run, constraints, prices), predictions.as_ref())
    }

    /// The same under limits whose origin is known, with the predictions of the run.
    pub(crate) fn within(
        run: &RunView,
        limits: Limits,
        predictions: Option<&Predictions<'_>>,
    ) -> Option<Self> {
        let views = run.cells();
        let cells = cells_of(&kv::SCHEMA, &views);
        let cpus = environment::cpus(&run.environment);
        let family = candidate::family(&cells)?;
        let constraints = &limits.constraints;
        if let Some(state) = compressed_below(&family) {
            let reason = words::no_reference(&state);
            return Some(Self::without_reference(run, &family, cpus, reason, limits));
        }
        let compared = Compared {
            run,
            family: &family,
            cpus,
        };
        let Decision {
            race,
            mut candidates,
            choice: mut chosen,
        } = compared.decide(constraints);
        let checks = Checks::of(run, &family, &candidates, &chosen);
        if checks.deny() {
            chosen.sureness = chosen.sureness.map(|_| Sureness::NotClear);
        }
        let modelled = hardware::modelled(run, race.base_of(&family), constraints, cpus, predictions);
        let mut measured = words::Measured::of(
            (run, &limits),
            (&cells, &family),
            (&candidates, cpus),
            race,
            checks,
        );
        let words::Said {
            mut answer,
            mut essentials,
            is_decided,
            sureness,
            next,
        } = words::answer(&measured, &candidates, &chosen, &limits, &modelled);
        measured.race.is_clear = sureness == Some(Sureness::Clear);
        add_costs(&mut answer, &candidates, &limits);
        add_log(&mut answer, &mut essentials, &candidates);
        essentials.extend(cost_in_short(&candidates, &limits));
        if let Some(meeting) = others::meeting(&cells, &compared, &limits).filter(|_| chosen.best.is_none()) {
            add_meeting(&mut answer, &mut essentials, meeting, &measured);
        }
        candidates.extend(modelled.candidates);
        Some(Self {
            figure: figure::throughput_against_space(&candidates, &measured.subject),
            subject: measured.subject,
            answer,
            essentials,
            is_decided,
            next,
            best: chosen.best,
            second: chosen.second,
            failed_checks: measured.checks.clauses(),
            remedies: measured.checks.remedies(),
            not_modelled: modelled.unavailable,
            least_ratio: chosen.least_ratio,
            other_work: measured.checks.other_work,
            saves_more: chosen.saves_more,
            // Of one candidate that meets the limits it is clear which, and not how much it gives.
            sureness: chosen.sureness.map(|sureness| sureness.only_if(is_decided)),
            race: measured.race,
            no_energy: candidate::no_energy(&family),
            candidates,
            constraints: limits.constraints,
            constraints_from: limits.constraints_from,
            prices: limits.prices,
            prices_from: limits.prices_from,
        })
    }

    /// The same beside a layer of columns, which are no candidates.
    #[must_use]
    pub(crate) fn beside_columns(mut self) -> Self {
        self.answer.push(COLUMNS.to_owned());
        self
    }

    /// The answer as what layers advise: it is about the store that was measured.
    pub(crate) fn as_claim(&self) -> Claim {
        let best = self.best.and_then(|place| self.candidates.get(place));
        let numbers = best.map_or_else(Vec::new, |best| {
            std::iter::once(&best.throughput)
                .chain(&best.ratio)
                .cloned()
                .collect()
        });
        let brief = self.answer.first().cloned().unwrap_or_default();
        let claim = Claim::new("Where to compress", brief.clone(), self.answer.join(" "), numbers);
        match best.is_some() && self.is_decided {
            true => claim.advising(brief),
            false => claim,
        }
    }

    /// Whether there is an answer that the intervals do not yet make sure.
    pub(crate) fn is_left_open(&self) -> bool {
        self.is_decided && self.sureness == Some(Sureness::NotClear)
    }

    /// What is said where nothing was measured without compression.
    fn without_reference(
        run: &RunView,
        family: &[&Cell<'_>],
        cpus: Option<u64>,
        reason: String,
        limits: Limits,
    ) -> Self {
        let race = doubt::judge(run, family, &limits.constraints, cpus);
        let mut candidates = candidate::measured(family, cpus);
        candidates
            .iter_mut()
            .for_each(|one| one.judge(&limits.constraints));
        Self {
            subject: subject::subject(family),
            answer: vec![reason],
            essentials: Vec::new(),
            is_decided: false,
            best: None,
            second: None,
            saves_more: None,
            sureness: None,
            least_ratio: None,
            failed_checks: Vec::new(),
            remedies: Vec::new(),
            not_modelled: Vec::new(),
            next: None,
            other_work: None,
            race,
            no_energy: candidate::no_energy(family),
            candidates,
            constraints: limits.constraints,
            constraints_from: limits.constraints_from,
            prices: None,
            prices_from: None,
            figure: None,
        }
    }
}

/// Says which cell of another store meets the limits: behind the figures of its own store, which do not name it again.
fn add_meeting(
    answer: &mut Vec<String>,
    essentials: &mut Vec<Essential>,
    meeting: Essential,
    measured: &words::Measured,
) {
    let said = answer.iter().position(|one| measured.is_not_compared(one));
    answer.insert(said.unwrap_or(answer.len()), meeting.sentence.clone());
    let said = essentials
        .iter()
        .position(|one| measured.is_not_compared(&one.sentence));
    essentials.insert(said.unwrap_or(essentials.len()), meeting);
}

/// Says what candidates cost at the user's prices.
fn add_costs(answer: &mut Vec<String>, candidates: &[Candidate], limits: &Limits) {
    // After what to do, and before how sure that is.
    let cost = limits.prices.as_ref().zip(limits.prices_from);
    let cost = cost.and_then(|(prices, from)| Bill(prices).sentence(candidates, from));
    let place = answer.len().min(1);
    answer.splice(place..place, cost);
}

/// The cost for a screen: whoever gave prices asked for it.
fn cost_in_short(candidates: &[Candidate], limits: &Limits) -> Option<Essential> {
    let (prices, from) = limits.prices.as_ref().zip(limits.prices_from)?;
    Some(Essential {
        sentence: Bill(prices).sentence(candidates, from)?,
        shortest: None,
        short: Bill(prices).in_short(candidates)?,
        can_wait: false,
    })
}

/// Says what the store's log does to the space of candidates.
fn add_log(answer: &mut Vec<String>, essentials: &mut Vec<Essential>, candidates: &[Candidate]) {
    let Some(essential) = log::essential(candidates) else {
        return;
    };
    // Behind what is gained, which is where space is compared.
    answer.insert(answer.len().min(2), essential.sentence.clone());
    essentials.insert(essentials.len().min(1), essential);
}
