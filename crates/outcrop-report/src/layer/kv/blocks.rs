//! The block-level ratios of the compression layer, where a run has both layers on the same data.

use outcrop_results::{CellView, RunView};
use outcrop_schema::compression;
use outcrop_schema::kv::{COMPRESSION, COMPRESSION_BLOCK_SIZE};
use outcrop_workload::store::{StoreCodec, StoreCompression};

use crate::cell::Cell;

/// The ratio of one codec and block size.
pub(super) struct BlockRatio {
    codec: String,
    block_size: String,
    data: String,
    pub(super) ratio: f64,
}

/// All of them that a run has.
pub(super) fn ratios(run: &RunView) -> Vec<BlockRatio> {
    let views = run.cells();
    let is_of_codecs = |view: &&CellView<'_>| view.layer == compression::SCHEMA.name;
    let ratio = |view: &CellView<'_>| {
        let factors = compression::SCHEMA.read(view.factors);
        let data = view.completed.first()?.data.as_ref()?;
        Some(BlockRatio {
            codec: factors.spelling(&compression::CODEC)?.to_owned(),
            block_size: factors.spelling(&compression::COMPRESSION_BLOCK_SIZE)?.to_owned(),
            data: data.whole.clone(),
            ratio: view.summary(compression::COMPRESSION_RATIO.name)?.median,
        })
    };
    views.iter().filter(is_of_codecs).filter_map(ratio).collect()
}

/// The ratio of a cell's codec on blocks of its size and on its data.
pub(super) fn ratio_of(ratios: &[BlockRatio], cell: &Cell<'_>) -> Option<f64> {
    let codec = name_of(*cell.get(&COMPRESSION)?)?;
    let block_size = cell.spelling(&COMPRESSION_BLOCK_SIZE);
    let data = &cell.trials().first()?.data.as_ref()?.whole;
    let is_same = |one: &&BlockRatio| one.codec == codec && one.block_size == block_size && one.data == *data;
    ratios.iter().find(is_same).map(|one| one.ratio)
}

/// The name that the compression layer has for an engine's codec; none for a codec at a level that the engine chooses.
fn name_of(compression: StoreCompression) -> Option<String> {
    let level = |family: &str| compression.level.map(|level| format!("{family}:{level}"));
    match compression.codec {
        StoreCodec::None => None,
        StoreCodec::Snappy => Some("snappy".to_owned()),
        StoreCodec::Lz4 => Some("lz4".to_owned()),
        StoreCodec::Lz4Hc => level("lz4hc"),
        StoreCodec::Zlib => level("deflate-zlib"),
        StoreCodec::Zstd => level("zstd"),
    }
}
