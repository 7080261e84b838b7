//! One flag for each factor of a layer's workload: name, help and values are those of the layer's schema.

use clap::{Arg, ArgAction, ArgMatches, Command};
use outcrop_lab::Draft;
use outcrop_schema::{About, Column, FactorRef, LayerSchema};
use std::marker::PhantomData;

/// A layer that has a one-off command.
pub(crate) trait OneOff {
    /// Its vocabulary.
    const SCHEMA: &'static LayerSchema;
    /// Other names that the flags of factors answer to; not shown.
    const ALIASES: &'static [(FactorRef, &'static str)] = &[];
    /// Other spellings of values.
    const SPELL: Spell = |_, value| Ok(vec![value.to_owned()]);
}

/// A value in our own spelling, or several; or a sentence with what to write.
pub(crate) type Spell = fn(&About, &str) -> Result<Vec<String>, String>;

/// The factors whose flags were given, each with its values; several values make it vary.
#[derive(Debug)]
pub(crate) struct FactorFlags<L> {
    given: Vec<(FactorRef, Vec<String>)>,
    layer: PhantomData<L>,
}

impl<L> FactorFlags<L> {
    /// The draft with what the flags say.
    pub(crate) fn write_over(&self, draft: Draft) -> Draft {
        self.given.iter().fold(draft, |draft, (factor, values)| {
            let flag = format!("--{}", factor.flag_name());
            draft.with_workload(factor.about(), values.iter().cloned(), &flag)
        })
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

impl<L: OneOff> clap::Args for FactorFlags<L> {
    fn augment_args(command: Command) -> Command {
        L::SCHEMA.workload.iter().fold(command, |command, factor| {
            let aliases = L::ALIASES.iter().filter(|(known, _)| known.name == factor.name);
            command.arg(
                Arg::new(factor.name)
                    .aliases(aliases.map(|(_, alias)| *alias))
                    .long(factor.flag_name())
                    .help(help_of(factor.about()))
                    .value_name(value_name(*factor))
                    .value_delimiter(',')
                    .action(ArgAction::Append),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<L: OneOff> clap::FromArgMatches for FactorFlags<L> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for factor in L::SCHEMA.workload {
            let Some(values) = matches.get_many::<String>(factor.name) else {
                continue;
            };
            let mut spelled = Vec::new();
            for value in values {
                let refused = |why| {
                    let message = format!("--{}: {why}\n", factor.flag_name());
                    clap::Error::raw(clap::error::ErrorKind::InvalidValue, message)
                };
                spelled.extend(L::SPELL(factor.about(), value).map_err(refused)?);
            }
            given.push((*factor, spelled));
        }
        Ok(Self {
            given,
            layer: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
