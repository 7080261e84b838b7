//! How fast codecs are on a slow machine: what plans its work by them does the same work whenever and wherever it runs.

use outcrop_codec::{CodecSpec, Setting};

/// Compressing, in MB/s, up to a level; the last entry holds beyond.
type Speeds = &'static [(i32, f64)];

const ZSTD: Speeds = &[
    (2, 200.0),
    (4, 100.0),
    (7, 50.0),
    (10, 20.0),
    (13, 8.0),
    (16, 4.0),
    (19, 1.5),
    (22, 1.0),
];
const DEFLATE: Speeds = &[(1, 50.0), (5, 25.0), (8, 10.0), (12, 4.0)];
const BROTLI: Speeds = &[(1, 100.0), (4, 25.0), (6, 12.0), (9, 5.0), (11, 0.3)];
const LZ4_HIGH: Speeds = &[(4, 40.0), (9, 15.0), (12, 5.0)];
const FAST: Speeds = &[(0, 150.0)];
/// A usual machine is this much faster.
const USUAL_OVER_SLOW: f64 = 2.0;

/// What one thread of a slow machine compresses with a codec, in MB/s. Not measured: the same for all data.
pub fn slow_compress_mb_per_second(codec: &CodecSpec) -> f64 {
    // The system's library of a codec has its name in front of a mark.
    let name = codec.family().name.split('@').next().unwrap_or_default();
    let speeds = match name {
        "zstd" => ZSTD,
        "brotli" => BROTLI,
        "lz4hc" => LZ4_HIGH,
        name if name.starts_with("deflate") => DEFLATE,
        _ => FAST,
    };
    let level = match codec.setting() {
        Setting::Level(level) => level,
        _ => 0,
    };
    let found = speeds.iter().find(|(up_to, _)| level <= *up_to).or(speeds.last());
    found.map_or(1.0, |(_, megabytes_per_second)| *megabytes_per_second)
}

/// About how long a thread of a usual machine compresses so many bytes. No timing of this machine: two runs, and the two sides of a comparison,
/// have to choose the same blocks by it.
pub(crate) fn assumed_compress_ns(codec: &CodecSpec, bytes: usize) -> u64 {
    let bytes_per_ns = slow_compress_mb_per_second(codec) * USUAL_OVER_SLOW / 1e3;
    (bytes as f64 / bytes_per_ns) as u64
}
