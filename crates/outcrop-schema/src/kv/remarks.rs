//! What trials of the key-value layer may remark.

use std::path::Path;

use outcrop_workload::store::StoreCodec;

use crate::remark::{Remark, RemarkKind};

/// Which engine it was.
pub const OPENED: RemarkKind =
    RemarkKind::new("engine-version", "the engine with its version and library", "");
/// Which libraries its codecs were.
pub const LIBRARIES: RemarkKind = RemarkKind::new(
    "codec-libraries",
    "the files of the codec libraries that the engine was linked to",
    "",
);

/// The remark of an engine that was linked to these files; none where it was linked to none.
pub fn libraries_remark(files: &[impl AsRef<Path>]) -> Option<Remark> {
    let names = files.iter().map(|file| file.as_ref().display().to_string());
    let names = names.collect::<Vec<_>>().join(", ");
    (!files.is_empty()).then(|| LIBRARIES.remark(format!("codec libraries: {names}")))
}

/// The file of a codec, from the text of such a remark.
pub fn library_among(text: &str, codec: StoreCodec) -> Option<&str> {
    let beginning = codec.shared_library()?;
    let (_, files) = text.split_once(": ")?;
    let is_of = |file: &&str| {
        let name = file.rsplit('/').next();
        name.is_some_and(|name| name.starts_with(beginning))
    };
    files.split(", ").find(is_of)
}

/// It is not on this machine, or lacks what the plan asks for.
pub const ABSENT: RemarkKind = RemarkKind::new(
    "not-measured",
    "the engine is not installed, lacks a codec, or a condition cannot be set",
    "",
);
/// Compaction was running when the run began.
pub const NOT_SETTLED: RemarkKind = RemarkKind::new(
    "not-settled",
    "compaction was pending or running when the run began",
    "",
);
/// A codec of levels compressed nothing.
pub const CODEC_UNUSED: RemarkKind = RemarkKind::new(
    "codec-unused",
    "a codec for lower levels was never used, because the load compacted no data into those levels",
    "",
);
/// The run stood still.
pub const STALLED: RemarkKind = RemarkKind::new(
    "stalled",
    "windows of the run had less than a tenth of the median throughput",
    "",
);
/// Work was put off.
pub const DEBT_LEFT: RemarkKind = RemarkKind::new(
    "debt-left",
    "the run left compaction with more to do than it found",
    "",
);
/// The schedule was too fast.
pub const BACKLOG: RemarkKind = RemarkKind::new(
    "backlog",
    "operations of an open loop were due but never begun",
    "",
);
/// The user's own directory compresses.
pub const COMPRESSED_BELOW: RemarkKind = RemarkKind::new(
    "compressed-below",
    "the directory's own filesystem compresses what the engine writes",
    "",
);
/// Whether files on a filesystem in this state, which [`COMPRESSED_BELOW`] gives, take less than `stat` counts. ZFS counts what they take.
pub fn hides_space(state: &str) -> bool {
    !state.starts_with("zfs ")
}

/// The user's own directory may compress.
pub const COMPRESSION_UNKNOWN: RemarkKind = RemarkKind::new(
    "compression-unknown",
    "it is not known whether the directory's own filesystem compresses what the engine writes",
    "",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_of_a_codec_is_found_among_those_of_an_engine() {
        let remark =
            libraries_remark(&["/usr/lib/libz.so.1.2.13", "/usr/lib/libzstd.so.1.5.4"]).expect("it has some");
        let of = |codec| library_among(&remark.text, codec);
        assert_eq!(of(StoreCodec::Zstd), Some("/usr/lib/libzstd.so.1.5.4"));
        assert_eq!(of(StoreCodec::Zlib), Some("/usr/lib/libz.so.1.2.13"));
        assert_eq!((of(StoreCodec::Lz4), of(StoreCodec::None)), (None, None));
    }
}
