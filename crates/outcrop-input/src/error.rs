//! Why compressed data cannot be read, and where.

use outcrop_measure::units::format_bytes;

use crate::format::Compression;

/// What is wrong with compressed data. [`crate::Input`] hands it out inside an `std::io::Error`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The last frame is not complete.
    #[error(
        "{name} is truncated: its {compression} data end at byte {offset}, inside a frame (after {} of output); copy it again in full",
        format_bytes(*decompressed_bytes)
    )]
    Truncated {
        /// The file.
        name: String,
        /// Its format.
        compression: Compression,
        /// Bytes of the file that were read.
        offset: u64,
        /// Bytes that came out before.
        decompressed_bytes: u64,
    },
    /// Its frames refer so far back that decompressing them takes more memory than a reader sets aside.
    #[error(
        "{name}: decompressing its {compression} data takes more memory than the 128 MiB that are set aside for that; decompress the file first, with {}",
        own_tool(*compression)
    )]
    LongWindow {
        /// The file.
        name: String,
        /// Its format.
        compression: Compression,
    },
    /// The system granted no memory to the decoder.
    #[error("{name}: not enough memory to decompress its {compression} data")]
    NoMemory {
        /// The file.
        name: String,
        /// Its format.
        compression: Compression,
    },
    /// The bytes are not what the format allows, or a checksum does not match.
    #[error(
        "{name} cannot be decompressed: its {compression} data are damaged near byte {offset} (after {} of output): {reason}; copy it again, or test it with {} -t",
        format_bytes(*decompressed_bytes),
        compression.name().to_lowercase()
    )]
    Damaged {
        /// The file.
        name: String,
        /// Its format.
        compression: Compression,
        /// Bytes of the file that were read.
        offset: u64,
        /// Bytes that came out before.
        decompressed_bytes: u64,
        /// The decoder's own words.
        reason: String,
    },
    /// More than the caller can hold.
    #[error("{name} is larger than {} after decompression, which is the limit here", format_bytes(*limit_bytes))]
    TooLarge {
        /// The file.
        name: String,
        /// The most that was asked for.
        limit_bytes: u64,
    },
}

/// The command that decompresses a file and keeps the original; zstd accepts long windows only with `--long`.
fn own_tool(compression: Compression) -> String {
    let long = match compression {
        Compression::Zstd => " --long=31",
        Compression::Gzip | Compression::Xz | Compression::Bzip2 | Compression::Lz4 => "",
    };
    format!("`{} -dk{long} FILE`", compression.name().to_lowercase())
}
