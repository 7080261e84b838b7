//! Settings that another setting leaves without effect: the cells would be named after what they do not do.

use std::collections::BTreeSet;

use outcrop_schema::Settings;
use outcrop_schema::kv;
use outcrop_workload::store::StoreCompression;

use super::parameters::compresses;
use crate::layer::{Origin, Refusal};

/// Refuses codecs that the codecs of levels replace, and dictionaries where nothing is compressed.
pub(super) fn check(
    combinations: &[Settings],
    origin: &dyn Fn(&str) -> Origin,
) -> Result<(), (usize, Refusal)> {
    check_codecs(combinations, origin)?;
    check_dictionary(combinations)
}

/// A codec next to those of levels, where somebody asked for it: typed, or several to be compared.
fn check_codecs(combinations: &[Settings], origin: &dyn Fn(&str) -> Origin) -> Result<(), (usize, Refusal)> {
    let replaced: Vec<(usize, StoreCompression)> = (0..)
        .zip(combinations)
        .filter_map(|(at, factors)| Some((at, replaced(factors)?)))
        .collect();
    let names: BTreeSet<String> = replaced.iter().map(|(_, codec)| codec.to_string()).collect();
    let Some((at, _)) = replaced.first() else {
        return Ok(());
    };
    if origin(kv::COMPRESSION.name) != Origin::Flag && names.len() < 2 {
        return Ok(());
    }
    let message = format!(
        "codecs of levels replace --compression, so {} would have no effect; leave --compression out, and list what to compare \
         as codecs of levels (--level-codecs none,lz4/zstd)",
        names.into_iter().collect::<Vec<_>>().join(", ")
    );
    Err((*at, Refusal::of(&kv::LEVEL_CODECS, message)))
}

/// The codec of a combination whose levels have codecs, unless it says the level at which one of these compresses.
pub(super) fn replaced(factors: &Settings) -> Option<StoreCompression> {
    let engine = *factors.value(&kv::ENGINE);
    let levels = factors.get(&kv::LEVEL_CODECS)?.codecs();
    let codec = *factors.get(&kv::COMPRESSION)?;
    let says_level = codec.level.is_some() && levels.contains(&codec.codec);
    (kv::has(engine, &kv::LEVEL_CODECS) && !levels.is_empty() && !says_level).then_some(codec)
}

/// A dictionary that no combination of the engines that have dictionaries could use.
fn check_dictionary(combinations: &[Settings]) -> Result<(), (usize, Refusal)> {
    let asked = || {
        (0..).zip(combinations).filter(|(_, factors)| {
            let engine = *factors.value(&kv::ENGINE);
            let bytes = factors.get(&kv::DICTIONARY).map_or(0, |bytes| bytes.0);
            bytes > 0 && kv::has(engine, &kv::DICTIONARY)
        })
    };
    match asked().next() {
        Some((at, _)) if !asked().any(|(_, factors)| compresses(factors)) => {
            let message = "nothing is compressed, so a dictionary has no effect; leave it out, or choose a codec, such as --compression zstd:3";
            Err((at, Refusal::of(&kv::DICTIONARY, message.to_owned())))
        }
        _ => Ok(()),
    }
}
