//! What a file is, by its first bytes and its name: the one place that says which files are taken as tables.

use std::path::Path;

/// How much of a file is looked at to learn what it is.
pub const SAMPLE_BYTES: u64 = 1 << 20;
/// Bytes in which a zero says that a file is no text.
const BINARY_BYTES: usize = 64 << 10;

/// Kinds of files that columns are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Lines, each a value: one column.
    Lines,
    /// Fields between delimiters.
    Delimited,
    /// The same, with tabs.
    TabSeparated,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, a file or a stream.
    Arrow,
}

/// Endings of the names of compressed files: the name before them says what is inside.
const COMPRESSED: [&str; 6] = ["gz", "zst", "zstd", "xz", "bz2", "lz4"];

impl FileKind {
    /// The kind of a file whose name may be known and whose content, decompressed, begins with `first`: some kilobytes.
    ///
    /// First bytes that only one format has decide, then the ending of the name, without one that says how it is
    /// compressed. What has neither is lines of text; what is text by its name or for want of one must not be binary.
    ///
    /// # Errors
    /// What was seen, for a binary file.
    pub fn of(name: Option<&Path>, first: &[u8]) -> Result<Self, String> {
        let name = name.map(without_compression);
        let ending = name.and_then(ending_of);
        match ending.as_deref() {
            _ if first.starts_with(b"PAR1") => Ok(Self::Parquet),
            _ if first.starts_with(b"ARROW1") => Ok(Self::Arrow),
            Some("parquet") => Ok(Self::Parquet),
            Some("arrow" | "arrows" | "feather" | "ipc") => Ok(Self::Arrow),
            Some(ending @ ("tsv" | "csv" | "psv" | "txt" | "text")) if is_binary(first) => Err(format!(
                "binary data in a file whose name ends in .{ending}: it has zero bytes, which text never has{}",
                archive(first)
            )),
            Some("tsv") => Ok(Self::TabSeparated),
            Some("csv" | "psv") => Ok(Self::Delimited),
            Some("txt" | "text") => Ok(Self::Lines),
            _ if outcrop_column::is_column(first) => Err(
                "already a column file (.ocol): `outcrop column decode` writes its values as text, CSV, Parquet or Arrow".to_owned(),
            ),
            _ if name.is_none() => Ok(Self::Lines),
            _ if is_binary(first) => Err(format!(
                "binary data in a file whose name does not end in .{}",
                super::ENDINGS.join(", .")
            )),
            _ => Ok(Self::Lines),
        }
    }
}

/// Whether the first kilobytes have a zero, which no text has.
fn is_binary(first: &[u8]) -> bool {
    memchr::memchr(0, &first[..first.len().min(BINARY_BYTES)]).is_some()
}

/// What an archive is and what to do with it, in words that end a sentence; nothing of what is none.
fn archive(first: &[u8]) -> &'static str {
    /// Where the magic of a tar archive is, by POSIX (pax).
    const TAR_MAGIC: std::ops::Range<usize> = 257..262;
    if first.starts_with(b"PK\x03\x04") {
        "; it is a ZIP archive: unpack it first"
    } else if first.get(TAR_MAGIC) == Some(b"ustar") {
        "; it is a tar archive: unpack it first"
    } else {
        ""
    }
}

fn ending_of(name: &Path) -> Option<String> {
    let ending = name.extension().and_then(|ending| ending.to_str());
    ending.map(str::to_ascii_lowercase)
}

/// The name of what is inside: `plays.csv` of `plays.csv.zst`.
pub(super) fn without_compression(name: &Path) -> &Path {
    match (ending_of(name), name.file_stem()) {
        (Some(ending), Some(inner)) if COMPRESSED.contains(&ending.as_str()) => Path::new(inner),
        _ => name,
    }
}
