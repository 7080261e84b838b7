//! The embedded sample: the Snappy test set (terms in `sample/LICENSE`).

use outcrop_codec::CodecSpec;

use crate::error::CompressError;

/// A file of the sample: its name, its length, and its Zstandard frame.
type Packed = (&'static str, usize, &'static [u8]);

macro_rules! packed {
    ($($name:literal: $bytes:literal),* $(,)?) => {
        &[$(($name, $bytes, include_bytes!(concat!("../sample/", $name, ".zst")))),*]
    };
}

static FILES: &[Packed] = packed! {
    "alice29.txt": 152_089,
    "asyoulik.txt": 125_179,
    "fireworks.jpeg": 123_093,
    "geo.protodata": 118_588,
    "html": 102_400,
    "html_x_4": 409_600,
    "kppkn.gtb": 184_320,
    "lcet10.txt": 426_754,
    "paper-100k.pdf": 102_400,
    "plrabn12.txt": 481_861,
    "urls.10K": 702_087,
};

/// Bytes of all its files.
pub(crate) fn total_bytes() -> u64 {
    FILES.iter().map(|(_, bytes, _)| *bytes as u64).sum()
}

/// Names and contents.
pub(crate) fn files() -> Result<Vec<(&'static str, Vec<u8>)>, CompressError> {
    let spec: CodecSpec = "zstd".parse()?;
    let mut codec = spec.open()?;
    let unpack = |&(name, bytes, frame): &Packed| {
        let mut content = vec![0; bytes];
        codec.decompress(frame, &mut content)?;
        Ok((name, content))
    };
    FILES.iter().map(unpack).collect()
}
