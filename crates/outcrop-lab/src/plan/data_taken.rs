//! What the plans of a run do with the user's data.

use super::draft::Draft;
use super::fit::DataFactor;
use crate::layer::{DataSettings, LayerRef};

/// What became of the user's data.
#[derive(Debug, Default)]
pub(super) struct DataTaken {
    /// Whether some plan measures them.
    pub(super) is_taken: bool,
    /// Whether some plan was told how they are read.
    pub(super) is_told: bool,
    /// Why layers that measure data do not measure these.
    pub(super) refusals: Vec<String>,
    /// What of the data is left out.
    pub(super) notes: Vec<String>,
    /// Factors whose values came with them.
    pub(super) factors: Vec<DataFactor>,
}

impl DataTaken {
    /// Remembers the factor that data give, unless the plan names it itself.
    pub(super) fn take_factor(&mut self, layer: LayerRef, settings: &DataSettings, draft: &Draft) {
        if let Some((factor, values)) = &settings.factor
            && !draft.workload.contains_key(factor.name)
            && !self.factors.iter().any(|known| known.layer == layer)
        {
            self.factors.push(DataFactor {
                layer,
                name: factor.name,
                values: values.clone(),
                otherwise: settings.otherwise.clone(),
            });
        }
    }
}
