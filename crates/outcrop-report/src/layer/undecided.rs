//! Advice that its own figures cannot carry is withheld: for every layer, in this one place.

use outcrop_measure::units::ByteSize;
use outcrop_probe::OthersCpu;
use outcrop_results::RunView;
use outcrop_schema::kv;

use crate::answer::{Claim, Doubt, NOT_DECIDED};
use crate::cell::Cell;
use crate::cell_table::LONG_TRIAL_S;
use crate::command::{Commands, More};
use crate::disturbed::why_disturbed;
use crate::finding::{About, Finding, Verdict, as_sentence};
use crate::number::{Number, ONE_TRIAL, WIDEST_PERCENT, counted};
use crate::placement::SURE;

/// Repetitions at which an interval is one of 95 % that a single outlier no longer sets.
const ENOUGH: usize = 9;
/// Trials below which the noise of a machine is not in the intervals: below it they have less than 90 % confidence.
pub(crate) const FEW: usize = 5;
/// How far the interval of a larger sample is meant to reach, in per cent of the value: less than what decides nothing.
const AIM_PERCENT: f64 = 25.0;
/// Samples are proposed in whole MiB.
const MIB: f64 = 1_048_576.0;

/// A layer of a run, as commands measure it again.
pub(super) struct LayerOfRun<'r> {
    pub(super) run: &'r RunView,
    /// The layer's name.
    pub(super) name: &'r str,
    /// The flags of the report's limits, where the plan of the run has others.
    pub(super) limits: &'r str,
}

impl LayerOfRun<'_> {
    /// Whether the run is to measure more trials of what such a number rests on.
    fn lacks_trials(&self, number: &Number) -> bool {
        self.run.lacks_trials(self.name, number.n)
    }
}

/// The claims of a layer; one that rests on an interval that is too wide says how often to repeat it.
pub(super) fn withhold(claims: Vec<Claim>, layer: &LayerOfRun<'_>) -> Vec<Claim> {
    let decide = |claim: Claim| {
        let numbers = &claim.numbers;
        if claim.is_void {
            return claim;
        }
        match (
            widest(numbers),
            numbers.iter().find(|number| number.rests_on_one_trial()),
        ) {
            (Some(number), _) => undecided(&claim, number, layer),
            (None, Some(number)) => of_one_trial(&claim, number, layer),
            (None, None) => claim,
        }
    };
    // Limits come last: what breaks one does so however little is known of the rest, and what is not decided is not decided without it.
    let limited = |claim: Claim| decide(claim).within_limits();
    without_ground(claims.into_iter().map(limited).collect())
}

/// Adds the first of the figures that a choice was made among which rests on one trial: without an interval of its own it may be the better.
pub(crate) fn add_rival<'n>(
    numbers: &mut Vec<Number>,
    rivals: impl IntoIterator<Item = (String, &'n Number)>,
) {
    let mut rivals = rivals.into_iter();
    let unsure = rivals.find(|(_, number)| number.rests_on_one_trial());
    if let Some((name, number)) = unsure
        && numbers.iter().all(|known| known.name != name)
    {
        numbers.push(number.clone().named(name));
    }
}

/// Adds the figures that are known too badly to tell on which side of a limit they lie: a choice that the limit makes rests on them.
pub(crate) fn add_unclear<'n>(
    numbers: &mut Vec<Number>,
    figures: impl IntoIterator<Item = (String, &'n Number)>,
    limit: f64,
) {
    let is_unclear = |number: &Number| number.interval.is_some_and(|interval| interval.contains(limit));
    for (name, number) in figures {
        if is_unclear(number) && numbers.iter().all(|known| known.name != name) {
            numbers.push(number.clone().named(name));
        }
    }
}

/// Adds the rivals that are known too badly to decide anything and whose intervals contain the best figure: each may be the better.
pub(crate) fn add_wide_rivals<'n>(
    numbers: &mut Vec<Number>,
    rivals: impl IntoIterator<Item = (String, &'n Number)>,
    best: &Number,
) {
    let wide = rivals
        .into_iter()
        .filter(|(_, number)| is_wide_rival(number, best));
    add_unclear(numbers, wide, best.value);
}

/// Whether a figure is known too badly to decide anything, and its interval contains the best one.
pub(crate) fn is_wide_rival(number: &Number, best: &Number) -> bool {
    number.is_too_wide()
        && number
            .interval
            .is_some_and(|interval| interval.contains(best.value))
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
        // What its figures leave open without that is open already.
        if !self.is_decided() {
            return Self { action: None, ..self };
        }
        let text = format!("Not decided: {why}. By these figures: {}", self.text);
        self.not_decided(why, text)
    }

    /// The same without its advice: something else was measured than what it is about, which more repetitions measure too.
    #[must_use]
    pub(crate) fn of_something_else(self, why: &str) -> Self {
        let text = match self.is_decided() {
            true => format!("Not decided: {why}. By these figures: {}", self.text),
            false => format!("Not decided: {why}."),
        };
        Self {
            is_void: true,
            ..self.not_decided(why, text)
        }
    }

    fn not_decided(self, why: &str, text: String) -> Self {
        Self {
            brief: format!("{NOT_DECIDED}: {why}"),
            text,
            action: None,
            ..self
        }
    }

    /// The same without its advice where other programs disturbed the cells that it compares. Of five trials and more, the noise is in the
    /// intervals.
    #[must_use]
    pub(crate) fn unless_disturbed<'c, 'a: 'c>(
        self,
        cells: impl IntoIterator<Item = &'c Cell<'a>> + Clone,
    ) -> Self {
        let mut intervals = self.numbers.iter().filter_map(|number| number.interval);
        let has_few = match self.numbers.is_empty() {
            true => cells.clone().into_iter().any(|cell| cell.trials().len() < FEW),
            false => intervals.any(|interval| interval.confidence < SURE),
        };
        match why_disturbed(cells).filter(|_| has_few) {
            Some(why) => self.disturbed(&why),
            None => self,
        }
    }
}

/// Whether other programs disturbed a cell that has too few trials for the noise to be in its intervals.
pub(crate) fn is_disturbed(cell: &Cell<'_>) -> bool {
    cell.trials().len() < FEW && why_disturbed([cell]).is_some()
}

impl Finding {
    /// The same, which says how many disturbed cells it leaves out.
    #[must_use]
    pub(crate) fn leaving_out(mut self, disturbed: usize) -> Self {
        self.tested = format!(
            "{}. Left out: {} during whose trials other programs used more than {:.0} % of the CPUs.",
            self.tested.trim_end_matches('.'),
            counted(disturbed, "cell"),
            OthersCpu::MATTER * 100.0
        );
        self
    }

    /// The same without a verdict where other programs disturbed the cells that it compares, as advice on them is withheld.
    #[must_use]
    pub(crate) fn unless_disturbed<'c, 'a: 'c>(
        self,
        cells: impl IntoIterator<Item = &'c Cell<'a>> + Clone,
    ) -> Self {
        let has_few = cells.clone().into_iter().any(|cell| cell.trials().len() < FEW);
        let is_tested = matches!(self.verdict, Verdict::Holds | Verdict::DoesNotHold);
        match why_disturbed(cells).filter(|_| has_few && is_tested) {
            Some(why) => Self {
                verdict: Verdict::NotTestable(as_sentence(&why)),
                meaning: String::new(),
                ..self
            },
            None => self,
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

/// How often to measure a number so that its interval is likely to be narrow enough: it narrows with the square root of the trials. With fewer
/// than [`ENOUGH`] trials the width says little, so that as many are named; above that, at most four times as many at once.
fn repetitions_for(number: &Number) -> usize {
    /// More of them at a time are not advised.
    const MOST_TIMES: f64 = 4.0;
    let usual = more_repetitions(number.n);
    match number.plus_minus_percent() {
        Some(percent) if number.n >= ENOUGH => {
            let times = (percent / AIM_PERCENT).powi(2).clamp(1.0, MOST_TIMES);
            usual.max((number.n as f64 * times).ceil() as usize)
        }
        _ => usual,
    }
}

/// The findings of a layer. One about what was measured is not testable where it rests on an interval that is too wide, or on one trial: a
/// missing interval is no narrow one.
pub(super) fn untestable(findings: Vec<Finding>, layer: &LayerOfRun<'_>) -> Vec<Finding> {
    let decide = |mut finding: Finding| {
        let is_tested = matches!(finding.verdict, Verdict::Holds | Verdict::DoesNotHold);
        let is_of_subject = finding.about != About::Run && is_tested;
        if let Some(why) = why_untestable(&finding, layer).filter(|_| is_of_subject) {
            finding.verdict = Verdict::NotTestable(why);
            finding.meaning = String::new();
        }
        finding
    };
    findings.into_iter().map(decide).collect()
}

/// Why the numbers of a finding decide nothing, and the command that would; none where they do.
fn why_untestable(finding: &Finding, layer: &LayerOfRun<'_>) -> Option<String> {
    let numbers = &finding.numbers;
    if let Some(number) = widest(numbers).filter(|_| !finding.is_by_intervals) {
        let command = deciding(more_for(number, layer), layer.lacks_trials(number), layer);
        return Some(format!(
            "These trials cannot tell: the {} is known only as {}; an interval wider than ± {WIDEST_PERCENT:.0} % decides nothing. {}",
            number.name,
            number.with_ends(),
            as_sentence(&command)
        ));
    }
    let number = numbers.iter().find(|number| number.rests_on_one_trial())?;
    let why = format!(
        "One trial cannot tell: the {} ({number}) comes from {ONE_TRIAL}.",
        number.name
    );
    let lacks_trials = layer.lacks_trials(number);
    let command = (!is_of_long_trials(layer))
        .then(|| as_sentence(&deciding(More::Repetitions(ENOUGH), lacks_trials, layer)));
    Some(match command {
        Some(command) => format!("{why} {command}"),
        None => why,
    })
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

/// What one trial says is not firmer than what several say that differ.
fn of_one_trial(claim: &Claim, number: &Number, layer: &LayerOfRun<'_>) -> Claim {
    let why = format!("{NOT_DECIDED} ({}: {number}, {ONE_TRIAL})", number.name);
    let text = format!(
        "Not decided: the {} ({number}) comes from {ONE_TRIAL}.",
        number.name
    );
    let doubt = Doubt {
        why,
        interval: None,
        more: More::Repetitions(ENOUGH),
        lacks_trials: layer.lacks_trials(number),
    };
    if is_of_long_trials(layer) {
        let numbers = claim.numbers.clone();
        return Claim {
            limits: claim.limits.clone(),
            ..Claim::new(claim.topic.clone(), doubt.why, text, numbers)
        };
    }
    withheld(claim, doubt, &text, layer)
}

/// Whether the trials of a layer are long by design and all there: those are not to be repeated for an interval.
fn is_of_long_trials(layer: &LayerOfRun<'_>) -> bool {
    let of_layer = layer.run.trials.iter().filter(|trial| trial.layer == layer.name);
    let is_long = of_layer.map(|trial| trial.duration_s).fold(0.0, f64::max) >= LONG_TRIAL_S;
    is_long && !layer.run.is_unfinished()
}

fn undecided(claim: &Claim, number: &Number, layer: &LayerOfRun<'_>) -> Claim {
    // An interval that is wide may still lie on one side altogether.
    let (known, begin) = match &claim.known_anyway {
        Some(known) => (
            format!("{known}; how much is "),
            format!("{known}. How much is not decided"),
        ),
        None => (String::new(), "Not decided".to_owned()),
    };
    let doubt = Doubt {
        why: format!("{known}{NOT_DECIDED} ({}: {})", number.name, number.with_ends()),
        interval: number.interval,
        more: more_for(number, layer),
        lacks_trials: layer.lacks_trials(number),
    };
    let text = format!(
        "{begin}: the interval of the {} is too wide ({}, {}).",
        number.name,
        number,
        number.certainty()
    );
    withheld(claim, doubt, &text, layer)
}

/// A claim without its advice: why, in a line and in a sentence, and what would decide it.
fn withheld(claim: &Claim, doubt: Doubt, text: &str, layer: &LayerOfRun<'_>) -> Claim {
    let command = deciding(doubt.more, doubt.lacks_trials, layer);
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

/// What narrows the interval of a number enough: more repetitions, or a larger sample where it is of one.
fn more_for(number: &Number, layer: &LayerOfRun<'_>) -> More {
    let sample = number
        .is_of_sample
        .then(|| larger_sample(number, layer))
        .flatten();
    sample.unwrap_or_else(|| More::Repetitions(repetitions_for(number)))
}

/// The sample of which the interval is likely to be narrow enough, and no more than all the data: it narrows with the square root of what is
/// taken.
fn larger_sample(number: &Number, layer: &LayerOfRun<'_>) -> Option<More> {
    let run = layer.run;
    let of_layer = run.trials.iter().filter(|trial| trial.layer == layer.name);
    let mut of_layer = of_layer.peekable();
    let sampling = of_layer
        .peek()
        .and_then(|trial| run.vocabulary.layer(&trial.layer)?.sampling)?;
    let values: Vec<_> = of_layer.flat_map(|trial| &trial.values).collect();
    let all = |name: &'static str| {
        let named = values.iter().filter(move |value| value.metric == name);
        named.filter_map(|value| value.value)
    };
    let bytes = all(sampling.bytes.name).fold(0.0, f64::max);
    let share = all(sampling.share.name).fold(1.0, f64::min);
    let needed = bytes * (number.plus_minus_percent()? / AIM_PERCENT).powi(2);
    // Half of the data and more is as good as all of them. What does not fill a block was not counted.
    let data = bytes / share * 1.05;
    let bytes = if needed > data / 2.0 { data } else { needed };
    (bytes > 0.0).then(|| More::Sample(ByteSize((bytes / MIB).ceil() as u64 * MIB as u64), None))
}

/// What to do: measure the same again, and more. Stores whose effort followed doubt go on in that way.
fn deciding(more: More, lacks_trials: bool, layer: &LayerOfRun<'_>) -> String {
    let by_budget = More::by_budget_of(layer.run).filter(|_| layer.name == kv::SCHEMA.name);
    let more = by_budget.unwrap_or(more);
    let commands = Commands::of(layer.run)
        .under(layer.limits)
        .resuming_if(lacks_trials);
    repeating(&commands, more, &[layer.name])
}

/// The command that measures these layers again, and more; of a run that lacks trials of them the one that goes on with it. Of a run that is
/// not kept there is no plan to run again.
pub(crate) fn repeating(commands: &Commands, more: More, layers: &[&str]) -> String {
    if let Some(command) = commands.resuming() {
        return format!("resume the run, which is not finished, with `{command}`");
    }
    match commands.again(layers, more) {
        Some(command) => format!("run `{command}`{}", commands.before_again(layers)),
        None if commands.is_imported() => {
            "measure each job more often with the program that measured it, and import all results".to_owned()
        }
        None => format!("repeat the command with `{more}`"),
    }
}
