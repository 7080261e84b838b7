//! Advice that its own figures cannot carry is withheld: for every layer, in this one place.

use outcrop_measure::metric::{Provenance, Unit};
use outcrop_results::RunView;

use crate::answer::{Claim, Doubt, NOT_DECIDED};
use crate::cell_table::LONG_TRIAL_S;
use crate::command::Commands;
use crate::finding::{About, Finding, Verdict, as_sentence};
use crate::number::Number;
use crate::placement::More;

/// An interval that reaches further than this to one side decides nothing, in per cent of the value.
pub(crate) const WIDEST_PERCENT: f64 = 30.0;
/// Repetitions at which an interval is one of 95 % that a single outlier no longer sets.
const ENOUGH: usize = 9;

/// The claims of a layer; one that rests on an interval that is too wide says how often to repeat it.
pub(super) fn withhold(claims: Vec<Claim>, run: &RunView, layer: &str) -> Vec<Claim> {
    let decide = |claim: Claim| {
        let numbers = &claim.numbers;
        match (
            widest(numbers),
            numbers.iter().find(|number| is_of_one_trial(number)),
        ) {
            (Some(number), _) => undecided(&claim, number, run, layer),
            (None, Some(number)) => of_one_trial(&claim, number, run, layer),
            (None, None) => claim,
        }
    };
    // Limits come last: what breaks one does so however little is known of the rest, and what is not decided is not decided without it.
    let limited = |claim: Claim| decide(claim).within_limits();
    without_ground(claims.into_iter().map(limited).collect())
}

impl Claim {
    /// The same as advice on how to do what another claim advises.
    #[must_use]
    pub(crate) fn resting_on(self, topic: &'static str) -> Self {
        Self {
            rests_on: Some(topic),
            ..self
        }
    }

    /// The same without its advice: the figures that it compares were disturbed.
    #[must_use]
    pub(crate) fn disturbed(self, why: &str) -> Self {
        Self {
            brief: format!("{NOT_DECIDED}: {why}"),
            text: format!("Not decided: {why}. By these figures: {}", self.text),
            action: None,
            ..self
        }
    }
}

/// Takes the advice off claims on how to do what is not advised: it would say the opposite of the answer.
fn without_ground(mut claims: Vec<Claim>) -> Vec<Claim> {
    let advises = |claim: &Claim| claim.action.is_some();
    let unadvised: Vec<String> = claims
        .iter()
        .filter(|claim| !advises(claim))
        .map(|claim| claim.topic.clone())
        .collect();
    for claim in &mut claims {
        let rests_on = claim.rests_on.map(str::to_owned);
        if rests_on.is_some_and(|topic| unadvised.contains(&topic)) {
            claim.action = None;
        }
    }
    claims
}

/// How often to measure what some trials did not decide.
pub(crate) const fn more_repetitions(trials: usize) -> usize {
    if trials < ENOUGH { ENOUGH } else { 2 * trials }
}

/// The findings of a layer; of one about what was measured that rests on an interval that is too wide these trials cannot tell.
pub(super) fn untestable(findings: Vec<Finding>) -> Vec<Finding> {
    let decide = |mut finding: Finding| {
        let is_tested = matches!(finding.verdict, Verdict::Holds | Verdict::DoesNotHold);
        let is_of_subject = finding.about != About::Run && is_tested;
        if let Some(number) = widest(&finding.numbers).filter(|_| is_of_subject) {
            finding.verdict = Verdict::NotTestable(format!(
                "These trials cannot tell: the {} is known only as {}; an interval wider than ± {WIDEST_PERCENT:.0} % decides nothing.",
                number.name,
                number.with_ends()
            ));
            finding.meaning = String::new();
        }
        finding
    };
    findings.into_iter().map(decide).collect()
}

/// The number with the widest interval, where that is too wide.
fn widest(numbers: &[Number]) -> Option<&Number> {
    // A number without an interval says so itself.
    let with_interval = numbers
        .iter()
        .filter_map(|number| Some((number, number.plus_minus_percent()?)));
    let too_wide = with_interval.filter(|(_, percent)| *percent > WIDEST_PERCENT);
    let widest = too_wide.max_by(|one, other| one.1.total_cmp(&other.1));
    widest.map(|(number, _)| number)
}

/// Whether a number was read off a clock in a single trial. Bytes and ratios are the same in every trial.
fn is_of_one_trial(number: &Number) -> bool {
    let is_of_clock = matches!(
        number.unit,
        Unit::Nanoseconds | Unit::PerSecond | Unit::BytesPerSecond
    );
    let is_own = matches!(number.provenance, Provenance::Measured | Provenance::Imported);
    is_of_clock && is_own && number.n <= 1 && number.interval.is_none() && number.no_interval.is_none()
}

/// What one trial says is not firmer than what several say that differ.
fn of_one_trial(claim: &Claim, number: &Number, run: &RunView, layer: &str) -> Claim {
    const WHY: &str = "one trial: its repeatability is unknown";
    let why = format!("{NOT_DECIDED} ({}: {number}, {WHY})", number.name);
    let text = format!("Not decided: the {} ({number}) is of {WHY}.", number.name);
    let doubt = Doubt {
        why,
        interval: None,
        repetitions: ENOUGH,
    };
    let of_layer = run.trials.iter().filter(|trial| trial.layer == layer);
    let is_long = of_layer.map(|trial| trial.duration_s).fold(0.0, f64::max) >= LONG_TRIAL_S;
    if is_long && !run.is_unfinished() {
        let numbers = claim.numbers.clone();
        return Claim {
            limits: claim.limits.clone(),
            ..Claim::new(claim.topic.clone(), doubt.why, text, numbers)
        };
    }
    withheld(claim, doubt, &text, run, layer)
}

fn undecided(claim: &Claim, number: &Number, run: &RunView, layer: &str) -> Claim {
    let doubt = Doubt {
        why: format!("{NOT_DECIDED} ({}: {})", number.name, number.with_ends()),
        interval: number.interval,
        repetitions: more_repetitions(number.n),
    };
    let text = format!(
        "Not decided: the interval of the {} is too wide ({}, {}).",
        number.name,
        number,
        number.certainty()
    );
    withheld(claim, doubt, &text, run, layer)
}

/// A claim without its advice: why, in a line and in a sentence, and what would decide it.
fn withheld(claim: &Claim, doubt: Doubt, text: &str, run: &RunView, layer: &str) -> Claim {
    let command = deciding(doubt.repetitions, run, layer);
    let withheld = Claim::new(
        claim.topic.clone(),
        format!("{}; {command}", doubt.why),
        format!("{text} {}", as_sentence(&command)),
        claim.numbers.clone(),
    );
    Claim {
        doubt: Some(doubt),
        limits: claim.limits.clone(),
        rests_on: claim.rests_on,
        ..withheld
    }
}

/// What to do: measure the same again with more repetitions.
fn deciding(repetitions: usize, run: &RunView, layer: &str) -> String {
    repeating(&Commands::of(run), &More::Repetitions(repetitions), &[layer])
}

/// The command that measures these layers again, and more; of a run that is not finished the one that goes on with it. Of a run that is not
/// kept there is no plan to run again.
pub(crate) fn repeating(commands: &Commands, more: &More, layers: &[&str]) -> String {
    if let Some(command) = commands.resuming() {
        return format!("resume the run, which is not finished, with `{command}`");
    }
    let more = more.to_string();
    match commands.again(layers, &more) {
        Some(command) => format!("run `{command}`{}", commands.before_again(layers)),
        None if commands.is_imported() => {
            "measure each job more often with the program that measured it, and import all results".to_owned()
        }
        None => format!("repeat the command with `{more}`"),
    }
}
