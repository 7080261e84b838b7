//! The layers that can be reported: a new one is a line here.

use crate::layer::{ReportedLayer, cache, column, compression, device};

/// Every layer that ships, in the order of the page.
pub(crate) static LAYERS: &[&ReportedLayer] =
    &[&device::LAYER, &compression::LAYER, &column::LAYER, &cache::LAYER];
