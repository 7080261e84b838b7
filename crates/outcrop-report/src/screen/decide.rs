//! What to measure where figures do not decide what to do.

use outcrop_schema::kv;

use super::INDENT;
use crate::answer::Doubt;
use crate::command::{Commands, More};
use crate::layer::undecided::repeating;
use crate::placement::Next;
use crate::report::{LayerSection, Report};
use crate::wrap::wrapped;

/// What would decide what a layer's claims leave open; none where they leave nothing open.
fn wanted(layer: &LayerSection) -> Option<More> {
    doubts(layer).map(|doubt| doubt.more).reduce(More::and)
}

fn doubts(layer: &LayerSection) -> impl Iterator<Item = &Doubt> {
    let advice = layer.answer.advice.iter();
    advice.filter_map(|claim| claim.doubt.as_ref())
}

/// Commands about what these layers leave open: resuming the run is one only where it measures what they lack.
fn commands_for(layers: &[&LayerSection], report: &Report, next: Option<&Next>) -> Commands {
    let mut doubts = layers.iter().flat_map(|layer| doubts(layer));
    let lacks_trials =
        doubts.any(|doubt| doubt.lacks_trials) || (next.is_some() && report.run.lacks_trials_of_stores);
    Commands::of_summary(&report.run).resuming_if(lacks_trials)
}

/// What where to compress would have measured next, where claims of layers are open too: then one command does both.
pub(super) fn next_of_all(report: &Report) -> Option<&Next> {
    let is_open = report.layers.iter().any(|layer| wanted(layer).is_some());
    report
        .placement
        .as_ref()
        .filter(|_| is_open)
        .and_then(|placement| placement.next.as_ref())
}

/// The commands that decide what claims and where to compress leave open. What a larger sample decides, more repetitions of other layers do not.
fn commands(layers: &[LayerSection], report: &Report) -> Vec<String> {
    let is_sampled = |layer: &&LayerSection| wanted(layer).is_some_and(More::is_of_sample);
    let (sampled, others): (Vec<_>, Vec<_>) = layers.iter().partition(is_sampled);
    let mut commands: Vec<String> = to_repeat(&others, report).into_iter().collect();
    if let Some(more) = sampled.iter().filter_map(|layer| wanted(layer)).reduce(More::and) {
        let names: Vec<&str> = sampled.iter().map(|layer| layer.layer.as_str()).collect();
        commands.push(repeating(&commands_for(&sampled, report, None), more, &names));
    }
    commands.dedup();
    commands
}

/// What to measure where figures do not decide what to do: once for all claims and where to compress, on lines of its own.
pub(super) fn to_decide(layers: &[LayerSection], report: &Report, width: usize) -> Vec<String> {
    let commands = commands(layers, report);
    if commands.is_empty() {
        return Vec::new();
    }
    let command = commands.join("; and ");
    // More trials next to the same other work leave the intervals as wide.
    let text = match &report.other_load {
        None => format!("More measurements may decide the rest: {command}."),
        Some(load) => {
            format!(
                "More measurements may decide the rest: {command}, on a quiet machine (there was other work: {load})."
            )
        }
    };
    wrapped(&text, width, INDENT)
}

/// Whether that is to resume the run.
pub(super) fn says_to_resume(layers: &[LayerSection], report: &Report) -> bool {
    let resume = Commands::of_summary(&report.run).resuming();
    resume.is_some_and(|resume| {
        let mut commands = commands(layers, report).into_iter();
        commands.any(|command| command.contains(&resume))
    })
}

/// The command that decides what more trials would, of these layers and of where to compress.
fn to_repeat(layers: &[&LayerSection], report: &Report) -> Option<String> {
    let repetitions = layers.iter().filter_map(|layer| wanted(layer)).reduce(More::and);
    let next = next_of_all(report);
    // The claims of stores whose effort followed doubt name a budget too.
    let is_of_stores = |layer: &&LayerSection| wanted(layer).is_some() && layer.layer == kv::SCHEMA.name;
    let placement = report
        .placement
        .as_ref()
        .filter(|_| layers.iter().any(is_of_stores));
    let by_budget = placement
        .and_then(|placement| placement.race.budget)
        .map(More::after);
    let with_next = |next: &Next| repetitions.map_or(next.more, |more| next.more.and(more));
    let more = next.map(with_next).or(by_budget).or(repetitions)?;
    let is_of_next = |layer: &LayerSection| next.is_some() && layer.layer == kv::SCHEMA.name;
    let open = layers
        .iter()
        .filter(|layer| wanted(layer).is_some() || is_of_next(layer));
    let names: Vec<&str> = open.map(|layer| layer.layer.as_str()).collect();
    Some(repeating(&commands_for(layers, report, next), more, &names))
}
