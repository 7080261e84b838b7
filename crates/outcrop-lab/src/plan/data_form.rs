//! What a caller says of how data are to be read, for the layers whose subjects have factors for it.

use outcrop_schema::column::OF_DELIMITED;
use outcrop_schema::{FactorRef, Settings};

use super::check::{bad, read};
use super::draft::{Draft, Located};
use crate::error::LabError;
use crate::layer::LayerRef;

/// Factors of a subject that say how the user's data are read, with their values.
#[derive(Clone, Debug, Default)]
pub struct DataForm(Vec<(FactorRef, Located<String>)>);

impl DataForm {
    /// Says one thing more; `at` is the flag.
    #[must_use]
    pub fn with(mut self, factor: FactorRef, value: &str, at: &str) -> Self {
        self.0.push((factor, Located::new(value.to_owned(), at)));
        self
    }

    /// The flag of the first thing that is said; none where nothing is.
    pub(crate) fn first_at(&self) -> Option<&str> {
        self.0.first().map(|(_, value)| value.at.as_str())
    }

    /// What of it the subjects of a layer have.
    pub(crate) fn of_layer(&self, layer: LayerRef) -> Result<Settings, LabError> {
        let mut settings = Settings::default();
        for (factor, value) in &self.0 {
            let mut known = layer.schema().subject.iter();
            if known.any(|known| known.name == factor.name) {
                settings.insert(factor.name, read(layer, *factor, value)?);
            }
        }
        Ok(settings)
    }

    /// The same over what a plan says of its subject: how data in its place are read.
    pub(super) fn over(&self, draft: &Draft, layer: LayerRef) -> Result<Settings, LabError> {
        let mut settings = self.of_layer(layer)?;
        for (factor, value) in said_in(draft, layer) {
            if settings.setting(factor.name).is_none() {
                settings.insert(factor.name, read(layer, factor, value)?);
            }
        }
        Ok(settings)
    }

    /// Where somebody says it: the first flag, or else the first place in the plan.
    pub(super) fn place<'a>(&'a self, draft: &'a Draft, layer: LayerRef) -> &'a str {
        let in_plan = || said_in(draft, layer).next().map(|(_, value)| value.at.as_str());
        self.first_at().or_else(in_plan).unwrap_or_default()
    }

    /// Refuses what no layer of the run was told.
    pub(super) fn check_told(&self, has_data: bool, is_told: bool) -> Result<(), LabError> {
        match self.first_at() {
            Some(at) if !has_data => Err(bad(
                at,
                "this says how your own data are read, and none are given; name them with --data",
            )),
            Some(at) if !is_told => Err(bad(
                at,
                "this says how tables are read, and no plan of this run reads your data as tables; leave it out, or measure the column layer too",
            )),
            _ => Ok(()),
        }
    }
}

/// What a plan says of how the data of its subject are read, where the subjects of its layer have factors for it.
fn said_in(draft: &Draft, layer: LayerRef) -> impl Iterator<Item = (FactorRef, &Located<String>)> {
    let known = layer.schema().subject;
    let of_layer = OF_DELIMITED
        .iter()
        .copied()
        .filter(|factor| known.iter().any(|known| known.name == factor.name));
    of_layer.filter_map(|factor| Some((factor, &draft.subject.get(factor.name)?.1)))
}
