//! The trials of a layer that failed.

use crate::error::LabError;

#[derive(Debug, Default)]
pub(crate) struct Failures {
    pub(crate) count: usize,
    pub(crate) first: String,
}

impl Failures {
    /// That not one trial of the layer could be measured.
    pub(crate) fn of_layer(&self, layer: &str) -> LabError {
        LabError::LayerFailed {
            layer: layer.to_owned(),
            message: self.first.clone(),
        }
    }
}
