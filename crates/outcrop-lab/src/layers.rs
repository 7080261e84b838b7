//! The layers that there are: a new one is a line here.

use std::fmt;

use outcrop_schema::Vocabulary;

use crate::layer::cache::Cache;
use crate::layer::column::Column;
use crate::layer::compression::Compression;
use crate::layer::device::Device;
use crate::layer::filesystem::Filesystem;
use crate::layer::kv::Kv;
use crate::layer::{Layer, LayerRef};

/// The layers that plans may name.
#[derive(Clone, Copy)]
pub struct Layers {
    layers: &'static [&'static dyn Layer],
    vocabulary: Vocabulary,
}

/// Every layer that ships, in the order of the stack.
static LAYERS: &[&dyn Layer] = &[&Device, &Filesystem, &Compression, &Column, &Kv, &Cache];

impl Default for Layers {
    /// Those that ship.
    fn default() -> Self {
        Self::of(LAYERS, Vocabulary::default())
    }
}

impl Layers {
    /// Other layers, with their vocabulary.
    pub const fn of(layers: &'static [&'static dyn Layer], vocabulary: Vocabulary) -> Self {
        Self { layers, vocabulary }
    }

    /// All of them, in the order of the stack.
    pub fn all(self) -> impl Iterator<Item = LayerRef> {
        self.layers.iter().copied().map(LayerRef)
    }

    /// The layer of a name.
    pub fn named(self, name: &str) -> Option<LayerRef> {
        self.all().find(|layer| layer.name() == name)
    }

    /// Their vocabulary.
    pub const fn vocabulary(self) -> Vocabulary {
        self.vocabulary
    }
}

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}
