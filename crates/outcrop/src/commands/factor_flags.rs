//! One flag for each factor of a layer's workload: name, help and values are those of the layer's schema.

use clap::{Arg, ArgAction, ArgMatches, Command};
use outcrop_lab::Draft;
use outcrop_schema::{About, Column, FactorRef, LayerSchema};
use std::marker::PhantomData;

/// A layer that has a one-off command.
pub(crate) trait OneOff {
    /// Its vocabulary.
    const SCHEMA: &'static LayerSchema;
    /// Values that the command takes where a flag is left out, instead of the one that a plan would.
    const DEFAULTS: &'static [(FactorRef, &'static [&'static str])] = &[];
    /// Another tool's names of factors, which are understood and not shown.
    const ALIASES: &'static [(FactorRef, &'static str)] = &[];
    /// Other spellings of values.
    const SPELL: Spell = |_, value| Ok(vec![value.to_owned()]);
}

/// A value in our own spelling, or several; or a sentence with what to write.
pub(crate) type Spell = fn(&About, &str) -> Result<Vec<String>, String>;

/// The factors whose flags were given, each with its values; several values make it vary.
#[derive(Debug)]
pub(crate) struct FactorFlags<L> {
    given: Vec<Given>,
    layer: PhantomData<L>,
}

/// What one flag says of a factor.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) factor: FactorRef,
    pub(crate) values: Vec<String>,
    /// The values as they were typed, which may be another tool's spelling.
    pub(crate) typed: Vec<String>,
    /// As it was typed: `--iodepth`.
    pub(crate) flag: String,
}

impl Given {
    /// Whether another flag says the same of the factor.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let canonical = |given: &Self| -> Vec<String> {
            let one = |value: &String| match given.factor.read(value) {
                Ok(setting) => setting.spelling().to_owned(),
                Err(_) => value.clone(),
            };
            given.values.iter().map(one).collect()
        };
        canonical(self) == canonical(other)
    }

    /// The flag with its values, where it takes any: `--iodepth 4`.
    pub(crate) fn as_typed(&self) -> String {
        match self.typed.is_empty() {
            true => self.flag.clone(),
            false => format!("{} {}", self.flag, self.typed.join(",")),
        }
    }
}

impl<L: OneOff> FactorFlags<L> {
    /// The draft with what the flags say, and the command's own values for those that were left out.
    pub(crate) fn write_over_defaults(&self, draft: Draft) -> Draft {
        let is_given = |factor: FactorRef| self.of(factor.about()).is_some();
        let left_out = L::DEFAULTS.iter().filter(|(factor, _)| !is_given(*factor));
        let draft = left_out.fold(draft, |draft, (factor, values)| {
            let flag = format!("--{}", factor.flag_name());
            draft.with_workload(factor.about(), values.iter().map(ToString::to_string), &flag)
        });
        self.write_over(draft)
    }
}

impl<L> FactorFlags<L> {
    /// The draft with what the flags say.
    pub(crate) fn write_over(&self, draft: Draft) -> Draft {
        self.given.iter().fold(draft, |draft, given| {
            draft.with_workload(given.factor.about(), given.values.iter().cloned(), &given.flag)
        })
    }

    /// Refuses all of them together with a flag that says what they would.
    pub(crate) fn none_with(&self, flag: &str) -> anyhow::Result<()> {
        match self.given.first() {
            Some(given) => Err(anyhow::anyhow!(contradiction(&given.as_typed(), flag))),
            None => Ok(()),
        }
    }

    /// What each of them says.
    pub(crate) fn all(&self) -> &[Given] {
        &self.given
    }

    /// What the flags say of a factor.
    pub(crate) fn of(&self, factor: &About) -> Option<&Given> {
        self.given.iter().find(|given| given.factor.name == factor.name)
    }
}

/// The help of a factor's flag, with what the command takes where it is left out.
fn help_of_flag<L: OneOff>(factor: FactorRef) -> String {
    match L::DEFAULTS.iter().find(|(known, _)| known.name == factor.name) {
        Some((_, values)) => format!("{} [default: {}]", factor.help, values.join(",")),
        None => help_of(factor.about()),
    }
}

/// The factor's help, with its default.
pub(crate) fn help_of(factor: &About) -> String {
    let default = factor.default.map(|default| format!(" [default: {default}]"));
    format!("{}{}", factor.help, default.unwrap_or_default())
}

/// `BYTES`, `N`, or the last word of the factor's name.
fn value_name(factor: FactorRef) -> String {
    match factor.column() {
        Column::Bytes => "BYTES".to_owned(),
        Column::Whole => "N".to_owned(),
        Column::Text | Column::Real => {
            let last = factor.name.rsplit('_').next();
            last.unwrap_or(factor.name).to_uppercase()
        }
    }
}

/// The names by which another tool calls a factor.
fn aliases_of<L: OneOff>(factor: FactorRef) -> impl Iterator<Item = &'static str> {
    let aliases = L::ALIASES.iter();
    aliases
        .filter(move |(known, _)| known.name == factor.name)
        .map(|(_, alias)| *alias)
}

impl<L: OneOff> clap::Args for FactorFlags<L> {
    fn augment_args(command: Command) -> Command {
        L::SCHEMA.workload.iter().fold(command, |command, factor| {
            let flag = |name: &'static str, long: String| {
                Arg::new(name)
                    .long(long)
                    .help(help_of_flag::<L>(*factor))
                    .value_name(value_name(*factor))
                    .value_delimiter(',')
                    .action(ArgAction::Append)
            };
            let command = command.arg(flag(factor.name, factor.flag_name()));
            // Flags of their own, so that messages have the name that was typed.
            let hidden = |alias: &'static str| flag(alias, alias.to_owned()).hide(true);
            aliases_of::<L>(*factor).fold(command, |command, alias| command.arg(hidden(alias)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// What the flag with this identifier says of a factor.
fn given<L: OneOff>(
    matches: &ArgMatches,
    factor: FactorRef,
    id: &str,
    flag: String,
) -> Result<Option<Given>, clap::Error> {
    let Some(given) = matches.get_many::<String>(id) else {
        return Ok(None);
    };
    let mut values = Vec::new();
    for value in given.clone() {
        let refused = |why| {
            let message = format!("{flag}: {why}\n");
            clap::Error::raw(clap::error::ErrorKind::InvalidValue, message)
        };
        values.extend(L::SPELL(factor.about(), value).map_err(refused)?);
    }
    Ok(Some(Given {
        factor,
        values,
        typed: given.cloned().collect(),
        flag,
    }))
}

impl<L: OneOff> clap::FromArgMatches for FactorFlags<L> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut all: Vec<Given> = Vec::new();
        for factor in L::SCHEMA.workload {
            let names = [(factor.name, factor.flag_name())];
            let aliases = aliases_of::<L>(*factor).map(|alias| (alias, alias.to_owned()));
            let mut ours: Option<Given> = None;
            for (id, long) in names.into_iter().chain(aliases) {
                let Some(next) = given::<L>(matches, *factor, id, format!("--{long}"))? else {
                    continue;
                };
                if let Some(first) = ours.as_ref().filter(|first| !first.agrees(&next)) {
                    let message = contradiction(&next.as_typed(), &first.as_typed());
                    let kind = clap::error::ErrorKind::ArgumentConflict;
                    return Err(clap::Error::raw(kind, message + "\n"));
                }
                ours = Some(next);
            }
            all.extend(ours);
        }
        Ok(Self {
            given: all,
            layer: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Two flags that say different things of one factor.
pub(crate) fn contradiction(one: &str, other: &str) -> String {
    format!("{one} and {other} contradict each other; leave one of them out")
}
