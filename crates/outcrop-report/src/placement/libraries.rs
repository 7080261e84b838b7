//! Whether a store and the codec that stands for its own were the same library: where they were not, a prediction's error holds that difference too.

use std::collections::BTreeMap;

use outcrop_schema::compression::{self, CODEC, Library};
use outcrop_schema::kv;
use outcrop_workload::store::{StoreCodec, StoreCompression};

use crate::cell::Cell;

/// The cell of the codec layer that stands for a store's codec: of those that are it, the system's library, which a store is linked to.
pub(super) fn of_store<'c, 'a>(
    codecs: &'c [Cell<'a>],
    compression: &StoreCompression,
) -> Option<&'c Cell<'a>> {
    let wanted = spelling(compression)?;
    let is_it = |cell: &&Cell<'_>| {
        let name = cell.get(&CODEC);
        let is_named = name.is_some_and(|name| name.of_any_library_spelled() == wanted);
        is_named && cell.value(&compression::LATENCY.decompress.mean).is_some()
    };
    let is_of_system = |cell: &&Cell<'_>| cell.get(&CODEC).is_some_and(compression::CodecName::is_of_system);
    let found = || codecs.iter().filter(is_it);
    found().find(is_of_system).or_else(|| found().next())
}

/// The codec layer's spelling of a store's codec, whichever library it is.
fn spelling(compression: &StoreCompression) -> Option<String> {
    match compression.codec {
        StoreCodec::None => None,
        StoreCodec::Zlib => Some(compression.to_string().replace("zlib", "deflate-zlib")),
        _ => Some(compression.to_string()),
    }
}

/// The library of a codec's cell; none in runs that did not record it.
pub(super) fn of_codec<'a>(cell: &Cell<'a>) -> Option<Library<'a>> {
    Library::of(cell.remark(&compression::LIBRARY)?)
}

/// What was the library on both sides of each prediction that is checked, by the store's codec.
#[derive(Default)]
pub(super) struct Libraries {
    /// The same file: `zstd:1 (libzstd 1.5.4)`.
    same: BTreeMap<String, String>,
    /// Sentences.
    different: BTreeMap<String, String>,
    /// Codecs of which one side is not known.
    unknown: BTreeMap<String, String>,
}

impl Libraries {
    /// Takes down the two sides of a prediction.
    pub(super) fn add(&mut self, store: &Cell<'_>, codec: &Cell<'_>) {
        let Some(compression) = store.get(&kv::COMPRESSION) else {
            return;
        };
        let name = compression.to_string();
        let linked = store.remark(&kv::LIBRARIES);
        let linked = linked.and_then(|text| kv::library_among(text, compression.codec));
        match (of_codec(codec), linked) {
            (Some(library), Some(linked)) if library.file == Some(linked) => {
                self.same
                    .insert(name.clone(), format!("{name} ({})", library.name));
            }
            (Some(library), Some(linked)) => {
                let measured = match library.file {
                    Some(file) => format!("{} ({file})", library.name),
                    None => format!("{} of this program", library.name),
                };
                let engine = store.label(&[&kv::ENGINE]);
                let sentence = format!(
                    "{name} was measured with {measured}, but {engine} compresses with {linked}: the error of its predictions includes the \
                     difference between the two."
                );
                self.different.insert(name, sentence);
            }
            _ => {
                self.unknown.insert(name.clone(), name);
            }
        }
    }

    /// What to know of them, a sentence each.
    pub(super) fn sentences(self) -> Vec<String> {
        let list = |names: BTreeMap<String, String>| names.into_values().collect::<Vec<_>>().join(", ");
        let mut sentences = Vec::new();
        if !self.same.is_empty() {
            sentences.push(format!(
                "Store and codec used the same library file: {}.",
                list(self.same)
            ));
        }
        sentences.extend(self.different.into_values());
        if !self.unknown.is_empty() {
            sentences.push(format!(
                "It is unknown whether store and codec used the same library file: {}.",
                list(self.unknown)
            ));
        }
        sentences
    }
}
