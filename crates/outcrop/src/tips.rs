//! Tips behind a flag that a command does not have: where it exists, and none that would make a file's name of it.

use clap::CommandFactory as _;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::grammar::Cli;

/// Commands that take everything from plans.
const OF_PLANS: [&str; 2] = ["run", "profile"];
/// What people try for a value of a plan.
const SET: &str = "--set";
/// What people try for a run that was interrupted.
const RESUME: &str = "--resume";

/// The error with such tips; `command` is the subcommand that was given.
pub(crate) fn corrected(mut error: clap::Error, command: Option<&str>) -> clap::Error {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg).cloned() else {
        return error;
    };
    if error.kind() != ErrorKind::UnknownArgument || !flag.starts_with("--") {
        return error;
    }
    let mut tips = match error.remove(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => tips,
        _ => Vec::new(),
    };
    // No argument of ours begins with two hyphens.
    tips.retain(|tip| !tip.to_string().contains("as a value"));
    if let Some(tip) = command.and_then(|command| effort_instead(command, &flag)) {
        // Another flag that is spelled alike, and the usage with it, lead astray.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        tips = vec![StyledStr::from(tip)];
    } else if flag == RESUME {
        // A flag with a name that is near does something else.
        error.remove(ContextKind::SuggestedArg);
        tips.push(StyledStr::from(
            "'outcrop run --resume RUN' measures what is missing of any run ('outcrop ab --resume RUN' where it has two variants)",
        ));
    } else if command.is_some_and(|command| OF_PLANS.contains(&command)) {
        let others = commands_with(&flag);
        if !others.is_empty() || flag == SET {
            // Another flag with such a name does something else.
            error.remove(ContextKind::SuggestedArg);
            tips.extend(others_have(&flag, &others).map(StyledStr::from));
            tips.push(StyledStr::from(
                "to change what a plan measures, write it to a file (outcrop plans NAME > mine.toml), edit it and run it",
            ));
        }
    }
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// What a command has in place of the `--quick` and `--full` of a profile.
fn effort_instead(command: &str, flag: &str) -> Option<String> {
    let cli = Cli::command();
    let mut flags = cli.find_subcommand(command)?.get_arguments();
    let has_effort = flags.any(|argument| argument.get_long() == Some("effort"));
    let effort = ["quick", "full"]
        .into_iter()
        .find(|effort| flag == format!("--{effort}"))?;
    has_effort.then(|| format!("'outcrop {command}' has '--effort {effort}'"))
}

/// The subcommands that have a flag, in the order of the help.
fn commands_with(flag: &str) -> Vec<String> {
    let cli = Cli::command();
    let name = flag.trim_start_matches('-');
    let has = |command: &&clap::Command| {
        let mut flags = command.get_arguments().filter(|argument| !argument.is_hide_set());
        !command.is_hide_set() && flags.any(|argument| argument.get_long() == Some(name))
    };
    let found = cli.get_subcommands().filter(has);
    found.map(|command| command.get_name().to_owned()).collect()
}

/// `'outcrop device' and 'outcrop kv' have '--engine'`.
fn others_have(flag: &str, commands: &[String]) -> Option<String> {
    let named: Vec<String> = commands.iter().map(|name| format!("'outcrop {name}'")).collect();
    let (last, others) = named.split_last()?;
    Some(match others {
        [] => format!("{last} has '{flag}'"),
        others => format!("{} and {last} have '{flag}'", others.join(", ")),
    })
}
