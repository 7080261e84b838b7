//! The block-level ratios of the compression layer, where a run has both layers on the same data.

use outcrop_results::{CellView, RunView};
use outcrop_schema::compression::{self, CodecName};
use outcrop_schema::kv::{COMPRESSION, COMPRESSION_BLOCK_SIZE};
use outcrop_workload::store::{StoreCodec, StoreCompression};

use super::cell::has_one_codec;
use crate::cell::Cell;

/// The ratio of one codec and block size.
pub(super) struct BlockRatio {
    codec: CodecName,
    block_size: String,
    data: String,
    ratio: f64,
}

/// All of them that a run has.
pub(super) fn ratios(run: &RunView) -> Vec<BlockRatio> {
    let views = run.cells();
    let is_of_codecs = |view: &&CellView<'_>| view.layer == compression::SCHEMA.name;
    let ratio = |view: &CellView<'_>| {
        let factors = compression::SCHEMA.read(view.factors);
        let data = view.completed.first()?.data.as_ref()?;
        Some(BlockRatio {
            codec: factors.get(&compression::CODEC)?.clone(),
            block_size: factors.spelling(&compression::COMPRESSION_BLOCK_SIZE)?.to_owned(),
            data: data.whole.clone(),
            ratio: view.summary(compression::COMPRESSION_RATIO.name)?.median,
        })
    };
    views.iter().filter(is_of_codecs).filter_map(ratio).collect()
}

/// The ratio of a cell's codec on blocks of its size and on its data; none of a cell whose blocks are not all compressed alike, or with a dictionary.
pub(super) fn ratio_of(ratios: &[BlockRatio], cell: &Cell<'_>) -> Option<f64> {
    let compression = *cell.get(&COMPRESSION).filter(|_| has_one_codec(cell))?;
    let block_size = cell.spelling(&COMPRESSION_BLOCK_SIZE);
    let data = cell.trials().first()?.data.as_ref()?;
    let is_same = |one: &&BlockRatio| {
        // Values are generated as they are written: what there is of them is what was taken.
        let is_of_data = one.data == data.whole || one.data == data.taken;
        is_of_data && one.block_size == block_size && is_codec(&one.codec, compression)
    };
    ratios.iter().find(is_same).map(|one| one.ratio)
}

/// Whether a codec of the compression layer is an engine's, at its level. A name without a level means the same one in both.
fn is_codec(codec: &CodecName, compression: StoreCompression) -> bool {
    let Some((family, default)) = family_of(compression.codec) else {
        return false;
    };
    codec.of_any_library() == family
        && codec.level().unwrap_or(default) == compression.level.unwrap_or(default)
}

/// What the compression layer calls an engine's codec, and the level that its name alone means: that of the codec's own library, which RocksDB
/// takes too.
const fn family_of(codec: StoreCodec) -> Option<(&'static str, i32)> {
    match codec {
        StoreCodec::None => None,
        StoreCodec::Snappy => Some(("snappy", 0)),
        StoreCodec::Lz4 => Some(("lz4", 1)),
        StoreCodec::Lz4Hc => Some(("lz4hc", 9)),
        StoreCodec::Zlib => Some(("deflate-zlib", 6)),
        StoreCodec::Zstd => Some(("zstd", 3)),
    }
}
