//! What a caller says of how data are to be read, for the layers whose subjects have factors for it.

use outcrop_schema::{FactorRef, Settings};

use super::check::{bad, read};
use super::draft::Located;
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
