//! The layers that there are: a new one is a line here.

use std::collections::BTreeSet;

use outcrop_measure::metric::Metric;
use outcrop_workload::word::hint;

use crate::layer::{LayerSchema, TableColumn};
use crate::{cache, column, compression, device, filesystem, kv};

/// The layers that somebody speaks of.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary(&'static [&'static LayerSchema]);

/// Every layer that ships, in the order of the stack.
static LAYERS: &[&LayerSchema] = &[
    &device::SCHEMA,
    &filesystem::SCHEMA,
    &compression::SCHEMA,
    &column::SCHEMA,
    &kv::SCHEMA,
    &cache::SCHEMA,
];

impl Default for Vocabulary {
    /// That of the layers that ship.
    fn default() -> Self {
        Self(LAYERS)
    }
}

/// Two speak of the same layers when the names are the same.
impl PartialEq for Vocabulary {
    fn eq(&self, other: &Self) -> bool {
        let names =
            |vocabulary: &Self| -> Vec<&str> { vocabulary.0.iter().map(|layer| layer.name).collect() };
        names(self) == names(other)
    }
}

impl Eq for Vocabulary {}

impl Vocabulary {
    /// A vocabulary of other layers.
    pub const fn of(layers: &'static [&'static LayerSchema]) -> Self {
        Self(layers)
    }

    /// Its layers, in the order of the stack.
    pub const fn layers(self) -> &'static [&'static LayerSchema] {
        self.0
    }

    /// A layer by its name.
    pub fn layer(self, name: &str) -> Option<&'static LayerSchema> {
        self.0.iter().copied().find(|layer| layer.name == name)
    }

    /// A metric of a layer, by their names.
    pub fn metric(self, layer: &str, name: &str) -> Option<Metric> {
        self.layer(layer)?.metric(name)
    }

    /// The metrics that tables of cells have under a heading, written with `_` for blanks: `ratio` is `compression_ratio`.
    pub fn under_heading(self, heading: &str) -> BTreeSet<&'static str> {
        let columns = self.0.iter().flat_map(|layer| layer.table);
        let is_called = |column: &&TableColumn| column.heading.replace(' ', "_") == heading;
        columns
            .filter(is_called)
            .map(|column| column.metric.name)
            .collect()
    }

    /// What to say of a layer that is none.
    pub fn hint(self, seen: &str) -> String {
        // The factor that a layer is known by, such as `codec`.
        if let Some(layer) = self.0.iter().find(|layer| layer.factor(seen).is_some()) {
            return format!("did you mean `{}`?", layer.name);
        }
        let names: Vec<&str> = self.0.iter().map(|layer| layer.name).collect();
        hint(seen, &names)
    }
}
