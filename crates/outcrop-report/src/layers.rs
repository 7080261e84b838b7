//! The layers that can be reported: a new one is a line here.

use crate::layer::{ReportedLayer, cache, column, compression, device, filesystem, kv};

/// Every layer that ships, in the order of the page.
pub(crate) static LAYERS: &[&ReportedLayer] = &[
    &device::LAYER,
    &filesystem::LAYER,
    &compression::LAYER,
    &column::LAYER,
    &kv::LAYER,
    &cache::LAYER,
];
